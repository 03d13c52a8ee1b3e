"""Rows in the documented formats of LangSmith, openevals, LlamaIndex, ragas and DeepEval, and rows of one's own."""

import json
import math
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from fact_tables import each_row
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage
from langsmith import schemas
from llama_index.core.evaluation import EvaluationResult

from jury_adapters import Case, ConfigurationError, InputError, Message, Step
from jury_adapters.core.case import NAMES
from jury_adapters.inputs.rows import case_of_row, run_of_row

Q, A, C, R = "Capital of France?", "Paris.", ["Paris is the capital."], "Paris"
ALL = {"question": Q, "answer": A, "contexts": C, "reference": R}
BEFORE = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]
EARLIER = [Message(role="user", content="Hello"), Message(role="assistant", content="Hi")]
CALL = {"id": "1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Paris"}'}}
LOG = [
    {"role": "user", "content": "Weather in Paris?"},
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "1", "content": "18 degrees"},
    {"role": "assistant", "content": "18 degrees in Paris."},
]
STEP = Step(tool="weather", arguments={"city": "Paris"}, output="18 degrees")
OF_LOG = {
    "question": "Weather in Paris?",
    "answer": "18 degrees in Paris.",
    "contexts": ["18 degrees"],
    "steps": [STEP],
}
RUN_ID = UUID(int=7)
NOW = datetime(2026, 1, 1, tzinfo=UTC)
RAN = schemas.Run(id=RUN_ID, name="target", run_type="chain", start_time=NOW, trace_id=RUN_ID, inputs={"question": Q},
        outputs={"answer": A, "contexts": C})  # fmt: skip
EXAMPLE = schemas.Example(id=UUID(int=8), inputs={"question": Q}, outputs={"answer": R}, dataset_id=UUID(int=9))


