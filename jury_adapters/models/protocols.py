"""Requests and answers of the two protocols: chat completions of OpenAI and compatible servers, and Anthropic's."""

import base64
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jury_adapters.core.case import Image
from jury_adapters.models.base import Options, Prompt, Reply, Schema, Token, Turn
from jury_adapters.models.errors import NOTHING, finish_of
from jury_adapters.models.prices import usage_of

Body = dict[str, Any]
DEFAULT_MAX_TOKENS = 2000
"""Limit on output tokens for Anthropic, whose API requires one."""
_ANTHROPIC_INPUT = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")  # it counts them apart
_TOP_LOGPROBS = 20  # the most that OpenAI gives


@dataclass(frozen=True, slots=True)
class VendorProtocol:
    """How a vendor's requests and answers look.

    Attributes:
        client: the class of the SDK's client.
        path: the path of a request.
        body: makes a request of the model's name, a prompt, a schema, options, and the server's name for the limit on
            output tokens.
        read: returns the reply in an answer to a model of this name, None if there is none. Missing and odd parts of an
            answer do no harm.
        format_of: returns the parameter that makes answers follow a schema.
        max_tokens: the limit on output tokens that a request has if the options have none; None for no limit.
    """

    client: str
    path: str
    body: Callable[[str, Prompt, Schema | None, Options, str], Body]
    read: Callable[[Mapping[str, Any], str], Reply | None]
    format_of: Callable[[Schema], Body]
    max_tokens: int | None = None


def _openai_body(model: str, prompt: Prompt, schema: Schema | None, options: Options, token_limit: str) -> Body:
    body: Body = {
        "model": model,
        "messages": [
            *([{"role": "system", "content": prompt.system}] if prompt.system else []),
            *map(_openai_message, prompt.turns),
        ],
    }
    if schema is not None:
        body["response_format"] = _openai_format(schema)
    if options.temperature is not None:
        body["temperature"] = options.temperature
    if options.max_tokens is not None:
        body[token_limit] = options.max_tokens
    if options.logprobs:
        body |= {"logprobs": True, "top_logprobs": _TOP_LOGPROBS}
    return body


def _openai_reply(answer: Mapping[str, Any], name: str) -> Reply | None:
    choices = answer.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict) or answer.get("error"):
        return None
    refusal, reason, usage = message.get("refusal"), choice.get("finish_reason"), _mapping(answer.get("usage"))
    finish = "refusal" if refusal else finish_of(reason)
    return Reply(
        text_of(message.get("content")),
        usage_of(name, usage.get("prompt_tokens"), usage.get("completion_tokens"), usage.get("cost")),
        str(answer.get("model") or ""),
        finish,
        "" if finish == "stop" else str(refusal or reason),
        tokens_of(choice.get("logprobs")),
    )


def _anthropic_body(model: str, prompt: Prompt, schema: Schema | None, options: Options, token_limit: str) -> Body:
    messages = [*map(_anthropic_message, prompt.turns)]
    body: Body = {"model": model, token_limit: options.max_tokens or DEFAULT_MAX_TOKENS, "messages": messages}
    if prompt.system:
        body["system"] = prompt.system
    if schema is not None:
        body["output_config"] = _anthropic_format(schema)
    if options.temperature is not None:
        body["temperature"] = options.temperature
    return body


def _anthropic_reply(answer: Mapping[str, Any], name: str) -> Reply | None:
    content, reason = answer.get("content"), answer.get("stop_reason")
    if not isinstance(content, list):
        return None
    used, finish = _mapping(answer.get("usage")), finish_of(reason)
    parts = [used.get(one) or 0 for one in _ANTHROPIC_INPUT]
    given = sum(parts) if all(type(one) is int and one >= 0 for one in parts) else None
    return Reply(
        text_of(content),
        usage_of(name, given, used.get("output_tokens")),
        str(answer.get("model") or ""),
        finish,
        "" if finish == "stop" else str(reason),
    )


def _openai_format(schema: Schema) -> Body:
    return {"type": "json_schema", "json_schema": {"name": "judgment", "strict": True, "schema": schema}}


def _anthropic_format(schema: Schema) -> Body:
    return {"format": {"type": "json_schema", "schema": schema}}


OPENAI = VendorProtocol("AsyncOpenAI", "/chat/completions", _openai_body, _openai_reply, _openai_format)
ANTHROPIC = VendorProtocol(
    "AsyncAnthropic", "/v1/messages", _anthropic_body, _anthropic_reply, _anthropic_format, DEFAULT_MAX_TOKENS
)


def encoded(image: Image) -> str:
    """Return the bytes of an image as base64."""
    return base64.b64encode(image.data or b"").decode()


def text_of(content: object) -> str:
    """Return the text of a message: a string, or the text parts of a list, without parts of thinking."""
    if isinstance(content, str):
        return content
    parts = map(_mapping, content) if isinstance(content, list | tuple) else ()
    return "".join(str(one.get("text") or "") for one in parts if one.get("type", "text") in ("text", "output_text"))


def tokens_of(logprobs: object) -> tuple[Token, ...] | None:
    """Return the tokens of an answer from OpenAI's ``logprobs``; None without any."""
    return (
        tuple(
            Token(text, number, tuple((other, its) for other, its, _ in _likely(more)))
            for text, number, more in _likely(_mapping(logprobs).get("content"))
        )
        or None
    )


def _likely(tokens: object) -> Iterator[tuple[str, float, object]]:
    """Yield text, log probability and alternatives of tokens. One without a probability would appear certain."""
    for one in map(_mapping, tokens if isinstance(tokens, list) else ()):
        text, number = one.get("token"), one.get("logprob")
        if isinstance(text, str) and isinstance(number, int | float) and number < 1:  # NaN is not
            yield text, float(number), one.get("top_logprobs")


def _openai_message(turn: Turn) -> Body:
    images = [
        {"type": "image_url", "image_url": {"url": one.url or f"data:{one.media_type};base64,{encoded(one)}"}}
        for one in turn.images
    ]
    return {"role": turn.role, "content": [*images, {"type": "text", "text": turn.text}] if images else turn.text}


def _anthropic_message(turn: Turn) -> Body:
    images = [
        {"type": "url", "url": image.url}
        if image.url
        else {"type": "base64", "media_type": image.media_type, "data": encoded(image)}
        for image in turn.images
    ]
    blocks = [*({"type": "image", "source": source} for source in images), {"type": "text", "text": turn.text}]
    return {"role": turn.role, "content": blocks if images else turn.text}


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else NOTHING
