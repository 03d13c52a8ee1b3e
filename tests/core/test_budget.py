"""Budgets: kept before each call, also by many calls at once; settled by what a call took."""

import asyncio
import threading

import pytest

from jury_adapters import Budget, ConfigurationError, Critic, Ensemble, ModelError, Status, Store, set_price
from jury_adapters.core.judgment import Usage
from jury_adapters.models import prices
from jury_adapters.models.base import Reply
from jury_adapters.models.retries import Limits
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
    return Critic("juror", scripted, rubric="faithfulness", **settings)


def sent(juror):
    return len(juror.model.inner.calls)


@pytest.mark.parametrize("concurrency", [1, 16, 64])
def test_calls_are_never_more_than_allowed_however_many_are_in_flight(concurrency):
    juror, budget = critic(), Budget(calls=25)
    verdicts = list(juror.judge_many(cases(100), budget=budget, max_concurrency=concurrency))
    assert sent(juror) == budget.spent.calls == 25
    assert [verdict.status for verdict in verdicts].count(Status.PASS) == 25
    assert budget.refused == 75


def test_those_not_asked_abstain_and_say_why():
    *_, last = critic().judge_many(cases(3), budget=Budget(calls=2), max_concurrency=1)
    assert last.status is Status.ABSTAIN
    assert last.error == "budget_exhausted"
    assert "budget" in last.reasoning
    assert last.usage.calls == 0


