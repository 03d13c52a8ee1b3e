"""Checks of the queue by the background loop: soon by default, and at once when a caller waits or room is short.

The pause in which runs gather is endless here, so that runs are judged only if the background loop is woken at once.
"""

import asyncio
import threading
import time
from collections import Counter

import pytest
from support.judge_queues import CASE, passing

from jury_adapters import Case, Judge
from jury_adapters.core import event_loop
from jury_adapters.core.background import judge_queue as module
from jury_adapters.core.background.judge_queue import JudgedRun, JudgeQueue, Run
from jury_adapters.core.context import judging


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> None:
    """No run is judged just because time passes."""
    monkeypatch.setattr(module, "_PAUSE", 1_000.0)


def looked_at() -> None:
    """Wait until the background loop has done what it was called for so far."""
    done = threading.Event()
    event_loop.call_soon(done.set)
    assert done.wait(60)


@pytest.mark.usefixtures("endless")
@pytest.mark.parametrize("way", ["flush", "aflush"])
def test_who_waits_is_not_kept_waiting_for_others_to_gather(way: str):
    queue = JudgeQueue(passing())
    for number in range(3):
        queue.put(CASE, run=Run(str(number)))
        looked_at()  # it gathers now, and is asleep
        assert queue.pending == 1
        assert queue.flush(10) if way == "flush" else asyncio.run(queue.aflush(10))
    assert queue.counts.judged == 3


@pytest.mark.usefixtures("endless")
def test_a_queue_half_full_does_not_wait_for_more():
    told = threading.Semaphore(0)
    queue = JudgeQueue(passing(), on_verdict=lambda judged: told.release(), max_pending=8)
    for number in range(3):
        queue.put(CASE, run=Run(str(number)))
    looked_at()
    assert queue.pending == 3
    queue.put(CASE, run=Run("3"))
    for _ in range(4):
        assert told.acquire(timeout=60)
    assert queue.close()


@pytest.mark.usefixtures("endless")
def test_the_next_begins_as_soon_as_one_has_ended():
    async def waits(case: Case) -> bool:
        await asyncio.sleep(0)
        return True

    queue = JudgeQueue(Judge.from_function(waits), max_concurrency=1)
    for number in range(4):
        queue.put(CASE, run=Run(str(number)))
    assert queue.flush(10)
    assert queue.counts.judged == 4


def test_a_queue_that_was_at_rest_goes_on():
    queue = JudgeQueue(passing())
    for number in range(3):
        queue.put(CASE, run=Run(str(number)))
        assert queue.flush(10)
        time.sleep(0.12)  # long enough for the background loop to stop looking
    assert queue.counts.judged == 3


def test_a_portal_that_could_not_be_woken_is_woken_for_the_next(monkeypatch: pytest.MonkeyPatch):
    queue, call_soon = JudgeQueue(passing(), max_pending=1), event_loop.call_soon

    def no_threads(callback: object) -> None:
        monkeypatch.setattr(event_loop, "call_soon", call_soon)
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(event_loop, "call_soon", no_threads)
    assert not queue.put(CASE, run=Run("lost"))
    assert (queue.counts.dropped, queue.pending) == (1, 0)
    assert queue.put(CASE, run=Run("next"))
    assert queue.flush(10)
    assert queue.counts.judged == 1


def test_a_judge_that_never_waits_lets_others_have_the_portal():
    order: list[str] = []

    def busy(case: Case) -> bool:
        if not order:
            event_loop.call_soon(lambda: order.append("other"))
        order.append("judged")
        time.sleep(0.006)
        return True

    queue = JudgeQueue(Judge.from_function(busy), max_concurrency=1)
    for number in range(20):
        queue.put(CASE, run=Run(str(number)))
    assert queue.close()
    assert order.index("other") < 10


def test_there_is_nothing_to_wait_for_where_nothing_is_pending():
    queue = JudgeQueue(passing())
    with judging():
        assert queue.flush()
        assert asyncio.run(queue.aflush())


@pytest.mark.parametrize("seconds", [0.002, 0.006], ids=["several at a time", "one at a time"])
def test_slow_sinks_are_told_of_each_run_once_and_take_no_place_for_good(seconds: float):
    told: Counter[str] = Counter()

    def slow(judged: JudgedRun) -> None:
        told[judged.run.id] += 1
        time.sleep(seconds)

    queue = JudgeQueue(Judge.from_function(lambda case: True), on_verdict=slow, max_concurrency=4)
    for round_ in range(6):
        for number in range(12):
            queue.put(CASE, run=Run(f"{round_}-{number}"))
        assert queue.flush(10)
    assert queue._running == 0
    assert set(told.values()) == {1}
    assert len(told) == 72


def test_a_case_that_wants_to_end_the_process_is_an_error():
    def ends() -> Case:
        raise SystemExit(3)

    told: list[JudgedRun] = []
    with JudgeQueue(passing(), on_verdict=told.append) as queue:
        queue.put(ends, run=Run("1"))
    assert [judged.judgment.error for judged in told] == ["SystemExit: 3"]
    assert queue.counts.broken == 0
