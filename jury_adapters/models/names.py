"""Names and objects as models: what ``Critic(model=...)`` takes."""

import inspect
import os
from typing import Any
from urllib.parse import urlsplit

from pydantic import SecretStr

from jury_adapters.core.values import ConfigurationError
from jury_adapters.models.base import ChatModel
from jury_adapters.models.clients import sdk_of_client
from jury_adapters.models.keys import Key, secrets_of
from jury_adapters.models.objects import FunctionModel
from jury_adapters.models.prices import SET
from jury_adapters.models.sdk import SdkModel
from jury_adapters.models.vendors import VENDORS, Vendor

_LANGCHAIN = "langchain_core.language_models.chat_models.BaseChatModel"
_LLAMA_INDEX = "llama_index.core.base.llms.base.BaseLLM"


def open_model(
    name: str,
    *,
    base_url: str | None = None,
    api_key: str | SecretStr | None = None,
    client: Any = None,
    timeout: float = 60.0,
) -> ChatModel:
    """Return the model of a name. Nothing is sent.

    Args:
        name: ``"vendor:model"``, with a vendor of :data:`jury_adapters.models.vendors.VENDORS`. ``vllm``, ``ollama``
            and ``llama.cpp`` are servers of one's own, which need no key.
        base_url: the server's address, if it is not that of the vendor.
        api_key: the key; by default that in the vendor's environment variable.
        client: an ``AsyncOpenAI`` or ``AsyncAnthropic``, or a client of a derived class such as ``AsyncAzureOpenAI``.
            It keeps its address, key, headers and HTTP client, but the package retries instead of it.
        timeout: seconds for one request, from sending to the last byte.

    Raises:
        ConfigurationError: the vendor is unknown, its SDK is not installed, there is no key, or an address is wrong.

    >>> open_model("ollama:llama3.2").identity
    'ollama:llama3.2 at http://localhost:11434/v1'
    """
    prefix, _, model = name.partition(":")
    vendor = VENDORS.get(prefix.lower())
    if vendor is None or not model:
        raise ConfigurationError(
            f"{name!r} is not 'vendor:model' with one of the vendors {', '.join(VENDORS)}; for another server that "
            "speaks OpenAI's protocol write 'vllm:model' and give base_url="
        )
    if client is not None:
        if base_url is not None or api_key is not None:
            raise ConfigurationError("client= brings its own address and key; leave out base_url= and api_key=")
        key = _key_of_client(client, prefix, vendor)
        return SdkModel(prefix.lower(), model, address="", key=key, own=True, client=client, timeout=timeout)
    address = _checked(base_url or _address_of(prefix, vendor))
    if vendor.key_variable is None and urlsplit(address).hostname not in ("localhost", "127.0.0.1", "::1"):
        SET.setdefault(f"{prefix.lower()}:{model}", None)
    own, key = base_url is None and prefix.lower() == vendor.sdk, Key(api_key, vendor.key_variable, prefix)
    return SdkModel(prefix.lower(), model, address=address, key=key, own=own, timeout=timeout)


def model_of(given: Any) -> ChatModel:
    """Return what was given as a model.

    Args:
        given: ``"vendor:model"``; a LangChain chat model, without ``with_retry()``, ``with_fallbacks()`` and
            ``bind()``; a LlamaIndex LLM; an asynchronous function from the text of a prompt to a text; or a
            :class:`ChatModel`.

    Raises:
        ConfigurationError: it is something else, or see :func:`open_model`.
    """
    if isinstance(given, str):
        return open_model(given)
    kinds = {f"{kind.__module__}.{kind.__qualname__}" for kind in type(given).__mro__}
    if _LANGCHAIN in kinds:
        from jury_adapters.models.langchain import LangChainModel

        given = LangChainModel(given)
    elif _LLAMA_INDEX in kinds:
        from jury_adapters.models.llama_index import LlamaIndexModel

        given = LlamaIndexModel(given)
    if isinstance(given, type) or not (
        isinstance(given, ChatModel)
        or inspect.iscoroutinefunction(given)
        or inspect.iscoroutinefunction(getattr(given, "__call__", None))  # noqa: B004
    ):
        raise ConfigurationError(
            "a model is 'vendor:model', a LangChain chat model (without with_retry(), with_fallbacks() or bind()), a "
            "LlamaIndex LLM, an `async (prompt) -> str` function or a ChatModel, not "
            f"{f'the class {given.__name__}' if isinstance(given, type) else type(given).__name__}"
        )
    return given if isinstance(given, ChatModel) else FunctionModel(given)


def _key_of_client(client: Any, prefix: str, vendor: Vendor) -> Key:
    if sdk_of_client(client) != vendor.sdk or not inspect.iscoroutinefunction(getattr(client, "post", None)):
        raise ConfigurationError(
            f"client= takes an asynchronous client of the {vendor.sdk} SDK, not {type(client).__name__}"
        )
    return Key(str(getattr(client, "api_key", "") or ""), None, prefix, secrets_of(client))


def _address_of(prefix: str, vendor: Vendor) -> str:
    """Return the address of a vendor, which an environment variable may replace or complete."""
    found = os.environ.get(vendor.address_variable, "").rstrip("/") if vendor.address_variable else ""
    if "{}" not in vendor.address:
        return found or vendor.address
    if not found:
        raise ConfigurationError(
            f"{prefix} needs an address: set the environment variable {vendor.address_variable}, or give base_url="
        )
    return vendor.address.format(found)


def _checked(address: str) -> str:
    """Return an address without a slash at its end, if it is one and holds no secret."""
    try:
        parts = urlsplit(address)
        whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        whole = False
    if not whole or "@" in parts.netloc or parts.query or parts.fragment:
        raise ConfigurationError(
            "base_url= is an http:// or https:// address without user, password, query and fragment; headers and query "
            "parameters belong to a client: client=AsyncOpenAI(..., default_headers=...)"
        )
    return address.rstrip("/")