@pytest.mark.parametrize("concurrency", [1, 64])
def test_tokens_stay_within_the_limit_while_calls_keep_to_their_estimate(concurrency):
    juror, budget = critic(), Budget(tokens=5000)
    list(juror.judge_many(cases(200), budget=budget, max_concurrency=concurrency))
    assert 0 < budget.spent.input_tokens + budget.spent.output_tokens <= 5000
    assert sent(juror) == budget.spent.calls == (budget.spent.output_tokens // 20)


@pytest.mark.parametrize("concurrency", [1, 64])
def test_dollars_stay_within_the_limit_while_calls_keep_to_their_estimate(concurrency):
    stated = Usage(100, 20, calls=1, cost_usd=0.0003)
    juror, budget = critic(usage=stated), Budget(usd=0.02)
    list(juror.judge_many(cases(200), budget=budget, max_concurrency=concurrency))
    assert 0 < budget.spent.cost_usd <= 0.02
    assert budget.refused == 200 - sent(juror)


@pytest.mark.parametrize("in_flight", [1, 8])
def test_the_overshoot_is_at_most_the_excess_of_the_calls_in_flight(in_flight):
    greedy = Usage(3000, 3000, calls=1)  # far more than any estimate
    juror = critic(usage=greedy, delay=0.02)
    estimate = juror.estimate(cases(1)[0])
    excess = 6000 - (estimate.input_tokens + estimate.output_tokens)
    budget = Budget(tokens=8000)
    list(juror.judge_many(cases(50), budget=budget, max_concurrency=in_flight))
    assert budget.spent.input_tokens + budget.spent.output_tokens <= 8000 + in_flight * excess
    assert sent(juror) <= 8


def test_estimates_settle_so_that_what_was_set_aside_too_much_is_used():
    juror = critic(delay=0)
    estimate = juror.estimate(cases(1)[0])
    room = estimate.input_tokens + estimate.output_tokens + 10 * 120
    list(juror.judge_many(cases(50), budget=Budget(tokens=room), max_concurrency=1))
    assert sent(juror) == 11  # ten settled at 120 each, and room for one estimate beside them


def test_a_call_that_fails_was_a_call_and_gives_its_tokens_back():
    juror = critic([ModelError("down", "server")], delay=0)
    budget = Budget(tokens=100_000)
    list(juror.judge_many(cases(5), budget=budget))
    assert budget.spent == Usage(calls=5)
    assert budget.reserve(Usage(50_000, 50_000, calls=1))


def test_a_server_that_does_not_say_what_it_took_is_counted_by_the_estimate():
    juror = critic([Reply(REPLY, usage=Usage(calls=1, cost_complete=False))], delay=0)
    estimate = juror.estimate(cases(1)[0])
    budget = Budget(tokens=3 * (estimate.input_tokens + estimate.output_tokens))
    list(juror.judge_many([a_case(question=f"What is number {i}?") for i in range(9)], budget=budget))
    assert sent(juror) == 3


def test_a_repair_request_needs_budget_too():
    juror, budget = critic("no verdict at all", delay=0), Budget(calls=1)
    (judgment,) = juror.judge_many(cases(1), budget=budget)
    assert judgment.error == "budget_exhausted"
    assert judgment.usage.calls == budget.spent.calls == 1
    assert budget.refused == 1


def test_one_budget_limits_all_jurors_and_batches_together():
    first, second, budget = critic(model="a"), critic(model="b"), Budget(calls=10)
    panel = Ensemble([first, second])
    list(panel.judge_many(cases(4), budget=budget))
    verdicts = list(panel.judge_many(cases(9)[4:], budget=budget))
    assert sent(first) + sent(second) == 10
    assert verdicts[-1].tally.abstained == 2


def test_a_frugal_panel_and_one_with_repeats_keep_it_too():
    juror, budget = critic(repeat=3), Budget(calls=7)
    list(juror.judge_many(cases(5), budget=budget))
    assert sent(juror) == 7
    frugal, budget = [critic(model=name) for name in "abc"], Budget(calls=7)
    list(Ensemble(frugal, schedule="frugal").judge_many(cases(10), budget=budget))
    assert sum(sent(juror) for juror in frugal) == 7


def test_the_asynchronous_batch_keeps_it_too():
    juror, budget = critic(), Budget(calls=5)

    async def run():
        return [item async for item in juror.ajudge_many(cases(20), budget=budget, max_concurrency=20)]

    assert sum(judgment.passed for judgment in asyncio.run(run())) == sent(juror) == 5


def test_what_is_served_from_the_store_costs_no_budget(tmp_path):
    with Store(tmp_path / "runs.db") as store:
        juror = critic()
        list(juror.judge_many(cases(10), store=store))
        budget = Budget(calls=0)
        assert all(judgment.passed for judgment in juror.judge_many(cases(10), store=store, budget=budget))
        assert budget.spent.calls == budget.refused == 0


def test_those_not_asked_are_asked_when_the_run_is_resumed_with_more(tmp_path):
    with Store(tmp_path / "runs.db") as store:
        juror = critic()
        first = list(juror.judge_many(cases(10), store=store, budget=Budget(calls=4)))
        again = list(juror.judge_many(cases(10), store=store))
    assert [judgment.error for judgment in first].count("budget_exhausted") == 6
    assert all(judgment.passed for judgment in again)
    assert sent(juror) == 10


def test_dollars_need_the_price_of_every_juror_before_anything_is_sent():
    unpriced = critic(model="unheard-of")
    with pytest.raises(ConfigurationError, match="set_price"):
        unpriced.judge_many(cases(1), budget=Budget(usd=1.0))
    with pytest.raises(ConfigurationError, match="price of every juror"):
        Ensemble([critic(), Ensemble([unpriced])]).judge_many(cases(1), budget=Budget(usd=1.0))
    assert sent(unpriced) == 0
    assert all(judgment.passed for judgment in unpriced.judge_many(cases(1), budget=Budget(tokens=5000)))


@pytest.mark.parametrize("limits", [{}, {"usd": -1}, {"tokens": True}, {"calls": "5"}, {"usd": float("nan")}])
def test_a_budget_limits_something_by_a_number_from_zero(limits):
    with pytest.raises(ConfigurationError, match="Budget"):
        Budget(**limits)


def test_sums_of_cents_fit_exactly():
    budget, dime = Budget(usd=0.3), Usage(calls=1, cost_usd=0.1)
    for _ in range(3):
        assert budget.reserve(dime)
    assert not budget.reserve(Usage(calls=1, cost_usd=0.001))


def test_reserving_and_settling_from_many_threads_adds_up():
    budget, one = Budget(calls=1000), Usage(10, 10, calls=1, cost_usd=0.001)
    granted = []

    def work():
        for _ in range(200):
            if budget.reserve(one):
                budget.settle(one, one)
                granted.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(granted) == budget.spent.calls == 1000
    assert budget.refused == 600
    assert budget.spent.cost_usd == pytest.approx(1.0)


def test_it_says_what_it_limits():
    assert repr(Budget(usd=1.5)) == "Budget(usd=1.5, tokens=None, calls=None)"
