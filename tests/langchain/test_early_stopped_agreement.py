"""Agreement of juries that stop early: LangSmith's summary says that the votes are selected."""

import uuid
from typing import Any

import pytest

from jury_adapters import Case, Ensemble, Scorecard
from jury_adapters.checks import LengthBetween
from jury_adapters.langchain import JuryEvaluator
from jury_adapters.langchain.langsmith import examples, offline_client, summary

NOTE = "stopped early: some jurors were asked only where the votes before were open, so the agreement is biased"
CASES = [Case(question=f"q{number}", answer="a" * number) for number in range(1, 7)]


def panel() -> Ensemble:
    jurors = [LengthBetween(minimum=least, name=f"at least {least}") for least in (1, 4, 5)]
    return Ensemble(jurors, schedule="early_stop")


@pytest.mark.filterwarnings("ignore:'upload_(results|runs)' parameter is in beta")
@pytest.mark.parametrize("jury", [panel(), Scorecard({"long": panel()})], ids=["panel", "scorecard"])
def test_the_summary_says_it(jury: Any) -> None:
    evaluator = JuryEvaluator(jury, key=f"long {uuid.uuid4()}")
    rows = [{"inputs": {"question": case.question}, "outputs": {"answer": case.answer}} for case in CASES]
    answers = {case.question: case.answer for case in CASES}
    experiment = offline_client().evaluate(
        lambda inputs: {"answer": answers[inputs["question"]]}, data=examples(rows), evaluators=[evaluator],
        summary_evaluators=[summary(evaluator, "agreement")], upload_results=False,
    )  # fmt: skip
    assert len(list(experiment)) == len(CASES)
    (result,) = experiment._summary_results["results"]
    assert NOTE in (result.comment or "")
