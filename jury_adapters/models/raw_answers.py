"""Answers as vendors' APIs return them: bodies of completions and messages, and the SDKs' objects for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jury_adapters.core.usage import Usage
from jury_adapters.models.base import Reply, Token
from jury_adapters.models.reply_parts import finish_of
from jury_adapters.models.token_counts import token_count


def read_answer(raw: object, text: str, extra: Mapping[str, Any], model: str, usage: Callable[[Any], Usage]) -> Reply:
    """Read an answer of any vendor.

    Args:
        raw: the answer; a mapping or an object.
        text: the text of the reply in it.
        extra: a framework's additional data, used if the answer itself lacks a part.
        model: the model's name, if the answer does not name it.
        usage: converts the vendor's counts to a usage.
    """
    choice = _first(_field(raw, "choices"))
    refusal = _field(_field(choice, "message"), "refusal") or extra.get("refusal")
    reason = "" if raw is None else _reason(raw, choice)
    finish = "refusal" if refusal else finish_of(reason)
    named, request = _field(raw, "model"), _field(raw, "id")
    return Reply(
        text=text,
        usage=usage(_field(raw, "usage") or _field(raw, "usage_metadata") or extra),
        model=named if isinstance(named, str) and named else model,
        finish=finish,
        detail=refusal if isinstance(refusal, str) else "" if finish == "stop" else reason,
        logprobs=_tokens(_field(_field(choice, "logprobs"), "content")),
        request_id=request if isinstance(request, str) else None,
    )


def count_tokens(used: object) -> Usage:
    """Return token counts, under any vendor's names.

    Anthropic and Gemini count separately what OpenAI includes: cached tokens in the input, thoughts in the output.
    """
    inputs = _field(used, "prompt_tokens_details") or _field(used, "input_tokens_details")
    outputs = _field(used, "completion_tokens_details") or _field(used, "output_tokens_details")
    read, written = _count(used, "cache_read_input_tokens"), _count(used, "cache_creation_input_tokens")
    thoughts = _count(used, "thoughts_token_count")
    return Usage(
        input_tokens=_count(used, "prompt_tokens", "input_tokens", "prompt_token_count") + read + written,
        output_tokens=_count(used, "completion_tokens", "output_tokens", "candidates_token_count") + thoughts,
        cached_tokens=read or _count(used, "cached_content_token_count") or _count(inputs, "cached_tokens"),
        reasoning_tokens=thoughts or _count(outputs, "reasoning_tokens", "thinking_tokens"),
        calls=1,
    )


def _reason(raw: object, choice: object) -> str:
    """Return the finish reason, under any vendor's name."""
    found = (
        _field(choice, "finish_reason")
        or _field(raw, "stop_reason")
        or _field(_field(raw, "incomplete_details"), "reason")
        or _field(raw, "done_reason")
        or _field(_first(_field(raw, "candidates")), "finish_reason")
    )
    named = getattr(found, "name", found)  # Gemini's is an enumeration
    return named if isinstance(named, str) else ""


def _count(used: object, *names: str) -> int:
    for name in names:
        found = token_count(_field(used, name))
        if found:
            return found
    return 0


def _tokens(content: object) -> tuple[Token, ...] | None:
    if not isinstance(content, list) or not content:
        return None
    return tuple(Token(*found, _alternatives(token)) for token in content if (found := _likely(token)))


def _alternatives(token: object) -> tuple[tuple[str, float], ...]:
    others = _field(token, "top_logprobs")
    return tuple(found for other in (others if isinstance(others, list) else []) if (found := _likely(other)))


def _likely(token: object) -> tuple[str, float] | None:
    """Return a token's text and log probability, or None if it lacks one of them."""
    text, logprob = _field(token, "token"), _field(token, "logprob")
    return (text, float(logprob)) if isinstance(text, str) and isinstance(logprob, float | int) else None


def _field(value: object, name: str) -> Any:
    if value is None:
        return None
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def _first(values: object) -> object:
    return values[0] if isinstance(values, list | tuple) and values else None
