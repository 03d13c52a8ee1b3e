"""Budgets: kept before each call, also by many calls at once; settled by what a call took."""

import asyncio
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples

from jury_adapters import Budget, ConfigurationError, Critic, Ensemble, ModelError, Status, Store, judge
from jury_adapters.core.background.judge_queue import JudgeQueue
from jury_adapters.core.budget import BudgetExhausted
from jury_adapters.core.usage import NO_USAGE, Usage
from jury_adapters.models import prices, set_price
from jury_adapters.models.base import Reply
from jury_adapters.models.limits import Limits
from jury_adapters.testing import ScriptedModel, a_case

REPLY = '{"reasoning": "so it says", "answer": "YES"}'


@pytest.fixture(autouse=True)
def known_prices(monkeypatch):
    monkeypatch.setattr(prices, "PRICES", dict(prices.PRICES))
    set_price("test:scripted", input=1.0, output=10.0)


def cases(count):
    return [a_case(question=f"What is number {i}?") for i in range(count)]


def critic(script=REPLY, *, delay=0.001, usage=Usage(100, 20, calls=1), model="scripted", **options):
    scripted = ScriptedModel([script] if isinstance(script, str) else script, delay=delay, usage=usage, model=model)
    settings = {"max_tokens": 100, "limits": Limits(attempts=1), **options}
    return Critic(scripted, "faithfulness", name="juror", **settings)


def sent(juror):
    return len(juror.model.inner.calls)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Budget(1), r"a limit is given by name: Budget\(max_usd=1\.0\)"),
        (lambda: Budget(usd=1), "the argument usd= is called max_usd= here"),
        (lambda: Budget(max_dollars=1), "the argument max_dollars= is called max_usd= here"),
        (lambda: Budget(max_dolars=1), r"unknown argument 'max_dolars'.*Known: max_calls, max_tokens, max_usd\."),
    ],
)
def test_a_wrong_call_says_what_to_write(call, message):
    with pytest.raises(ConfigurationError, match=message):
        call()


@pytest.mark.parametrize("concurrency", [1, 16, 64])
def test_calls_are_never_more_than_allowed_however_many_are_in_flight(concurrency):
    juror, budget = critic(), Budget(max_calls=25)
    verdicts = list(juror.judge_many(cases(100), budget=budget, max_concurrency=concurrency))
    assert sent(juror) == budget.spent.calls == 25
    assert [verdict.status for verdict in verdicts].count(Status.PASS) == 25
    assert budget.refused == 75


def test_those_not_asked_abstain_and_say_why():
    *_, last = critic().judge_many(cases(3), budget=Budget(max_calls=2), max_concurrency=1)
    assert last.status is Status.ABSTAIN
    assert last.error == "budget_exhausted"
    assert last.reasoning == "the budget does not allow another call: 2 of 2 calls spent"
    assert last.usage.calls == 0


