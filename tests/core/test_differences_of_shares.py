"""Intervals and tests of the difference of two shares."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import confint_proportions_2indep

from jury_adapters.core.statistics import mcnemar_exact, paired_interval, unpaired_interval, wilson

FEW = st.integers(0, 60)
SHARES = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(FEW, FEW)
def test_mcnemars_test_is_that_of_statsmodels(lost, won):
    expected = mcnemar([[3, lost], [won, 5]], exact=True).pvalue if lost + won else 1.0
    assert mcnemar_exact(lost, won) == pytest.approx(expected, abs=1e-9)
    assert mcnemar_exact(lost, won) == mcnemar_exact(won, lost)


@pytest.mark.parametrize(("lost", "won"), [(0, 0), (0, 1), (0, 1100), (4000, 4300), (50_000, 50_700)])
def test_mcnemars_test_of_many_cases(lost, won):
    expected = mcnemar([[3, lost], [won, 5]], exact=True).pvalue if lost + won else 1.0
    assert mcnemar_exact(lost, won) == pytest.approx(expected, abs=1e-6)


@pytest.mark.slow
@given(SHARES, SHARES)
def test_the_unpaired_interval_is_that_of_statsmodels(first, second):
    expected = confint_proportions_2indep(*second, *first, method="newcomb", compare="diff")
    assert unpaired_interval(*first, *second) == pytest.approx(expected, abs=1e-6)
    low, high = unpaired_interval(*second, *first)
    assert unpaired_interval(*first, *second) == pytest.approx((-high, -low))


def test_the_unpaired_interval_is_newcombes():
    # R. G. Newcombe (1998), table II, method 10: 56 of 70 against 48 of 80, and 9 of 10 against 3 of 10.
    assert unpaired_interval(48, 80, 56, 70) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert unpaired_interval(3, 10, 9, 10) == pytest.approx((0.1705, 0.8090), abs=5e-5)


def test_an_empty_sample_may_have_any_share():
    assert unpaired_interval(0, 0, 0, 0) == pytest.approx((-0.7071, 0.7071), abs=1e-4)
    low, high = unpaired_interval(5, 5, 0, 0)
    assert low < -0.5 < 0 <= high


def test_pairs_that_always_agree_have_an_interval_around_zero():
    low, high = paired_interval(30, 0, 0, 20)
    assert low < 0 < high
    assert low == pytest.approx(-high)
    assert high < wilson(30, 50)[1] - wilson(30, 50)[0]
