"""Conversion of vendor messages to messages with role, content and tool calls.

Messages of Anthropic have results of tools among the blocks of the user's content. Messages of Gemini have ``parts``.
OpenAI's Responses API has items such as ``function_call``. Every other message is returned unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from jury_adapters.core.message_texts import field_of, text_in

Plain: TypeAlias = dict[str, Any]

_NAMED_CALLS = ("function_call", "custom_tool_call", "mcp_call")
_BUILT_IN_CALLS = (
    "web_search_call", "file_search_call", "code_interpreter_call", "computer_call", "image_generation_call",
    "local_shell_call", "shell_call", "apply_patch_call",
)  # fmt: skip
ITEM_ROLES: Final[Mapping[str, str]] = {
    **dict.fromkeys((*_NAMED_CALLS, *_BUILT_IN_CALLS, "reasoning"), "assistant"),
    **{f"{call}_output": "tool" for call in (*_NAMED_CALLS, *_BUILT_IN_CALLS)},
}
"""Roles of the items of OpenAI's Responses API that are not messages, by type."""

_CODE_EXECUTION = "code_execution"
"""Name of the tool of Gemini that runs code."""

ASIDE: Final = "beside_results"
"""Key that marks a text of the user in a message with results of tools. Such a text does not begin a turn."""


def plain_messages(messages: Iterable[object]) -> list[object]:
    """Return messages with content and tool calls; each result of a tool becomes a separate message.

    Source: https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use,
    https://ai.google.dev/api/caching#Content, https://platform.openai.com/docs/api-reference/responses/object

    Calls of tools that OpenAI runs itself, such as ``web_search_call``, become tool calls too.

    >>> plain_messages([{"role": "model", "parts": [{"text": "4"}]}])
    [{'role': 'model', 'content': [{'text': '4'}], 'tool_calls': []}]
    """
    found: list[object] = []
    reply: Plain | None = None  # the message of the Responses API to which further calls belong
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
        if result is not None or _item_type(message) in _BUILT_IN_CALLS:
            reply = None
    return found


def holds_results(message: object) -> bool:
    """Whether a message contains results of tools, with or without a text."""
    return any(_result(block) is not None for block in _blocks(message))


def is_other_item(value: object) -> bool:
    """Whether a value may be an item of the Responses API other than a message or a call, such as ``item_reference``.

    Such an item has a type that is a text, or only an id. Values with a text of their own are blocks or documents.
    """
    if not isinstance(value, Mapping) or value.keys() & {"role", "text", "page_content"}:
        return False
    return isinstance(value.get("type"), str) or value.keys() == {"id"}


def reply_in(value: object) -> object:
    """Return the message in a response of OpenAI's Chat Completions, Gemini or Ollama; None for any other value.

    If there are several choices, it is the first. A ``message`` in a value with ``messages`` is not a reply.

    Source: https://platform.openai.com/docs/api-reference/chat/object, https://ai.google.dev/api/generate-content,
    https://docs.ollama.com/api/chat

    >>> reply_in({"choices": [{"index": 0, "message": {"role": "assistant", "content": "4"}}]})
    {'role': 'assistant', 'content': '4'}
    >>> reply_in({"candidates": [{"content": {"parts": [{"text": "4"}]}}]})
    {'parts': [{'text': '4'}], 'role': 'model'}
    """
    for replies, name in (("choices", "message"), ("candidates", "content")):
        items = field_of(value, replies)
        first = items[0] if isinstance(items, list | tuple) and items else None
        message = field_of(first, name)
        if name == "message" and field_of(message, "role") == "assistant":
            return message
        parts = field_of(message, "parts") if name == "content" else None
        if isinstance(parts, list | tuple):
            return {"parts": parts, "role": "model"}
    message = field_of(value, "message") if field_of(value, "messages") is None else None
    return message if field_of(message, "role") == "assistant" else None


def _item_type(message: object) -> str:
    """Return the type of an item of the Responses API that is not a message; empty for a message."""
    kind = _kind(message)
    return kind if kind in ITEM_ROLES and field_of(message, "role") is None else ""


def _reply(found: list[object]) -> Plain | None:
    """Return the last message if it is an assistant message of the Responses API, with a list for its calls."""
    last = found[-1] if found else None
    if _kind(last) != "message" or field_of(last, "role") != "assistant":
        return None
    reply = found[-1] = {"role": "assistant", "content": field_of(last, "content"), "tool_calls": []}
    return reply


