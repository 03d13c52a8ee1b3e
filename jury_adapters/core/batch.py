"""Batches: read cases one by one, judge a bounded number of them at once, and yield each with its judgment."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from functools import partial
from os import PathLike
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from jury_adapters.core import event_loop
from jury_adapters.core.batch_window import Judged, Window
from jury_adapters.core.budget import Budget
from jury_adapters.core.cache import JudgmentCache
from jury_adapters.core.case import Case, item_id_in
from jury_adapters.core.case_slots import BatchState
from jury_adapters.core.cleanup import cancel_and_wait
from jury_adapters.core.concurrency import default_concurrency
from jury_adapters.core.ending_early import EndsEarly
from jury_adapters.core.errors import ConfigurationError, unknown
from jury_adapters.core.judge import CaseLike, Judge
from jury_adapters.core.judgment import Judgment, evolve
from jury_adapters.core.preparation import load_models
from jury_adapters.core.scope import Scope
from jury_adapters.core.verdict import Verdict

if TYPE_CHECKING:
    from jury_adapters.core.event_loop import CapturedException

__all__ = ["BatchOptions", "Judged", "as_case", "astream", "stream"]


class BatchOptions(TypedDict, total=False):
    """Options of :func:`stream` and of ``judge_many``."""

    max_concurrency: int | None
    ordered: bool
    progress: Callable[[int], None] | None
    on_error: Callable[[Judged], None] | None
    store: JudgmentCache | str | PathLike[str] | None
    budget: Budget | None


def stream(judge: Judge, cases: Iterable[CaseLike], **options: Unpack[BatchOptions]) -> Iterator[Judged]:
    """Judge many cases and yield each with its judgment, in input order or as soon as the judgment is known.

    Memory use does not grow with the number of cases. At most four times ``max_concurrency`` cases are in flight,
    including those that wait for a retry, and at most 16 times ``max_concurrency`` cases have been read and not yet
    yielded; at most twice as many of cases that end once a gate is decided
    (:meth:`~jury_adapters.core.sequential_gate.SequentialGate.draw`). A row that is not a valid case gives an ERROR
    judgment; the judgment of a jury is a verdict without jurors, with the id of the row as ``case_id``.

    If ``cases`` raises an exception, the cases in flight are judged and yielded before it is raised. Closing the
    iterator, or an interrupt such as Ctrl-C, cancels the cases in flight.

    Args:
        judge: any judge.
        cases: Cases, questions or mappings; read one by one, in the calling thread, only as fast as they are judged.
        **options:
            ``max_concurrency``: the number of cases that are judged at once; by default as many as keep 64 requests to
            models in flight, see :mod:`jury_adapters.core.concurrency`. A case that only waits to retry a request does
            not count; when such cases continue, the number may be exceeded for a while. A judge of plain functions,
            which never waits for a model, judges one case after the other in the calling thread.
            ``ordered``: True (default) yields in input order, False in the order in which the cases finish.
            ``progress``: called after each case with the number of cases done; see
                :func:`jury_adapters.observability.progress_bar`.
            ``on_error``: called with each case whose judgment is ERROR, of which every juror broke, or that is FAIL
            only because jurors broke, as soon as it is known.
            ``store``: a :class:`jury_adapters.store.Store`, or the path of one. Each judgment of a critic is durable
            before its verdict is yielded, and a stored judgment is not paid for again.
            ``budget``: a limit on the spending of the batch; a judge whose call is refused abstains with
            ``budget_exhausted``.

        An exception of ``progress`` or ``on_error`` is logged once, and the batch continues.

    Raises:
        ConfigurationError: a single case was given instead of many, or an option is unusable.
    """
    refuse_one(cases)
    scope, window = _prepared(judge, options, ends_early=isinstance(cases, EndsEarly))
    return _stream(judge, cases, window, scope)


def _stream(
    judge: Judge, cases: Iterable[CaseLike], window: Window[Future[Judgment | CapturedException]], scope: Scope
) -> Iterator[Judged]:
    happened: SimpleQueue[int | None] = SimpleQueue()  # index of a judged case, or None if there may be room for more
    window.on_room(lambda: happened.put(None))
    rows = _PlainRows(cases)
    alone = event_loop.would_deadlock()  # the background loop waits for the caller: one case after the other
    inline = judge.inline and judge.timeout is None
    index, exhausted = -1, False
    started: set[asyncio.Task[object]] = set()  # changed only on the background loop
    try:
        load_models(judge)  # here, where Ctrl-C interrupts it
        while True:
            yield from window.ready()
            added = False
            while window.has_room and not exhausted and not added:
                row = rows.next()
                if row is _END:
                    exhausted = True
                    break
                index, case = index + 1, as_case(row, judge)
                if isinstance(case, Case) and not inline and not alone:
                    future = event_loop.submit(_tracked(judge, case, scope, started), blocking=True)
                    window.start(index, case, future)
                    future.add_done_callback(lambda _, index=index: happened.put(index))  # type: ignore[misc]
                else:
                    window.add(_judged_now(judge, index, case, scope, inline))
                    added = True  # yield it before judging the next case
            if added:
                continue
            if not window.running:
                break
            finished = happened.get()
            if finished is not None:
                window.finish(finished, event_loop.unwrap(window.future(finished).result()))
    finally:
        window.log_end()
        for future in window.in_flight():
            future.cancel()
        if started:
            event_loop.run(_cleaned_up, started)
    rows.raise_failure()


async def astream(
    judge: Judge, cases: Iterable[CaseLike] | AsyncIterable[CaseLike], **options: Unpack[BatchOptions]
) -> AsyncGenerator[Judged, None]:
    """Judge many cases like :func:`stream`, for asynchronous code; ``cases`` may be an asynchronous iterable."""
    event_loop.require_asyncio("ajudge_many()")
    refuse_one(cases)
    scope, window = _prepared(judge, options, ends_early=isinstance(cases, EndsEarly))
    tasks: dict[asyncio.Future[Any], int] = {}
    # A finished judgment, a row that has arrived, or None if there may be room for another case.
    happened: asyncio.Queue[asyncio.Future[Any] | None] = asyncio.Queue()
    window.on_room(lambda: happened.put_nowait(None))
    rows = _Rows(cases, happened.put_nowait)
    index, exhausted = -1, False
    try:
        while True:
            for done in window.ready():
                yield done
            added = False
            while window.has_room and not exhausted and (coming := rows.next()).done():
                row = rows.taken(coming)
                if row is _END:
                    exhausted = True
                    break
                index, case = index + 1, as_case(row, judge)
                if isinstance(case, Judgment):
                    window.add(Judged(index, None, case))
                    added = True
                    continue
                task = asyncio.create_task(event_loop.run_and_capture(scope.run_judge, judge, case))
                task.add_done_callback(happened.put_nowait)
                tasks[task] = index
                window.start(index, case, task)
            if added:
                continue
            if exhausted and not tasks:
                break
            which = await happened.get()
            if which in tasks:
                window.finish(tasks.pop(which), event_loop.unwrap(which.result()))
    finally:
        window.log_end()
        await cancel_and_wait([*tasks, *rows.reader])
    rows.raise_failure()


def as_case(row: CaseLike | object, judge: Judge) -> Case | Judgment:
    """Return a row as a Case, or an ERROR judgment of this judge that says why the row is not a case.

    A jury returns a verdict without jurors, with the id of the row as ``case_id``.
    """
    try:
        return Case.of(row, {})  # type: ignore[arg-type]
    except Exception as error:  # a bad row must not stop the batch
        failure = judge.failure(error)
        said = error if isinstance(error, ConfigurationError) else failure.error
        changes: dict[str, Any] = {"reasoning": f"this row is not a case: {said}", "critic": judge.name}
        if isinstance(failure, Verdict):
            changes["case_id"] = item_id_in(row)
        return evolve(failure, **changes)


def refuse_one(cases: object) -> None:
    """Reject what is iterable but yields no cases: a mapping, a text, a Case, and a data frame or a column of one.

    Raises:
        ConfigurationError: it is one of these; the message says what to give.
    """
    if hasattr(cases, "columns") or hasattr(cases, "to_frame"):
        raise ConfigurationError(
            f"many cases are a list of them, not a {type(cases).__name__}, which yields its columns or values; of "
            'pandas give [Case.from_row(row) for row in frame.to_dict("records")]'
        )
    if isinstance(cases, str | bytes | Mapping | Case):
        raise ConfigurationError(f"many cases are a list of them, not one {type(cases).__name__}; for one use judge()")


def _prepared(judge: Judge, options: BatchOptions, *, ends_early: bool) -> tuple[Scope, Window[Any]]:
    """Return the scope (store, budget, state) of a batch and its window.

    Raises:
        ConfigurationError: an option is unknown or unusable.
    """
    for name in options:
        if name not in BatchOptions.__annotations__:
            raise ConfigurationError(unknown("option", name, BatchOptions.__annotations__))
    batch = BatchState()
    scope = Scope.of(judge, options.get("store"), options.get("budget"), batch=batch)
    given = options.get("max_concurrency")
    window: Window[Any] = Window(
        default_concurrency(judge) if given is None else given,
        batch,
        ordered=options.get("ordered", True),
        ends_early=ends_early,
        progress=options.get("progress"),
        on_error=options.get("on_error"),
    )
    return scope, window


async def _tracked(
    judge: Judge, case: Case, scope: Scope, started: set[asyncio.Task[object]]
) -> Judgment | CapturedException:
    task = asyncio.current_task()
    assert task is not None
    started.add(task)
    task.add_done_callback(started.discard)
    return await event_loop.run_and_capture(scope.run_judge, judge, case)


async def _cleaned_up(tasks: set[asyncio.Task[object]]) -> None:
    """Wait at most 5 s for cancelled work to end, so that none of it is still running when the caller continues."""
    alive = {task for task in tasks if not task.done()}
    if alive:
        await asyncio.wait(alive, timeout=5)


def _judged_now(judge: Judge, index: int, case: Case | Judgment, scope: Scope, inline: bool) -> Judged:
    if isinstance(case, Judgment):
        return Judged(index, None, case)
    if inline:
        return Judged(index, case, event_loop.run_inline(scope.run_judge(judge, case)))
    return Judged(index, case, event_loop.run(scope.run_judge, judge, case))


class _Source:
    """Source of rows that reports its end on an exception, so that the cases in flight are finished first.

    An interrupt such as KeyboardInterrupt is raised at once.
    """

    def __init__(self) -> None:
        self._failure: BaseException | None = None

    def raise_failure(self) -> None:
        """Raise what the source has raised, if anything."""
        if self._failure is not None:
            raise self._failure

    def _row(self, take: Callable[[], object]) -> object:
        """Return the next row, or ``_END``."""
        try:
            return take()
        except (Exception, asyncio.CancelledError) as error:
            self._failure = error
            return _END


class _PlainRows(_Source):
    """Rows of an iterable, read in the calling thread."""

    def __init__(self, cases: Iterable[CaseLike]) -> None:
        super().__init__()
        self._next = partial(next, iter(cases), _END)

    def next(self) -> object:
        """Return the next row; ``_END`` after the last."""
        return self._row(self._next)


class _Rows(_Source):
    """Rows of a synchronous or asynchronous iterable, read on demand.

    One task reads an asynchronous iterable, so that judgments can be yielded while the next row is pending, and so that
    a time limit or a cancel scope inside the source always runs in the same task.
    """

    def __init__(
        self, cases: Iterable[CaseLike] | AsyncIterable[CaseLike], arrived: Callable[[asyncio.Future[Any]], None]
    ) -> None:
        super().__init__()
        self._arrived = arrived
        self._coming: asyncio.Future[object] | None = None
        self._asked: asyncio.Queue[asyncio.Future[object]] = asyncio.Queue()
        self.reader: list[asyncio.Task[None]] = []
        if isinstance(cases, AsyncIterable):
            self.reader.append(asyncio.create_task(self._read(aiter(cases))))
        else:
            self._plain = _PlainRows(cases)

    def next(self) -> asyncio.Future[object]:
        """Return a future for the next row, or the pending one; its result after the last row is ``_END``."""
        if self._coming is None:
            self._coming = asyncio.get_running_loop().create_future()
            if self.reader:
                self._coming.add_done_callback(self._arrived)
                self._asked.put_nowait(self._coming)
            else:
                self._coming.set_result(self._plain.next())
        return self._coming

    def taken(self, coming: asyncio.Future[object]) -> object:
        """Return the row that has arrived; ``_END`` after the last row, or if the source raised an exception."""
        self._coming = None
        return self._row(coming.result)

    def raise_failure(self) -> None:
        """Raise what the source has raised, if anything."""
        if not self.reader:
            self._plain.raise_failure()
        super().raise_failure()

    async def _read(self, source: AsyncIterator[CaseLike]) -> None:
        while True:
            coming = await self._asked.get()
            try:
                coming.set_result(await anext(source, _END))
            except BaseException as error:  # raised in the task that reads the judgments
                if isinstance(error, asyncio.CancelledError) and event_loop.is_cancelled():
                    raise
                coming.set_exception(error)
                coming.exception()  # marks it as retrieved: asyncio does not warn if that task has ended


_END = object()
