"""Short-lived threads in which an event loop runs plain functions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class PassingThreads:
    """Thread pool that ends its threads after a time without use; used by one event loop at a time.

    So an application has as many threads after a burst of judged runs as before.

    Args:
        linger: time in seconds from the last use to the end of the threads.
    """

    def __init__(self, linger: float = 1.0) -> None:
        self._linger = linger
        self._pool: ThreadPoolExecutor | None = None
        self._leaving: asyncio.TimerHandle | None = None

    async def run(self, function: Callable[..., T], *args: object) -> T:
        """Call a function in a thread, in a copy of the caller's context, and wait for its result.

        The function runs on the event loop if no thread can be started: while the process has too many threads, and on
        Python 3.12.0 to 3.12.2 at the end of the process.
        """
        loop = asyncio.get_running_loop()
        if self._pool is None:
            self._pool = ThreadPoolExecutor(thread_name_prefix="jury-sink")
        call = _Call(partial(copy_context().run, function, *args))
        try:
            try:
                self._pool.submit(call)
            except RuntimeError:
                call()
            return await asyncio.wrap_future(call.result)
        finally:
            if self._leaving is not None:
                self._leaving.cancel()
            self._leaving = loop.call_later(self._linger, self._leave)

    def _leave(self) -> None:
        """Shut down the pool without waiting; a busy thread ends after its work."""
        pool, self._pool, self._leaving = self._pool, None, None
        if pool is not None:
            pool.shutdown(wait=False)

    def forget(self) -> None:
        """Reset the pool in a forked child process, which has none of the threads."""
        self._pool = self._leaving = None


class _Call(Generic[T]):
    """Call of a function that runs only once, because a pool that failed to start a thread may still run it later."""

    def __init__(self, function: Callable[[], T]) -> None:
        self.result: Future[T] = Future()
        self._function = function
        self._begun = Lock()

    def __call__(self) -> None:
        if not self._begun.acquire(blocking=False) or not self.result.set_running_or_notify_cancel():
            return
        try:
            self.result.set_result(self._function())
        except BaseException as error:
            self.result.set_exception(error)
