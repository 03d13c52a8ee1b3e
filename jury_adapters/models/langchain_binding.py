"""Preparation of a LangChain model for a critic: settings, structured output, retries, caches, callbacks.

The user's own object is never changed. If something must differ, a copy is made, once per event loop. The packages of
OpenAI and Anthropic keep one pool of connections for all loops, and a connection of one loop fails in another. So a
copy gets the pool of its loop.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from inspect import getattr_static
from typing import Any, TypeAlias

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.globals import get_llm_cache
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.outputs import ChatResult
from langchain_core.runnables import Runnable, RunnableBinding, RunnableSequence, RunnableWithFallbacks
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.runnables.configurable import DynamicRunnable
from langchain_core.tracers.context import tracing_v2_callback_var
from langsmith.run_helpers import tracing_context
from langsmith.utils import tracing_is_enabled

from jury_adapters.core.images import Image
from jury_adapters.core.values import JsonValue
from jury_adapters.models.base import Prompt, Schema, Turn
from jury_adapters.models.clients import shared_client
from jury_adapters.models.credentials import note_request
from jury_adapters.models.object_identity import ObjectIdentity, identity_of_object, plain_setting
from jury_adapters.models.plain_clients import is_made_by_package
from jury_adapters.models.sdk_clients import own_http_client

Model: TypeAlias = Runnable[Any, Any]
Ask: TypeAlias = Callable[[list[BaseMessage]], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Binding:
    """Settings with which a model is asked.

    Attributes:
        temperature: the temperature, for models that have such a setting and leave it unset.
        max_tokens: the limit on output tokens, likewise.
        logprobs: whether to return the probabilities of tokens, if the model has such a setting.
        schema: the JSON schema of the answer, for models that support one.
        cached: whether caches may answer.
        heard: whether callbacks on the model are called.
    """

    temperature: float | None = None
    max_tokens: int | None = None
    logprobs: bool = False
    schema: Schema | None = None
    cached: bool = False
    heard: bool = False

    async def bind(self, model: Model) -> Model:
        """Return the prepared model. Models inside wrappers such as ``with_retry`` and ``bind`` are prepared too."""
        if isinstance(model, BaseChatModel):
            return self._structured(await self._configured(model))
        if isinstance(model, RunnableWithFallbacks):
            fallbacks = [await self.bind(one) for one in model.fallbacks]
            return model.model_copy(update={"runnable": await self.bind(model.runnable), "fallbacks": fallbacks})
        if isinstance(model, DynamicRunnable):
            return await self.bind(model.prepare({})[0])
        if isinstance(model, RunnableBindingBase):
            return model.model_copy(update={"bound": await self.bind(model.bound), **self._quieted(model)})
        made = _made_by_init_chat_model(model)
        return model if made is None else await self.bind(made)

    async def _configured(self, model: BaseChatModel) -> BaseChatModel:
        fields = type(model).model_fields
        wanted = {"temperature": self.temperature, "max_tokens": self.max_tokens}
        if self.logprobs:
            wanted |= {"logprobs": True, "top_logprobs": 20}
        update: dict[str, Any] = {
            name: value
            for name, value in wanted.items()
            if value is not None and name in fields and getattr(model, name) is None  # unset by the user
        }
        if not self.cached and model.cache is not False and (model.cache is not None or get_llm_cache() is not None):
            update["cache"] = False
        if not self.heard and model.callbacks:
            update["callbacks"] = None
        if "max_retries" in fields and getattr(model, "max_retries", 0) != 0:
            update["max_retries"] = 0
        client = async_client_in(model)
        if not update and client is None:
            return model
        copied = model.model_copy(update=update)
        if "max_retries" in update:
            _forget_what_was_made(copied)
        if client is not None:
            await _give_client(copied, client)
        return copied

    def _structured(self, model: BaseChatModel) -> Model:
        """Return the model with the schema, or the model itself if it does not support one."""
        if self.schema is None:
            return model
        schema = {"title": "judgment", "description": "The judgment.", **self.schema}
        options: Mapping[str, Any]
        for options in ({"strict": True}, {}):
            try:
                chain = model.with_structured_output(schema, **options)
                # The step that asks comes before those that parse. We parse ourselves: that keeps usage and text, and
                # is faster.
                if isinstance(chain, RunnableSequence) and (len(chain.steps) == 2 or plain_call(chain.first)):
                    return chain.first
                return model.with_structured_output(schema, include_raw=True, **options)
            except Exception:  # packages raise various exceptions for unsupported features
                continue
        return model

    def _quieted(self, model: RunnableBindingBase[Any, Any]) -> dict[str, Any]:
        if self.heard or not isinstance(model, RunnableBinding):
            return {}
        return {"config": {k: v for k, v in model.config.items() if k != "callbacks"}, "config_factories": []}


def asker(model: Model, *, heard: bool) -> Ask:
    """Return a function that asks a model: as a run of the application if ``heard``, else with minimal overhead.

    ``ainvoke`` first prepares everything that may observe the run, which takes four times as long as the rest. No
    application observes a critic. So a plain model, with or without bound arguments, is called at the place where
    LangChain finally calls it; caches, rate limiter, streaming and the message's metadata are all behind that place. A
    model that overrides the way there is invoked, and so are all models if LangChain no longer has such a place.
    """
    if heard:
        return lambda messages: model.ainvoke(messages, {"tags": list(CRITIC_TAGS), "run_name": "jury_adapters critic"})
    call = plain_call(model)
    if call is None:
        return model.ainvoke

    async def ask(messages: list[BaseMessage]) -> BaseMessage:
        return (await call.made(messages)).generations[0].message

    return ask


@dataclass(frozen=True, slots=True)
class PlainCall:
    """Call of a chat model, at the place where LangChain finally calls it.

    Attributes:
        model: the chat model.
        arguments: the arguments bound to it.
    """

    model: BaseChatModel
    arguments: Mapping[str, Any]

    async def made(self, messages: list[BaseMessage]) -> ChatResult:
        """Make the call."""
        # Models may rely on a callback manager.
        no_callbacks = AsyncCallbackManagerForLLMRun.get_noop_manager()
        return await self.model._agenerate_with_cache(messages, run_manager=no_callbacks, **self.arguments)


def plain_call(model: Model) -> PlainCall | None:
    """Return the call of a chat model that has no wrappers except bound arguments; None for any other model."""
    arguments: dict[str, Any] = {}
    while isinstance(model, RunnableBinding) and _binds_only_arguments(model):
        arguments = {**model.kwargs, **arguments}
        model = model.bound
    if not isinstance(model, BaseChatModel) or not _is_asked_as_all_are(type(model)):
        return None
    for name in _ONLY_FOR_TRACES:
        arguments.pop(name, None)
    return PlainCall(model, arguments)


def global_cache() -> bool:
    """Return whether a cache for all models is set."""
    return get_llm_cache() is not None


def messages_of(prompt: Prompt) -> list[BaseMessage]:
    """Return the prompt as LangChain messages."""
    messages: list[BaseMessage] = [SystemMessage(prompt.system)] if prompt.system else []
    messages += [HumanMessage(_content(turn)) if turn.role == "user" else AIMessage(turn.text) for turn in prompt.turns]
    return messages


def _content(turn: Turn) -> str | list[str | dict[str, Any]]:
    """Return the content of a message: its text, or LangChain's standard blocks if it has images."""
    if not turn.images:
        return turn.text
    return [{"type": "text", "text": part} if isinstance(part, str) else _block(part) for part in turn.parts()]


