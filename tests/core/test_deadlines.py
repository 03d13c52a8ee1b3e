"""Time limits on very many calls: what asyncio.timeout promises, and no timer per call."""

import asyncio

import pytest

from jury_adapters.core import deadlines
from jury_adapters.core.deadlines import Deadline


@pytest.fixture
def quick_look(monkeypatch):
    """Long limits are looked at every 10 ms and begin at 50 ms, so that a test need not wait."""
    monkeypatch.setattr(deadlines, "_STRIDE", 0.01)
    monkeypatch.setattr(deadlines, "_LONG", 0.05)


async def late(seconds, work):
    deadline = Deadline(seconds)
    try:
        with deadline:
            return await work, deadline.expired
    except TimeoutError:
        return "late", deadline.expired


@pytest.mark.parametrize("seconds", [0.02, 0.06])
def test_past_the_limit_it_is_a_timeout(quick_look, seconds):
    assert asyncio.run(late(seconds, asyncio.sleep(5))) == ("late", True)


@pytest.mark.parametrize("seconds", [None, 5, 500])
def test_what_is_in_time_is_untouched(seconds):
    assert asyncio.run(late(seconds, asyncio.sleep(0, "done"))) == ("done", False)


@pytest.mark.parametrize("seconds", [None, 5, 500])
def test_cancellation_from_outside_stays_cancellation(seconds):
    async def main():
        task = asyncio.create_task(late(seconds, asyncio.sleep(5)))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())


@pytest.mark.parametrize("seconds", [0.02, 0.06])
def test_struck_and_cancelled_at_once_is_cancelled(quick_look, seconds):
    async def main():
        task = asyncio.create_task(late(seconds, swallowing(0.2)))
        await asyncio.sleep(0.1)  # struck by now, and at work on its way out
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    async def swallowing(more):
        try:
            await asyncio.sleep(5)
        finally:
            await asyncio.sleep(more)

    asyncio.run(main())


def test_an_error_of_the_work_passes_also_when_the_limit_has_struck(quick_look):
    async def stubborn():
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:
            raise KeyError("mine") from None

    with pytest.raises(KeyError, match="mine"):
        asyncio.run(late(0.06, stubborn()))


def test_limits_nest(quick_look):
    async def main():
        with Deadline(30):
            inner = await late(0.06, asyncio.sleep(5))
            return inner, asyncio.current_task().cancelling()

    assert asyncio.run(main()) == (("late", True), 0)


def test_a_thousand_limits_set_one_timer_and_leave_nothing(quick_look):
    async def main():
        loop = asyncio.get_running_loop()
        waiting = [asyncio.create_task(late(60, asyncio.sleep(0.03, "done"))) for _ in range(1000)]
        await asyncio.sleep(0)
        timers = len(loop._scheduled) - 1000  # the thousand sleeps
        results = {result async for result in completed(waiting)}
        await asyncio.sleep(0.05)  # two looks later the watch has gone
        return timers, results, loop in deadlines._WATCHES

    async def completed(tasks):
        for task in tasks:
            yield (await task)[0]

    timers, results, watched = asyncio.run(main())
    assert timers == 1
    assert results == {"done"}
    assert not watched


def test_every_loop_has_a_watch_of_its_own(quick_look):
    assert [asyncio.run(late(0.06, asyncio.sleep(5))) for _ in range(2)] == [("late", True)] * 2
