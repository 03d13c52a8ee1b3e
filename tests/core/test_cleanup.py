"""Tasks that are cancelled are waited for, however often the one that waits is cancelled."""

import asyncio
from contextlib import suppress

import pytest

from jury_adapters import Ensemble, judge
from jury_adapters.core.batch import astream
from jury_adapters.core.cleanup import cancel_and_wait

TURNS = 20  # of the event loop, which a cleanup takes


class Slow:
    """A juror that cleans up over several turns of the loop, and counts how often it began and ended."""

    def __init__(self):
        self.begun = self.ended = 0

    async def __call__(self, case):
        self.begun += 1
        try:
            await asyncio.sleep(60)
        finally:
            for _ in range(TURNS):
                await asyncio.sleep(0)
            self.ended += 1


async def cancelled_twice(work, turns_between):
    """Cancel a task, cancel it again after some turns, and wait for it."""
    task = asyncio.create_task(work)
    await asyncio.sleep(0.001)
    for _ in range(2):
        task.cancel()
        for _ in range(turns_between):
            await asyncio.sleep(0)
    await asyncio.wait([task])
    assert task.cancelled()


@pytest.mark.parametrize("turns", range(1, TURNS))
@pytest.mark.parametrize("schedule", ["parallel", "early_stop"])
def test_a_jury_that_is_cancelled_twice_ends_after_its_jurors(schedule, turns):
    slow = Slow()
    inner = Ensemble([judge(slow, name="a"), judge(slow, name="b")], schedule=schedule)
    outer = Ensemble([inner, judge(slow, name="c")], schedule=schedule)

    async def main():
        await cancelled_twice(outer.ajudge("2 + 2?"), turns)
        assert slow.begun == slow.ended > 0
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())


@pytest.mark.parametrize("turns", [1, 5, TURNS - 1])
def test_a_batch_that_is_cancelled_twice_ends_after_its_cases(turns):
    slow = Slow()

    async def batch():
        async for _ in astream(Ensemble([judge(slow, name="a"), judge(slow, name="b")]), ["2 + 2?"] * 5):
            pass

    async def main():
        await cancelled_twice(batch(), turns)
        assert slow.begun == slow.ended > 0
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())


def test_tasks_that_ended_and_no_tasks_are_no_work():
    async def main():
        done = asyncio.create_task(asyncio.sleep(0))
        await done
        await cancel_and_wait([])
        await cancel_and_wait([done])
        assert not done.cancelled()

    asyncio.run(main())


def test_a_task_that_refuses_to_be_cancelled_is_waited_for():
    async def stubborn():
        for _ in range(3):
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0.005)
        return "done"

    async def main():
        task = asyncio.create_task(stubborn())
        await asyncio.sleep(0)
        await cancel_and_wait([task])
        assert task.result() == "done"

    asyncio.run(main())
