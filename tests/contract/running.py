"""Shared by the tests of running: judges that count and pay, a store, ways to run a batch, scripts, virtual time."""

import asyncio
import selectors
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator
from contextlib import nullcontext
from typing import Any, TypeVar

import pytest

from jury_adapters import Case, Judge, Judgment, Status, Usage, judge
from jury_adapters.core.context import context
from jury_adapters.core.store import Key, get_or_ask

T = TypeVar("T")
LONG = 60.0  # seconds that no test waits for: what takes so long is given up or cancelled


class Gauge:
    """Asynchronous function of a case that takes the ``seconds`` in its metadata, and counts."""

    def __init__(self) -> None:
        self.started = self.finished = self.cancelled = self.most = 0

    @property
    def now(self) -> int:
        return self.started - self.finished - self.cancelled

    async def __call__(self, case: Case) -> tuple[bool, str]:
        self.started += 1
        self.most = max(self.most, self.now)
        try:
            await asyncio.sleep(case.metadata.get("seconds", 0))
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        self.finished += 1
        return True, case.question or ""


def cases(count: int, seconds: float = 0.0) -> list[Case]:
    return [Case(question=str(number), metadata={"seconds": seconds}) for number in range(count)]


async def asleep(case: Case) -> bool:
    await asyncio.sleep(LONG)
    return True


def passes(case: Case) -> bool:
    return True


class Memory:
    """Store in a dict, whose methods may raise."""

    def __init__(self, *, get: Exception | None = None, put: Exception | None = None) -> None:
        self.kept: dict[Key, Judgment] = {}
        self.get_raises, self.put_raises = get, put

    async def get(self, key: Key) -> Judgment | None:
        await asyncio.sleep(0)
        if self.get_raises:
            raise self.get_raises
        return self.kept.get(key)

    async def put(self, key: Key, case: Case, judgment: Judgment) -> None:
        await asyncio.sleep(0)
        if self.put_raises:
            raise self.put_raises
        self.kept[key] = judgment


class Paying(Judge):
    """Judge that asks and pays the way a critic does.

    Args:
        name: the name.
        estimate: what a call reserves.
        took: what a call takes; half of the estimate's dollars and tokens by default.
        says: what it says; an exception is raised, and a list is used in order.
        seconds: how long a call takes.
        timeout: the time limit.
    """

    def __init__(
        self,
        name: str = "paying",
        *,
        estimate: Usage = Usage(calls=1, input_tokens=80, output_tokens=20, cost_usd=0.01),  # noqa: B008
        took: Usage | None = None,
        says: Any = True,
        seconds: float = 0.0,
        timeout: float | None = None,
    ) -> None:
        self.name, self.timeout = name, timeout
        self._estimate, self._says, self._seconds = estimate, says, seconds
        halves = {"input_tokens": 40, "output_tokens": 10, "cost_usd": 0.005}
        self._took = took or estimate.model_copy(update=halves)
        self._asked: list[tuple[str | None, int]] = []

    @property
    def asked(self) -> list[tuple[str | None, int]]:
        """The calls: question and number of the sample."""
        return self._asked

    def estimate(self, case: Case) -> Usage:
        return self._estimate

    async def assess(self, case: Case) -> Judgment:
        here = context()

        async def ask() -> Judgment:
            async with here.budget.reserve(self._estimate) if here.budget else nullcontext([]) as took:
                self._asked.append((case.question, here.sample))
                number = len(self._asked)
                await asyncio.sleep(self._seconds)
                said = self._says[min(number, len(self._says)) - 1] if isinstance(self._says, list) else self._says
                if isinstance(said, BaseException):
                    raise said
                took.append(self._took)
            if isinstance(said, Judgment):
                return said.model_copy(update={"usage": self._took})
            return Judgment(status=Status.PASS if said else Status.FAIL, reasoning=str(number), usage=self._took)

        return await get_or_ask(here.store, Key(case.content_hash, self.fingerprint, here.sample), case, ask)


async def asynchronous(rows: Iterable[T]) -> AsyncIterator[T]:
    """Yield rows as an asynchronous source."""
    for row in rows:
        await asyncio.sleep(0)
        yield row


