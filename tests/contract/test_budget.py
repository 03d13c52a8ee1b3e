"""Budgets: never above the limit, waiting where only others are in the way, refusal, and what counts as spent."""

import asyncio
import re
from fractions import Fraction

import pytest
from fact_tables import each_row
from hypothesis import given, settings
from hypothesis import strategies as st
from running import EACH_WAY, Memory, Paying, cases, in_threads, in_virtual_time, tasks_left, until

from jury_adapters import Budget, ConfigurationError, Ensemble, JuryError, Status, Usage, judge
from jury_adapters.core.budget import OverBudget

PASS, FAIL, ERROR = Status.PASS, Status.FAIL, Status.ERROR


def tokens(number):
    return Usage(calls=1, input_tokens=number)


async def call(budget, estimate, took=None, seconds=0.0):
    """Make a call within a budget; return whether it was made."""
    try:
        async with budget.reserve(estimate) as settled:
            await asyncio.sleep(seconds)
            if took is not None:
                settled.append(took)
    except OverBudget:
        return False
    return True


# The limit

AMOUNTS, FATES = st.integers(0, 40), st.sampled_from(["well", "fails", "silent", "cancelled"])
CALLS = st.lists(
    st.tuples(AMOUNTS, st.fractions(0, 1), st.floats(0, 0.2), FATES),
    max_size=20,
)


@given(limit=st.integers(0, 120), calls=CALLS)
@settings(max_examples=50, deadline=None)
def test_whatever_is_asked_the_limit_holds_and_every_call_ends(limit, calls):
    budget, held, refused = Budget(max_tokens=limit), [0], []

    async def one(estimate, share, seconds, fate):
        try:
            async with budget.reserve(tokens(estimate)) as took:
                held[0] += estimate
                assert budget.spent.input_tokens + held[0] <= limit
                try:
                    await asyncio.sleep(seconds)
                    if fate == "fails":
                        raise OSError
                    if fate != "silent":
                        took.append(tokens(int(estimate * Fraction(share))))
                finally:
                    held[0] -= estimate
        except OverBudget:
            assert budget.spent.input_tokens + estimate > limit
            refused.append(estimate)
        except OSError:
            pass

    async def main():
        tasks = [asyncio.create_task(one(*how)) for how in calls]
        await asyncio.sleep(0.01)
        for task, (*_, fate) in zip(tasks, calls, strict=True):
            if fate == "cancelled":
                task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(error is None or isinstance(error, asyncio.CancelledError) for error in ended)
        rest = limit - budget.spent.input_tokens
        assert await call(budget, tokens(rest))  # nothing is held back

    in_virtual_time(main())
    assert budget.spent.input_tokens == limit
    assert budget.refused == len(refused)


@EACH_WAY
@pytest.mark.parametrize(
    ("limits", "made"),
    [({"max_calls": 7}, 7), ({"max_tokens": 400}, 7), ({"max_usd": 0.035}, 6), ({"max_calls": 9, "max_usd": 0.02}, 3)],
    ids=["calls", "tokens", "dollars", "two limits"],
)
def test_no_batch_goes_above_a_limit(many, limits, made):
    """A call reserves 100 tokens and 0.01 dollars, and takes half of them."""
    budget, paying = Budget(**limits), Paying(seconds=0.001)
    found = [judgment for _, judgment in many(paying, cases(30), budget=budget, max_concurrency=30)]
    assert [judgment.status for judgment in found].count(PASS) == len(paying.asked) == made
    assert [judgment.status for judgment in found].count(ERROR) == budget.refused == 30 - made
    assert budget.spent.calls == made
    assert all("over budget" in judgment.error for judgment in found if judgment.status is ERROR)


def test_what_was_reserved_too_much_is_used():
    """Each call reserves 10 tokens and takes 1."""

    async def main():
        budget = Budget(max_tokens=25)
        made = await asyncio.gather(*(call(budget, tokens(10), tokens(1), 0.001) for _ in range(40)))
        return sum(made), budget.spent.input_tokens

    assert in_virtual_time(main()) == (16, 16)


def test_sums_of_cents_fit_exactly():
    async def main():
        budget, dime = Budget(max_usd=0.3), Usage(calls=1, cost_usd=0.1)
        return [await call(budget, dime, dime) for _ in range(3)], await call(budget, Usage(calls=1, cost_usd=0.001))

    assert in_virtual_time(main()) == ([True] * 3, False)


