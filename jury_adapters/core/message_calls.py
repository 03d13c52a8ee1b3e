"""Tool calls in the messages of any framework."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from jury_adapters.core.message_texts import field_of
from jury_adapters.core.values import freeze_mapping, shown

ARGUMENTS: Final = ("args", "arguments", "tool_kwargs", "input", "input_parameters", "inputParameters")
"""Names of the arguments in the tool calls of all frameworks."""


@dataclass(frozen=True, slots=True)
class MessageCall:
    """Call of a tool in a message of the assistant."""

    id: str | None
    tool: str
    arguments: Mapping[str, object]

    def written(self, call_id: str) -> dict[str, object]:
        """Return the call in OpenAI's format, with another id."""
        arguments = json.dumps(kept_arguments(self.arguments))
        return {"id": call_id, "type": "function", "function": {"name": self.tool, "arguments": arguments}}


def calls_of(message: object, extra: object) -> tuple[MessageCall, ...]:
    """Return the tool calls of a message, from the first of the places in which frameworks store them."""
    blocks = field_of(message, "blocks") or field_of(message, "content")
    in_blocks = [
        block
        for block in (blocks if isinstance(blocks, Sequence) and not isinstance(blocks, str) else ())
        if field_of(block, "type") == "tool_use" or field_of(block, "block_type") == "tool_call"
    ]
    old = [field_of(place, "function_call") for place in (message, extra)]
    for place in (field_of(message, "tool_calls"), field_of(extra, "tool_calls"), in_blocks, old):
        found = [call for item in (place if isinstance(place, Sequence) else ()) if (call := _call(item)) is not None]
        if found:
            return tuple(found)
    return ()


def _call(item: object) -> MessageCall | None:
    inner = field_of(item, "function")
    source = item if inner is None else inner
    name = field_of(source, "name") or field_of(source, "tool_name")
    if not isinstance(name, str):
        return None
    call_id = field_of(item, "id") or field_of(item, "tool_call_id") or field_of(item, "tool_id")
    return MessageCall(call_id if isinstance(call_id, str) else None, name, arguments_of(source))


def arguments_of(call: object) -> Mapping[str, object]:
    """Return the arguments of a tool call.

    A value that is neither a mapping nor the JSON of one is returned under the name ``arguments``.
    """
    given = next((found for name in ARGUMENTS if (found := field_of(call, name)) is not None), None)
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            return {"arguments": given}
    if isinstance(given, Mapping):
        return {str(key): value for key, value in given.items()}
    return {} if given is None else {"arguments": given}


def kept_arguments(arguments: Mapping[str, object]) -> Mapping[str, object]:
    """Return the arguments frozen, or each as text if they are nested too deeply."""
    try:
        return freeze_mapping(arguments)
    except ValueError:
        return {name: shown(value) for name, value in arguments.items()}
