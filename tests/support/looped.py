"""Servers for tests, each on an event loop and a thread of its own."""

from __future__ import annotations

import asyncio
import ssl
import threading
from abc import ABC, abstractmethod
from typing import Self

from aiohttp import web


class ServerThread(ABC):
    """Server on a loopback port, in a thread of its own. Use it as a context manager.

    Args:
        tls: the context for TLS; None for plain connections.

    Attributes:
        url: the address, once the server runs.
        over: event that is set when the server shall end; whatever keeps a request waiting stops then.
    """

    def __init__(self, *, tls: ssl.SSLContext | None = None) -> None:
        self.url = ""
        self.over = asyncio.Event()
        self._tls = tls
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    @abstractmethod
    async def serve(self) -> None:
        """Listen, call :meth:`listening`, wait for :attr:`over`, and close everything."""

    def listening(self, host: str, port: int) -> None:
        """Set the address and let the test begin."""
        self.url = f"{'https' if self._tls else 'http'}://{host}:{port}"
        self._ready.set()

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self.over.set)
        self._thread.join(10)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self.serve())
        if left := asyncio.all_tasks(self._loop):
            self._loop.run_until_complete(asyncio.wait(left, timeout=1))
        # A connection to a client that does not read has bytes left to write, so closing it would never end.
        for transport in list(getattr(self._loop, "_transports", {}).values()):
            transport.abort()
        for _ in range(3):  # a connection that is being closed lets go of its socket in a later turn of the loop
            self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()


class LoopServer(ServerThread):
    """Server that runs an aiohttp application."""

    @abstractmethod
    def application(self) -> web.Application:
        """Return the application; called once, on the server's event loop."""

    async def serve(self) -> None:
        # What a test left waiting for an answer is not waited for.
        runner = web.AppRunner(self.application(), access_log=None, shutdown_timeout=0.05)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024, ssl_context=self._tls).start()
        self.listening(*runner.addresses[0][:2])
        await self.over.wait()
        await runner.cleanup()
