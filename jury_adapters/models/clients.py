"""Clients of the vendors' SDKs: without redirects and retries, with bounded bodies, and one per event loop.

An asynchronous client must not cross event loops: its connections belong to the loop that opened them.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from functools import partial
from importlib import import_module
from operator import methodcaller
from types import ModuleType
from typing import Any, Generic, TypeVar

from jury_adapters.core.values import ConfigurationError
from jury_adapters.models.errors import bad_reply

T = TypeVar("T")
LARGEST = 32 * 2**20
"""Bytes of the largest body that is read."""
LARGEST_ERROR = 2**16
"""Bytes that are read of the body of an error."""


class PerLoop(Generic[T]):
    """Values that are made once for each event loop, and forgotten after it is closed.

    Args:
        make: makes a value on the running loop.
        close: closes it when the loop shuts down, as ``asyncio.run`` does at its end.
    """

    def __init__(self, make: Callable[[], Awaitable[T]], close: Callable[[T], Awaitable[None]] | None = None) -> None:
        self._make, self._close = make, close
        self._values: dict[asyncio.AbstractEventLoop, tuple[T, AsyncGenerator[None, None]]] = {}

    async def get(self) -> T:
        """Return the value of the running loop."""
        loop = asyncio.get_running_loop()
        if loop not in self._values:
            made = await self._make()
            self._values[loop] = made, self._until_the_loop_ends(made)
            await anext(self._values[loop][1])  # started, so that the loop knows it
        return self._values[loop][0]

    async def _until_the_loop_ends(self, made: T) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            self._values.pop(asyncio.get_running_loop(), None)  # a client refers to its loop, which could not be freed
            if self._close is not None:
                await self._close(made)


def sdk_of(name: str) -> ModuleType:
    """Import an SDK.

    Raises:
        ConfigurationError: it is not installed.
    """
    try:
        return import_module(name)
    except ImportError:
        raise ConfigurationError(f"this model needs the {name} SDK: pip install 'jury-adapters[{name}]'") from None


def http_package(sdk: ModuleType) -> ModuleType:
    """Return the HTTP package on which an SDK runs: httpx2, or httpx for older SDKs."""
    kind = next(one for one in sdk.DefaultAsyncHttpxClient.__mro__ if one.__name__ == "AsyncClient")
    return import_module(kind.__module__.partition(".")[0])


async def http_client(sdk: str, timeout: Any) -> Any:
    """Return the running loop's HTTP client for an SDK, which all clients with this time limit share.

    It holds no key and no address, follows no redirect, asks for no compression, and reads bodies up to a limit.
    """
    make = partial(_new_http_client, sdk_of(sdk), timeout)
    return await _HTTP_CLIENTS.setdefault((sdk, repr(timeout)), PerLoop(make, methodcaller("aclose"))).get()


def is_sdk_client(value: object) -> bool:
    """Whether a value is an asynchronous client of an SDK."""
    return type(value).__name__.startswith("Async") and hasattr(value, "with_options") and sdk_of_client(value) in _SDKS


async def client_of_this_loop(client: Any) -> Any:
    """Return a copy of an SDK's client whose connections belong to the running loop, with all its settings.

    A client whose owner made the HTTP client inside is returned as it is: that may have proxies and certificates.
    """
    if not type(client._client).__name__.endswith("AsyncHttpxClientWrapper"):
        return client
    return client.with_options(http_client=await http_client(sdk_of_client(client), client.timeout))


def sdk_of_client(value: object) -> str:
    """Return the name of the SDK of a client, whose class may be derived; "" if it is none."""
    roots = (kind.__module__.partition(".")[0] for kind in type(value).__mro__)
    return next((one for one in roots if one in _SDKS), "")


async def _new_http_client(sdk: ModuleType, timeout: Any) -> Any:
    return sdk.DefaultAsyncHttpxClient(
        timeout=timeout,
        follow_redirects=False,
        headers={"accept-encoding": "identity"},
        event_hooks={"response": [partial(_bound, http_package(sdk).ByteStream)]},
    )


async def _bound(make_stream: Callable[[bytes], Any], response: Any) -> None:
    """Read the body of a response, up to a limit, before anything decompresses it."""
    failed = response.status_code >= 300
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("", "identity") and not failed:
        raise bad_reply("the body is compressed, which was not asked for")
    limit, body = LARGEST_ERROR if failed else LARGEST, bytearray()
    async for piece in response.stream:
        body += piece
        if len(body) > limit:
            break
    await response.stream.aclose()
    if len(body) > limit and not failed:
        raise bad_reply(f"the body is larger than {limit // 2**20} MiB")
    response.headers.pop("content-encoding", None)
    response.stream = make_stream(bytes(body[:limit]))


_SDKS = ("openai", "anthropic")
_HTTP_CLIENTS: dict[tuple[str, str], PerLoop[Any]] = {}
