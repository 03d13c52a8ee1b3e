"""Asynchronous clients, one per event loop."""

from __future__ import annotations

import asyncio
import atexit
import os
from collections.abc import AsyncGenerator, Callable, Hashable
from typing import Any, Protocol, TypeVar
from weakref import WeakKeyDictionary

C = TypeVar("C", bound="Closable")


class Closable(Protocol):
    """Asynchronous client of an SDK, or a session of aiohttp."""

    async def close(self) -> None: ...


async def shared_client(identity: Hashable, make: Callable[[], C]) -> C:
    """Return the running loop's client of this identity, made when there is none.

    An asynchronous client must not cross event loops, and a new one per call would be slow. So there is one per loop
    and identity (server, key, settings), whichever critics ask. It is closed when its loop shuts down its asynchronous
    generators, as ``asyncio.run`` does at its end. A child process after a fork makes clients of its own.
    """
    loop = asyncio.get_running_loop()
    clients = _CLIENTS.get(loop)
    if clients is None:
        _abandon_clients_of_closed_loops()
        clients = _CLIENTS.setdefault(loop, {})
    found = clients.get(identity)
    if found is None:
        client = make()
        closer = _closer(client)
        clients[identity] = found = (client, closer)
        await anext(closer)  # started, so that the loop knows it and closes it at its end
    return found[0]  # type: ignore[return-value]


async def _closer(client: Closable) -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        _CLIENTS.pop(asyncio.get_running_loop(), None)  # a client holds its loop, which would then live for ever
        await client.close()


def _abandon_clients_of_closed_loops() -> None:
    """Forget the clients of loops that were closed without shutting down their asynchronous generators.

    A session of aiohttp, and its connector, log an error when they are collected unclosed. Their own ``close`` needs
    the loop.
    """
    for loop in [loop for loop in tuple(_CLIENTS) if loop.is_closed()]:
        for client, _ in _CLIENTS.pop(loop).values():
            connector = getattr(client, "connector", None)
            if connector is not None:
                client.detach()  # type: ignore[attr-defined]
                connector._close()


def _keep_clients_of_the_parent() -> None:
    """Keep the parent's clients alive in a child process, unused.

    Closing them there would take the parent's sockets out of the selector that both processes share.
    """
    global _CLIENTS  # noqa: PLW0603
    _OF_THE_PARENT.append(_CLIENTS)
    _CLIENTS = WeakKeyDictionary()


_Clients = WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Hashable, tuple[Closable, AsyncGenerator[None, None]]]]
_CLIENTS: _Clients = WeakKeyDictionary()
_OF_THE_PARENT: list[Any] = []

atexit.register(_abandon_clients_of_closed_loops)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_keep_clients_of_the_parent)
