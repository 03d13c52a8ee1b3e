"""Executor of the event loops of this package."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")


class LoopExecutor(ThreadPoolExecutor):
    """Default executor of an event loop, for ``run_in_executor(None, ...)`` and ``asyncio.to_thread``.

    Functions run in the context of the caller, as with ``asyncio.to_thread``, so that a judge that calls itself is
    detected. A function for which a thread of an executor waits gets a thread of its own, so that threads that wait for
    each other's judges do not exhaust the executor.
    """

    def __init__(self) -> None:
        super().__init__(thread_name_prefix="jury-executor", initializer=_mark)

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        call = partial(contextvars.copy_context().run, fn, *args, **kwargs)
        return _in_own_thread(call) if _AWAITED.get() else super().submit(call)


@contextmanager
def awaited_by_worker() -> Iterator[None]:
    """Mark work that is started in the block as awaited by this thread, if the thread belongs to an executor."""
    if not getattr(_here, "worker", False) or _AWAITED.get():
        yield
        return
    token = _AWAITED.set(True)
    try:
        yield
    finally:
        _AWAITED.reset(token)


def _in_own_thread(call: Callable[[], T]) -> Future[T]:
    future: Future[T] = Future()
    threading.Thread(target=_settle, args=(future, call), name="jury-executor-nested", daemon=True).start()
    return future


def _settle(future: Future[T], call: Callable[[], T]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = call()
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)


def _mark() -> None:
    _here.worker = True


_here = threading.local()
_AWAITED: contextvars.ContextVar[bool] = contextvars.ContextVar("jury_awaited_by_worker", default=False)
