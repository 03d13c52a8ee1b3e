"""Execution of asynchronous work for the synchronous API, and threads that can be abandoned.

``judge()`` must work in a script, in a thread, and inside a running loop (a notebook). So asynchronous work runs on one
background loop that exists as long as the process; the caller's own loop is never used or nested.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import contextvars
import os
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

from jury_adapters.core.background_loop import BackgroundLoop
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.loop_executor import LoopExecutor, awaited_by_worker

T = TypeVar("T")


def run_inline(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never waits, without an event loop.

    Raises:
        RuntimeError: the coroutine waited. The same error is first raised inside the coroutine, which may handle it.
    """
    outer = runs_inline()
    _here.inline = True
    try:
        work.send(None)
        work.throw(RuntimeError("a judge that claims to be inline waited for something; do not set `inline` on it"))
    except StopIteration as finished:
        return finished.value  # type: ignore[no-any-return]
    finally:
        _here.inline = outer
        work.close()
    raise RuntimeError("a judge that claims to be inline goes on waiting; do not set `inline` on it")


def runs_inline() -> bool:
    """Whether this thread is running a coroutine without an event loop, so that nothing can be awaited."""
    return getattr(_here, "inline", False)


def run(function: Callable[..., Coroutine[Any, Any, T]], *args: object) -> T:
    """Run an asynchronous function on the background loop and return its result.

    Ctrl-C while waiting cancels the work, waits until it has cleaned up, and raises KeyboardInterrupt. If it is called
    on the background loop itself (by a synchronous judge inside an asynchronous one), the work gets its own loop.
    """
    if would_deadlock():
        return _run_elsewhere(function, *args)
    if _portal.ended:
        _wait_for_the_end()
    errand = _Errand(function, args)
    loop = _portal.running_loop()
    try:
        with _blocking(), awaited_by_worker():
            loop.call_soon_threadsafe(errand.start)
        errand.ended.acquire()  # a lock is faster than an event, and every synchronous judgment passes here
    except BaseException:
        loop.call_soon_threadsafe(errand.cancel)
        errand.ended.acquire(timeout=5)
        raise
    if _portal.ended:
        _wait_for_the_end()
    return unwrap(errand.result())


def require_asyncio(what: str) -> None:
    """Check that asyncio runs the caller.

    Args:
        what: the name of the called function, for the message.

    Raises:
        ConfigurationError: another library, such as trio, runs the caller.
    """
    if asyncio._get_running_loop() is None and not runs_inline():
        raise ConfigurationError(
            f"{what} requires asyncio, and no asyncio event loop is running; under trio call judge() in a thread: "
            "await trio.to_thread.run_sync(jury.judge, case)"
        )


def would_deadlock() -> bool:
    """Whether the background loop waits for the caller, so that the caller must not wait for it."""
    return threading.current_thread() is _portal.thread or _portal.loop in _blocked.get()


def blocked_loops() -> frozenset[asyncio.AbstractEventLoop]:
    """Return the event loops that are blocked until the caller has ended, because code on them waits for it."""
    return _blocked.get()


def is_cancelled() -> bool:
    """Whether the current task is being cancelled.

    An awaited operation may also raise CancelledError for other reasons: a client inside was closed, or a shared future
    was abandoned. A task counts only real requests to cancel it, such as those of a time limit or of a framework.
    """
    try:
        task = asyncio.current_task()
    except RuntimeError:  # without a loop there is no task to cancel
        return False
    return task is not None and task.cancelling() > 0


def submit(work: Coroutine[Any, Any, T], *, blocking: bool = False) -> Future[T]:
    """Start a coroutine on the background loop and return its future; cancelling the future cancels the work.

    The work must not raise KeyboardInterrupt or SystemExit, which would stop the loop; see :func:`run_and_capture`.

    Args:
        work: the coroutine.
        blocking: whether the caller waits for the future, which blocks the event loop of its thread, if any.
    """
    if blocking and asyncio._get_running_loop() is not None:
        with _blocking():
            return submit(work)
    return asyncio.run_coroutine_threadsafe(work, _portal.running_loop())


def call_soon(callback: Callable[[], None]) -> None:
    """Schedule a short function on the background loop.

    It never waits, so finalisers may call it: garbage collection runs them at any line, even while this thread holds a
    lock of asyncio.
    """
    _portal.call_soon(callback)


class _Errand(Generic[T]):
    """Work for the background loop, with a lock that is released when the work has ended and cleaned up."""

    __slots__ = ("_args", "_function", "_task", "ended")

    def __init__(self, function: Callable[..., Coroutine[Any, Any, T]], args: tuple[object, ...]) -> None:
        self.ended = threading.Lock()
        self.ended.acquire()
        self._function = function
        self._args = args
        self._task: asyncio.Task[T | CapturedException] | None = None

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(run_and_capture(self._function, *self._args))
        self._task.add_done_callback(lambda _: self.ended.release())

    def cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def result(self) -> T | CapturedException:
        """Return the result of the work.

        Raises:
            asyncio.CancelledError: the work was cancelled.
        """
        assert self._task is not None
        return self._task.result()


