"""Number of cases that a run is to judge, with which readers of its results notice that it was stopped."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from jury_adapters.core.case_files import case_of, columns_in
from jury_adapters.core.errors import InputError
from jury_adapters.core.field_map import FieldMap
from jury_adapters.core.row_files import read_rows
from jury_adapters.core.rows import Row
from jury_adapters.core.traces.trace_cases import is_request


class PlannedCases:
    """Number of cases of a file before they are judged: its rows, without those that turn out not to be cases.

    The rows are only counted at first, because reading them as cases takes much longer. Rows after the last case do not
    count, so the number is exact as soon as the last case was read.

    Args:
        cases: the file; a pipe is read once, so its number is unknown.
        limit: the maximum number of cases to judge; None for all.
        field_map: the paths of fields in its rows.
        image_folder: the folder of the images that rows name; None for that of the file.
    """

    def __init__(self, cases: Path, limit: int | None, field_map: FieldMap, image_folder: Path | None) -> None:
        self._limit = limit
        self._field_map, self._folder = field_map, image_folder or cases.parent
        self._errors: set[int] = set()
        self._last = self._rows = 0
        with suppress(InputError):  # reading the cases will report it, unless there is a limit before
            self._count(read_rows(cases) if cases.is_file() else ())

    def _count(self, rows: Iterable[Row]) -> None:
        ends: deque[tuple[int, Row]] = deque(maxlen=_MOST_AT_THE_END)
        for row in rows:
            if row.values is None:
                self._errors.add(row.line)
            elif is_request(row.values):  # the cases of traces are not rows
                return
            else:
                ends.append((1 + (ends[-1][0] if ends else 0), row))
        while ends and not self._is_case(ends[-1][1]):
            ends.pop()
        if ends:
            self._rows, self._last = ends[-1][0], ends[-1][1].line

    @property
    def number(self) -> int | None:
        """The number of cases, as far as it is known that rows are cases; None if it is unknown."""
        if not self._rows:
            return None
        return self._rows if self._limit is None else min(self._rows, self._limit)

    def without_unread(self, tell: Callable[[int, str], None]) -> Callable[[int, str], None]:
        """Return a function to call with the line and the problem of each row that is not a case, which calls another.

        Args:
            tell: the other function.
        """

        def refuse(line: int, problem: str) -> None:
            if line <= self._last and line not in self._errors:
                self._rows -= 1
            tell(line, problem)

        return refuse

    def _is_case(self, row: Row) -> bool:
        try:
            case_of(columns_in(row, self._field_map), self._field_map, self._folder)
        except InputError:
            return False
        return True


_MOST_AT_THE_END = 100  # rows; after more that are not cases, the number is unknown
