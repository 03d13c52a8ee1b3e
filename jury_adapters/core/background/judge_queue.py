"""Queue of an application's runs that are judged in the background.

The application puts a case into the queue and continues. A bounded number of cases is judged at once, on the background
loop and in a context of their own, so that tracing, caches and cancellation of the application do not affect the
judges, and vice versa.

Waking up a thread costs a busy application time, however little the thread does. So the background loop is woken up
once for all runs of some milliseconds, and at once only if a caller waits for the judgments.
"""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures.thread  # noqa: F401  its exit hook must be registered before the one of this module
import logging
import os
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from contextvars import Context
from dataclasses import replace
from functools import partial
from os import PathLike
from time import monotonic
from typing import Self, TypeAlias
from uuid import uuid4
from weakref import WeakSet

from jury_adapters.core import event_loop
from jury_adapters.core.background.counts import Counts, Outcome
from jury_adapters.core.background.options import EXIT_TIMEOUT, check_ranges, check_whole
from jury_adapters.core.background.sink_calls import SinkFailures, call_sink, sinks_of
from jury_adapters.core.budget import Budget
from jury_adapters.core.cache import JudgmentCache
from jury_adapters.core.case import Case
from jury_adapters.core.constant_abstention import ConstantAbstention
from jury_adapters.core.context import change_context, run_context
from jury_adapters.core.formatting import counted
from jury_adapters.core.jitter import OWN
from jury_adapters.core.judge import Judge
from jury_adapters.core.judge_like import JudgeLike, judge_of
from jury_adapters.core.judgment import Judgment, broken, evolve
from jury_adapters.core.return_values import run_failed
from jury_adapters.core.runs import JudgedRun, Run, Sink
from jury_adapters.core.scope import Scope
from jury_adapters.core.secrets import without_keys
from jury_adapters.core.verdict_facts import is_outage, outage_as_error

_log = logging.getLogger(__name__)

CaseSource: TypeAlias = Case | Callable[[], Case]


