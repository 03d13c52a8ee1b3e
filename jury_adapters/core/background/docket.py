"""Runs of an application, waiting to be judged in the background.

The application offers a case and goes on. Judging happens on the portal's loop, bounded, in a context of its own: what
the application traces, caches or cancels does not reach the judges, and the other way round.

A thread that wakes up takes its share of an application that is busy, however little it does. So the portal is woken
once for the runs of some milliseconds, not for each; whoever waits for the judgments wakes it at once.
"""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures.thread  # noqa: F401  its own hook at exit must be there before ours
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
from weakref import WeakSet

from jury_adapters.core import portal
from jury_adapters.core.background.counts import Counts, Outcome
from jury_adapters.core.background.options import EXIT_TIMEOUT, check_ranges, check_whole
from jury_adapters.core.background.telling import sinks_of, tell
from jury_adapters.core.budget import Budget
from jury_adapters.core.case import Case
from jury_adapters.core.context import change_context, run_context
from jury_adapters.core.given import JudgeLike, judge_of
from jury_adapters.core.jitter import OWN
from jury_adapters.core.journal import Journal
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import Judgment, Status, broken, evolve
from jury_adapters.core.outcomes import run_failed
from jury_adapters.core.runs import JudgedRun, Run, Sink
from jury_adapters.core.scope import Scope
from jury_adapters.core.secrets import without_keys

_log = logging.getLogger(__name__)

Offered: TypeAlias = Case | Callable[[], Case]


class Docket:
    """Judges runs in the background, some milliseconds after they were offered.

    Args:
        judge: any judge, or a function of a case. One that blocks (``time.sleep``, a synchronous client) needs a
            ``timeout=``, so that it runs in a thread: without one it stalls the other judgments.
        on_verdict: called with each :class:`JudgedRun`; one function or several, plain or asynchronous. Plain ones run
            in a thread, for several runs one after the other while they are quick. Runs may come in another order
            than they ended in. What they raise is logged and counted.
        on_error: called with each judged run whose judgment is ERROR, before ``on_verdict``.
        sample: the share of runs to judge, 0..1.
        max_pending: how many runs may wait or be judged at once; a further one is dropped, counted and logged.
        max_concurrency: how many are judged at once, or told of.
        store: where the judgments of critics are kept; see :class:`jury_adapters.Store`.
        budget: what judging may spend; afterwards critics abstain.
        exit_timeout: seconds that the end of the process, or of a ``with`` block, may wait for what is pending.

    Raises:
        ConfigurationError: an option is out of its range.
    """

    _running: int
    _offers: int

    def __init__(
        self,
        judge: JudgeLike,
        *,
        on_verdict: Sink | Sequence[Sink] | None = None,
        on_error: Callable[[JudgedRun], object] | None = None,
        sample: float = 1.0,
        max_pending: int = 1000,
        max_concurrency: int = 16,
        store: Journal | str | PathLike[str] | None = None,
        budget: Budget | None = None,
        exit_timeout: float = EXIT_TIMEOUT,
    ) -> None:
        judge = judge_of(judge)
        check_ranges(sample=sample, exit_timeout=exit_timeout)
        check_whole(max_pending=max_pending, max_concurrency=max_concurrency)
        self.judge = judge
        self.exit_timeout = exit_timeout
        self._tally: Counter[str] = Counter()
        self._sinks = sinks_of(on_verdict)
        self._on_error = sinks_of(on_error)
        self._sample = sample
        self._max_pending = max_pending
        self._max_concurrency = max_concurrency
        self._scope = Scope.of(judge, store, budget)
        self._never_waits = judge.inline and judge.timeout is None
        self._closed = False
        self._forget_pending()
        _DOCKETS.add(self)

    @property
    def counts(self) -> Counts:
        """Number of runs by outcome so far."""
        with self._changed:
            return replace(Counts(**self._tally), pending=len(self._pending))

    @property
    def pending(self) -> int:
        """How many runs wait or are being judged, sinks included."""
        return len(self._pending)

    def count(self, outcome: Outcome) -> None:
        """Count a run under one name of :attr:`counts`; safe in every thread, also while garbage is collected."""
        with self._changed:
            self._tally[outcome] += 1

    def offer(self, run: Run, case: Offered) -> bool:
        """Put a run on the docket and return at once. Never raises, never waits.

        Args:
            run: what is known of the run.
            case: the case, or a function that makes it; that one is called in the background.

        Returns:
            False when the run will not be judged: not sampled, dropped, or the docket is closed.
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
                self._offers += 1
                self._pending.add(self._offers)
                self._waiting.append((self._offers, run, case))
        if refused:
            if dropped & (dropped - 1) == 0:  # the 1st, 2nd, 4th, 8th...: a flood must not flood the log too
                why = "the docket is closed" if self._closed else f"{self._max_pending} others are pending"
                _log.warning("%d runs not judged so far: %s", dropped, why)
            return False
        filling = 2 * len(self._pending) >= self._max_pending and self._running < self._max_concurrency
        return self._wake(at_once=filling)

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until everything offered so far is judged; what is offered meanwhile is not waited for.

        Args:
            timeout: seconds to wait at most; None for as long as it takes.

        Returns:
            Whether all of it is judged. Called by a judge or a sink, which would wait for itself, it does not wait.
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
        """:meth:`flush` for asynchronous code."""
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
        """Take no further runs, and wait for those pending; return whether all were judged, else log how many not."""
        self._closed = True
        return self._reported(self.flush(timeout), timeout)

    async def aclose(self, timeout: float | None = EXIT_TIMEOUT) -> bool:
        """:meth:`close` for asynchronous code."""
        self._closed = True
        return self._reported(await self.aflush(timeout), timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close(self.exit_timeout)

    def _reported(self, all_judged: bool, timeout: float | None) -> bool:
        if not all_judged:
            _log.warning("closed with %d runs not judged within %s s", self.pending, timeout)
        return all_judged

    def _forget_pending(self) -> None:
        """As new; also in a child process, where what was pending is the parent's to judge."""
        self._changed = threading.Condition()  # its lock may be taken twice by one thread: see `count`
        self._waiting: deque[tuple[int, Run, Offered]] = deque()
        self._pending: set[int] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._running = 0
        self._offers = 0
        self._awake = False  # the portal will look at what waits, without being woken
        self._ticking = False  # its timer runs
        self._called = False  # it was woken to look at once

    def _awaited(self) -> set[int]:
        with self._changed:
            return set(self._pending)

    def _wake(self, *, at_once: bool) -> bool:
        """Have the portal look at what waits, soon: once for many offers; or at once."""
        with self._changed:
            if self._called or (self._awake and not at_once):
                return True
            self._awake = True
            self._called = at_once
        try:
            Context().run(portal.call_soon, self._look)
        except Exception:  # the process is ending, or has no threads left: the run must not feel it
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
        """Look at what waits from now on; this and what follows runs on the portal's loop only."""
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
        """Start what may start: a task for each run, or one task for all where the judge never waits."""
        loop = asyncio.get_running_loop()
        while self._waiting and self._running < self._max_concurrency:
            number, run, case = self._waiting.popleft()
            self._running += 1
            taken = [number]
            task = loop.create_task(self._hear(taken, run, case), context=_own_context())
            self._tasks.add(task)
            task.add_done_callback(partial(self._ended, taken))
            if self._never_waits:
                loop.call_soon(self._start)  # after its first step: if it does wait, or has done its share, the next
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

    async def _hear(self, taken: list[int], run: Run, offered: Offered) -> None:
        """Judge a run, where the judge never waits also those behind it (noted in ``taken``), and tell the sinks."""
        until = monotonic() + _SHARE
        heard = [await self._judged(run, offered)]
        while self._never_waits and self._waiting and monotonic() < until:
            number, run, offered = self._waiting.popleft()
            taken.append(number)
            heard.append(await self._judged(run, offered))
        judged = [one for one in heard if one is not None]
        for sink in self._on_error:
            await self._tell(sink, [one for one in judged if one.judgment.status is Status.ERROR])
        for sink in self._sinks:
            await self._tell(sink, judged)
        with self._changed:
            self._tally["judged"] += len(judged)

    async def _judged(self, run: Run, offered: Offered) -> JudgedRun | None:
        """The run with its judgment; None where an interrupt came out of the judge."""
        try:
            case, unreadable = _read(offered, self.judge)
            if run.error is not None:
                run = replace(run, error=without_keys(run.error))
                judgment = run_failed(self.judge, str(run.error))
            elif case is None:
                judgment = unreadable
            else:
                change_context(run=run)  # the context is the task's own
                judgment = await self._scope.run_judge(self.judge, case)
            return JudgedRun(run, case, judgment)
        except GeneratorExit:
            raise
        except BaseException as error:  # a KeyboardInterrupt of a judge must not stop the loop
            if isinstance(error, asyncio.CancelledError) and portal.is_cancelled():
                raise
            self.count("broken")
            _log.error("judging run %s broke", run.id, exc_info=error)
            return None

    async def _tell(self, sink: Sink, judged: list[JudgedRun]) -> None:
        """Tell a sink of runs: one after the other while it is quick, the rest at once in what places are free."""
        raised = partial(self.count, "sink_errors")
        rest = judged and judged[await tell(sink, judged, raised, _SHARE) :]
        if not rest:
            return

        async def strand(part: list[JudgedRun]) -> None:
            while part:
                part = part[await tell(sink, part, raised, _SHARE) :]

        places = min(len(rest), 1 + self._max_concurrency - self._running)
        self._running += places - 1
        try:
            await asyncio.gather(*(strand(rest[place::places]) for place in range(places)))
        finally:
            self._running -= places - 1


