"""Inputs in which no key is known as the question, and more than one value may hold it."""

from __future__ import annotations

from collections.abc import Mapping

from jury_adapters.core.errors import plain_repr
from jury_adapters.core.loose_values import opened, page_of


def unnamed_question(inputs: Mapping[str, object]) -> str:
    """Return the sentence that reports that it is not known which of the inputs is the question.

    It is empty if at most one value may hold a question: a text, or a container that is not empty.
    """
    names = [name for name, given in inputs.items() if _may_hold_text(opened(given))]
    if len(names) < 2:
        return ""
    shown = [plain_repr(name) for name in names[:_NAMED]]
    none = f"neither {shown[0]} nor {shown[1]}" if len(names) == 2 else f"none of {', '.join(shown)}"
    return f"{none} in inputs is known as the question: {_taken(inputs)}"


def _taken(inputs: Mapping[str, object]) -> str:
    """Return what is read as the question: the text if the inputs are like a document, or else all of them."""
    page = page_of(inputs)
    if page is None:
        return "all of inputs is the question, as one JSON text"
    names = [name for name in ("page_content", "text") if inputs.get(name) == page]
    return f"{plain_repr(names[0]) if names else 'the text of a document in it'} is the question"


def _may_hold_text(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, Mapping | list | tuple) and bool(value))


_NAMED = 5
