"""Columns of cases and of rows of labels, with the fields of the case under one name, so that both can be compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError

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
