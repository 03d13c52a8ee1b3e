"""Models behind the OpenAI SDK: OpenAI itself, and every server that speaks its chat completions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from jury_adapters.core.errors import ModelError
from jury_adapters.core.judgment import Usage
from jury_adapters.core.values import JsonValue
from jury_adapters.models.base import Finish, Options, Prompt, Reply, Schema, Token
from jury_adapters.models.error_mapping import kind_of_status
from jury_adapters.models.prices import cost_of
from jury_adapters.models.sdk import SDKModel
from jury_adapters.models.token_counts import plain_int
from jury_adapters.models.unsupported_parameters import Body

_FINISH: dict[str, Finish] = {"stop": "stop", "length": "length", "content_filter": "filter"}
_TOP_LOGPROBS = 20


class OpenAIModel(SDKModel):
    """A chat model behind the OpenAI SDK; see :class:`SDKModel` for what is not said here.

    Args:
        model: the model's name.
        token_parameter: what the server calls the limit on output tokens.
        **settings: as in :class:`SDKModel`.
    """

    sdk = "openai"
    client_class = "AsyncOpenAI"
    path = "/chat/completions"

    def __init__(self, model: str, *, token_parameter: str = "max_tokens", **settings: Any) -> None:
        super().__init__(model, **settings)
        self._token_parameter = token_parameter

    def _body(self, prompt: Prompt, schema: Schema | None, options: Options) -> Body:
        messages: list[JsonValue] = [{"role": "system", "content": prompt.system}] if prompt.system else []
        messages += [{"role": turn.role, "content": turn.text} for turn in prompt.turns]
        body: Body = {"model": self.model, "messages": messages}
        if schema is not None and self._capabilities.format == "json_schema":
            wrapped: JsonValue = {"name": "judgment", "strict": True, "schema": schema}
            body["response_format"] = {"type": "json_schema", "json_schema": wrapped}
        elif schema is not None and self._capabilities.format == "json_object":
            body["response_format"] = {"type": "json_object"}
        if options.temperature is not None:
            body["temperature"] = options.temperature
        if options.max_tokens is not None:
            body[self._token_parameter] = options.max_tokens
        if options.logprobs:
            body["logprobs"] = True
            body["top_logprobs"] = _TOP_LOGPROBS
        return body

    def _read(self, answer: Any) -> Reply:
        """Read a chat completion; whatever is missing or odd in it is never a crash."""
        choices = answer.get("choices") if isinstance(answer, dict) else None
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(choice, dict) or not isinstance(message, dict):
            status = _status_inside(answer)
            raise ModelError(
                f"{self.name}: no chat completion in the answer: {self._key.hidden_in(str(answer))[:200]}",
                kind_of_status(status) if status else "malformed",
                status=status,
            )
        refusal = message.get("refusal")
        finish = "refusal" if refusal else _FINISH.get(str(choice.get("finish_reason")), "other")
        model = answer.get("model")
        return Reply(
            text=_text_of(message.get("content")),
            usage=self._usage(answer.get("usage")),
            model=model if isinstance(model, str) else self.model,
            finish=finish,
            detail=refusal
            if isinstance(refusal, str)
            else ""
            if finish == "stop"
            else str(choice.get("finish_reason")),
            logprobs=tokens_of(choice.get("logprobs")),
            request_id=answer.get("id") if isinstance(answer.get("id"), str) else None,
        )

    def _usage(self, usage: Any) -> Usage:
        if not isinstance(usage, dict):
            return Usage(calls=1, cost_complete=False)
        inputs, outputs = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
        counted = Usage(
            input_tokens=plain_int(usage.get("prompt_tokens")),
            output_tokens=plain_int(usage.get("completion_tokens")),
            cached_tokens=plain_int(inputs.get("cached_tokens")) if isinstance(inputs, dict) else 0,
            reasoning_tokens=plain_int(outputs.get("reasoning_tokens")) if isinstance(outputs, dict) else 0,
            calls=1,
        )
        stated = usage.get("cost")  # OpenRouter says what it charged
        return cost_of(counted, self.vendor, self.model, stated if isinstance(stated, float | int) else None)


def _status_inside(answer: object) -> int | None:
    """The status of an error that came as a 200: gateways such as OpenRouter answer so when the model behind breaks."""
    said = answer.get("error") if isinstance(answer, Mapping) else None
    code = str(said.get("code")) if isinstance(said, Mapping) else ""
    return int(code) if re.fullmatch("[45][0-9][0-9]", code) else None


def _text_of(content: object) -> str:
    """The text of a message: a string, or the text parts of a list."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, Mapping)]
    return "".join(text for text in texts if isinstance(text, str))


def tokens_of(logprobs: object) -> tuple[Token, ...] | None:
    """The tokens of an answer with their probabilities, from the ``logprobs`` of OpenAI's protocol; None without."""
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    if not isinstance(content, list) or not content:
        return None
    return tuple(
        Token(token["token"], token["logprob"], _alternatives(token.get("top_logprobs")))
        for token in content
        if _is_token(token)
    )


def _alternatives(others: object) -> tuple[tuple[str, float], ...]:
    """The alternatives that have a probability; one without is left out, for log 1 = 0 would make it certain."""
    found = others if isinstance(others, list) else []
    return tuple((other["token"], float(other["logprob"])) for other in found if _is_token(other))


def _is_token(token: object) -> bool:
    return (
        isinstance(token, Mapping)
        and isinstance(token.get("token"), str)
        and isinstance(token.get("logprob"), float | int)
    )
