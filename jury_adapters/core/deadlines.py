"""Time limits for very many calls, each at the cost of one dictionary entry.

``asyncio.timeout`` sets a timer for every call. A limit of minutes rarely expires, but cancelled timers remain in the
event loop's heap for a while and slow down all others. Here one timer per loop serves all long limits.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Self
from weakref import WeakKeyDictionary


class Deadline:
    """Time limit for a ``with`` block, like ``asyncio.timeout``; the block raises TimeoutError when the limit expires.

    A limit of at least ten seconds expires up to one second late. A shorter limit has its own timer and is exact.

    Args:
        seconds: the limit in seconds; None for no limit.

    Attributes:
        expired: whether the limit has expired.

    >>> async def patient():
    ...     with Deadline(0.01):
    ...         await asyncio.sleep(60)
    >>> asyncio.run(patient())
    Traceback (most recent call last):
    TimeoutError
    """

    __slots__ = ("_cancelling", "_seconds", "_task", "_timer", "_watch", "expired")

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._timer: asyncio.TimerHandle | None = None
        self._watch: dict[Deadline, float] | None = None
        self.expired = False

    def __enter__(self) -> Self:
        if self._seconds is None:
            return self
        loop = asyncio.get_running_loop()
        task = asyncio.current_task(loop)
        assert task is not None  # models are always awaited in a task
        self._task = task
        self._cancelling = task.cancelling()
        if self._seconds < _LONG:
            self._timer = loop.call_later(self._seconds, self._strike)
        else:
            self._watch = _watch_over(loop)
            self._watch[self] = loop.time() + self._seconds
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._watch is not None:
            self._watch.pop(self, None)
        elif self._timer is not None:
            self._timer.cancel()
        if self.expired and self._task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise TimeoutError from error  # only this limit has cancelled the task

    def _strike(self) -> None:
        self.expired = True
        self._task.cancel()


_LONG = 10.0
_STRIDE = 1.0  # seconds between two checks
_WATCHES: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Deadline, float]] = WeakKeyDictionary()


def _watch_over(loop: asyncio.AbstractEventLoop) -> dict[Deadline, float]:
    """Return the long limits of a loop with their times of expiry, which are checked every second."""
    watch = _WATCHES.get(loop)
    if watch is None:
        watch = _WATCHES[loop] = {}
        loop.call_later(_STRIDE, _look, loop)
    return watch


def _look(loop: asyncio.AbstractEventLoop) -> None:
    watch = _WATCHES[loop]
    if not watch:
        del _WATCHES[loop]
        return
    now = loop.time()
    for deadline in [deadline for deadline, due in watch.items() if due <= now]:
        del watch[deadline]
        deadline._strike()
    loop.call_later(_STRIDE, _look, loop)
