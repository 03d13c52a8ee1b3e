"""Inputs and states whose keys are not names of fields, and verdicts of earlier rounds in them."""

import asyncio
from dataclasses import dataclass
from typing import Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda
from langgraph.graph import END, START, StateGraph
from support.langchain_apps import Watched

from jury_adapters import Case, Ensemble
from jury_adapters.langchain import JuryEvaluator, JuryRunnable, jury_node, route_on_verdict, to_case
from jury_adapters.langchain.langsmith import examples, offline_client


class Seen:
    """A judge that keeps the cases, and lets the second one of a loop pass."""

    def __init__(self):
        self.cases = []

    def __call__(self, case):
        self.cases.append(case)
        return len(self.cases) > 1


class OwnKeys(TypedDict, total=False):
    topic: str
    draft: str
    verdict: dict[str, Any]


@dataclass
class OwnFields:
    topic: str = ""
    draft: str = ""
    verdict: Any = None


def looped(schema, node, key="verdict"):
    graph = StateGraph(schema)
    graph.add_node("write", lambda state: {"draft": "The pool opens at nine."})
    graph.add_node("jury", node)
    graph.add_edge(START, "write")
    graph.add_edge("write", "jury")
    graph.add_conditional_edges("jury", route_on_verdict(passed=END, failed="write", key=key))
    return graph.compile()


def logged(caplog):
    return [one.getMessage() for one in caplog.records if one.name.startswith("jury_adapters")]


@pytest.mark.parametrize("schema", [OwnKeys, OwnFields])
@pytest.mark.parametrize("run", [
    lambda app, state: app.invoke(state), lambda app, state: asyncio.run(app.ainvoke(state)),
])  # fmt: skip
def test_a_loop_never_judges_its_own_verdict_and_the_log_says_once_how_to_name_the_keys(run, schema, caplog):
    seen = Seen()
    run(looped(schema, jury_node(Ensemble([seen]))), {"topic": "opening hours"})
    assert {case.answer for case in seen.cases} == {'{"topic": "opening hours", "draft": "The pool opens at nine."}'}
    assert len(seen.cases) == 2
    (said,) = logged(caplog)
    assert said == (
        "jury: no key of the input is known as the answer, so all of the input is judged as one JSON text. Its texts "
        "are 'topic', 'draft': say where the fields are, such as field_map={'question': 'topic', 'answer': 'draft'}"
    )


def test_the_field_map_of_the_warning_works(caplog):
    seen = Seen()
    node = jury_node(Ensemble([seen]), field_map={"question": "topic", "answer": "draft"})
    looped(OwnKeys, node).invoke({"topic": "opening hours"})
    assert [(case.question, case.answer) for case in seen.cases] == [("opening hours", "The pool opens at nine.")] * 2
    assert logged(caplog) == []


def test_a_function_that_reads_the_state_still_gets_the_verdict():
    given = []

    def read(state):
        given.append(state.get("verdict"))
        return Case(answer=state["draft"])

    looped(OwnKeys, jury_node(Ensemble([Seen()]), field_map=read)).invoke({"topic": "opening hours"})
    assert [one and one["status"] for one in given] == [None, "FAIL"]


def test_a_runnable_does_not_judge_verdicts_of_other_juries():
    seen = Seen()
    first = Ensemble([lambda case: False]).judge(Case(answer="x"))
    for verdict in (first, first.to_dict(), first.judgments[0].to_dict()):
        JuryRunnable(seen).invoke({"draft": "At nine.", "earlier": verdict})
    assert {case.answer for case in seen.cases} == {"At nine."}


def test_a_runnable_says_that_there_is_no_answer(caplog):
    beside = {"draft": "At nine.", "note": "checked"}
    for value in ({"question": "When?", **beside}, {"contexts": ["c"], **beside}):
        caplog.clear()
        JuryRunnable(Ensemble([Seen()])).invoke(value)
        (said,) = logged(caplog)
        assert "no key of the input is known as the answer, so no answer is judged. Its texts are 'draft'" in said
        assert "'answer': 'draft'" in said


