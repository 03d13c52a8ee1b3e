"""The guarantee of calibrated thresholds: exact bounds, the reference tables, and simulations with known risk."""

import gzip
import json
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import comb, inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom
from support.examples import examples
from support.panels import DATA, PANELS, SMALL, fold

from jury_adapters.calibration.binomial import binomial_cdf, fewest_items, most_errors, upper_bound
from jury_adapters.calibration.reliabilities import fit_reliabilities
from jury_adapters.calibration.thresholds import Method, Trials, choose_thresholds, fewest_labels
from jury_adapters.core.errors import ConfigurationError

pytestmark = pytest.mark.corpus

METHODS: tuple[Method, ...] = ("path", "per_tier", "both")


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 100))
def test_the_binomial_tail_is_the_sum_in_rational_numbers(n: int, k: int, hundredths: int) -> None:
    p = Fraction(hundredths, 100)
    exact = sum(comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(min(k, n) + 1))
    assert binomial_cdf(k, n, hundredths / 100) == pytest.approx(float(exact), abs=1e-12, rel=1e-10)


@pytest.mark.parametrize(
    ("errors", "n", "delta", "bound"),
    [  # published tables of the Clopper-Pearson limits; without errors it is 1 - delta ** (1 / n)
        (0, 30, 0.1, 1 - 0.1 ** (1 / 30)),
        (0, 10, 0.05, 0.2588656),
        (1, 10, 0.05, 0.3941633),
        (5, 100, 0.025, 0.1128349),
        (10, 20, 0.025, 0.7280422),
        (7, 7, 0.05, 1.0),
    ],
)
def test_upper_bounds_are_those_of_clopper_and_pearson(errors: int, n: int, delta: float, bound: float) -> None:
    assert upper_bound(errors, n, delta) == pytest.approx(bound, abs=1e-6)


@given(st.integers(1, 600), st.floats(0.01, 0.5), st.floats(0.01, 0.3))
@examples(40)
def test_the_test_and_the_bound_are_the_same_decision(n: int, alpha: float, delta: float) -> None:
    allowed = int(most_errors(n, alpha, delta)[n])
    if allowed >= 0:
        assert binomial_cdf(allowed, n, alpha) <= delta
        assert upper_bound(allowed, n, delta) <= alpha + 1e-9
    if allowed < n:
        assert binomial_cdf(allowed + 1, n, alpha) > delta
    assert (allowed >= 0) == (n >= fewest_items(alpha, delta))


def most_errors_by_definition(n: int, alpha: float, delta: float) -> list[int]:
    """Every entry on its own, from the exact tails."""
    return [next(k for k in range(items + 1) if binomial_cdf(k, items, alpha) > delta) - 1 for items in range(n + 1)]


@pytest.mark.slow
@given(
    st.integers(0, 150),
    st.one_of(st.floats(1e-12, 1 - 1e-12), st.integers(1, 19).map(lambda part: part / 20)),
    st.one_of(st.floats(1e-12, 1 - 1e-12), st.integers(1, 7).map(lambda part: part / 8)),  # ties with the tails
)
@examples(150)
def test_the_table_is_that_of_the_definition(n: int, alpha: float, delta: float) -> None:
    assert most_errors(n, alpha, delta).tolist() == most_errors_by_definition(n, alpha, delta)


@pytest.mark.parametrize(("alpha", "delta"), [(1, 0.1), (0, 0.1), (0.5, 1e-300), (1e-12, 0.5), (1 - 2**-53, 0.5)])
def test_the_table_is_that_of_the_definition_at_the_ends(alpha: float, delta: float) -> None:
    assert most_errors(40, alpha, delta).tolist() == most_errors_by_definition(40, alpha, delta)


@pytest.mark.slow
@pytest.mark.parametrize(("alpha", "delta"), [(0.1, 0.1), (0.02, 0.05), (0.44, 0.0125)])
def test_large_tables_are_exact_too(alpha: float, delta: float) -> None:
    items = np.arange(300_001)
    allowed = most_errors(300_000, alpha, delta)
    assert (binom.cdf(allowed, items, alpha) <= delta).all()
    assert (binom.cdf(allowed + 1, items, alpha)[1:] > delta).all()


def test_large_samples_are_exact_too() -> None:
    assert binomial_cdf(5_000, 100_000, 0.05) == pytest.approx(0.5037624, abs=1e-7)
    assert upper_bound(0, 100_000, 0.1) == pytest.approx(1 - 0.1**1e-5, rel=1e-6)


