"""Chat models of Anthropic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jury_adapters.core.images import Image
from jury_adapters.core.usage import Usage
from jury_adapters.core.values import JsonValue
from jury_adapters.models.base import Options, Prompt, Reply, Schema, Turn
from jury_adapters.models.prices import cost_of
from jury_adapters.models.reply_parts import finish_of, text_in_answer
from jury_adapters.models.token_counts import UNKNOWN_USAGE, counted, token_count
from jury_adapters.models.unsupported_parameters import Body
from jury_adapters.models.vendor_model import VendorModel

_DEFAULT_MAX_TOKENS = 2000  # the API requires a number


class AnthropicModel(VendorModel):
    """Claude model; :class:`VendorModel` describes the arguments.

    Current models refuse a temperature and have no logprobs. The first refusal is remembered, and logprobs are not
    requested.
    """

    sdk = "anthropic"
    client_class = "AsyncAnthropic"
    path = "/v1/messages"

    def _body(self, prompt: Prompt, schema: Schema | None, options: Options) -> Body:
        body: Body = {
            "model": self.model,
            "max_tokens": options.max_tokens or _DEFAULT_MAX_TOKENS,
            "messages": [{"role": turn.role, "content": _content(turn)} for turn in prompt.turns],
        }
        if prompt.system:
            body["system"] = prompt.system
        if schema is not None and self._capabilities.format == "json_schema":
            body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
        if options.temperature is not None:
            body["temperature"] = options.temperature
        return body

    def _read(self, answer: Mapping[str, Any]) -> Reply | None:
        content = answer.get("content")
        if not isinstance(content, list):
            return None
        reason = str(answer.get("stop_reason"))
        finish = finish_of(answer.get("stop_reason"))
        model, request = answer.get("model"), answer.get("id")
        return Reply(
            text=text_in_answer(answer) or "",
            usage=self._usage(answer.get("usage")),
            model=model if isinstance(model, str) else self.model,
            finish=finish,
            detail="" if finish == "stop" else reason,
            request_id=request if isinstance(request, str) else None,
        )

    def _usage(self, usage: Any) -> Usage:
        used = counted(lambda: _counts(usage)) if isinstance(usage, Mapping) else UNKNOWN_USAGE
        return used if used is UNKNOWN_USAGE else cost_of(used, self.vendor, self.model)


def _content(turn: Turn) -> JsonValue:
    """Return the content of a message: its text, or blocks if it has images."""
    return [_block(part) for part in turn.parts()] if turn.images else turn.text


def _block(part: str | Image) -> JsonValue:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if part.base64 is None:
        return {"type": "image", "source": {"type": "url", "url": part.url}}
    return {"type": "image", "source": {"type": "base64", "media_type": part.mime_type, "data": part.base64}}


def _counts(usage: Mapping[str, Any]) -> Usage:
    """Return the usage as OpenAI counts it: with cached input included, which Anthropic counts separately."""
    cached = token_count(usage.get("cache_read_input_tokens"))
    written = token_count(usage.get("cache_creation_input_tokens"))
    details = usage.get("output_tokens_details")
    return Usage(
        input_tokens=token_count(usage.get("input_tokens")) + cached + written,
        output_tokens=token_count(usage.get("output_tokens")),
        cached_tokens=cached,
        reasoning_tokens=token_count(details.get("thinking_tokens")) if isinstance(details, Mapping) else 0,
        calls=1,
    )
