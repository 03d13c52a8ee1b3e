"""Rounding errors of sums change no status: votes, thresholds, gates and scores of probabilities."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_adapters import CascadedJury, Ensemble, Judgment, Scorecard, Status, Tier, Verdict, escalate_below, judge
from jury_adapters.core.return_values import to_judgment
from jury_adapters.core.tolerance import TOLERANCE, equal, exceeds, reaches

P, F = Status.PASS, Status.FAIL
numbers = st.floats(-1e6, 1e6, allow_nan=False)


def votes(*statuses, **options) -> Verdict:
    return Ensemble([lambda case, s=status: s for status in statuses], **options).judge(answer="x")


@pytest.mark.parametrize("weights", [[0.1, 0.2, 0.3], [0.3, 0.6, 0.9], [1.1, 2.2, 3.3], [100.1, 200.2, 300.3]])
def test_weights_that_sum_to_the_same_are_a_tie(weights) -> None:
    verdict = votes(P, P, F, weights=weights)
    assert (verdict.status, verdict.tally.tied) == (F, True)
    assert votes(P, P, F, weights=weights, tie="pass").status is P


def test_the_confidence_of_weights_reaches_a_gate() -> None:
    verdict = votes(P, P, F, weights=[0.1, 0.7, 0.2])
    assert verdict.status is P
    verdict.require(min_confidence=0.8)


@pytest.mark.parametrize("score", [0.7, 0.1, 0.55, 0.9])
@pytest.mark.parametrize("jurors", [3, 6, 7, 10])
def test_an_average_of_one_score_reaches_it(score, jurors) -> None:
    given_scores = [Judgment("PASS", score=score)] * jurors
    for voting in ("average", "weighted_average", "median"):
        jury = Ensemble([lambda case, one=one: one for one in given_scores], voting=voting, threshold=score)
        assert jury.judge(answer="x").status is P


def test_a_scorecards_mean_reaches_its_threshold() -> None:
    criteria = {name: lambda case: Judgment("PASS", score=0.7) for name in "abc"}
    card = Scorecard(criteria, weights=dict.fromkeys("abc", 0.1), threshold=0.7)
    assert card.judge(answer="x").status is P


@pytest.mark.parametrize("score", [1 - 0.9, 0.1 + 0.2, 0.1 * 3])
def test_a_function_whose_score_is_a_sum_reaches_its_threshold(score) -> None:
    assert to_judgment(score, round(score, 3)).status is P
    assert judge(threshold=round(score, 3))(lambda case: score).judge(answer="x").status is P


def test_a_tier_stops_where_its_confidence_reaches_the_threshold() -> None:
    first = Ensemble([lambda case: True, lambda case: True, lambda case: False], weights=[0.1, 0.7, 0.2])
    verdict = CascadedJury([Tier("first", first, escalate_below(0.8)), Tier("last", lambda case: False)]).judge(
        answer="x"
    )
    assert (verdict.status, verdict.stopped_at) == (P, "first")


@given(numbers, numbers)
def test_the_comparisons_agree_with_each_other(value, threshold) -> None:
    assert reaches(value, threshold) == (not exceeds(threshold, value) or equal(value, threshold))
    assert exceeds(value, threshold) == (value > threshold and not equal(value, threshold))
    assert equal(value, threshold) == equal(threshold, value)
    if abs(value - threshold) > 1e-5:
        assert reaches(value, threshold) == (value >= threshold)


@given(st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.7]), min_size=1, max_size=9))
def test_a_sum_equals_its_exact_value(parts) -> None:
    assert equal(sum(parts), math.fsum(parts))
    assert equal(sum(parts), sum(round(10 * part) for part in parts) / 10)


def test_a_difference_that_is_seen_is_no_rounding_error() -> None:
    assert not reaches(0.5 - 1e-9, 0.5)
    assert not equal(1.0, 1.0 + 10 * TOLERANCE)
