"""SDK clients whose requests this package can send itself, because nothing on them changes a request or an answer."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import cached_property
from types import FunctionType, ModuleType
from typing import Any

from jury_adapters.models.endpoints import http_package
from jury_adapters.models.sdk_clients import sdk_module


def is_plain(client: Any, sdk: str) -> bool:
    """Return whether a client only adds an address, a key and headers to a request.

    This excludes, for example, a client of Azure or Bedrock, a client with a key that is fetched for every request,
    with middleware, or with an HTTP client of the user.

    Args:
        client: an asynchronous client of an SDK, not one that is derived from it.
        sdk: ``"openai"`` or ``"anthropic"``.
    """
    return (
        type(client) is getattr(sdk_module(sdk), _CLIENTS[sdk])
        and all(_is_known(name, value, sdk) for name, value in vars(client).items())
        and is_made_by_package(client._client)
        and _is_unchanged(client._client)
        and not _emits_spans(client)
    )


def is_sdk_original(sdk: str) -> bool:
    """Return whether an SDK's methods that send requests are original, not replaced by a tracer or a test.

    Args:
        sdk: ``"openai"`` or ``"anthropic"``.
    """
    module = sdk_module(sdk)
    http = http_package(module)
    client = getattr(module, _CLIENTS[sdk])
    return (
        is_original(client, "post", "request", "_send_request", "_prepare_options", "_prepare_request")
        and is_original(_resource_class(module, sdk), "create")
        and is_original(http.AsyncClient, "send")
        and is_original(http.AsyncHTTPTransport, "handle_async_request")
    )


def is_original(kind: type, *names: str) -> bool:
    """Return whether methods of a class are those of the package that defines them, not replaced or wrapped since.

    A method that a class does not have counts as original.
    """
    for name in names:
        owner = next((base for base in kind.__mro__ if name in vars(base)), None)
        if owner is not None and not _is_code_of(vars(owner)[name], _folders_of(owner.__module__)):
            return False
    return True


def is_made_by_package(http_client: object) -> bool:
    """Return whether an SDK or a framework made an HTTP client, and not the user."""
    kind = type(http_client)
    return (
        kind.__name__ in ("AsyncHttpxClientWrapper", "_AsyncHttpxClientWrapper")
        and kind.__module__.partition(".")[0] in _MAKERS
    )


def is_unpatched(resource: Any) -> bool:
    """Return whether the functions kept on a resource of an SDK's client (``client.chat``) are the SDK's own."""
    sdk = type(resource).__module__.partition(".")[0]
    folders = _folders_of(sdk)
    for name, value in vars(resource).items():
        if name.startswith("_"):  # a reference to the parent
            continue
        if type(value).__module__.startswith(f"{sdk}.resources."):
            if not is_unpatched(value):
                return False
        elif isinstance(value, FunctionType) and not _is_code_of(value, folders):
            return False
    return True


def _is_code_of(value: Any, folders: tuple[str, ...]) -> bool:
    """Return whether a function, a property or a wrapper of wrapt consists of code in these folders only."""
    value = value.fget if isinstance(value, property) else value.func if isinstance(value, cached_property) else value
    while not isinstance(value, FunctionType):
        wrapper = getattr(value, "_self_wrapper", None)
        if not isinstance(wrapper, FunctionType) or not wrapper.__code__.co_filename.startswith(folders):
            return False
        value = value.__wrapped__
    return value.__code__.co_filename.startswith(folders)


def _folders_of(module: str) -> tuple[str, ...]:
    """Return the folders of the package that a module belongs to, and of LlamaIndex's instrumentation."""
    roots = (module.partition(".")[0], "llama_index_instrumentation")
    return tuple(folder for root in roots if root in sys.modules for folder in sys.modules[root].__path__)


def _is_known(name: str, value: object, sdk: str) -> bool:
    """Return whether a recorded request shows an attribute of a client, or the attribute is not set."""
    if name in _SHOWN or name in _NEUTRAL:
        return True
    if type(value).__module__.startswith(f"{sdk}.resources."):
        return is_unpatched(value)
    return not value or type(value).__name__ == "NotGiven"


def _is_unchanged(http_client: Any) -> bool:
    """Return whether an HTTP client has no hooks, no authentication and no transport of its own."""
    hooked = any(http_client.event_hooks.values())
    return not hooked and http_client.auth is None and type(http_client._transport).__name__ == "AsyncHTTPTransport"


def _emits_spans(client: Any) -> bool:
    """Return whether OpenTelemetry receives the client's calls: newer versions of Anthropic's SDK emit spans."""
    options: Mapping[str, Any] = getattr(client, "_open_telemetry", None) or {}
    traces = options.get("traces")
    if not isinstance(traces, Mapping) or not traces.get("enabled"):
        return False
    provider = getattr(sys.modules.get("opentelemetry.trace"), "_TRACER_PROVIDER", None)
    return provider is not None or "OTEL_PYTHON_TRACER_PROVIDER" in os.environ or "tracer_provider" in options


def _resource_class(module: ModuleType, sdk: str) -> type:
    resources = module.resources
    found: type = resources.chat.completions.AsyncCompletions if sdk == "openai" else resources.messages.AsyncMessages
    return found


_CLIENTS = {"openai": "AsyncOpenAI", "anthropic": "AsyncAnthropic"}
_MAKERS = ("openai", "anthropic", "langchain_openai", "langchain_anthropic")
# Attributes of clients that affect the address, headers or time limits of a request.
_SHOWN = frozenset({
    "api_key", "auth_token", "admin_api_key", "organization", "project", "_base_url", "_base_url_was_default",
    "_unchosen_base_url", "_data_residency", "_ambient_authorizations", "_credential_headers", "timeout", "_timeout",
    "_timeout_overridden", "_custom_headers", "_custom_query", "_version", "_platform",
})  # fmt: skip
# Attributes that chat completions and messages do not use, and those that other checks cover.
_NEUTRAL = frozenset({
    "webhook_secret", "webhook_key", "websocket_base_url", "max_retries", "_default_stream_cls", "_client",
    "_open_telemetry", "_lazy_tracer", "_otel",
})  # fmt: skip