def test_calls_from_many_threads_and_loops_add_up():
    budget, one = Budget(max_calls=200), Usage(calls=1, input_tokens=3, cost_usd=0.001)

    async def main():
        return sum(await asyncio.gather(*(call(budget, one, one) for _ in range(50))))

    made = in_threads(*[lambda: asyncio.run(main())] * 8)
    assert sum(made) == budget.spent.calls == 200
    assert budget.refused == 200
    assert budget.spent.input_tokens == 600


def test_one_budget_limits_all_jurors_and_batches_together():
    budget, jury = Budget(max_calls=10), Ensemble([Paying("a"), Paying("b"), Paying("c")])
    found = in_threads(*[lambda: list(jury.judge_many(cases(5), budget=budget))] * 2)
    assert sum(verdict.usage.calls for batch in found for verdict in batch) == budget.spent.calls == 10


# Waiting and refusal


def test_a_call_that_fits_only_without_others_waits_for_them():
    async def main():
        budget, order = Budget(max_tokens=100), []

        async def named(name, estimate, took, seconds):
            async with budget.reserve(tokens(estimate)) as settled:
                order.append(name)
                await asyncio.sleep(seconds)
                settled.append(tokens(took))

        await asyncio.gather(named("large", 60, 10, 5), named("second", 50, 5, 1), named("small", 40, 40, 1))
        return order, budget.spent.input_tokens, budget.refused

    assert in_virtual_time(main()) == (["large", "small", "second"], 55, 0)


def test_a_call_that_does_not_fit_at_all_is_refused_at_once():
    """Also while others hold reservations, which cannot make it fit."""

    async def main():
        budget, clock = Budget(max_tokens=100), asyncio.get_running_loop()
        await call(budget, tokens(60), tokens(60))
        holds = asyncio.create_task(call(budget, tokens(10), tokens(0), 1))
        await asyncio.sleep(0)
        started = clock.time()
        refused = not await call(budget, tokens(41))
        at_once = clock.time() == started
        return refused, at_once, await call(budget, tokens(40)), await holds, budget.refused

    assert in_virtual_time(main()) == (True, True, True, True, 1)


def test_a_call_that_waits_is_refused_when_the_others_took_too_much():
    async def main():
        budget = Budget(max_tokens=100)
        holds = asyncio.create_task(call(budget, tokens(60), tokens(60), 5))
        await asyncio.sleep(0)
        waits = asyncio.create_task(call(budget, tokens(50)))
        await asyncio.sleep(1)
        assert not waits.done()
        return await asyncio.gather(holds, waits)

    assert in_virtual_time(main()) == [True, False]


def test_a_call_that_waits_and_is_cancelled_holds_nothing():
    async def main():
        budget = Budget(max_tokens=100)
        holds = asyncio.create_task(call(budget, tokens(60), tokens(0), 5))
        await asyncio.sleep(0)
        waits = asyncio.create_task(call(budget, tokens(90)))
        await asyncio.sleep(1)
        waits.cancel()
        await asyncio.wait([waits])
        await holds
        return await call(budget, tokens(100))

    assert in_virtual_time(main())


def test_a_refusal_says_what_is_spent_and_what_the_limit_is():
    async def main():
        budget = Budget(max_usd=0.01, max_calls=5)
        await call(budget, Usage(calls=2, cost_usd=0.0098), Usage(calls=2, cost_usd=0.0098))
        async with budget.reserve(Usage(calls=1, cost_usd=0.0012)):
            pass

    with pytest.raises(JuryError, match=re.escape("over budget: 2 calls for $0.0098")) as refusal:
        in_virtual_time(main())
    assert "0.01" in str(refusal.value)
    assert "max_usd" in str(refusal.value)


@each_row(
    "limits",
    [{}, {"max_usd": -1}, {"max_tokens": -1}, {"max_calls": -1}, {"max_usd": float("nan")}, {"max_usd": None}],
    ids=str,
)
def test_a_budget_limits_something_by_a_number_from_0(limits):
    with pytest.raises(ConfigurationError, match="budget"):
        Budget(**limits)


# What counts as spent


async def fails(took):
    raise OSError("down")


async def fails_after_an_answer(took):
    took.append(tokens(3))
    raise OSError("the second request")


async def answers_twice(took):
    took += [tokens(3), tokens(4)]


async def says_nothing(took):
    pass


async def is_cut_off(took):
    await asyncio.wait_for(asyncio.sleep(60), 1)


async def is_cancelled(took):
    raise asyncio.CancelledError


