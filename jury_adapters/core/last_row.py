"""Last row, and number of rows, of a file of JSON lines, which are found without parsing the others."""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from jury_adapters.core.row_files import read_rows
from jury_adapters.core.rows import LONGEST_ROW

_BLOCK = 1 << 16  # bytes


def last_row(path: str | Path) -> Mapping[str, Any] | None:
    """Return the columns of the last row; None if there are no rows, or if the last one cannot be read.

    Only the end of a ``.jsonl`` file is read. Other files, such as gzipped ones, are read whole.

    Raises:
        InputError: see :func:`jury_adapters.core.row_files.read_rows`.
    """
    file = Path(path)
    if file.suffix.lower() == ".jsonl":
        with suppress(OSError, ValueError, RecursionError):
            found = json.loads(_last_line(file))
            if isinstance(found, dict):
                return found
    last = deque(read_rows(path), maxlen=1)
    return last[0].values if last else None


def count_rows(path: str | Path) -> int:
    """Return the number of rows; those of a ``.jsonl`` file are its lines that are not blank.

    Raises:
        InputError: see :func:`jury_adapters.core.row_files.read_rows`.
    """
    file = Path(path)
    if file.suffix.lower() == ".jsonl":
        with suppress(OSError), file.open("rb") as stored:
            return sum(1 for line in stored if not line.isspace())
    return sum(1 for _ in read_rows(path))


def _last_line(file: Path) -> bytes:
    """Return the last line that is not blank, or a part of it if it is longer than any row may be."""
    with file.open("rb") as stored:
        end, size = stored.seek(0, os.SEEK_END), _BLOCK
        while True:
            begin = max(0, end - size)
            stored.seek(begin)
            _, newline, line = stored.read(end - begin).rstrip().rpartition(b"\n")
            if newline or not begin or size > LONGEST_ROW:
                return line
            size *= 2