@pytest.mark.parametrize("wrong", [0, 1, -0.1, True])
def test_levels_lie_between_0_and_1(wrong: float) -> None:
    with pytest.raises(ConfigurationError, match="between 0 and 1"):
        upper_bound(1, 10, wrong)


@dataclass(frozen=True)
class Simulated:
    holds: float
    coverage: float
    refused: float


def simulate(population: Trials, n: int, alpha: float, method: Method, draws: int, delta: float = 0.1) -> Simulated:
    """The items are the population: calibrate on draws with replacement, then count over all of them."""
    draw = np.random.default_rng(0)
    size = len(population.confidences)
    outcomes = []
    for _ in range(draws):
        found, _by = choose_thresholds(population.take(draw.integers(0, size, n)), alpha, delta, method)
        outcomes.append(population.outcome(found.thresholds))
    holds = [outcome.errors <= alpha * outcome.decided for outcome in outcomes]
    coverage = [outcome.decided / outcome.items for outcome in outcomes]
    return Simulated(float(np.mean(holds)), float(np.mean(coverage)), float(np.mean(np.array(coverage) == 0)))


@cache
def llmbar() -> Trials:
    """PaLM2, then PaLM2 + ChatGPT + LLaMA2, then GPT-4; the confidence is the vote share over prompts and orders."""
    with gzip.open(DATA / "cascades" / "llmbar_orders.jsonl.gz", "rt") as lines:
        items = [json.loads(line) for line in lines]
    confidences, correct = [], []
    for item in items:
        tiers = []
        for models in (("PaLM2",), ("PaLM2", "ChatGPT", "LLaMA2"), ("GPT-4",)):
            cast = "".join("".join(item["votes"].get(model, [])) for model in models)
            a, b = cast.count("A"), cast.count("B")
            tiers.append((max(a, b) / (a + b), ("A" if a >= b else "B") == item["gold"]) if a + b else (-1.0, False))
        confidences.append([confidence for confidence, _ in tiers])
        correct.append([right for _, right in tiers])
    return Trials(np.array(confidences), np.array(correct))


@cache
def codefeedback() -> Trials:
    """Three small jurors, then with gemini-2.5-pro, then all 14; the naive-Bayes posterior fitted on the other fold."""
    confidences, correct = [], []
    for panel in (SMALL[:3], (*SMALL[:3], "gemini-2.5-pro"), PANELS["all14"]):
        votes = fold(1).panel(panel)
        posterior = fit_reliabilities(fold(0).panel(panel)).posterior(votes)
        confidences.append(np.where(votes.answered.any(axis=1), posterior.max(axis=1), -1))
        correct.append(posterior.argmax(axis=1) == votes.gold)
    return Trials(np.stack(confidences, axis=1), np.stack(correct, axis=1))


# Coverage and P(the guarantee holds): path, per tier, both
LLMBAR = {
    0.2: {"path": (0.846, 0.983), "per_tier": (0.986, 0.998), "both": (0.985, 1.0)},
    0.15: {"path": (0.696, 0.935), "per_tier": (0.880, 1.0), "both": (0.858, 0.998)},
    0.1: {"path": (0.176, 0.970), "per_tier": (0.735, 0.975), "both": (0.698, 0.988)},
}
CODEFEEDBACK = {
    0.08: {"path": (0.811, 0.935), "per_tier": (0.856, 0.990), "both": (0.857, 0.960)},
    0.06: {"path": (0.336, 0.935), "per_tier": (0.677, 0.980), "both": (0.625, 0.990)},
    0.05: {"path": (0.087, 0.955), "per_tier": (0.402, 1.0), "both": (0.298, 0.995)},
}


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("alpha", LLMBAR)
def test_llmbar_keeps_the_guarantee_at_the_coverage_of_the_reference(alpha: float, method: Method) -> None:
    found = simulate(llmbar(), 300, alpha, method, draws=400)
    coverage, holds = LLMBAR[alpha][method]
    assert found.holds >= 0.9 - 2 * (0.9 * 0.1 / 400) ** 0.5
    assert found.coverage == pytest.approx(coverage, abs=0.001)  # the same draws as the reference
    assert found.holds == pytest.approx(holds, abs=0.001)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("alpha", CODEFEEDBACK)