@each_row(
    ("block", "spent", "calls"),
    [
        (fails, 10, 1),
        (fails_after_an_answer, 3, 1),
        (answers_twice, 7, 2),
        (says_nothing, 10, 1),
        (is_cut_off, 10, 1),
        (is_cancelled, 10, 1),
    ],
)
def test_a_call_that_does_not_say_what_it_took_counts_as_its_estimate(block, spent, calls):
    """Trap 18: the vendor may bill it."""

    async def main():
        budget = Budget(max_tokens=10)
        try:
            async with budget.reserve(tokens(10)) as took:
                await block(took)
        except (OSError, TimeoutError, asyncio.CancelledError):
            pass
        assert await call(budget, tokens(10 - spent), tokens(0))
        return budget.spent.input_tokens, budget.spent.calls - 1

    assert in_virtual_time(main()) == (spent, calls)


def test_a_judge_that_times_out_has_spent_its_estimate():
    """Trap 18."""
    budget = Budget(max_calls=10)
    found = next(Paying(seconds=60, timeout=0.02).judge_many(["q"], budget=budget))
    assert (found.error, found.usage.cost_complete) == ("timeout", False)
    assert budget.spent == Paying().estimate(None)


def test_a_batch_that_is_closed_leaves_the_rest_of_the_budget():
    budget, paying = Budget(max_calls=20), Paying(seconds=0.02)
    batch = paying.judge_many(cases(50), budget=budget, max_concurrency=3)
    assert next(batch).passed
    batch.close()
    assert until(lambda: tasks_left() == 0)
    rest = 20 - budget.spent.calls
    assert 0 < rest < 20
    assert [one.status for one in Paying().judge_many(cases(rest), budget=budget)] == [PASS] * rest


@pytest.mark.parametrize("known", [True, False])
def test_a_call_of_unknown_price_is_not_free_in_a_budget_of_dollars(known):
    """Trap 18: three calls without a price would go through any limit."""
    estimate = Usage(calls=1, input_tokens=80, cost_usd=0.01 if known else 0.0, cost_complete=known)
    paying = Paying(estimate=estimate, took=estimate)
    found = list(paying.judge_many(cases(3), budget=Budget(max_usd=0.01)))
    assert len(paying.asked) == (1 if known else 0)
    assert [judgment.status for judgment in found].count(ERROR) == (2 if known else 3)


def test_a_budget_of_tokens_or_calls_needs_no_price():
    """Trap 18: that the cost is not complete is said."""
    estimate = Usage(calls=1, input_tokens=80, cost_complete=False)
    for limits in ({"max_calls": 3}, {"max_tokens": 240}):
        budget = Budget(**limits)
        found = list(Paying(estimate=estimate, took=estimate).judge_many(cases(3), budget=budget))
        assert [judgment.status for judgment in found] == [PASS] * 3
        assert not budget.spent.cost_complete


# Budgets, stores and juries


def test_what_is_stored_costs_no_budget():
    store, budget = Memory(), Budget(max_calls=3)
    for _ in range(3):
        assert all(one.passed for one in Paying().judge_many(cases(3), store=store, budget=budget))
    assert budget.spent.calls == 3


def test_a_refusal_is_not_stored_and_a_larger_budget_judges_the_case():
    """Trap 8."""
    store, paying = Memory(), Paying()
    first = list(paying.judge_many(cases(10), store=store, budget=Budget(max_calls=4)))
    second = list(paying.judge_many(cases(10), store=store, budget=Budget(max_calls=6)))
    assert [judgment.status for judgment in first].count(ERROR) == 6
    assert all(judgment.passed for judgment in second)
    assert len(paying.asked) == 10


@pytest.mark.parametrize(
    ("says", "status"), [((True, True), PASS), ((True, False), ERROR), ((False, False), FAIL)], ids=str
)
def test_a_juror_over_budget_is_a_missing_vote(says, status):
    jurors = [judge(lambda case, one=one: one, name=f"free {place}") for place, one in enumerate(says)]
    (verdict,) = Ensemble([*jurors, Paying()]).judge_many(["q"], budget=Budget(max_calls=0))
    assert verdict.status is status
    assert "over budget" in verdict.by_name["paying"].error
    assert status is not ERROR or "over budget" in verdict.error


def test_an_early_stopping_jury_keeps_the_budget_and_never_decides_by_a_refusal():
    jurors = [Paying(name, says=name != "c") for name in "abc"]
    jury, budget = Ensemble(jurors, schedule="early_stop"), Budget(max_calls=13)
    found = list(jury.judge_many(cases(10), budget=budget, max_concurrency=1))
    assert [verdict.status for verdict in found[:6]] == [PASS] * 6
    assert [verdict.status for verdict in found[6:]] == [ERROR] * 4
    assert all("over budget" in verdict.error for verdict in found[6:])
    assert budget.spent.calls == sum(len(juror.asked) for juror in jurors) == 13