def _block(image: Image) -> dict[str, Any]:
    if image.base64 is None:
        return {"type": "image", "url": image.url}
    return {"type": "image", "base64": image.base64, "mime_type": image.mime_type}


@contextmanager
def untraced() -> Iterator[None]:
    """Switch LangSmith's tracing off in the body, even if an experiment or the environment switches it on."""
    if tracing_v2_callback_var.get() is None and not tracing_is_enabled():
        yield  # the usual case, in a tenth of the time
        return
    token = tracing_v2_callback_var.set(None)
    try:
        with tracing_context(enabled=False):
            yield
    finally:
        tracing_v2_callback_var.reset(token)


@contextmanager
def unheard() -> Iterator[None]:
    """Detach models that are called in the body without a config from the run of the application.

    Their tokens are in no stream, and the application's callbacks do not receive them. (An empty list of callbacks in a
    call's own config is not enough: a binding treats it as absent, and the model inside inherits those of the
    application.)
    """
    token = var_child_runnable_config.set({"callbacks": [], "tags": ["nostream"], "metadata": {}})
    try:
        with untraced():
            yield
    finally:
        var_child_runnable_config.reset(token)


def chat_models_in(model: object) -> Sequence[BaseChatModel]:
    """Return the chat models inside a runnable; the one that is asked first comes first."""
    if isinstance(model, BaseChatModel):
        return (model,)
    if isinstance(model, RunnableWithFallbacks):
        return tuple(found for one in (model.runnable, *model.fallbacks) for found in chat_models_in(one))
    if isinstance(model, DynamicRunnable):
        return chat_models_in(model.prepare({})[0])
    if isinstance(model, RunnableBindingBase):
        return chat_models_in(model.bound)
    made = _made_by_init_chat_model(model)
    return () if made is None else chat_models_in(made)