def test_codefeedback_keeps_the_guarantee_at_the_coverage_of_the_reference(alpha: float, method: Method) -> None:
    found = simulate(codefeedback(), 1000, alpha, method, draws=200)
    coverage, holds = CODEFEEDBACK[alpha][method]
    assert found.holds >= 0.9 - 2 * (0.9 * 0.1 / 200) ** 0.5
    assert found.coverage >= coverage - 0.03
    assert found.coverage == pytest.approx(coverage, abs=0.02)
    assert found.holds == pytest.approx(holds, abs=0.03)


def made_up(kind: str, size: int = 8_000) -> Trials:
    """A population with a known risk at every confidence, for tiers whose confidence means something or not."""
    draw = np.random.default_rng(7)
    sure = draw.beta(6, 2, (size, 3)) * 0.5 + 0.5
    risk = {
        "honest": 1 - sure,
        "over-confident": np.clip(3 * (1 - sure), 0, 0.5),
        "backwards": 0.6 * (sure - 0.5),  # the surer, the more often wrong
        "meaningless": np.full_like(sure, 0.12),
        "one bad tier": np.stack([np.full(size, 0.4), 1 - sure[:, 1], (1 - sure[:, 2]) / 2], axis=1),
        "coarse": 1 - np.round(sure, 1),
        "at the edge": np.full_like(sure, 0.1 + 1e-3),  # the guarantee fails as soon as anything is decided
    }[kind]
    confidences = np.round(sure, 1) if kind == "coarse" else sure
    return Trials(confidences, draw.random(sure.shape) >= risk)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "kind", ["honest", "over-confident", "backwards", "meaningless", "one bad tier", "coarse", "at the edge"]
)
def test_the_guarantee_holds_at_the_stated_rate_whatever_the_confidences_mean(kind: str, method: Method) -> None:
    draws, delta = 250, 0.1
    found = simulate(made_up(kind), 400, 0.1, method, draws, delta)
    assert found.holds >= 1 - delta - 2 * (delta * (1 - delta) / draws) ** 0.5
    if kind == "honest":
        assert found.coverage > 0.2


@pytest.mark.slow
def test_other_deltas_hold_too() -> None:
    for delta in (0.05, 0.25):
        found = simulate(made_up("meaningless"), 300, 0.1, "both", 300, delta)
        assert found.holds >= 1 - delta - 2 * (delta * (1 - delta) / 300) ** 0.5


@given(st.integers(0, 2**32 - 1), st.sampled_from(METHODS), st.floats(0.03, 0.4), st.integers(1, 4))
@examples(60)
def test_what_is_chosen_passes_its_own_test(seed: int, method: Method, alpha: float, tiers: int) -> None:
    draw = np.random.default_rng(seed)
    sure = np.round(draw.random((150, tiers)), 2)
    sure[draw.random(sure.shape) < 0.1] = -1
    trials = Trials(sure, (draw.random(sure.shape) < np.abs(sure) ** 0.3) & (sure >= 0))
    found, _by = choose_thresholds(trials, alpha, 0.1, method)
    assert found.decided == sum(found.per_tier) <= found.items
    silent = [threshold == inf for threshold in found.thresholds]
    assert not np.array(found.per_tier)[silent].any()
    if found.decided:
        assert found.decided >= 30
        assert found.errors / found.decided <= alpha


def test_a_threshold_is_reached_by_items_exactly_at_it() -> None:
    trials = Trials(np.array([[0.9]] * 50 + [[0.5]] * 50), np.array([[True]] * 50 + [[False]] * 50))
    assert choose_thresholds(trials, 0.1, 0.1, "per_tier")[0].thresholds == (0.9,)
    path, by = choose_thresholds(trials, 0.1, 0.1, "path")
    assert (path.decided, by) == (50, "path")
    assert 0.5 < path.thresholds[0] <= 0.9


def test_nothing_passes_and_too_few() -> None:
    hopeless = Trials(np.full((200, 2), 0.9), np.zeros((200, 2), dtype=bool))
    for method in METHODS:
        assert choose_thresholds(hopeless, 0.1, 0.1, method)[0].thresholds == (inf, inf)
    assert fewest_labels(0.1, 0.1, "path", 3) == 30
    assert fewest_labels(0.05, 0.1, "both", 3) == 59
    empty = Trials(np.empty((0, 2)), np.empty((0, 2), dtype=bool))
    assert choose_thresholds(empty, 0.1, 0.1)[0].decided == 0
    with pytest.raises(ConfigurationError, match="Known: both"):
        choose_thresholds(hopeless, 0.1, 0.1, "pth")  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="one shape"):
        Trials(np.zeros((2, 1)), np.zeros((1, 2), dtype=bool))
