"""Threads that are there only while there is work for them."""

import asyncio
import contextvars
import threading
import time

import pytest

from jury_adapters import judge
from jury_adapters.core.background.judge_queue import JudgeQueue, Run
from jury_adapters.core.background.passing_threads import PassingThreads
from jury_adapters.core.case import Case

WORD = contextvars.ContextVar("WORD", default="none")


@pytest.fixture
def gone():
    """Whether the threads that the test brought about have ended, or do so soon."""
    before = set(threading.enumerate())

    def look(within=60.0):
        until = time.monotonic() + within
        while sinks() and time.monotonic() < until:
            time.sleep(0.01)
        return not sinks()

    def sinks():
        return [t for t in threading.enumerate() if t not in before and t.name.startswith("jury-sink")]

    return look


def test_a_function_runs_in_a_thread_with_the_callers_context():
    async def main():
        WORD.set("mine")
        return await PassingThreads(0.01).run(lambda add: (WORD.get() + add, threading.current_thread().name), "!")

    said, thread = asyncio.run(main())
    assert said == "mine!"
    assert thread.startswith("jury-sink")


def test_what_it_raises_comes_back():
    async def main():
        await PassingThreads(0.01).run(int, "x")

    with pytest.raises(ValueError, match="invalid literal"):
        asyncio.run(main())


def test_unused_for_a_while_the_threads_end_and_new_ones_come_when_needed(gone):
    threads = PassingThreads(0.05)

    async def burst():
        await asyncio.gather(*(threads.run(time.sleep, 0.01) for _ in range(8)))
        await asyncio.sleep(0.2)
        return gone()

    assert [asyncio.run(burst()) for _ in range(2)] == [True, True]


def test_used_again_in_time_the_threads_stay():
    threads = PassingThreads(5.0)

    async def main():
        names = set()
        for _ in range(5):
            names.add(await threads.run(lambda: threading.current_thread().ident))
            await asyncio.sleep(0.01)
        return names

    assert len(asyncio.run(main())) == 1


def test_a_thread_at_work_is_let_go_and_ends_when_it_is_done(gone):
    threads, go, done = PassingThreads(0.01), threading.Event(), threading.Event()

    async def main():
        task = asyncio.create_task(threads.run(lambda: (go.wait(60), done.set())))
        await asyncio.sleep(0.02)
        task.cancel()
        await asyncio.sleep(0.05)

    asyncio.run(main())
    assert not done.is_set()
    go.set()
    assert done.wait(60)
    assert gone()


def test_an_application_has_as_many_threads_after_a_burst_of_runs_as_before(gone):
    told = []
    queue = JudgeQueue(judge(lambda case: True), on_verdict=told.append)
    queue.put(Case(answer="the background loop is there from now on"), run=Run("0"))
    assert queue.close()
    assert gone()
    before = threading.active_count()
    queue = JudgeQueue(judge(lambda case: True), on_verdict=told.append)
    for number in range(200):
        queue.put(Case(answer="a"), run=Run(str(number)))
    assert queue.flush(10)
    assert len(told) == 201
    assert gone()
    assert threading.active_count() <= before


@pytest.fixture
def no_more_threads():
    """No thread can be started: its stack would not fit into memory."""
    usual = threading.stack_size(2**47)
    yield
    threading.stack_size(usual)


def test_where_no_thread_can_be_started_the_function_is_called_on_the_loop(no_more_threads):
    called = []

    async def main():
        threads = PassingThreads(0.01)
        try:
            return [await threads.run(lambda n=n: called.append(n) or threading.current_thread()) for n in range(3)]
        finally:
            await asyncio.sleep(0.05)

    assert asyncio.run(main()) == [threading.current_thread()] * 3
    assert called == [0, 1, 2]


def test_a_call_that_waits_for_a_busy_thread_is_made_once():
    called, busy = [], threading.Event()

    async def main():
        threads = PassingThreads(0.01)
        first = asyncio.create_task(threads.run(busy.wait, 10))
        await asyncio.sleep(0.05)
        usual = threading.stack_size(2**47)
        try:
            await threads.run(called.append, "second")
        finally:
            threading.stack_size(usual)
            busy.set()
        await first
        await asyncio.sleep(0.1)

    asyncio.run(main())
    assert called == ["second"]
