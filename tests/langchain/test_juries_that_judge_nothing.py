"""A middleware and a tool refuse a jury that lacks in every case what all of its judges need."""

import pytest
from langchain.agents import AgentState, create_agent
from langchain.agents.middleware import AgentMiddleware
from support.chat import ScriptedChat, calls

from jury_adapters import (
    CascadedJury,
    Case,
    ConfigurationError,
    Critic,
    Ensemble,
    PairwiseCritic,
    Scorecard,
    Tier,
    judge,
)
from jury_adapters.checks import Equals, NotEmpty
from jury_adapters.judges import FactualOverlap
from jury_adapters.langchain import JuryMiddleware, JuryTool, from_evaluator
from jury_adapters.testing import ScriptedModel

ASKED = {"messages": [("user", "Quelle est la capitale ?")]}
YES = ScriptedModel("Answer: YES")


@judge
def passes(case):
    return True


def same(outputs, expected):
    return {"score": outputs == expected}


def compared():
    return from_evaluator(same, arguments=lambda case: {"outputs": case.answer}, needs=["reference"])


class Known(AgentState):
    """A state with an answer to compare with."""

    expected: str


class Knows(AgentMiddleware):
    state_schema = Known


@pytest.mark.parametrize(
    "options", [{}, {"when": "every_model"}, {"when": "tools"}, {"field_map": {"question": "expected"}}]
)
@pytest.mark.parametrize(
    ("jury", "missing"),
    [
        (Critic(YES, "correctness"), "reference"),
        (Critic(YES, "correctness").named("right").with_timeout(5), "reference"),
        (Equals(), "reference"),
        (compared(), "reference"),
        (PairwiseCritic(passes), "candidates"),
        (Scorecard({"right": Ensemble([Critic(YES, "correctness")]), "same": Equals()}), "reference"),
        (CascadedJury([Tier("same", Equals(), "accept_on_all_pass"), Tier("right", compared())]), "reference"),
        (Ensemble([PairwiseCritic(passes), Equals()]), "candidates, reference"),
        (FactualOverlap(Critic(YES, "faithfulness_claims")), "reference"),
    ],
)
def test_a_middleware_refuses_a_jury_that_could_judge_no_turn(jury, missing, options):
    with pytest.raises(ConfigurationError, match=f"needs {missing}, which an agent's turn does not come with"):
        JuryMiddleware(jury, **options)


@pytest.mark.parametrize(
    "jury",
    [
        Critic(YES, "answer_relevance"),
        Ensemble([passes, Equals()]),
        Ensemble([Scorecard({"right": Equals(), "there": NotEmpty()}), passes]),
        Equals("Paris."),
    ],
)
def test_a_middleware_takes_a_jury_of_which_one_judge_can_judge_a_turn(jury):
    state = create_agent(ScriptedChat(script=["Paris."]), [], middleware=[JuryMiddleware(jury)]).invoke(ASKED)
    assert state["jury_verdict"]["status"] == "PASS"


@pytest.mark.parametrize(
    "field_map",
    [{"reference": "expected"}, lambda state: Case(answer=state["messages"][-1].text, reference=state["expected"])],
)
@pytest.mark.parametrize(("said", "status"), [("Paris", "PASS"), ("Rome", "FAIL")])
def test_a_field_map_gives_the_field_from_the_state(field_map, said, status):
    guard = JuryMiddleware(Equals(), on_fail="annotate", field_map=field_map)
    agent = create_agent(ScriptedChat(script=[said]), [], middleware=[Knows(), guard])
    assert agent.invoke({**ASKED, "expected": "Paris"})["jury_verdict"]["status"] == status


def test_a_tool_refuses_a_jury_that_compares_answers_and_takes_one_that_needs_a_reference():
    with pytest.raises(ConfigurationError, match="needs candidates, which the agent cannot give to this tool"):
        JuryTool(PairwiseCritic(passes))
    script = [calls("jury", answer="Paris", reference="Paris"), "Paris"]
    state = create_agent(ScriptedChat(script=script), [JuryTool(Equals())]).invoke(ASKED)
    assert state["messages"][2].text.startswith("PASS")
