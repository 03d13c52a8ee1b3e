"""Batches: read cases one by one, judge a bounded number at once, and yield each with its judgment."""

import asyncio
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
)
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import SimpleQueue

from jury_adapters.core import loop
from jury_adapters.core.budget import Budget
from jury_adapters.core.case import Case, CaseLike, refuse_one
from jury_adapters.core.context import within
from jury_adapters.core.judgment import Judgment, broken
from jury_adapters.core.store import Store
from jury_adapters.core.values import ConfigurationError

MAX_CONCURRENCY = 32
_AHEAD = 4  # cases read ahead per case in judgment, so that a slow one does not hold up the others
Pair = tuple[Case | None, Judgment]


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

    def __post_init__(self) -> None:
        limit = MAX_CONCURRENCY if self.max_concurrency is None else self.max_concurrency
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
            raise ConfigurationError(f"max_concurrency= is a whole number from 1, not {limit!r}")
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
                return case, await self.ajudge(case)

    def stream(self, cases: Iterable[CaseLike]) -> Iterator[Pair]:
        """Judge cases on the background loop and yield them in this thread; see :meth:`Judge.judge_many`."""
        refuse_one(cases)
        return self._stream(iter(cases))

    def _stream(self, rows: Iterator[CaseLike]) -> Iterator[Pair]:
        flying: dict[Future[Pair], None] = {}
        finished: SimpleQueue[Future[Pair]] = SimpleQueue()
        failure: Exception | None = None
        more = True
        try:
            while more or flying:
                while more and len(flying) < self.window:
                    try:
                        row = next(rows)
                    except StopIteration:
                        more = False
                        break
                    except Exception as error:
                        more, failure = False, error
                        break
                    future = loop.submit(self.judged(row))
                    flying[future] = None
                    future.add_done_callback(finished.put)
                    if next(iter(flying)).done() if self.ordered else not finished.empty():
                        break  # a slow source does not hold up what is ready
                if flying:
                    ready = next(iter(flying)) if self.ordered else finished.get()
                    yield ready.result()
                    del flying[ready]
            if failure is not None:
                raise failure
        finally:
            for future in reversed(flying):  # those that wait first, or they would begin when the others end
                future.cancel()

    async def astream(self, cases: Iterable[CaseLike] | AsyncIterable[CaseLike]) -> AsyncGenerator[Pair, None]:
        """Judge cases on the running loop and yield them; see :meth:`Judge.ajudge_many`."""
        refuse_one(cases)
        flying: set[asyncio.Task[Pair]] = set()
        queue = asyncio.Queue[asyncio.Task[Pair] | None]()  # as read, or as finished; None ends the source
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
                queue.put_nowait(None)

        reader = asyncio.create_task(read())
        more = True
        try:
            while more or flying:
                task = await queue.get()
                if task is None:
                    more = False
                    continue
                await asyncio.wait(
                    [task]
                )  # which leaves it alone if this is cancelled: all are cancelled together below
                yield task.result()
                flying.discard(task)
                space.release()
            reader.result()  # raises what the source raised
        finally:
            left = [reader, *flying]
            for one in left:
                one.cancel()
            await asyncio.gather(*left, return_exceptions=True)


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
