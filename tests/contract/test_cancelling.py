"""Cancellation: whoever cancels a judgment gets cancellation; a judge's own CancelledError is an ERROR."""

import asyncio
from contextlib import suppress
from itertools import product

import pytest
from fact_tables import each_row
from running import in_virtual_time, passes

from jury_adapters import CascadedJury, Ensemble, Scorecard, Status, Tier, judge

PASS, ERROR = Status.PASS, Status.ERROR


async def sleeps(case):
    await asyncio.sleep(30)


async def sleeps_within_a_limit_of_its_own(case):
    async with asyncio.timeout(20):
        await asyncio.sleep(30)


async def sleeps_in_a_task_group(case):
    async with asyncio.TaskGroup() as group:
        group.create_task(asyncio.sleep(30))


async def has_seen_a_limit_strike(case):
    with suppress(TimeoutError):
        async with asyncio.timeout(0.001):
            await asyncio.sleep(30)
    await asyncio.sleep(30)


async def cleans_up_slowly(case):
    try:
        await asyncio.sleep(30)
    finally:
        await asyncio.sleep(0.001)


async def says_something_else(case):
    try:
        await asyncio.sleep(30)
    except asyncio.CancelledError:
        raise asyncio.CancelledError("in my own words") from None


SLEEPERS = [
    sleeps,
    sleeps_within_a_limit_of_its_own,
    sleeps_in_a_task_group,
    has_seen_a_limit_strike,
    cleans_up_slowly,
    says_something_else,
]
SHAPES = {
    "alone": lambda juror: juror,
    "limited": lambda juror: juror.with_timeout(20),
    "parallel": lambda juror: Ensemble([juror, judge(sleeps, name="other")]),
    "sequential": lambda juror: Ensemble([juror, judge(sleeps, name="other")], schedule="sequential"),
    "early stop": lambda juror: Ensemble([juror, judge(sleeps, name="other")], schedule="early_stop"),
    "nested": lambda juror: Ensemble([Ensemble([juror, sleeps]).with_timeout(25), sleeps]),
    "scorecard": lambda juror: Scorecard({"one": juror, "two": sleeps}),
    "cascade": lambda juror: CascadedJury([Tier("first", juror, "accept_on_all_pass"), Tier("last", sleeps)]),
    "fallbacks": lambda juror: juror.with_fallbacks(sleeps),
    "chain": lambda juror: juror & judge(sleeps),
    "alternatives": lambda juror: juror | judge(sleeps),
    "samples": lambda juror: juror.with_samples(3),
}


async def by_its_task(jury):
    task = asyncio.create_task(jury.ajudge("q"))
    await asyncio.sleep(0.005)
    task.cancel()
    await asyncio.wait([task])
    return task.cancelled()


async def again_and_again(jury):
    task = asyncio.create_task(jury.ajudge("q"))
    await asyncio.sleep(0.005)
    while not task.done():
        task.cancel()
        await asyncio.sleep(0.0003)
    return task.cancelled()


async def before_it_starts(jury):
    task = asyncio.create_task(jury.ajudge("q"))
    task.cancel()
    await asyncio.wait([task])
    return task.cancelled()


async def by_a_limit(jury):
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.005):
            await jury.ajudge("q")
    return True


async def by_a_task_group(jury):
    ended = []

    async def judges():
        ended.append(await jury.ajudge("q"))

    async def fails():
        await asyncio.sleep(0.005)
        raise KeyError

    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(judges())
            group.create_task(fails())
    except* KeyError:
        ended.append("as it should")
    return ended == ["as it should"]


WAYS_TO_CANCEL = [by_its_task, again_and_again, before_it_starts, by_a_limit, by_a_task_group]


@each_row("shape", SHAPES.values(), ids=SHAPES)
def test_whoever_cancels_gets_cancellation_and_no_judgment(shape):
    """Trap 3."""

    async def main():
        for cancelled, sleeper in product(WAYS_TO_CANCEL, SLEEPERS):
            # In a task of its own: before Python 3.13 a task group leaves its parent's count of cancellations raised.
            work = asyncio.create_task(cancelled(shape(judge(sleeper))))
            assert await asyncio.wait_for(work, 10), (cancelled, sleeper)
            assert asyncio.all_tasks() == {asyncio.current_task()}

    in_virtual_time(main())


