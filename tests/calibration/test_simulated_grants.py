"""Simulated rates of granted guarantees: equal to those of the calibration itself, and true for known juries."""

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import binom
from support.examples import examples

from jury_adapters import CascadedJury, Tier
from jury_adapters.calibration import CalibrationFailed, Guarantee, calibrate
from jury_adapters.calibration.binomial import most_errors
from jury_adapters.calibration.grant_rates import GrantRates
from jury_adapters.calibration.simulated_grants import _logistic, simulate_grants, threshold_sequences
from jury_adapters.calibration.thresholds import Method, Trials, choose_thresholds
from jury_adapters.core.case import Case
from jury_adapters.core.function_judge import FunctionJudge
from jury_adapters.core.judgment import Judgment, Status

METHODS: tuple[Method, ...] = ("path", "per_tier", "both")


def juries(kind: str, items: int, agreement: float, number: int, seed: int = 0) -> list[Trials]:
    """Labelled items of juries that agree with human labels on so many, at any confidence or more at a high one."""
    draw = np.random.default_rng(seed)
    found = []
    for _ in range(number):
        if kind == "one confidence":
            sure = np.full((items, 1), 0.9)
        elif kind == "shares of votes":
            sure = draw.choice([0.6, 0.8, 1.0], (items, 2), p=[0.1, 0.2, 0.7])
        else:
            sure = 0.5 + 0.5 * draw.random((items, 1))
        wrong = np.full_like(sure, 1 - agreement)
        if kind == "telling":
            wrong = wrong * 4 * (1 - sure)
        found.append(Trials(sure, draw.random((items, 1)) >= wrong))
    return found


def granted(trials: Trials, agreement: float, method: Method = "both", delta: float = 0.1) -> bool:
    return choose_thresholds(trials, 1 - agreement, delta, method)[0].decided > 0


@given(st.integers(0, 2**32 - 1), st.integers(30, 150), st.integers(1, 3), st.floats(0, 0.2), st.booleans())
@examples(100)
def test_a_simulated_calibration_grants_what_the_calibration_itself_grants(seed, items, tiers, error_rate, coarse):
    draw = np.random.default_rng(seed)
    sure = draw.random((items, tiers))
    sure = np.round(sure, 1) if coarse else sure
    sure[draw.random(sure.shape) < 0.1] = -1
    rates, luck = error_rate * (1.3 - np.abs(sure)), draw.random((items, 1))
    trials = Trials(sure, (luck >= rates) & (sure >= 0))
    for method in METHODS:
        found = [
            each.passes(np.arange(items)[None, :], luck.T, 0.1)[0, 0]
            for each in threshold_sequences(trials, [rates], 0.1, method)
        ]
        assert any(found) == granted(trials, 0.9, method)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["one confidence", "shares of votes", "any confidence"])
@pytest.mark.parametrize(("items", "agreement"), [(100, 0.9), (250, 0.95)])
def test_a_jury_just_below_the_target_is_granted_the_guarantee_as_often_as_told(kind, items, agreement):
    below = juries(kind, items, agreement - 1e-9, 800)
    observed = np.mean([granted(trials, agreement) for trials in below])
    told = simulate_grants(below[0], agreement, 0.1, "both").if_false
    assert told == pytest.approx(observed, abs=0.03)  # three standard errors of both
    assert told <= 0.1 + 0.03


@pytest.mark.slow
def test_with_one_confidence_the_rate_is_the_exact_size_of_the_test():
    (trials,) = juries("one confidence", 286, 0.98, 1)
    allowed = most_errors(286, 1 - 0.95, 0.05)[286]
    found = simulate_grants(trials, 0.95, 0.1, "both", runs=20_000)
    assert found.if_false == pytest.approx(binom.cdf(allowed, 286, 0.05), abs=0.006)
    share = ((~trials.correct).sum() + 0.5) / 287
    assert found.as_seen == pytest.approx(binom.cdf(allowed, 286, share), abs=0.015)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "items", "agreement", "target", "near"),
    [
        ("one confidence", 200, 0.97, 0.95, 0.1),
        ("one confidence", 286, 0.98, 0.95, 0.15),
        ("shares of votes", 200, 0.96, 0.92, 0.12),
        ("any confidence", 300, 0.97, 0.95, 0.12),
    ],
)
def test_over_many_calibrations_a_good_jury_is_granted_as_many_as_told(kind, items, agreement, target, near):
    seen = juries(kind, items, agreement, 300)
    observed = np.mean([granted(trials, target) for trials in seen])
    told = np.mean([simulate_grants(trials, target, 0.1, "both", runs=60).as_seen for trials in seen[:120]])
    assert told == pytest.approx(observed, abs=near)  # an estimate from one file is drawn towards a half


@pytest.mark.slow
def test_a_granted_guarantee_that_is_rare_is_told_to_be():
    """Of continuous confidences that mean nothing, only the first 59 count, and 0.97 ** 59 is 0.17."""
    lucky = [trials for trials in juries("any confidence", 300, 0.97, 150) if granted(trials, 0.95)]
    assert len(lucky) > 10
    assert np.mean([simulate_grants(trials, 0.95, 0.1, "both", runs=100).as_seen for trials in lucky]) < 0.5