def identity_in(model: object) -> ObjectIdentity:
    """Return the identity of a runnable. It covers all chat models inside, with the arguments bound to them.

    The address is that of the first chat model. The identity is known if that of every chat model is.
    """
    if isinstance(model, BaseChatModel):
        return identity_of_object(model)
    if isinstance(model, RunnableWithFallbacks):
        first, *rest = (identity_in(one) for one in (model.runnable, *model.fallbacks))
        others: list[JsonValue] = [[other.address, other.settings] for other in rest]
        known = first.known and all(other.known for other in rest)
        return replace(first, settings=[first.settings, "fallbacks", others], known=known)
    if isinstance(model, DynamicRunnable):
        return identity_in(model.prepare({})[0])
    if isinstance(model, RunnableBindingBase):
        inner = identity_in(model.bound)
        bound = plain_setting([model.kwargs, model.config.get("configurable", {})])
        return inner if bound == [{}, {}] else replace(inner, settings=[inner.settings, "bound", bound])
    made = _made_by_init_chat_model(model)
    return ObjectIdentity() if made is None else identity_in(made)


def _binds_only_arguments(model: RunnableBinding[Any, Any]) -> bool:
    return type(model).ainvoke is RunnableBinding.ainvoke and not model.config and not model.config_factories


def _is_asked_as_all_are(kind: type[BaseChatModel]) -> bool:
    """Return whether the class keeps LangChain's methods between ``ainvoke`` and the model, and LangChain has them."""
    return all(
        getattr(kind, name, None) is getattr(BaseChatModel, name, _MISSING)
        for name in ("ainvoke", "agenerate_prompt", "agenerate", "_agenerate_with_cache")
    )


def _made_by_init_chat_model(model: object) -> Model | None:
    """Return the model that ``init_chat_model`` with configurable fields makes for every call, with a new client."""
    make = getattr(type(model), "_model", None)
    if not callable(make) or not isinstance(getattr_static(model, "_default_config", None), dict):
        return None
    try:
        made = make(model, {"configurable": {}})
    except Exception:  # no default model, which is reported when the model is asked
        return None
    return made if isinstance(made, Runnable) else None


def async_client_in(model: BaseChatModel) -> Any:
    """Return the SDK's client inside the model, unless it uses a transport of the user."""
    if getattr(model, "http_async_client", None) is not None:
        return None
    found = getattr(model, "root_async_client", None)  # langchain-openai
    if found is None and isinstance(getattr_static(type(model), "_async_client", None), cached_property):
        found = model._async_client  # type: ignore[attr-defined]  # langchain-anthropic
    return found if found is not None and _sdk_of(found) is not None else None


def _forget_what_was_made(model: BaseChatModel) -> None:
    """Delete the cached clients of a copy. They depend on ``max_retries``, and were made for the original."""
    for name in tuple(model.__dict__):
        if isinstance(getattr_static(type(model), name, None), cached_property):
            del model.__dict__[name]


async def _give_client(model: BaseChatModel, client: Any) -> None:
    """Give the copy a client that tries once, with the original's key and settings and the pool of this loop."""
    sdk = _sdk_of(client)
    if not is_made_by_package(client._client):  # it may have proxies and certificates
        set_client(model, client.with_options(max_retries=0))
        return
    pool = await shared_client((sdk, str(client.base_url), repr(client.timeout)), lambda: _Pool(sdk, client.timeout))
    set_client(model, client.with_options(max_retries=0, http_client=pool.http))


def set_client(model: BaseChatModel, once: Any) -> None:
    """Make a copy of a chat model send through another client of its SDK."""
    if getattr(model, "root_async_client", None) is None:
        model.__dict__["_async_client"] = once
    else:
        model.root_async_client = once  # type: ignore[attr-defined]
        model.async_client = once.chat.completions  # type: ignore[attr-defined]


def _sdk_of(client: object) -> str | None:
    roots = (kind.__module__.partition(".")[0] for kind in type(client).__mro__)
    return next((root for root in roots if root in ("openai", "anthropic")), None)


class _Pool:
    """Connection pool of one event loop. It has no key, and reports the keys that are sent through it."""

    def __init__(self, sdk: str | None, timeout: Any) -> None:
        self.http = own_http_client(str(sdk), timeout)
        self.http.event_hooks = {"request": [note_request]}

    async def close(self) -> None:
        await self.http.aclose()


CRITIC_TAGS = ("jury_adapters:critic", "nostream")  # the second is LangGraph's tag that keeps the tokens out of streams
_ONLY_FOR_TRACES = ("ls_structured_output_format", "structured_output_format")
_MISSING = object()