def _read(offered: Offered, judge: Judge) -> tuple[Case | None, Judgment]:
    """Return the case; or None, and the judgment that says why there is none."""
    try:
        return (offered() if callable(offered) else offered), _NOTHING
    except (Exception, SystemExit) as error:
        failure = judge.failure(error)
        return None, evolve(failure, reasoning=f"nothing of the run could be judged: {failure.error}")


def _own_context() -> Context:
    context = Context()
    context.run(change_context, judging=True)
    return context


def _flush_all() -> None:
    """At the end of the process: all dockets have their time together, not one after the other."""
    dockets = tuple(_DOCKETS)
    for docket in dockets:
        docket._closed = True
    started = monotonic()
    for docket in dockets:
        if not docket.flush(max(0.0, started + docket.exit_timeout - monotonic())):
            _log.warning("the process ends with %d runs not judged", docket.pending)


def _after_fork() -> None:
    for docket in tuple(_DOCKETS):
        docket._forget_pending()


_NOTHING = broken("no_case")
_PAUSE = 0.05  # seconds that runs wait for others, so that the portal wakes once for all of them
_SHARE = 0.005  # seconds that one task takes at a time: as long as Python lets one thread run while others wait
_DOCKETS: WeakSet[Docket] = WeakSet()
# Before the interpreter shuts its thread pools, which even a name lookup of a model's address needs; a plain atexit
# hook comes after that.
getattr(threading, "_register_atexit", atexit.register)(_flush_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