IDS = {"claim_id": "a long number of a claim", "CLAIM_ID": "a long number of a claim", "threadId": "a long id"}


@pytest.mark.parametrize("name", ["reply", "final_reply", "modelAnswer"])
def test_a_field_map_is_advised_for_a_text_whose_name_is_one_of_answers_and_never_for_an_id(name, caplog):
    texts = {**IDS, name: "At nine.", "note": "a longer text, which is a note"}
    JuryRunnable(Seen()).invoke({"question": "When?", **texts})
    assert f"field_map={{'answer': '{name}'}}" in logged(caplog)[0]
    caplog.clear()
    JuryRunnable(Seen()).invoke({**IDS, name: "At nine."})
    assert f"field_map={{'answer': '{name}'}}" in logged(caplog)[0]
    caplog.clear()
    JuryEvaluator(Seen())(inputs={"customer_id": "C1", "mail": "When?"}, outputs=texts)
    assert f"field_map={{'answer': 'outputs.{name}', 'question': 'inputs.mail'}}" in logged(caplog)[0]


def test_without_such_a_name_a_field_map_is_advised_for_the_longest_text(caplog):
    JuryRunnable(Seen()).invoke({"question": "When?", **IDS, "a": "At", "b": "At nine."})
    assert "field_map={'answer': 'b'}" in logged(caplog)[0]
    caplog.clear()
    JuryEvaluator(Seen())(inputs={"question": "When?"}, outputs={"documents": ["c"], "x": "At nine.", "y": "At"})
    assert "field_map={'answer': 'outputs.x'}" in logged(caplog)[0]


@pytest.mark.parametrize("value", [
    {"question": "When?", "contexts": ["c"], "draft": "At nine."},
    {"query": "When?", "passages": ["c"], "reply": "At nine.", "tries": 2},
    {"passages": ["c"], "draft": "At nine."},
    {"question": "When?", "contexts": [], "draft": "At nine."},
    {"question": "When?", "docs": ["c"], "draft": "At nine.", "ground_truth": "At ten.", "thread_id": "t7"},
])  # fmt: skip
def test_beside_a_question_and_contexts_the_only_other_text_is_the_answer(value, caplog):
    seen = Seen()
    jury_node(Ensemble([seen])).invoke(value)
    JuryRunnable(seen).invoke(value)
    JuryEvaluator(seen)(inputs={"question": "When?"}, outputs={k: v for k, v in value.items() if k != "ground_truth"})
    assert [case.answer for case in seen.cases] == ["At nine."] * 3
    assert {case.contexts for case in seen.cases} <= {("c",), ()}
    assert logged(caplog) == []


@pytest.mark.parametrize("value", [
    {"question": "When?", "contexts": ["c"]},
    {"question": "When?", "contexts": ["c"], "thread_id": "t7"},
    {"question": "When?", "contexts": ["c"], "reference": "At nine."},
    {"contexts": ["c"], "tries": 2},
])  # fmt: skip
def test_what_a_retriever_returned_has_no_answer(value):
    seen = Seen()
    JuryRunnable(seen).invoke(value)
    JuryEvaluator(seen)(inputs={"question": "When?"}, outputs=value)
    assert [case.answer for case in seen.cases] == [None, None]


@pytest.mark.parametrize("value", [
    "At nine.",
    Case(answer="At nine."),
    {"question": "When?", "draft": "At nine."},
    {"question": "When?", "answer": "At nine.", "note": "checked"},
    {"messages": [HumanMessage("When?"), AIMessage("At nine.")], "topic": "hours", "draft": "At nine."},
    {"question": "When?", "candidates": ["At nine.", "At ten."], "note": "checked"},
    {"structured_response": {"time": "At nine."}, "topic": "hours", "draft": "At nine."},
    {"inputs": {"question": "When?"}, "outputs": "At nine."},
])  # fmt: skip
def test_an_answer_that_is_found_is_not_reported(value, caplog):
    JuryRunnable(Ensemble([Seen()])).invoke(value)
    assert logged(caplog) == []


