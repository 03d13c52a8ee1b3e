"""Groups of cases that are not independent of each other, such as all cases about one document or from one user."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from difflib import get_close_matches
from typing import Any

from jury_adapters.core.case import Case
from jury_adapters.core.errors import InputError, plain_repr
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.values import is_missing
from jury_adapters.core.verdict_facts import metadata_of_case

_GROUPS = "the field that groups the cases; every case needs one"


def group_of_row(row: Mapping[str, Any], field: str, where: str, purpose: str = _GROUPS) -> Hashable:
    """Return the group of a row of a file.

    Args:
        row: columns and their values.
        field: a column, or a path such as ``"meta.document"``; a column with that exact name takes priority.
        where: a description of the row, for the message.
        purpose: what the field is for, for the message.

    Raises:
        InputError: the row has no such field, or the field is empty.

    >>> group_of_row({"meta": {"document": "minutes.txt"}}, "meta.document", "line 1")
    'minutes.txt'
    """
    value = row[field] if field in row else _value_at(row, field)
    if _is_empty(value):
        names = ", ".join(str(name) for name, cell in row.items() if not is_missing(cell) and cell not in ("", []))
        raise InputError(
            f"{where} has no {field}, {purpose}.{_near(row, field)} It has {names[:_LONGEST_LIST] or 'none'}"
        )
    return value if isinstance(value, str | int | float) else str(value)


def group_of_case(
    case: Case | None, judgment: Judgment | None, field: str, where: str, purpose: str = _GROUPS
) -> Hashable:
    """Return the group of a case, from the case itself or, if it is not known, from the metadata in its verdict.

    Args:
        case: the case; None if only its verdict is known.
        judgment: the judgment of the case, or None.
        field: as for :func:`group_of_row`: an entry of the metadata, or a field of the case such as ``"question"``.
        where: a description of the case, for the message.
        purpose: what the field is for, for the message.

    Raises:
        InputError: the case has no such field, or the field is empty.
    """
    return group_in(case, metadata_of_case(judgment), field, where, purpose)


def group_in(
    case: Case | None, metadata: Mapping[str, Any], field: str, where: str, purpose: str = _GROUPS
) -> Hashable:
    """Return the group of a case, from the case itself or, if it is not known, from these metadata in its verdict.

    The other arguments, and the error, are those of :func:`group_of_case`.
    """
    if case is not None:
        row = row_of_case(case)
        return group_of_row(row if "metadata" in row else {**row, "metadata": case.metadata}, field, where, purpose)
    try:
        return group_of_row(metadata, field, where, purpose)
    except InputError as error:
        raise without_case(error) from None


def without_case(error: InputError) -> InputError:
    """Return the error of a missing group for a case of which only the metadata in its verdict is known."""
    return InputError(
        f"{error}; the case itself is not known, only the metadata in its verdict; give the file that was judged "
        "for its texts (jury report --cases CASES, or cases= in Python) or, for results in memory, what judge_pairs() "
        "yields"
    )


def row_of_case(case: Case) -> dict[str, Any]:
    """Return the metadata, texts and generator of a case under the names that recorded rows use."""
    row: dict[str, Any] = dict(case.metadata)
    if case.item_id is not None:
        row["item_id"] = row.get("item_id", row.get("id"))
    row.update(question=case.question, generator=case.generator, answer=case.answer, answers=list(case.candidates))
    return row


_ALIKE = 0.7
_LONGEST_LIST = 200  # characters of a list of column names


def _near(row: Mapping[str, Any], field: str) -> str:
    """Return the question whether a field with a similar name is meant, also in another place; empty without one."""
    paths = [str(name) for name in row]
    paths += [f"{name}.{key}" for name, inner in row.items() if isinstance(inner, Mapping) for key in inner]
    filled = [path for path in paths if not _is_empty(row.get(path, _value_at(row, path)))]
    last = {path.rpartition(".")[2].casefold(): path for path in reversed(filled)}  # a column before a path to one
    wanted = field.rpartition(".")[2].casefold()
    close = get_close_matches(wanted, last, n=1, cutoff=_ALIKE)
    return f" Did you mean {plain_repr(last[close[0]])}?" if close else ""


def _is_empty(value: object) -> bool:
    return is_missing(value) or (isinstance(value, str) and not value.strip())


def _value_at(row: Mapping[str, Any], path: str) -> Any:
    """Return the value at a path, such as ``row["meta"]["document"]`` for ``"meta.document"``, or None."""
    value: Any = row
    for name in path.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value
