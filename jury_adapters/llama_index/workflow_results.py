"""Fields of a workflow's start and result, found by the names in :mod:`jury_adapters.core.field_names`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from llama_index.core.schema import BaseNode, NodeWithScore
from llama_index.core.workflow import StopEvent

from jury_adapters.core.field_names import Columns, columns_of, plainly_named
from jury_adapters.core.formatting import visible
from jury_adapters.core.input_output import present


def answer_in(response: object) -> object:
    """Return the answer of a workflow; anything but a stop event or a mapping is returned as it is.

    The answer of a plain stop event is its result. In a mapping, or a stop event of the application's own class, the
    answer is the field with a name of the answer, also if it is None. Without such a name, it is the only text of a
    custom class, blank ones aside; otherwise, all fields are the answer except the contexts, empty conversations and
    None. What is beside an empty ``messages`` is not the answer.
    """
    fields = fields_of(response)
    if fields is None:
        return result_of(response)
    columns = _columns(fields)
    if "answer" in columns.of:
        return fields[columns.of["answer"]]
    filled = present(fields)
    is_empty_chat = "messages" in fields and "messages" not in filled
    if is_empty_chat or "answer" in _columns(dict.fromkeys(fields, "")).of:
        return None
    rest = {name: value for name, value in filled.items() if name != columns.of.get("contexts")}
    texts = [value for value in rest.values() if isinstance(value, str)]
    texts = [text for text in texts if text.strip()] or texts
    only = len(texts) == 1 and not isinstance(result_of(response), Mapping)
    return texts[0] if only else rest or None


def passages_in(response: object) -> tuple[object, ...]:
    """Return the field of a mapping or a custom stop event with a name of the contexts: texts, documents or nodes."""
    fields = fields_of(response) or {}
    found = fields.get(_columns(fields).of.get("contexts", ""))
    if isinstance(found, str | Mapping | BaseNode | NodeWithScore):
        return (found,)
    return tuple(found) if isinstance(found, list | tuple) else ()


def ambiguous_in(response: object) -> tuple[str, ...]:
    """Return sentences that report fields which compete for the answer or the contexts."""
    fields = fields_of(response)
    guess = guess_in(response)
    return () if fields is None else (*_columns(fields).conflicts, *([guess] if guess else []))


def guess_in(response: object) -> str:
    """Return a sentence about several fields that are the answer together, because none has a name of the answer."""
    fields = fields_of(response)
    answer = None if fields is None else answer_in(response)
    if fields is None or not isinstance(answer, Mapping) or len(answer) < 2 or "answer" in _columns(fields).of:
        return ""
    names = ", ".join(visible(str(name)) for name in answer)
    return f"no field of the result has a name of the answer, so {names} are the answer as JSON"


def fields_of(response: object) -> Mapping[str, Any] | None:
    """Return the named fields of a result; None if it has none that count, such as the response of an engine.

    A pydantic object as a result has none: a model may have written it, and a model cannot be its own evidence.
    """
    result = result_of(response)
    if isinstance(result, Mapping):
        return plainly_named(result)
    return plainly_named(values_in(result)) if isinstance(result, StopEvent) else None


def result_of(response: object) -> object:
    """Return the result of a plain stop event; anything else as it is."""
    if isinstance(response, StopEvent) and response.result is not None and response.result is not response:
        return response.result
    return response


def values_in(event: Any) -> dict[str, Any]:
    """Return the fields of an event, declared and set, or plain keywords, without those that are None."""
    get = event.get if isinstance(event, Mapping) else partial(getattr, event)
    return {name: value for name in names_in(event) if (value := get(name, None)) is not None}


def names_in(event: Any) -> tuple[str, ...]:
    """Return the names of an event's fields, declared and set, or of plain keywords."""
    return (*getattr(type(event), "model_fields", ()), *(event.keys() if hasattr(event, "keys") else ()))


def _columns(fields: Mapping[str, Any]) -> Columns:
    return columns_of(fields, ("answer", "contexts"), part_of="answer")
