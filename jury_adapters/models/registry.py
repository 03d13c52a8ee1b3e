"""Conversion of a name or an object to a model within its limits."""

from __future__ import annotations

import inspect
import os
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from difflib import get_close_matches
from functools import partial
from math import inf
from typing import Any, TypeAlias

from pydantic import SecretStr

from jury_adapters.core.errors import ConfigurationError, plain_repr, unknown
from jury_adapters.core.evaluator_hints import evaluator_hint
from jury_adapters.core.functions import is_async, takes_a_case
from jury_adapters.core.installation import install_command
from jury_adapters.core.secrets import without_keys
from jury_adapters.models.addresses import address_of, plain_address, refuse_credentials
from jury_adapters.models.anthropic import AnthropicModel
from jury_adapters.models.api_keys import Key
from jury_adapters.models.base import ChatModel, Options, Prompt, Reply, Schema
from jury_adapters.models.calls import Request, made, watched
from jury_adapters.models.function import FunctionModel
from jury_adapters.models.image_tokens import image_tokens
from jury_adapters.models.langchain import LangChainModel
from jury_adapters.models.limits import Limits
from jury_adapters.models.llama_index import LlamaIndexModel
from jury_adapters.models.openai import OpenAIModel
from jury_adapters.models.retries import Limited
from jury_adapters.models.sdk_clients import check_sdk
from jury_adapters.models.settings import TIMEOUT_S
from jury_adapters.vendors import VENDOR_NAMES, VENDORS, Vendor

ModelLike: TypeAlias = str | ChatModel | Callable[[Any], Awaitable[Any]] | object


class LimitedModel(Limited[ChatModel]):
    """Chat model within its limits; a :class:`ChatModel` itself."""

    def complete(
        self, prompt: Prompt, schema: Schema | None = None, options: Options = Options()
    ) -> Coroutine[Any, Any, Reply]:
        attempt = partial(self.inner.complete, prompt, schema, options)
        estimate = estimated_tokens(prompt, options, self.model) if self.limiter.limits.tokens_per_minute else 0
        if watched():
            call = partial(self.limiter.call, estimate=estimate, spent=_tokens_of)
            return made(Request("chat", self.inner, prompt, options), attempt, call)
        return self.limiter.call(attempt, estimate=estimate, spent=_tokens_of)


def resolve_model(
    model: ModelLike,
    *,
    vendor: str | None = None,
    base_url: str | None = None,
    api_key: str | SecretStr | None = None,
    client: Any = None,
    request_timeout: float = TIMEOUT_S,
    limits: Limits | None = None,
) -> LimitedModel:
    """Return the model of a name or an object, within its limits.

    Args:
        model: ``"vendor:model"``; a name with ``vendor=`` or ``base_url=``; a LangChain chat model; a LlamaIndex
            LLM; any ``async (prompt) -> str``; or a :class:`ChatModel`.
        vendor: one of :data:`jury_adapters.vendors.VENDORS`, when the name does not include it.
        base_url: the address of a server that speaks OpenAI's chat completions (or the vendor's own protocol). By
            default the one in the vendor's environment variable, else the vendor's own, as of this call. A ``client``
            keeps its own address. The address is part of the key under which a store keeps judgments.
        api_key: the key; from the vendor's environment variable by default.
        client: an existing ``AsyncOpenAI`` or ``AsyncAnthropic`` client, or an asynchronous HTTP client for the SDK;
            ``model`` is then the model's name.
        request_timeout: the maximum duration of one request, in seconds.
        limits: the limits on calls. Critics with the same model, address, key and limits share one limiter.

    Raises:
        ConfigurationError: the name has no vendor (data goes only to a vendor that is named), the vendor is unknown, or
            the arguments contradict each other.
    """
    check_settings(base_url=base_url, api_key=api_key, request_timeout=request_timeout, limits=limits)
    limits = limits or Limits()
    if isinstance(model, LimitedModel):
        return model
    if isinstance(model, str):
        settings = {**_clients(client), "timeout": request_timeout}
        return LimitedModel(_named(model, vendor, base_url, api_key, settings), limits)
    seconds = None if request_timeout == TIMEOUT_S else request_timeout
    refused = {
        "vendor": vendor, "base_url": base_url, "api_key": api_key, "client": client, "request_timeout": seconds
    }  # fmt: skip
    given = [name for name, value in refused.items() if value is not None]
    if given:
        raise ConfigurationError(
            f"{', '.join(given)} belongs to a model named by text; {type(model).__name__} brings its own"
        )
    return LimitedModel(_wrapped(model), limits)


