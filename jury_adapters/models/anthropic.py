"""Claude, behind the Anthropic SDK."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jury_adapters.core.errors import ModelError
from jury_adapters.core.judgment import Usage
from jury_adapters.models.base import Finish, Options, Prompt, Reply, Schema
from jury_adapters.models.prices import cost_of
from jury_adapters.models.sdk import SDKModel
from jury_adapters.models.token_counts import plain_int
from jury_adapters.models.unsupported_parameters import Body

_FINISH: dict[str, Finish] = {
    "end_turn": "stop", "stop_sequence": "stop", "refusal": "refusal",
    "max_tokens": "length", "model_context_window_exceeded": "length",
}  # fmt: skip
_DEFAULT_MAX_TOKENS = 2000  # the API insists on a number


class AnthropicModel(SDKModel):
    """A Claude model; see :class:`SDKModel` for the arguments.

    Current models refuse a temperature and have no logprobs: the first is learned once, the second left out.
    """

    sdk = "anthropic"
    client_class = "AsyncAnthropic"
    path = "/v1/messages"

    def _body(self, prompt: Prompt, schema: Schema | None, options: Options) -> Body:
        body: Body = {
            "model": self.model,
            "max_tokens": options.max_tokens or _DEFAULT_MAX_TOKENS,
            "messages": [{"role": turn.role, "content": turn.text} for turn in prompt.turns],
        }
        if prompt.system:
            body["system"] = prompt.system
        if schema is not None and self._capabilities.format == "json_schema":
            body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
        if options.temperature is not None:
            body["temperature"] = options.temperature
        return body

    def _read(self, answer: Any) -> Reply:
        content = answer.get("content") if isinstance(answer, Mapping) else None
        if not isinstance(answer, Mapping) or not isinstance(content, list):
            raise ModelError(
                f"{self.name}: no message in the answer: {self._key.hidden_in(str(answer))[:200]}", "malformed"
            )
        texts = [block.get("text") for block in content if isinstance(block, Mapping) and block.get("type") == "text"]
        reason = str(answer.get("stop_reason"))
        finish = _FINISH.get(reason, "other")
        model, request = answer.get("model"), answer.get("id")
        return Reply(
            text="".join(text for text in texts if isinstance(text, str)),
            usage=self._usage(answer.get("usage")),
            model=model if isinstance(model, str) else self.model,
            finish=finish,
            detail="" if finish == "stop" else reason,
            request_id=request if isinstance(request, str) else None,
        )

    def _usage(self, usage: Any) -> Usage:
        """Anthropic counts cached input apart from the rest; ours includes it, as OpenAI's does."""
        if not isinstance(usage, Mapping):
            return Usage(calls=1, cost_complete=False)
        cached = plain_int(usage.get("cache_read_input_tokens"))
        written = plain_int(usage.get("cache_creation_input_tokens"))
        details = usage.get("output_tokens_details")
        counted = Usage(
            input_tokens=plain_int(usage.get("input_tokens")) + cached + written,
            output_tokens=plain_int(usage.get("output_tokens")),
            cached_tokens=cached,
            reasoning_tokens=plain_int(details.get("thinking_tokens")) if isinstance(details, Mapping) else 0,
            calls=1,
        )
        return cost_of(counted, self.vendor, self.model)
