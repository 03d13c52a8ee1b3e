"""Runs of an application, waiting to be judged in the background.

The application offers a case and goes on. Judging happens on the portal's loop, bounded, in a context of its own: what
the application traces, caches or cancels does not reach the judges, and the other way round.
"""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures.thread  # noqa: F401  its own hook at exit must be there before ours
import inspect
import logging
import os
import random
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import Context
from dataclasses import dataclass, field
from functools import partial
from os import PathLike
from time import monotonic
from typing import Self, TypeAlias, TypedDict
from weakref import WeakSet

from jury_adapters.core import portal
from jury_adapters.core.budget import Budget
from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.journal import Journal
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import Judgment, Status, broken, evolve
from jury_adapters.core.scope import JUDGING, Scope
from jury_adapters.core.values import FrozenDict

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Run:
    """One run of an application: a query, a chat turn, an agent's run, a chain.

    Attributes:
        id: the framework's id of the run (LlamaIndex: span id; LangChain: run id).
        kind: ``"query"``, ``"chat"``, ``"agent"``, ``"chain"``, ``"retriever"``.
        name: how the framework calls it.
        tags: tags, as the framework has them; a tag without a value has the value True.
        metadata: whatever else the framework attached to it.
        error: what the run ended with, when it failed.
        elapsed_s: seconds the run took, or None.
    """

    id: str
    kind: str = "chain"
    name: str = ""
    tags: Mapping[str, object] = field(default_factory=dict)
    metadata: Mapping[str, object] = field(default_factory=dict)
    error: str | None = None
    elapsed_s: float | None = None


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """A run with its judgment: what ``on_verdict=`` gets.

    Attributes:
        run: the run.
        case: what was judged; None when nothing of the run could be made into a case.
        judgment: the judgment; a :class:`Verdict` when the judge is a jury. A run that failed is not put to the judge:
            it is FAIL, and its reasoning says with what it ended.
    """

    run: Run
    case: Case | None
    judgment: Judgment


Sink: TypeAlias = Callable[[JudgedRun], object] | Callable[[JudgedRun], Awaitable[object]]
Offered: TypeAlias = Case | Callable[[], Case]


@dataclass(slots=True)
class Counts:
    """What became of the runs seen so far.

    Attributes:
        judged: have a judgment, which every sink was given.
        dropped: refused because ``max_pending`` others were waiting, or because the docket was closed.
        unsampled: left out by ``sample=``.
        cancelled: ended by whoever started them, so that there is nothing to judge.
        abandoned: streams that nobody read to the end, and runs that never ended.
        sink_errors: calls of a sink that raised.
        broken: errors of our own while a run was watched or judged; logged, and the run went on.
    """

    judged: int = 0
    dropped: int = 0
    unsampled: int = 0
    cancelled: int = 0
    abandoned: int = 0
    sink_errors: int = 0
    broken: int = 0


class DocketOptions(TypedDict, total=False):
    """The options of :class:`Docket`, which everything that judges in the background takes."""

    on_verdict: Sink | Sequence[Sink] | None
    on_error: Callable[[JudgedRun], object] | None
    sample: float
    max_pending: int
    max_concurrency: int
    store: Journal | str | PathLike[str] | None
    budget: Budget | None
    exit_timeout: float


