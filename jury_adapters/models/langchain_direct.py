"""LangChain chat models whose requests this package sends itself: unchanged ``ChatOpenAI`` and ``ChatAnthropic``."""

from __future__ import annotations

import sys
from collections.abc import Awaitable
from typing import Any

from langchain_core.language_models import BaseChatModel

from jury_adapters.models.base import Prompt
from jury_adapters.models.langchain_binding import (
    Model,
    async_client_in,
    chat_models_in,
    messages_of,
    plain_call,
    set_client,
    unheard,
)
from jury_adapters.models.plain_clients import is_original, is_plain, is_sdk_original, is_unpatched
from jury_adapters.models.request_templates import RequestTemplate, record_template


async def record_langchain(model: Model, bound: Model, prompt: Prompt) -> RequestTemplate | None:
    """Record the request of a chat model; None if the model has to be called.

    Args:
        model: the user's object.
        bound: the copy of it that would be asked.
        prompt: a prompt of the shape to record.
    """
    inside, call = chat_models_in(model), plain_call(bound)
    if len(inside) != 1 or call is None:  # with_fallbacks, with_retry and others
        return None
    sdk = sdk_of_unchanged(inside[0])
    if sdk is None:
        return None
    client = async_client_in(call.model)

    def ask(http_client: Any, sample: Prompt) -> Awaitable[object]:
        copied = call.model.model_copy()
        set_client(copied, client.with_options(max_retries=0, http_client=http_client))
        return type(call)(copied, call.arguments).made(messages_of(sample))

    with unheard():
        return await record_template(sdk, ask, prompt)


def sdk_of_unchanged(model: BaseChatModel) -> str | None:
    """Return the SDK of a chat model that only turns its settings into a request; None if it may do more."""
    kind = type(model)
    sdk = next(
        (sdk for sdk, place in _CLASSES.items() if kind is getattr(sys.modules.get(place[0]), place[1], None)), None
    )
    client = None if sdk is None else async_client_in(model)
    if sdk is None or client is None:  # another class, a class derived from it, or an HTTP client of the user
        return None
    unchanged = (
        is_original(kind, *_METHODS)
        and is_sdk_original(sdk)
        and all(_is_shown(model, name) for name in kind.model_fields)
        and is_plain(client, sdk)
        and (sdk != "openai" or _asks_through(model, client))
    )
    return sdk if unchanged else None


def _is_shown(model: BaseChatModel, name: str) -> bool:
    """Return whether a recorded request shows the value of a field, or the field is not set."""
    value = getattr(model, name)
    return name in _SHOWN or not value or value == type(model).model_fields[name].default


def _asks_through(model: Any, client: Any) -> bool:
    """Return whether a ``ChatOpenAI`` asks through the chat completions of its client."""
    completions = model.async_client
    return (
        type(completions).__name__ == "AsyncCompletions" and completions._client is client and is_unpatched(completions)
    )


_CLASSES = {"openai": ("langchain_openai", "ChatOpenAI"), "anthropic": ("langchain_anthropic", "ChatAnthropic")}
_METHODS = (
    "_agenerate_with_cache", "_agenerate", "_get_request_payload", "_default_params", "_client_params", "_acreate",
    "_create_chat_result", "_format_output", "_convert_input",
)  # fmt: skip
# Fields that a recorded request shows or that only streams, synchronous calls or traces use; also caches, which are off
_SHOWN = frozenset({
    "name", "cache", "verbose", "callbacks", "tags", "metadata", "custom_get_token_ids", "disable_streaming", "profile",
    "client", "async_client", "root_client", "root_async_client", "stream_usage", "stream_chunk_timeout", "max_retries",
    "tiktoken_model_name", "disabled_params",
    "model", "model_name", "model_kwargs", "temperature", "top_p", "top_k", "max_tokens", "n", "seed", "stop",
    "stop_sequences", "presence_penalty", "frequency_penalty", "logprobs", "top_logprobs", "logit_bias",
    "reasoning_effort", "verbosity", "service_tier", "store", "prompt_cache_options", "extra_body", "thinking",
    "output_config", "inference_geo", "betas", "user_profile_id",
    "openai_api_key", "openai_api_base", "openai_organization", "request_timeout", "default_headers", "default_query",
    "anthropic_api_key", "anthropic_api_url", "default_request_timeout",
})  # fmt: skip
