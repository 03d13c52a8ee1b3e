"""Time limits: what takes too long is an ERROR `timeout`, and what it may have cost is said."""

import asyncio
import threading
import time

import pytest
from fact_tables import each_row
from running import EACH_WAY, Paying, asleep, in_virtual_time, passes, until

from jury_adapters import CascadedJury, Case, ConfigurationError, Ensemble, Scorecard, Status, Tier, Usage, judge
from jury_adapters.core.judge import Check

PASS, ERROR = Status.PASS, Status.ERROR


async def answers_late(case):
    """Swallow the cancellation, and answer."""
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        return True


async def answers_later(case):
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        await asyncio.sleep(1)
    return True


async def breaks_late(case):
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        raise LookupError("cut off") from None


async def waits_for_a_thread(case):
    await asyncio.shield(asyncio.sleep(60))


class Blocks(Check):
    def check(self, case):
        time.sleep(0.05)
        return True


def test_a_check_that_holds_the_loop_up_is_a_timeout_too():
    assert Blocks().with_timeout(0.01).judge("q").error == "timeout"


SLOW = [asleep, answers_late, answers_later, breaks_late, waits_for_a_thread]


@each_row("slow", SLOW)
def test_what_takes_too_long_is_a_timeout(slow):
    """Trap 4: also if it swallows its cancellation and answers late."""
    judgment = in_virtual_time(judge(slow, timeout=0.5).ajudge("q"))
    assert (judgment.status, judgment.error, judgment.critic) == (ERROR, "timeout", slow.__name__)
    assert "0.5 s" in judgment.reasoning
    assert judgment.usage.cost_complete


@pytest.mark.parametrize("returns", [True, None], ids=["answers late", "answers with nothing"])
def test_a_function_in_a_thread_that_takes_too_long_is_given_up(returns, caplog):
    release, ended = threading.Event(), threading.Event()

    def blocks(case):
        release.wait(60)
        ended.set()
        return returns

    started = time.monotonic()
    assert judge(blocks, timeout=0.05).judge("q").error == "timeout"
    assert time.monotonic() - started < 30
    release.set()
    assert ended.wait(30)
    assert until(lambda: not any(one.name == "jury-judge" for one in threading.enumerate()))
    assert judge(passes).judge("q").passed  # what it returned disturbs nobody
    assert caplog.records == []


@EACH_WAY
def test_limits_hold_in_a_batch_for_each_case(many):
    @judge(timeout=0.05)
    async def slow_for_some(case):
        await asyncio.sleep(60 if case.question in "bd" else 0)
        return True

    found = [judgment.error for _, judgment in many(slow_for_some, "abcde" and list("abcde"))]
    assert found == [None, "timeout", None, "timeout", None]


@each_row(
    "breaks",
    [
        lambda case: (_ for _ in ()).throw(TimeoutError("the socket timed out")),
        lambda case: asyncio.wait_for(asyncio.sleep(60), 0.001),
    ],
    ids=["a socket", "a limit of its own"],
)
@each_row("timeout", [None, 60])
def test_a_timeout_error_of_its_own_is_an_error_of_the_judge(breaks, timeout):
    """Trap 4: it is not the limit of the judge."""
    judgment = judge(breaks, timeout=timeout).judge("q")
    assert judgment.status is ERROR
    assert judgment.error.startswith("TimeoutError")


JURIES = {
    "ensemble": lambda one: Ensemble([one, passes]),
    "scorecard": lambda one: Scorecard({"one": one, "two": passes}),
    "cascade": lambda one: CascadedJury([Tier("only", one)]),
    "chain": lambda one: one & judge(passes),
    "fallbacks": lambda one: one.with_fallbacks(passes),
    "samples": lambda one: one.with_samples(2),
}


@each_row("jury", JURIES.values(), ids=JURIES)
def test_the_limit_of_a_jury_holds_and_cancels_its_jurors(jury):
    cancelled = []

    async def notes(case):
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    limited = jury(judge(notes)).with_timeout(0.05)
    assert limited.judge("q").error == "timeout"
    assert until(lambda: cancelled)


