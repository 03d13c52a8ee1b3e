"""Conversion of row formats of other packages, which names alone do not identify, to columns of :mod:`.field_names`.

Each function converts the rows of one package, and returns every other row unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias, TypeGuard

from jury_adapters.core.conversation import Conversation
from jury_adapters.core.errors import InputError, plain_repr
from jury_adapters.core.field_names import FIELD_NAMES, PARTS, columns_of, differ, ignored
from jury_adapters.core.input_output import read_outputs
from jury_adapters.core.loose_values import from_json, json_text, messages_in, texts_of
from jury_adapters.core.message_calls import ARGUMENTS, arguments_of
from jury_adapters.core.message_formats import reply_in
from jury_adapters.core.values import is_missing

Row: TypeAlias = dict[str, Any]


def plain_format(row: Mapping[str, Any]) -> tuple[Row, list[str]]:
    """Return a row of any known package with columns of :mod:`.field_names`, and the conflicts to report.

    >>> plain_format({"inputs": {"question": "2 + 2?"}, "expectations": {"expected_response": "4"}})
    ({'inputs': {'question': '2 + 2?'}, 'reference': '4'}, [])
    """
    plain = dict(row)
    conflicts: list[str] = []
    for rewrite in _FORMATS:
        plain = rewrite(plain, conflicts)
    return plain, conflicts


def _label_studio(row: Row, conflicts: list[str]) -> Row:
    """Convert a task of Label Studio's JSON export: its data, and the choice of the annotators as the human label.

    The label becomes the column ``gold``, and a text of the annotator the note of ``review``. If the annotators chose
    differently, the task has no label. Cancelled annotations and predictions of models do not count.

    Source: https://labelstud.io/guide/export
    """
    data, annotations = row.get("data"), row.get("annotations")
    if not isinstance(data, Mapping) or not isinstance(annotations, Sequence) or isinstance(annotations, str):
        return row
    given = [one for one in annotations if isinstance(one, Mapping) and not one.get("was_cancelled")]
    parts = [part for one in given for part in one.get("result") or () if isinstance(part, Mapping)]
    values = [part["value"] for part in parts if isinstance(part.get("value"), Mapping)]
    chosen = dict.fromkeys(str(choice) for value in values for choice in texts_of(value.get("choices")))
    notes = [text for value in values for text in texts_of(value.get("text"))]
    plain: Row = {**({"id": row["id"]} if "id" in row else {}), **data}
    if len(chosen) > 1:
        conflicts.append(f"the annotators chose {' and '.join(map(plain_repr, chosen))}, so there is no label")
    elif chosen and "gold" not in plain:
        plain["gold"] = next(iter(chosen))
    if notes and "review" not in plain:
        plain["review"] = {"note": " ".join(notes)}
    return plain


def _langsmith(row: Row, conflicts: list[str]) -> Row:
    """Convert a row of LangSmith.

    A data frame of results has a column for each key of a part; a CSV file has the parts as JSON text.

    Source: https://docs.smith.langchain.com (``ExperimentResults.to_pandas``, ``Client.get_test_results``)
    """
    folded: dict[str, Row] = {}
    rest: Row = {}
    for name, value in row.items():
        head, dot, key = name.partition(".")
        part = _PART_OF.get(head) if dot else None
        place = rest if part is None or part in row else folded.setdefault(part, {})
        place[name if place is rest else key] = value
    if folded.keys() & {"inputs", "outputs"}:
        return {**rest, **folded}
    return _with_parts_of_json(row, conflicts)


def _with_parts_of_json(row: Row, conflicts: list[str]) -> Row:
    """Parse parts that are JSON text, if the inputs are JSON text.

    The judged model may have written the text of the outputs, so only the answer is read from them.
    """
    parsed = {part: from_json(row[part]) for part in PARTS if isinstance(row.get(part), str)}
    parsed = {part: value for part, value in parsed.items() if not isinstance(value, str)}
    if "inputs" not in parsed:
        return row
    if "outputs" in parsed:
        parsed["outputs"] = _answer_of_json(parsed["outputs"], "outputs", conflicts)
    return {**row, **{part: value for part, value in parsed.items() if value is not None}}


def _answer_of_json(value: object, part: str, conflicts: list[str]) -> object:
    """Return the answer in JSON that the judged model may have written, and report the fields that are ignored."""
    gave = read_outputs(value)
    ignored_fields = [field for field in ("contexts", "trajectory") if gave.get(field)]
    conflicts += [f"{field} in {part} is ignored, because {part} is JSON text" for field in ignored_fields]
    return gave.get("answer")


def _vendor(row: Row, _: list[str]) -> Row:
    """Convert a row with a response of OpenAI's Chat Completions or of Gemini, beside the request.

    A request to Gemini has ``contents``.

    Source: https://platform.openai.com/docs/api-reference/chat, https://ai.google.dev/api/generate-content
    """
    if "messages" not in row and messages_in(row.get("contents")) is not None:
        row = {**row, "messages": row["contents"]}
        del row["contents"]
    reply = reply_in(row)
    if reply is None or columns_of(row, ("answer",)).of:
        return row
    return {**{name: value for name, value in row.items() if name not in ("choices", "candidates")}, "answer": reply}


def _ragas(row: Row, _: list[str]) -> Row:
    """Convert a row of ragas.

    A ``MultiTurnSample`` has the whole conversation in ``user_input``, and has ``reference_tool_calls``. Rows from
    before ragas 0.1 have a list of ``ground_truths``.

    Source: https://docs.ragas.io/en/stable/concepts/components/eval_sample/
    """
    thread = messages_in(row.get("user_input"))
    if thread is not None and "messages" not in row and Conversation.of(thread).answer is not None:
        row = {**row, "messages": row["user_input"]}
        del row["user_input"]
    if "ground_truths" in row:
        row = {**row, "ground_truths": "\n".join(texts_of(row["ground_truths"])) or None}
    return with_expected_calls(row, "reference_tool_calls")


def _deepeval(row: Row, _: list[str]) -> Row:
    """Convert a row of DeepEval.

    An ``LLMTestCase`` has ``tools_called`` and ``expected_tools``, which are lists of ``ToolCall``.
    An expected tool without arguments may be called with any arguments, because DeepEval compares names by default. A
    ``ConversationalTestCase`` has the conversation in ``turns``; passages and tools of the last turn are those of the
    answer.

    Source: https://deepeval.com/docs/evaluation-test-cases, https://deepeval.com/docs/evaluation-multiturn-test-cases
    """
    turns = row.get("turns")
    if "messages" not in row and isinstance(turns, list) and turns and messages_in(turns) is not None:
        last = turns[-1] if isinstance(turns[-1], Mapping) else {}
        of_last = {name: last[name] for name in ("retrieval_context", "tools_called") if last.get(name)}
        row = {**of_last, **row, "messages": turns}
        del row["turns"]
    called = row.get("tools_called")
    if _are_calls(called) and "trajectory" not in row:
        steps = [{"tool": _name(call), "arguments": _arguments(call) or {}, "output": _output(call)} for call in called]
        row = {**row, "trajectory": steps}
        del row["tools_called"]
    return with_expected_calls(row, "expected_tools")


def _mlflow(row: Row, conflicts: list[str]) -> Row:
    """Convert a row of MLflow, with the reference in its ``expectations``: ``expected_response`` or ``expected_facts``.

    Source: https://mlflow.org/docs/latest/genai/eval-monitor/
    """
    given = row.get("expectations")
    if not isinstance(given, Mapping):
        return row
    expected = columns_of(given, ("reference",))
    name = expected.of.get("reference", "expected_facts")
    if is_missing(given.get(name)):
        return row
    value = _lines(given[name])
    own = columns_of(row, ("reference",)).of.get("reference")
    if own is not None:
        conflicts += [ignored(f"{name} in expectations", own)] if differ(value, row[own]) else []
        return row
    conflicts += expected.conflicts
    left = {key: value for key, value in given.items() if key != name}
    rest = {key: value for key, value in row.items() if key != "expectations"}
    return {**rest, "reference": value, **({"expectations": left} if left else {})}


def _state(row: Row, _: list[str]) -> Row:
    """Convert the state of a trace of MLflow, or of a span of Phoenix, that ended with an error.

    Source: https://mlflow.org/docs/latest/genai/tracing/search-traces (``state``),
    https://arize.com/docs/phoenix (``status_code``, ``status_message``)
    """
    spans, traces = bool(_PHOENIX & row.keys()), "request" in row and bool(_TRACE_IDS & row.keys())
    if "error" in row or not (spans or traces):
        return row
    name = next((name for name in ("state", "status", "status_code") if row.get(name) == "ERROR"), None)
    if name is None:
        return row
    said = row.get("status_message") or f"the run ended with the {name} ERROR"
    return {**({"response": None} if traces else {}), **row, "error": said}


def _databricks(row: Row, conflicts: list[str]) -> Row:
    """Convert a row of Databricks or a trace of MLflow, with ``request`` and ``response``, which may be JSON text.

    The passages are the ``content`` of each item of ``retrieved_context``.

    Source: https://docs.databricks.com/aws/en/generative-ai/agent-evaluation/evaluation-schema,
    https://mlflow.org/docs/latest/genai/tracing/search-traces
    """
    passages = row.get("retrieved_context")
    if isinstance(passages, list | tuple) and not columns_of(row, ("contexts",)).of:
        texts = [one.get("content") for one in passages if isinstance(one, Mapping) and "doc_uri" in one]
        if any(isinstance(text, str) for text in texts):
            row = {**{name: value for name, value in row.items() if name != "retrieved_context"}, "contexts": texts}
    if not {"request", "response"} <= row.keys() or row.keys() & {"inputs", "outputs"}:
        return row
    asked = row["request"]
    request, response = _parsed(asked), _parsed(row["response"])
    if not isinstance(request, str) and not _asks(request):
        return row
    row = {**{name: value for name, value in row.items() if name != "request"}, "inputs": request}
    if isinstance(row["response"], str) and request != asked:
        row["response"] = _answer_of_json(response, "response", conflicts)
    return row


def _parsed(value: object) -> object:
    """Return the mapping, the list or the text that a text contains as JSON; any other value unchanged."""
    if not isinstance(value, str) or not value.lstrip().startswith(('"', "{", "[")):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _asks(request: object) -> bool:
    """Whether a request holds messages or a question."""
    if messages_in(request) is not None:
        return True
    return isinstance(request, Mapping) and bool(columns_of(request, ("question", "messages")).of)


def _lines(value: object) -> object:
    """Return several texts as one, with one line for each."""
    return value if isinstance(value, str) or not isinstance(value, Sequence) else "\n".join(map(str, value))


def _promptfoo(row: Row, conflicts: list[str]) -> Row:
    """Convert a result of promptfoo, with the ``vars`` of its test, a ``prompt`` and a ``response``.

    The prompt has a ``raw`` text and a ``label``; the raw text of a chat prompt is the JSON of its messages. The
    ``output`` of the response is the answer; a response without an output has an ``error``.

    Source: https://www.promptfoo.dev/docs/configuration/outputs
    """
    prompt, variables, response = row.get("prompt"), row.get("vars"), row.get("response")
    raw = prompt.get("raw") if isinstance(prompt, Mapping) else None
    if not isinstance(raw, str) and not isinstance(variables, Mapping):
        return row
    if isinstance(raw, str):
        row = {**row, "prompt": raw}
    if isinstance(response, Mapping):
        output = response.get("output")  # if it is not a text, it is JSON that the model wrote
        answer = output if output is None or isinstance(output, str) else json_text(output)
        given = {"response": answer, "error": row.get("error", response.get("error"))}
        row = {**row, **given}
        row = {name: value for name, value in row.items() if name not in given or value is not None}
    if isinstance(variables, Mapping) and "inputs" not in row:
        fields = [field for field in ("question", "contexts", "reference") if not _exactly_named(row, field)]
        found = columns_of(variables, fields)
        conflicts += found.conflicts
        row = {**row, **{field: variables[name] for field, name in found.of.items()}}
    thread = from_json(raw) if isinstance(raw, str) else None
    if messages_in(thread) is not None and "messages" not in row and not _exactly_named(row, "question"):
        row = {**row, "messages": thread}
    return row


def _phoenix(row: Row, _: list[str]) -> Row:
    """Convert a row of Phoenix, in which ``reference`` has the retrieved passages of a span.

    Source: https://arize.com/docs/phoenix (``get_qa_with_reference``, ``get_retrieved_documents``)
    """
    documents = row.get(_DOCUMENTS)
    if isinstance(documents, Sequence) and not isinstance(documents, str):
        texts = [one.get("document.content", one) if isinstance(one, Mapping) else one for one in documents]
        row = {"contexts": texts, **row}
    if not _PHOENIX & row.keys() or "reference" not in row or columns_of(row, ("contexts",)).of:
        return row
    return {**{name: value for name, value in row.items() if name != "reference"}, "contexts": row["reference"]}


def with_expected_calls(row: Row, column: str) -> Row:
    """Return a row with ``expected_calls`` from the column of another package, if the column has tool calls."""
    calls = row.get(column)
    if not _are_calls(calls) or "expected_calls" in row:
        return row
    wanted = [{"tool": _name(call), "arguments": _arguments(call)} for call in calls]
    wanted = [{key: value for key, value in call.items() if value is not None} for call in wanted]
    return {**{name: value for name, value in row.items() if name != column}, "expected_calls": wanted}


def _are_calls(value: object) -> TypeGuard[Sequence[Mapping[str, Any]]]:
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        return False
    return all(isinstance(call, Mapping) and isinstance(_name(call), str) for call in value)


def _name(call: Mapping[str, Any]) -> Any:
    return call.get("name")


def _arguments(call: Mapping[str, Any]) -> Mapping[str, object] | None:
    """Return the arguments of a call; None if it has none, not even an empty mapping.

    Raises:
        InputError: a mapping that may be the arguments has an unknown name.
    """
    if any(not is_missing(call.get(name)) for name in ARGUMENTS):
        return arguments_of(call)
    rest = {name: value for name, value in call.items() if name not in _NO_ARGUMENTS}
    unread = next((name for name, value in rest.items() if isinstance(value, Mapping)), None)
    if unread is not None:
        raise InputError(
            f"the call of {plain_repr(_name(call))} has {plain_repr(unread)}, which is not a known name of arguments; "
            f"known are {', '.join(ARGUMENTS)}"
        )
    return None


def _output(call: Mapping[str, Any]) -> str | None:
    output = call.get("output")
    return output if output is None or isinstance(output, str) else str(output)


def _exactly_named(row: Row, field: str) -> bool:
    return any(row.get(name) is not None for name in FIELD_NAMES[field].exact)


_PART_OF: Final = {
    "inputs": "inputs", "input": "inputs", "outputs": "outputs", "reference_outputs": "reference_outputs",
    "reference": "reference_outputs",
}  # fmt: skip
_NO_ARGUMENTS = frozenset({"output", "metadata"})
_DOCUMENTS = "attributes.retrieval.documents"
_TRACE_IDS = frozenset({"trace_id", "request_id"})
_PHOENIX = frozenset({
    "context.span_id", "context.trace_id", "document_position", "document_score", "attributes.input.value",
    "attributes.output.value",
})  # fmt: skip
_FORMATS: Final[tuple[Callable[[Row, list[str]], Row], ...]] = (
    _label_studio, _langsmith, _state, _vendor, _ragas, _deepeval, _databricks, _mlflow, _promptfoo, _phoenix,
)  # fmt: skip
