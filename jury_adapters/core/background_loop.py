"""Background event loop of the synchronous API, in its own thread."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future

from jury_adapters.core.loop_executor import LoopExecutor

_log = logging.getLogger(__name__)


class BackgroundLoop:
    """Daemon thread with an event loop, which starts at the first use and again after a fork.

    The thread creates its loop itself, and no step that waits holds the lock. So a finaliser that schedules a callback
    on the loop never waits for a lock that the interrupted code holds, such as the lock of asyncio's policy.

    Attributes:
        thread: the thread.
        loop: the loop, once it is created.
        ended: whether the process is ending.
    """

    def __init__(self) -> None:
        self.ended = False
        self._lock = threading.RLock()  # reentrant, because a finaliser may run while its thread holds it
        self.loop: asyncio.AbstractEventLoop | None = None
        self._made: Future[asyncio.AbstractEventLoop] | None = None
        self._early: deque[tuple[Callable[[], None], contextvars.Context]] = deque()  # callbacks that wait for the loop
        self.thread: threading.Thread | None = None

    def running_loop(self) -> asyncio.AbstractEventLoop:
        """Return the loop; wait until its thread has created it.

        Raises:
            RuntimeError: the thread cannot be started.
            OSError: the loop cannot be created.
        """
        loop = self.loop
        return self._start().result() if loop is None else loop

    def call_soon(self, callback: Callable[[], None]) -> None:
        """Schedule a function on the loop without waiting for the loop.

        Raises:
            RuntimeError: the thread cannot be started.
        """
        loop = self.loop
        if loop is None:
            with self._lock:
                loop = self.loop
                if loop is None:
                    self._early.append((callback, contextvars.copy_context()))
        if loop is None:
            self._start()
        else:
            loop.call_soon_threadsafe(callback)

    def end(self) -> None:
        """Stop the loop at the end of the process: cancel running work and close clients."""
        self.ended = True
        with self._lock:
            made, thread = self._made, self.thread
            self.loop = self._made = self.thread = None
        if made is not None and thread is not None and thread.is_alive():
            made.add_done_callback(_stop)
            thread.join(timeout=5)

    def _start(self) -> Future[asyncio.AbstractEventLoop]:
        """Start the thread unless it runs, and return the future of its loop."""
        with self._lock:
            if self._made is not None:
                return self._made
            made = self._made = Future()
            thread = self.thread = threading.Thread(
                target=self._serve, args=(made,), name="jury-adapters-loop", daemon=True
            )
        try:
            thread.start()
        except BaseException as error:
            self._forget(made)
            made.set_exception(error)
            raise
        return made

    def _serve(self, made: Future[asyncio.AbstractEventLoop]) -> None:
        try:
            loop = asyncio.new_event_loop()
        except BaseException as error:
            self._forget(made)
            made.set_exception(error)
            _log.exception("the event loop of the synchronous API cannot be made")
            return
        asyncio.set_event_loop(loop)
        loop.set_default_executor(LoopExecutor())
        with self._lock:
            if self._made is made:
                self.loop = loop
            while self._early:
                callback, context = self._early.popleft()
                loop.call_soon(callback, context=context)
        made.set_result(loop)
        try:
            loop.run_forever()
        finally:
            self._forget(made)
        _clean_up(loop)

    def _forget(self, made: Future[asyncio.AbstractEventLoop]) -> None:
        """Forget the thread, so that the next use starts another one."""
        with self._lock:
            if self._made is made:
                self.loop = self._made = self.thread = None


def _stop(made: Future[asyncio.AbstractEventLoop]) -> None:
    if made.exception() is None:
        loop = made.result()
        loop.call_soon_threadsafe(loop.stop)


def _clean_up(loop: asyncio.AbstractEventLoop) -> None:
    running = asyncio.all_tasks(loop)
    for task in running:
        task.cancel()
    if running:
        loop.run_until_complete(asyncio.wait(running, timeout=4))
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()
