"""Rows from files: JSON lines, JSON, CSV with commas, semicolons or tabs; each also gzipped.

Files are not trusted, and a few megabytes of gzip can hold gigabytes. So one row, and a JSON file as a whole, may have
a certain size at most; rows are read one by one.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import itertools
import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Literal, cast

from jury_adapters.core.encodings import as_utf_8, buffered
from jury_adapters.core.errors import InputError
from jury_adapters.core.field_names import ALIASES, FIELD_NAMES, PARTS
from jury_adapters.core.input_files import no_such_file, refuse_pipe
from jury_adapters.core.strict_json import DuplicateKey, unique_keys

LONGEST_ROW = 1 << 25
"""Bytes of a row of JSON, and characters of a row of a table, at most."""
LONGEST_JSON = 1 << 27
"""Bytes of a ``.json`` file, which is parsed as a whole, at most."""

_MOST_EMPTY = 1 << 20  # rows without a value, one after the other; as many as a spreadsheet has
_TOO_MANY_EMPTY = f"more than {_MOST_EMPTY:,} empty rows, one after the other"
_SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".ods", ".numbers")
_AS_CSV = 'save it as "CSV UTF-8"'


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a file.

    Attributes:
        line: the line it begins on, from 1; of a JSON list, its position.
        values: the columns, or None when the row cannot be read.
        error: why it cannot be read; empty otherwise.
        unit: what ``line`` counts: lines, or items of a JSON list.
        empty: the columns of a table whose cells are empty in this row; ``values`` does not have them.
    """

    line: int
    values: Mapping[str, Any] | None
    error: str = ""
    unit: Literal["line", "item"] = "line"
    empty: tuple[str, ...] = ()


def read_rows(path: str | Path) -> Iterator[Row]:
    """Read a ``.jsonl``, ``.json``, ``.csv`` or ``.tsv`` file, gzipped or not, row by row.

    The columns of a ``.csv`` file stand between commas; where its first line has none, between semicolons or tabs. Text
    is UTF-8, or UTF-16 with its byte order mark. A row that cannot be read, or that names a key twice, is returned with
    its line number and the reason, and the others follow; empty rows at the end of a table are no rows.

    Raises:
        InputError: the file is missing, of another kind, no file of rows but a pipe or a device, or unreadable; a row
            is longer than :data:`LONGEST_ROW`, a JSON file than :data:`LONGEST_JSON`; a table names a column twice.
    """
    file = Path(path)
    suffixes = [suffix.lower() for suffix in file.suffixes]
    packed = suffixes[-1:] == [".gz"]
    kind = suffixes[-2] if packed and len(suffixes) > 1 else (suffixes or [""])[-1]
    reader = _READERS.get(kind)
    if reader is None:
        raise InputError(f"{file}: {_of_no_kind(file, kind)}")
    refuse_pipe(file)
    try:
        with file.open("rb") as stored:
            yield from reader(as_utf_8(buffered(cast(BinaryIO, gzip.GzipFile(fileobj=stored))) if packed else stored))
    except FileNotFoundError:
        raise InputError(no_such_file(file)) from None
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{file}: {getattr(error, 'strerror', None) or error}") from error
    except InputError as error:
        raise InputError(f"{file}: {error}") from error


def read_stream(raw: BinaryIO) -> Iterator[Row]:
    """Read rows that arrive on a stream, such as standard input: JSON lines, a JSON list, or CSV, as it begins.

    Raises:
        InputError: it is unreadable as a whole, or too long; see :func:`read_rows`.
    """
    stream = as_utf_8(raw if isinstance(raw, io.BufferedReader) else buffered(raw))
    begun = stream.peek(1).removeprefix(codecs.BOM_UTF8).lstrip()[:1]
    yield from {b"{": _json_lines, b"[": _json_list}.get(begun, _csv)(stream)


