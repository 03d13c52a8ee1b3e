"""Many cases: streamed in, judged within bounds, streamed out."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from os import PathLike
from queue import SimpleQueue
from time import perf_counter
from typing import TYPE_CHECKING, Any, Generic, TypedDict, TypeVar, Unpack, cast

from jury_adapters.core import portal
from jury_adapters.core.budget import Budget
from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError, unknown
from jury_adapters.core.journal import Journal
from jury_adapters.core.judge import CaseLike, Judge
from jury_adapters.core.judgment import Judgment, Status, broken, evolve
from jury_adapters.core.scope import Scope

if TYPE_CHECKING:
    from jury_adapters.core.portal import Carried

F = TypeVar("F")

_log = logging.getLogger(__name__)

# How far the cases that are being judged may run ahead of the oldest one not handed out, in multiples of the
# concurrency: enough that one slow case does not idle the others, little enough that memory stays flat.
_AHEAD = 4


class _WindowOptions(TypedDict, total=False):
    max_concurrency: int
    ordered: bool
    progress: Callable[[int], None] | None
    on_error: Callable[[Judged], None] | None


class BatchOptions(_WindowOptions, total=False):
    """The options of :func:`stream` and of ``judge_many``."""

    store: Journal | str | PathLike[str] | None
    budget: Budget | None


@dataclass(frozen=True, slots=True)
class Judged:
    """One case of a batch with its judgment.

    Attributes:
        index: the case's position in the input, from 0.
        case: the case, or None when the input row could not be made into one (the judgment is ERROR and says why).
        judgment: what the judge said.
    """

    index: int
    case: Case | None
    judgment: Judgment


def stream(judge: Judge, cases: Iterable[CaseLike], **options: Unpack[BatchOptions]) -> Iterator[Judged]:
    """Judge many cases; hand out each with its judgment as soon as it is there.

    Args:
        judge: any judge.
        cases: Cases, questions or mappings; read one by one, in the calling thread, only as fast as they are judged.
        **options:
            ``max_concurrency``: how many cases are in flight at once (16).
            ``ordered``: True (default) hands out in input order, False as they finish.
            ``progress``: called with the number of cases done, after each; see :func:`jury_adapters.progress_bar`.
            ``on_error``: called with each case whose judgment is ERROR, as soon as it is known. The batch goes on.
            ``store``: a :class:`jury_adapters.store.Store`, or the path of one. Each judgment of a critic is durable
            before its verdict is handed out, and one that is there is not paid for again.
            ``budget``: what the batch may spend; judges not asked for want of it abstain with ``budget_exhausted``.

    Memory does not grow with the number of cases. Closing the iterator, or an exception such as Ctrl-C, cancels what
    is in flight; what was handed out stays valid. A row that makes no Case gives an ERROR judgment.

    Raises:
        ConfigurationError: one case where many are expected, or an unusable option.
    """
    _refuse_one(cases)
    scope, rest = _scope_of(judge, options)
    window: _Window[Future[Judgment | Carried]] = _Window(**rest)
    return _stream(judge, cases, window, scope)


def _stream(
    judge: Judge, cases: Iterable[CaseLike], window: _Window[Future[Judgment | Carried]], scope: Scope
) -> Iterator[Judged]:
    finished: SimpleQueue[int] = SimpleQueue()
    source = enumerate(cases)
    alone = portal.would_deadlock()  # called by a judge that the portal waits for: one case after the other
    inline = judge.inline and judge.timeout is None
    exhausted = False
    started: set[asyncio.Task[object]] = set()  # changed on the portal's loop only
    try:
        while True:
            while window.has_room and not exhausted:
                index, row = next(source, (-1, None))
                if row is None and index < 0:
                    exhausted = True
                    break
                case = as_case(row)
                if isinstance(case, Case) and not inline and not alone:
                    future = portal.submit(_tracked(judge, case, scope, started))
                    window.start(index, case, future)
                    future.add_done_callback(lambda _, index=index: finished.put(index))  # type: ignore[misc]
                else:
                    window.add(_judged_now(judge, index, case, scope, inline))
                    break  # hand it out before the next is judged
            yield from window.ready()
            if window.running:
                index = finished.get()
                window.finish(index, portal.unwrapped(window.future(index).result()))
            elif exhausted:
                yield from window.ready()
                return
    finally:
        window.log_end()
        for future in window.in_flight():
            future.cancel()
        if started:
            portal.run(_cleaned_up, started)


async def astream(
    judge: Judge, cases: Iterable[CaseLike] | AsyncIterable[CaseLike], **options: Unpack[BatchOptions]
) -> AsyncGenerator[Judged, None]:
    """:func:`stream` for asynchronous code; ``cases`` may be asynchronous too."""
    _refuse_one(cases)
    scope, rest = _scope_of(judge, options)
    window: _Window[asyncio.Task[Judgment | Carried]] = _Window(**rest)
    tasks: dict[asyncio.Future[Any], int] = {}
    happened: asyncio.Queue[asyncio.Future[Any]] = asyncio.Queue()  # a judgment is there, or a row
    rows = _Rows(cases, happened.put_nowait)
    index, exhausted = -1, False
    try:
        while True:
            while window.has_room and not exhausted and (coming := rows.next()).done():
                row = rows.taken(coming)
                if row is _END:
                    exhausted = True
                    break
                index, case = index + 1, as_case(row)
                if isinstance(case, Judgment):
                    window.add(Judged(index, None, case))
                    continue
                task = asyncio.create_task(portal.carried(scope.judged, judge, case))
                task.add_done_callback(happened.put_nowait)
                tasks[task] = index
                window.start(index, case, task)
            for done in window.ready():
                yield done
            if exhausted and not tasks:
                return
            which = await happened.get()
            if which in tasks:
                window.finish(tasks.pop(which), portal.unwrapped(which.result()))
    finally:
        window.log_end()
        open_ends = [*tasks, *rows.reader]
        for end in open_ends:
            end.cancel()
        if open_ends:
            await asyncio.wait(open_ends)


def as_case(row: CaseLike | object) -> Case | Judgment:
    """A row as a Case, or the ERROR judgment that says why it is none."""
    try:
        return Case.of(row, {})  # type: ignore[arg-type]
    except Exception as error:  # whatever stands in the row, the others are judged
        failure = broken(error)
        said = error if isinstance(error, ConfigurationError) else failure.error
        return evolve(failure, reasoning=f"this row is no case: {said}")


class _Window(Generic[F]):
    """Which cases are in flight, which wait to be handed out, and whether there is room for more."""

    def __init__(
        self,
        max_concurrency: int = 16,
        ordered: bool = True,
        progress: Callable[[int], None] | None = None,
        on_error: Callable[[Judged], None] | None = None,
    ) -> None:
        if isinstance(max_concurrency, bool) or not isinstance(max_concurrency, int) or max_concurrency < 1:
            raise ConfigurationError(f"max_concurrency is a whole number from 1, not {max_concurrency!r}")
        self._limit = max_concurrency
        self._ordered = ordered
        self._progress = progress
        self._on_error = on_error
        self._running: dict[int, tuple[Case, F]] = {}
        self._waiting: dict[int, Judged] = {}
        self._order: deque[int] = deque()
        self._done = self._errors = 0
        self._started = perf_counter()

    @property
    def running(self) -> bool:
        return bool(self._running)

    @property
    def has_room(self) -> bool:
        return len(self._running) < self._limit and len(self._order) < self._limit * _AHEAD

    def start(self, index: int, case: Case, future: F) -> None:
        self._running[index] = (case, future)
        self._order.append(index)

    def add(self, item: Judged) -> None:
        self._order.append(item.index)
        self._take(item)

    def future(self, index: int) -> F:
        return self._running[index][1]

    def in_flight(self) -> list[F]:
        return [future for _, future in self._running.values()]

    def finish(self, index: int, judgment: Judgment) -> None:
        case, _ = self._running.pop(index)
        self._take(Judged(index, case, judgment))

    def ready(self) -> Iterator[Judged]:
        """What can be handed out now; in order, or as finished."""
        if not self._ordered:
            self._order.clear()
            for index in list(self._waiting):
                yield self._waiting.pop(index)
            return
        while self._order and self._order[0] in self._waiting:
            yield self._waiting.pop(self._order.popleft())

    def log_end(self) -> None:
        """Say in the log what became of the batch; also of one that was broken off."""
        took, left = perf_counter() - self._started, len(self._running)
        _log.info("%d cases judged in %.1f s, %d of them ERROR; %d broken off", self._done, took, self._errors, left)

    def _take(self, item: Judged) -> None:
        self._waiting[item.index] = item
        self._done += 1
        self._errors += item.judgment.status is Status.ERROR
        if self._progress is not None:
            self._progress(self._done)
        if self._on_error is not None and item.judgment.status is Status.ERROR:
            self._on_error(item)


def _refuse_one(cases: object) -> None:
    """A mapping, a text and a Case can be iterated too, over keys, letters and fields: never what was meant."""
    if isinstance(cases, str | bytes | Mapping | Case):
        raise ConfigurationError(f"many cases are a list of them, not one {type(cases).__name__}; for one use judge()")


def _scope_of(judge: Judge, options: BatchOptions) -> tuple[Scope, _WindowOptions]:
    """Split the options into what critics need to know and what the window does.

    Raises:
        ConfigurationError: an option that there is not, or a budget that is none.
    """
    for name in options:
        if name not in BatchOptions.__annotations__:
            raise ConfigurationError(unknown("option", name, BatchOptions.__annotations__))
    scope = Scope.of(judge, options.get("store"), options.get("budget"))
    rest = {name: value for name, value in options.items() if name not in ("store", "budget")}
    return scope, cast(_WindowOptions, rest)


async def _tracked(judge: Judge, case: Case, scope: Scope, started: set[asyncio.Task[object]]) -> Judgment | Carried:
    task = asyncio.current_task()
    assert task is not None
    started.add(task)
    task.add_done_callback(started.discard)
    return await portal.carried(scope.judged, judge, case)


async def _cleaned_up(tasks: set[asyncio.Task[object]]) -> None:
    """Wait for cancelled work to end, so that nothing of it runs on behind the caller's back; for 5 s at most."""
    alive = {task for task in tasks if not task.done()}
    if alive:
        await asyncio.wait(alive, timeout=5)