class Docket:
    """Judges runs in the background.

    Args:
        judge: any judge. One that blocks (``time.sleep``, a synchronous client) needs a ``timeout=``, so that it runs
            in a thread: without one it stalls the other judgments.
        on_verdict: called with each :class:`JudgedRun`; one function or several, plain or asynchronous. Plain ones run
            in a thread. What they raise is logged and counted.
        on_error: called with each judged run whose judgment is ERROR, before ``on_verdict``.
        sample: the share of runs to judge, 0..1.
        max_pending: how many runs may wait or be judged at once; a further one is dropped, counted and logged.
        max_concurrency: how many are judged at once.
        store: where the judgments of critics are kept; see :class:`jury_adapters.Store`.
        budget: what judging may spend; afterwards critics abstain.
        exit_timeout: seconds that the end of the process may wait for what is pending.

    Raises:
        ConfigurationError: an option is out of its range.
    """

    _running: int
    _offers: int

    def __init__(
        self,
        judge: Judge,
        *,
        on_verdict: Sink | Sequence[Sink] | None = None,
        on_error: Callable[[JudgedRun], object] | None = None,
        sample: float = 1.0,
        max_pending: int = 1000,
        max_concurrency: int = 16,
        store: Journal | str | PathLike[str] | None = None,
        budget: Budget | None = None,
        exit_timeout: float = 10.0,
    ) -> None:
        if not isinstance(judge, Judge):
            raise ConfigurationError(f"give a jury or another Judge, not {type(judge).__name__}")
        if isinstance(sample, bool) or not 0 <= sample <= 1:
            raise ConfigurationError(f"sample is the share of runs to judge, 0 to 1, not {sample!r}")
        for name, number in (("max_pending", max_pending), ("max_concurrency", max_concurrency)):
            if isinstance(number, bool) or not isinstance(number, int) or number < 1:
                raise ConfigurationError(f"{name} is a whole number from 1, not {number!r}")
        self.judge = judge
        self.counts = Counts()
        self._sinks = _sinks(on_verdict)
        self._on_error = _sinks(on_error)
        self._sample = sample
        self._max_pending = max_pending
        self._max_concurrency = max_concurrency
        self._scope = Scope.of(judge, store, budget)
        self._exit_timeout = exit_timeout
        self._closed = False
        self._forget_pending()
        _DOCKETS.add(self)

    @property
    def pending(self) -> int:
        """How many runs wait or are being judged, sinks included."""
        return len(self._pending)

    def count(self, what: str) -> None:
        """Count one more of something in :attr:`counts`; safe in every thread, also while garbage is collected."""
        with self._changed:
            setattr(self.counts, what, getattr(self.counts, what) + 1)

    def offer(self, run: Run, case: Offered) -> bool:
        """Put a run on the docket and return at once. Never raises, never waits.

        Args:
            run: what is known of the run.
            case: the case, or a function that makes it; that one is called in the background.

        Returns:
            False when the run will not be judged: not sampled, dropped, or the docket is closed.
        """
        if self._sample < 1 and random.random() >= self._sample:
            self.count("unsampled")
            return False
        with self._changed:
            refused = self._closed or len(self._pending) >= self._max_pending
            if refused:
                self.counts.dropped += 1
                dropped = self.counts.dropped
            else:
                self._offers += 1
                self._pending.add(self._offers)
                self._waiting.append((self._offers, run, case))
        if refused:
            if dropped & (dropped - 1) == 0:  # the 1st, 2nd, 4th, 8th...: a flood must not flood the log too
                why = "the docket is closed" if self._closed else f"{self._max_pending} others are pending"
                _log.warning("%d runs not judged so far: %s", dropped, why)
            return False
        return self._wake()

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until everything offered so far is judged; what is offered meanwhile is not waited for.

        Args:
            timeout: seconds to wait at most; None for as long as it takes.

        Returns:
            Whether all of it is judged. Called by a judge or a sink, which would wait for itself, it does not wait.
        """
        awaited = self._awaited()
        if awaited and JUDGING.get():
            _log.warning("flush() inside a judge or a sink cannot wait for its own run")
            return False
        with self._changed:
            return self._changed.wait_for(lambda: awaited.isdisjoint(self._pending), timeout)

    async def aflush(self, timeout: float | None = None) -> bool:
        """:meth:`flush` for asynchronous code."""
        deadline = None if timeout is None else monotonic() + timeout
        awaited = self._awaited()
        if awaited and JUDGING.get():
            return self.flush()
        while not awaited.isdisjoint(self._pending):
            if deadline is not None and monotonic() >= deadline:
                return False
            await asyncio.sleep(0.005)
        return True

    def close(self, timeout: float | None = 10.0) -> bool:
        """Take no further runs, and wait for those pending; say whether all were judged."""
        self._closed = True
        return self.flush(timeout)

    async def aclose(self, timeout: float | None = 10.0) -> bool:
        """:meth:`close` for asynchronous code."""
        self._closed = True
        return await self.aflush(timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _forget_pending(self) -> None:
        """As new; also in a child process, where what was pending is the parent's to judge."""
        self._changed = threading.Condition()  # its lock may be taken twice by one thread: see `count`
        self._waiting: deque[tuple[int, Run, Offered]] = deque()
        self._pending: set[int] = set()
        self._tasks: set[asyncio.Task[portal.Carried | None]] = set()
        self._running = 0
        self._offers = 0
        self._woken = False

    def _awaited(self) -> set[int]:
        with self._changed:
            return set(self._pending)

    def _wake(self) -> bool:
        """Have the portal look at what waits, once for many offers."""
        with self._changed:
            if self._woken:
                return True
            self._woken = True
        try:
            Context().run(portal.call_soon, self._start)
        except Exception:  # the process is ending, or has no threads left: the run must not feel it
            _log.exception("runs could not be put to the judge")
            with self._changed:
                self._woken = False
                self.counts.dropped += len(self._waiting)
                self._pending.difference_update(number for number, _, _ in self._waiting)
                self._waiting.clear()
                self._changed.notify_all()
            return False
        return True

    def _start(self) -> None:
        """Start what may start; runs on the portal's loop only."""
        self._woken = False
        while self._waiting and self._running < self._max_concurrency:
            number, run, case = self._waiting.popleft()
            self._running += 1
            work = portal.carried(self._hear, run, case)  # a KeyboardInterrupt of a judge must not stop the loop
            task = asyncio.get_running_loop().create_task(work, context=_own_context())
            self._tasks.add(task)
            task.add_done_callback(partial(self._ended, number))

    def _ended(self, number: int, task: asyncio.Task[portal.Carried | None]) -> None:
        self._tasks.discard(task)
        self._running -= 1
        carried = None if task.cancelled() else task.result()
        if carried is not None:
            self.count("broken")
            _log.error("judging a run broke", exc_info=carried.error)
        self._start()
        with self._changed:
            self._pending.discard(number)
            self._changed.notify_all()

    async def _hear(self, run: Run, offered: Offered) -> None:
        case, unreadable = _read(offered)
        if run.error is not None:
            judgment = self._failed(run)
        elif case is None:
            judgment = unreadable
        else:
            judgment = await self._scope.judged(self.judge, case)
        judged_run = JudgedRun(run, case, judgment)
        if judgment.status is Status.ERROR:
            for sink in self._on_error:
                await self._told(sink, judged_run)
        for sink in self._sinks:
            await self._told(sink, judged_run)
        self.count("judged")

    def _failed(self, run: Run) -> Judgment:
        """A run that failed is no case for the jury; it is FAIL, in the shape of the jury's own judgments."""
        error = str(run.error)
        shape = self.judge.failure("run_failed")
        return evolve(
            shape, status=Status.FAIL, score=0.0, error=None, critic=self.judge.name,
            reasoning=f"the run failed: {error}", metadata=FrozenDict({"run_error": error}),
        )  # fmt: skip

    async def _told(self, sink: Sink, judged_run: JudgedRun) -> None:
        try:
            if _waits(sink):
                await sink(judged_run)  # type: ignore[misc]
            else:
                answer = await asyncio.to_thread(sink, judged_run)
                if inspect.isawaitable(answer):  # a lambda around an asynchronous function
                    await answer
        except (Exception, SystemExit):
            self.count("sink_errors")
            _log.exception("on_verdict raised for run %s", judged_run.run.id)


