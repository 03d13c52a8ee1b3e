"""Experiments on agents that pause to ask a person."""

from typing import Any

import pytest
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from support.langchain_apps import agent, ask

from jury_adapters import Case, Ensemble, Scorecard
from jury_adapters.checks import NotEmpty
from jury_adapters.langchain import JuryEvaluator
from jury_adapters.langchain.langsmith import examples, offline_client, summary

pytestmark = pytest.mark.filterwarnings("ignore:'upload_(results|runs)' parameter is in beta")
ASKED = "Weather in Oslo?"


def judged(evaluator: JuryEvaluator, *, resumed: bool) -> tuple[list[Any], list[Any]]:
    """The results of the row, and those of the summary."""

    def target(inputs: dict[str, Any]) -> Any:
        app = agent(
            checkpointer=InMemorySaver(), middleware=[HumanInTheLoopMiddleware(interrupt_on={"weather": True})]
        )  # fmt: skip
        config: Any = {"configurable": {"thread_id": "1"}}
        state = app.invoke(ask(inputs["question"]), config)
        return app.invoke(Command(resume={"decisions": [{"type": "approve"}]}), config) if resumed else state

    experiment = offline_client().evaluate(
        target, data=examples([{"inputs": {"question": ASKED}}]), evaluators=[evaluator],
        summary_evaluators=[summary(evaluator, "pass_rate")], upload_results=False,
    )  # fmt: skip
    (row,) = experiment
    return row["evaluation_results"]["results"], experiment._summary_results["results"]


def test_a_paused_run_is_not_judged_as_an_answer_and_is_in_no_pass_rate() -> None:
    evaluator = JuryEvaluator(Ensemble([NotEmpty()]), key="support")
    (result,), (whole,) = judged(evaluator, resumed=False)
    assert (result.score, result.value) == (None, "abstain")
    assert "paused to ask a person" in (result.comment or "")
    assert (whole.score, (whole.comment or "").startswith("0 of 0 passed; 1 abstained")) == (None, True)
    (result,), (whole,) = judged(evaluator, resumed=True)
    assert (result.value, whole.score) == ("pass", 1.0)


def test_the_criteria_of_a_paused_run_have_no_score() -> None:
    results, _ = judged(JuryEvaluator(Scorecard({"answered": NotEmpty()}), key="support"), resumed=False)
    assert [(one.key, one.score) for one in results] == [("support", None), ("support.answered", None)]


@pytest.mark.parametrize("options", [
    {"whole_thread": True},
    {"field_map": {"question": "inputs.question", "trajectory": "outputs.messages"}},
])  # fmt: skip
def test_what_a_paused_run_did_so_far_can_be_judged(options: Any) -> None:
    seen: list[Case] = []

    def keeps(case: Case) -> bool:
        seen.append(case)
        return True

    judged(JuryEvaluator(keeps, **options), resumed=False)
    assert [step.tool for case in seen for step in case.trajectory] == ["weather"]
