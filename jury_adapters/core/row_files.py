"""Reader of rows from JSON lines, JSON and CSV files (with commas, semicolons or tabs), gzipped or not.

Files are not trusted, and a few megabytes of gzip can contain gigabytes. So rows are read one by one, and the size of a
row and of a whole JSON file is limited.
"""

from __future__ import annotations

import codecs
import gzip
import io
import json
import re
import zlib
from collections.abc import Callable, Container, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, TypeAlias, TypeVar, cast

from jury_adapters.core.encodings import as_utf_8, buffered, decode
from jury_adapters.core.errors import InputError
from jury_adapters.core.field_names import ALIASES, FIELD_NAMES, PARTS, TRACES
from jury_adapters.core.input_files import no_such_file, refuse_pipe
from jury_adapters.core.row_tables import read_csv, read_tsv
from jury_adapters.core.rows import AS_CSV, LONGEST_ROW, MOST_EMPTY, TOO_MANY_EMPTY, Row, too_long
from jury_adapters.core.strict_json import DuplicateKey, unique_keys

T = TypeVar("T")
_Reader: TypeAlias = Callable[[BinaryIO], Iterator[T]]

LONGEST_JSON = 1 << 27
"""Maximum number of bytes of a ``.json`` file, which is parsed as a whole."""

_SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".ods", ".numbers")


def read_rows(path: str | Path, positions: Container[int] | None = None) -> Iterator[Row]:
    """Read a ``.jsonl``, ``.json``, ``.csv`` or ``.tsv`` file, gzipped or not, row by row.

    The columns of a ``.csv`` file are separated by commas, semicolons or tabs. Text is UTF-8, or UTF-16 with a byte
    order mark. A row that cannot be read, or that has a duplicate key, is yielded with its line number and the reason,
    and reading continues. Empty rows at the end of a table are ignored. In a table of one column, a row ``""`` is not
    empty: its cell is.

    Args:
        path: the file.
        positions: the rows to read, by their positions from 0; by default all. Other JSON lines are not parsed, and
            their rows have no columns.

    Raises:
        InputError: the file is missing, unreadable, of an unknown type, or a pipe or device; a row is longer than
            :data:`LONGEST_ROW`, or a JSON file longer than :data:`LONGEST_JSON`; a table has a duplicate column.
    """
    chosen: _Reader[Row] = partial(_json_lines, positions=positions)
    yield from _read(Path(path), {**_READERS, ".jsonl": chosen, ".ndjson": chosen})


def read_lines(path: str | Path) -> Iterator[bytes]:
    """Yield the lines of a ``.jsonl`` file, gzipped or not, as they are; nothing of another kind of file.

    Raises:
        InputError: as in :func:`read_rows`.
    """
    yield from _read(Path(path), {**dict.fromkeys(_READERS, _no_lines), ".jsonl": _lines, ".ndjson": _lines})


def _read(file: Path, readers: Mapping[str, _Reader[T]]) -> Iterator[T]:
    """Read a file with the reader for its kind."""
    kind, packed = _kind_of(file)
    reader = readers.get(kind)
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


def has_readable_name(path: str | Path) -> bool:
    """Whether :func:`read_rows` reads files with such a name."""
    return _kind_of(Path(path))[0] in _READERS


def read_stream(raw: BinaryIO) -> Iterator[Row]:
    """Read rows from a stream, such as standard input.

    The first character decides whether the stream is read as JSON lines, as a JSON list or as CSV.

    Raises:
        InputError: the stream is unreadable as a whole, or too long; see :func:`read_rows`.
    """
    stream = as_utf_8(raw if isinstance(raw, io.BufferedReader) else buffered(raw))
    begun = stream.peek(1).removeprefix(codecs.BOM_UTF8).lstrip()[:1]
    yield from {b"{": _json_lines, b"[": _json_list}.get(begun, read_csv)(stream)