@pytest.mark.parametrize("concurrency", [1, 64])
def test_tokens_stay_within_the_limit_while_calls_keep_to_their_estimate(concurrency):
    juror, budget = critic(), Budget(max_tokens=5000)
    list(juror.judge_many(cases(200), budget=budget, max_concurrency=concurrency))
    assert 0 < budget.spent.input_tokens + budget.spent.output_tokens <= 5000
    assert sent(juror) == budget.spent.calls == (budget.spent.output_tokens // 20)


@pytest.mark.parametrize("concurrency", [1, 64])
def test_dollars_stay_within_the_limit_while_calls_keep_to_their_estimate(concurrency):
    stated = Usage(100, 20, calls=1, cost_usd=0.0003)
    juror, budget = critic(usage=stated), Budget(max_usd=0.02)
    list(juror.judge_many(cases(200), budget=budget, max_concurrency=concurrency))
    assert 0 < budget.spent.cost_usd <= 0.02
    assert budget.refused == 200 - sent(juror)


@pytest.mark.parametrize("in_flight", [1, 8])
def test_the_overshoot_is_at_most_the_excess_of_the_calls_in_flight(in_flight):
    greedy = Usage(3000, 3000, calls=1)  # far more than any estimate
    juror = critic(usage=greedy, delay=0.02)
    estimate = juror.estimate(cases(1)[0])
    excess = 6000 - (estimate.input_tokens + estimate.output_tokens)
    budget = Budget(max_tokens=8000)
    list(juror.judge_many(cases(50), budget=budget, max_concurrency=in_flight))
    assert budget.spent.input_tokens + budget.spent.output_tokens <= 8000 + in_flight * excess
    assert sent(juror) <= 8


def test_estimates_settle_so_that_what_was_set_aside_too_much_is_used():
    juror = critic(delay=0)
    estimate = juror.estimate(cases(1)[0])
    room = estimate.input_tokens + estimate.output_tokens + 10 * 120
    list(juror.judge_many(cases(50), budget=Budget(max_tokens=room), max_concurrency=1))
    assert sent(juror) == 11  # ten settled at 120 each, and room for one estimate beside them


def test_a_call_that_fails_was_a_call_and_gives_its_tokens_back():
    juror = critic([ModelError("down", "server")], delay=0)
    budget = Budget(max_tokens=100_000)
    list(juror.judge_many(cases(5), budget=budget))
    assert budget.spent == Usage(calls=5)
    assert asyncio.run(granted(budget, Usage(50_000, 50_000, calls=1)))


def test_a_server_that_does_not_say_what_it_took_is_counted_by_the_estimate():
    juror = critic([Reply(REPLY, usage=Usage(calls=1, cost_complete=False))], delay=0)
    estimate = juror.estimate(cases(1)[0])
    budget = Budget(max_tokens=3 * (estimate.input_tokens + estimate.output_tokens))
    list(juror.judge_many([a_case(question=f"What is number {i}?") for i in range(9)], budget=budget))
    assert sent(juror) == 3


def test_a_repair_request_needs_budget_too():
    juror, budget = critic("no verdict at all", delay=0), Budget(max_calls=1)
    (judgment,) = juror.judge_many(cases(1), budget=budget)
    assert judgment.error == "budget_exhausted"
    assert judgment.usage.calls == budget.spent.calls == 1
    assert budget.refused == 1


def test_one_budget_limits_all_jurors_and_batches_together():
    first, second, budget = critic(model="a"), critic(model="b"), Budget(max_calls=10)
    panel = Ensemble([first, second])
    list(panel.judge_many(cases(4), budget=budget))
    verdicts = list(panel.judge_many(cases(9)[4:], budget=budget))
    assert sent(first) + sent(second) == 10
    assert verdicts[-1].tally.abstained == 2


def test_an_early_stopping_panel_and_one_with_repeats_keep_it_too():
    juror, budget = critic(samples=3), Budget(max_calls=7)
    list(juror.judge_many(cases(5), budget=budget))
    assert sent(juror) == 7
    early, budget = [critic(model=name) for name in "abc"], Budget(max_calls=7)
    list(Ensemble(early, schedule="early_stop").judge_many(cases(10), budget=budget))
    assert sum(sent(juror) for juror in early) == 7


def test_the_asynchronous_batch_keeps_it_too():
    juror, budget = critic(), Budget(max_calls=5)

    async def run():
        return [item async for item in juror.ajudge_many(cases(20), budget=budget, max_concurrency=20)]

    assert sum(judgment.passed for judgment in asyncio.run(run())) == sent(juror) == 5


def test_what_is_served_from_the_store_costs_no_budget(tmp_path):
    with Store(tmp_path / "runs.db") as store:
        juror = critic()
        list(juror.judge_many(cases(10), store=store))
        budget = Budget(max_calls=0)
        assert all(judgment.passed for judgment in juror.judge_many(cases(10), store=store, budget=budget))
        assert budget.spent.calls == budget.refused == 0


def test_those_not_asked_are_asked_when_the_run_is_resumed_with_more(tmp_path):
    with Store(tmp_path / "runs.db") as store:
        juror = critic()
        first = list(juror.judge_many(cases(10), store=store, budget=Budget(max_calls=4)))
        again = list(juror.judge_many(cases(10), store=store))
    assert [judgment.error for judgment in first].count("budget_exhausted") == 6
    assert all(judgment.passed for judgment in again)
    assert sent(juror) == 10


def test_background_judging_logs_ever_fewer_refusals_until_the_budget_is_reset(caplog):
    budget, judged = Budget(max_calls=2), []
    with JudgeQueue(critic(), budget=budget, max_concurrency=1, on_verdict=judged.append) as queue:
        for case in cases(7):
            queue.put(case)
        assert queue.flush(20)
        said = [record.getMessage() for record in caplog.records]
        assert [text.partition(" refused")[0].rpartition("; ")[2] for text in said] == ["1 call", "2 calls", "4 calls"]
        assert said[0].startswith("the budget does not allow another call: 2 of 2 calls spent; ")
        budget.reset()
        queue.put(a_case(question="And on the next day?"))
        assert queue.flush(20)
    assert [one.judgment.status for one in judged] == ["PASS"] * 2 + ["ABSTAIN"] * 5 + ["PASS"]
    assert (budget.spent.calls, budget.refused) == (1, 0)


def test_a_batch_has_its_summary_and_logs_no_refusal(caplog):
    assert [one.status for one in critic().judge_many(cases(3), budget=Budget(max_calls=1))].count("ABSTAIN") == 2
    assert caplog.records == []


def test_dollars_need_the_price_of_every_juror_before_anything_is_sent():
    unpriced = critic(model="unheard-of")
    with pytest.raises(ConfigurationError, match="set_price"):
        unpriced.judge_many(cases(1), budget=Budget(max_usd=1.0))
    with pytest.raises(ConfigurationError, match=f"that of {unpriced.name!r} .*unheard-of.* is unknown"):
        Ensemble([critic(), Ensemble([unpriced])]).judge_many(cases(1), budget=Budget(max_usd=1.0))
    assert sent(unpriced) == 0
    assert all(judgment.passed for judgment in unpriced.judge_many(cases(1), budget=Budget(max_tokens=5000)))


@pytest.mark.parametrize(
    "limits", [{}, {"max_usd": -1}, {"max_tokens": True}, {"max_calls": "5"}, {"max_usd": float("nan")}]
)
def test_a_budget_limits_something_by_a_number_from_zero(limits):
    with pytest.raises(ConfigurationError, match="Budget"):
        Budget(**limits)


async def granted(budget, estimate):
    """The reservation; None when it is refused."""
    try:
        return await budget.reserve(estimate)
    except BudgetExhausted:
        return None


def test_sums_of_cents_fit_exactly():
    async def main():
        budget, dime = Budget(max_usd=0.3), Usage(calls=1, cost_usd=0.1)
        for _ in range(3):
            budget.settle(await budget.reserve(dime), dime)
        with pytest.raises(BudgetExhausted):
            await budget.reserve(Usage(calls=1, cost_usd=0.001))

    asyncio.run(main())


def in_threads(count, work):
    threads = [threading.Thread(target=work, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)


def test_reserving_and_settling_from_many_threads_and_loops_adds_up():
    budget, one = Budget(max_calls=1000), Usage(10, 10, calls=1, cost_usd=0.001)
    made = []

    async def call():
        reservation = await granted(budget, one)
        if reservation is not None:
            await asyncio.sleep(0)
            budget.settle(reservation, one)
            made.append(1)

    async def main():
        await asyncio.gather(*(call() for _ in range(200)))

    in_threads(8, lambda: asyncio.run(main()))
    assert len(made) == budget.spent.calls == 1000
    assert budget.refused == 600
    assert budget.spent.cost_usd == pytest.approx(1.0)


amounts = st.integers(0, 40)


@examples(150)
@given(
    limit=st.integers(0, 120),
    calls=st.lists(
        st.tuples(amounts, st.floats(0, 1), st.integers(0, 3), st.sampled_from(["well", "fails", "cancelled"])),
        max_size=25,
    ),
)
def test_whatever_is_asked_for_the_limit_holds_all_calls_end_and_none_is_refused_that_fits(limit, calls):
    budget = Budget(max_tokens=limit)
    state = {"reserved": 0, "order": []}

    async def call(number, estimate, share, ticks, fate):
        try:
            reservation = await budget.reserve(Usage(estimate, calls=1))
        except BudgetExhausted:
            assert budget.spent.input_tokens + estimate > limit
            return
        state["order"].append(number)
        state["reserved"] += estimate
        assert budget.spent.input_tokens + state["reserved"] <= limit
        took = NO_USAGE
        try:
            for _ in range(ticks):
                await asyncio.sleep(0)
            if fate != "fails":
                took = Usage(int(estimate * share), calls=1)
        finally:
            state["reserved"] -= estimate
            budget.settle(reservation, took)

    async def main():
        tasks = [asyncio.create_task(call(number, *how)) for number, how in enumerate(calls)]
        await asyncio.sleep(0)
        for task, (*_, fate) in zip(tasks, calls, strict=True):
            if fate == "cancelled":
                task.cancel()
        ended = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 20)
        assert all(error is None or isinstance(error, asyncio.CancelledError) for error in ended)
        rest = limit - budget.spent.input_tokens
        reservation = await asyncio.wait_for(budget.reserve(Usage(rest)), 20)  # nothing is left behind
        budget.settle(reservation, NO_USAGE)

    asyncio.run(main())
    assert state["order"] == sorted(state["order"])
    assert budget.spent.input_tokens <= limit


def test_a_large_call_is_not_overtaken_by_small_ones_for_ever():
    async def main():
        budget, order = Budget(max_tokens=100), []

        async def call(name, tokens):
            reservation = await budget.reserve(Usage(tokens, calls=1))
            order.append(name)
            await asyncio.sleep(0)
            budget.settle(reservation, NO_USAGE)

        sizes = [("small", 40), ("small", 40), ("large", 90), *[("small", 10)] * 20]
        await asyncio.wait_for(asyncio.gather(*(call(*size) for size in sizes)), 20)
        return order

    assert asyncio.run(main()).index("large") == 2


def test_a_cancelled_call_at_the_head_lets_those_behind_it_go():
    async def main():
        budget = Budget(max_tokens=100)
        held = await budget.reserve(Usage(60))
        head = asyncio.create_task(budget.reserve(Usage(90)))
        await asyncio.sleep(0)
        behind = asyncio.create_task(budget.reserve(Usage(30)))
        await asyncio.sleep(0)
        assert not behind.done()
        head.cancel()
        await asyncio.wait_for(behind, 20)
        budget.settle(held, NO_USAGE)

    asyncio.run(main())


def test_a_call_cancelled_just_as_it_is_granted_gives_its_tokens_back():
    async def main():
        budget = Budget(max_tokens=100)
        held = await budget.reserve(Usage(100))
        waiting = asyncio.create_task(budget.reserve(Usage(100)))
        await asyncio.sleep(0)
        budget.settle(held, NO_USAGE)  # grants it, before its task has run
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await asyncio.wait_for(budget.reserve(Usage(100)), 20)

    asyncio.run(main())


def test_a_call_whose_event_loop_is_closed_does_not_hold_up_the_others():
    budget = Budget(max_tokens=100)
    gone = asyncio.new_event_loop()
    held = gone.run_until_complete(budget.reserve(Usage(100)))
    lost = gone.create_task(budget.reserve(Usage(50)))
    gone.run_until_complete(asyncio.sleep(0))
    gone.close()
    budget.settle(held, NO_USAGE)
    assert asyncio.run(granted(budget, Usage(100)))
    lost._log_destroy_pending = False
    del lost


@pytest.mark.parametrize(
    ("limits", "spent", "wanted", "said"),
    [
        (
            {"max_usd": 0.01},
            Usage(calls=1, cost_usd=0.0098),
            Usage(calls=1, cost_usd=0.0012),
            "$0.0098 of $0.0100 spent, this call may take up to $0.0012",
        ),
        (
            {"max_usd": 0.00001},
            Usage(calls=1, cost_usd=0.000009),
            Usage(calls=1, cost_usd=0.0012),
            "$0.00000900 of $0.00001000 spent, this call may take up to $0.00120000",
        ),
        (
            {"max_usd": 5, "max_tokens": 5000},
            Usage(4000, 900, calls=1),
            Usage(500, 120, calls=1),
            "4,900 of 5,000 tokens spent, this call may take up to 620",
        ),
        ({"max_usd": 5, "max_calls": 1}, Usage(calls=1), Usage(500, 120, calls=1), "1 of 1 calls spent"),
    ],
)
def test_a_refusal_says_what_is_spent(limits, spent, wanted, said):
    async def main():
        budget = Budget(**limits)
        budget.settle(await budget.reserve(spent), spent)
        with pytest.raises(BudgetExhausted) as refused:
            await budget.reserve(wanted)
        return str(refused.value)

    assert asyncio.run(main()) == f"the budget does not allow another call: {said}"


def test_it_says_what_it_limits():
    assert repr(Budget(max_usd=1.5)) == "Budget(max_usd=1.5, max_tokens=None, max_calls=None)"


def over_http(server, **options):
    """A critic whose calls take 100 tokens in and 20 out, and may take 2,000 out."""
    model = {"base_url": server.openai, "api_key": "k", "max_tokens": 2000, "limits": Limits(attempts=1), **options}
    juror = Critic("openai:gpt-test", "faithfulness", name="juror", **model)
    set_price(f"{juror.model.inner.vendor}:gpt-test", input=0.01, output=0.175)  # $0.0000045 a call: $0.00054 for 120
    return juror


LIMITS = [{"max_usd": 0.006}, {"max_tokens": 120 * 120 + 5000}, {"max_calls": 120}]
IN_FLIGHT = pytest.mark.parametrize("in_flight", [16, 120])


@IN_FLIGHT
@pytest.mark.parametrize("limits", LIMITS, ids=lambda limits: next(iter(limits)))
def test_a_budget_that_suffices_refuses_no_call_however_many_are_in_flight(server, limits, in_flight):
    budget = Budget(**limits)
    verdicts = list(over_http(server).judge_many(cases(120), budget=budget, max_concurrency=in_flight))
    assert {verdict.status for verdict in verdicts} == {Status.PASS}
    assert budget.spent.calls == server.count == 120
    assert budget.spent.cost_usd == pytest.approx(0.00054)
    assert budget.refused == 0


@IN_FLIGHT
@pytest.mark.parametrize(
    "limits", [{"max_usd": 0.0005}, {"max_tokens": 60 * 120}], ids=lambda limits: next(iter(limits))
)
def test_a_budget_is_spent_up_to_the_estimate_of_one_call(server, limits, in_flight):
    juror, budget = over_http(server), Budget(**limits)
    estimate = juror.estimate(cases(1)[0])
    list(juror.judge_many(cases(120), budget=budget, max_concurrency=in_flight))
    taken, limit, most = (
        (budget.spent.cost_usd, budget.max_usd, estimate.cost_usd)
        if budget.max_usd
        else (
            budget.spent.input_tokens + budget.spent.output_tokens,
            budget.max_tokens,
            estimate.input_tokens + estimate.output_tokens,
        )
    )
    assert limit - 1.1 * most < taken <= limit
    assert 0 < server.count == 120 - budget.refused


def test_one_budget_serves_sync_and_async_batches_in_several_threads(server):
    budget, juror, verdicts = Budget(max_usd=0.01), over_http(server), []

    def sync():
        verdicts.extend(juror.judge_many(cases(20), budget=budget, max_concurrency=10))

    async def run():
        verdicts.extend([verdict async for verdict in juror.ajudge_many(cases(20), budget=budget, max_concurrency=10)])

    def work():
        sync()
        asyncio.run(run())

    in_threads(4, work)
    assert {verdict.status for verdict in verdicts} == {Status.PASS}
    assert len(verdicts) == 160
    assert budget.refused == 0


def test_a_batch_that_is_closed_while_calls_wait_leaves_the_rest_of_the_budget_usable():
    juror = critic(delay=0.05)
    estimate = juror.estimate(cases(1)[0])
    budget = Budget(max_tokens=2 * (estimate.input_tokens + estimate.output_tokens))
    batch = juror.judge_many(cases(100), budget=budget, max_concurrency=50)
    assert next(batch).passed
    batch.close()
    rest = budget.max_tokens - budget.spent.input_tokens - budget.spent.output_tokens
    assert rest > 0
    assert asyncio.run(granted(budget, Usage(rest)))  # no waiting call has kept a reservation


def in_time(work, seconds=30.0):
    """Do the work, and fail where it waits for itself."""
    found = []
    thread = threading.Thread(target=lambda: found.append(work()), daemon=True)
    thread.start()
    thread.join(seconds)
    assert found, "calls wait for each other"
    return found[0]


def tight(juror, calls):
    """Room for the estimates of so many calls at a time."""
    estimate = juror.estimate(cases(1)[0])
    return Budget(max_tokens=calls * (estimate.input_tokens + estimate.output_tokens))


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_judge_that_blocks_the_event_loop_with_another_call_does_not_wait_for_itself(asynchronous):
    juror, inner = critic(delay=0.05, model="a"), critic(delay=0.05, model="b")
    blocking = judge(name="blocking")(lambda case: inner.judge(case).status)
    panel, budget = Ensemble([juror, blocking], errors="ignore"), tight(juror, 1)

    async def run():
        return [verdict async for verdict in panel.ajudge_many(cases(3), budget=budget)]

    work = (lambda: asyncio.run(run())) if asynchronous else (lambda: list(panel.judge_many(cases(3), budget=budget)))
    verdict, *_ = in_time(work)
    assert verdict.by_name["juror"].passed
    assert verdict.by_name["blocking"].status is Status.ABSTAIN


def test_a_model_function_that_asks_a_judge_does_not_wait_for_its_own_call():
    inner = critic(model="inner")

    async def model(prompt):
        judgment = await inner.ajudge(cases(1)[0])
        return f"Answer: YES\nReasoning: {judgment.error}"

    outer = Critic(model, "faithfulness", name="outer", max_tokens=100)
    (judgment,) = in_time(lambda: list(outer.judge_many(cases(1), budget=tight(outer, 1))))
    assert "budget_exhausted" in judgment.reasoning


def test_a_batch_started_in_a_notebook_waits_for_its_own_calls_and_not_for_those_it_blocks():
    """The notebook's event loop has a call in flight that cannot end before the synchronous batch has."""
    juror = critic(delay=0.02)

    async def notebook(budget):
        held = await budget.reserve(Usage(50))
        found = list(juror.judge_many(cases(12), budget=budget, max_concurrency=4))
        budget.settle(held, NO_USAGE)
        again = list(juror.judge_many(cases(12), budget=budget, max_concurrency=4))
        return found, again

    estimate = juror.estimate(cases(1)[0])
    one = estimate.input_tokens + estimate.output_tokens
    found, again = in_time(lambda: asyncio.run(notebook(Budget(max_tokens=24 * 120 + one + 60))))
    assert {judgment.error for judgment in found} == {None, "budget_exhausted"}
    assert {judgment.error for judgment in again} == {None}
