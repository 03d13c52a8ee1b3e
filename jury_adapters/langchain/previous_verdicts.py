"""Removal of earlier verdicts from an input, because a judge must not read what a jury said before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jury_adapters.core.case import Case
from jury_adapters.core.field_names import ALIASES
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.loose_values import opened


def without_verdicts(value: Any) -> Any:
    """Return an input without the entries that are verdicts of a jury, as :meth:`Judgment.to_dict` writes them.

    Entries with the name of a field of the case are kept. Anything that is neither a mapping nor an object with the
    fields of a state is returned unchanged.
    """
    if isinstance(value, Case):
        return value
    fields = opened(value)
    if not isinstance(fields, Mapping):
        return value
    verdicts = {name for name, given in fields.items() if name not in _FIELDS and _is_verdict(given)}
    return {name: given for name, given in fields.items() if name not in verdicts} if verdicts else value


def without_key(state: Any, key: str) -> Any:
    """Return a graph's state without one key."""
    fields = opened(state)
    if not isinstance(fields, Mapping) or key not in fields:
        return state
    return {name: given for name, given in fields.items() if name != key}


def _is_verdict(value: object) -> bool:
    if not isinstance(value, Mapping):
        return isinstance(value, Judgment)
    return "status" in value and (value.get("kind") == "verdict" or "critic" in value)


_FIELDS = ALIASES.keys() | Case.model_fields
