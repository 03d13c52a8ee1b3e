"""Judge.estimate_cost: what a run may take, before anything is sent."""

import pytest

from jury_adapters import CascadedJury, Case, Critic, Ensemble, Tier, judge
from jury_adapters.models import prices, set_price
from jury_adapters.testing import ScriptedModel, a_case
from jury_adapters.voting import all_of


@pytest.fixture(autouse=True)
def known_prices(monkeypatch):
    monkeypatch.setattr(prices, "PRICES", dict(prices.PRICES))
    set_price("test:cheap", input=1.0, output=2.0)
    set_price("test:dear", input=10.0, output=20.0)


def critic(model="cheap", **options):
    return Critic(ScriptedModel(["YES"], model=model), "faithfulness", name=model, **{"max_tokens": 100, **options})


CASES = [a_case(question=f"What is number {i}?") for i in range(10)]


def test_one_critic_is_one_row_and_nothing_is_sent():
    one = critic()
    estimate = one.estimate_cost(CASES)
    (row,) = estimate.rows
    assert (row.name, row.cases, row.calls, row.output_tokens) == ("cheap", 10, 10, 1000)
    assert row.cost_usd == pytest.approx((row.input_tokens * 1.0 + 1000 * 2.0) / 1e6)
    assert estimate.cost_complete
    assert not estimate.per_tier
    assert one.model.inner.calls == []


def test_a_panel_has_a_row_per_juror_and_the_totals_add_up():
    estimate = Ensemble([critic(), critic("dear"), judge(lambda case: True)]).estimate_cost(CASES)
    assert [(row.name, row.cases, row.calls) for row in estimate.rows] == [
        ("cheap", 10, 10),
        ("dear", 10, 10),
        ("Judge#3", 0, 0),
    ]
    assert estimate.calls == 20
    assert estimate.cases == 10
    assert estimate.input_tokens == 2 * estimate.rows[0].input_tokens
    assert estimate.output_tokens == 2000
    assert estimate.cost_usd == pytest.approx(11 * estimate.rows[0].cost_usd)


def test_equal_names_are_told_apart_as_in_the_verdict():
    panel = Ensemble([critic(), critic()])
    assert [row.name for row in panel.estimate_cost(CASES).rows] == list(panel.names)


def test_a_cascade_has_a_row_per_tier_as_if_every_case_got_there():
    jury = CascadedJury(
        [
            Tier("checks", lambda case: True, "escalate_on_split"),
            Tier("cheap", critic(), "escalate_on_split"),
            Tier("panel", Ensemble([critic("dear"), critic()]), "final"),
        ]
    )
    estimate = jury.estimate_cost(CASES)
    assert [(row.name, row.calls) for row in estimate.rows] == [("checks", 0), ("cheap", 10), ("panel", 20)]
    assert estimate.per_tier
    assert "as if every case got there; a case that is decided earlier takes less" in str(estimate)


@pytest.mark.parametrize("inside", [False, True])
def test_early_stopping_is_estimated_as_if_every_juror_were_asked(inside):
    panel = Ensemble([critic(), critic("dear")], schedule="early_stop")
    jury = CascadedJury([Tier("panel", panel, "final")]) if inside else panel
    estimate = jury.estimate_cost(CASES)
    assert (estimate.calls, estimate.stops_early) == (20, True)
    assert "as if it were asked; early stopping asks no more once the vote is settled" in str(estimate)
    assert "early stopping" not in str(Ensemble(panel.members).estimate_cost(CASES))


def test_repeated_asks_and_chains_count():
    assert critic(samples=3).estimate_cost(CASES).calls == 30
    assert all_of(critic(), critic("dear")).estimate_cost(CASES).calls == 20


def test_a_case_without_what_the_rubric_needs_costs_nothing():
    estimate = critic().estimate_cost([*CASES, Case(answer="no contexts")])
    assert (estimate.cases, estimate.rows[0].cases, estimate.calls) == (11, 10, 10)


def test_rows_that_make_no_case_are_counted_and_cost_nothing():
    estimate = critic().estimate_cost([*CASES, None, {"quest": 1}])
    assert (estimate.cases, estimate.unreadable, estimate.calls) == (10, 2, 10)
    assert estimate.first_problem.startswith("this row is not a case: nothing to judge")
    assert str(estimate).splitlines()[-2:] == [
        "2 input rows make no case and cost nothing.",
        f"    The first one: {estimate.first_problem}",
    ]
    assert "1 input row makes no case and costs nothing." in str(critic().estimate_cost([None]))
    assert not critic().estimate_cost(CASES).first_problem


def test_an_unknown_price_is_said_and_never_zero():
    estimate = Ensemble([critic(), critic("unheard-of")]).estimate_cost(CASES)
    assert [row.cost_complete for row in estimate.rows] == [True, False]
    assert not estimate.cost_complete
    assert "unheard-of)." in str(estimate)
    assert "set_price" in str(estimate)
    assert "?+" in str(estimate)


def test_retries_and_repairs_are_said_to_come_on_top_and_no_bound_is_claimed():
    known, unknown = str(critic().estimate_cost(CASES)), str(critic("unheard-of").estimate_cost(CASES))
    for text in (known, unknown):
        assert "Retries and repair requests add to it" in text
        assert "at most" not in text.lower()
    assert "+" not in known


def test_a_repair_request_does_come_on_top():
    mumbling = Critic(ScriptedModel(["no verdict at all"]), "faithfulness", name="m")
    (judgment,) = mumbling.judge_many(CASES[:1])
    assert judgment.usage.calls == 2 > mumbling.estimate_cost(CASES[:1]).calls


def test_no_cases_is_an_empty_plan():
    estimate = Ensemble([critic()]).estimate_cost([])
    assert (estimate.cases, estimate.calls, estimate.cost_usd, estimate.cost_complete) == (0, 0, 0, True)


def test_cases_are_read_once_and_may_be_a_generator():
    assert critic().estimate_cost(case for case in CASES).calls == 10


def test_what_a_run_takes_stays_within_its_plan():
    panel = Ensemble([critic(), critic("dear")])
    estimate = panel.estimate_cost(CASES)
    verdicts = list(panel.judge_many(CASES))
    assert sum(verdict.usage.calls for verdict in verdicts) == estimate.calls
    assert sum(verdict.usage.input_tokens for verdict in verdicts) <= estimate.input_tokens
    assert sum(verdict.usage.output_tokens for verdict in verdicts) <= estimate.output_tokens


def test_it_prints_as_a_table():
    lines = str(Ensemble([critic(), critic("dear")]).estimate_cost(CASES)).splitlines()
    assert lines[0].split() == ["juror", "cases", "calls", "input", "tokens", "output", "tokens", "US$"]
    assert [line.split()[0] for line in lines[2:4]] == ["cheap", "dear"]
    assert lines[5].split()[:3] == ["total", "10", "20"]
    assert len({len(line) for line in lines[:6]}) == 1
