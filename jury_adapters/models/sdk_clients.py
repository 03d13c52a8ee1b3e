"""SDK clients that this package makes."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from jury_adapters.core.errors import ConfigurationError
from jury_adapters.models.api_keys import Key


def make_client(
    sdk: str, client_class: str, key: Key, *, base_url: str | None, timeout: float, http_client: Any = None
) -> Any:
    """Return an SDK's asynchronous client, without retries of its own and without redirects.

    Args:
        sdk: ``"openai"`` or ``"anthropic"``.
        client_class: such as ``"AsyncOpenAI"``.
        key: the API key.
        base_url: the server; None for the vendor's own.
        timeout: seconds one request may take.
        http_client: an HTTP client, taken as it is.

    Raises:
        ConfigurationError: the SDK is not installed, or the proxy in the environment needs a package that is not; the
            message says what to install.
    """
    return getattr(sdk_module(sdk), client_class)(
        api_key=key.reveal(), base_url=base_url, max_retries=0, timeout=timeout,
        http_client=http_client or own_http_client(sdk, timeout),
    )  # fmt: skip


def sdk_module(sdk: str) -> ModuleType:
    """Import an SDK.

    Raises:
        ConfigurationError: it is not installed; the message says what to install.
    """
    try:
        return import_module(sdk)
    except ImportError as error:
        raise ConfigurationError(f"this model needs an SDK: pip install 'jury-adapters[{sdk}]'") from error


def own_http_client(sdk: str, timeout: Any) -> Any:
    """Return an HTTP client for an SDK that follows no redirects: they would carry key and text to another host.

    Raises:
        ConfigurationError: the proxy in the environment needs a package that is not installed.
    """
    try:
        return sdk_module(sdk).DefaultAsyncHttpxClient(timeout=timeout, follow_redirects=False)
    except ImportError as error:  # of a SOCKS proxy; httpx says which package
        raise ConfigurationError(f"the proxy in the environment cannot be used: {error}") from error
