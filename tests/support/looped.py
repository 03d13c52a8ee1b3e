"""A server for tests, on an event loop and a thread of its own."""

from __future__ import annotations

import asyncio
import ssl
import threading
from abc import ABC, abstractmethod
from typing import Self

from aiohttp import web


class LoopServer(ABC):
    """An aiohttp application on a loopback port. Use it as a context manager.

    Args:
        tls: speak TLS.

    Attributes:
        url: its address, once it runs.
        over: set when the server shall end; who keeps a request waiting stops then.
    """

    def __init__(self, *, tls: ssl.SSLContext | None = None) -> None:
        self.url = ""
        self.over = asyncio.Event()
        self._tls = tls
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @abstractmethod
    def application(self) -> web.Application:
        """What answers; asked for once, on the server's event loop."""

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self.over.set)
        self._thread.join(10)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._until_over())
        if left := asyncio.all_tasks(self._loop):
            self._loop.run_until_complete(asyncio.wait(left, timeout=1))
        self._loop.close()

    async def _until_over(self) -> None:
        # What a test left waiting for an answer is not waited for.
        runner = web.AppRunner(self.application(), access_log=None, shutdown_timeout=0.05)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024, ssl_context=self._tls).start()
        host, port = runner.addresses[0][:2]
        self.url = f"{'https' if self._tls else 'http'}://{host}:{port}"
        self._ready.set()
        await self.over.wait()
        await runner.cleanup()