def _item(item: object) -> tuple[Plain | None, Plain | None]:
    """Return the call and the result in an item of the Responses API."""
    kind = _kind(item)
    call_id = field_of(item, "call_id") or field_of(item, "id")
    output, error = _output(item), field_of(item, "error")
    result: Plain | None = {"role": "tool", "tool_call_id": call_id, "content": output}
    if ITEM_ROLES[kind] == "tool":
        return None, result
    call = {"id": call_id, "name": field_of(item, "name"), "args": _first(item, ("arguments", "input"))}
    if kind in _BUILT_IN_CALLS:
        call.update(name=kind.removesuffix("_call"), args=_built_in_arguments(item))
    if error is not None:
        result = {"role": "tool", "tool_call_id": call_id, "content": _text(error), "status": "error"}
    return call, None if output is None and error is None else result


def _built_in_arguments(item: object) -> object:
    action = _first(item, ("action", "operation"))
    if action is not None:
        return action
    given = {name: field_of(item, name) for name in ("queries", "code")}
    return {name: value for name, value in given.items() if value is not None}


def _output(item: object) -> object:
    """Return the output of a tool, or the texts in the results that OpenAI recorded; None without output."""
    output = _first(item, ("output", "outputs", "results"))
    if not isinstance(output, Sequence) or isinstance(output, str):
        return output
    found = [field_of(part, name) for part in output for name in ("logs", "stdout", "stderr")]
    texts = [text for text in found if isinstance(text, str) and text]
    return texts or text_in(output, "tool")


def _first(value: object, names: Iterable[str]) -> object:
    """Return the first field that has a value."""
    return next((found for name in names if (found := field_of(value, name)) is not None), None)


def _pieces(message: object) -> list[object]:
    """Return a message in pieces: texts with calls, and the results of tools between them."""
    blocks = _blocks(message)
    results = holds_results(message)
    if not blocks or (field_of(message, "parts") is None and not results and not any(map(_is_built_in, blocks))):
        return [message]
    role = field_of(message, "role") or field_of(message, "type")
    role = getattr(role, "value", role)
    aside = {ASIDE: True} if results else {}
    pieces: list[object] = []
    said: Plain | None = None
    for block in blocks:
        call, result = _call_and_result(block)
        if said is None and (call is not None or result is None):
            said = {"role": role, "content": [], "tool_calls": [], **aside}
            pieces.append(said)
        if said is not None and call is not None:
            said["tool_calls"].append(call)
        elif said is not None and result is None and not field_of(block, "thought"):
            said["content"].append(block)
        if result is not None:
            pieces.append(result)
            said = None
    return pieces


def _is_built_in(block: object) -> bool:
    """Whether a LangChain block is the call of a tool that OpenAI runs."""
    return _kind(block) in _BUILT_IN_CALLS


def _call_and_result(block: object) -> tuple[Plain | None, Plain | None]:
    """Return the call and the result in a block; for a tool that OpenAI runs, one block has both."""
    is_item = _kind(block) in ITEM_ROLES and _kind(block) != "reasoning"
    return _item(block) if is_item else (_call(block), _result(block))


def _blocks(message: object) -> Sequence[object]:
    """Return the parts of a Gemini message, or the blocks of the content of another message."""
    for name in ("parts", "content"):
        found = field_of(message, name)
        if isinstance(found, Sequence) and not isinstance(found, str | bytes):
            return found
    return ()


def _call(block: object) -> Plain | None:
    if _kind(block).endswith("tool_use"):
        return {"id": field_of(block, "id"), "name": field_of(block, "name"), "args": field_of(block, "input")}
    code = _first(block, ("executableCode", "executable_code"))
    if code is not None and not isinstance(code, str):
        return {"id": None, "name": _CODE_EXECUTION, "args": {"code": field_of(code, "code")}}
    inner = field_of(block, "functionCall") or field_of(block, "function_call")
    if inner is None or isinstance(inner, str):
        return None
    return {"id": field_of(inner, "id"), "name": field_of(inner, "name"), "args": field_of(inner, "args")}


def _result(block: object) -> Plain | None:
    if _kind(block).endswith("tool_result"):
        status = "error" if field_of(block, "is_error") is True else None
        content = field_of(block, "content")
        return {"role": "tool", "tool_call_id": field_of(block, "tool_use_id"), "content": content, "status": status}
    ran = _first(block, ("codeExecutionResult", "code_execution_result"))
    if ran is not None and not isinstance(ran, str):
        status = None if field_of(ran, "outcome") in ("OUTCOME_OK", None) else "error"
        output = field_of(ran, "output")
        return {"role": "tool", "name": _CODE_EXECUTION, "content": output or "", "status": status}
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
    """Return the text of a result: its only value if that is a text, else JSON."""
    if isinstance(value, Mapping) and len(value) == 1:
        (only,) = value.values()
        if isinstance(only, str):
            return only
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