class JudgeQueue:
    """Queue whose runs are judged in the background, some milliseconds after they were added.

    Args:
        judge: any judge, or a function of a case. A judge that blocks (``time.sleep``, a synchronous client) needs a
            ``timeout=``, so that it runs in a thread; otherwise it delays all other judgments.
        on_verdict: called with each :class:`JudgedRun`; one or several functions, plain or asynchronous. Plain
            functions run in a thread, and are called for several runs in sequence while they are fast. Runs may come in
            another order than that in which they ended. Exceptions of the functions are logged and counted.
        on_error: called with each judged run whose judgment is ERROR, of which every juror broke, or that is FAIL only
            because jurors broke (``judgment.failed_by_errors``), before ``on_verdict``.
        sample: the share of runs to judge, 0..1.
        max_pending: the maximum number of runs that wait or are being judged; further runs are dropped, counted and
            logged.
        max_concurrency: the maximum number of runs that are judged, or passed to sinks, at once.
        store: the store for the judgments of critics; see :class:`jury_adapters.Store`.
        budget: the limit on the spending of the judges; when it is exhausted, critics abstain.
        exit_timeout: maximum time in seconds to wait for pending runs at the end of the process or of a ``with`` block.

    Raises:
        ConfigurationError: an option is out of its range.
    """

    _running: int
    _number: int

    def __init__(
        self,
        judge: JudgeLike,
        *,
        on_verdict: Sink | Sequence[Sink] | None = None,
        on_error: Callable[[JudgedRun], object] | None = None,
        sample: float = 1.0,
        max_pending: int = 1000,
        max_concurrency: int = 16,
        store: JudgmentCache | str | PathLike[str] | None = None,
        budget: Budget | None = None,
        exit_timeout: float = EXIT_TIMEOUT,
    ) -> None:
        judge = judge_of(judge)
        check_ranges(sample=sample, exit_timeout=exit_timeout)
        check_whole(max_pending=max_pending, max_concurrency=max_concurrency)
        self.judge = judge
        self.exit_timeout = exit_timeout
        self._tally: Counter[str] = Counter()
        self._abstention = ConstantAbstention()
        self._sinks = sinks_of(on_verdict)
        self._failures: dict[int, SinkFailures] = {}
        self._on_error = sinks_of(on_error)
        self._sample = sample
        self._max_pending = max_pending
        self._max_concurrency = max_concurrency
        self._scope = Scope.of(judge, store, budget)
        self._never_waits = judge.inline and judge.timeout is None
        self._closed = False
        self._forget_pending()
        _QUEUES.add(self)

    @property
    def counts(self) -> Counts:
        """Number of runs by outcome so far."""
        with self._changed:
            return replace(Counts(**self._tally), pending=len(self._pending))

    @property
    def pending(self) -> int:
        """Number of runs that wait, are being judged, or are being passed to sinks."""
        return len(self._pending)

    def count(self, outcome: Outcome) -> None:
        """Count a run under a name of :attr:`counts`; safe in every thread and in finalisers."""
        with self._changed:
            self._tally[outcome] += 1

    def put(self, case: CaseSource, *, run: Run | None = None) -> bool:
        """Add a case to the queue and return immediately, without waiting or raising an exception.

        Args:
            case: the case, or a function that returns it, which is called in the background.
            run: the run of the application that the case is from; by default a run with a random id.

        Returns:
            False if the case will not be judged: it is not sampled, it is dropped, or the queue is closed.

        Example::

            queue.put(Case(question="2 + 2?", answer="4"))
        """
        if self._sample < 1 and OWN.random() >= self._sample:
            self.count("unsampled")
            return False
        with self._changed:
            refused = self._closed or len(self._pending) >= self._max_pending
            if refused:
                self._tally["dropped"] += 1
                dropped = self._tally["dropped"]
            else:
                self._number += 1
                self._pending.add(self._number)
                self._waiting.append((self._number, run or Run(uuid4().hex), case))
        if refused:
            if dropped & (dropped - 1) == 0:  # log only the 1st, 2nd, 4th, 8th... dropped run
                why = "the queue is closed" if self._closed else f"{self._max_pending} others are pending"
                _log.warning("%s not judged so far: %s", counted(dropped, "run"), why)
            return False
        filling = 2 * len(self._pending) >= self._max_pending and self._running < self._max_concurrency
        return self._wake(at_once=filling)

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until all runs that are in the queue now are judged; runs that are added meanwhile are ignored.

        Args:
            timeout: maximum time to wait in seconds; None for no limit.

        Returns:
            Whether all of them are judged. If a judge or a sink calls it, it returns False without waiting, because the
            caller would wait for itself.
        """
        awaited = self._awaited()
        if awaited and run_context().judging:
            _log.warning("flush() inside a judge or a sink cannot wait for its own run")
            return False
        if awaited:
            self._wake(at_once=True)
        with self._changed:
            return self._changed.wait_for(lambda: awaited.isdisjoint(self._pending), timeout)

    async def aflush(self, timeout: float | None = None) -> bool:
        """Wait like :meth:`flush`, for asynchronous code."""
        deadline = None if timeout is None else monotonic() + timeout
        awaited = self._awaited()
        if awaited and run_context().judging:
            return self.flush()
        if awaited:
            self._wake(at_once=True)
        while not awaited.isdisjoint(self._pending):
            if deadline is not None and monotonic() >= deadline:
                return False
            await asyncio.sleep(0.005)
        return True

    def close(self, timeout: float | None = EXIT_TIMEOUT) -> bool:
        """Close the queue and wait for pending runs; return whether all were judged, and log how many were not."""
        self._closed = True
        return self._reported(self.flush(timeout), timeout)

    async def aclose(self, timeout: float | None = EXIT_TIMEOUT) -> bool:
        """Close the queue like :meth:`close`, for asynchronous code."""
        self._closed = True
        return self._reported(await self.aflush(timeout), timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close(self.exit_timeout)

    def _reported(self, all_judged: bool, timeout: float | None) -> bool:
        if not all_judged:
            _log.warning(
                "closed with %s not judged within %s s; they are judged while the process runs, and at its end for up "
                "to exit_timeout=%s s more",
                counted(self.pending, "run"), timeout, self.exit_timeout,
            )  # fmt: skip
        return all_judged

    def _forget_pending(self) -> None:
        """Reset the queue, for a new object and for a forked child process: the parent judges the pending runs."""
        self._changed = threading.Condition()  # its lock is reentrant, because finalisers call `count`
        self._waiting: deque[tuple[int, Run, CaseSource]] = deque()
        self._pending: set[int] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._running = 0
        self._number = 0
        self._awake = False  # the background loop will check the queue without being woken up
        self._ticking = False  # the timer of the background loop runs
        self._called = False  # the background loop was woken up to check the queue at once

    def _awaited(self) -> set[int]:
        with self._changed:
            return set(self._pending)

    def _wake(self, *, at_once: bool) -> bool:
        """Make the background loop check the queue, at once or soon (once for many runs); return whether it will."""
        with self._changed:
            if self._called or (self._awake and not at_once):
                return True
            self._awake = True
            self._called = at_once
        try:
            Context().run(event_loop.call_soon, self._look)
        except Exception:  # the process is ending or cannot start threads; the run must not be affected
            _log.exception("runs could not be put to the judge")
            with self._changed:
                self._awake = self._called = False
                self._tally["dropped"] += len(self._waiting)
                self._pending.difference_update(number for number, _, _ in self._waiting)
                self._waiting.clear()
                self._changed.notify_all()
            return False
        return True

    def _look(self) -> None:
        """Start checking the queue. This method and all following ones run only on the background loop."""
        if self._called:
            self._called = False
            self._start()
        if not self._ticking:
            self._ticking = True
            asyncio.get_running_loop().call_later(_PAUSE, self._tick)

    def _tick(self) -> None:
        with self._changed:
            self._awake = self._ticking = bool(self._waiting)
        if self._ticking:
            self._start()
            asyncio.get_running_loop().call_later(_PAUSE, self._tick)

    def _start(self) -> None:
        """Start as many tasks as allowed: one task per run, or one task for all runs if the judge never waits."""
        loop = asyncio.get_running_loop()
        while self._waiting and self._running < self._max_concurrency:
            number, run, case = self._waiting.popleft()
            self._running += 1
            taken = [number]
            task = loop.create_task(self._hear(taken, run, case), context=_own_context())
            self._tasks.add(task)
            task.add_done_callback(partial(self._ended, taken))
            if self._never_waits:
                loop.call_soon(self._start)  # start the next task if this one waits or has used its time
                break

    def _ended(self, taken: list[int], task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._running -= 1
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("judging runs broke", exc_info=error)
        self._start()
        self._done(taken)

    def _done(self, numbers: Iterable[int]) -> None:
        with self._changed:
            self._pending.difference_update(numbers)
            self._changed.notify_all()

    async def _hear(self, taken: list[int], run: Run, case_source: CaseSource) -> None:
        """Judge a run, or several if the judge never waits, record them in ``taken``, and call the sinks."""
        until = monotonic() + _SHARE
        heard = [await self._judged(run, case_source)]
        while self._never_waits and self._waiting and monotonic() < until:
            number, run, case_source = self._waiting.popleft()
            taken.append(number)
            heard.append(await self._judged(run, case_source))
        judged = [one for one in heard if one is not None]
        for sink in self._on_error:
            await self._tell(sink, [one for one in judged if is_outage(outage_as_error(one.judgment))])
        for sink in self._sinks:
            await self._tell(sink, judged)
        with self._changed:
            self._tally["judged"] += len(judged)

    async def _judged(self, run: Run, case_source: CaseSource) -> JudgedRun | None:
        """Return the run with its judgment; None if the judge raised an interrupt."""
        try:
            case, unreadable = _read(case_source, self.judge)
            if run.error is not None:
                run = replace(run, error=without_keys(run.error))
                judgment = run_failed(self.judge, str(run.error))
            elif case is None:
                judgment = unreadable
            else:
                change_context(run=run)  # each task has its own context
                judgment = await self._scope.run_judge(self.judge, case)
                self._abstention.add(judgment)
            return JudgedRun(run, case, judgment)
        except GeneratorExit:
            raise
        except BaseException as error:  # a KeyboardInterrupt from a judge must not stop the loop
            if isinstance(error, asyncio.CancelledError) and event_loop.is_cancelled():
                raise
            self.count("broken")
            _log.error("judging run %s broke", run.id, exc_info=error)
            return None

    async def _tell(self, sink: Sink, judged: list[JudgedRun]) -> None:
        """Call a sink with runs, in sequence while it is fast, then concurrently in the free places."""
        failures = self._failures.setdefault(id(sink), SinkFailures(partial(self.count, "sink_errors")))
        rest = judged and judged[await call_sink(sink, judged, failures, _SHARE) :]
        if not rest:
            return

        async def strand(part: list[JudgedRun]) -> None:
            while part:
                part = part[await call_sink(sink, part, failures, _SHARE) :]

        places = min(len(rest), 1 + self._max_concurrency - self._running)
        self._running += places - 1
        try:
            await asyncio.gather(*(strand(rest[place::places]) for place in range(places)))
        finally:
            self._running -= places - 1


def _read(case_source: CaseSource, judge: Judge) -> tuple[Case | None, Judgment]:
    """Return the case; or None and a judgment that gives the reason."""
    try:
        return (case_source() if callable(case_source) else case_source), _NOTHING
    except (Exception, SystemExit) as error:
        failure = judge.failure(error)
        return None, evolve(failure, reasoning=f"nothing of the run could be judged: {failure.error}")


def _own_context() -> Context:
    context = Context()
    context.run(change_context, judging=True)
    return context


def _flush_all() -> None:
    """Flush all queues at the end of the process; their time limits run concurrently."""
    queues = tuple(_QUEUES)
    for queue in queues:
        queue._closed = True
    started = monotonic()
    for queue in queues:
        if not queue.flush(max(0.0, started + queue.exit_timeout - monotonic())):
            _log.warning("the process ends with %s not judged", counted(queue.pending, "run"))


def _after_fork() -> None:
    for queue in tuple(_QUEUES):
        queue._forget_pending()


_NOTHING = broken("no_case")
_PAUSE = 0.05  # seconds for which runs are collected, so that the background loop wakes up once for all of them
_SHARE = 0.005  # seconds of work of one task at a time, equal to the switch interval of Python's threads
_QUEUES: WeakSet[JudgeQueue] = WeakSet()
# Flush before the interpreter shuts down its thread pools, which are needed even for DNS lookups. A plain atexit hook
# runs too late.
getattr(threading, "_register_atexit", atexit.register)(_flush_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