def otel(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


# A row, and the fields of its case.
ROWS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "ours": ({"id": 7, **ALL, "generator": "gpt-4o", "topic": "geography"}, {"id": "7", **ALL, "generator": "gpt-4o",
        "metadata": {"topic": "geography"}}),
    "ours: candidates": ({"question": Q, "candidates": ["Paris.", "Lyon."]}, {"question": Q, "candidates": ["Paris.",
        "Lyon."]}),
    "ours: the conversation before": ({"question": Q, "messages": BEFORE, "answer": A}, {"question": Q,
        "messages": EARLIER, "answer": A}),
    "ours: steps": ({"question": Q, "answer": A, "steps": [{"tool": "f", "arguments": {"n": 1}, "output": "x"}]},
        {"question": Q, "answer": A, "steps": [{"tool": "f", "arguments": {"n": 1}, "output": "x"}]}),
    "ours: a workspace": ({"question": Q, "workspace": "runs/1"}, {"question": Q, "workspace": Path("runs/1")}),
    "ours: a failed run": ({"question": Q, "error": "boom"}, {"question": Q, "error": "boom"}),
    "ours: a failed run of a table": ({"question": Q, "answer": "", "error": "boom"}, {"question": Q, "error": "boom"}),
    "ours: an answer with a note of an error": ({"question": Q, "answer": A, "error": "wrong year"}, {"question": Q,
        "answer": A, "metadata": {"error": "wrong year"}}),
    "ours: metadata": ({"answer": A, "metadata": {"split": "test", "n": 1}, "n": 2}, {"answer": A,
        "metadata": {"split": "test", "n": 2}}),
    "ours: several ids": ({"item_id": "b", "answer": A, "example_id": "c"}, {"id": "b", "answer": A,
        "metadata": {"example_id": "c"}}),
    "ours: an id that is missing": ({"id": None, "item_id": "b", "answer": A}, {"id": "b", "answer": A}),
    "ours: no answer": ({"question": Q, "answer": None}, {"question": Q}),
    "ours: an empty answer": ({"question": Q, "answer": "", "reference": "", "note": ""}, {"question": Q,
        "answer": ""}),
    "ours: missing values of a table": ({"question": Q, "answer": A, "reference": math.nan, "contexts": [*C, math.nan,
        None], "n": math.nan}, {"question": Q, "answer": A, "contexts": C}),
    "ours: texts are not converted": ({"id": "007", "question": "1e5", "answer": "[]", "contexts": "['a']",
        "n": "1.10"}, {"id": "007", "question": "1e5", "answer": "[]", "contexts": ["['a']"],
        "metadata": {"n": "1.10"}}),
    "ours: contexts and no answer": ({"question": Q, "contexts": C, "k": 3}, {"question": Q, "contexts": C,
        "metadata": {"k": 3}}),
    "a chat log": ({"messages": LOG}, OF_LOG),
    "a chat log with its question and answer": ({"question": "Weather in Paris? ", "answer": "18 degrees in Paris.",
        "messages": LOG}, OF_LOG | {"question": "Weather in Paris? "}),
    "a chat log with an answer": ({"answer": A, "messages": LOG[:1]}, {"question": "Weather in Paris?", "answer": A}),
    "a chat log with an earlier turn": ({"messages": [*BEFORE, *LOG], "id": "x"}, {**OF_LOG, "messages": EARLIER,
        "id": "x"}),
    "a chat log of OpenTelemetry": ({"messages": [otel("user", Q), otel("assistant", A)]}, {"question": Q,
        "answer": A}),
    "parts of OpenTelemetry": ({"inputs": [otel("user", Q)], "outputs": [otel("assistant", A)]}, {"question": Q,
        "answer": A}),
    "columns of OpenTelemetry": ({"input": [otel("user", Q)], "output": [otel("assistant", A)]}, {"question": Q,
        "answer": A}),
    "content blocks": ({"input": Q, "output": [{"type": "thinking", "thinking": "Lyon?"}, {"type": "text",
        "text": A}]}, {"question": Q, "answer": A}),
    "content blocks in a mapping": ({"input": Q, "output": {"content": [{"type": "redacted_thinking", "data": "x"},
        {"type": "text", "text": A}]}}, {"question": Q, "answer": A}),
    "openevals: texts": ({"inputs": Q, "outputs": A, "reference_outputs": R}, {"question": Q, "answer": A,
        "reference": R}),
    "openevals: mappings": ({"inputs": {"question": Q}, "outputs": {"answer": A}, "reference_outputs": {"answer": R}},
        {"question": Q, "answer": A, "reference": R}),
    "openevals: one text each": ({"inputs": {"topic": Q}, "outputs": {"reply": A}, "reference_outputs": {"x": R}},
        {"question": Q, "answer": A, "reference": R}),
    "openevals: context beside": ({"inputs": {"question": Q}, "outputs": {"answer": A}, "context": {"documents": C}},
        {"question": Q, "answer": A, "contexts": C}),
    "openevals: context beside texts": ({"inputs": Q, "outputs": A, "context": C[0]}, {"question": Q, "answer": A,
        "contexts": C}),
    "openevals: context in the inputs": ({"inputs": {"question": Q, "context": C}, "outputs": {"answer": A}},
        {"question": Q, "answer": A, "contexts": C}),
    "agentevals: messages": ({"outputs": LOG, "reference_outputs": LOG}, {**OF_LOG,
        "reference": "18 degrees in Paris."}),
    "LangSmith: state of an agent": ({"inputs": {"messages": LOG[:1]}, "outputs": {"messages": LOG}}, OF_LOG),
    "LangSmith: retrieval": ({"inputs": {"question": Q}, "outputs": {"answer": A,
        "documents": [Document(C[0]).model_dump()]}, "reference_outputs": {"answer": R}}, ALL),
    "LangSmith: cells of a table": ({"inputs": json.dumps({"question": Q}), "outputs": json.dumps({"answer":
        A}), "reference_outputs": json.dumps({"answer": R}), "note": "{}"}, {"question": Q, "answer": A, "reference": R,
        "metadata": {"note": "{}"}}),
    "openevals: an answer that is JSON": ({"inputs": Q, "outputs": '{"a": 1}'}, {"question": Q, "answer": '{"a": 1}'}),
    "LangSmith: a chain": ({"inputs": {"input": Q, "chat_history": BEFORE}, "outputs": {"output": A}}, {"question": Q,
        "answer": A, "messages": EARLIER}),
    "LangSmith: a failed run": ({"id": "r", "inputs": {"question": Q}, "outputs": None, "error": "boom"}, {"id": "r",
        "question": Q, "error": "boom"}),
    "LangSmith: a failed run with half an answer": ({"inputs": {"question": Q}, "outputs": {"output": "Par"},
        "error": "boom"}, {"question": Q, "error": "boom"}),
    "LangSmith: no output": ({"inputs": {"question": Q}, "outputs": None, "expectations": math.nan}, {"question": Q}),
    "LangSmith: an experiment": ({"example_id": "e", "inputs": {"question": Q}, "outputs": {"output": A},
        "reference_outputs": {"answer": R}, "feedback": {"x": 1}, "error": None}, {"id": "e", "question": Q,
        "answer": A, "reference": R, "metadata": {"feedback": {"x": 1}}}),
    "LangSmith: a row of evaluate()": ({"run": RAN, "example": EXAMPLE, "evaluation_results": {"results": []}},
        {"id": str(RUN_ID), **ALL}),
    "LangSmith: a row of evaluate() that failed": ({"run": RAN.model_copy(update={"outputs": None, "error": "boom"}),
        "example": EXAMPLE}, {"id": str(RUN_ID), "question": Q, "reference": R, "error": "boom"}),
    "LangSmith: such a row as JSON": ({"run": RAN.model_dump(), "example": EXAMPLE.model_dump()}, {"id": str(RUN_ID),
        **ALL}),
    "ragas": ({"user_input": Q, "response": A, "retrieved_contexts": C, "reference_contexts": ["ideal"],
        "reference": R}, {**ALL, "metadata": {"reference_contexts": ["ideal"]}}),
    "ragas: old names": ({"question": Q, "answer": A, "contexts": C, "ground_truth": R}, ALL),
    "DeepEval": ({"input": Q, "actual_output": A, "expected_output": R, "context": ["ideal"], "retrieval_context": C},
        {**ALL, "metadata": {"context": ["ideal"]}}),
    "DeepEval: tools": (
        {"input": Q, "actual_output": A, "tools_called": [{"name": "f", "description": None,
        "input_parameters": {"n": 1}, "output": "x"}], "expected_tools": [{"name": "f"}]},
        {"question": Q, "answer": A, "steps": [{"tool": "f", "arguments": {"n": 1}, "output": "x"}],
        "metadata": {"expected_tools": [{"name": "f"}]}},
    ),
    "LlamaIndex": (EvaluationResult(query=Q, response=A, contexts=C, passing=True, score=1.0).model_dump(),
        {"question": Q, "answer": A, "contexts": C, "metadata": {"passing": True, "score": 1.0,
        "invalid_result": False}}),
    "LlamaIndex: with a reference": ({"query": Q, "response": A, "contexts": C, "reference_answer": R,
        "query_by": "gpt"}, {**ALL, "metadata": {"query_by": "gpt"}}),
    "TruLens": ({"input": Q, "output": A, "context": C[0]}, {"question": Q, "answer": A, "contexts": C}),
    "LangChain: RetrievalQA": ({"query": Q, "result": A, "source_documents": [Document(C[0])]}, {"question": Q,
        "answer": A, "contexts": C}),
    "instruction": ({"instruction": Q, "output": A, "sources": C}, {"question": Q, "answer": A, "contexts": C}),
}  # fmt: skip