async def turns_it_into_another_error(case):
    try:
        await asyncio.sleep(30)
    except asyncio.CancelledError:
        raise ConnectionError("the connection was closed") from None


@each_row("shape", ["alone", "cascade", "fallbacks", "sequential"])
def test_a_judge_that_turns_its_cancellation_into_another_error_is_cancelled_all_the_same(shape):
    """Trap 3: nobody else is asked, or nothing could end the work."""
    jury = SHAPES[shape](judge(turns_it_into_another_error))

    async def main():
        return await asyncio.wait_for(asyncio.create_task(by_its_task(jury)), 10)

    assert in_virtual_time(main())


def test_a_function_in_a_thread_is_given_up_when_its_task_is_cancelled():
    async def main():
        release = asyncio.Event()
        loop = asyncio.get_running_loop()

        def blocks(case):
            asyncio.run_coroutine_threadsafe(release.wait(), loop).result(60)

        found = await asyncio.wait_for(by_its_task(Ensemble([blocks, passes])), 30)
        release.set()
        return found

    assert asyncio.run(main())


def plain(case):
    raise asyncio.CancelledError("a client inside was closed")


async def of_the_loop(case):
    await asyncio.sleep(0)
    plain(case)


async def a_future_was_cancelled(case):
    future = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(future.cancel)
    await future


async def a_task_inside_was_cancelled(case):
    task = asyncio.ensure_future(asyncio.sleep(30))
    asyncio.get_running_loop().call_soon(task.cancel)
    await task


def of_the_coroutine_it_returns(case):
    return of_the_loop(case)


@each_row("timeout", [None, 30.0])
@each_row(
    "breaks", [plain, of_the_loop, a_future_was_cancelled, a_task_inside_was_cancelled, of_the_coroutine_it_returns]
)
def test_a_cancelled_error_of_a_jurors_own_is_one_error_among_its_peers(breaks, timeout):
    """Trap 3."""
    juror = judge(breaks, timeout=timeout)
    assert juror.judge("q").status is ERROR
    for schedule in ("parallel", "sequential", "early_stop"):
        jury = Ensemble([juror, passes, judge(passes, name="other")], schedule=schedule)
        assert jury.judge("q").status is PASS
        assert asyncio.run(jury.ajudge("q")).status is PASS
    assert juror.with_fallbacks(passes).judge("q").status is PASS
    assert [judgment.status for judgment in juror.judge_many(["a", "b"])] == [ERROR, ERROR]


def test_a_judge_that_cancels_its_own_task_ends_no_batch():
    async def cancels(case):
        if case.question == "b":
            asyncio.current_task().cancel()
        await asyncio.sleep(0.01)
        return True

    assert [one.status for one in judge(cancels).judge_many([*"abc"])] == [PASS, ERROR, PASS]
    assert [one.status for one in Ensemble([cancels, passes, passes]).judge_many([*"abc"])] == [PASS, PASS, PASS]


def test_a_cancelled_error_while_somebody_cancels_is_taken_for_cancellation():
    """Trap 3."""

    async def main():
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            await judge(of_the_loop).ajudge("q")

    async def cancelled():
        task = asyncio.create_task(main())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert in_virtual_time(cancelled())


def test_a_judge_that_breaks_while_its_task_cleans_up_after_a_cancellation_is_an_error():
    """Trap 3: nobody has cancelled this judgment."""

    async def breaks(case):
        raise ValueError("no JSON")

    async def main():
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            return (await judge(breaks).ajudge("q")).status

    async def cleaned_up():
        task = asyncio.create_task(main())
        await asyncio.sleep(0)
        task.cancel()
        return await task

    assert in_virtual_time(cleaned_up()) is ERROR