@pytest.mark.filterwarnings("ignore:'upload_(results|runs)' parameter is in beta")
def test_an_experiment_reports_outputs_of_which_none_is_the_answer(caplog):
    offline_client().evaluate(
        lambda inputs: {"topic": "hours", "draft": "The pool opens at nine."},
        data=examples([{"inputs": {"question": "When?"}}]), evaluators=[JuryEvaluator(Ensemble([Seen()]), key="good")],
        upload_results=False,
    )  # fmt: skip
    (said,) = logged(caplog)
    assert said.startswith("good: none of the outputs 'topic', 'draft' is known as the answer, so all of them are")


TICKET = {"customer_id": "F-1041", "payload": {"body": "When does the pool open?"}}
UNCLEAR = "neither 'customer_id' nor 'payload' in inputs is known as the question"


def test_an_id_beside_a_nested_request_is_not_taken_for_the_question():
    case = to_case({"inputs": TICKET, "outputs": {"answer": "At nine."}})
    assert "When does the pool open?" in (case.question or "")
    (said,) = case.metadata["ambiguous"]
    assert said.startswith(UNCLEAR)


@pytest.mark.parametrize(("inputs", "taken"), [
    ({"ward": "B2", "text": "When?"}, "'text' is the question"),
    ({"ward": "B2", "page_content": "When?"}, "'page_content' is the question"),
    ({"ward": "B2", "node": {"text": "When?"}}, "the text of a document in it is the question"),
])  # fmt: skip
def test_the_warning_names_a_text_like_that_of_a_document_as_the_question(inputs, taken):
    case = to_case({"inputs": inputs, "outputs": {"answer": "At nine."}})
    (said,) = case.metadata["ambiguous"]
    assert (case.question, said.partition(": ")[2]) == ("When?", taken)


@pytest.mark.parametrize("inputs", [
    {"topic": "hours"}, {"topic": "hours", "words": 80, "formal": True}, {"topic": "hours", "tags": []},
])  # fmt: skip
def test_the_only_text_is_the_question_where_no_other_value_can_be(inputs, caplog):
    seen = Seen()
    JuryEvaluator(Ensemble([seen]))(inputs=inputs, outputs="At nine.")
    assert (seen.cases[0].question, logged(caplog)) == ("hours", [])


def test_what_the_user_said_to_the_agent_is_the_question_where_no_input_is_known_as_it(caplog):
    seen = Seen()
    thread = [HumanMessage("When does the pool open?"), AIMessage("At nine.")]
    JuryEvaluator(Ensemble([seen]))(inputs={"ticket": {"id": 7}, "language": "en"}, outputs={"messages": thread})
    assert (seen.cases[0].question, logged(caplog)) == ("When does the pool open?", [])


@pytest.mark.parametrize("inputs", [
    {"turns": ["Hello?", "When does the pool open?"]}, {"ticket": {"id": 7}}, {"number": 7},
])  # fmt: skip
def test_it_is_so_if_the_only_input_is_not_a_text(inputs, caplog):
    seen = Seen()
    thread = [HumanMessage("Hello?"), AIMessage("Hi."), HumanMessage("When does the pool open?"), AIMessage("At nine.")]
    JuryEvaluator(Ensemble([seen]))(inputs=inputs, outputs={"messages": thread})
    assert (seen.cases[0].question, logged(caplog)) == ("When does the pool open?", [])
    row = to_case({"inputs": inputs, "outputs": {"question": "When?", "answer": "At nine."}})
    assert (row.question, "ambiguous" in row.metadata) == ("When?", False)


def test_the_only_input_is_the_question_as_json_if_the_outputs_have_none():
    case = to_case({"inputs": {"turns": ["Hello?", "When?"]}, "outputs": {"answer": "At nine."}})
    assert case.question == '{"turns": ["Hello?", "When?"]}'


def test_a_handler_says_once_that_it_does_not_know_the_question(caplog):
    watched = Watched()
    for _ in range(2):
        RunnableLambda(lambda asked: "At nine.").invoke(TICKET, watched.config)
    assert len(watched.all()) == 2
    (said,) = logged(caplog)
    assert said.startswith(UNCLEAR)
    assert "field_map={'question': 'inputs." in said
