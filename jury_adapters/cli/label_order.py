"""Cases of labels without an id and an answer: by a column that both files have, else by the order of the rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path

from jury_adapters.cli.case_columns import TEXTS, Columns, columns_of_row, shown_apart
from jury_adapters.core.errors import InputError, plain_repr
from jury_adapters.core.field_names import columns_of, plainly_named
from jury_adapters.core.formatting import counted
from jury_adapters.core.human_labels import GOLD, human_label


@dataclass(frozen=True, slots=True)
class Matching:
    """Way in which labels without an id and an answer find their cases.

    Attributes:
        column: the column of both files whose values identify a case; None for the order of the rows.
        lines: the line of the label by the line of its case, if they are matched by order.
        uncompared: the field of the labels that could contradict the order, if the texts of the cases are not known.
    """

    column: str | None = None
    lines: Mapping[int, int] = field(default_factory=dict)
    uncompared: str = ""

    @property
    def by(self) -> str:
        """The words for what the labels are matched by."""
        return "the order of the rows" if self.column is None else f"the column {plain_repr(self.column)}"

    def described(self, labels: Path) -> str:
        """Return a sentence that says how the labels find their cases."""
        if self.column is not None:
            return f"{labels}: labels are matched with cases by {self.by}, which both have"
        unknown = f" ({self.uncompared} is not compared; for that, give the cases: --cases CASES)"
        return (
            f"{labels}: labels are matched with cases by {self.by}, because they have no id; give both "
            f"files a column `id`, unless they have the same order{unknown if self.uncompared else ''}"
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
        cases: the line and the columns of each case; see :func:`jury_adapters.cli.case_columns.columns_of_case`.
        of: the file of the cases, for messages.

    Raises:
        InputError: neither a column nor the order identifies the cases.
    """
    read = {line: columns_of_row(row, column) for line, row in rows.items() if row is not None}
    ours = {name: found for name in _names(read.values()) if (found := _values(read, name))}
    known = {at: columns for at, (_, columns) in enumerate(cases)}
    theirs = {name: found for name in _names(known.values()) if (found := _values(known, name))}
    same = {name: _shared(ours[name], theirs[name]) for name in ours if name in theirs}
    if any(same.values()):
        return Matching(max(same, key=lambda name: (same[name], name == "question")))  # row numbers may be there, too
    lines = sorted({line for line, _ in cases if line is not None})
    by_order = dict(zip(lines, rows, strict=False)) if len(lines) == len(rows) else {}
    case_of = {row: at for at, row in _pairs(cases, by_order)}
    _refuse_other_order(file, ours, theirs, case_of, of)
    if not by_order:
        end = " (empty rows at the end of a table do not count)" if len(rows) < len(lines) else ""
        raise InputError(
            f"{file}: its labels have no id and no answer, and its {counted(len(rows), 'row')} cannot be the "
            f"{counted(len(lines) or len(cases), 'case')} of {of} in their order{end}; name the case of each label in "
            f"a column `id`{_columns_of(rows, column)}, and judge the cases with such a column, or with --map id=COLUMN"
        )
    _refuse_contradictions(file, rows, cases, case_of, column)
    unknown = not any(name in theirs for name in TEXTS)
    return Matching(lines=by_order, uncompared=next((name for name in TEXTS if unknown and name in ours), ""))


def _refuse_contradictions(
    file: Path,
    rows: Mapping[int, Columns | None],
    cases: Sequence[tuple[int | None, Columns]],
    case_of: Mapping[int, int],
    column: str,
) -> None:
    """Refuse rows in the order of the cases if a column of both has another value for the case in that place."""
    for line, at in case_of.items():
        row, (place, theirs) = rows[line] or {}, cases[at]
        for name, value in columns_of_row(row, column).items():
            one, other = _plain(value), _plain(theirs.get(name))
            if name == GOLD or "" in (one, other) or one == other:
                continue
            ours, other_case = shown_apart(value, theirs[name])
            raise InputError(
                f"{file}, line {line}: its column {plain_repr(_named(row, name))} is {ours}, and that of the "
                f"case in its place (line {place}) is {other_case}; labels without an id are matched by the "
                "order of the rows, which is another one here. Give both files a column `id` (jury judge --map "
                "id=COLUMN), or labels in the order of the cases; if the column is not about the case, rename it"
            )


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
            if name == other or not (_identify(found, places) or (other in TEXTS and _repeat_texts(found, places))):
                continue
            if not case_of or any(_plain(places.get(case_of[row])) != _plain(text) for row, text in found.items()):
                raise InputError(
                    f"{file}: its column {plain_repr(name)} has values of the column {plain_repr(other)} of {of}, but "
                    f"labels without an id are matched by the order of the rows, which is another one; rename the "
                    f"column to {plain_repr(other)}, or call both `id` (jury judge --map id=COLUMN)"
                )


def _identify(ours: Mapping[int, str], theirs: Mapping[int, str]) -> bool:
    """Whether the values of a column identify cases, and at least half of them are those of another column."""
    return _shared(ours, theirs) * 2 >= len(ours)


def _repeat_texts(ours: Mapping[int, str], theirs: Mapping[int, str]) -> bool:
    """Whether the values of a column are texts of a case, which may be the same in several rows."""
    own = {*ours.values()}
    return 2 * sum(len(text.split()) >= _WORDS for text in own & {*theirs.values()}) >= len(own)


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


def _plain(value: object) -> str | float:
    """Return a value of a column without what differs between ways of writing it; an empty text for others."""
    if not isinstance(value, str | int | float) or value != value:  # noqa: PLR0124  only NaN differs from itself
        return ""
    text = " ".join(str(value).split()).casefold()
    try:
        number = float(text)
    except ValueError:
        return text
    return number if isfinite(number) else text


def _named(row: Columns, name: str) -> str:
    """Return the column of a row that holds a field; other columns have their own names."""
    return name if name in row or name not in TEXTS else columns_of(plainly_named(row), [name]).of.get(name, name)


_WORDS = 3  # of a text that does not occur in another column by accident
