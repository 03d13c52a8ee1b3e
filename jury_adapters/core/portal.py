"""The one event loop behind the synchronous API, and threads that can be given up on.

``judge()`` must work in a script, in a thread, and inside a running loop (a notebook) alike. So asynchronous work is
handed to one background loop that lives as long as the process; the caller's own loop is never touched or nested.
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
        RuntimeError: the coroutine did wait (it is told so first, and may make something of it).
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
    """Run an asynchronous function on the background loop and wait for its result.

    Ctrl-C while waiting cancels the work, waits until it has cleaned up, and goes on as KeyboardInterrupt. Called on
    the background loop itself (a synchronous judge inside an asynchronous one), the work gets a loop of its own.
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
        errand.ended.acquire()  # a lock and not an event: this is on the path of every synchronous judgment
    except BaseException:
        loop.call_soon_threadsafe(errand.cancel)
        errand.ended.acquire(timeout=5)
        raise
    if _portal.ended:
        _wait_for_the_end()
    return unwrapped(errand.result())


def require_asyncio(what: str) -> None:
    """Check that asyncio runs the caller.

    Args:
        what: what is called, for the message.

    Raises:
        ConfigurationError: something else runs it, for example trio.
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
    """The event loops that stand still until the caller has ended, because code that they run waits for it."""
    return _blocked.get()


def is_cancelled() -> bool:
    """Whether somebody cancels the running task.

    What a task awaits may raise CancelledError all by itself: a client inside was closed, or a future that others share
    was given up. Whoever cancels a task, be it a time limit or the scope of a framework, is counted by the task.
    """
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no loop, and so no task that could be cancelled
        return False
    return task is not None and task.cancelling() > 0


def submit(work: Coroutine[Any, Any, T], *, blocking: bool = False) -> Future[T]:
    """Start a coroutine on the background loop; cancelling the future cancels the work.

    With ``blocking`` the caller waits for the future, so that the event loop of its thread, if any, stands still.

    The work must not raise KeyboardInterrupt or SystemExit (see :func:`carried`): they would stop the loop.
    """
    if blocking and asyncio._get_running_loop() is not None:
        with _blocking():
            return submit(work)
    return asyncio.run_coroutine_threadsafe(work, _portal.running_loop())


def call_soon(callback: Callable[[], None]) -> None:
    """Run a short function on the background loop, soon.

    It waits for nothing, so finalisers may call it: garbage collection runs them at any line, also where this thread
    holds a lock of asyncio.
    """
    _portal.call_soon(callback)


class _Errand(Generic[T]):
    """Work for the background loop, and a lock that is open once it has ended and cleaned up."""

    __slots__ = ("_args", "_function", "_task", "ended")

    def __init__(self, function: Callable[..., Coroutine[Any, Any, T]], args: tuple[object, ...]) -> None:
        self.ended = threading.Lock()
        self.ended.acquire()
        self._function = function
        self._args = args
        self._task: asyncio.Task[T | Carried] | None = None

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(carried(self._function, *self._args))
        self._task.add_done_callback(lambda _: self.ended.release())

    def cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def result(self) -> T | Carried:
        """What came of it.

        Raises:
            asyncio.CancelledError: it was cancelled.
        """
        assert self._task is not None
        return self._task.result()


class Abandoned(TimeoutError):
    """A thread took longer than it was given, and runs on alone."""


class Carried:
    """An exception on its way out of a task.

    asyncio lets KeyboardInterrupt and SystemExit of a task stop the whole event loop. Carried as a value they reach
    the one who waits for the task, and only that one.
    """

    __slots__ = ("error",)

    def __init__(self, error: BaseException) -> None:
        self.error = error


async def carried(function: Callable[..., Coroutine[Any, Any, T]], *args: object) -> T | Carried:
    """Call and await a function, and return what it raises as a value; cancellation stays cancellation.

    It takes the function, not its coroutine: cancelled before it starts, nothing is left that was never awaited.
    """
    try:
        return await function(*args)
    except asyncio.CancelledError:
        raise
    except BaseException as error:
        return Carried(error)


def unwrapped(result: T | Carried) -> T:
    """The result, or raise the exception it carries."""
    if isinstance(result, Carried):
        raise result.error
    return result


async def in_daemon_thread(function: Callable[[], T], timeout: float) -> T:
    """Run a function in a thread of its own and give up on it after ``timeout`` seconds.

    A thread cannot be stopped from outside. One that is given up on runs on as a daemon, so that it never keeps the
    process alive, and is counted by :func:`abandoned_threads` until it ends.

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
        with contextlib.suppress(RuntimeError):  # the loop may be gone by now, and nobody waits
            loop.call_soon_threadsafe(_settle, finished, error, None if error else result)

    thread = threading.Thread(target=work, name="jury-judge", daemon=True)
    thread.start()
    try:
        await asyncio.wait((finished,), timeout=timeout)
    finally:
        if not finished.done():
            finished.cancel()  # whatever the thread still raises is nobody's business
            abandoned_threads()  # forget those that have ended meanwhile
            _abandoned.add(thread)
    if finished.cancelled():
        raise Abandoned(f"no result within {timeout:g} s")
    return finished.result()


def in_worker_thread(function: Callable[[], T]) -> Coroutine[Any, Any, T]:
    """Run a function in a thread of its own, however long it takes; see :func:`in_daemon_thread`."""
    return in_daemon_thread(function, _FOREVER)


def abandoned_threads() -> int:
    """How many threads given up on are still running."""
    _abandoned.difference_update([thread for thread in tuple(_abandoned) if not thread.is_alive()])
    return len(_abandoned)


def _wait_for_the_end() -> None:
    """Stop a daemon thread that judges while the process ends; whatever it did, nothing could use the result."""
    if threading.current_thread().daemon:
        threading.Event().wait()


_FOREVER = 86_400.0  # seconds; a time limit of asyncio is a number
_portal = BackgroundLoop()
atexit.register(_portal.end)
_abandoned: set[threading.Thread] = set()
_here = threading.local()
# Travels with the context, so that it also holds in threads that judges of the nested work start.
_blocked: contextvars.ContextVar[frozenset[asyncio.AbstractEventLoop]] = contextvars.ContextVar(
    "jury_blocked_loops", default=frozenset()
)


def _after_fork() -> None:
    """A child process has the parent's memory but not its threads."""
    _portal.__init__()  # type: ignore[misc]
    _abandoned.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _settle(future: asyncio.Future[Any], error: BaseException | None, result: object) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(result)
    elif isinstance(error, StopIteration):  # a future refuses it
        future.set_exception(RuntimeError(f"StopIteration: {error}"))
    else:
        future.set_exception(error)


@contextlib.contextmanager
def _blocking() -> Iterator[None]:
    """Note, for work that is started inside, that the event loop of this thread, if any, stands still until its end."""
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

    thread = threading.Thread(target=target, name="jury-portal-nested", daemon=True)
    thread.start()
    thread.join()
    (result,) = box
    if isinstance(result, BaseException):
        raise result
    return result