@each_row(("row", "fields"), ROWS.values(), ids=ROWS)
def test_the_case_of_a_row(row: dict[str, Any], fields: dict[str, Any]) -> None:
    assert case_of_row(row) == Case(**fields)


def test_a_case_that_was_read_from_a_row_comes_back_as_itself() -> None:
    cases = {name: case_of_row(row) for name, (row, _) in ROWS.items()}
    rows = {
        name: {"answer": None, **case.model_dump(mode="json", exclude_defaults=True)} for name, case in cases.items()
    }
    assert {name: case_of_row(row) for name, row in rows.items()} == cases


# A row, a map of fields to paths, and the fields of the case.
STATE = {"asked": {"text": Q}, "said": A, "wanted": R, "hits": [{"page_content": C[0]}]}
MAPPED: dict[str, tuple[dict[str, Any], dict[str, str], dict[str, Any]]] = {
    "columns": ({"Q": Q, "reply": A, "n": 1}, {"question": "Q", "answer": "reply"}, {"question": Q, "answer": A,
        "metadata": {"n": 1}}),
    "paths": (STATE, {"question": "asked.text", "answer": "said", "contexts": "hits", "reference": "wanted"}, {**ALL,
        "metadata": {"asked": {"text": Q}}}),
    "places in a list": ({"choices": [{"message": {"content": A}}]}, {"answer": "choices.0.message.content"},
        {"answer": A, "metadata": {"choices": [{"message": {"content": A}}]}}),
    "names with dots": ({"inputs.question": Q, "outputs.output": A}, {"question": "inputs.question",
        "answer": "outputs.output"}, {"question": Q, "answer": A}),
    "a name with a dot, and a path": ({"a.b": {"c.d": A}}, {"answer": "a.b.c.d"}, {"answer": A,
        "metadata": {"a.b": {"c.d": A}}}),
    "messages of OpenTelemetry": ({"gen_ai.input.messages": [otel("user", Q)],
        "gen_ai.output.messages": [otel("assistant", A)]}, {"question": "gen_ai.input.messages",
        "answer": "gen_ai.output.messages"}, {"question": Q, "answer": A}),
    "an answer beside the conversation before": ({"question": Q, "reply": A, "messages": BEFORE}, {"answer": "reply"},
        {"question": Q, "answer": A, "messages": EARLIER}),
    "messages of a log": ({"trace": {"log": LOG}}, {"messages": "trace.log"}, {**OF_LOG,
        "metadata": {"trace": {"log": LOG}}}),
    "ragas: a chat": ({"user_input": [{"type": "human", "content": Q}, {"type": "ai", "content": A}]},
        {"messages": "user_input"}, {"question": Q, "answer": A}),
    "one of two usual names": ({"question": Q, "output": "3 rows", "result": A}, {"answer": "result"}, {"question": Q,
        "answer": A, "metadata": {"output": "3 rows"}}),
    "a further name beside a usual one": ({"result": "3 rows", "final_answer": A}, {"answer": "final_answer"},
        {"answer": A, "metadata": {"result": "3 rows"}}),
    "an output of LangSmith": ({"inputs": {"question": Q}, "outputs": {"covered": True, "reply": A}},
        {"answer": "outputs.reply"}, {"question": Q, "answer": A, "metadata": {"outputs": {"covered": True,
        "reply": A}}}),
    "an output in a cell of a table": ({"inputs": json.dumps({"question": Q}),
        "outputs": json.dumps({"covered": True, "reply": A})}, {"answer": "outputs.reply"}, {"question": Q, "answer": A,
        "metadata": {"outputs": {"covered": True, "reply": A}}}),
    "contexts beside the outputs": ({"inputs": Q, "outputs": A, "found": C}, {"contexts": "found"}, {"question": Q,
        "answer": A, "contexts": C}),
    "DeepEval: the ideal context": ({"input": Q, "actual_output": A, "context": C, "retrieval_context": ["other"]},
        {"contexts": "context"}, {"question": Q, "answer": A, "contexts": C,
        "metadata": {"retrieval_context": ["other"]}}),
    "an example of a dataset": ({"dataset_id": "d", "inputs": {"question": Q}, "outputs": {"answer": R}},
        {"answer": "outputs.answer"}, {"question": Q, "answer": R, "metadata": {"dataset_id": "d",
        "outputs": {"answer": R}}}),
    "id and generator": ({"answer": A, "key": 3, "model": "gpt-4o", "id": 9}, {"id": "key", "generator": "model"},
        {"answer": A, "id": "3", "generator": "gpt-4o", "metadata": {"id": 9}}),
    "a missing value": ({"question": Q, "reply": None}, {"answer": "reply"}, {"question": Q}),
}  # fmt: skip


