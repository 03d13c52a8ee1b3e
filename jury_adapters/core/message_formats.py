"""Messages of vendors that are not written as role, content and tool calls, rewritten in that form.

Messages of Anthropic have results of tools among the blocks of the user's content, those of Gemini have ``parts``, and
OpenAI's Responses API has items such as ``function_call``. Every other message is returned as it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

Plain: TypeAlias = dict[str, Any]

ITEM_ROLES: Final[Mapping[str, str]] = {
    "function_call": "assistant", "custom_tool_call": "assistant", "mcp_call": "assistant", "reasoning": "assistant",
    "function_call_output": "tool", "custom_tool_call_output": "tool",
}  # fmt: skip
"""Roles of the items of OpenAI's Responses API that are no messages, by their type."""


def plain_messages(messages: Iterable[object]) -> list[object]:
    """Return messages with a content, tool calls, and each result of a tool as a message of its own.

    Source: https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use,
    https://ai.google.dev/api/caching#Content, https://platform.openai.com/docs/api-reference/responses/object

    >>> plain_messages([{"role": "model", "parts": [{"text": "4"}]}])
    [{'role': 'model', 'content': [{'text': '4'}], 'tool_calls': []}]
    """
    found: list[object] = []
    reply: Plain | None = None  # the message of the Responses API that further calls belong to
    for message in messages:
        if _item_type(message) == "reasoning":
            continue
        if not _item_type(message):
            found += _pieces(message)
            reply = _reply(found)
            continue
        call, result = _item(message)
        if call is not None:
            if reply is None:
                reply = {"role": "assistant", "content": "", "tool_calls": []}
                found.append(reply)
            reply["tool_calls"].append(call)
        if result is not None:
            found.append(result)
            reply = None
    return found


def holds_only_results(message: object) -> bool:
    """Whether a message of the user holds nothing but results of tools."""
    blocks = _blocks(message)
    return bool(blocks) and all(_result(block) is not None for block in blocks)


def field_of(value: object, name: str) -> object:
    """A mapping's value or an object's attribute; None when there is none."""
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _item_type(message: object) -> str:
    """Return the type of an item of the Responses API that is no message; empty for a message."""
    kind = _kind(message)
    return kind if kind in ITEM_ROLES and field_of(message, "role") is None else ""


def _reply(found: list[object]) -> Plain | None:
    """Return the last message where it is the assistant's in the Responses API, ready to take its calls."""
    last = found[-1] if found else None
    if _kind(last) != "message" or field_of(last, "role") != "assistant":
        return None
    reply = found[-1] = {"role": "assistant", "content": field_of(last, "content"), "tool_calls": []}
    return reply


def _item(item: object) -> tuple[Plain | None, Plain | None]:
    """Return the call and the result in an item of the Responses API."""
    call_id = field_of(item, "call_id") or field_of(item, "id")
    output, error = field_of(item, "output"), field_of(item, "error")
    result: Plain | None = {"role": "tool", "tool_call_id": call_id, "content": output}
    if ITEM_ROLES[_kind(item)] == "tool":
        return None, result
    arguments = next((given for name in ("arguments", "input") if (given := field_of(item, name)) is not None), None)
    call = {"id": call_id, "name": field_of(item, "name"), "args": arguments}
    if error is not None:
        result = {"role": "tool", "tool_call_id": call_id, "content": _text(error), "status": "error"}
    return call, None if output is None and error is None else result


def _pieces(message: object) -> list[object]:
    """Return a message in pieces: what was said and called, and the results in between."""
    blocks = _blocks(message)
    if not blocks or (field_of(message, "parts") is None and not any(_result(block) is not None for block in blocks)):
        return [message]
    role = field_of(message, "role") or field_of(message, "type")
    role = getattr(role, "value", role)
    pieces: list[object] = []
    said: Plain | None = None
    for block in blocks:
        result = _result(block)
        if result is not None:
            pieces.append(result)
            said = None
            continue
        if said is None:
            said = {"role": role, "content": [], "tool_calls": []}
            pieces.append(said)
        call = _call(block)
        if call is not None:
            said["tool_calls"].append(call)
        elif not field_of(block, "thought"):
            said["content"].append(block)
    return pieces


def _blocks(message: object) -> Sequence[object]:
    """Return the parts of a message of Gemini, else the blocks of its content."""
    for name in ("parts", "content"):
        found = field_of(message, name)
        if isinstance(found, Sequence) and not isinstance(found, str | bytes):
            return found
    return ()


def _call(block: object) -> Plain | None:
    if _kind(block).endswith("tool_use"):
        return {"id": field_of(block, "id"), "name": field_of(block, "name"), "args": field_of(block, "input")}
    inner = field_of(block, "functionCall") or field_of(block, "function_call")
    if inner is None or isinstance(inner, str):
        return None
    return {"id": field_of(inner, "id"), "name": field_of(inner, "name"), "args": field_of(inner, "args")}


def _result(block: object) -> Plain | None:
    if _kind(block).endswith("tool_result"):
        status = "error" if field_of(block, "is_error") is True else None
        content = field_of(block, "content")
        return {"role": "tool", "tool_call_id": field_of(block, "tool_use_id"), "content": content, "status": status}
    inner = field_of(block, "functionResponse") or field_of(block, "function_response")
    if inner is None or isinstance(inner, str):
        return None
    call_id, name, response = (field_of(inner, key) for key in ("id", "name", "response"))
    failed = isinstance(response, Mapping) and response.keys() == {"error"}
    status = "error" if failed else None
    return {"role": "tool", "tool_call_id": call_id, "name": name, "content": _text(response), "status": status}


def _kind(block: object) -> str:
    kind = field_of(block, "type")
    return kind if isinstance(kind, str) else ""


def _text(value: object) -> str:
    """Return the text of a result: its only value where that is a text, else JSON."""
    if isinstance(value, Mapping) and len(value) == 1:
        (only,) = value.values()
        if isinstance(only, str):
            return only
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