Pairs = Iterator[tuple[Case | None, Judgment]]


def synchronously(one: Judge, rows: Iterable[Any], **options: Any) -> Pairs:
    return one.judge_pairs(rows, **options)


def asynchronously(one: Judge, rows: Any, **options: Any) -> Pairs:
    """Run an asynchronous batch step by step; the end of the iterator closes it."""
    with asyncio.Runner() as runner:
        batch = one.ajudge_pairs(rows, **options)

        async def step() -> tuple[Case | None, Judgment] | None:
            return await anext(batch, None)

        async def close() -> None:
            await batch.aclose()

        try:
            while (pair := runner.run(step())) is not None:
                yield pair
        finally:
            runner.run(close())


def from_asynchronous_source(one: Judge, rows: Iterable[Any], **options: Any) -> Pairs:
    return asynchronously(one, asynchronous(rows), **options)


EACH_WAY = pytest.mark.parametrize("many", [synchronously, asynchronously, from_asynchronous_source])
EACH_ORDER = pytest.mark.parametrize("ordered", [True, False], ids=["ordered", "as finished"])


def until(condition: Callable[[], bool], seconds: float = 30.0) -> bool:
    """Wait until the condition holds, and return whether it does."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.002)
    return True


def tasks_left() -> int:
    """Count the tasks on the loop on which the synchronous API runs."""
    found = []

    @judge
    async def counts(case: Case) -> bool:
        found.append(len(asyncio.all_tasks()) - 1)
        return True

    counts.judge("how many?")
    return found[0]


def all_ends(gauge: Gauge) -> bool:
    """Whether nothing is left running: no judgment of the gauge, and no task."""
    return until(lambda: gauge.now == 0 and tasks_left() == 0)


def in_threads(*work: Callable[[], Any], seconds: float = 60.0) -> list[Any]:
    """Call functions in threads, all at once, and return what they return; one that hangs fails the test."""
    found: dict[int, Any] = {}
    threads = [
        threading.Thread(target=lambda place=place, one=one: found.update({place: one()}), daemon=True)
        for place, one in enumerate(work)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds)
    assert len(found) == len(work), "a thread hangs, or raised"
    return [found[place] for place in range(len(work))]


class _Hurried(selectors.DefaultSelector):
    now = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        found = super().select(None if timeout is None else 0)
        if not found and timeout:
            self.now += timeout
        return found


def in_virtual_time(work: Coroutine[Any, Any, T]) -> T:
    """Run asynchronous work on a loop whose clock jumps to the next timer. Threads cannot take part in it."""
    selector = _Hurried()
    loop = asyncio.SelectorEventLoop(selector)
    loop.time = lambda: selector.now

    async def in_time() -> T:
        async with asyncio.timeout(1000):
            return await work

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return runner.run(in_time())


_PRELUDE = """
    import asyncio, os, signal, sys, threading, time, warnings
    warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of any fork beside a thread
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a job in the background ignores
    from jury_adapters import Case, Ensemble, JudgeQueue, ResultsFile, judge

    def say(*words):
        os.write(1, (" ".join(map(str, words)) + "\\n").encode())

    async def asleep(case):
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            say("cancelled")
            raise

    def hangs(case):
        say("hangs")
        time.sleep(60)

    async def passes(case):
        await asyncio.sleep(0.001)
        return True
"""


def start(body: str, *args: object) -> "subprocess.Popen[str]":
    """Start a script with some judges in a process of its own."""
    code = textwrap.dedent(_PRELUDE) + textwrap.dedent(body)
    command = [sys.executable, "-c", code, *map(str, args)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def script(body: str, *args: object, code: int = 0, quiet: bool = True, seconds: float = 50.0) -> list[str]:
    """Run a script, and return the lines that it said; it must end in time, with the exit code, and say no more."""
    with start(body, *args) as process:
        try:
            out, err = process.communicate(timeout=seconds)
        finally:
            process.kill()
    assert process.returncode == code, err
    assert not quiet or err == ""
    return out.splitlines() + err.splitlines()
