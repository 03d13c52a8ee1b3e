"""Claude, behind the Anthropic SDK."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from jury_adapters.core.errors import ConfigurationError, ModelError
from jury_adapters.core.judgment import Usage
from jury_adapters.models.base import Finish, Options, Prompt, Reply, Schema
from jury_adapters.models.capabilities import Body, Capabilities, adapting, capabilities_of
from jury_adapters.models.clients import Key, address_of, aiohttp_client, as_model_error, plain_int, shared_client
from jury_adapters.models.prices import cost_of

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

_FINISH: dict[str, Finish] = {
    "end_turn": "stop", "stop_sequence": "stop", "refusal": "refusal",
    "max_tokens": "length", "model_context_window_exceeded": "length",
}  # fmt: skip
_DEFAULT_MAX_TOKENS = 2000  # the API insists on a number


class AnthropicModel:
    """A Claude model. Requests go through the SDK's aiohttp transport and ``client.post``; see :class:`OpenAIModel`.

    Current models refuse a temperature and have no logprobs: the first is learned once, the second left out.

    Args:
        model: the model's name.
        key: the API key.
        base_url: the server; None for Anthropic.
        timeout: seconds one request may take.
        http_client: an HTTP client for the SDK, taken as it is.
        client: a ready ``AsyncAnthropic``, taken as it is.
    """

    vendor = "anthropic"

    def __init__(
        self,
        model: str,
        *,
        key: Key,
        base_url: str | None = None,
        timeout: float = 60.0,
        http_client: Any = None,
        client: AsyncAnthropic | None = None,
    ) -> None:
        self.model = model
        self.base_url = base_url
        self._key = key
        self._timeout = timeout
        self._http_client = http_client
        self._client = client

    @property
    def name(self) -> str:
        return f"{self.vendor}:{self.model}"

    @property
    def identity(self) -> tuple[object, ...]:
        """Server, key and settings: models with the same identity share a client."""
        return ("anthropic", self.base_url, self._key.identity, self._timeout, id(self._http_client), id(self._client))

    @property
    def _capabilities(self) -> Capabilities:
        return capabilities_of(address_of(self._client, self.base_url) or self.vendor, self.model)

    async def complete(self, prompt: Prompt, schema: Schema | None = None, options: Options = Options()) -> Reply:
        return self._read(await adapting(self._capabilities, lambda: self._body(prompt, schema, options), self._post))

    async def _post(self, body: Body) -> Any:
        try:
            client = self._client or await shared_client(self.identity, self._make_client)
            return await client.post("/v1/messages", body=body, cast_to=object)
        except (ConfigurationError, asyncio.CancelledError):
            raise
        except Exception as error:
            failure = as_model_error(error, self._key, self.name)
        raise failure

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

    def _make_client(self) -> AsyncAnthropic:
        try:
            from anthropic import AsyncAnthropic, DefaultAioHttpClient
        except ImportError as error:
            raise ConfigurationError(
                "this model needs the Anthropic SDK: pip install 'jury-adapters[anthropic]'"
            ) from error
        return AsyncAnthropic(
            api_key=self._key.reveal(),
            base_url=self.base_url,
            max_retries=0,
            timeout=self._timeout,
            http_client=self._http_client or aiohttp_client(DefaultAioHttpClient, self._timeout),
        )

    def __repr__(self) -> str:
        return f"AnthropicModel({self.name!r})"
