"""Cancellation of a jury's task takes effect at once; a juror's own CancelledError is an ERROR of the juror."""

import asyncio
from contextlib import suppress

import anyio
import pytest

from jury_adapters import CascadedJury, Ensemble, Status, Tier, judge
from jury_adapters.core.judge import Judge

CASE = "2 + 2?"


async def sleeps(case):
    await asyncio.sleep(30)


async def sleeps_within_a_limit_of_its_own(case):
    async with asyncio.timeout(20):
        await asyncio.sleep(30)


async def sleeps_in_a_task_group(case):
    async with asyncio.TaskGroup() as group:
        group.create_task(asyncio.sleep(30))


async def sleeps_in_a_scope_of_anyio(case):
    with anyio.move_on_after(20):
        await anyio.sleep(30)


async def has_seen_a_limit_strike(case):
    with suppress(TimeoutError):
        async with asyncio.timeout(0.001):
            await asyncio.sleep(30)
    with anyio.move_on_after(0.001):
        await anyio.sleep(30)
    await asyncio.sleep(30)


async def cleans_up_slowly(case):
    try:
        await asyncio.sleep(30)
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.sleep(0.001)


async def says_something_else(case):
    try:
        await asyncio.sleep(30)
    except asyncio.CancelledError:
        raise asyncio.CancelledError("in my own words") from None


SLEEPERS = [
    sleeps, sleeps_within_a_limit_of_its_own, sleeps_in_a_task_group, sleeps_in_a_scope_of_anyio,
    has_seen_a_limit_strike, cleans_up_slowly, says_something_else,
]  # fmt: skip
SHAPES = {
    "alone": lambda juror: juror,
    "timed": lambda juror: juror.with_timeout(20),
    "parallel": lambda juror: Ensemble([juror, lambda case: True]),
    "early_stop": lambda juror: Ensemble([juror, sleeps], schedule="early_stop"),
    "in turn": lambda juror: Ensemble([juror, sleeps], schedule="sequential"),
    "nested": lambda juror: Ensemble([Ensemble([juror, sleeps]), sleeps]),
    "cascade": lambda juror: CascadedJury([Tier("only", juror)]),
    "backed": lambda juror: juror.with_fallbacks([lambda case: True]),
    "chain": lambda juror: juror & judge(sleeps),
}


async def by_its_task(jury: Judge) -> bool:
    task = asyncio.create_task(jury.ajudge(CASE))
    await asyncio.sleep(0.005)
    task.cancel()
    await asyncio.wait([task])
    return task.cancelled()


async def by_its_task_again_and_again(jury: Judge) -> bool:
    task = asyncio.create_task(jury.ajudge(CASE))
    await asyncio.sleep(0.005)
    while not task.done():
        task.cancel()
        await asyncio.sleep(0)
    return task.cancelled()


async def before_it_starts(jury: Judge) -> bool:
    task = asyncio.create_task(jury.ajudge(CASE))
    task.cancel()
    await asyncio.wait([task])
    return task.cancelled()


async def by_asyncio_timeout(jury: Judge) -> bool:
    try:
        async with asyncio.timeout(0.005):
            await jury.ajudge(CASE)
    except TimeoutError:
        return True
    return False


async def by_wait_for(jury: Judge) -> bool:
    try:
        await asyncio.wait_for(jury.ajudge(CASE), 0.005)
    except TimeoutError:
        return True
    return False


async def by_a_scope_of_anyio(jury: Judge) -> bool:
    with anyio.move_on_after(0.005) as scope:
        await jury.ajudge(CASE)
    return scope.cancelled_caught


async def by_an_outer_scope_of_anyio(jury: Judge) -> bool:
    with anyio.move_on_after(0.005) as scope, anyio.fail_after(20):
        await jury.ajudge(CASE)
    return scope.cancelled_caught


async def by_a_task_group_of_anyio(jury: Judge) -> bool:
    ended = []

    async def judges() -> None:
        ended.append(await jury.ajudge(CASE))

    async with anyio.create_task_group() as group:
        group.start_soon(judges)
        await anyio.sleep(0.005)
        group.cancel_scope.cancel()
    return not ended


async def by_a_task_group(jury: Judge) -> bool:
    ended = []

    async def judges() -> None:
        ended.append(await jury.ajudge(CASE))

    async def fails() -> None:
        await asyncio.sleep(0.005)
        raise KeyError

    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(judges())
            group.create_task(fails())
    except* KeyError:
        ended.append("as it should")
    return ended == ["as it should"]


@pytest.mark.corpus
@pytest.mark.parametrize("cancelled", [
    by_its_task, by_its_task_again_and_again, before_it_starts, by_asyncio_timeout, by_wait_for, by_a_scope_of_anyio,
    by_an_outer_scope_of_anyio, by_a_task_group_of_anyio, by_a_task_group,
])  # fmt: skip
@pytest.mark.parametrize("shape", SHAPES)
def test_whoever_cancels_gets_cancellation_and_no_judgment(shape, cancelled):
    async def main():
        for sleeper in SLEEPERS:
            # In a task of its own: before Python 3.13 a task group leaves its parent's count of cancellations raised.
            work = asyncio.create_task(cancelled(SHAPES[shape](judge(sleeper))))
            assert await asyncio.wait_for(work, 60), sleeper.__name__
            assert asyncio.all_tasks() == {asyncio.current_task()}
            assert asyncio.current_task().cancelling() == 0

    asyncio.run(main())


def plain(case):
    raise asyncio.CancelledError("a client inside was closed")


async def asynchronous(case):
    await asyncio.sleep(0)
    plain(case)


async def a_shared_future_is_given_up(case):
    future = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(future.cancel)
    await future


async def a_task_inside_is_cancelled(case):
    task = asyncio.ensure_future(asyncio.sleep(30))
    asyncio.get_running_loop().call_soon(task.cancel)
    await task


def returns_its_coroutine(case):
    return asynchronous(case)


BREAKERS = [
    plain, asynchronous, a_shared_future_is_given_up, a_task_inside_is_cancelled, returns_its_coroutine,
]  # fmt: skip


@pytest.mark.parametrize("breaks", BREAKERS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("timeout", [None, 10.0])
def test_a_cancelled_error_of_a_jurors_own_is_one_error_among_its_peers(breaks, timeout):
    juror = judge(timeout=timeout)(breaks)
    assert juror.judge(CASE).status is Status.ERROR
    for schedule in ("parallel", "sequential", "early_stop"):
        jury = Ensemble([juror, lambda case: True, lambda case: True], schedule=schedule)
        assert jury.judge(CASE).status is Status.PASS
        assert asyncio.run(jury.ajudge(CASE)).status is Status.PASS
    assert juror.with_fallbacks([lambda case: True]).judge(CASE).status is Status.PASS
    many = [judgment.status for judgment in juror.judge_many(["a", "b"])]
    assert many == [Status.ERROR, Status.ERROR]


def test_a_cancelled_error_while_somebody_cancels_is_taken_for_cancellation():
    async def main():
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            await judge(plain).ajudge(CASE)

    async def cancelled():
        task = asyncio.create_task(main())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(cancelled())
