"""Files of rows: lines of JSON, JSON and CSV, packed by gzip or not. Texts stay as they are written."""

import csv
import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path
from typing import Any

from jury_adapters.core.files import LONGEST_LINE, check_regular, lines_of
from jury_adapters.core.text import unique, visible
from jury_adapters.core.values import InputError


@dataclass(frozen=True, slots=True)
class Row:
    """Row of a file.

    Attributes:
        line: the line at which it begins; of a ``.json`` file, its number in the array.
        values: the values by column.
        error: why it cannot be read; None if it can.
    """

    line: int
    values: dict[str, Any] = field(default_factory=dict)
    error: InputError | None = None


def read_rows(path: str | Path) -> Iterator[Row]:
    """Yield the rows of a file one by one; only a ``.json`` file is held in memory.

    ``.jsonl`` and ``.ndjson`` hold an object per line, ``.json`` an array of objects or an object with one array,
    ``.csv`` and ``.tsv`` columns with names, separated by commas, semicolons or tabs. Each may be packed as ``.gz``.
    Cells of CSV are texts. ``NaN`` in JSON is null.

    Args:
        path: the file, in UTF-8.

    Raises:
        InputError: there is no such file, a line is longer than 268 MB, or it cannot be read as a whole; a line that
            cannot be read is a row with an error.

    Example::

        for row in read_rows("answers.jsonl"):
            print(row.line, row.error or row.values)
    """
    reader = _READERS.get(Path(str(path).lower().removesuffix(".gz")).suffix)
    try:
        if reader is None:
            raise InputError(f"its name must end in {', '.join(_READERS)}, or in one of these with .gz")
        check_regular(path)
        opened: Any = gzip.open if str(path).lower().endswith(".gz") else open
        with opened(path, "rt", encoding="utf-8-sig", newline="\n") as file:
            yield from reader(lines_of(file))
    except UnicodeDecodeError as error:
        raise InputError(
            f"{visible(str(path))}: the byte 0x{error.object[error.start]:02x} is not UTF-8; save the file as UTF-8"
        ) from None
    except (OSError, EOFError, MemoryError, zlib.error, csv.Error, InputError) as error:
        raise InputError(
            f"{visible(str(path))}: {getattr(error, 'strerror', None) or str(error) or 'the memory is too small'}"
        ) from None


def _json_lines(lines: Iterator[str]) -> Iterator[Row]:
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                yield _row(number, _parsed(line.strip()))
            except InputError as error:
                yield Row(number, error=error)


def _json_array(lines: Iterator[str]) -> Iterator[Row]:
    content = _parsed("".join(lines))
    arrays = [one for one in (content.values() if isinstance(content, dict) else [content]) if isinstance(one, list)]
    if len(arrays) != 1:
        raise InputError("expected an array of objects, or an object with one array")
    yield from map(_row, count(1), arrays[0])


def _row(number: int, value: Any) -> Row:
    return (
        Row(number, value)
        if isinstance(value, dict)
        else Row(number, error=InputError(f"expected an object with columns, not {type(value).__name__}"))
    )


def _parsed(text: str) -> Any:
    try:
        return json.loads(
            text, object_pairs_hook=unique, parse_constant=lambda name: None if name == "NaN" else float(name)
        )
    except (ValueError, RecursionError) as error:
        raise InputError(f"not JSON: {str(error).replace('line 1 column', 'column')}") from None


def _csv(lines: Iterator[str]) -> Iterator[Row]:
    csv.field_size_limit(LONGEST_LINE)  # by default it is 128 kB
    first = next(lines, "")
    marked = first.lower().startswith("sep=")  # how spreadsheets name the separator
    delimiter = (
        first[4:5].strip("\r\n") or ","
        if marked
        else max(",;\t", key=lambda one: len(next(csv.reader([first], delimiter=one), [])))
    )
    reader = csv.reader(lines if marked else chain([first], lines), delimiter=delimiter, strict=True)
    line = 1 + marked
    try:
        names = [name.strip() for name in next(reader, [])]
        line = reader.line_num + 1 + marked
        twice = [name for name in names if name and names.count(name) > 1]
        if twice:
            raise InputError(f"the column '{visible(twice[0], 40)}' occurs twice")
        for cells in reader:
            if any(cells[len(names) :]) or (len(cells) < len(names) and any(cells)):
                yield Row(line, error=InputError(f"{len(cells)} values for {len(names)} columns"))
            elif any(cells):
                yield Row(line, {name: cell for name, cell in zip(names, cells, strict=False) if name})
            line = reader.line_num + 1 + marked
    except csv.Error as error:  # it is not known where the row ends
        raise InputError(f"line {line}: not CSV: {error}") from None


_READERS = {".jsonl": _json_lines, ".ndjson": _json_lines, ".json": _json_array, ".csv": _csv, ".tsv": _csv}