def _judged_now(judge: Judge, index: int, case: Case | Judgment, scope: Scope, inline: bool) -> Judged:
    if isinstance(case, Judgment):
        return Judged(index, None, case)
    if inline:
        return Judged(index, case, portal.run_inline(scope.judged(judge, case)))
    return Judged(index, case, portal.run(scope.judged, judge, case))


class _Rows:
    """The rows of an iterable, each read when it is asked for.

    An asynchronous one is read by a task of its own, all of it by the same: so that judgments are handed out while the
    next row is not there yet, and a time limit or a cancel scope inside the source still finds its task.
    """

    def __init__(
        self, cases: Iterable[CaseLike] | AsyncIterable[CaseLike], arrived: Callable[[asyncio.Future[Any]], None]
    ) -> None:
        self._arrived = arrived
        self._coming: asyncio.Future[object] | None = None
        self._asked: asyncio.Queue[asyncio.Future[object]] = asyncio.Queue()
        self.reader: list[asyncio.Task[None]] = []
        if isinstance(cases, AsyncIterable):
            self.reader.append(asyncio.create_task(self._read(aiter(cases))))
        else:
            self._plain = iter(cases)

    def next(self) -> asyncio.Future[object]:
        """The next row, or the one that is still on its way; ``_END`` after the last."""
        if self._coming is None:
            self._coming = asyncio.get_running_loop().create_future()
            if self.reader:
                self._coming.add_done_callback(self._arrived)
                self._asked.put_nowait(self._coming)
            else:
                self._coming.set_result(next(self._plain, _END))
        return self._coming

    def taken(self, coming: asyncio.Future[object]) -> object:
        """The row that has arrived, or raise what the source raised."""
        self._coming = None
        return coming.result()

    async def _read(self, source: AsyncIterator[CaseLike]) -> None:
        while True:
            coming = await self._asked.get()
            try:
                coming.set_result(await anext(source, _END))
            except BaseException as error:  # it belongs to whoever reads the judgments
                if isinstance(error, asyncio.CancelledError) and portal.is_cancelled():
                    raise
                coming.set_exception(error)
                coming.exception()  # looked at, so that nobody is warned when whoever reads has gone


_END = object()