def test_no_error_seen_does_not_mean_none_to_come():
    trials = Trials(np.full((59, 1), 0.9), np.full((59, 1), True))
    found = simulate_grants(trials, 0.95, 0.1, "both", runs=5000)
    assert found.as_seen == pytest.approx((1 - 0.5 / 60) ** 59, abs=0.03)
    assert found.if_false == pytest.approx(0.95**59, abs=0.012)
    assert found.good_enough


def test_no_verdict_at_all_is_granted_nothing():
    silent = Trials(np.full((80, 2), -1.0), np.zeros((80, 2), dtype=bool))
    found = simulate_grants(silent, 0.9, 0.1, "both")
    assert (found.if_false, found.as_seen, found.good_enough) == (0, 0, False)
    assert "nan" not in found.sentence(0.9)


def test_a_jury_that_seems_worse_than_the_target_would_only_be_granted_a_false_one():
    (trials,) = juries("one confidence", 300, 0.85, 1)
    found = simulate_grants(trials, 0.9, 0.1, "both")
    assert (found.good_enough, found.lucky) == (False, 1.0)
    assert "a guarantee would be false" in found.sentence(0.9)


@pytest.mark.parametrize(
    ("rates", "lucky"), [((0.05, 0.95), 0.05), ((0.04, 0.04), 0.5), ((0.0, 0.0), None), ((0.1, 0.0), 1.0)]
)
def test_the_share_of_false_guarantees_is_that_of_equally_common_juries(rates, lucky):
    found = GrantRates(*rates, 1000)
    assert found.lucky == (None if lucky is None else pytest.approx(lucky))
    assert ("equally common" in found.sentence(0.9)) == (lucky is not None)


@pytest.mark.parametrize("errors", [0, 1, 12, 60])
def test_the_fitted_error_rates_are_those_of_another_optimiser(errors):
    draw = np.random.default_rng(errors)
    x = draw.random(60)
    y = np.zeros(60, dtype=bool)
    y[draw.permutation(60)[:errors]] = True
    z = np.append((x - x.mean()) / x.std(), 0)
    outcome = np.append(y, 0.5)

    def loss(beta):
        linear = beta[0] + beta[1] * z
        return np.sum(np.logaddexp(0, linear) - outcome * linear) + beta[1] ** 2 / 2

    best = minimize(loss, [0, 0], tol=1e-14, options={"gtol": 1e-10}).x
    assert _logistic(x, y) == pytest.approx(1 / (1 + np.exp(-best[0] - best[1] * z[:-1])), abs=1e-6)


def test_one_confidence_has_one_rate_with_half_an_error_more():
    assert _logistic(np.full(40, 0.9), np.arange(40) < 3) == pytest.approx(np.full(40, 3.5 / 41))


def people(errors: int, items: int) -> list[dict[str, object]]:
    return [{"metadata": {"n": n, "document": n // 2, "gold": "FAIL" if n < errors else "PASS"}} for n in range(items)]


def always_pass() -> CascadedJury:
    def judge(case: Case) -> Judgment:
        return Judgment(Status.PASS, confidence=0.9)

    return CascadedJury([Tier("yes", FunctionJudge(judge, name="yes"))])


def test_the_rates_stand_in_the_guarantee_and_go_to_yaml_and_back():
    guarantee = calibrate(always_pass(), people(4, 200), agreement=0.95, delta=0.2).guarantee
    assert guarantee.simulated_runs == 1000
    allowed = most_errors(200, 1 - 0.95, 0.1)[200]
    assert guarantee.granted_if_false == pytest.approx(binom.cdf(allowed, 200, 0.05), abs=0.03)
    assert guarantee.granted_as_seen == pytest.approx(binom.cdf(allowed, 200, 4.5 / 201), abs=0.05)
    assert Guarantee.from_yaml(guarantee.to_yaml()) == guarantee
    assert guarantee.grants.sentence(0.95) in str(guarantee)
    assert calibrate(always_pass(), people(4, 200), agreement=0.95, delta=0.2).guarantee == guarantee


def test_one_case_of_each_group_is_simulated():
    guarantee = calibrate(always_pass(), people(0, 120), agreement=0.95, delta=0.1, groups="document").guarantee
    assert guarantee.n == 60
    assert guarantee.granted_if_false == pytest.approx(0.95**60, abs=0.03)


def test_a_refusal_says_how_often_one_would_be_granted():
    with pytest.raises(CalibrationFailed, match="simulated calibrations") as refused:
        calibrate(always_pass(), people(9, 200), agreement=0.95)
    assert refused.value.grants is not None
    assert 0 < refused.value.grants.if_false < refused.value.grants.as_seen < 0.4
    with pytest.raises(CalibrationFailed, match="too few") as few:
        calibrate(always_pass(), people(0, 40), agreement=0.95)
    assert few.value.grants is None


def test_the_level_bounds_the_rate_for_a_target_near_1():
    trials = Trials(np.full((2400, 1), 0.9), np.full((2400, 1), True))
    found = simulate_grants(trials, 0.999, 0.2, "path", runs=400)
    assert log(0.2) / log(0.999) < 2400
    assert found.if_false == pytest.approx(0.999**2400, abs=0.05)
