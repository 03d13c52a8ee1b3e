"""Layouts in which pandas writes a whole data frame as one JSON object, which is not a row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from jury_adapters.core.errors import InputError
from jury_adapters.core.field_names import FIELD_NAMES, PARTS
from jury_adapters.core.formatting import counted

_SPLIT = frozenset({"columns", "index", "data"})
_FIELDS = frozenset(name for field in FIELD_NAMES.values() for name in field.everywhere) - {"metadata"}


def refuse_frame(row: Mapping[str, object]) -> None:
    """Refuse an object that is a whole data frame, as pandas' ``to_json`` writes it without ``orient="records"``.

    Raises:
        InputError: the object has one of the layouts ``columns`` (the default of pandas), ``index`` and ``split``.
    """
    layout, rows = _layout(row)
    if layout:
        raise InputError(
            f"{counted(rows, 'row')} of a data frame in one object (orient={layout!r} of pandas); write a row on each "
            'line: df.to_json("cases.jsonl", orient="records", lines=True)'
        )


def _layout(row: Mapping[str, object]) -> tuple[str, int]:
    """Return the name of the layout and the number of rows; an empty name for an object that is not a data frame."""
    if row.keys() >= _SPLIT and all(isinstance(row[name], list) for name in _SPLIT):
        index = row["index"]
        return "split", len(index) if isinstance(index, list) else 0
    inner = [value for value in row.values() if isinstance(value, Mapping)]
    if not inner or len(inner) < len(row) or any(value.keys() != inner[0].keys() for value in inner):
        return "", 0
    if _are_positions(inner[0]) and "votes" not in row:  # recorded jurors may be named 0, 1, ...
        return "columns", len(inner[0])
    several_cases = len(row) > 1 and _has_field(inner[0]) and not _has_field(row) and not row.keys() & {*PARTS}
    return ("index", len(row)) if several_cases else ("", 0)


def _are_positions(names: Iterable[object]) -> bool:
    listed = list(names)
    return bool(listed) and all(str(name).isdecimal() for name in listed)


def _has_field(names: Iterable[object]) -> bool:
    """Whether one of the names is that of a field of a case."""
    return any(str(name).strip().casefold() in _FIELDS for name in names)
