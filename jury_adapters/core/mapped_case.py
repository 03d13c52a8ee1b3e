"""Cases of objects that an adapter reads itself, with fields replaced by those of a field map."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jury_adapters.core.case import Case
from jury_adapters.core.errors import InputError
from jury_adapters.core.evidence import Evidence
from jury_adapters.core.field_map import CheckedFieldMap, FieldMap
from jury_adapters.core.field_names import FIELD_NAMES


def mapped_case(
    field_map: CheckedFieldMap,
    row: Mapping[str, Any],
    read: Callable[[], Case],
    evidence: Evidence,
) -> Case:
    """Return the case of an object, with the fields that a field map names.

    Args:
        field_map: the checked field map; see :func:`jury_adapters.core.field_map.field_map_of`. A function returns the
            whole case.
        row: the row that the paths and the function read.
        read: returns the case without a field map, from which all other fields are taken. If it raises InputError and
            the map names an answer, the other fields stay empty.
        evidence: the rule that decides which steps of a mapped conversation are contexts.

    Raises:
        InputError: a path does not exist in the row, or its value is invalid for the field.
        Exception: any exception of the user's function or of ``read``.
    """
    if field_map is None:
        return read()
    if not isinstance(field_map, FieldMap):
        return Case.from_row(row, field_map)
    values = field_map.values(row)
    given = {field: value for field, value in values.items() if value is not None}
    named = Case.from_row(given, evidence_tools=evidence)
    found = {field: value for field, value in named if value}  # mapped messages have a question and steps, too
    update: dict[str, Any] = {**{field: getattr(named, field) for field in values if field in FIELD_NAMES}, **found}
    try:
        case = read()
    except InputError:
        if values.get("answer") is None:
            raise
        case = Case()
    return case.model_copy(update={**update, "metadata": {**case.metadata, **named.metadata}})