@each_row(("row", "field_map", "fields"), MAPPED.values(), ids=MAPPED)
def test_a_map_says_where_the_fields_are(
    row: dict[str, Any], field_map: dict[str, str], fields: dict[str, Any]
) -> None:
    assert case_of_row(row, field_map) == Case(**fields)


def test_without_the_map_such_rows_are_refused() -> None:
    """Or they are read otherwise, where a usual name is mapped away."""
    refused = [name for name, (row, _, fields) in MAPPED.items() if not is_read(row, fields)]
    assert sorted(refused) == sorted(MAPPED)


def is_read(row: dict[str, Any], fields: dict[str, Any]) -> bool:
    try:
        return case_of_row(row) == Case(**fields)
    except InputError:
        return False


REFUSED: dict[str, tuple[dict[str, Any], dict[str, str], str]] = {
    "unknown columns": ({"question": Q, "reply": A}, {},
        "none of the columns 'question', 'reply' is known as the answer"),
    "one text": ({"text": A}, {}, "none of the columns 'text' is known as the answer"),
    "no columns": ({}, {}, "is known as the answer"),
    "columns of OpenTelemetry": ({"gen_ai.input.messages": [otel("user", Q)]}, {},
        "none of the columns 'gen_ai.input.messages' is known"),
    "contexts without a question": ({"gen_ai.input.messages": [otel("user", Q)], "contexts": C}, {},
        "none of the columns 'gen_ai.input.messages', 'contexts' is known"),
    "inputs alone": ({"inputs": {"question": Q}}, {}, "none of the columns 'inputs' is known"),
    "several outputs": ({"inputs": Q, "outputs": {"covered": True, "reply": A}}, {},
        "none of the outputs 'covered', 'reply' is known"),
    "two answers": ({"output": "3 rows", "result": A}, {}, "'output', 'result' hold different answers"),
    "an answer beside outputs": ({"outputs": "3 rows", "response": A}, {},
        "'answer', 'response' hold different answers"),
    "two questions": ({"instruction": "Answer.", "input": Q, "output": A}, {},
        "'input', 'instruction' hold different questions"),
    "two references": ({"answer": A, "expected": "x", "reference": "y"}, {},
        "'reference', 'expected' hold different references"),
    "an example of a dataset": ({"id": "e", "dataset_id": "d", "inputs": {"question": Q}, "outputs": {"answer": R}},
        {}, "none of the columns .id., .dataset_id., .inputs., .outputs. is known as the answer"),
    "JSON text of messages": ({"input": Q, "output": '[{"role": "assistant", "parts": []}]'}, {},
        "a text is the JSON of messages"),
    "no such path": ({"question": Q, "reply": A}, {"answer": "outputs.reply"}, "the row has no 'outputs.reply'"),
    "a path through a text": ({"reply": A}, {"answer": "reply.text"}, "the row has no 'reply.text'"),
    "a step that is none": ({"answer": A, "steps": [{"name": "f"}]}, {}, "steps.0.name"),
    "a tool that is none": ({"answer": A, "tools_called": ["f"]}, {}, "steps.0: Input should be a valid dictionary"),
    "messages that are none": ({"answer": A, "messages": [{"role": "narrator", "content": "x"}]}, {},
        "message 1 cannot be read"),
}  # fmt: skip