class Abandoned(TimeoutError):
    """Error for a thread that exceeded its time limit and was abandoned, but is still running."""


class CapturedException:
    """Exception that a task returns as a value.

    A KeyboardInterrupt or SystemExit in a task stops the whole asyncio event loop. As a value it reaches only the code
    that waits for the task.
    """

    __slots__ = ("error",)

    def __init__(self, error: BaseException) -> None:
        self.error = error


async def run_and_capture(function: Callable[..., Coroutine[Any, Any, T]], *args: object) -> T | CapturedException:
    """Call and await a function, and return its exception as a value; CancelledError is raised.

    It takes the function and not its coroutine, so that no coroutine is left unawaited if the task is cancelled before
    it starts.
    """
    try:
        return await function(*args)
    except asyncio.CancelledError:
        raise
    except BaseException as error:
        return CapturedException(error)


def unwrap(result: T | CapturedException) -> T:
    """Return the result, or raise the captured exception."""
    if isinstance(result, CapturedException):
        raise result.error
    return result


async def in_daemon_thread(function: Callable[[], T], timeout: float) -> T:
    """Run a function in a thread of its own, and abandon the thread after ``timeout`` seconds.

    A thread cannot be stopped from outside. An abandoned thread continues as a daemon, so that it never keeps the
    process alive, and :func:`abandoned_threads` counts it until it ends.

    Raises:
        Abandoned: the function took longer.
    """
    loop = asyncio.get_running_loop()
    finished: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def work() -> None:
        error: BaseException | None = None
        try:
            result = context.run(function)
        except BaseException as raised:
            error = raised
        with contextlib.suppress(RuntimeError):  # the loop may be closed
            loop.call_soon_threadsafe(_settle, finished, error, None if error else result)

    thread = threading.Thread(target=work, name="jury-judge", daemon=True)
    thread.start()
    try:
        await asyncio.wait((finished,), timeout=timeout)
    finally:
        if not finished.done():
            finished.cancel()  # later exceptions of the thread are ignored
            abandoned_threads()  # remove threads that have ended meanwhile
            _abandoned.add(thread)
    if finished.cancelled():
        raise Abandoned(f"no result within {timeout:g} s")
    return finished.result()


def in_worker_thread(function: Callable[[], T]) -> Coroutine[Any, Any, T]:
    """Run a function in a thread of its own without a time limit; see :func:`in_daemon_thread`."""
    return in_daemon_thread(function, _FOREVER)


def abandoned_threads() -> int:
    """Return the number of abandoned threads that are still running."""
    _abandoned.difference_update([thread for thread in tuple(_abandoned) if not thread.is_alive()])
    return len(_abandoned)


def _wait_for_the_end() -> None:
    """Block a daemon thread that judges while the process ends, because its result cannot be used any more."""
    if threading.current_thread().daemon:
        threading.Event().wait()


_FOREVER = 86_400.0  # seconds; asyncio needs a number
_portal = BackgroundLoop()
atexit.register(_portal.end)
_abandoned: set[threading.Thread] = set()
_here = threading.local()
# A context variable, so that it also applies in threads that nested judges start.
_blocked: contextvars.ContextVar[frozenset[asyncio.AbstractEventLoop]] = contextvars.ContextVar(
    "jury_blocked_loops", default=frozenset()
)


def _after_fork() -> None:
    """Reset the background loop in a forked child process, which has the parent's memory but not its threads."""
    _portal.__init__()  # type: ignore[misc]
    _abandoned.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _settle(future: asyncio.Future[Any], error: BaseException | None, result: object) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(result)
    elif isinstance(error, StopIteration):  # futures do not accept it
        future.set_exception(RuntimeError(f"StopIteration: {error}"))
    else:
        future.set_exception(error)


@contextlib.contextmanager
def _blocking() -> Iterator[None]:
    """Mark the event loop of this thread, if any, as blocked by the work that is started in the block."""
    here = asyncio._get_running_loop()
    if here is None or here in _blocked.get():
        yield
        return
    token = _blocked.set(_blocked.get() | {here})
    try:
        yield
    finally:
        _blocked.reset(token)


async def _with_executor(function: Callable[..., Coroutine[Any, Any, T]], args: tuple[object, ...]) -> T:
    asyncio.get_running_loop().set_default_executor(LoopExecutor())
    return await function(*args)


def _run_elsewhere(function: Callable[..., Coroutine[Any, Any, T]], *args: object) -> T:
    box: list[T | BaseException] = []
    with _blocking():
        context = contextvars.copy_context()

    def target() -> None:
        try:
            box.append(context.run(asyncio.run, _with_executor(function, args)))
        except BaseException as error:
            box.append(error)

    thread = threading.Thread(target=target, name="jury-adapters-loop-nested", daemon=True)
    thread.start()
    thread.join()
    (result,) = box
    if isinstance(result, BaseException):
        raise result
    return result
