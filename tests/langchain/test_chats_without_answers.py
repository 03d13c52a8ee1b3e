"""States and outputs without an answer: none is made of what is beside the conversation."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command
from pydantic import BaseModel
from support.langchain_apps import Watched

from jury_adapters import Case
from jury_adapters.checks import NotEmpty
from jury_adapters.langchain import JuryEvaluator, JuryRunnable, jury_node, to_case

CALL = AIMessage("", tool_calls=[{"name": "look", "args": {}, "id": "1"}])
TURN = [HumanMessage("When?"), CALL, ToolMessage("At nine.", tool_call_id="1")]


class Chat(BaseModel):
    messages: list[Any] = []
    language: str = "en"


@dataclass
class Thread:
    messages: list[Any] = field(default_factory=list)


@pytest.mark.parametrize("outputs", [
    {"messages": []}, {"messages": ()}, {"messages": None, "lang": "en"}, {"messages": [], "lang": "en"},
    {"messages": [], "lang": "en", "tries": 2}, {"messages": [], "plan": ["a"], "done": False}, Chat(), Thread(),
    {"output": {"messages": []}}, {"answer": {"messages": []}}, Command(update={"messages": []}),
    [Command(update={"messages": [], "lang": "en"})], {"messages": TURN, "lang": "en"}, {"messages": TURN[:1], "n": 2},
    {"messages": TURN[:1], "lang": "en", "place": "here"}, {"chat_history": []}, {"intermediate_steps": []},
    {"trajectory": []}, {"messages": [], "question": "When?", "lang": "en"}, {"messages": [], "documents": []},
])  # fmt: skip
def test_nothing_beside_a_conversation_is_taken_for_the_answer(outputs):
    assert to_case({"inputs": {"question": "When?"}, "outputs": outputs}).answer is None
    assert Case.from_row({"inputs": {"question": "When?"}, "outputs": outputs}).answer is None
    result = JuryEvaluator(NotEmpty(), key="k")(inputs={"question": "When?"}, outputs=outputs)
    assert (result["score"], result["comment"].partition(";")[0]) == (0.0, "there is no answer")
    if not isinstance(outputs, list):
        assert JuryRunnable(NotEmpty()).invoke(outputs).reasoning == "there is no answer"


@pytest.mark.parametrize(("outputs", "answer"), [
    ({"messages": [], "answer": "At nine."}, "At nine."),
    ({"messages": [], "reply": "At nine.", "lang": "en"}, "At nine."),
    ({"messages": [], "final_reply": "At nine.", "tries": 2}, "At nine."),
    ({"messages": TURN, "output": "At nine.", "lang": "en"}, "At nine."),
    ({"messages": TURN[:1], "structured_response": {"at": 9, "open": True}}, '{"at": 9, "open": true}'),
    ({"messages": [*TURN, AIMessage("At nine.")], "lang": "en"}, "At nine."),
    ({"messages": ["Hello", "there"], "n": 1}, '{"messages": ["Hello", "there"], "n": 1}'),
    ({"messages": [], "reply": "At nine.", "model answer": "At ten."}, None),
    ({"entities": []}, '{"entities": []}'),
])  # fmt: skip
def test_an_answer_with_a_name_is_found_beside_a_conversation(outputs, answer):
    assert to_case({"inputs": {"question": "When?"}, "outputs": outputs}).answer == answer


@pytest.mark.parametrize("inputs", [{"messages": []}, Thread(), {"chat_history": []}])
def test_a_conversation_without_messages_is_not_a_question(inputs):
    assert to_case({"inputs": inputs, "outputs": "At nine."}).question is None


def test_the_log_and_the_comment_say_where_the_answer_may_be(caplog):
    outputs = {"messages": TURN[:1], "draft": "The pool opens at nine.", "thread_id": "t7"}
    JuryEvaluator(NotEmpty(), key="k")(inputs={"question": "When?"}, outputs=outputs)
    JuryEvaluator(NotEmpty(), key="k")(inputs={"question": "When?"}, outputs={"messages": TURN[:1], "thread_id": "t7"})
    (said,) = [one.getMessage() for one in caplog.records]
    assert said == (
        "k: no answer was found in the messages; if 'draft' has it, say so with a field map, such as "
        "field_map={'answer': 'outputs.draft'}"
    )
    mapped = JuryEvaluator(NotEmpty(), key="k", field_map={"answer": "outputs.draft"})
    assert mapped(inputs={"question": "When?"}, outputs=outputs)["score"] == 1.0


class Rag(MessagesState):
    answer: str
    lang: str
    verdict: dict[str, Any]


def rag(update, *nodes):
    graph = StateGraph(Rag)
    graph.add_node("write", lambda state: update)
    graph.add_edge(START, "write")
    last = "write"
    for name, node in nodes:
        graph.add_node(name, node)
        graph.add_edge(last, name)
        last = name
    graph.add_edge(last, END)
    return graph.compile()


@pytest.mark.parametrize("messages", [[], [("user", "When?")]])
def test_a_handler_and_a_node_agree_with_the_evaluator(messages):
    watched = Watched()
    rag({"answer": "At nine.", "lang": "en"}).invoke({"messages": messages}, watched.config)
    assert [run.case.answer for run in watched.all()] == ["At nine."]
    watched = Watched()
    rag({"lang": "en"}).invoke({"messages": messages}, watched.config)
    assert watched.all() == []
    seen = rag({"lang": "en"}, ("judge", jury_node(NotEmpty()))).invoke({"messages": messages})
    assert seen["verdict"]["reasoning"] == "there is no answer"


def test_a_function_that_returns_no_messages_is_counted_as_unanswered():
    watched = Watched()
    for outputs in ({"messages": []}, {"messages": [], "lang": "en"}, {"messages": [], "answer": ""}):
        RunnableLambda(lambda _, outputs=outputs: outputs).invoke("When?", watched.config)
    watched.all()
    assert watched.handler.counts.unanswered == 3
