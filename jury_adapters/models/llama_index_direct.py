"""LlamaIndex LLMs whose requests this package sends itself: unchanged ``OpenAI``, ``OpenAILike`` and ``Anthropic``."""

from __future__ import annotations

import sys
from collections.abc import Awaitable
from typing import Any

from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]
from llama_index.core.instrumentation.event_handlers import NullEventHandler
from llama_index.core.instrumentation.span_handlers import NullSpanHandler
from llama_index.core.llms import LLM, ChatResponse

from jury_adapters.models.base import Prompt
from jury_adapters.models.llama_index_calls import messages_of
from jury_adapters.models.plain_clients import is_original, is_plain, is_sdk_original
from jury_adapters.models.request_templates import RequestTemplate, record_template


async def record_llama_index(llm: LLM, settings: dict[str, Any], prompt: Prompt) -> RequestTemplate | None:
    """Record the request of an LLM; None if the LLM has to be called.

    Args:
        llm: the LLM; it is not changed.
        settings: keyword arguments of the call, as the LLM's vendor names them.
        prompt: a prompt of the shape to record.
    """
    sdk = sdk_of_unchanged(llm)
    if sdk is None:
        return None

    def ask(http_client: Any, sample: Prompt) -> Awaitable[ChatResponse]:
        copied: Any = llm.model_copy(update={"max_retries": 0})
        if copied._aclient is None:
            copied._async_http_client = http_client
        else:
            copied._aclient = copied._aclient.with_options(max_retries=0, http_client=http_client)
        return copied.achat(messages_of(sample), **settings)  # type: ignore[no-any-return]

    return await record_template(sdk, ask, prompt)


def sdk_of_unchanged(llm: Any) -> str | None:
    """Return the SDK of an LLM that only turns its settings into a request; None if it may do more."""
    kind = type(llm)
    sdk = next((sdk for module, name, sdk in _CLASSES if kind is getattr(sys.modules.get(module), name, None)), None)
    if sdk is None:  # another class, or a class derived from it
        return None
    unchanged = (
        is_original(kind, *_METHODS)
        and is_sdk_original(sdk)
        and all(_is_shown(llm, name) for name in kind.model_fields)
        and "tools" not in llm.additional_kwargs
        and getattr(llm, "_async_http_client", None) is None
        and (llm._aclient is None or is_plain(llm._aclient, sdk))
    )
    return sdk if unchanged else None


class Listeners:
    """Handlers that observe the calls of an LLM: those of its callback manager, and of LlamaIndex's instrumentation.

    Args:
        llm: the LLM.
    """

    def __init__(self, llm: LLM) -> None:
        self._llm = llm
        modules = {_EVENTS, *(kind.__module__ for kind in type(llm).__mro__)}
        chains = [_chain(get_dispatcher(module)) for module in modules if module.startswith("llama_index.")]
        self._dispatchers = tuple({id(one): one for chain in chains for one in chain}.values())

    @property
    def present(self) -> bool:
        """Whether there are such handlers. Those of this package ignore judges' calls and do not count."""
        if getattr(self._llm.callback_manager, "handlers", None):
            return True
        return any(
            type(handler) not in _SILENT and not type(handler).__module__.startswith("jury_adapters.")
            for dispatcher in self._dispatchers
            for handlers in (dispatcher.event_handlers, dispatcher.span_handlers)
            for handler in handlers
        )


def _chain(dispatcher: Any) -> list[Any]:
    """Return a dispatcher and those to which it passes events on."""
    chain = [dispatcher]
    while chain[-1].propagate and chain[-1].parent_name:
        chain.append(chain[-1].parent)
    return chain


def _is_shown(llm: LLM, name: str) -> bool:
    """Return whether a recorded request shows the value of a field, or the field is not set."""
    value = getattr(llm, name)
    return name in _SHOWN or value is None or value == type(llm).model_fields[name].default


_CLASSES = (
    ("llama_index.llms.openai", "OpenAI", "openai"),
    ("llama_index.llms.openai_like", "OpenAILike", "openai"),
    ("llama_index.llms.anthropic", "Anthropic", "anthropic"),
)
_METHODS = (
    "achat", "_achat", "_get_model_kwargs", "_get_all_kwargs", "_model_kwargs", "_get_aclient",
    "_get_credential_kwargs", "_use_chat_completions", "metadata",
)  # fmt: skip
# Fields that a recorded request shows, and those that `achat` of a chat model does not use.
_SHOWN = frozenset({
    "callback_manager", "system_prompt", "messages_to_prompt", "completion_to_prompt", "output_parser",
    "pydantic_program_mode", "query_wrapper_prompt", "max_retries", "strict", "context_window", "is_chat_model",
    "is_function_calling_model", "should_use_structured_outputs", "tokenizer",
    "model", "temperature", "max_tokens", "logprobs", "top_logprobs", "additional_kwargs", "reasoning_effort",
    "timeout", "default_headers", "api_key", "api_base", "base_url", "api_version", "cache_idx", "thinking_dict",
})  # fmt: skip
_SILENT = (NullEventHandler, NullSpanHandler)
_EVENTS = "llama_index.core.llms.callbacks"