def read_whole_rows(
    path: str | Path, positions: Container[int] | None = None
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the line and the columns of each row of a file in which every row must be readable.

    The arguments are those of :func:`read_rows`.

    Raises:
        InputError: a row cannot be read (the message has its line), or as in :func:`read_rows`.
    """
    for row in read_rows(path, positions):
        if row.values is None:
            raise InputError(f"{path}, {row.unit} {row.line}: {row.error}")
        yield row.line, row.values


def first_row(path: str | Path) -> Row | None:
    """Return the first row of a file, or None if it has no rows.

    Raises:
        InputError: see :func:`read_rows`.
    """
    return next(iter(read_rows(path)), None)


def _kind_of(file: Path) -> tuple[str, bool]:
    """Return the suffix that says how a file is read, in lower case, and whether it is gzipped."""
    suffixes = [suffix.lower() for suffix in file.suffixes]
    packed = suffixes[-1:] == [".gz"]
    return suffixes[-2] if packed and len(suffixes) > 1 else (suffixes or [""])[-1], packed


def _of_no_kind(file: Path, kind: str) -> str:
    if kind in _SPREADSHEETS:
        return f"a spreadsheet is not read; {AS_CSV}"
    if not file.exists():
        return no_such_file(file).removeprefix(f"{file}: ")
    return f"expected .jsonl, .json, .csv or .tsv (or one of these with .gz), not {file.name!r}"


def _lines(raw: BinaryIO) -> Iterator[bytes]:
    for line, content in enumerate(iter(partial(raw.readline, LONGEST_ROW + 1), b""), start=1):
        if len(content) > LONGEST_ROW:
            raise too_long(f"line {line}")
        yield content


def _no_lines(raw: BinaryIO) -> Iterator[bytes]:
    return iter(())


def _json_lines(raw: BinaryIO, positions: Container[int] | None = None) -> Iterator[Row]:
    empty, position = 0, -1
    for line, content in enumerate(_lines(raw), start=1):
        empty = 0 if content.strip() else empty + 1
        if empty > MOST_EMPTY:
            raise InputError(f"line {line}: {TOO_MANY_EMPTY}")
        if not empty:
            position += 1
            wanted = positions is None or position in positions
            yield _parsed(line, content) if wanted else Row(line, _NOT_READ)


def _parsed(line: int, content: bytes) -> Row:
    begins_list = line == 1 and content.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"[")
    hint = "; a file that is one JSON list has a name that ends in .json" if begins_list else ""
    try:
        text = decode(content)
        # json.loads makes a decoder for each call; it also refuses a second byte order mark.
        values = _STRICT.decode(text) if text[:1] != _BOM else json.loads(text)
    except (DuplicateKey, InputError) as error:
        return Row(line, None, str(error))
    except json.JSONDecodeError as error:  # its own text counts lines inside this one
        return Row(line, None, f"not JSON: {error.msg} at column {error.colno}{hint}")
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
        text = decode(content)
        begin = _after_space(text, 0)
        yield from _items(text, begin) if text.startswith("[", begin) else _in_one_object(text)
    except DuplicateKey as error:
        raise InputError(str(error)) from error
    except (ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        if _hint_of_lines(error) and _TRACE_LINE.match(content):  # the Collector writes lines, whatever the name
            yield from _json_lines(io.BytesIO(content))
            return
        raise InputError(f"not JSON: {error}{_hint_of_lines(error)}") from error


def _hint_of_lines(error: Exception) -> str:
    """Return a hint if the file has one object per line."""
    several = isinstance(error, json.JSONDecodeError) and error.msg == "Extra data" and error.doc[error.pos] == "{"
    return "; a file with one JSON object per line has a name that ends in .jsonl" if several else ""


def _items(text: str, begin: int) -> list[Row]:
    """Return the items of the JSON list at this position; all at once, so that an invalid list gives no rows."""
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
    """Return the list item at this position, and the position of its end."""
    try:
        values, end = _STRICT.raw_decode(text, at)
        problem = "" if isinstance(values, dict) else _no_object(values)
    except DuplicateKey as error:
        end, problem = _LENIENT.raw_decode(text, at)[1], str(error)
    if end - at > LONGEST_ROW:
        raise too_long(f"item {position}")
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
    """Return the object as one row, or the rows in a wrapper such as ``{"version": 1, "data": [...]}``.

    If there are several lists, the rows must have a known name: ``results`` of promptfoo, ``testCases`` of DeepEval.
    """
    if any(name in FIELD_NAMES or name in ALIASES or name in PARTS or name == TRACES for name in content):
        return [content]
    inner = next((content[name] for name in _WRAPPERS if isinstance(content.get(name), list | dict)), None)
    if isinstance(inner, dict):
        return _unwrapped(inner)
    if isinstance(inner, list) and inner:
        return inner
    lists = [value for value in content.values() if isinstance(value, list) and isinstance((value or [{}])[0], dict)]
    return [content] if len(lists) != 1 else lists[0]


_NOT_READ: Mapping[str, Any] = MappingProxyType({})
_WRAPPERS = ("results", "testCases")
_TRACE_LINE = re.compile(rb'\s*\{\s*"' + TRACES.encode() + rb'"')
_BOM = codecs.BOM_UTF8.decode()
_STRICT = json.JSONDecoder(object_pairs_hook=unique_keys)
_LENIENT = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\n\r]*")
_READERS: dict[str, _Reader[Row]] = {
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".json": _json_list,
    ".csv": read_csv,
    ".tsv": read_tsv,
}