@each_row(("row", "field_map", "said"), REFUSED.values(), ids=REFUSED)
def test_other_rows_are_refused_with_the_columns(row: dict[str, Any], field_map: dict[str, str], said: str) -> None:
    with pytest.raises(InputError, match=said) as refused:
        case_of_row(row, field_map)
    assert "\n" not in str(refused.value)


def test_the_refusal_names_the_map() -> None:
    doubtful = [(row, paths) for row, paths, said in REFUSED.values() if "known" in said or "hold" in said]
    assert len(doubtful) >= 8
    for row, paths in doubtful:
        with pytest.raises(InputError, match="--map answer=COLUMN"):
            case_of_row(row, paths)


def test_a_map_of_an_unknown_field_is_a_wrong_argument() -> None:
    with pytest.raises(
        ConfigurationError, match="field_map= names 'anser'; the fields are 'question', 'answer'"
    ) as wrong:
        case_of_row({"reply": A}, {"anser": "reply"})
    assert not isinstance(wrong.value, InputError)


def test_a_row_has_no_reference_of_its_own_answer() -> None:
    """For every name of the answer: a flat row is asked for its reference by the names of the reference only."""
    for name in NAMES["answer"]:
        assert case_of_row({"question": Q, name: A}).reference is None


def test_the_evidence_of_a_log_can_be_chosen() -> None:
    assert case_of_row({"messages": LOG}, evidence=lambda step: False).contexts == ()


def test_a_row_may_hold_objects() -> None:
    row = {
        "question": Q,
        "answer": AIMessage(A),
        "contexts": [Document(C[0])],
        "messages": [HumanMessage("Hello"), AIMessage("Hi")],
    }
    assert case_of_row(row) == Case(question=Q, answer=A, contexts=C, messages=EARLIER)
    assert run_of_row(row).outputs == {"answer": AIMessage(A), "contexts": [Document(C[0])]}


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
names = st.sampled_from(
    ["id", "question", "input", "answer", "output", "outputs", "inputs", "contexts", "messages", "steps", "error",
        "metadata",
     "tools_called", "candidates", "run", "example", "dataset_id", "generator", "workspace", "retrieval_context",
        "context"]
)  # fmt: skip


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(names | st.text(max_size=4), values, max_size=6))
def test_whatever_a_row_holds_it_makes_a_case_or_is_refused(row: dict[str, Any]) -> None:
    try:
        case = case_of_row(row)
    except InputError:
        return
    assert isinstance(case, Case)


@settings(max_examples=50, deadline=None)
@given(st.text(), st.text(), st.text(), st.text())
def test_texts_of_a_row_stay_as_they_are(question: str, answer: str, reference: str, note: str) -> None:
    case = case_of_row({"question": question, "answer": answer, "reference": reference, "note": note})
    assert (case.question or "", case.answer, case.reference or "", case.metadata.get("note", "")) == (
        question, answer, reference, note,
    )  # fmt: skip
