"""Chat models of OpenAI, and of all servers with an API like OpenAI's chat completions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jury_adapters.core.bounded_cache import BoundedCache
from jury_adapters.core.usage import Usage
from jury_adapters.core.values import JsonValue
from jury_adapters.models.base import Options, Prompt, Reply, Schema, Token, Turn
from jury_adapters.models.http import EncodedDict, EncodedList
from jury_adapters.models.prices import cost_of
from jury_adapters.models.reply_parts import finish_of, refusal_in, text_in_answer
from jury_adapters.models.token_counts import UNKNOWN_USAGE, counted, token_count
from jury_adapters.models.unsupported_parameters import Body
from jury_adapters.models.vendor_model import VendorModel

_TOP_LOGPROBS = 20
# By the id of the prompt or schema, which is kept too, so that its id is not reused.
_MESSAGES: BoundedCache[int, tuple[Prompt, EncodedList]] = BoundedCache(128)
_FORMATS: BoundedCache[int, tuple[Schema, EncodedDict]] = BoundedCache(64)
_LONGEST_KEPT = 50_000  # characters; this bounds the messages at about 13 MB


class OpenAIModel(VendorModel):
    """Chat model of OpenAI's chat completions; :class:`VendorModel` describes the other arguments.

    Args:
        model: the model's name.
        token_parameter: the server's name for the limit on output tokens.
        **settings: as in :class:`VendorModel`.
    """

    sdk = "openai"
    client_class = "AsyncOpenAI"
    path = "/chat/completions"

    def __init__(self, model: str, *, token_parameter: str = "max_tokens", **settings: Any) -> None:
        super().__init__(model, **settings)
        self._token_parameter = token_parameter

    def _body(self, prompt: Prompt, schema: Schema | None, options: Options) -> Body:
        body: Body = {"model": self.model, "messages": _messages(prompt)}
        if schema is not None:
            json_format = self._capabilities.format
            if json_format == "json_schema":
                body["response_format"] = _response_format(schema)
            elif json_format == "json_object":
                body["response_format"] = {"type": "json_object"}
        if options.temperature is not None:
            body["temperature"] = options.temperature
        if options.max_tokens is not None:
            body[self._token_parameter] = options.max_tokens
        if options.logprobs:
            body["logprobs"] = True
            body["top_logprobs"] = _TOP_LOGPROBS
        return body

    def _read(self, answer: Mapping[str, Any]) -> Reply | None:
        choices = answer.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(choice, dict) or not isinstance(message, dict) or answer.get("error"):
            return None
        refusal, reason = refusal_in(message), choice.get("finish_reason")
        finish = "refusal" if refusal else finish_of(reason)
        model = answer.get("model")
        detail = "" if finish == "stop" else str(reason)
        return Reply(
            text=text_in_answer(answer) or "",
            usage=self._usage(answer.get("usage")),
            model=model if isinstance(model, str) else self.model,
            finish=finish,
            detail=refusal if isinstance(refusal, str) else detail,
            logprobs=tokens_of(choice.get("logprobs")),
            request_id=answer.get("id") if isinstance(answer.get("id"), str) else None,
        )

    def _usage(self, usage: Any) -> Usage:
        used = counted(lambda: _counts(usage)) if isinstance(usage, dict) else UNKNOWN_USAGE
        if used is UNKNOWN_USAGE:
            return used
        stated = usage.get("cost")  # OpenRouter reports the price that it charged
        return cost_of(used, self.vendor, self.model, stated)


def _messages(prompt: Prompt) -> EncodedList:
    """Return the messages of a prompt, which the jurors of a panel share."""
    kept = _MESSAGES.get(id(prompt))
    if kept is not None:
        return kept[1]
    messages: list[JsonValue] = [{"role": "system", "content": prompt.system}] if prompt.system else []
    messages += [{"role": turn.role, "content": _content(turn)} for turn in prompt.turns]
    made = EncodedList.of(messages)
    if len(made.json) <= _LONGEST_KEPT:
        _MESSAGES.put(id(prompt), (prompt, made))
    return made


def _content(turn: Turn) -> JsonValue:
    """Return the content of a message: its text, or blocks if it has images."""
    if not turn.images:
        return turn.text
    return [
        {"type": "text", "text": part} if isinstance(part, str)
        else {"type": "image_url", "image_url": {"url": part.data_url}}
        for part in turn.parts()
    ]  # fmt: skip


def _response_format(schema: Schema) -> EncodedDict:
    """Return the parameter that makes the model follow a schema."""
    kept = _FORMATS.get(id(schema))
    if kept is not None:
        return kept[1]
    wrapped = {"name": "judgment", "strict": True, "schema": schema}
    return _FORMATS.put(id(schema), (schema, EncodedDict.of({"type": "json_schema", "json_schema": wrapped})))[1]


def _counts(usage: Mapping[str, Any]) -> Usage:
    inputs, outputs = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
    return Usage(
        input_tokens=token_count(usage.get("prompt_tokens")),
        output_tokens=token_count(usage.get("completion_tokens")),
        cached_tokens=token_count(inputs.get("cached_tokens")) if isinstance(inputs, dict) else 0,
        reasoning_tokens=token_count(outputs.get("reasoning_tokens")) if isinstance(outputs, dict) else 0,
        calls=1,
    )


def tokens_of(logprobs: object) -> tuple[Token, ...] | None:
    """Return the tokens of an answer with their probabilities, from the ``logprobs`` of OpenAI's protocol, or None."""
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    if not isinstance(content, list) or not content:
        return None
    return tuple(
        Token(token["token"], token["logprob"], _alternatives(token.get("top_logprobs")))
        for token in content
        if _is_token(token)
    )


def _alternatives(others: object) -> tuple[tuple[str, float], ...]:
    """Return the alternatives that have a probability. Without one, an alternative would appear certain (log 1 = 0)."""
    found = others if isinstance(others, list) else []
    return tuple((other["token"], float(other["logprob"])) for other in found if _is_token(other))


def _is_token(token: object) -> bool:
    return (
        isinstance(token, Mapping)
        and isinstance(token.get("token"), str)
        and isinstance(token.get("logprob"), float | int)
    )