def test_an_inner_limit_is_one_broken_juror_and_an_outer_one_ends_the_jury():
    async def main():
        slow = judge(asleep, name="slow")
        inner = Ensemble([slow.with_timeout(1), passes, judge(passes, name="other")]).with_timeout(10)
        outer = Ensemble([slow.with_timeout(10), passes, judge(passes, name="other")]).with_timeout(1)
        return await inner.ajudge("q"), await outer.ajudge("q")

    inner, outer = in_virtual_time(main())
    assert (inner.status, inner.by_name["slow"].error) == (PASS, "timeout")
    assert (outer.status, outer.error, outer.judgments) == (ERROR, "timeout", ())


def test_a_juror_that_swallows_the_limit_of_its_jury_cannot_lift_it():
    jury = Ensemble([judge(answers_late), passes]).with_timeout(0.05)
    assert jury.judge("q").error == "timeout"


def test_a_fallback_has_a_limit_of_its_own():
    judgment = judge(asleep, timeout=0.02).with_fallbacks(judge(passes, timeout=30)).judge("q")
    assert judgment.status is PASS
    assert judgment.metadata["fallback_errors"] == ("timeout",)


@each_row("slow", [asleep, answers_later])
@each_row("seconds", [0.5, 1.2], ids=["before the limit", "after the limit, in the clean-up"])
def test_a_real_cancellation_wins_over_the_limit(slow, seconds):
    """Trap 3, and trap 4. After its limit the second judge still cleans up when it is cancelled."""

    async def main():
        task = asyncio.create_task(judge(slow, timeout=1).ajudge("q"))
        await asyncio.sleep(seconds)
        running = not task.done()
        task.cancel()
        await asyncio.wait([task])
        return running, task.cancelled()

    running, cancelled = in_virtual_time(main())
    assert running is (slow is answers_later or seconds < 1)
    if slow is asleep:
        assert cancelled is running
    elif seconds > 1:
        assert cancelled


def test_the_limit_of_a_judge_that_was_cancelled_is_not_a_timeout():
    """The cancellation comes first, and the limit strikes while the judge cleans up."""

    async def cleans_up(case):
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(5)

    async def main():
        task = asyncio.create_task(judge(cleans_up, timeout=2).ajudge("q"))
        await asyncio.sleep(1)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert in_virtual_time(main())


# What a call that was cut off may cost


class RaisesInEstimate(Paying):
    def estimate(self, case):
        raise LookupError("no tokeniser")


@each_row(
    ("slow", "complete"),
    [
        (Paying(seconds=60, timeout=1), False),
        (RaisesInEstimate(seconds=60, timeout=1), False),
        (Ensemble([Paying(seconds=60), passes]).with_timeout(1), False),
        (CascadedJury([Tier("only", Paying(seconds=60))]).with_timeout(1), False),
        (judge(asleep, timeout=1), True),
        (Paying(seconds=60, timeout=1, estimate=Usage()), True),
    ],
    ids=["a critic", "an estimate that raises", "a jury", "a cascade", "a function", "no call"],
)
def test_a_timeout_says_that_the_call_may_be_billed(slow, complete):
    """Trap 18: what was cut off is not free."""

    async def main():
        return await slow.ajudge(Case(question="q"))

    judgment = asyncio.run(main()) if isinstance(slow, Ensemble) else in_virtual_time(main())
    assert judgment.error == "timeout"
    assert judgment.usage == Usage(cost_complete=complete)


def test_a_cost_that_is_not_complete_stays_so_in_the_verdict_of_the_jury():
    """Trap 18."""
    jury = Ensemble([Paying("slow", seconds=60, timeout=0.02), Paying("a"), Paying("b")])
    verdict = jury.judge("q")
    assert (verdict.status, verdict.usage.calls, verdict.usage.cost_complete) == (PASS, 2, False)
    assert not jury.judge("q").usage.cost_complete


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_limit_is_a_number_of_seconds_above_0(seconds):
    with pytest.raises(ConfigurationError, match="time limit"):
        judge(passes, timeout=seconds)
    with pytest.raises(ConfigurationError, match="time limit"):
        judge(passes).with_timeout(seconds)