def check_sdks(models: Iterable[ModelLike]) -> None:
    """Check that the SDKs of the models that are given by name are installed, so that one message names them all.

    If only one SDK is missing, the model that needs it says so.

    Raises:
        ConfigurationError: two SDKs are not installed.
    """
    vendors = (split_name(model)[0] for model in models if isinstance(model, str))
    missing = []
    for sdk in dict.fromkeys(VENDORS[vendor].sdk for vendor in vendors if vendor is not None):
        try:
            check_sdk(sdk)
        except ConfigurationError:
            missing.append(sdk)
    if len(missing) > 1:
        command = install_command(",".join(missing))
        raise ConfigurationError(f"these models need SDKs, of the extras {' and '.join(missing)}: {command}")


def estimated_tokens(prompt: Prompt, options: Options, model: str) -> int:
    """Return a rough upper estimate: three characters per token for the prompt, and all the output that is allowed.

    Images count by the rules of their vendor; see :mod:`jury_adapters.models.image_tokens`.
    """
    characters = len(prompt.system) + sum(len(turn.text) for turn in prompt.turns)
    images = sum(image_tokens(image, model) for image in prompt.images)
    return characters // 3 + images + (options.max_tokens or 500)


def check_settings(*, base_url: object, api_key: object, request_timeout: object, limits: object) -> None:
    """Check the arguments with which every critic reaches its model.

    Raises:
        ConfigurationError: one of them is invalid; the message says what to write.
    """
    if base_url is not None:
        checked_address(base_url, "base_url")
    if api_key is not None and not isinstance(api_key, str | SecretStr):
        raise ConfigurationError(f"api_key is text, or a SecretStr; not {type(api_key).__name__}")
    seconds = request_timeout
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < inf:
        raise ConfigurationError(f"request_timeout is a positive number of seconds, not {plain_repr(seconds)}")
    if limits is not None and not isinstance(limits, Limits):
        raise ConfigurationError(
            f"limits is a Limits, such as Limits(requests_per_minute=60); not {plain_repr(limits)}"
        )


def checked_address(address: object, what: str) -> str:
    """Return the address unchanged, except for white space at its ends.

    Raises:
        ConfigurationError: it is not an HTTP address, or contains user information, a query or a fragment; the message
            shows no credentials.
    """
    refuse_credentials(address, what)
    if isinstance(address, str) and plain_address(address).startswith(("http://", "https://")):
        return address.strip()
    raise ConfigurationError(
        f"{what} is an address such as 'http://localhost:8000/v1', not {without_keys(plain_repr(address))}"
    )


def vendor_address(vendor: Vendor) -> str:
    """Return the address of a vendor's models: the one in its environment variable, else its own.

    An empty variable counts as unset.

    Raises:
        ConfigurationError: the vendor has no address of its own and the variable is unset, or the variable contains no
            address.
    """
    variable = vendor.url_variable
    found = os.environ.get(variable, "").strip() if variable is not None else ""
    if variable is None or (not found and "{}" not in vendor.base_url):
        return vendor.base_url
    if not found:
        raise ConfigurationError(f"set the environment variable {variable} to your address, or give base_url=")
    checked_address(found, f"the environment variable {variable}")
    return vendor.base_url.format(found.rstrip("/")) if "{}" in vendor.base_url else found


def vendor_family(model: object) -> str | None:
    """Return the family of the models that a model's vendor has trained; None if it is asked at another address."""
    vendor = VENDORS.get(getattr(model, "vendor", ""))
    if vendor is None or vendor.family is None:
        return None
    try:
        own = vendor_address(vendor)
    except ConfigurationError:  # the environment has changed since the model was made
        return None
    return vendor.family if plain_address(own) == address_of(model) else None


def split_name(name: str) -> tuple[str | None, str]:
    """Split ``"vendor:model"`` into the vendor and the model's own name.

    The vendor is None, and the name unchanged, if the name does not begin with a known vendor.

    >>> split_name("OpenAI:gpt-4o-mini"), split_name("llama3:8b")
    (('openai', 'gpt-4o-mini'), (None, 'llama3:8b'))
    """
    prefix, colon, rest = name.partition(":")
    return (prefix.lower(), rest) if colon and prefix.lower() in VENDORS else (None, name)


def vendor_of(name: str) -> Vendor:
    """Return a vendor by name.

    Raises:
        ConfigurationError: the vendor is unknown; the message lists the known ones.
    """
    found = VENDORS.get(name.lower()) if isinstance(name, str) else None
    if found is None:
        raise ConfigurationError(unknown("vendor", name, VENDORS) + " For another server give base_url=.")
    return found