def _read(offered: Offered) -> tuple[Case | None, Judgment]:
    """The case; or None, and the judgment that says why there is none."""
    try:
        return (offered() if callable(offered) else offered), _NOTHING
    except (Exception, SystemExit) as error:
        failure = broken(error)
        return None, evolve(failure, reasoning=f"nothing of the run could be judged: {failure.error}")


def _sinks(given: Sink | Sequence[Sink] | None) -> tuple[Sink, ...]:
    sinks = () if given is None else (given,) if callable(given) or not isinstance(given, Sequence) else tuple(given)
    for sink in sinks:
        if not callable(sink):
            raise ConfigurationError(f"on_verdict= takes a function, or several, not {type(sink).__name__}")
    return sinks


def _waits(sink: Sink) -> bool:
    return inspect.iscoroutinefunction(sink) or inspect.iscoroutinefunction(getattr(sink, "__call__", None))  # noqa: B004


def _own_context() -> Context:
    context = Context()
    context.run(JUDGING.set, True)
    return context


def _flush_all() -> None:
    """At the end of the process: all dockets have their time together, not one after the other."""
    dockets = tuple(_DOCKETS)
    for docket in dockets:
        docket._closed = True
    started = monotonic()
    for docket in dockets:
        if not docket.flush(max(0.0, started + docket._exit_timeout - monotonic())):
            _log.warning("the process ends with %d runs not judged", docket.pending)


def _after_fork() -> None:
    for docket in tuple(_DOCKETS):
        docket._forget_pending()


_NOTHING = broken("no_case")
_DOCKETS: WeakSet[Docket] = WeakSet()
# Before the interpreter shuts its thread pools, which even a name lookup of a model's address needs; a plain atexit
# hook comes after that.
getattr(threading, "_register_atexit", atexit.register)(_flush_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
