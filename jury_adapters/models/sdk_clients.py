"""SDK clients made by this package."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.installation import needs_extra
from jury_adapters.models.api_keys import Key


def make_client(
    sdk: str, client_class: str, key: Key, *, base_url: str | None, timeout: float, http_client: Any = None
) -> Any:
    """Return an SDK's asynchronous client, without retries of its own and without redirects.

    Without a key, the client sends nothing from the environment. The SDK's own variables (organisation, project, custom
    headers) are for the SDK's vendor, and not for a local server or an address in a jury file.

    Args:
        sdk: ``"openai"`` or ``"anthropic"``.
        client_class: such as ``"AsyncOpenAI"``.
        key: the API key.
        base_url: the server; None for the vendor's own.
        timeout: the maximum duration of one request, in seconds.
        http_client: an HTTP client, used unchanged.

    Raises:
        ConfigurationError: the SDK is not installed, or the proxy in the environment needs a missing package; the
            message says what to install.
    """
    module = sdk_module(sdk)
    return getattr(module, client_class)(
        api_key=key.reveal(), base_url=base_url, max_retries=0, timeout=timeout,
        default_headers=_without_environment(module, key) if key.absent else None,
        http_client=http_client or own_http_client(sdk, timeout),
    )  # fmt: skip


def _without_environment(module: ModuleType, key: Key) -> dict[str, Any]:
    """Return default headers that replace those that an SDK makes from environment variables."""
    lines = "\n".join(os.environ.get(variable, "") for variable in _CUSTOM_HEADERS).split("\n")
    custom = [line.partition(":")[0].strip() for line in lines if ":" in line]
    authorization = f"Bearer {key.reveal()}"  # an SDK refuses to send a request without it
    return {
        name: authorization if name.lower() == "authorization" else module.Omit()
        for name in (*_ACCOUNT_HEADERS, *custom)
    }


def sdk_module(sdk: str) -> ModuleType:
    """Import an SDK.

    Raises:
        ConfigurationError: the SDK is not installed; the message says what to install.
    """
    try:
        with _IMPORTING:  # Python gives one of two threads that wait for each other's modules an unfinished one
            _import_http_package()
            return import_module(sdk)
    except ImportError as error:
        raise ConfigurationError(_missing(sdk)) from error


def check_sdk(sdk: str) -> None:
    """Check that an SDK is installed, without importing it.

    Where the application has imported openai, it imports httpx2, which takes 30 ms: a request of the application could
    meet a later import.

    Raises:
        ConfigurationError: the SDK is not installed; the message says what to install.
    """
    if sdk not in sys.modules and find_spec(sdk) is None:
        raise ConfigurationError(_missing(sdk))
    if "openai" in sys.modules:
        _import_http_package()


def own_http_client(sdk: str, timeout: Any) -> Any:
    """Return an HTTP client for an SDK that ignores redirects: they would send key and text to another host.

    Raises:
        ConfigurationError: the proxy in the environment needs a package that is not installed.
    """
    try:
        return sdk_module(sdk).DefaultAsyncHttpxClient(timeout=timeout, follow_redirects=False)
    except ImportError as error:  # raised for a SOCKS proxy; httpx names the package
        raise ConfigurationError(f"the proxy in the environment cannot be used: {error}") from error


def _import_http_package() -> None:
    """Import httpx2 if it is installed.

    With each request, openai 2 looks at httpx2 if any package has imported it. If the import of anthropic, which takes
    a second, is just importing it in another thread, the request fails.
    """
    with suppress(ImportError):
        import_module("httpx2")


def _missing(sdk: str) -> str:
    return needs_extra("this model", "an SDK", sdk)


def _forget_other_threads() -> None:
    """Release the lock in a child process after a fork, where the thread that may have held it does not exist."""
    global _IMPORTING  # noqa: PLW0603
    _IMPORTING = threading.RLock()


_IMPORTING = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_other_threads)
_ACCOUNT_HEADERS = ("OpenAI-Organization", "OpenAI-Project")
_CUSTOM_HEADERS = ("OPENAI_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS")