def read_whole_rows(path: str | Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the line and the columns of each row of a file in which every row must be readable.

    Raises:
        InputError: a row cannot be read, with its line; or see :func:`read_rows`.
    """
    for row in read_rows(path):
        if row.values is None:
            raise InputError(f"{path}, {row.unit} {row.line}: {row.error}")
        yield row.line, row.values


def first_row(path: str | Path) -> Row | None:
    """Return the first row of a file, or None when it has no row.

    Raises:
        InputError: see :func:`read_rows`.
    """
    return next(iter(read_rows(path)), None)


def _of_no_kind(file: Path, kind: str) -> str:
    if kind in _SPREADSHEETS:
        return f"a spreadsheet is not read; {_AS_CSV}"
    if not file.exists():
        return no_such_file(file).removeprefix(f"{file}: ")
    return f"expected .jsonl, .json, .csv or .tsv (or one of these with .gz), not {file.name!r}"


def _too_long(place: str) -> InputError:
    return InputError(f"{place}: the row is longer than {LONGEST_ROW >> 20} MiB, the most that one row may have")


def _json_lines(raw: BinaryIO) -> Iterator[Row]:
    empty = 0
    for line, content in enumerate(iter(partial(raw.readline, LONGEST_ROW + 1), b""), start=1):
        if len(content) > LONGEST_ROW:
            raise _too_long(f"line {line}")
        empty = 0 if content.strip() else empty + 1
        if empty > _MOST_EMPTY:
            raise InputError(f"line {line}: {_TOO_MANY_EMPTY}")
        if not empty:
            yield _parsed(line, content)


def _parsed(line: int, content: bytes) -> Row:
    begins_list = line == 1 and content.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"[")
    hint = "; a file that is one JSON list has a name that ends in .json" if begins_list else ""
    try:
        values = json.loads(content.decode("utf-8-sig"), object_pairs_hook=unique_keys)
    except DuplicateKey as error:
        return Row(line, None, str(error))
    except (ValueError, RecursionError) as error:
        return Row(line, None, f"not JSON: {error}{hint}")
    return Row(line, values) if isinstance(values, dict) else Row(line, None, _no_object(values) + hint)


def _no_object(value: object) -> str:
    return f"expected an object with columns, not {type(value).__name__}"


def _json_list(raw: BinaryIO) -> Iterator[Row]:
    content = raw.read(LONGEST_JSON + 1)
    if len(content) > LONGEST_JSON:
        raise InputError(
            f"longer than {LONGEST_JSON >> 20} MiB, the most that a JSON file may have, as it is read whole; write its "
            "rows as JSON lines (.jsonl)"
        )
    try:
        text = content.decode("utf-8-sig")
        begin = _after_space(text, 0)
        yield from _items(text, begin) if text.startswith("[", begin) else _in_one_object(text)
    except DuplicateKey as error:
        raise InputError(str(error)) from error
    except (ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"not JSON: {error}{_hint_of_lines(error)}") from error


def _hint_of_lines(error: Exception) -> str:
    """Return the hint for a file of one object per line."""
    several = isinstance(error, json.JSONDecodeError) and error.msg == "Extra data" and error.doc[error.pos] == "{"
    return "; a file with one JSON object per line has a name that ends in .jsonl" if several else ""


def _items(text: str, begin: int) -> list[Row]:
    """The items of a JSON list that begins there; all of them, so that a broken list has no rows."""
    rows: list[Row] = []
    at = _after_space(text, begin + 1)
    closed = text.startswith("]", at)
    while not closed:
        row, end = _item(text, at, len(rows) + 1)
        rows.append(row)
        sign = _after_space(text, end)
        closed = text.startswith("]", sign)
        if not closed and not text.startswith(",", sign):
            raise json.JSONDecodeError("Expecting ',' delimiter", text, sign)
        at = sign if closed else _after_space(text, sign + 1)
    rest = _after_space(text, at + 1)
    if rest < len(text):
        raise json.JSONDecodeError("Extra data", text, rest)
    return rows


def _item(text: str, at: int, position: int) -> tuple[Row, int]:
    """The item of a list that begins there, and where it ends."""
    try:
        values, end = _STRICT.raw_decode(text, at)
        problem = "" if isinstance(values, dict) else _no_object(values)
    except DuplicateKey as error:
        end, problem = _LENIENT.raw_decode(text, at)[1], str(error)
    if end - at > LONGEST_ROW:
        raise _too_long(f"item {position}")
    return Row(position, None if problem else values, problem, unit="item"), end


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def _in_one_object(text: str) -> Iterator[Row]:
    content = json.loads(text, object_pairs_hook=unique_keys)
    if not isinstance(content, dict):
        raise InputError(f"expected a list of objects, not {type(content).__name__}")
    for position, values in enumerate(_unwrapped(content), start=1):
        if isinstance(values, dict):
            yield Row(position, values, unit="item")
        else:
            yield Row(position, None, _no_object(values), unit="item")


def _unwrapped(content: dict[str, Any]) -> list[Any]:
    """One case; or the rows in a wrapper such as ``{"version": 1, "data": [...]}``.

    Of several lists the one of the rows has a known name: ``results`` of promptfoo, ``testCases`` of DeepEval.
    """
    if any(name in FIELD_NAMES or name in ALIASES or name in PARTS for name in content):
        return [content]
    inner = next((content[name] for name in _WRAPPERS if isinstance(content.get(name), list | dict)), None)
    if isinstance(inner, dict):
        return _unwrapped(inner)
    if isinstance(inner, list) and inner:
        return inner
    lists = [value for value in content.values() if isinstance(value, list) and isinstance((value or [{}])[0], dict)]
    return [content] if len(lists) != 1 else lists[0]


def _csv(raw: BinaryIO) -> Iterator[Row]:
    return _table(raw, "")


def _tsv(raw: BinaryIO) -> Iterator[Row]:
    return _table(raw, "\t")


def _table(raw: BinaryIO, delimiter: str) -> Iterator[Row]:
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_ROW))  # of the process; 128 KiB holds no context
    with io.TextIOWrapper(raw, encoding="utf-8-sig", newline="", errors="surrogateescape") as text:
        lines = _Lines(text)
        header = next((line for line in lines if line.strip()), "")
        said = _SAYS_DELIMITER.fullmatch(header.strip("\r\n"))  # Excel's first line
        if said is not None:
            delimiter, header = said[1], next((line for line in lines if line.strip()), "")
        first = lines.number
        delimiter = delimiter or _delimiter(header, lines.peek())
        reader = csv.reader(itertools.chain([header], lines), delimiter=delimiter, strict=True)
        names = _names(reader, first, lines)
        empty: list[int] = []  # rows without any value: reported only where others follow
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
            if not any(cells):
                empty += [line] if cells else []
                if len(empty) > _MOST_EMPTY:
                    raise InputError(f"line {line}: {_TOO_MANY_EMPTY}")
                continue
            yield from (Row(gap, None, "an empty row") for gap in empty)
            empty.clear()
            yield _of_cells(line, names, cells)


class _Lines(Iterator[str]):
    """Lines of a table; a row of too many characters ends the reading, on one line or on several.

    Attributes:
        number: how many lines were read.
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
        """Count the characters from here on as those of a new row."""
        self._first = self.number + 1
        self._taken = 0

    def __next__(self) -> str:
        line, self._next = self.peek(), None
        if not line:
            raise StopIteration
        self.number += 1
        self._taken += len(line)
        if self._taken > LONGEST_ROW:
            raise _too_long(f"line {self._first}")
        return line


def _names(reader: Iterator[list[str]], first: int, lines: _Lines) -> list[str]:
    """The names of the columns. Those without a name may be several; spreadsheets have them at the right.

    Raises:
        InputError: quotes that are wrong, or a name that stands twice.
    """
    try:
        names = [_legible(name) for name in next(reader, [])]
    except csv.Error as error:
        raise InputError(_broken_quotes(error, first, lines.number)) from error
    twice = next((name for name, times in Counter(names).items() if name and times > 1), None)
    if twice is not None:
        raise InputError(f"line {first}: the column {twice!r} stands twice; give each column a name of its own")
    return names


def _delimiter(header: str, second: str) -> str:
    """Return the sign between the columns of a table: comma, semicolon or tab.

    Spreadsheets write semicolons where the comma is the decimal sign, and tabs where they copy. It is the sign that
    makes as many cells of the second line as of the header, and leaves no quote in a name; else the one that makes most
    of the header.
    """

    def fit(sign: str) -> tuple[bool, bool, int]:
        names, cells = (next(csv.reader([line], delimiter=sign), []) for line in (header, second))
        return len(names) > 1 and len(names) == len(cells), '"' not in "".join(names), len(names)

    return max((",", ";", "\t"), key=fit)


def _of_cells(line: int, names: list[str], cells: list[str]) -> Row:
    if len(cells) > len(names):
        return Row(line, None, f"{len(cells) - len(names)} more values than columns")
    garbled = next((cell for cell in cells if _legible(cell) != cell), None)
    if garbled is not None:  # judged as it is, it would be judged for what nobody has written
        return Row(line, None, f"not UTF-8: {_legible(garbled)[:40]!r}; if a spreadsheet wrote it, {_AS_CSV}")
    values = {name: cell for name, cell in zip(names, cells, strict=False) if cell}
    return Row(line, values, empty=tuple(name for name in names if name and name not in values))


def _legible(text: str) -> str:
    """The text with a replacement character for each byte that is no UTF-8."""
    return text if text.isascii() else text.encode(errors="surrogateescape").decode(errors="replace")


def _broken_quotes(error: csv.Error, first: int, last: int) -> str:
    """What is wrong with the quotes of a row, and which lines went with it."""
    lost = f", so lines {first} to {last} are lost" if last > first else ""
    if "end of data" in str(error):
        return f'not CSV: a quote is opened on line {first} and never closed{lost}; write "" for a quote inside a cell'
    at = f" of line {last}" if last > first else ""
    return f'not CSV: a quote stands in the middle of a quoted cell{at}{lost}; write "" for a quote inside a cell'


_WRAPPERS = ("results", "testCases")
_STRICT = json.JSONDecoder(object_pairs_hook=unique_keys)
_LENIENT = json.JSONDecoder()
_SAYS_DELIMITER = re.compile(r'"?sep=([,;\t|])"?', re.IGNORECASE)
_SPACE = re.compile(r"[ \t\n\r]*")
_READERS: dict[str, Callable[[BinaryIO], Iterator[Row]]] = {
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".json": _json_list,
    ".csv": _csv,
    ".tsv": _tsv,
}
