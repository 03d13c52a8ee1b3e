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
    """What became of the runs offered so far.

    Attributes:
        judged: have a judgment, which every sink was given.
        dropped: refused because ``max_pending`` others were waiting.
        unsampled: left out by ``sample=``.
        sink_errors: calls of a sink that raised.
    """

    judged: int = 0
    dropped: int = 0
    unsampled: int = 0
    sink_errors: int = 0


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

    _pending: int
    _running: int

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
        return self._pending

    def offer(self, run: Run, case: Offered) -> bool:
        """Put a run on the docket and return at once. Never raises, never waits.

        Args:
            run: what is known of the run.
            case: the case, or a function that makes it; that one is called in the background.

        Returns:
            False when the run will not be judged: not sampled, dropped, or the docket is closed.
        """
        if self._closed:
            return False
        if self._sample < 1 and random.random() >= self._sample:
            self.counts.unsampled += 1
            return False
        with self._changed:
            if self._pending >= self._max_pending:
                self.counts.dropped += 1
                dropped = self.counts.dropped
            else:
                self._pending += 1
                self._waiting.append((run, case))
                dropped = 0
        if dropped:
            if dropped & (dropped - 1) == 0:  # the 1st, 2nd, 4th, 8th...: a flood must not flood the log too
                _log.warning("%d runs not judged so far: %d others are pending", dropped, self._max_pending)
            return False
        try:
            Context().run(portal.call_soon, self._start)
        except Exception:  # the process is ending, or has no threads left: the run must not feel it
            _log.exception("a run could not be put to the judge")
            with self._changed:
                self._waiting.clear()
                self._pending = self._running
            return False
        return True

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until everything offered so far is judged.

        Args:
            timeout: seconds to wait at most; None for as long as it takes.

        Returns:
            Whether nothing is pending any more.
        """
        deadline = None if timeout is None else monotonic() + timeout
        with self._changed:
            while self._pending:
                left = None if deadline is None else deadline - monotonic()
                if left is not None and left <= 0:
                    return False
                self._changed.wait(left)
        return True

    async def aflush(self, timeout: float | None = None) -> bool:
        """:meth:`flush` for asynchronous code."""
        deadline = None if timeout is None else monotonic() + timeout
        while self._pending:
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
        self._changed = threading.Condition()
        self._waiting: deque[tuple[Run, Offered]] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        self._pending = 0
        self._running = 0

    def _start(self) -> None:
        """Start what may start; runs on the portal's loop only."""
        while self._waiting and self._running < self._max_concurrency:
            run, case = self._waiting.popleft()
            self._running += 1
            task = asyncio.get_running_loop().create_task(self._hear(run, case), context=_own_context())
            self._tasks.add(task)
            task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._running -= 1
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("judging a run broke", exc_info=error)
        self._start()
        with self._changed:
            self._pending -= 1
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
        self.counts.judged += 1

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
        except Exception:
            self.counts.sink_errors += 1
            _log.exception("on_verdict raised for run %s", judged_run.run.id)


def _read(offered: Offered) -> tuple[Case | None, Judgment]:
    """The case; or None, and the judgment that says why there is none."""
    try:
        return (offered() if callable(offered) else offered), _NOTHING
    except Exception as error:
        failure = broken(error)
        return None, evolve(failure, reasoning=f"nothing of the run could be judged: {failure.error}")


def _sinks(given: Sink | Sequence[Sink] | None) -> tuple[Sink, ...]:
    sinks = () if given is None else tuple(given) if isinstance(given, Sequence) else (given,)
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
    for docket in tuple(_DOCKETS):
        if not docket.close(docket._exit_timeout):
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
