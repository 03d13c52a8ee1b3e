"""Threads for plain functions beside an event loop, there only while there is work for them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")


class PassingThreads:
    """A pool of threads that ends them when it has not been used for a while; used from one event loop at a time.

    An application that judged a burst of runs shall have as many threads afterwards as before.

    Args:
        linger: seconds after the last use until the threads end.
    """

    def __init__(self, linger: float = 1.0) -> None:
        self._linger = linger
        self._pool: ThreadPoolExecutor | None = None
        self._leaving: asyncio.TimerHandle | None = None

    async def run(self, function: Callable[..., T], *args: object) -> T:
        """Call a function in a thread, in a copy of the caller's context, and wait for its result."""
        loop = asyncio.get_running_loop()
        if self._pool is None:
            self._pool = ThreadPoolExecutor(thread_name_prefix="jury-sink")
        try:
            return await loop.run_in_executor(self._pool, copy_context().run, function, *args)
        finally:
            if self._leaving is not None:
                self._leaving.cancel()
            self._leaving = loop.call_later(self._linger, self._leave)

    def _leave(self) -> None:
        """Let the threads go; one that still works ends when it has done so."""
        pool, self._pool, self._leaving = self._pool, None, None
        if pool is not None:
            pool.shutdown(wait=False)

    def forget(self) -> None:
        """As new, in a child process, which has none of the threads."""
        self._pool = self._leaving = None
