"""Estimates of cost, before anything is sent."""

import pytest
from fact_tables import each_row
from running import Paying, passes

from jury_adapters import CascadedJury, Case, ConfigurationError, Ensemble, Scorecard, Tier, Usage, judge

CASES = ["a", {"question": "b"}, Case(question="c")]


def calls_of(usage):
    """Return the usage in calls, if its tokens and dollars are those of so many."""
    assert (usage.input_tokens, usage.output_tokens) == (80 * usage.calls, 20 * usage.calls)
    assert usage.cost_usd == pytest.approx(0.01 * usage.calls)
    return usage.calls


A, B, C = Paying("a"), Paying("b"), Paying("c")
SHAPES = {
    "alone": (lambda: A, {"a": 3}),
    "a function": (lambda: judge(passes), {"passes": 0}),
    "ensemble": (lambda: Ensemble([A, B, passes]), {"a": 3, "b": 3, "passes": 0}),
    "early stop": (lambda: Ensemble([A, B], schedule="early_stop"), {"a": 3, "b": 3}),
    "samples": (lambda: A.with_samples(4), {"a": 3, "a-2": 3, "a-3": 3, "a-4": 3}),
    "scorecard": (lambda: Scorecard({"x": A, "y": B}), {"x": 3, "y": 3}),
    "cascade": (
        lambda: CascadedJury([Tier("small", Ensemble([A, B]), "escalate_on_split"), Tier("large", C)]),
        {"small": 6, "large": 3},
    ),
    "chain": (lambda: A & B, {"a": 3, "b": 3}),
    "nested": (lambda: Ensemble([Ensemble([A, B], name="inner"), C]), {"inner": 6, "c": 3}),
}


@each_row(("jury", "parts"), SHAPES.values(), ids=SHAPES)
def test_the_estimate_lists_what_each_part_may_take_at_most(jury, parts):
    built = jury()
    estimate = built.estimate_cost(iter(CASES))
    assert estimate.cases == 3
    assert {name: calls_of(usage) for name, usage in estimate.parts.items()} == parts
    assert calls_of(estimate.total) == sum(parts.values())
    assert (A.asked, B.asked, C.asked) == ([], [], [])
    assert sum(built.estimate(Case(question=q)).calls for q in "abc") == estimate.total.calls


def test_a_fallback_may_be_asked_too():
    backed = A.with_fallbacks(B)
    assert backed.estimate_cost(CASES).total == Ensemble([backed]).estimate_cost(CASES).total


def test_no_case_and_no_judgment_is_above_the_estimate():
    jury = CascadedJury([Tier("small", Ensemble([Paying("a"), Paying("b")]), "escalate_on_split"), Tier("large", C)])
    estimate = jury.estimate_cost(["q"]).total
    taken = jury.judge("q").usage
    assert taken.calls <= estimate.calls
    assert taken.cost_usd <= estimate.cost_usd
    assert jury.estimate_cost([]).total == Usage()


def test_an_unknown_price_is_said_and_not_counted_as_free():
    """Trap 18."""
    unpriced = Paying("b", estimate=Usage(calls=1, input_tokens=80, cost_complete=False))
    estimate = Ensemble([A, unpriced]).estimate_cost(CASES)
    assert not estimate.total.cost_complete
    assert estimate.parts["a"].cost_complete
    lines = {line.split()[0]: line for line in str(estimate).splitlines()}
    assert "price is unknown" in lines["b"]
    assert "price is unknown" in lines["total"]
    assert "price is unknown" not in lines["a"]


def test_the_estimate_is_readable():
    said = str(Ensemble([A, B]).estimate_cost(CASES)).splitlines()
    assert [line.split()[0] for line in said[:3]] == ["a", "b", "total"]
    assert said[2].split()[1:] == ["6", "calls", "480", "in", "120", "out", "$0.0600"]
    assert said[3].startswith("3 cases; an upper limit")


@pytest.mark.parametrize("bad", [[{"unknown": 1}], [5], ["a", None]], ids=str)
def test_a_row_that_makes_no_case_is_refused(bad):
    with pytest.raises(ConfigurationError):
        A.estimate_cost(bad)


@pytest.mark.parametrize("one", ["a question", Case(question="q"), {"question": "q"}], ids=["text", "case", "mapping"])
def test_one_case_is_not_taken_for_many(one):
    with pytest.raises(ConfigurationError, match="many cases"):
        A.estimate_cost(one)
