"""Rows of tables: CSV files with commas, semicolons or tabs."""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, BinaryIO

from jury_adapters.core.encodings import NOT_UTF_8, legible
from jury_adapters.core.errors import InputError, plain_repr
from jury_adapters.core.rows import AS_CSV, LONGEST_ROW, MOST_EMPTY, TOO_MANY_EMPTY, Row, too_long
from jury_adapters.core.strict_json import unique_keys


def read_csv(raw: BinaryIO) -> Iterator[Row]:
    """Read a table whose separator is found out."""
    return _table(raw, "")


def read_tsv(raw: BinaryIO) -> Iterator[Row]:
    """Read a table with tabs."""
    return _table(raw, "\t")


def _table(raw: BinaryIO, delimiter: str) -> Iterator[Row]:
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_ROW))  # global; the default of 128 KiB is too small
    with io.TextIOWrapper(raw, encoding="utf-8-sig", newline="", errors="surrogateescape") as text:
        lines = _Lines(text)
        header = next((line for line in lines if line.strip()), "")
        said = _SAYS_DELIMITER.fullmatch(header.strip("\r\n"))  # the "sep=;" line of Excel
        if said is not None:
            delimiter, header = said[1], next((line for line in lines if line.strip()), "")
        first = lines.number
        delimiter = delimiter or _delimiter(header, lines.peek())
        reader = csv.reader(itertools.chain([header], lines), delimiter=delimiter, strict=True)
        names = _names(reader, first, lines)
        empty: list[int] = []  # empty rows are reported only if other rows follow
        while True:
            lines.begin_row()
            line = lines.number + 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield Row(line, None, _broken_quotes(error, line, lines.number))
                continue
            if not any(cells) and (len(names) > 1 or not cells):  # one column: ""
                empty += [line] if cells else []
                if len(empty) > MOST_EMPTY:
                    raise InputError(f"line {line}: {TOO_MANY_EMPTY}")
                continue
            yield from (Row(gap, None, "an empty row") for gap in empty)
            empty.clear()
            yield _of_cells(line, names, cells)


class _Lines(Iterator[str]):
    """Lines of a table, with a limit on the characters of a row, which may span several lines.

    Attributes:
        number: number of lines read so far.
    """

    def __init__(self, text: io.TextIOWrapper) -> None:
        self._text = text
        self._next: str | None = None
        self.number = 0
        self.begin_row()

    def peek(self) -> str:
        """Return the next line without reading it; empty at the end."""
        if self._next is None:
            self._next = self._text.readline(LONGEST_ROW + 1)
        return self._next

    def begin_row(self) -> None:
        """Start counting the characters of a new row."""
        self._first = self.number + 1
        self._taken = 0

    def __next__(self) -> str:
        line, self._next = self.peek(), None
        if not line:
            raise StopIteration
        self.number += 1
        self._taken += len(line)
        if self._taken > LONGEST_ROW:
            raise too_long(f"line {self._first}")
        return line


def _names(reader: Iterator[list[str]], first: int, lines: _Lines) -> list[str]:
    """Return the names of the columns. Several may be empty, because spreadsheets write unnamed columns at the right.

    Raises:
        InputError: the quotes are invalid, or a name occurs twice.
    """
    try:
        names = [legible(name) for name in next(reader, [])]
    except csv.Error as error:
        raise InputError(_broken_quotes(error, first, lines.number)) from error
    twice = next((name for name, times in Counter(names).items() if name and times > 1), None)
    if twice is not None:
        raise InputError(f"line {first}: the column {plain_repr(twice)} occurs twice; give each column its own name")
    return names


def _delimiter(header: str, second: str) -> str:
    """Return the delimiter of a table: comma, semicolon or tab.

    Spreadsheets write semicolons in locales with a decimal comma, and tabs to the clipboard. The best delimiter splits
    the second line into as many cells as the header; next, it leaves no quote in a name; last, it gives the most
    columns.
    """

    def fit(sign: str) -> tuple[bool, bool, int]:
        names, cells = (next(csv.reader([line], delimiter=sign), []) for line in (header, second))
        return len(names) > 1 and len(names) == len(cells), '"' not in "".join(names), len(names)

    return max((",", ";", "\t"), key=fit)


def _of_cells(line: int, names: list[str], cells: list[str]) -> Row:
    if len(cells) > len(names):
        return Row(line, None, f"{len(cells) - len(names)} more values than columns")
    garbled = next((cell for cell in cells if legible(cell) != cell), None)
    if garbled is not None:  # the judge would see another text than the one that was written
        return Row(line, None, f"{NOT_UTF_8}: {legible(garbled)[:40]!r}; if a spreadsheet wrote it, {AS_CSV}")
    values: dict[str, Any] = {name: cell for name, cell in zip(names, cells, strict=False) if cell}
    values |= {name: _votes_in(values[name]) for name in _VOTES if name in values}
    return Row(line, values, empty=tuple(name for name in names if name and name not in values))


def _votes_in(cell: str) -> object:
    """Return the votes by juror that a cell contains as JSON; any other cell unchanged."""
    if not cell.lstrip().startswith("{"):
        return cell
    try:
        return json.loads(cell, object_pairs_hook=unique_keys)
    except (ValueError, RecursionError):
        return cell


def _broken_quotes(error: csv.Error, first: int, last: int) -> str:
    """Return a message about the invalid quotes of a row, with the lines that are lost."""
    lost = f", so lines {first} to {last} are lost" if last > first else ""
    if "end of data" in str(error):
        return f'not CSV: a quote is opened on line {first} and never closed{lost}; write "" for a quote inside a cell'
    at = f" of line {last}" if last > first else ""
    return f'not CSV: a quote is in the middle of a quoted cell{at}{lost}; write "" for a quote inside a cell'


_VOTES = ("votes", "human_votes")
_SAYS_DELIMITER = re.compile(r'"?sep=([,;\t|])"?', re.IGNORECASE)
