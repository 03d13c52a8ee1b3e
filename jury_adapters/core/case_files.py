"""Reader of cases from files, with the line of each case and the problems of unreadable rows."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from jury_adapters.core.case import Case, problems_of
from jury_adapters.core.case_groups import group_of_case
from jury_adapters.core.column_checks import (
    IDENTIFIED,
    JUDGED,
    ColumnChecks,
    advise_on_columns,
    clip,
    has_field,
    is_judged,
    is_verdict,
)
from jury_adapters.core.encodings import NOT_UTF_8
from jury_adapters.core.errors import InputError
from jury_adapters.core.field_map import FieldMap, FieldMapLike, UnknownPath, field_map_of
from jury_adapters.core.field_names import PAIRS, columns_of, plainly_named
from jury_adapters.core.formatting import counted
from jury_adapters.core.frame_layouts import refuse_frame
from jury_adapters.core.input_files import is_blank
from jury_adapters.core.row_files import read_rows, read_stream
from jury_adapters.core.rows import Row
from jury_adapters.core.run_errors import left_nothing, lost_outputs
from jury_adapters.core.traces.trace_cases import TraceReader, is_request

STDIN = Path("-")
"""Path that means standard input on a command line."""

_CONTENT = ("question", "answer", "contexts", "candidates", "messages", "trajectory", "workspace", "attachments")
_MOST_REPORTED = 50
_LONGEST = 500


@dataclass(frozen=True, slots=True)
class Place:
    """Position of a case in its file.

    Attributes:
        line: the line (in a JSON list, the position), from 1.
        item_id: the row's own id, or None.
        unit: the unit of ``line``: a line, or an item of a JSON list.
    """

    line: int
    item_id: str | None
    unit: str = "line"

    def __str__(self) -> str:
        at = f"{self.unit} {self.line}"
        return at if self.item_id is None else f"{self.item_id} ({at})"


@dataclass(frozen=True, slots=True)
class CaseRow:
    """Result of reading one row of a file as a case.

    Attributes:
        line: the line (in a JSON list, the position), from 1.
        unit: the unit of ``line``: a line, or an item of a JSON list.
        case: the case, or None if the row is not a case.
        problem: the reason why the row is not a case; empty otherwise.
        unknown: the names of the columns, if none of them is a field of a case.
        kind: text that is the same for all rows with this problem, if it is one of the whole file, such as its
            encoding; empty otherwise.
    """

    line: int
    unit: str
    case: Case | None
    problem: str = ""
    unknown: str = ""
    kind: str = ""


class UnknownColumns(InputError):
    """Error for a row without a column that is a question, an answer or contexts."""


def read_cases(path: str | Path, field_map: FieldMapLike | None = None) -> Iterator[CaseRow]:
    """Read the cases of a file, row by row; ``field_map`` is as in :meth:`Case.from_row`.

    Images that a row names by path are in the folder of the file. In a file of OpenTelemetry traces, each trace is a
    case; see :mod:`jury_adapters.core.traces`.

    Raises:
        InputError: the file cannot be read as a whole; see :func:`jury_adapters.core.row_files.read_rows`.
    """
    return _case_rows(read_rows(path), field_map_of(field_map), Path(path).parent)


def columns_in(row: Row, field_map: FieldMapLike | None = None) -> dict[str, Any]:
    """Return the columns of a readable row, including the empty cells of a table.

    An empty cell is an empty text if it is the answer, because judges fail an empty answer; in other columns it is a
    missing value. If ``field_map`` is a function, it receives empty texts.
    """
    given = dict(row.values or {})
    if callable(field_map):
        return {**dict.fromkeys(row.empty, ""), **given}
    mapped = field_map_of(field_map)
    paths = mapped.paths if isinstance(mapped, FieldMap) else {}
    answers = {paths["answer"]} if "answer" in paths else _empty_answers(row.empty, given, paths)
    return {**{name: "" if name in answers else None for name in row.empty}, **given}


def case_of(row: Mapping[str, object], field_map: FieldMapLike | None = None, image_folder: Path | None = None) -> Case:
    """Return the case of a row; the arguments are as in :meth:`Case.from_row`.

    Raises:
        InputError: the row is not a case; the message says why.
        UnknownPath: a path of the field map does not exist in the row.
        UnknownColumns: no column of the row is a field of a case.
    """
    refuse_frame(row)
    try:
        case = Case.from_row(row, field_map, image_folder=image_folder)
    except ValidationError as error:
        raise InputError(problems_of(error)) from None
    except RecursionError:
        raise InputError("nested too deeply") from None
    except UnknownPath:
        raise
    except (ValueError, TypeError) as error:
        raise InputError(str(error)) from None
    failed = lost_outputs(row) or (case.run_error is not None and left_nothing(row))
    if not failed and not _is_something(case):
        raise UnknownColumns(
            f"no column is a question, an answer or contexts; there are {clip(_columns_in(row))}; "
            f"{advise_on_columns(row)}"
        )
    return case


class CaseFile:
    """Cases of a JSONL, JSON or CSV file, or of standard input, read once and one by one.

    A row that is not a case is reported with its line, counted, and left out. A problem of the whole file, such as
    wrong names of columns, is reported once.

    Args:
        path: the file; ``-`` is standard input.
        tell: called with each report.
        limit: the maximum number of cases to read; None for all.
        unread: called with the line and the problem of each row that is not a case, also if it is not reported.
        unique_ids: whether a duplicate id is reported.
        field_map: as in :meth:`Case.from_row`.
        group: field that every case must have; see :func:`jury_adapters.core.case_groups.group_of_row`. Empty for none.
        image_folder: the folder of the images that rows name by path; by default that of the file, and none for
            standard input.

    Attributes:
        path: the file.
        name: the name of the file in messages.
        group: field that every case must have; empty for none.
        unreadable: number of rows so far that were not cases.
        problems: the problems of the first of these rows, each with its line.
    """

    def __init__(
        self,
        path: Path,
        tell: Callable[[str], None],
        *,
        limit: int | None = None,
        unread: Callable[[int, str], None] | None = None,
        unique_ids: bool = False,
        field_map: FieldMapLike | None = None,
        group: str = "",
        image_folder: Path | None = None,
    ) -> None:
        self.path = path
        self._image_folder = path.parent if image_folder is None and path != STDIN else image_folder
        self.group = group
        self._field_map = field_map_of(field_map)
        self.name = "standard input" if path == STDIN else str(path)
        self.unreadable = 0
        self.problems: list[str] = []
        self._tell = tell
        self._reported = 0
        self._alike: dict[str, _Alike] = {}
        self._unread = unread
        self._limit = limit
        self._places: dict[int, Place] = {}  # places of the cases that are in flight
        self._read = 0
        self._columns = ColumnChecks(self._about_the_file)
        self._repeated_ids = 0
        self._ids: set[int] | None = set() if unique_ids else None  # hashes, because there may be millions of ids

    @property
    def field_map(self) -> FieldMap | None:
        """The paths of fields in its rows; None without any."""
        return self._field_map if isinstance(self._field_map, FieldMap) else None

    def __iter__(self) -> Iterator[Case]:
        if self._limit == self._read:
            return
        for row in _case_rows(self._rows(), self._field_map, self._image_folder):
            case = row.case
            if case is None:
                self._refuse(row)
                continue
            place = Place(row.line, case.item_id, row.unit)
            if self.group:
                group_of_case(case, None, self.group, f"{self.name}: {place}")
            self._places[self._read] = place
            self._read += 1
            self._columns.see(case)
            self._see_id(place)
            yield case
            if self._read == self._limit:
                return
        self._report_alike()
        self._columns.end()

    @property
    def first_problem(self) -> str:
        """The line and the problem of the first row that is not a case; empty if there is none."""
        return self.problems[0] if self.problems else ""

    def place_of(self, index: int) -> Place:
        """Return the place of the case with this index (from 0, in reading order); call it once per case."""
        return self._places.pop(index)

    def unreported(self) -> int:
        """Return the number of rows that were not cases and, as too many or too similar, were not reported."""
        return self.unreadable - self._reported

    def why_none(self) -> str:
        """Return the reason why the file has no case."""
        if self.unreadable:
            return f"{self.name}: no row could be read as a case"
        if self.path == STDIN:
            return "nothing arrived on standard input"
        return f"{self.path}: the file is empty" if is_blank(self.path) else f"{self.path}: there is no row in it"

    def _rows(self) -> Iterator[Row]:
        if self.path != STDIN:
            yield from read_rows(self.path)
            return
        if sys.stdin is None:  # closed: <&-
            raise InputError("standard input is closed")
        try:
            yield from read_stream(sys.stdin.buffer)
        except InputError as error:
            raise InputError(f"standard input: {error}") from error

    def _about_the_file(self, message: str) -> None:
        self._tell(f"{self.name}: {message}")

    def _see_id(self, place: Place) -> None:
        """Report the first duplicate id and count the others, because runs are compared by id."""
        if self._ids is None or place.item_id is None:
            return
        if hash(place.item_id) not in self._ids:
            self._ids.add(hash(place.item_id))
            return
        if not self._repeated_ids:
            self._about_the_file(f"the id of {place} occurs twice; runs are compared by id, so give each row its own")
        self._repeated_ids += 1

    def _refuse(self, row: CaseRow) -> None:
        """Count a row that is not a case, and report it unless a problem of the whole file is already reported."""
        problem = row.problem[:_LONGEST]
        self.unreadable += 1
        if len(self.problems) < _MOST_REPORTED:
            self.problems.append(f"{row.unit} {row.line}: {problem}")
        if self._unread is not None:
            self._unread(row.line, problem)
        kind = row.kind or ("" if self._read else row.unknown)  # after a case, the columns of others are not the file's
        if kind in self._alike:
            self._alike[kind].more += 1
        elif self._reported < _MOST_REPORTED:
            self._tell(f"{self.name}, {row.unit} {row.line}: {problem}")
            self._reported += 1
            if kind:
                self._alike[kind] = _Alike(f"{row.unit} {row.line}")

    def _report_alike(self) -> None:
        """Report the number of rows with each problem of the whole file, after the first, and of repeated ids."""
        if self._repeated_ids > 1:
            rows = counted(self._repeated_ids - 1, "more row repeats", "more rows repeat")
            self._about_the_file(f"{rows} an id")
        for alike in self._alike.values():
            if alike.more:
                rows = counted(alike.more, "more row has", "more rows have")
                self._tell(f"{self.name}: {rows} the same problem as {alike.first}")
                self._reported += alike.more


@dataclass(slots=True)
class _Alike:
    """Rows with one problem of the whole file: the place of the first, and the number of the others."""

    first: str
    more: int = 0


def refuse_unnamed_answers(
    path: Path, *, limit: int | None = None, field_map: FieldMapLike | None = None, image_folder: Path | None = None
) -> None:
    """Refuse results, and a file in which no row has an answer, but an unused column probably holds the answers.

    The file is read until the first row with an answer. Files of traces are not checked.

    Args:
        path: the file.
        limit: the maximum number of rows to read; None for all.
        field_map: as in :meth:`Case.from_row`.
        image_folder: as in :class:`CaseFile`.

    Raises:
        InputError: there is such a column (the message names it), or a row is a result.
    """
    checks = ColumnChecks(lambda _: None)
    for row in islice(read_rows(path), limit):
        if row.values is not None and is_request(row.values):
            return
        case = _read(row, field_map, image_folder or path.parent).case
        if case is not None:
            checks.see(case)
            if is_verdict(row.values.get("verdict") if row.values else None) and not is_judged(case):
                raise InputError(f"{path} holds results and no cases; `jury report` reads it. Give the cases to judge")
        if checks.any_answer:
            return
    if checks.likely_answer and checks.lack_of_answers:
        raise InputError(f"{path}: {checks.lack_of_answers}")


def count_lines(path: Path) -> int | None:
    """Return the maximum number of rows of a JSON lines file, for a progress bar; None for other files."""
    name = path.name.lower().removesuffix(".gz")
    if not name.endswith((".jsonl", ".ndjson")) or not path.is_file():
        return None
    try:
        with gzip.open(path) if path.name.lower().endswith(".gz") else path.open("rb") as stored:
            return sum(chunk.count(b"\n") for chunk in iter(lambda: stored.read(1 << 20), b""))
    except (OSError, EOFError):
        return None  # reading the cases will report the error


def _case_rows(rows: Iterable[Row], field_map: FieldMapLike | None, folder: Path | None) -> Iterator[CaseRow]:
    """Yield the cases of rows; those of traces come last, because the spans of a trace may be in several rows."""
    traces = TraceReader()
    for row in rows:
        if row.values is None or not is_request(row.values):
            yield _read(row, field_map, folder)
            continue
        for problem in traces.add(row.values, row.line, row.unit):
            yield CaseRow(row.line, row.unit, None, problem)
    for found in traces.cases():
        yield CaseRow(found.line, found.unit, found.case, found.problem)


def _read(row: Row, field_map: FieldMapLike | None, folder: Path | None) -> CaseRow:
    if row.values is None:
        return CaseRow(row.line, row.unit, None, row.error, kind=NOT_UTF_8 if row.error.startswith(NOT_UTF_8) else "")
    try:
        return CaseRow(row.line, row.unit, case_of(columns_in(row, field_map), field_map, folder))
    except UnknownColumns as error:
        columns = ", ".join(sorted({*map(str, row.values), *row.empty}))  # the same for rows with other empty cells
        return CaseRow(row.line, row.unit, None, str(error), columns)
    except UnknownPath as error:
        return CaseRow(row.line, row.unit, None, str(error), kind=error.kind)
    except InputError as error:
        return CaseRow(row.line, row.unit, None, str(error))


def _empty_answers(empty: Iterable[str], given: Mapping[str, Any], paths: Mapping[str, str]) -> set[str]:
    """Return the empty columns of the answer (if nothing else can be judged), and of second answers of a pair."""
    known = plainly_named(given)
    seconds = {name for name in empty if PAIRS.get(name, "") in known}
    judged = columns_of(known, JUDGED).of.keys() | paths.keys() & set(JUDGED)
    if judged or "outputs" in known:
        return seconds
    return seconds | {name for name in empty if columns_of(plainly_named({name: ""}), ["answer"]).of}


def _columns_in(row: Mapping[str, object]) -> str:
    return ", ".join(map(str, row)) or "none"


def _is_something(case: Case) -> bool:
    return any(has_field(case, name) for name in _CONTENT) or any(name in case.metadata for name in IDENTIFIED)
