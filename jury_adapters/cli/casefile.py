"""Cases from a file, with the line of each, and news of the rows that are none."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from jury_adapters.core.case import Case
from jury_adapters.core.rows import Row, read_rows

_CONTENT = ("question", "answer", "contexts", "candidates", "messages", "trajectory", "workspace")
_IDENTIFIED = ("votes", "item_id")  # a recorded juror needs no text
_NAMES = "question, answer, contexts; query, response, ..."
_MOST_TOLD = 50
_LONGEST = 500


@dataclass(frozen=True, slots=True)
class Place:
    """Where a case stands in its file.

    Attributes:
        line: the line (of a JSON list, the position), from 1.
        item_id: the row's own id, or None.
    """

    line: int
    item_id: str | None

    def __str__(self) -> str:
        return f"line {self.line}" if self.item_id is None else f"{self.item_id} (line {self.line})"


class CaseFile:
    """The cases of a JSONL, JSON or CSV file, read once, one by one.

    A row that is no case is told with its line, counted, and left out. What is wrong with the whole file, such as the
    names of its columns, is told once.

    Args:
        path: the file.
        tell: takes the news of a row that is no case.
        limit: how many cases are read at most; None for all.
        unread: called with the line and the problem of each row that is no case, also of those that are not told.

    Attributes:
        unreadable: how many rows were no case so far.
    """

    def __init__(
        self,
        path: Path,
        tell: Callable[[str], None],
        *,
        limit: int | None = None,
        unread: Callable[[int, str], None] | None = None,
    ) -> None:
        self.path = path
        self.unreadable = 0
        self._tell = tell
        self._told = 0
        self._told_columns = ""
        self._unread = unread
        self._limit = limit
        self._places: dict[int, Place] = {}  # of the cases that are in flight
        self._read = 0

    def __iter__(self) -> Iterator[Case]:
        if self._limit == self._read:
            return
        for row in read_rows(self.path):
            case = self._case(row)
            if case is None:
                continue
            self._places[self._read] = Place(row.line, _item_id(case))
            self._read += 1
            yield case
            if self._read == self._limit:
                return

    def place_of(self, index: int) -> Place:
        """Where the case with this index (from 0, in reading order) stands; asked once per case."""
        return self._places.pop(index)

    def untold(self) -> int:
        """How many rows were no case without being told: there were so many, or the same was wrong with all."""
        return self.unreadable - self._told

    def _case(self, row: Row) -> Case | None:
        problem = row.error
        if row.values is not None:
            try:
                case = Case.from_row(row.values)
            except ValidationError as error:
                problem = "; ".join(f"{_loc(details['loc'])}{details['msg']}" for details in error.errors())
            except (ValueError, TypeError) as error:
                problem = str(error)
            except RecursionError:
                problem = "nested too deeply"
            else:
                if _is_something(case):
                    return case
                columns = ", ".join(map(str, row.values)) or "none"
                problem = f"no column is a question, an answer or contexts; there are {_clip(columns)}"
                self._refuse(row.line, f"{problem}; rename them ({_NAMES})", columns)
                return None
        self._refuse(row.line, problem)
        return None

    def _refuse(self, line: int, problem: str, columns: str = "") -> None:
        """Count a row that is no case, and tell it, unless its columns were told and no row before it was a case."""
        problem = problem[:_LONGEST]
        self.unreadable += 1
        if self._unread is not None:
            self._unread(line, problem)
        again = columns and columns == self._told_columns and not self._read
        if self._told < _MOST_TOLD and not again:
            self._tell(f"{self.path}, line {line}: {problem}")
            self._told += 1
            self._told_columns = columns


def count_lines(path: Path) -> int | None:
    """How many rows a JSON-lines file has at most, for a progress bar; None for other files."""
    name = path.name.lower().removesuffix(".gz")
    if not name.endswith((".jsonl", ".ndjson")) or not path.is_file():
        return None
    try:
        with gzip.open(path) if path.name.lower().endswith(".gz") else path.open("rb") as stored:
            return sum(chunk.count(b"\n") for chunk in iter(lambda: stored.read(1 << 20), b""))
    except (OSError, EOFError):
        return None  # reading the cases will say what is wrong


def _is_something(case: Case) -> bool:
    return any(getattr(case, name) not in (None, ()) for name in _CONTENT) or any(
        name in case.metadata for name in _IDENTIFIED
    )


def _clip(columns: str) -> str:
    return columns if len(columns) <= _LONGEST // 2 else f"{columns[: _LONGEST // 2]}..."


def _item_id(case: Case) -> str | None:
    item = case.metadata.get("item_id", case.metadata.get("id"))
    return None if item is None else str(item)


def _loc(loc: tuple[int | str, ...]) -> str:
    return ".".join(str(step) for step in loc) + ": " if loc else ""
