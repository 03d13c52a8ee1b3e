"""Judges that break in every way: each gives an ERROR, and the next case is judged all the same."""

import asyncio
import sys
import time

import pytest
from fact_tables import each_row
from running import passes, tasks_left

from jury_adapters import Check, Ensemble, Judge, Status, judge

PASS, ERROR = Status.PASS, Status.ERROR


class EndOfTheWorld(BaseException):
    """Exception that is no Exception, as the PanicException of PyO3."""


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError("no text for you")


class Leaving(Exception):
    def __str__(self):
        raise SystemExit(3)


def recursion():
    def deeper(n):
        return deeper(n + 1)

    return deeper(0)


def raising(error):
    def breaks():
        raise error

    return breaks


WAYS_TO_BREAK = {
    "ValueError": raising(ValueError("no JSON")),
    "SystemExit": lambda: sys.exit(3),
    "KeyboardInterrupt": raising(KeyboardInterrupt()),
    "CancelledError": raising(asyncio.CancelledError()),
    "GeneratorExit": raising(GeneratorExit()),
    "StopIteration": lambda: next(iter(())),
    "StopAsyncIteration": raising(StopAsyncIteration()),
    "ExceptionGroup": raising(ExceptionGroup("two", [KeyError("a"), OSError("b")])),
    "BaseExceptionGroup": raising(BaseExceptionGroup("two", [SystemExit(1), KeyError("b")])),
    "EndOfTheWorld": raising(EndOfTheWorld()),
    "RecursionError": recursion,
    "MemoryError": raising(MemoryError()),
    "Unprintable": raising(Unprintable()),
    "Leaving": raising(Leaving()),
}


def breaks_on_b(case, how):
    return how() if case.question == "b" else True


def function(how):
    return judge(lambda case: breaks_on_b(case, how))


def asynchronous_function(how):
    async def breaks(case):
        await asyncio.sleep(0)
        return breaks_on_b(case, how)

    return judge(breaks)


def function_of_an_awaitable(how):
    def returns(case):
        return asynchronous_function(how).function(case)

    return judge(returns)


def subclass(how):
    class Own(Judge):
        def assess(self, case):
            return breaks_on_b(case, how)

    return Own()


def check(how):
    class Own(Check):
        def check(self, case):
            return breaks_on_b(case, how)

    return Own()


FORMS = [function, asynchronous_function, function_of_an_awaitable, subclass, check]


@each_row("name", WAYS_TO_BREAK)
def test_whatever_a_judge_raises_is_an_error_and_the_next_case_is_judged(name):
    """Trap 5: on the background loop."""
    for form in FORMS:
        breaker = form(WAYS_TO_BREAK[name])
        found = breaker.judge("b")
        assert found.status is ERROR, form
        assert name in found.error
        assert [judgment.status for judgment in breaker.judge_many(["a", "b", "c"])] == [PASS, ERROR, PASS]
        verdict = Ensemble({"breaker": breaker, "one": passes, "two": passes}).judge("b")
        assert (verdict.status, verdict.by_name["breaker"].status) == (PASS, ERROR)
    assert tasks_left() == 0


def run(work):
    """Run asynchronous work; an interrupt that gets out fails the test, and does not end the session."""
    try:
        return asyncio.run(work)
    except BaseException as error:
        return pytest.fail(f"{error!r} got out")


@each_row("name", WAYS_TO_BREAK)
def test_whatever_a_judge_raises_is_an_error_on_the_loop_of_the_application_too(name):
    """Trap 5: no function in a thread can be the Ctrl-C of the main thread, but an asynchronous one can."""
    for form in (function, asynchronous_function) if name != "KeyboardInterrupt" else (function,):
        breaker = form(WAYS_TO_BREAK[name])

        async def main(breaker=breaker):
            many = [judgment.status async for judgment in breaker.ajudge_many(["a", "b", "c"])]
            return await breaker.ajudge("b"), many, asyncio.all_tasks() == {asyncio.current_task()}

        found, many, alone = run(main())
        assert found.status is ERROR, form
        assert name in found.error
        assert (many, alone) == ([PASS, ERROR, PASS], True)


def test_an_interrupt_in_asynchronous_code_in_the_main_thread_is_an_interrupt():
    """Trap 5: there it may be a Ctrl-C."""
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(asynchronous_function(WAYS_TO_BREAK["KeyboardInterrupt"]).ajudge("b"))


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), EndOfTheWorld()])
def test_a_task_of_a_judge_that_ends_the_loop_does_not_end_the_judging(error):
    """Trap 5: such a task stops its loop; the other judges go on."""

    async def ends_the_loop():
        await asyncio.sleep(0)
        raise error

    @judge
    async def starts_a_task(case):
        task = asyncio.create_task(ends_the_loop())
        await asyncio.wait([task])
        return task.exception() is error

    others = [judge(passes, name=f"other {number}") for number in range(3)]
    for _ in range(3):
        assert Ensemble([starts_a_task, *others]).judge("q").status is PASS


def test_a_judge_that_stops_the_loop_does_not_stop_the_judging():
    async def stops(case):
        asyncio.get_running_loop().stop()
        return True

    for one in (judge(stops), judge(passes)) * 2:
        assert one.judge("q").status is PASS


def test_an_error_names_every_member_of_a_group_and_no_key():
    @judge
    def breaks(case):
        raise ExceptionGroup("two", [KeyError("a"), OSError("Bearer abcdefgh12345678")])

    error = breaks.judge("q").error
    assert "KeyError" in error
    assert "OSError" in error
    assert "abcdefgh12345678" not in error


class BreaksInEstimate(Judge):
    def estimate(self, case):
        raise LookupError("no tokeniser")

    async def assess(self, case):
        return True


def test_an_estimate_that_raises_breaks_no_judgment():
    assert Ensemble([BreaksInEstimate(), passes]).judge("q").status is PASS


@each_row(
    ("outcome", "named"),
    [
        (None, "NoneType"),
        ([True], "list"),
        (object(), "object"),
        (float("nan"), "score"),
        (1.5, "score"),
        (("a", "b", "c"), "tuple"),
        ((True, "because", 1), "tuple"),
        (asyncio, "module"),
    ],
    ids=["none", "list", "object", "nan", "too large", "three", "pair and more", "module"],
)
def test_what_is_no_outcome_is_an_error_that_says_what_came(outcome, named):
    found = judge(lambda case: outcome).judge("q")
    assert found.status is ERROR
    assert named in found.error


def test_an_asynchronous_function_that_blocks_the_loop_breaks_nothing():
    async def blocks(case):
        time.sleep(0.2)
        return True

    async def is_quick(case):
        await asyncio.sleep(0)
        return True

    jury = Ensemble([blocks, judge(is_quick, timeout=30), passes], voting="unanimous")
    assert [judgment.status for judgment in jury.judge_many(["a", "b"])] == [PASS, PASS]
