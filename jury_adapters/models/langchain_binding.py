"""A LangChain model made ready to be a critic's: settings, structured output, retries, caches, callbacks.

The user's own object is never changed. Where something must be different, a copy is made, once per event loop: the
packages of OpenAI and Anthropic keep one pool of connections for all loops, and a connection of one loop fails in
another. So a copy gets the pool of its loop.
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

from jury_adapters.core.values import JsonValue
from jury_adapters.models.base import Prompt, Schema
from jury_adapters.models.clients import shared_client
from jury_adapters.models.credentials import note_request
from jury_adapters.models.object_identity import ObjectIdentity, identity_of_object, plain_setting
from jury_adapters.models.plain_clients import is_made_by_package
from jury_adapters.models.sdk_clients import own_http_client

Model: TypeAlias = Runnable[Any, Any]
Ask: TypeAlias = Callable[[list[BaseMessage]], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Binding:
    """How a model shall be asked.

    Attributes:
        temperature: for models that have such a setting and whose own is left open.
        max_tokens: likewise.
        logprobs: whether to return the probabilities of tokens, where the model has such a setting.
        schema: the JSON schema of the answer, for models that can be held to one.
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
        """The model, made ready; also inside ``with_retry``, ``with_fallbacks``, ``bind`` and configurable fields."""
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
            if value is not None and name in fields and getattr(model, name) is None  # the user's own setting stands
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
        """The model held to the schema; the model itself when it cannot be."""
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
            except Exception:  # whatever a package raises for what its model cannot do
                continue
        return model

    def _quieted(self, model: RunnableBindingBase[Any, Any]) -> dict[str, Any]:
        if self.heard or not isinstance(model, RunnableBinding):
            return {}
        return {"config": {k: v for k, v in model.config.items() if k != "callbacks"}, "config_factories": []}


def asker(model: Model, *, heard: bool) -> Ask:
    """How to ask a model: as a run of the application when it is ``heard``, else with as little around it as can be.

    ``ainvoke`` first makes ready whatever may listen to the run, and that takes four times as long as what follows.
    Nobody listens to a critic. So a plain model, with bound arguments or without, is asked at the place where LangChain
    asks it in the end; caches, rate limiter, streaming and the message's metadata are all behind it. A model that has a
    way of its own is invoked, and so are all where LangChain has no such place any more.
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
    """Call of a chat model, at the place where LangChain calls it in the end.

    Attributes:
        model: the chat model.
        arguments: the arguments bound to it.
    """

    model: BaseChatModel
    arguments: Mapping[str, Any]

    async def made(self, messages: list[BaseMessage]) -> ChatResult:
        """Make the call."""
        # Models may take it for granted that there is one.
        no_callbacks = AsyncCallbackManagerForLLMRun.get_noop_manager()
        return await self.model._agenerate_with_cache(messages, run_manager=no_callbacks, **self.arguments)


def plain_call(model: Model) -> PlainCall | None:
    """Return the call of a chat model with nothing around it but bound arguments; None for any other model."""
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
    """Whether a cache for all models is set."""
    return get_llm_cache() is not None


def messages_of(prompt: Prompt) -> list[BaseMessage]:
    """The prompt as LangChain messages."""
    messages: list[BaseMessage] = [SystemMessage(prompt.system)] if prompt.system else []
    messages += [HumanMessage(turn.text) if turn.role == "user" else AIMessage(turn.text) for turn in prompt.turns]
    return messages


@contextmanager
def untraced() -> Iterator[None]:
    """Inside this block LangSmith traces nothing, also where an experiment or the environment says it shall."""
    if tracing_v2_callback_var.get() is None and not tracing_is_enabled():
        yield  # the usual case, and a tenth of the time
        return
    token = tracing_v2_callback_var.set(None)
    try:
        with tracing_context(enabled=False):
            yield
    finally:
        tracing_v2_callback_var.reset(token)


@contextmanager
def unheard() -> Iterator[None]:
    """Inside this block models called without a config of their own are no runs of the application around it.

    Their tokens are in nobody's stream, and its callbacks do not hear of them. (An empty list of callbacks in a call's
    own config is not enough: a binding takes it for none, and the model inside inherits those around it.)
    """
    token = var_child_runnable_config.set({"callbacks": [], "tags": ["nostream"], "metadata": {}})
    try:
        with untraced():
            yield
    finally:
        var_child_runnable_config.reset(token)


def chat_models_in(model: object) -> Sequence[BaseChatModel]:
    """The chat models inside a runnable, the first to be asked first."""
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
    """Return the identity of a runnable: of all chat models inside, with what is bound to them.

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
    """Whether the class leaves alone what lies between ``ainvoke`` and the model itself, and this LangChain has it."""
    return all(
        getattr(kind, name, None) is getattr(BaseChatModel, name, _MISSING)
        for name in ("ainvoke", "agenerate_prompt", "agenerate", "_agenerate_with_cache")
    )


def _made_by_init_chat_model(model: object) -> Model | None:
    """What ``init_chat_model`` with configurable fields makes anew, client and all, for every call."""
    make = getattr(type(model), "_model", None)
    if not callable(make) or not isinstance(getattr_static(model, "_default_config", None), dict):
        return None
    try:
        made = make(model, {"configurable": {}})
    except Exception:  # no default model: it says so when it is asked
        return None
    return made if isinstance(made, Runnable) else None


def async_client_in(model: BaseChatModel) -> Any:
    """The SDK's client inside, unless it sends through a transport of the user's own."""
    if getattr(model, "http_async_client", None) is not None:
        return None
    found = getattr(model, "root_async_client", None)  # langchain-openai
    if found is None and isinstance(getattr_static(type(model), "_async_client", None), cached_property):
        found = model._async_client  # type: ignore[attr-defined]  # langchain-anthropic
    return found if found is not None and _sdk_of(found) is not None else None


def _forget_what_was_made(model: BaseChatModel) -> None:
    """Clients are made of ``max_retries``, and the copy would take over those of its original."""
    for name in tuple(model.__dict__):
        if isinstance(getattr_static(type(model), name, None), cached_property):
            del model.__dict__[name]


async def _give_client(model: BaseChatModel, client: Any) -> None:
    """Give the copy a client that tries once, with the key and the settings of the other and the pool of this loop."""
    sdk = _sdk_of(client)
    if not is_made_by_package(client._client):  # it may hold proxies and certificates
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
    """Pool of connections of one event loop. It has no key, and reports those that are sent through it."""

    def __init__(self, sdk: str | None, timeout: Any) -> None:
        self.http = own_http_client(str(sdk), timeout)
        self.http.event_hooks = {"request": [note_request]}

    async def close(self) -> None:
        await self.http.aclose()


CRITIC_TAGS = ("jury_adapters:critic", "nostream")  # the second is LangGraph's: no tokens of this call in a stream
_ONLY_FOR_TRACES = ("ls_structured_output_format", "structured_output_format")
_MISSING = object()