def _named(
    name: str, vendor: str | None, base_url: str | None, api_key: str | SecretStr | None, settings: dict[str, Any]
) -> OpenAIModel | AnthropicModel:
    prefix, _, rest = name.partition(":")
    if vendor is None:
        vendor, name = split_name(name)
    if not name:
        raise ConfigurationError("the model has no name; write 'vendor:model'")
    client = settings["client"]
    if client is not None:
        kinds = type(client).__mro__  # clients of derived classes are common
        vendor = vendor or ("anthropic" if any("anthropic" in kind.__module__ for kind in kinds) else "openai")
    if vendor is None and base_url is None:
        raise ConfigurationError(
            f"which vendor has {name!r}? {_meant(name, prefix.lower(), rest)} Or give vendor= or base_url=. "
            f"Known vendors: {', '.join(VENDORS)}."
        )
    known = vendor_of(vendor) if vendor is not None else Vendor(str(base_url), None)
    own = getattr(client, "api_key", None)
    key = Key(
        api_key or (own if isinstance(own, str) and own else None),
        known.key_variable if client is None else None,
        vendor or plain_address(base_url),
        origin="api_key=" if api_key is not None else "the client",
    )
    key.reveal()  # reports a missing key now instead of at the first of a thousand cases
    # An existing client has its own address, so the environment is not used for it.
    settings = {**settings, "key": key, "base_url": base_url or ("" if client is not None else vendor_address(known))}
    if known.sdk == "anthropic":
        return AnthropicModel(name, vendor="anthropic", **settings)
    return OpenAIModel(name, vendor=vendor or "local", token_parameter=known.token_parameter, **settings)


def _meant(name: str, prefix: str, rest: str) -> str:
    """Return the advice for a name without a known vendor; the prefix may be that of another package."""
    owner, slash, model = name.partition("/")
    if slash and not rest:
        vendor = _PREFIXES.get(owner.lower().removesuffix("_ai"))  # together_ai of LiteLLM
        return f"Did you mean '{vendor}:{model}'?" if vendor else f"Write 'vendor:model' (openrouter:{name}, say)."
    if not rest:
        return f"Write 'vendor:model' (openai:{name}, say)."
    if any(character.isdigit() for character in prefix):  # a name and a tag, such as llama3:8b
        return f"Write 'vendor:model' (ollama:{name}, say)."
    meant = get_close_matches(prefix, VENDORS, n=1, cutoff=0.7)
    if meant and prefix not in _PREFIXES:
        return f"Did you mean '{meant[0]}:{rest}'?"
    hint = f"Did you mean '{_PREFIXES[prefix]}:{rest}'?" if prefix in _PREFIXES else "Write 'vendor:model'."
    return f"{hint} A model of LangChain is given as its object: init_chat_model({name!r})."


def _clients(client: Any) -> dict[str, Any]:
    """Return a client that the user gave as the setting that it belongs to: one of the SDK, or one of HTTP for the SDK.

    Raises:
        ConfigurationError: it is neither, or not asynchronous.
    """
    if inspect.iscoroutinefunction(getattr(client, "send", None)):
        return {"http_client": client, "client": None}
    if client is not None and not any(kind.__name__.startswith("Async") for kind in type(client).__mro__):
        raise ConfigurationError(
            "client= takes an asynchronous client: AsyncOpenAI(), AsyncAnthropic(), or an HTTP client such as "
            f"httpx.AsyncClient(); not {type(client).__name__}"
        )
    return {"http_client": None, "client": client}


def _wrapped(model: Any) -> ChatModel:
    kinds = {f"{kind.__module__}.{kind.__name__}" for kind in type(model).__mro__}
    if _RUNNABLE in kinds:
        return LangChainModel(model)
    if _LLAMA_INDEX_LLM in kinds:
        return LlamaIndexModel(model)
    if isinstance(model, ChatModel) and not isinstance(model, type):
        return model
    if takes_a_case(model):
        raise ConfigurationError(
            f"{_name_of(model)} takes a case, so it is a judge and not a model: write @judge above it, or "
            f"judge({_name_of(model)})"
        )
    if is_async(model):
        return FunctionModel(model)
    name = _name_of(model)
    hint = evaluator_hint(model)
    if hint:
        raise ConfigurationError(f"{_kind_of(model)} is an evaluator and not a model; {hint}")
    judging = f". If {name} judges a case, write @judge above it, or judge({name})" if inspect.isroutine(model) else ""
    raise ConfigurationError(
        f"{_kind_of(model)} is not a model: give 'vendor:model', a LangChain chat model, a LlamaIndex LLM, an "
        f"`async (prompt) -> str` function, or an object with `name`, `model` and `async complete(...)`{judging}"
    )


def _kind_of(model: object) -> str:
    return f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__


def _name_of(function: object) -> str:
    name = getattr(function, "__name__", type(function).__name__)
    return "function" if name == "<lambda>" else str(name)


def _tokens_of(reply: Reply) -> int:
    return reply.usage.input_tokens + reply.usage.output_tokens


_PREFIXES = {**VENDOR_NAMES, "azure_openai": "azure"}  # those of LangChain's init_chat_model, too
# Other classes of these packages, such as embeddings and messages, are not models.
_RUNNABLE = "langchain_core.runnables.base.Runnable"
_LLAMA_INDEX_LLM = "llama_index.core.base.llms.base.BaseLLM"
