"""Row formats of other packages that names alone do not tell, written with the columns of :mod:`.field_names`.

Each function changes the rows of one package and returns every other row as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias, TypeGuard

from jury_adapters.core.conversation import ARGUMENTS, Conversation, arguments_of
from jury_adapters.core.errors import InputError
from jury_adapters.core.field_names import FIELD_NAMES, columns_of
from jury_adapters.core.loose_values import messages_in

Row: TypeAlias = dict[str, Any]


def plain_format(row: Mapping[str, Any]) -> Row:
    """Return a row of any known package with columns that :mod:`.field_names` knows.

    >>> plain_format({"inputs": {"question": "2 + 2?"}, "expectations": {"expected_response": "4"}})["reference"]
    '4'
    """
    plain = dict(row)
    for rewrite in _FORMATS:
        plain = rewrite(plain)
    return plain


def _ragas(row: Row) -> Row:
    """A ``MultiTurnSample`` has the whole conversation as its ``user_input``, and ``reference_tool_calls``.

    Source: https://docs.ragas.io/en/stable/concepts/components/eval_sample/
    """
    thread = messages_in(row.get("user_input"))
    if thread is not None and "messages" not in row and Conversation.of(thread).answer is not None:
        row = {**row, "messages": row["user_input"]}
        del row["user_input"]
    return _with_expected_calls(row, "reference_tool_calls")


def _deepeval(row: Row) -> Row:
    """An ``LLMTestCase`` has ``tools_called`` and ``expected_tools``, lists of ``ToolCall``.

    Source: https://deepeval.com/docs/evaluation-test-cases
    """
    called = row.get("tools_called")
    if _are_calls(called) and "trajectory" not in row:
        steps = [{"tool": _name(call), "arguments": _arguments(call), "output": _output(call)} for call in called]
        row = {**row, "trajectory": steps}
        del row["tools_called"]
    return _with_expected_calls(row, "expected_tools")


def _mlflow(row: Row) -> Row:
    """The ``expectations`` of a row hold the reference: ``expected_response``, or the ``expected_facts``.

    Source: https://mlflow.org/docs/latest/genai/eval-monitor/
    """
    given = row.get("expectations")
    if not isinstance(given, Mapping):
        return row
    named = columns_of(given, ("reference",)).of.get("reference", "expected_facts")
    rest = {name: value for name, value in row.items() if name != "expectations"}
    left = {name: value for name, value in given.items() if name != named}
    if given.get(named) is not None and not columns_of(row, ("reference",)).of:
        facts = given[named]
        is_list = isinstance(facts, Sequence) and not isinstance(facts, str)
        rest["reference"] = "\n".join(map(str, facts)) if is_list else facts
    else:
        left = dict(given)
    return {**rest, "expectations": left} if left else rest


def _promptfoo(row: Row) -> Row:
    """A result has the ``vars`` of its test, and a ``prompt`` of ``raw`` text with a ``label``.

    Source: https://www.promptfoo.dev/docs/configuration/outputs
    """
    prompt, variables = row.get("prompt"), row.get("vars")
    if isinstance(prompt, Mapping) and isinstance(prompt.get("raw"), str):
        row = {**row, "prompt": prompt["raw"]}
    if not isinstance(variables, Mapping) or "inputs" in row:
        return row
    fields = [field for field in ("question", "contexts", "reference") if not _exactly_named(row, field)]
    found = columns_of({name: value for name, value in variables.items() if value is not None}, fields).of
    return {**row, **{field: variables[name] for field, name in found.items()}}


def _phoenix(row: Row) -> Row:
    """In what Phoenix exports of its spans, ``reference`` holds the passages that were retrieved.

    Source: https://arize.com/docs/phoenix (``get_qa_with_reference``, ``get_retrieved_documents``)
    """
    documents = row.get(_DOCUMENTS)
    if isinstance(documents, Sequence) and not isinstance(documents, str):
        texts = [one.get("document.content", one) if isinstance(one, Mapping) else one for one in documents]
        row = {"contexts": texts, **row}
    if not _PHOENIX & row.keys() or "reference" not in row or columns_of(row, ("contexts",)).of:
        return row
    return {**{name: value for name, value in row.items() if name != "reference"}, "contexts": row["reference"]}


def _with_expected_calls(row: Row, column: str) -> Row:
    calls = row.get(column)
    if not _are_calls(calls) or "expected_calls" in row:
        return row
    wanted = [{"tool": _name(call), "arguments": _arguments(call)} for call in calls]
    return {**{name: value for name, value in row.items() if name != column}, "expected_calls": wanted}


def _are_calls(value: object) -> TypeGuard[Sequence[Mapping[str, Any]]]:
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        return False
    return all(isinstance(call, Mapping) and isinstance(_name(call), str) for call in value)


def _name(call: Mapping[str, Any]) -> Any:
    return call.get("name")


def _arguments(call: Mapping[str, Any]) -> Mapping[str, object]:
    """Return the arguments of a call.

    Raises:
        InputError: a mapping that may be the arguments has a name that the package does not know.
    """
    if any(name in call for name in ARGUMENTS):
        return arguments_of(call)
    unread = next(
        (name for name, value in call.items() if isinstance(value, Mapping) and name not in _NO_ARGUMENTS), ""
    )
    if unread is not None:
        raise InputError(
            f"the call of {_name(call)!r} has {unread!r}, which is not a known name of arguments; "
            f"known are {', '.join(ARGUMENTS)}"
        )
    return {}


def _output(call: Mapping[str, Any]) -> str | None:
    output = call.get("output")
    return output if output is None or isinstance(output, str) else str(output)


def _exactly_named(row: Row, field: str) -> bool:
    return any(row.get(name) is not None for name in FIELD_NAMES[field].exact)


_NO_ARGUMENTS = frozenset({"output", "metadata"})
_DOCUMENTS = "attributes.retrieval.documents"
_PHOENIX = frozenset({
    "context.span_id", "context.trace_id", "document_position", "document_score", "attributes.input.value",
    "attributes.output.value",
})  # fmt: skip
_FORMATS: Final[tuple[Callable[[Row], Row], ...]] = (_ragas, _deepeval, _mlflow, _promptfoo, _phoenix)
