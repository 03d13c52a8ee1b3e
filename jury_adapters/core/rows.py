"""Reading rows from files: JSON lines, JSON, CSV, each also gzipped."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from jury_adapters.core.errors import InputError

_LONGEST_FIELD = 1 << 28


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a file.

    Attributes:
        line: its line number, from 1 (of a JSON list, its position).
        values: the columns, or None when the row cannot be read.
        error: why it cannot be read; empty otherwise.
    """

    line: int
    values: Mapping[str, Any] | None
    error: str = ""


def read_rows(path: str | Path) -> Iterator[Row]:
    """Read a ``.jsonl``, ``.json`` or ``.csv`` file, gzipped or not, row by row.

    The columns of a ``.csv`` file stand between commas; between semicolons where its first line has some and no comma.
    A row that cannot be read is handed out with its line number and the reason, and the others follow.

    Raises:
        InputError: the file is missing, of another kind, or unreadable as a whole.
    """
    file = Path(path)
    suffixes = [suffix.lower() for suffix in file.suffixes]
    packed = suffixes[-1:] == [".gz"]
    kind = suffixes[-2] if packed and len(suffixes) > 1 else (suffixes or [""])[-1]
    reader = {".jsonl": _json_lines, ".ndjson": _json_lines, ".json": _json_list, ".csv": _csv}.get(kind)
    if reader is None:
        raise InputError(f"{file}: expected .jsonl, .json or .csv (or one of these with .gz), not {file.name!r}")
    try:
        with file.open("rb") as stored:
            yield from reader(cast(BinaryIO, gzip.GzipFile(fileobj=stored)) if packed else stored)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{file}: {getattr(error, 'strerror', None) or error}") from error
    except InputError as error:
        raise InputError(f"{file}: {error}") from error


def _json_lines(raw: BinaryIO) -> Iterator[Row]:
    for line, content in enumerate(raw, start=1):
        if content.strip():
            yield _parsed(line, content)


def _parsed(line: int, content: bytes) -> Row:
    try:
        values = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        return Row(line, None, f"not JSON: {error}")
    return _checked(line, values)


def _checked(line: int, values: object) -> Row:
    if not isinstance(values, dict):
        return Row(line, None, f"expected an object with columns, not {type(values).__name__}")
    return Row(line, values)


def _json_list(raw: BinaryIO) -> Iterator[Row]:
    try:
        content = json.loads(raw.read().decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"not JSON: {error}") from error
    if isinstance(content, dict):  # one case, or a wrapper such as {"data": [...]}
        lists = [value for value in content.values() if isinstance(value, list)]
        content = lists[0] if len(content) == 1 and lists else [content]
    if not isinstance(content, list):
        raise InputError(f"expected a list of objects, not {type(content).__name__}")
    for position, values in enumerate(content, start=1):
        yield _checked(position, values)


def _csv(raw: BinaryIO) -> Iterator[Row]:
    csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_FIELD))  # of the process; 128 KiB holds no context
    with io.TextIOWrapper(raw, encoding="utf-8-sig", newline="", errors="replace") as text:
        header = text.readline()
        # Spreadsheets write semicolons where the comma is the decimal sign.
        delimiter = ";" if ";" in header and "," not in header else ","
        reader = csv.DictReader(itertools.chain([header], text), delimiter=delimiter, strict=True)
        while True:
            try:
                values = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield Row(reader.line_num, None, f"not CSV: {error}")
                continue
            extra = values.pop(None, None)
            if extra is not None:
                yield Row(reader.line_num, None, f"{len(extra)} more values than columns")
            else:
                yield Row(reader.line_num, {name: value for name, value in values.items() if value not in (None, "")})
