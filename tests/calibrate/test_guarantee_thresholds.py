"""The choice of a threshold: exact tests in a fixed order, on arrays."""

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from jury_adapters.calibrate.thresholds import PATH, choose, decider

TIERS = st.integers(1, 4)


def trials(seed: int, tiers: int, cases: int = 130) -> tuple[np.ndarray, np.ndarray]:
    """Return coarse confidences with ties and gaps, and votes that are right more often where they are sure."""
    random = np.random.default_rng(seed)
    sure = random.random((cases, tiers)).round(2) * 0.6 + 0.4
    sure[random.random(sure.shape) < 0.1] = -1
    return sure, (random.random(sure.shape) < np.abs(sure) ** 0.3) & (sure >= 0)


def by_hand(sure: np.ndarray, right: np.ndarray, threshold: float) -> tuple[int, int]:
    """Return how many cases are decided, by the first tier that reaches the threshold, and how many wrongly."""
    outcomes = []
    for row, good in zip((sure >= threshold - 1e-9).tolist(), right.tolist(), strict=True):
        outcomes += [good[row.index(True)]] if True in row else []
    return len(outcomes), outcomes.count(False)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), TIERS, st.sampled_from([0.04, 0.1, 0.15, 0.2, 0.3, 0.4]), st.floats(0.01, 0.25))
def test_what_is_chosen_is_what_the_definition_says(seed, tiers, alpha, delta):
    sure, right = trials(seed, tiers)
    sequences = [(0, tiers, delta)]
    if tiers > 1:
        later = [(tier, tier + 1, delta / 3 / (tiers - 1)) for tier in range(1, tiers)]
        sequences = [(0, tiers, delta / 2), *later, (0, 1, delta / 6)]
    best = None
    for first, end, level in sequences:
        passed = None
        for threshold in PATH.tolist():
            decided, wrong = by_hand(sure[:, first:end], right[:, first:end], threshold)
            if decided < max(30, np.log(level) / np.log1p(-alpha), len(sure) / 4):
                continue
            if scipy.stats.binom.cdf(wrong, decided, alpha) > level:
                break
            least = min(one for one in sure[:, first:end].ravel() if one >= threshold - 1e-9)
            strictest = max(one for one in PATH.tolist() if one <= least + 1e-9)
            passed = (first, end - 1, strictest, decided, wrong, level)
        if passed and (best is None or passed[3] > best[3]):
            best = passed
    found = choose(sure, right, alpha, delta)
    assert (found is None) == (best is None)
    if found and best:
        assert found[:5] == best[:5]
        exact = scipy.stats.binomtest(found.errors, found.decided, alternative="less").proportion_ci(
            1 - best[5], "exact"
        )
        assert (found.bound, found.bound <= alpha + 1e-9) == (pytest.approx(exact.high), True)
        by = decider(sure, found)
        assert ((by >= 0).sum(), (~right[by >= 0, by[by >= 0]]).sum()) == (found.decided, found.errors)


def one_tier(*parts: tuple[float, int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return a tier of parts: a confidence, so many right cases, so many wrong ones."""
    sure = np.concatenate([np.full(right + wrong, confidence) for confidence, right, wrong in parts])
    right = np.concatenate([np.arange(right + wrong) < right for _, right, wrong in parts])
    return sure[:, None], right[:, None]


ONE_TIER = [
    ([(2 / 3, 60, 0)], 0.1, 60),  # a confidence exactly at a threshold of votes
    ([(0.9, 50, 0), (0.5, 0, 50)], 0.1, 50),
    ([(0.9, 150, 0), (0.8, 40, 30), (0.7, 300, 0)], 0.1, 150),  # nothing behind a failure, however good it looks
    ([(1.0, 3, 2), (0.9, 95, 0)], 0.1, 100),  # a few errors at the top, before enough is decided, end nothing
    ([(0.49, 500, 0)], 0.1, None),  # below a half nothing is tested
    ([(0.9, 29, 0)], 0.2, None),  # 30 decided cases at least
    ([(0.9, 44, 0)], 0.05, None),
    ([(0.9, 45, 0)], 0.05, 45),  # 0.95 ** 45 <= 0.1 < 0.95 ** 44
    ([(0.9, 0, 200)], 0.1, None),
]


def test_one_tier():
    for parts, alpha, decided in ONE_TIER:
        found = choose(*one_tier(*parts), alpha, 0.1)
        assert (found and found.decided) == decided, parts


def test_a_tier_that_spoils_the_cascade_is_not_asked():
    bad, right_of_bad = one_tier((1.0, 70, 30))
    good, right = one_tier((0.9, 100, 0))
    for places, asked in (([0, 1], 1), ([1, 0], 0)):  # behind the good one, the bad one is never reached
        sure, correct = (np.hstack([pair[place] for place in places]) for pair in ((bad, good), (right_of_bad, right)))
        found = choose(sure, correct, 0.1, 0.1)
        assert (found is not None, found.first, found.decided, found.errors) == (True, asked, 100, 0)


@pytest.mark.parametrize(
    ("errors", "decided", "delta", "bound"),
    [(0, 30, 0.1, 1 - 0.1 ** (1 / 30)), (5, 100, 0.025, 0.1128349)],  # the second is in published tables
)
def test_the_bound_is_that_of_clopper_and_pearson(errors, decided, delta, bound):
    found = choose(*one_tier((0.9, decided - errors, errors)), 0.2, delta)
    assert (found is not None, found.bound) == (True, pytest.approx(bound, abs=1e-6))
