"""When the portal looks at what waits: soon by itself, and at once for whoever waits, or when room is short.

The pause in which runs gather is made endless here, so that only what wakes the portal at once has anything judged.
"""

import asyncio
import threading
import time
from collections import Counter

import pytest
from support.dockets import CASE, passing

from jury_adapters import Case, Judge
from jury_adapters.core import portal
from jury_adapters.core.background import docket as module
from jury_adapters.core.background.docket import Docket, JudgedRun, Run
from jury_adapters.core.context import judging


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> None:
    """No run is judged just because time passes."""
    monkeypatch.setattr(module, "_PAUSE", 1_000.0)


def looked_at() -> None:
    """Wait until the portal has done what it was called for so far."""
    done = threading.Event()
    portal.call_soon(done.set)
    assert done.wait(60)


@pytest.mark.usefixtures("endless")
@pytest.mark.parametrize("way", ["flush", "aflush"])
def test_who_waits_is_not_kept_waiting_for_others_to_gather(way: str):
    docket = Docket(passing())
    for number in range(3):
        docket.offer(Run(str(number)), CASE)
        looked_at()  # it gathers now, and is asleep
        assert docket.pending == 1
        assert docket.flush(10) if way == "flush" else asyncio.run(docket.aflush(10))
    assert docket.counts.judged == 3


@pytest.mark.usefixtures("endless")
def test_a_docket_half_full_does_not_wait_for_more():
    told = threading.Semaphore(0)
    docket = Docket(passing(), on_verdict=lambda judged: told.release(), max_pending=8)
    for number in range(3):
        docket.offer(Run(str(number)), CASE)
    looked_at()
    assert docket.pending == 3
    docket.offer(Run("3"), CASE)
    for _ in range(4):
        assert told.acquire(timeout=60)
    assert docket.close()


@pytest.mark.usefixtures("endless")
def test_the_next_begins_as_soon_as_one_has_ended():
    async def waits(case: Case) -> bool:
        await asyncio.sleep(0)
        return True

    docket = Docket(Judge.from_function(waits), max_concurrency=1)
    for number in range(4):
        docket.offer(Run(str(number)), CASE)
    assert docket.flush(10)
    assert docket.counts.judged == 4


def test_a_docket_that_was_at_rest_goes_on():
    docket = Docket(passing())
    for number in range(3):
        docket.offer(Run(str(number)), CASE)
        assert docket.flush(10)
        time.sleep(0.12)  # long enough for the portal to stop looking
    assert docket.counts.judged == 3


def test_a_portal_that_could_not_be_woken_is_woken_for_the_next(monkeypatch: pytest.MonkeyPatch):
    docket, call_soon = Docket(passing(), max_pending=1), portal.call_soon

    def no_threads(callback: object) -> None:
        monkeypatch.setattr(portal, "call_soon", call_soon)
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(portal, "call_soon", no_threads)
    assert not docket.offer(Run("lost"), CASE)
    assert (docket.counts.dropped, docket.pending) == (1, 0)
    assert docket.offer(Run("next"), CASE)
    assert docket.flush(10)
    assert docket.counts.judged == 1


def test_a_judge_that_never_waits_lets_others_have_the_portal():
    order: list[str] = []

    def busy(case: Case) -> bool:
        if not order:
            portal.call_soon(lambda: order.append("other"))
        order.append("judged")
        time.sleep(0.006)
        return True

    docket = Docket(Judge.from_function(busy), max_concurrency=1)
    for number in range(20):
        docket.offer(Run(str(number)), CASE)
    assert docket.close()
    assert order.index("other") < 10


def test_there_is_nothing_to_wait_for_where_nothing_is_pending():
    docket = Docket(passing())
    with judging():
        assert docket.flush()
        assert asyncio.run(docket.aflush())


@pytest.mark.parametrize("seconds", [0.002, 0.006], ids=["several at a time", "one at a time"])
def test_slow_sinks_are_told_of_each_run_once_and_take_no_place_for_good(seconds: float):
    told: Counter[str] = Counter()

    def slow(judged: JudgedRun) -> None:
        told[judged.run.id] += 1
        time.sleep(seconds)

    docket = Docket(Judge.from_function(lambda case: True), on_verdict=slow, max_concurrency=4)
    for round_ in range(6):
        for number in range(12):
            docket.offer(Run(f"{round_}-{number}"), CASE)
        assert docket.flush(10)
    assert docket._running == 0
    assert set(told.values()) == {1}
    assert len(told) == 72


def test_a_case_that_wants_to_end_the_process_is_an_error():
    def ends() -> Case:
        raise SystemExit(3)

    told: list[JudgedRun] = []
    with Docket(passing(), on_verdict=told.append) as docket:
        docket.offer(Run("1"), ends)
    assert [judged.judgment.error for judged in told] == ["SystemExit: 3"]
    assert docket.counts.broken == 0
