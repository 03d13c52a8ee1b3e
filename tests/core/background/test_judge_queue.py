"""Runs judged in the background: bounded, counted, and never felt by the application."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.judge_queues import CASE, passing

from jury_adapters import Case, ConfigurationError, Ensemble, Judge, Status
from jury_adapters.core import event_loop
from jury_adapters.core.background.judge_queue import JudgedRun, JudgeQueue, Run


def gated() -> tuple[Judge, threading.Event]:
    """A judge that waits until it is let go."""
    go = threading.Event()
    return Judge.from_function(lambda case: go.wait(20), timeout=30), go


def test_offering_never_waits_and_what_is_too_much_is_dropped(caplog: pytest.LogCaptureFixture):
    judge, go = gated()
    with JudgeQueue(judge, max_pending=3, max_concurrency=2) as queue:
        assert [queue.put(CASE, run=Run(str(n))) for n in range(10)] == [True] * 3 + [False] * 7
        assert (queue.pending, queue.counts.dropped) == (3, 7)
        go.set()
        assert queue.flush(20)
        assert queue.put(CASE, run=Run("again"))
    assert queue.counts.judged == 4
    assert [record.args[0] for record in caplog.records] == ["1 run", "2 runs", "4 runs"]


def test_cases_without_a_run_get_runs_with_ids_of_their_own():
    judged = []
    with JudgeQueue(passing(), on_verdict=judged.append) as queue:
        assert queue.put(CASE)
        assert queue.put(lambda: CASE)
    assert [one.case for one in judged] == [CASE, CASE]
    assert len({one.run.id for one in judged}) == 2


def test_a_closed_queue_takes_nothing_and_counts_it():
    queue = JudgeQueue(passing())
    assert queue.close()
    assert not queue.put(CASE, run=Run("1"))
    assert queue.counts.dropped == 1


def test_no_more_are_judged_at_once_than_allowed():
    now, most = [0], [0]

    async def judge(case: Case) -> bool:
        now[0] += 1
        most[0] = max(most[0], now[0])
        await asyncio.sleep(0.01)
        now[0] -= 1
        return True

    with JudgeQueue(Judge.from_function(judge), max_concurrency=3) as queue:
        for number in range(20):
            queue.put(CASE, run=Run(str(number)))
    assert (most[0], queue.counts.judged) == (3, 20)


def test_an_interrupt_in_a_judge_does_not_stop_the_judging_of_others(caplog: pytest.LogCaptureFixture):
    async def judge(case: Case) -> bool:
        if case.question == "interrupt":
            raise KeyboardInterrupt
        return True

    with JudgeQueue(Judge.from_function(judge)) as queue:
        queue.put(Case(question="interrupt"), run=Run("1"))
        queue.put(CASE, run=Run("2"))
        assert queue.flush(10)
    assert (queue.counts.judged, queue.counts.broken) == (1, 1)
    assert "judging run 1 broke" in caplog.text


@pytest.mark.parametrize("waits", [True, False])
def test_a_cancelled_error_of_the_judges_own_is_an_error_judgment(waits: bool):
    def judge(case: Case) -> bool:
        raise asyncio.CancelledError

    async def asynchronous(case: Case) -> bool:
        return judge(case)

    told: list[JudgedRun] = []
    with JudgeQueue(Judge.from_function(asynchronous if waits else judge), on_verdict=told.append) as queue:
        queue.put(CASE, run=Run("1"))
        assert queue.flush(10)
    assert [(one.judgment.status, one.judgment.error) for one in told] == [("ERROR", "CancelledError")]
    assert (queue.counts.judged, queue.counts.broken) == (1, 0)


@pytest.mark.parametrize("waits", [True, False])
def test_whatever_a_judge_raises_each_run_is_counted(waits: bool):
    def judge(case: Case) -> bool:
        if case.question == "poison":
            raise KeyboardInterrupt
        return True

    async def asynchronous(case: Case) -> bool:
        return judge(case)

    told = []
    with JudgeQueue(Judge.from_function(asynchronous if waits else judge), on_verdict=told.append) as queue:
        for question in ("one", "poison", "two"):
            queue.put(Case(question=question), run=Run(question))
        assert queue.flush(10)
    assert {judged.run.id for judged in told} == {"one", "two"}
    assert (queue.counts.judged, queue.counts.broken, queue.pending) == (2, 1, 0)


def test_runs_are_judged_together_and_the_portal_is_not_woken_for_each(monkeypatch: pytest.MonkeyPatch):
    threads, calls, call_soon = [], [], event_loop.call_soon

    def counting(callback):
        calls.append(callback)
        call_soon(callback)

    monkeypatch.setattr(event_loop, "call_soon", counting)  # the real one, counted
    judge = Judge.from_function(lambda case: True)
    with JudgeQueue(judge, on_verdict=lambda judged: threads.append(threading.get_ident())) as queue:
        for number in range(100):
            queue.put(CASE, run=Run(str(number)))
        assert queue.flush(10)
        assert len(calls) <= 8  # to begin with, to hurry, and again after a pause on a slow machine
    assert len(threads) == 100


def test_what_nobody_waits_for_is_judged_all_the_same():
    told = threading.Event()
    queue = JudgeQueue(passing(), on_verdict=lambda judged: told.set())
    for _ in range(3):
        told.clear()
        queue.put(CASE, run=Run("1"))
        assert told.wait(60)
        time.sleep(0.12)  # long enough for the background loop to stop looking
    assert queue.close()
    assert queue.counts.judged == 3


def test_little_room_is_used_at_once():
    queue = JudgeQueue(Judge.from_function(lambda case: True), max_pending=1)
    taken, until = 0, time.monotonic() + 60
    while taken < 5 and time.monotonic() < until:
        taken += queue.put(CASE, run=Run("x"))
        time.sleep(0.001)
    assert taken == 5
    assert queue.close()


def test_a_plain_function_that_answers_with_a_coroutine_is_asked_about_many_runs_at_once():
    now, most = 0, 0

    async def ask(case: Case) -> bool:
        nonlocal now, most
        now += 1
        most = max(most, now)
        async with asyncio.timeout(10):  # needs a task of its own
            await asyncio.sleep(0.02)
        now -= 1
        return True

    with JudgeQueue(Judge.from_function(lambda case: ask(case)), max_concurrency=4) as queue:  # noqa: PLW0108
        for number in range(12):
            queue.put(CASE, run=Run(str(number)))
    assert queue.counts.judged == 12
    assert most == 4


def test_a_run_that_failed_is_fail_in_the_shape_of_the_judge():
    asked, told, errors = [], [], []
    jury = Ensemble([Judge.from_function(lambda case: bool(asked.append(case)), name="a")])
    with JudgeQueue(jury, on_verdict=told.append, on_error=errors.append) as queue:
        queue.put(CASE, run=Run("1", error="ValueError: no"))
    (judged,) = told
    assert judged.judgment.status is Status.FAIL
    assert "ValueError: no" in judged.judgment.reasoning
    assert type(judged.judgment) is type(jury.judge(CASE))
    assert not errors
    assert len(asked) == 1


@given(st.sampled_from([0.0, 0.25, 1.0]))
@settings(max_examples=6, deadline=None)
def test_the_share_asked_for_is_judged(sample: float):
    with JudgeQueue(passing(), sample=sample, max_pending=10_000) as queue:
        taken = sum(queue.put(CASE, run=Run(str(n))) for n in range(400))
        assert queue.flush(30)
    assert queue.counts.judged == taken
    assert queue.counts.judged + queue.counts.unsampled == 400
    assert abs(taken / 400 - sample) < (0.12 if 0 < sample < 1 else 1e-9)


@pytest.mark.slow
@given(st.integers(1, 6), st.integers(1, 4), st.lists(st.integers(1, 5), max_size=6))
@settings(max_examples=25, deadline=None)
def test_whatever_is_offered_is_judged_or_counted(max_pending: int, max_concurrency: int, bursts: list[int]):
    told = []
    with JudgeQueue(
        passing(), max_pending=max_pending, max_concurrency=max_concurrency, on_verdict=told.append
    ) as queue:
        taken = 0
        for burst in bursts:
            taken += sum(queue.put(CASE, run=Run("x")) for _ in range(burst))
            assert queue.pending <= max_pending
        assert queue.flush(20)
    assert queue.counts.judged == len(told) == taken
    assert queue.counts.judged + queue.counts.dropped == sum(bursts)


@pytest.mark.slow
def test_many_threads_may_offer_at_once():
    told = []
    with JudgeQueue(passing(), on_verdict=told.append, max_pending=5000) as queue, ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda n: queue.put(CASE, run=Run(str(n))), range(2000)))
        assert queue.flush(30)
        assert sorted(int(judged.run.id) for judged in told) == list(range(2000))
    assert (queue.counts.judged, queue.pending) == (2000, 0)


def test_flushing_does_not_wait_for_what_comes_later():
    judge, go = gated()
    queue = JudgeQueue(judge)
    queue.put(CASE, run=Run("1"))
    assert not queue.flush(0.01)
    flushed = []
    thread = threading.Thread(target=lambda: flushed.append(queue.flush(20)))
    thread.start()
    time.sleep(0.02)
    go.set()
    thread.join(60)
    assert flushed == [True]
    assert queue.close()


def test_flushing_in_asynchronous_code_leaves_the_loop_free():
    async def main() -> int:
        ticks = 0
        queue = JudgeQueue(passing(0.1))
        queue.put(CASE, run=Run("1"))
        assert not await queue.aflush(0.01)
        closing = asyncio.ensure_future(queue.aclose(20))
        while not closing.done():
            ticks += 1
            await asyncio.sleep(0.005)
        assert closing.result()
        return ticks

    assert asyncio.run(main()) > 3


def test_nothing_is_left_on_the_loop():
    with JudgeQueue(passing(0.001)) as queue:
        for number in range(50):
            queue.put(CASE, run=Run(str(number)))

    async def tasks() -> int:
        return len(asyncio.all_tasks()) - 1

    assert event_loop.run(tasks) == 0
    assert not queue._tasks
    assert not queue._waiting


@pytest.mark.parametrize(
    "options",
    [
        {"sample": 1.5}, {"sample": True}, {"max_pending": 0}, {"max_concurrency": 1.5}, {"on_verdict": "print"},
        {"on_verdict": [print, 3]}, {"judge": "jury.yaml"}, {"judge": lambda: True},
        {"sample": "0.5"}, {"exit_timeout": "soon"}, {"exit_timeout": -1}, {"exit_timeout": float("nan")},
    ],
)  # fmt: skip
def test_wrong_options_are_refused(options: dict):
    with pytest.raises(ConfigurationError):
        JudgeQueue(options.pop("judge", passing()), **options)
