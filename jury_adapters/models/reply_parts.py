"""Parts of vendors' answers that form a reply: its text, a refusal, and the reason for its end."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from jury_adapters.models.base import Finish


def text_in_answer(answer: object) -> str | None:
    """Return the text of a completion or message, or the arguments of a tool call; None if there is no reply."""
    if not isinstance(answer, Mapping):
        return None
    blocks, choice = answer.get("content"), _first(answer.get("choices"))
    if isinstance(blocks, list):
        used = next((block for block in blocks if _field(block, "type") == "tool_use"), None)
        return text_of(blocks) if used is None else json.dumps(_field(used, "input"))
    message = _field(choice, "message")
    if not isinstance(message, Mapping):
        return None
    call = _field(_first(message.get("tool_calls")), "function") or message.get("function_call")
    arguments = _field(call, "arguments")
    return arguments if isinstance(arguments, str) else text_of(message.get("content"))


def text_of(content: object) -> str:
    """Return the text of a message: a string, or the text parts of a list, without parts of thinking."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, Mapping) and part.get("type", "text") in _TEXTS]
    return "".join(text for text in texts if isinstance(text, str))


def refusal_in(message: Mapping[str, Any]) -> object:
    """Return the refusal of a message, which is a separate field or a part of the content."""
    parts = message.get("content")
    inside = parts if isinstance(parts, list) else ()
    return message.get("refusal") or next((found for part in inside if (found := _field(part, "refusal"))), None)


def finish_of(reason: object) -> Finish:
    """Return the reason for the end of a reply, from any vendor's name for it.

    An unknown reason is ``"other"``: such a reply may be cut off.
    """
    name = reason.lower() if isinstance(reason, str) else ""
    if name in _COMPLETE:
        return "stop"
    if name in _CUT_OFF:
        return "length"
    if name in _FILTERED:
        return "filter"
    return "refusal" if name == "refusal" else "other"


def _first(items: object) -> object:
    return items[0] if isinstance(items, list) and items else None


def _field(value: object, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else None


_TEXTS = ("text", "output_text")
_COMPLETE = frozenset({
    "", "stop", "end_turn", "stop_sequence", "stop_token", "tool_calls", "function_call", "tool_use", "eos",
    "eos_token", "end_of_sequence", "complete", "completed", "done", "finished", "success", "finish_reason_unspecified",
})  # fmt: skip
_CUT_OFF = frozenset({
    "length", "max_tokens", "max_output_tokens", "max_length", "model_length", "model_context_window_exceeded",
    "pause_turn", "incomplete",
})  # fmt: skip
_FILTERED = frozenset({
    "content_filter", "content_filtered", "safety", "prohibited_content", "blocklist", "recitation", "spii",
    "guardrail_intervened",
})  # fmt: skip
