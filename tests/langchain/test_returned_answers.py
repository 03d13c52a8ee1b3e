"""Answers of ``return_direct`` tools in the states of agents: evaluators, runnables and nodes get their names."""

import json
from uuid import uuid4

import pytest
from langchain.agents import create_agent
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from support.chat import ScriptedChat, calls

from jury_adapters import ConfigurationError, Judgment, judge
from jury_adapters.checks import FinalAnswer, NoToolErrors
from jury_adapters.langchain import JuryEvaluator, JuryPairwiseEvaluator, JuryRunnable, jury_node, to_case
from jury_adapters.langchain.langsmith import examples, offline_client

pytestmark = pytest.mark.filterwarnings("ignore:'upload_(results|runs)' parameter is in beta")
SAID = "Room 12 is free on Monday."
ASKED = {"messages": [("user", "Which room is free on Monday?")]}
DIRECT = {"direct_tools": ["rooms", "floors"]}


@tool(return_direct=True)
def rooms(day: str = "Monday") -> str:
    """Return the free rooms of a day."""
    return SAID


@tool(return_direct=True)
def floors() -> str:
    """Return the floors."""
    raise PermissionError("the floors are locked")


@tool
def layout() -> str:
    """Return the layout of the building."""
    return "Rooms 1 to 20."


def state_of(*script):
    agent = create_agent(ScriptedChat(script=list(script)), [rooms, floors, layout])
    return agent.invoke(ASKED)


def both(*names):
    return {"tool_calls": [calls(name, f"c{n}")["tool_calls"][0] for n, name in enumerate(names)]}


@pytest.fixture
def direct():
    return state_of(calls("layout", "c0"), calls("rooms", "c1"))


def test_the_result_of_a_named_tool_that_ended_the_run_is_the_answer(direct):
    case = to_case(direct, **DIRECT)
    assert (case.answer, [step.tool for step in case.trajectory]) == (SAID, ["layout", "rooms"])
    assert case.contexts == to_case(direct).contexts == ("Rooms 1 to 20.", SAID)
    assert to_case(state_of(both("rooms", "rooms")), **DIRECT).answer == SAID
    saved = json.loads(json.dumps([message.model_dump() for message in direct["messages"]]))
    assert to_case({"messages": saved}, **DIRECT, whole_thread=True).answer == SAID
    mapped = to_case(direct, **DIRECT, field_map={"question": "messages[0].content"})
    assert (mapped.question, mapped.answer) == ("Which room is free on Monday?", SAID)


@pytest.mark.parametrize("cut", [
    lambda: [*ASKED["messages"], *state_of(both("rooms", "layout"), "Room 12.")["messages"][1:4]],
    lambda: state_of(calls("layout"), "Take room 3.")["messages"][:3],
    lambda: state_of(calls("rooms"))["messages"][:2],
], ids=["beside another tool", "another tool", "no result yet"])  # fmt: skip
def test_the_result_of_other_tools_is_no_answer(cut):
    assert to_case({"messages": cut()}, **DIRECT).answer is None


def test_a_run_that_goes_on_has_the_answer_of_its_model():
    state = state_of(both("rooms", "layout"), "Take room 12.")
    assert to_case(state, **DIRECT).answer == "Take room 12."


def test_without_the_names_a_result_is_no_answer_and_the_comment_says_what_to_give(direct):
    assert to_case(direct).answer is None
    result = JuryEvaluator(FinalAnswer(), key="answered")(outputs=direct)
    assert result["score"] == 0.0
    assert "the run ended with the result of a tool" in result["comment"]
    assert "give direct_tools=['rooms']" in result["comment"]
    judged = JuryEvaluator(NoToolErrors(), key="errors")(outputs=direct)  # it passes, and needs no answer
    assert "direct_tools" not in judged["comment"]


def test_every_adapter_of_states_takes_the_names(direct):
    result = JuryEvaluator(FinalAnswer(), key="answered", **DIRECT)(outputs=direct)
    assert (result["score"], result["comment"]) == (1.0, "the run ended with an answer")
    assert JuryRunnable(FinalAnswer(), **DIRECT).invoke(direct).passed

    class State(MessagesState):
        verdict: dict

    graph = StateGraph(State)
    graph.add_node("agent", create_agent(ScriptedChat(script=[calls("rooms")]), [rooms]))
    graph.add_node("jury", jury_node(FinalAnswer(), **DIRECT))
    graph.add_edge(START, "agent")
    graph.add_edge("agent", "jury")
    graph.add_edge("jury", END)
    assert graph.compile().invoke(ASKED)["verdict"]["status"] == "PASS"


def test_an_error_of_a_named_tool_that_ended_the_run_is_the_answer():
    messages = [*ASKED["messages"], *state_of(calls("rooms"))["messages"][1:3]]
    messages[-1] = messages[-1].model_copy(update={"content": "the floors are locked", "status": "error"})
    assert to_case({"messages": messages}, **DIRECT).answer == "the floors are locked"


def test_experiments_judge_and_compare_the_results(direct):
    @judge
    def longer(case):
        return Judgment(None, label="A")

    rows = [{"inputs": {"question": "Which room is free on Monday?"}, "outputs": {}}]
    experiment = offline_client().evaluate(
        lambda inputs: direct, data=examples(rows), upload_results=False,
        evaluators=[JuryEvaluator(FinalAnswer(), key="answered", **DIRECT)],
    )  # fmt: skip
    (row,) = experiment
    assert [one.score for one in row["evaluation_results"]["results"]] == [1.0]
    second = row["run"].model_copy(update={"id": uuid4()})
    compared = JuryPairwiseEvaluator(longer, key="longer", **DIRECT)([row["run"], second])
    assert "both candidates are the same text" in compared["comment"]


@pytest.mark.parametrize(("given", "said"), [
    ("rooms", "direct_tools= takes names in a list: direct_tools=['rooms']"),
    ([rooms], "give its name: 'rooms'"),
    (3, "direct_tools= takes names of tools in a list, not 3"),
])  # fmt: skip
def test_names_of_another_form_are_refused(given, said):
    with pytest.raises(ConfigurationError) as refused:
        JuryEvaluator(FinalAnswer(), key="answered", direct_tools=given)
    assert said in str(refused.value)
