"""Row of a file, and the limits on the size of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from jury_adapters.core.errors import InputError

LONGEST_ROW = 1 << 25
"""Maximum number of bytes of a JSON row, and of characters of a table row."""
MOST_EMPTY = 1 << 20  # maximum number of consecutive empty rows: the number of rows of a spreadsheet
TOO_MANY_EMPTY = f"more than {MOST_EMPTY:,} empty rows, one after the other"
AS_CSV = 'save it as "CSV UTF-8"'


@dataclass(frozen=True, slots=True)
class Row:
    """Row of a file.

    Attributes:
        line: the line on which it begins, from 1; in a JSON list, its position.
        values: the columns, or None if the row cannot be read.
        error: the reason why it cannot be read; empty otherwise.
        unit: the unit of ``line``: a line, or an item of a JSON list.
        empty: the columns of a table with empty cells in this row; ``values`` does not have them.
    """

    line: int
    values: Mapping[str, Any] | None
    error: str = ""
    unit: Literal["line", "item"] = "line"
    empty: tuple[str, ...] = ()


def too_long(place: str) -> InputError:
    """Return the error for a row that is too long."""
    return InputError(f"{place}: the row is longer than {LONGEST_ROW >> 20} MiB, the most that one row may have")
