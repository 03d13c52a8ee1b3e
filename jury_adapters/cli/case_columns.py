"""Columns of cases and of rows of labels, with the fields of the case under one name, so that both can be compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.formatting import clip

Columns = Mapping[str, Any]

TEXTS: Final = ("question", "answer", "contexts")
"""Fields of a case whose texts tell which case a row is about, whatever the names of their columns."""


def columns_of_case(case: Case) -> Columns:
    r"""Return the metadata of a case with its question, its answer and its contexts.

    >>> columns_of_case(Case.from_row({"query": "Which?", "team": "billing", "context": ["This.", "That."]}))
    {'team': 'billing', 'question': 'Which?', 'contexts': 'This.\nThat.'}
    """
    texts = {"question": case.question, "answer": case.answer, "contexts": "\n".join(case.contexts)}
    return {**case.metadata, **{name: text for name, text in texts.items() if text}}


def columns_of_row(row: Columns, label_column: str) -> Columns:
    """Return the columns of a row of labels as :func:`columns_of_case` returns those of a case, without the label.

    A row that is not a case keeps the names of its columns.
    """
    rest = {name: value for name, value in row.items() if name != label_column}
    try:
        return columns_of_case(Case.from_row(rest))
    except ConfigurationError:
        return rest


def shown_apart(one: object, other: object) -> tuple[str, str]:
    """Return two values that differ, for a message, cut so that the place where they differ is seen.

    >>> shown_apart("word " * 20 + "new", "word " * 20 + "old")
    ("'…word word word word new'", "'…word word word word old'")
    """
    texts = " ".join(str(one).split()), " ".join(str(other).split())
    same = next((at for at, (a, b) in enumerate(zip(*texts, strict=False)) if a != b), min(map(len, texts)))
    start = texts[0].rfind(" ", 0, max(0, same - _SAME_SHOWN)) + 1 if max(map(len, texts)) > _LONGEST else 0
    first, second = (plain_repr(clip(("…" if start else "") + text[start:], _LONGEST)) for text in texts)
    return first, second


_SAME_SHOWN = 20  # characters before the place where two values differ
_LONGEST = 60  # characters of a value in a message
