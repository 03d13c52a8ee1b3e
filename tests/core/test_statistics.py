"""Intervals of shares, kappa of two raters, and verdicts against human labels."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from jury_adapters.core.statistics import Score, cohen_kappa, fisher_less, wilson

DRAWS = Random(7)


@pytest.mark.parametrize(
    ("successes", "total", "low", "high"),
    [(0, 0, 0.0, 1.0), (0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (5, 10, 0.2366, 0.7634), (81, 263, 0.2553, 0.3662)],
)  # values of Newcombe (1998), table I, and the closed form
def test_wilson_interval(successes: int, total: int, low: float, high: float):
    assert wilson(successes, total) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.floats(0, n), st.just(n))))
def test_the_interval_is_a_share_on_either_side_of_its_own(observed):
    hits, n = observed
    low, high = wilson(hits, n)
    assert 0 <= low <= hits / n <= high <= 1


@given(st.dictionaries(st.tuples(st.sampled_from("ab"), st.sampled_from("ab")), st.integers(0, 50)))
def test_kappa_is_none_or_at_most_one_and_the_same_from_both_sides(met):
    kappa = cohen_kappa(met)
    assert kappa == cohen_kappa({(b, a): n for (a, b), n in met.items()})
    assert kappa is None or -1 <= kappa <= 1


@pytest.mark.parametrize("met", [{}, {("a", "a"): 5}])
def test_kappa_is_undefined_where_nothing_varies(met):
    assert cohen_kappa(met) is None


def test_scores():
    score = Score()
    for truth, said in (("PASS", "PASS"), ("PASS", "PASS"), ("PASS", "FAIL"), ("FAIL", "FAIL"), ("FAIL", None)):
        score.add(truth, said)
    assert (score.cases, score.decided) == (5, 4)
    assert score.coverage == pytest.approx(4 / 5)
    assert score.accuracy == pytest.approx(3 / 4)
    # p = 3/4, n = 4, z = 1.959964: (p + z²/2n ± z sqrt(p(1 - p)/n + z²/4n²)) / (1 + z²/n)
    assert score.accuracy_interval == pytest.approx((0.300642, 0.954413), abs=1e-5)
    assert score.balanced_accuracy == pytest.approx((2 / 3 + 1 / 1) / 2)
    assert (score.recall("PASS"), score.recall("FAIL")) == (pytest.approx(2 / 3), 1.0)
    assert score.kappa == pytest.approx((3 / 4 - (3 * 2 + 1 * 2) / 16) / (1 - (3 * 2 + 1 * 2) / 16))


def test_nothing_to_compare_is_no_score():
    empty = Score()
    assert (empty.coverage, empty.accuracy, empty.accuracy_interval, empty.balanced_accuracy, empty.kappa) == (
        None,
    ) * 5
    undecided = Score()
    undecided.add("PASS", None)
    assert (undecided.coverage, undecided.accuracy, undecided.balanced_accuracy) == (0.0, None, None)
    same = Score()
    same.add("PASS", "PASS")
    assert (same.kappa, same.recall("FAIL")) == (None, None)


def test_one_item_has_no_kappa():
    assert cohen_kappa({("PASS", "FAIL"): 1}) is None
    assert cohen_kappa({("PASS", "FAIL"): 1, ("FAIL", "FAIL"): 1}) == 0.0


@pytest.mark.parametrize("_", range(25))
def test_fisher_agrees_with_scipy(_):
    n, other = DRAWS.randint(1, 60), DRAWS.randint(1, 200)
    hits, other_hits = DRAWS.randint(0, n), DRAWS.randint(0, other)
    table = [[hits, n - hits], [other_hits, other - other_hits]]
    assert fisher_less(hits, n, other_hits, other) == pytest.approx(stats.fisher_exact(table, "less").pvalue, abs=1e-9)
