"""Groups of cases, such as those about one document or from one user, which are not independent of each other."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from jury_adapters.core.case import Case
from jury_adapters.core.errors import InputError
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.values import is_missing
from jury_adapters.core.verdict import Verdict


def group_of_row(row: Mapping[str, Any], field: str, where: str) -> Hashable:
    """Return the group of a row of a file.

    Args:
        row: columns and their values.
        field: a column, or a path such as ``"meta.document"``; a column with that exact name has priority.
        where: a description of the row, for the message.

    Raises:
        InputError: the row has no such field, or the field is empty.

    >>> group_of_row({"meta": {"document": "minutes.txt"}}, "meta.document", "line 1")
    'minutes.txt'
    """
    value = row[field] if field in row else _inside(row, field)
    if is_missing(value) or (isinstance(value, str) and not value.strip()):
        names = ", ".join(str(name) for name, known in row.items() if not is_missing(known) and known not in ("", []))
        raise InputError(
            f"{where} has no {field}, which was named as what groups cases; every case needs one. "
            f"It has {names[:_LONGEST] or 'none'}"
        )
    return value if isinstance(value, str | int | float) else str(value)


def group_of_case(case: Case | None, judgment: Judgment | None, field: str, where: str) -> Hashable:
    """Return the group of a case, from the case itself or else from the metadata in its verdict.

    Args:
        case: the case; None if only its verdict is known.
        judgment: the judgment of the case, or None.
        field: as for :func:`group_of_row`: an entry of the metadata, or a field of the case such as ``"question"``.
        where: a description of the case, for the message.

    Raises:
        InputError: the case has no such field, or the field is empty.
    """
    if case is not None:
        return group_of_row(row_of_case(case), field, where)
    try:
        return group_of_row(judgment.case_metadata if isinstance(judgment, Verdict) else {}, field, where)
    except InputError as error:
        raise InputError(f"{error}; the case itself is not known, only the metadata in its verdict") from None


def row_of_case(case: Case) -> dict[str, Any]:
    """Return the metadata and the texts of a case under the names that recorded rows use."""
    row: dict[str, Any] = dict(case.metadata)
    if case.item_id is not None:
        row["item_id"] = row.get("item_id", row.get("id"))
    row.update(question=case.question, generator=case.generator, answer=case.answer, answers=list(case.candidates))
    return row


_LONGEST = 200  # maximum number of characters of the names of columns


def _inside(row: Mapping[str, Any], path: str) -> Any:
    """Return the value at a path, such as ``row["meta"]["document"]`` for ``"meta.document"``; None without one."""
    value: Any = row
    for name in path.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value
