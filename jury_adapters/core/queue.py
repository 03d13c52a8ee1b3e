"""JudgeQueue, which judges what a running application produces, in the background."""

import asyncio
import concurrent.futures.thread  # noqa: F401 - registers its own exit hook first, which then runs after ours
import logging
import os
import random
import threading
from atexit import register
from collections import Counter
from collections.abc import Callable
from contextvars import Context
from functools import partial
from time import monotonic
from typing import Any, Self
from weakref import WeakSet

from jury_adapters.core import loop
from jury_adapters.core.asking import Asking, JudgedRun, tell
from jury_adapters.core.budget import Budget
from jury_adapters.core.case import Case, CaseLike
from jury_adapters.core.context import within
from jury_adapters.core.judge import JudgeLike, cancellations, pass_on
from jury_adapters.core.store import Store
from jury_adapters.core.values import ConfigurationError

_log = logging.getLogger(__name__)


class JudgeQueue:
    """Queue whose runs are judged in the background. :meth:`put` never waits and never raises.

    Pending runs are judged at the normal end of the process, for at most ``exit_timeout`` seconds; a signal such as
    SIGTERM loses them, unless the application calls :meth:`close`.

    Args:
        jury: the jury, or a function of a case.
        case: makes the case of what is put; by default this is a Case, a question or a mapping of fields.
        on_verdict: called with each :class:`JudgedRun`; a plain function runs in a thread. What it raises is counted.
        sample: the share of runs that are judged, 0..1.
        max_pending: the number of pending runs from which further ones are dropped.
        max_concurrency: the number of runs judged at once.
        store: where judgments are kept.
        budget: the limit on spending.
        exit_timeout: seconds to wait for pending runs at the end of the process or of a ``with`` block.

    Attributes:
        counts: numbers of runs by what happened: ``judged``, ``unsampled``, ``dropped``, ``unfinished`` when the queue
            was closed, and of exceptions ``sink_errors``.

    >>> verdicts = []
    >>> with JudgeQueue(lambda case: len(case.answer) < 20, on_verdict=verdicts.append) as queue:
    ...     queue.put({"answer": "In 2018."})
    True
    >>> verdicts[0].judgment.status.value
    'PASS'
    """

    def __init__(
        self,
        jury: JudgeLike,
        *,
        case: Callable[[Any], CaseLike] = Case.of,
        on_verdict: Callable[[JudgedRun], Any] | None = None,
        sample: float = 1.0,
        max_pending: int = 1000,
        max_concurrency: int = 16,
        store: Store | None = None,
        budget: Budget | None = None,
        exit_timeout: float = 10.0,
    ) -> None:
        if not (isinstance(sample, int | float) and 0 <= sample <= 1) or max_pending < 1 or max_concurrency < 1:
            raise ConfigurationError("sample= is in 0..1, and max_pending= and max_concurrency= are numbers from 1")
        if not (on_verdict is None or callable(on_verdict)):
            raise ConfigurationError(f"on_verdict= is a function of a JudgedRun, not {type(on_verdict).__name__}")
        self.asking = Asking(jury, case, store, budget)
        self.counts: Counter[str] = Counter()
        self.on_verdict, self.sample, self.max_pending = on_verdict, sample, max_pending
        self.max_concurrency, self.exit_timeout = max_concurrency, exit_timeout
        self._closed = False
        self._reset()
        _QUEUES.add(self)

    def _reset(self) -> None:
        """Begin without pending runs; also in a forked child, whose parent judges its own."""
        self._changed = threading.Condition()  # reentrant: a finaliser may put while this thread puts or waits
        self._pending: dict[object, asyncio.Task[None] | None] = {}  # by what stands for each run
        self._room: asyncio.Semaphore | None = None
        self._context = Context()  # an empty one, so that nothing of the application's tracing sees the judges

    def put(self, run: Any) -> bool:
        """Add a run, and return whether it will be judged."""
        if self.sample < 1 and random.random() >= self.sample:
            self.count("unsampled")
            return False
        key = object()
        with self._changed:
            taken = not self._closed and len(self._pending) < self.max_pending
            try:
                if taken:
                    self._pending[key] = None
                    loop.background().call_soon_threadsafe(self._begin, key, run, context=self._context.copy())
            except RuntimeError:  # the interpreter shuts down
                taken = self._pending.pop(key) is not None
        if not taken:
            self.count("dropped")
        return taken

    def count(self, what: str) -> None:
        """Count a run by what happened to it; the 1st, 2nd, 4th, ... that is lost is logged."""
        with self._changed:
            self.counts[what] += 1
            number = self.counts[what]
        if what in ("dropped", "sink_errors") and number.bit_count() == 1:
            _log.warning(
                "%s: %d so far",
                {"dropped": "runs not judged, the queue is full or closed"}.get(what, "on_verdict= raised"),
                number,
            )

    def _begin(self, key: object, run: Any) -> None:
        task = self._pending[key] = asyncio.create_task(self._judge(run))
        task.add_done_callback(partial(self._end, key))

    def _end(self, key: object, task: "asyncio.Task[None]") -> None:
        if task.cancelled():  # by a judge
            self.count("dropped")
        with self._changed:
            del self._pending[key]
            if self.counts["unfinished"]:
                self.counts -= Counter(unfinished=1)
            self._changed.notify_all()

    async def _judge(self, run: Any) -> None:
        self._room = self._room or asyncio.Semaphore(self.max_concurrency)
        async with self._room:
            judged = await self.asking.ajudged(run)
            self.count("judged")
            if self.on_verdict is not None:
                await self._tell(self.on_verdict, judged)

    async def _tell(self, sink: Callable[[JudgedRun], Any], judged: JudgedRun) -> None:
        before = cancellations()
        try:
            with within(judging=True):  # sinks, too, are not the application
                await tell(sink, judged)
        except BaseException as error:
            pass_on(error, before)
            _log.debug("on_verdict= raised", exc_info=True)
            self.count("sink_errors")

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until the runs that are pending now are judged, at most ``timeout`` seconds; return whether all are."""
        with self._changed:
            awaited = {*self._pending}
            return self._changed.wait_for(lambda: awaited.isdisjoint(self._pending), timeout)

    async def aflush(self, timeout: float | None = None) -> bool:
        """Wait like :meth:`flush`, for asynchronous code."""
        return await loop.in_thread(self.flush, timeout)

    def close(self, timeout: float | None = None) -> bool:
        """Take no more runs, and wait for the pending ones; return whether all were judged."""
        self._closed = True
        done = self.flush(self.exit_timeout if timeout is None else timeout)
        if not done:
            with self._changed:
                self.counts["unfinished"] = len(self._pending)
            _log.warning("closed with %d runs not judged", self.counts["unfinished"])
        return done

    async def aclose(self, timeout: float | None = None) -> bool:
        """Close like :meth:`close`, for asynchronous code."""
        return await loop.in_thread(self.close, timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_QUEUES: "WeakSet[JudgeQueue]" = WeakSet()


def _close_all() -> None:
    queues = tuple(_QUEUES)
    for queue in queues:
        queue._closed = True
    begun = monotonic()
    for queue in queues:  # all together wait no longer than the most patient
        queue.close(max(0.0, begun + queue.exit_timeout - monotonic()))


def _after_fork() -> None:
    for queue in tuple(_QUEUES):
        queue._reset()


# Before the interpreter shuts down its thread pools, which name look-ups need; an atexit hook runs too late.
getattr(threading, "_register_atexit", register)(_close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
