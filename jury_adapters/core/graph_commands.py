"""Commands of LangGraph, with which a node or a tool updates the state and names the next node.

A command is recognised by its shape: as an object, or as the mapping that LangSmith makes of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import BaseModel

from jury_adapters.core.conversation import role_of


def state_update(value: object) -> object:
    """Return the update of the state in a command, or in a list with commands; any other value unchanged.

    The updates of several commands are one mapping, with the messages of all. A command without an update is None.
    LangSmith wraps a command: ``{"output": {"update": ..., "goto": ...}}``.
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Mapping) and len(value) == 1 and "output" in value:
        inner = value["output"]
        return state_update(inner) if _has_command(inner) else value
    if not _has_command(value):
        return value
    parts = value if isinstance(value, list | tuple) else [value]
    updates = [_update_of(part) if is_command(part) else part for part in parts]
    return _merged([update for update in updates if update is not None])


def is_command(value: object) -> bool:
    """Whether a value is a command of LangGraph, or the mapping of its fields."""
    if isinstance(value, Mapping):
        if "update" not in value or len(value) < _SEVERAL or not value.keys() <= _FIELDS:
            return False
        return len(value) == len(_FIELDS) or value["update"] is None or isinstance(value["update"], Mapping | list)
    return type(value).__name__ == "Command" and all(hasattr(value, name) for name in _FIELDS)


def fields_of_state(value: object) -> Mapping[str, Any] | None:
    """Return the fields of a state, or of an update: a mapping, pairs, or an object that LangGraph accepts as a state.

    Any other value has none.
    """
    if isinstance(value, Mapping):
        return value
    if isinstance(value, list | tuple) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in value):
        return {str(name): inner for name, inner in value}
    if isinstance(value, BaseModel):
        return {name: getattr(value, name) for name in value.model_fields_set}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return None


def _has_command(value: object) -> bool:
    return any(map(is_command, value)) if isinstance(value, list | tuple) else is_command(value)


def _update_of(command: object) -> object:
    return command["update"] if isinstance(command, Mapping) else getattr(command, "update", None)


def _merged(updates: Sequence[object]) -> object:
    """Return several updates as one; None without any. An update that has no fields is messages."""
    fields = [_fields_of_update(update) for update in updates]
    if len(updates) < _SEVERAL:
        return next((one if given is None else given for one, given in zip(updates, fields, strict=True)), None)
    merged: dict[str, Any] = {}
    for update, given in zip(updates, fields, strict=True):
        for name, inner in ({_MESSAGES: update} if given is None else given).items():
            both = name == _MESSAGES and name in merged
            merged[name] = [*_listed(merged[name]), *_listed(inner)] if both else inner
    return merged


def _fields_of_update(update: object) -> Mapping[str, Any] | None:
    """Return the fields of an update, of which JSON has pairs as lists; None if it is a message or messages."""
    if role_of(update) is not None:
        return None
    if isinstance(update, list) and update and all(isinstance(one, list) and len(one) == _PAIR for one in update):
        return {str(name): inner for name, inner in update}
    return fields_of_state(update)


def _listed(messages: object) -> Sequence[object]:
    return messages if isinstance(messages, list) else [messages]


_FIELDS: Final = frozenset(("graph", "update", "resume", "goto"))
_SEVERAL = _PAIR = 2
_MESSAGES: Final = "messages"
