"""Batches: read cases one by one, judge a bounded number at once, and yield each with its judgment."""

import asyncio
from collections import deque
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
)
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from typing import Any, TypedDict

from jury_adapters.core import loop
from jury_adapters.core.budget import Budget
from jury_adapters.core.case import Case, CaseLike, refuse_one
from jury_adapters.core.context import check_means, within
from jury_adapters.core.judgment import Judgment, broken
from jury_adapters.core.store import Store
from jury_adapters.core.values import check_whole

MAX_CONCURRENCY = 32
_AHEAD = 4  # cases read ahead per case in judgment, so that a slow one does not hold up the others
Pair = tuple[Case | None, Judgment]


class BatchOptions(TypedDict, total=False):
    """Options of one batch, as in :class:`Batch`."""

    ordered: bool
    max_concurrency: int | None
    store: Store | None
    budget: Budget | None


@dataclass
class Batch:
    """Settings of one batch.

    Attributes:
        ajudge: judges one case; never raises for a case.
        ordered: yield in the order of the cases, or as they finish.
        max_concurrency: how many cases are judged at once; 32 by default.
        store: where judgments are kept.
        budget: the limit on spending.
    """

    ajudge: Callable[[Case], Awaitable[Judgment]]
    ordered: bool = True
    max_concurrency: int | None = None
    store: Store | None = None
    budget: Budget | None = None
    _room: asyncio.Semaphore = field(init=False)
    _is_over: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        limit = MAX_CONCURRENCY if self.max_concurrency is None else self.max_concurrency
        check_whole("max_concurrency", limit, 1)
        check_means(self.store, self.budget)
        self.window = _AHEAD * limit
        self._room = asyncio.Semaphore(limit)

    async def judged(self, row: CaseLike) -> Pair:
        """Judge one row; one that makes no case is an ERROR without a case."""
        async with self._room:
            try:
                if isinstance(row, Exception):  # of a reader that could not read the row
                    raise row
                case = Case.of(row)
            except Exception as error:
                return None, broken(error, case_id=_id_of(row))
            with within(store=self.store, budget=self.budget):
                try:
                    return case, await self.ajudge(case)
                except asyncio.CancelledError:
                    if self._is_over:
                        raise
                    return case, broken("a judge cancelled the task that judged the case", case_id=case.id)

    def stream(self, cases: Iterable[CaseLike]) -> Iterator[Pair]:
        """Judge cases on the background loop and yield them in this thread; see :meth:`Judge.judge_many`."""
        refuse_one(cases)
        return self._stream(iter(cases))

    def _stream(self, rows: Iterator[CaseLike]) -> Iterator[Pair]:
        tasks = _Tasks(self.judged)
        end: Exception | None = None
        read = given = 0
        try:
            while end is None or given < read:
                while end is None and read - given < self.window:
                    try:
                        row = next(rows)
                    except Exception as error:
                        end = error
                        break
                    tasks.start(read, row)
                    read += 1
                    if given in tasks.done if self.ordered else not tasks.finished.empty():
                        break  # a slow source does not hold up what is ready
                if given < read:
                    number = tasks.next(given if self.ordered else None)
                    yield tasks.done.pop(number).result()
                    given += 1
            if not isinstance(end, StopIteration):
                raise end
        finally:
            self._is_over = True
            tasks.cancel()

    async def astream(self, cases: Iterable[CaseLike] | AsyncIterable[CaseLike]) -> AsyncGenerator[Pair, None]:
        """Judge cases on the running loop and yield them; see :meth:`Judge.ajudge_many`."""
        refuse_one(cases)
        flying: set[asyncio.Task[Pair]] = set()
        queue = asyncio.Queue[asyncio.Task[Pair] | None]()  # as read, or as finished; None is the end
        space = asyncio.Semaphore(self.window)

        async def read() -> None:
            try:
                async for row in cases if isinstance(cases, AsyncIterable) else _each(cases):
                    await space.acquire()
                    task = asyncio.create_task(self.judged(row))
                    flying.add(task)
                    if self.ordered:
                        queue.put_nowait(task)
                    else:
                        task.add_done_callback(queue.put_nowait)
            finally:
                if flying:
                    await asyncio.wait(flying)
                queue.put_nowait(None)

        reader = asyncio.create_task(read())
        try:
            while task := await queue.get():
                # This leaves the task alone if it is cancelled itself: all are cancelled together below.
                await asyncio.wait([task])
                yield task.result()
                flying.discard(task)
                space.release()
            reader.result()  # raises what the source raised
        finally:
            self._is_over = True
            left = [reader, *flying]
            for one in left:
                one.cancel()
            await asyncio.gather(*left, return_exceptions=True)


class _Tasks:
    """Tasks on the background loop that another thread starts and waits for, by number.

    Rows that come while the loop is busy are started together, because every wake-up makes both threads wait for the
    interpreter.
    """

    def __init__(self, work: Callable[[CaseLike], Coroutine[Any, Any, Pair]]) -> None:
        self.done: dict[int, asyncio.Task[Pair]] = {}
        self.finished = SimpleQueue[int]()
        self._work, self._loop = work, loop.to_wait_for()
        self._running: dict[int, asyncio.Task[Pair]] = {}
        self._new: deque[tuple[int, CaseLike]] = deque()

    def start(self, number: int, row: CaseLike) -> None:
        """Start work on a row."""
        self._new.append((number, row))
        if len(self._new) == 1:  # else the loop is about to take this row, too
            self._loop.call_soon_threadsafe(self._start)

    def _start(self) -> None:
        while self._new:
            number, row = self._new.popleft()
            self._running[number] = task = self._loop.create_task(self._work(row))
            task.add_done_callback(partial(self._finish, number))

    def _finish(self, number: int, task: "asyncio.Task[Pair]") -> None:
        self.done[number] = self._running.pop(number)
        self.finished.put(number)

    def next(self, number: int | None) -> int:
        """Wait until this one has finished, or any if it is None, and return the number."""
        while number is None or number not in self.done or not self.finished.empty():
            one = self.finished.get()
            if number is None:
                return one
        return number

    def cancel(self) -> None:
        """Cancel what runs."""
        self._new.clear()
        self._loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        for task in reversed(self._running.values()):  # those that wait first, or they would begin when others end
            task.cancel()


async def _each(cases: Iterable[CaseLike]) -> AsyncIterator[CaseLike]:
    for case in cases:
        yield case
        await asyncio.sleep(0)  # what is judged comes before the last row is read


def _id_of(row: object) -> str | None:
    try:
        found = row.get("id") if isinstance(row, Mapping) else None
    except Exception:  # of a row that cannot be read at all
        return None
    return str(found) if isinstance(found, str | int) else None
