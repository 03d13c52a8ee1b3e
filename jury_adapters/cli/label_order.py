"""Cases of labels without an id and an answer: by a column that both files have, else by the order of the rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jury_adapters.core.errors import InputError, plain_repr
from jury_adapters.core.formatting import counted
from jury_adapters.core.human_labels import human_label

Columns = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Matching:
    """Way in which labels without an id and an answer find their cases.

    Attributes:
        column: the column of both files whose values identify a case; None for the order of the rows.
        lines: the line of the label by the line of its case, if they are matched by order.
    """

    column: str | None = None
    lines: Mapping[int, int] = field(default_factory=dict)

    def described(self, labels: Path) -> str:
        """Return a sentence that says how the labels find their cases."""
        if self.column is not None:
            return f"{labels}: labels are matched with cases by the column {plain_repr(self.column)}, which both have"
        return (
            f"{labels}: labels are matched with cases by the order of the rows, because they have no id; give both "
            "files a column `id`, unless they have the same order"
        )


def find_matching(
    file: Path, rows: Mapping[int, Columns | None], column: str, cases: Sequence[tuple[int | None, Columns]], of: object
) -> Matching:
    """Return how the labels of a file find their cases.

    A column that identifies each label and some case has priority. The order of the rows counts only if there are as
    many rows as cases, and no column shows another order.

    Args:
        file: the file of labels.
        rows: its rows by line; None for an unreadable row.
        column: the column with the labels.
        cases: the line and the other columns of each case.
        of: the file of the cases, for messages.

    Raises:
        InputError: neither a column nor the order identifies the cases.
    """
    ours = {name: found for name in _names(rows.values()) if name != column and (found := _values(rows, name))}
    known = {at: columns for at, (_, columns) in enumerate(cases)}
    theirs = {name: found for name in _names(known.values()) if (found := _values(known, name))}
    same = {name: _shared(ours[name], theirs[name]) for name in ours if name in theirs}
    if any(same.values()):
        return Matching(max(same, key=lambda name: same[name]))
    lines = sorted({line for line, _ in cases if line is not None})
    by_order = dict(zip(lines, rows, strict=False)) if len(lines) == len(rows) else {}
    _refuse_other_order(file, ours, theirs, {row: at for at, row in _pairs(cases, by_order)}, of)
    if not by_order:
        raise InputError(
            f"{file}: its labels have no id and no answer, and its {counted(len(rows), 'row')} cannot be the "
            f"{counted(len(lines) or len(cases), 'case')} of {of} in their order; name the case of each label in a "
            f"column `id`{_columns_of(rows, column)}, and judge the cases with such a column, or with --map id=COLUMN"
        )
    return Matching(lines=by_order)


def _refuse_other_order(
    file: Path,
    ours: Mapping[str, Mapping[int, str]],
    theirs: Mapping[str, Mapping[int, str]],
    case_of: Mapping[int, int],
    of: object,
) -> None:
    """Refuse a column of labels with the values of a column of the cases, but of other name and in another order."""
    for name, found in ours.items():
        for other, places in theirs.items():
            in_order = case_of and all(places.get(case_of[row]) == text for row, text in found.items())
            if name != other and _shared(found, places) * 2 >= len(found) and not in_order:
                raise InputError(
                    f"{file}: its column {plain_repr(name)} has values of the column {plain_repr(other)} of {of}, but "
                    f"labels without an id are matched by the order of the rows, which is another one; rename the "
                    f"column to {plain_repr(other)}, or call both `id` (jury judge --map id=COLUMN)"
                )


def _pairs(cases: Sequence[tuple[int | None, Columns]], by_order: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """Yield the position of each case with the line of the label that has its place."""
    for at, (line, _) in enumerate(cases):
        if line is not None and line in by_order:
            yield at, by_order[line]


def _shared(ours: Mapping[int, str], theirs: Mapping[int, str]) -> int:
    """Return the number of values that two columns share; 0 if these do not identify a label or a case."""
    own, their = {*ours.values()}, {*theirs.values()}
    shared = len(own & their)
    return shared if len(own) == len(ours) or (len(their) == len(theirs) and 2 * shared >= len(own)) else 0


def _columns_of(rows: Mapping[int, Columns | None], column: str) -> str:
    names = [plain_repr(name) for name in _names(rows.values()) if name != column]
    return f" (there is {', '.join(names[:5])})" if names else ""


def _names(rows: Iterable[Columns | None]) -> list[str]:
    return list(dict.fromkeys(str(name) for row in rows for name in row or ()))


def _values(rows: Mapping[int, Columns | None], name: str) -> dict[int, str]:
    """Return the texts and numbers of a column, by row."""
    return {
        line: text
        for line, row in rows.items()
        if row is not None and isinstance(row.get(name), str | int | float) and (text := human_label(row[name]))
    }
