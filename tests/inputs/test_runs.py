"""What a run of an application was asked and answered, read from its values or refused."""

import json
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Annotated, Any, TypedDict

import pytest
from fact_tables import each_row
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.prompts import ChatPromptTemplate
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command
from llama_index.core import Document as LlamaDocument
from llama_index.core.base.response.schema import Response
from llama_index.core.llms import ChatMessage as LlamaMessage
from llama_index.core.schema import NodeWithScore, TextNode
from pydantic import BaseModel

from jury_adapters import Case, InputError, Message, Run, Step, default_case, judge
from jury_adapters.core.asking import Asking
from jury_adapters.inputs.run import texts_of

PAGE = "The ferry stopped in 2018."
ASKED, SAID = "When did the ferry stop?", "In 2018."
THINK = {"type": "thinking", "thinking": "Maybe 2019?", "signature": "EP4"}
TEXT = {"type": "text", "text": SAID}
LONG = "It was a bright cold day in April, and the clocks were striking thirteen."


def call(name: str = "search", call_id: str = "1", **args: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": args or {"query": "ferry"}, "id": call_id}])


def found(text: str = PAGE, call_id: str = "1", **more: Any) -> ToolMessage:
    return ToolMessage(text, tool_call_id=call_id, **more)


def otel(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


class Reply(BaseModel):
    answer: str
    sources: list[str] = []


class Invoice(BaseModel):
    total: int
    vendor: str


@dataclass
class State:
    question: str
    answer: str | None = None
    documents: list[Any] | None = None


@dataclass
class OwnCommand:
    answer: str


class Array:
    """Like arrays of NumPy: a comparison has no single answer."""

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> Any:
        return self

    def __bool__(self) -> bool:
        raise ValueError


OwnCommand.__name__ = "Command"
NAType, NaTType = type("NAType", (), {}), type("NaTType", (), {})
THING = object()


class Chat(BaseModel):
    messages: list[Any]
    structured_response: Any = None


WEATHER = [HumanMessage(ASKED), call(), found(), AIMessage(SAID)]
STEP = Step(tool="search", arguments={"query": "ferry"}, output=PAGE)
AGENT = {"question": ASKED, "answer": SAID, "contexts": [PAGE], "steps": [STEP]}

# The inputs and outputs of a run, and the fields of its case.
READ: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "texts": (ASKED, SAID, {"question": ASKED, "answer": SAID}),
    "usual names": ({"question": ASKED}, {"answer": SAID}, {"question": ASKED, "answer": SAID}),
    "other usual names": ({"query": ASKED}, {"result": SAID, "source_documents": [PAGE]}, {"question": ASKED,
        "answer": SAID, "contexts": [PAGE]}),
    "an answer beside other values": (ASKED, {"answer": SAID, "reasoning": "It says so.", "cost": 3},
        {"question": ASKED, "answer": SAID}),
    "an answer beside a draft": (ASKED, {"draft": "2019?", "answer": SAID}, {"question": ASKED, "answer": SAID}),
    "names that agree": ({"question": ASKED, "input": ASKED}, {"output": SAID, "final_answer": f"{SAID}\n"},
        {"question": ASKED, "answer": SAID}),
    "a name whose value is blank": ({"question": "", "input": ASKED}, {"answer": " ", "output": SAID},
        {"question": ASKED, "answer": SAID}),
    "a name whose value is missing": (ASKED, {"answer": None, "output": SAID}, {"question": ASKED, "answer": SAID}),
    "an empty answer": (ASKED, {"answer": ""}, {"question": ASKED, "answer": ""}),
    "no answer": (ASKED, {"answer": None, "reason": "busy"}, {"question": ASKED}),
    "NaN is no answer": ({"question": ASKED}, {"answer": float("nan")}, {"question": ASKED}),
    "LangSmith: no output": (ASKED, {"output": None}, {"question": ASKED}),
    "no outputs": ({"question": ASKED}, None, {"question": ASKED}),
    "empty outputs": ({"question": ASKED}, {}, {"question": ASKED}),
    "the question in the outputs too": ({"question": ASKED}, {"question": ASKED, "answer": SAID}, {"question": ASKED,
        "answer": SAID}),
    "a question that was rewritten": ({"question": ASKED}, {"question": "ferry stop year", "query": "ferry",
        "answer": SAID}, {"question": ASKED, "answer": SAID}),
    "one text": ({"topic": "ferry"}, {"poem": SAID}, {"question": "ferry", "answer": SAID}),
    "one text beside missing values": ({"topic": "ferry"}, {"poem": SAID, "error": None}, {"question": "ferry",
        "answer": SAID}),
    "pairs of a role and a text": (("user", ASKED), ("ai", SAID), {"question": ASKED, "answer": SAID}),
    "one text beside known names": ({"topic": "ferry", "context": [PAGE]}, {"poem": SAID, "question": "ferry"},
        {"question": "ferry", "answer": SAID, "contexts": [PAGE]}),
    "CRAG: one text beside question and documents": ({"question": ASKED}, {"question": ASKED, "generation": SAID,
        "documents": [PAGE]}, {"question": ASKED, "answer": SAID, "contexts": [PAGE]}),
    "a state {text} -> {text, translation}": ({"text": LONG}, {"text": LONG,
        "translation": "Es war ein klarer, kalter Tag"}, {"question": LONG, "answer": "Es war ein klarer, kalter Tag"}),
    "the input under another name": (LONG, {"text": LONG, "translation": "Es war"}, {"question": LONG,
        "answer": "Es war"}),
    "an echo that is named as the output": ({"input": ASKED}, {"output": ASKED}, {"question": ASKED, "answer": ASKED}),
    "a number": (ASKED, {"answer": 42}, {"question": ASKED, "answer": "42"}),
    "an object": (ASKED, {"answer": {"city": "Bern", "größe": 1}}, {"question": ASKED,
        "answer": '{"city":"Bern","größe":1}'}),
    "a list": (ASKED, ["a", 1], {"question": ASKED, "answer": '["a",1]'}),
    "text that looks like JSON stays": ("007", "1e5", {"question": "007", "answer": "1e5"}),
    "a model of pydantic": (State(ASKED), Reply(answer=SAID), {"question": ASKED, "answer": SAID}),
    "a dataclass": (State(ASKED), State(ASKED, SAID, [Document(PAGE)]), {"question": ASKED, "answer": SAID,
        "contexts": [PAGE]}),
    "objects that come back": ({"text": LONG, "image": THING}, {"text": LONG, "image": THING,
        "translation": "Es war"}, {"answer": "Es war"}),
    "an object of one's own that is called Command": (ASKED, OwnCommand(answer=SAID), {"question": ASKED,
        "answer": SAID}),
    "sources that a model wrote beside its answer": (ASKED, {"answer": Reply(answer=SAID, sources=[PAGE]), "cost": 1},
        {"question": ASKED, "answer": SAID}),
    "missing values of pandas": ({"question": ASKED, "input": NAType()}, {"answer": NaTType()}, {"question": ASKED}),
    "a document": (ASKED, Document(PAGE), {"question": ASKED, "contexts": [PAGE]}),
    "an object under a name": (ASKED, {"answer": Invoice(total=3, vendor="x"), "cost": 1}, {"question": ASKED,
        "answer": '{"total":3,"vendor":"x"}'}),
    "LangSmith: a wrapped object": ({"input": {"question": ASKED}}, {"output": Reply(answer=SAID)},
        {"question": ASKED, "answer": SAID}),
    "LangSmith: a wrapped object without names": (ASKED, {"output": Invoice(total=3, vendor="x")}, {"question": ASKED,
        "answer": '{"total":3,"vendor":"x"}'}),
    "LangSmith: a wrapped state": ({"question": ASKED}, {"output": {"messages": WEATHER}}, AGENT),
    "LangSmith: a wrapped message": ({"input": ASKED}, {"output": AIMessage([THINK, TEXT])}, {"question": ASKED,
        "answer": SAID}),
    "LangSmith: wrapped documents": (ASKED, {"output": [Document(PAGE)]}, {"question": ASKED, "contexts": [PAGE]}),
    "LangChain: a chat model": ([HumanMessage(ASKED)], AIMessage(SAID), {"question": ASKED, "answer": SAID}),
    "LangChain: a prompt's messages": (ChatPromptTemplate([("system", "s"), ("human",
        "{q}")]).format_messages(q=ASKED), AIMessage(SAID), {"question": ASKED, "answer": SAID,
        "messages": [Message(role="system", content="s")]}),
    "LangChain: a retriever": (ASKED, [Document(PAGE), Document("It was red.")], {"question": ASKED,
        "contexts": [PAGE, "It was red."]}),
    "LangChain: a retriever that found nothing": (ASKED, [], {"question": ASKED}),
    "LangChain: create_retrieval_chain": (
        {"input": ASKED, "chat_history": [("user", "Hi"), ("ai", "Hello!")]},
        {"input": ASKED, "chat_history": [("user", "Hi"), ("ai", "Hello!")], "context": [Document(PAGE)],
        "answer": SAID},
        {"question": ASKED, "answer": SAID, "contexts": [PAGE], "messages": [Message(role="user", content="Hi"),
        Message(role="assistant", content="Hello!")]},
    ),
    "LangChain: AgentExecutor": ({"input": ASKED}, {"input": ASKED, "output": SAID, "intermediate_steps": []},
        {"question": ASKED, "answer": SAID}),
    "an agent's state": ({"messages": [("user", ASKED)]}, {"messages": WEATHER}, AGENT),
    "an agent's state, asked by a text": ({"messages": ASKED}, {"messages": [AIMessage(SAID)]}, {"question": ASKED,
        "answer": SAID}),
    "an agent's state, asked by one pair": ({"messages": ("user", ASKED)}, {"messages": [AIMessage(SAID)]},
        {"question": ASKED, "answer": SAID}),
    "an agent's state of pydantic": (Chat(messages=[("user", ASKED)]), Chat(messages=WEATHER), AGENT),
    "an agent's second turn": (
        {"messages": [("user", "And the bus?")]}, {"messages": [*WEATHER, HumanMessage("And the bus?"),
        AIMessage("It runs.")]},
        {"question": "And the bus?", "answer": "It runs.", "messages": [Message(role="user", content=ASKED,
        steps=[STEP]), Message(role="tool", content=PAGE), Message(role="assistant", content=SAID)]},
    ),
    "a node that returns its own messages": ({"messages": WEATHER[:3]}, {"messages": [AIMessage(SAID)]}, AGENT),
    "a node that returns a message": ({"messages": WEATHER[:3]}, AIMessage(SAID), AGENT),
    "a node that returns an answer": ({"messages": WEATHER[:3]}, {"answer": SAID}, AGENT),
    "a paused agent": ({"messages": [("user", ASKED)]}, {"messages": [HumanMessage(ASKED), call()]},
        {"question": ASKED, "steps": [{"tool": "search", "arguments": {"query": "ferry"}}]}),
    "a graph whose messages have no user": ({"question": ASKED}, {"question": ASKED, "messages": WEATHER[1:]}, AGENT),
    "a graph whose prompt is a message": ({"question": ASKED}, {"messages": [HumanMessage(f"Answer: {ASKED}"),
        AIMessage(SAID)]}, {"question": ASKED, "answer": SAID}),
    "a graph that rewrites the question in its messages": (
        {"question": ASKED, "messages": [("user", ASKED)]}, {"question": ASKED, "messages": [*WEATHER[:3],
        HumanMessage("ferry stop year"), AIMessage(SAID)]}, AGENT,
    ),
    "a graph whose prompt is two messages": (
        {"question": ASKED}, {"messages": [SystemMessage("s"), HumanMessage(f"Answer: {ASKED}"), AIMessage(SAID)]},
        {"question": ASKED, "answer": SAID, "messages": [Message(role="system", content="s")]},
    ),
    "a node after a greeting": ({"messages": [("ai", "Hello!")]}, {"messages": [AIMessage(SAID)]}, {"answer": SAID,
        "steps": [Step(text="Hello!")]}),
    "a conversation before a question": (
        {"question": ASKED, "messages": [("user", "Hi"), ("ai", "Hello!")]}, {"answer": SAID},
        {"question": ASKED, "answer": SAID, "messages": [Message(role="user", content="Hi"), Message(role="assistant",
        content="Hello!")]},
    ),
    "a conversation before a question that a message answers": (
        {"question": ASKED, "chat_history": [("user", "Hi"), ("ai", "Hello!")]}, AIMessage(SAID),
        {"question": ASKED, "answer": SAID, "messages": [Message(role="user", content="Hi"), Message(role="assistant",
        content="Hello!")]},
    ),
    "a greeting before a question": ({"question": ASKED, "messages": [("ai", "Hello!")]}, SAID, {"question": ASKED,
        "answer": SAID, "messages": [Message(role="assistant", content="Hello!")]}),
    "messages beside a named answer": ({"messages": [("user", ASKED)]}, {"messages": [*WEATHER[:3],
        AIMessage("I have written it down.")], "answer": SAID}, AGENT),
    "a structured response": (
        {"messages": [("user", ASKED)]},
        {"messages": [*WEATHER[:3], call("Invoice", "2", total=3, vendor="x"),
        found("Returning structured response: total=3 vendor='x'", "2")], "structured_response": Invoice(total=3,
        vendor="x")},
        {"question": ASKED, "answer": '{"total":3,"vendor":"x"}', "contexts": [PAGE], "steps": [
            STEP, {"tool": "Invoice", "arguments": {"total": 3, "vendor": "x"},
            "output": "Returning structured response: total=3 vendor='x'"}]},
    ),
    "a structured response brings no evidence": (ASKED, {"messages": [], "structured_response": Reply(answer=SAID,
        sources=[PAGE])}, {"question": ASKED, "answer": f'{{"answer":"{SAID}","sources":["{PAGE}"]}}'}),
    "no structured response": ({"messages": [("user", ASKED)]}, Chat(messages=WEATHER), AGENT),
    "content blocks": (ASKED, [THINK, TEXT], {"question": ASKED, "answer": SAID}),
    "content blocks under a usual name": ({"input": ASKED}, {"output": [THINK, TEXT]}, {"question": ASKED,
        "answer": SAID}),
    "content blocks under another name": ({"question": ASKED}, {"content": [THINK, TEXT], "context": [PAGE]},
        {"question": ASKED, "answer": SAID, "contexts": [PAGE]}),
    "a message as a mapping": ({"input": ASKED}, {"role": "assistant", "content": [THINK, TEXT]}, {"question": ASKED,
        "answer": SAID}),
    "OTel: inputs and outputs": ([otel("user", ASKED)], [otel("assistant", SAID)], {"question": ASKED, "answer": SAID}),
    "OTel: under usual names": ({"input": [otel("user", ASKED)]}, {"output": [otel("assistant", SAID)]},
        {"question": ASKED, "answer": SAID}),
    "OTel: messages": ({"messages": [otel("user", ASKED)]}, {"messages": [otel("assistant", SAID)]},
        {"question": ASKED, "answer": SAID}),
    "LangGraph: a command": ({"question": ASKED}, Command(goto="next", update={"answer": SAID}), {"question": ASKED,
        "answer": SAID}),
    "LangGraph: commands": (
        {"messages": [HumanMessage(ASKED)]}, [Command(update={"messages": [call()]}),
        Command(update={"messages": [found()]}), Command(goto="next"), {"messages": [AIMessage(SAID)]}], AGENT,
    ),
    "LangGraph: a command with a model of pydantic": ({"question": ASKED}, Command(update=Reply(answer=SAID)),
        {"question": ASKED, "answer": SAID}),
    "LangGraph: a command with an open call": ({"messages": [HumanMessage(ASKED)]},
        Command(update={"messages": [call()]}), {"question": ASKED, "steps": [{"tool": "search",
        "arguments": {"query": "ferry"}}]}),
    "LangGraph: a command with one message": ({"messages": (HumanMessage(ASKED),)},
        Command(update={"messages": AIMessage(SAID)}), {"question": ASKED, "answer": SAID}),
    "LangGraph: a command and a list of messages": ({"messages": [HumanMessage(ASKED)]},
        [Command(update={"messages": call()}), [found(), AIMessage(SAID)]], AGENT),
    "LangGraph: a command without an update": ({"question": ASKED}, Command(goto="next"), {"question": ASKED}),
    "messages that are a tuple": ({"messages": (("user", ASKED),)}, {"messages": tuple(WEATHER)}, AGENT),
    "no messages": ({"question": ASKED}, {"output": SAID, "messages": ()}, {"question": ASKED, "answer": SAID}),
    "a history beside messages": (
        {"chat_history": [("user", "Hi"), ("ai", "Hello!")], "messages": [("user", ASKED)]}, SAID,
        {"question": ASKED, "answer": SAID, "messages": [Message(role="user", content="Hi"), Message(role="assistant",
        content="Hello!")]},
    ),
    "LangGraph: a resumed graph": (Command(resume="yes"), {"question": ASKED, "answer": SAID}, {"answer": SAID}),
    "LangGraph: a resumed agent": (Command(resume="yes"), {"messages": WEATHER}, AGENT),
    "LlamaIndex: a chat": ([LlamaMessage(ASKED, role="user")], LlamaMessage(SAID, role="assistant"),
        {"question": ASKED, "answer": SAID}),
    "LlamaIndex: a response": (ASKED, Response(SAID), {"question": ASKED, "answer": SAID}),
    "LlamaIndex: nodes": (ASKED, [NodeWithScore(node=TextNode(text=PAGE), score=0.5)], {"question": ASKED,
        "contexts": [PAGE]}),
    "inputs without a question": ({"mail": "stolen", "lang": "en"}, {"answer": SAID}, {"answer": SAID}),
    "contexts of the outputs before those of the inputs": ({"question": ASKED, "context": ["ideal"]}, {"answer": SAID,
        "documents": [PAGE]}, {"question": ASKED, "answer": SAID, "contexts": [PAGE]}),
    "contexts of the inputs": ({"question": ASKED, "context": {"documents": [PAGE]}}, {"answer": SAID,
        "documents": []}, {"question": ASKED, "answer": SAID, "contexts": [PAGE]}),
    "a reference in the inputs": ({"question": ASKED, "expected": "2018"}, SAID, {"question": ASKED, "answer": SAID,
        "reference": "2018"}),
    "a citation is no reference": (ASKED, {"answer": SAID, "reference": "page 3"}, {"question": ASKED, "answer": SAID}),
}  # fmt: skip


@each_row(("inputs", "outputs", "fields"), READ.values(), ids=READ)
def test_what_a_run_was_asked_and_answered(inputs: Any, outputs: Any, fields: dict[str, Any]) -> None:
    assert default_case(Run(inputs=inputs, outputs=outputs)) == Case(**fields)


# The inputs and outputs of a run whose answer is not known, and what is said.
REFUSED: dict[str, tuple[Any, Any, str]] = {
    "a state {text} -> {text, classification, entities, summary}": ({"text": LONG}, {"text": LONG,
        "classification": "novel", "entities": ["April"], "summary": "It was cold."},
        "none of the outputs 'classification', 'entities', 'summary' is known as the answer"),
    "content beside a draft": (ASKED, {"content": SAID, "draft": "2019?"},
        "none of the outputs 'content', 'draft' is known"),
    "content beside a summary": (ASKED, {"content": SAID, "summary": "ferry"},
        "none of the outputs 'content', 'summary' is known"),
    "result beside final_answer": (ASKED, {"result": "3 rows", "final_answer": SAID},
        "'result', 'final_answer' hold different answers"),
    "output beside reply": (ASKED, {"output": "3 rows", "reply": SAID}, "'output', 'reply' hold different answers"),
    "two usual names": (ASKED, {"answer": SAID, "response": "In 2019."}, "'answer', 'response' hold different answers"),
    "two usual names of the question": ({"instruction": "Answer.", "input": ASKED}, SAID,
        "'input', 'instruction' hold different questions"),
    "two usual names of the contexts": (ASKED, {"answer": SAID, "context": "a", "documents": ["b"]},
        "'context', 'documents' hold different contexts"),
    "an answer beside a structured response": (ASKED, {"answer": SAID, "structured_response": Reply(answer="x")},
        "'answer', 'structured_response' hold different answers"),
    "a verdict": ({"mail": "stolen"}, {"covered": False, "reason": "theft"},
        "none of the outputs 'covered', 'reason' is known"),
    "a paused state": ({"question": ASKED}, {"question": ASKED},
        "none of the outputs 'question' is new, so that none is known as the answer"),
    "an input that comes back": ({"text": LONG}, {"text": LONG},
        "none of the outputs 'text' is new, so that none is known as the answer"),
    "an answer that comes back": ({"question": ASKED, "answer": SAID}, {"answer": SAID},
        "none of the outputs 'answer' is new, so that none is known as the answer"),
    "an answer that comes back beside a verdict": ({"question": ASKED, "answer": SAID}, {"question": ASKED,
        "answer": SAID, "verdict": "good"}, "none of the outputs 'verdict' is known"),
    "messages that come back": ({"messages": [HumanMessage(ASKED), AIMessage(SAID)]},
        {"messages": [HumanMessage(ASKED), AIMessage(SAID)]},
        "none of the outputs 'messages' is new, so that none is known as the answer"),
    "a number": (ASKED, {"total": 42}, "none of the outputs 'total' is known"),
    "a model of pydantic": (ASKED, Invoice(total=3, vendor="x"), "none of the outputs 'total', 'vendor' is known"),
    "contexts beside unknown names": (ASKED, {"documents": [PAGE], "a": 1, "b": 2},
        "none of the outputs 'a', 'b' is known"),
    "JSON text of messages": (ASKED, {"output": json.dumps([otel("assistant", SAID)])},
        "a text is the JSON of messages"),
    "JSON text of messages as the question": (json.dumps([{"role": "user", "content": ASKED}]), SAID,
        "a text is the JSON of messages"),
    "a stream": (ASKED, {"answer": iter([SAID])}, "a value of the type list_iterator is no text"),
    "an object": (ASKED, SimpleNamespace(text=SAID), "a value of the type SimpleNamespace is no text"),
    "an unknown message": ({"messages": [("user", ASKED)]}, {"messages": ["Saved.", "Done."]},
        "message 2 cannot be read"),
    "an array": ({"image": Array()}, {"image": Array(), "a": 1}, "none of the outputs 'image', 'a' is known"),
    "many names": (ASKED, {f"n{number}": "x" for number in range(99)}, "'n8', 'n9' is known"),
    "a name with control characters": (ASKED, {"\x1b[31mred": 1, "b": 2}, r"'\\u001b\[31mred', 'b'"),
}  # fmt: skip


@each_row(("inputs", "outputs", "said"), REFUSED.values(), ids=REFUSED)
def test_a_run_without_a_known_answer_is_refused_with_the_way_out(inputs: Any, outputs: Any, said: str) -> None:
    with pytest.raises(InputError, match=said) as refused:
        default_case(Run(inputs=inputs, outputs=outputs))
    assert str(refused.value).endswith("; give case=lambda run: Case(question=..., answer=run.outputs[...])")
    assert "\x1b" not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_case_among_the_outputs_is_the_case() -> None:
    case = Case(question=ASKED, candidates=[SAID, "In 2019."], messages=[Message(role="user", content="Hi")])
    assert default_case(Run(inputs={"question": "other"}, outputs=case)) is case


def test_json_of_people_with_roles_is_a_text() -> None:
    people = json.dumps([{"role": "engineer", "name": "Ann"}])
    assert default_case(Run(outputs=people)).answer == people


def test_the_way_out_works() -> None:
    asking = Asking(judge(lambda case: case.answer == SAID), case=lambda run: Case(answer=run.outputs["final_answer"]))
    run = Run(outputs={"result": "3 rows", "final_answer": SAID})
    assert asking.judged(run).judgment.passed
    assert Asking(judge(lambda case: True), case=default_case).judged(run).judgment.status == "ERROR"


REFERENCES: dict[str, tuple[Any, str | None]] = {
    "a text": ("2018", "2018"),
    "the reference": ({"reference": "2018", "answer": "other"}, "2018"),
    "an answer": ({"answer": "2018", "expected_calls": [1]}, "2018"),
    "one text": ({"year": "2018"}, "2018"),
    "messages": ({"messages": [("user", ASKED), ("ai", "2018")]}, "2018"),
    "a list of messages": ([HumanMessage(ASKED), AIMessage("2018")], "2018"),
    "several unknown": ({"a": "2018", "b": "x"}, None),
    "an object of the expected output": ({"output": {"year": 2018}}, '{"year":2018}'),
    "nothing": (None, None),
    "NaN": (float("nan"), None),
    "a missing answer": ({"answer": None}, None),
}


@each_row(("reference", "text"), REFERENCES.values(), ids=REFERENCES)
def test_the_reference_of_a_run(reference: Any, text: str | None) -> None:
    assert default_case(Run(inputs=ASKED, outputs={"answer": SAID}, reference=reference)).reference == text


def test_an_answer_is_not_its_own_reference() -> None:
    """The outputs and inputs of a run bring no reference by the name of the answer."""
    row = {"question": ASKED, "answer": SAID}
    assert default_case(Run(inputs=row, outputs={"answer": f"{SAID} "})).reference is None


def test_further_facts_of_a_run_reach_the_case() -> None:
    run = Run(
        id="r1", inputs=ASKED, outputs=SAID, documents=[Document(PAGE), Document(PAGE)], steps=[STEP],
        generator="gpt-4o",
        metadata={"split": "test"}, tags=["x"], elapsed_s=0.1,
    )  # fmt: skip
    assert default_case(run) == Case(
        id="r1",
        question=ASKED,
        answer=SAID,
        contexts=[PAGE],
        steps=[STEP],
        generator="gpt-4o",
        metadata={"split": "test"},
    )


def test_an_empty_error_is_none() -> None:
    assert default_case(Run(outputs=SAID, error="")) == Case(answer=SAID)


class Fails:
    """A judge that must not be asked."""

    def __call__(self, case: Case) -> bool:
        raise AssertionError


FAILED: dict[str, tuple[Any, Any]] = {
    "without outputs": (ASKED, None),
    "with outputs that cannot be read": (ASKED, {"a": 1, "b": 2}),
    "with half an answer": (ASKED, {"answer": "In 20"}),
    "with inputs that cannot be read": ({"input": "a", "query": "b"}, None),
}


@each_row("name", FAILED)
def test_a_run_that_failed_is_fail(name: str) -> None:
    inputs, outputs = FAILED[name]
    run = Run(id="r1", inputs=inputs, outputs=outputs, error="ValueError('boom')")
    if "inputs" not in name:
        case = default_case(run)
        assert (case.id, case.question, case.answer, case.error) == ("r1", ASKED, None, "ValueError('boom')")
    judgment = Asking(Fails(), case=default_case).judged(run).judgment
    assert (judgment.status, judgment.reasoning) == ("FAIL", "the run failed: ValueError('boom')")


def heard(*tools: str) -> list[Step]:
    return [Step(tool=tool, output=f"{tool} heard") for tool in tools]


def read(*tools: str) -> dict[str, Any]:
    made = [message for tool in tools for message in (call(tool, tool), found(f"{tool} read", tool))]
    return {"messages": [HumanMessage(ASKED), *made, AIMessage("I have it."), AIMessage(SAID)]}


# The tools that were heard, the tools in the messages, and the outputs of the steps.
STEPS: dict[str, tuple[list[str], list[str], list[str]]] = {
    "the same": (["a", "b"], ["a", "b"], ["a heard", "b heard"]),
    "heard only": (["a"], [], ["a heard"]),
    "read only": ([], ["a"], ["a read"]),
    "an agent inside a tool": (["pages", "helper"], ["helper"], ["pages heard", "helper heard"]),
    "the messages know more, as after a pause": (["b"], ["a", "b"], ["a read", "b read"]),
    "a supervisor that keeps last messages": (["transfer_to_x", "pages"], ["transfer_to_x", "transfer_back"],
        ["transfer_to_x heard", "pages heard", "transfer_back read"]),
    "a supervisor with two hops": (
        ["to_x", "pages", "to_y"], ["to_x", "back_x", "to_y", "back_y"], ["to_x heard", "pages heard", "to_y heard",
        "back_x read", "back_y read"],
    ),
}  # fmt: skip


@each_row(("ran", "told", "outputs"), STEPS.values(), ids=STEPS)
def test_calls_that_ran_are_steps(ran: list[str], told: list[str], outputs: list[str]) -> None:
    case = default_case(Run(inputs=ASKED, outputs=read(*told), steps=heard(*ran)))
    assert [step.output for step in case.steps if step.tool] == outputs
    assert [step.text for step in case.steps if not step.tool] in ([], ["I have it."])
    assert case.answer == SAID


def test_what_was_said_between_calls_is_kept_where_no_call_was_heard() -> None:
    case = default_case(Run(outputs=[HumanMessage("?"), AIMessage("First."), AIMessage("Second.")]))
    assert case.steps == (Step(text="First."),)


PASSAGES: dict[str, tuple[Any, list[str]]] = {
    "a text": (PAGE, [PAGE]),
    "texts": ([PAGE, None, " ", float("nan")], [PAGE]),
    "documents of LangChain": ([Document(PAGE, metadata={"page": 1})], [PAGE]),
    "documents as JSON": ([Document(PAGE).model_dump(), {"page_content": "b", "metadata": {}}], [PAGE, "b"]),
    "a document": (Document(PAGE), [PAGE]),
    "nodes of LlamaIndex, as its models see them": ([NodeWithScore(node=TextNode(text=PAGE,
        metadata={"year": 2018}))], [f"year: 2018\n\n{PAGE}"]),
    "documents of LlamaIndex": ([LlamaDocument(text=PAGE)], [PAGE]),
    "nodes as JSON": ([NodeWithScore(node=TextNode(text=PAGE), score=0.5).model_dump()], [PAGE]),
    "a mapping by name": ({"documents": [PAGE], "more": ["b"]}, [PAGE, "b"]),
    "Chroma: lists of lists": ([[PAGE, "b"]], [PAGE, "b"]),
    "Databricks: content": ([{"doc_uri": "u", "content": PAGE}], [PAGE]),
    "other objects": ([{"id": 7, "body": PAGE}], [f'{{"id":7,"body":"{PAGE}"}}']),
    "numbers": ([7], ["7"]),
    "nothing": (None, []),
}  # fmt: skip


@each_row(("value", "texts"), PASSAGES.values(), ids=PASSAGES)
def test_passages_are_texts(value: Any, texts: list[str]) -> None:
    assert texts_of(value) == tuple(texts)
    assert default_case(Run(inputs={"question": ASKED}, outputs={"answer": SAID, "contexts": value})).contexts == tuple(
        texts
    )


class GraphState(TypedDict, total=False):
    question: str
    draft: str
    answer: str
    context: list[Document]
    messages: Annotated[list[AnyMessage], add_messages]


def graph(node: Any) -> Any:
    made = StateGraph(GraphState)
    made.add_node("node", node)
    made.add_edge(START, "node")
    made.add_edge("node", END)
    return made.compile()


NODES: dict[str, tuple[dict[str, Any], Any, dict[str, Any]]] = {
    "a field": ({"question": ASKED}, lambda state: {"answer": SAID, "context": [Document(PAGE)]}, {"question": ASKED,
        "answer": SAID, "contexts": [PAGE]}),
    "a command": ({"question": ASKED}, lambda state: Command(update={"answer": SAID}, goto=END), {"question": ASKED,
        "answer": SAID}),
    "messages": ({"messages": [("user", ASKED)]}, lambda state: {"messages": [call(), found(), AIMessage(SAID)]},
        AGENT),
    "an answer beside messages": ({"question": ASKED, "messages": []}, lambda state: {"messages": [SystemMessage("s"),
        call(), found(), AIMessage("x")], "answer": SAID}, AGENT),
    "a draft": ({"question": ASKED, "draft": ""}, lambda state: {"draft": SAID}, {"question": ASKED, "answer": SAID}),
}  # fmt: skip


@each_row(("inputs", "node", "fields"), NODES.values(), ids=NODES)
def test_the_state_of_a_real_graph(inputs: Any, node: Any, fields: dict[str, Any]) -> None:
    assert default_case(Run(inputs=inputs, outputs=graph(node).invoke(inputs))) == Case(**fields)


def test_the_user_says_which_tools_find_things() -> None:
    write = [
        call("write_file", "2", path="a.md", content="The ferry stopped in 2019."),
        found("Wrote 26 bytes to a.md", "2"),
    ]
    run = Run(outputs={"messages": [HumanMessage(ASKED), call(), found(), *write, AIMessage("In 2019.")]})
    assert default_case(run).contexts == (PAGE, "Wrote 26 bytes to a.md")
    chosen = partial(default_case, evidence=lambda step: step.tool == "search")
    assert chosen(run).contexts == (PAGE,)
    assert len(chosen(run).steps) == 2
    trusting = partial(default_case, evidence=lambda step: step.tool == "kv_get")
    one = Step(tool="kv_get", arguments={"key": "year 2018"}, output="2018")
    assert (
        trusting(Run(outputs=SAID, steps=[one])).contexts,
        default_case(Run(outputs=SAID, steps=[one])).contexts,
    ) == (("2018",), ())


def test_each_further_name_of_an_answer_makes_a_usual_one_doubtful() -> None:
    for name in ("final_answer", "final_output", "final_response", "final_result", "reply", "completion", "generation"):
        with pytest.raises(InputError, match=f"'output', '{name}' hold different answers"):
            default_case(Run(outputs={"output": "3 rows", name: SAID}))
        assert default_case(Run(outputs={name: SAID})).answer == SAID


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["answer", "output", "question", "context", "messages", "role", "content", "type", "reply"])
            | st.text(max_size=3),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


@settings(max_examples=50, deadline=None)
@given(json_values, json_values, json_values)
def test_whatever_a_run_returned_makes_a_case_or_is_refused(inputs: Any, outputs: Any, reference: Any) -> None:
    run = Run(inputs=inputs, outputs=outputs, reference=reference, documents=[inputs], metadata={"x": outputs})
    try:
        case = default_case(run)
    except InputError as error:
        assert "case=" in str(error)  # noqa: PT017
    else:
        assert Case.model_validate_json(case.model_dump_json()) == case


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(st.text(min_size=1, max_size=4), st.text(min_size=1), min_size=1, max_size=3))
def test_an_input_that_comes_back_is_never_the_answer(inputs: dict[str, str]) -> None:
    for further in ({}, {"translation": "Es war einmal."}):
        try:
            case = default_case(Run(inputs=inputs, outputs={**inputs, **further}))
        except InputError:
            continue
        assert case.answer == "Es war einmal."


def test_deep_values_are_refused() -> None:
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(InputError):
        default_case(Run(outputs={"answer": deep}))
