"""One event loop in a daemon thread, on which the synchronous API runs; and threads for functions that block."""

import asyncio
import atexit
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from contextvars import copy_context
from typing import Any, TypeVar

from jury_adapters.core.values import error_text

T = TypeVar("T")

_lock = threading.RLock()  # a finaliser may start work while its thread is in here
_loop: asyncio.AbstractEventLoop | None = None
_thread: threading.Thread | None = None


def background() -> asyncio.AbstractEventLoop:
    """Return the loop; it starts at the first use, and again in a forked child."""
    global _loop, _thread
    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            _thread = threading.Thread(target=_run, args=(_loop,), name="jury-loop", daemon=True)
            _thread.start()
        return _loop


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    while not loop.is_closed():
        with suppress(BaseException):  # a task of a judge raised SystemExit, or stopped the loop; the others go on
            loop.run_forever()


@atexit.register
def _close() -> None:
    """Close the connections that are open on the loop, as ``asyncio.run`` does at the end of its own."""
    if _loop is not None:
        with suppress(Exception):
            asyncio.run_coroutine_threadsafe(_loop.shutdown_asyncgens(), _loop).result(timeout=1)


def start(work: Coroutine[Any, Any, T]) -> "Future[T]":
    """Start work on the loop, from any thread; cancelling the future cancels the work."""
    return asyncio.run_coroutine_threadsafe(work, background())


def to_wait_for() -> asyncio.AbstractEventLoop:
    """Return the loop, for a caller that will wait for work on it.

    Raises:
        RuntimeError: the caller runs on this loop, and would wait for itself.
    """
    if threading.current_thread() is _thread:
        raise RuntimeError("judge() was called on the event loop of a judge: use `await judge.ajudge(...)`")
    return background()


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run work on the loop and wait for it; an interrupt cancels it."""
    try:
        future = asyncio.run_coroutine_threadsafe(work, to_wait_for())
    except RuntimeError:
        work.close()
        raise
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


async def in_thread(function: Callable[..., T], *args: Any) -> T:
    """Call a function in a daemon thread of its own, which is given up if the caller is cancelled.

    A pool would be exhausted by judges that call juries, and would keep a process with a hung function from ending.
    """
    loop, context = asyncio.get_running_loop(), copy_context()
    done: asyncio.Future[T] = loop.create_future()

    def settle(put: Callable[[Any], None], value: Any) -> None:
        if not done.done():
            put(value)

    def work() -> None:
        put: Callable[[Any], None] = done.set_result
        try:
            value: Any = context.run(function, *args)
        except BaseException as error:
            # A future holds no StopIteration, and a SystemExit of this thread must not end the loop.
            ordinary = isinstance(error, Exception) and not isinstance(error, StopIteration)
            put, value = done.set_exception, error if ordinary else RuntimeError(error_text(error))
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, put, value)

    try:
        threading.Thread(target=work, name="jury-judge", daemon=True).start()
    except RuntimeError:  # the process ends, and Python 3.12.0 and 3.12.1 start no threads then
        work()
    return await done


def _after_fork() -> None:
    global _loop, _thread, _lock
    _loop = _thread = None
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
