"""Exact tests, beside independent implementations."""

from random import Random

import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from jury_adapters.audit.tests_of_shares import effective_counts, holm, share_above, share_below

DRAWS = Random(7)


@pytest.mark.parametrize("_", range(25))
def test_shares_of_independent_cases_have_the_binomial_tail(_):
    n = DRAWS.randint(1, 80)
    hits = DRAWS.randint(0, n)
    limit = DRAWS.choice((0.05, 0.3, 0.5, 0.8, 0.99))
    groups = [(1, 1)] * hits + [(0, 1)] * (n - hits)
    assert share_below(groups, limit) == pytest.approx(stats.binom.cdf(hits, n, limit), abs=1e-9)
    assert share_above(groups, limit) == pytest.approx(stats.binom.sf(hits - 1, n, limit), abs=1e-9)


@pytest.mark.parametrize("n", [1, 2, 7, 30])
def test_holm(n):
    values = [DRAWS.random() ** 3 for _ in range(n)]
    assert holm(values) == pytest.approx(list(multipletests(values, method="holm")[1]))


def test_without_cases_nothing_is_shown():
    assert share_below([], 0.8) == share_above([(0, 0)], 0.2) == 1.0
    assert effective_counts([(0, 0)]) == (0, 0)
    assert holm([]) == []


def test_cases_of_one_group_are_worth_less():
    alone = share_below([(0, 1)] * 5, 0.8)
    together = share_below([(0, 5)], 0.8)
    assert alone < 0.001 < 0.1 < together


def test_the_tests_keep_their_level_with_groups():
    """Of shares that are just at the limit, at most 5 % are called below it, although cases of a group are alike."""
    draws, called = Random(3), 0
    for _ in range(400):
        groups = []
        for _ in range(40):
            likely = draws.choice((1.0, 0.6))  # 0.8 on average
            groups.append((sum(draws.random() < likely for _ in range(4)), 4))
        called += share_below(groups, 0.8) <= 0.05
    assert called <= 0.05 * 400 + 10
