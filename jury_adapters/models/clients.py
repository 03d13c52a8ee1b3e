"""Asynchronous clients, one per event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Hashable
from typing import Any, Protocol, TypeVar
from weakref import WeakKeyDictionary

C = TypeVar("C", bound="Closable")


class Closable(Protocol):
    """An SDK's asynchronous client."""

    async def close(self) -> None: ...


async def shared_client(identity: Hashable, make: Callable[[], C]) -> C:
    """The running loop's client of this identity, made when there is none.

    An async client must not cross event loops, and a new one per call would be slow: so there is one per loop and
    identity (server, key, settings), whichever critics ask. It is closed when its loop shuts down its asynchronous
    generators, as ``asyncio.run`` does at its end.
    """
    loop = asyncio.get_running_loop()
    clients = _CLIENTS.get(loop)
    if clients is None:
        clients = _CLIENTS.setdefault(loop, {})
    found = clients.get(identity)
    if found is None:
        client = make()
        closer = _closer(client)
        clients[identity] = found = (client, closer)
        await anext(closer)  # started, so that the loop knows it and closes it at its end
    return found[0]  # type: ignore[return-value]


def aiohttp_client(kind: Callable[..., Any], timeout: float) -> Any:
    """The SDK's HTTP client on aiohttp, or None for its default where aiohttp is not installed.

    The default transport spends several times as much CPU per request, the more the more connections are open.
    """
    try:
        return kind(timeout=timeout)
    except RuntimeError:
        return None


async def _closer(client: Closable) -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        _CLIENTS.pop(asyncio.get_running_loop(), None)  # a client holds its loop, which would then live for ever
        await client.close()


_CLIENTS: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Hashable, tuple[Closable, AsyncGenerator[None, None]]]] = (
    WeakKeyDictionary()
)
