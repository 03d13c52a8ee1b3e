"""Asynchronous clients, one per event loop."""

from __future__ import annotations

import asyncio
import atexit
import os
from collections.abc import AsyncGenerator, Callable, Hashable
from contextlib import suppress
from functools import partial
from typing import Any, Protocol, TypeVar
from weakref import WeakKeyDictionary

C = TypeVar("C", bound="Closable")


class Closable(Protocol):
    """Asynchronous client of an SDK, or aiohttp session."""

    async def close(self) -> None: ...


async def shared_client(identity: Hashable, make: Callable[[], C]) -> C:
    """Return the running loop's client of this identity, created if there is none.

    An asynchronous client must not cross event loops, and a new one per call would be slow. So there is one per loop
    and identity (server, key, settings), shared by all critics. It is closed when its loop shuts down its asynchronous
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
        await anext(closer)  # started, so that the loop registers it and closes it at its end
    return found[0]  # type: ignore[return-value]


async def _closer(client: Closable) -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        _CLIENTS.pop(asyncio.get_running_loop(), None)  # a client refers to its loop, which would never be freed
        await client.close()


def _abandon_clients_of_closed_loops() -> None:
    """Close the sessions of loops that were closed without shutting down their asynchronous generators.

    Their own ``close`` needs the loop. Unclosed sessions log an error when they are collected. The clients of SDKs
    cannot be closed without their loop, and are kept.
    """
    for loop, clients in [(loop, clients) for loop, clients in tuple(_CLIENTS.items()) if loop.is_closed()]:
        for identity, (client, _) in tuple(clients.items()):
            connector = getattr(client, "connector", None)
            if connector is not None:
                del clients[identity]
                client.detach()  # type: ignore[attr-defined]
                for connections in tuple(connector._conns.values()):
                    for protocol, _ in tuple(connections):
                        _close_without_loop(protocol.transport)
                connector._close()
        if not clients:
            _CLIENTS.pop(loop, None)


def _close_without_loop(transport: Any) -> None:
    """Close the socket of a transport whose loop is closed; asyncio itself would need the loop for it."""
    inner = getattr(getattr(transport, "_ssl_protocol", None), "_transport", None) or transport
    for close in (getattr(inner, "abort", None), partial(getattr(inner, "_call_connection_lost", _nothing), None)):
        with suppress(Exception):
            if close is not None:
                close()


def _nothing(_: object) -> None:
    return


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
