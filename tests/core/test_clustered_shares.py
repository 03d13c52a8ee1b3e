"""Intervals of shares and of differences whose cases come in groups."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint

from jury_adapters import ConfigurationError
from jury_adapters.core.clustered_shares import (
    GroupSum,
    clustered_paired_interval,
    clustered_unpaired_interval,
    clustered_wilson,
    effective_cases,
    intraclass_correlation,
    sign_flip_test,
)
from jury_adapters.core.incomplete_beta import student_quantile
from jury_adapters.core.statistics import paired_interval, unpaired_interval, wilson

SHARES = st.lists(st.integers(0, 12).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), max_size=25)
PAIRS = st.lists(st.tuples(*[st.integers(0, 6)] * 4), max_size=20)


def design_effect(groups):
    """Return what an ordinary regression with standard errors by cluster says of the mean of these cases."""
    values = np.concatenate([[1.0] * hits + [0.0] * (cases - hits) for hits, cases in groups])
    clusters = np.repeat(np.arange(len(groups)), [cases for _, cases in groups])
    model = sm.OLS(values, np.ones(len(values)))
    robust = model.fit(cov_type="cluster", cov_kwds={"groups": clusters})
    return float(robust.bse[0] ** 2 / model.fit().bse[0] ** 2)


@pytest.mark.parametrize(("hits", "n"), [(0, 10), (7, 10), (10, 10), (1, 1), (97, 100), (499, 1000)])
def test_with_one_case_a_group_it_is_wilsons_interval(hits, n):
    alone = [(1, 1)] * hits + [(0, 1)] * (n - hits)
    assert clustered_wilson(alone) == wilson(hits, n)
    assert clustered_wilson(alone) == pytest.approx(proportion_confint(hits, n, method="wilson"), abs=1e-9)


@pytest.mark.parametrize(
    "groups",
    [
        [(20, 20), (1, 20), (18, 20), (3, 20), (19, 20), (0, 20)],
        [(40, 40), (0, 30), (9, 10), (2, 10), (5, 5), (1, 4), (1, 1)],
        [(10, 10)] * 9 + [(0, 10)] * 6,
    ],
)
def test_where_groups_differ_much_the_design_effect_is_that_of_a_regression_with_clusters(groups):
    n, hits = sum(cases for _, cases in groups), sum(hits for hits, _ in groups)
    effective = effective_cases([GroupSum(cases, hits, hits) for hits, cases in groups])
    kish = n**2 / sum(cases**2 for _, cases in groups)
    factor = (t.ppf(0.975, n - 1) / t.ppf(0.975, kish - 1)) ** 2
    assert effective == pytest.approx(n / design_effect(groups) * factor, rel=1e-9)
    assert clustered_wilson(groups) == pytest.approx(
        proportion_confint(hits / n * effective, effective, method="wilson"), abs=1e-9
    )


def test_by_hand_where_no_case_differs():
    # All alike: rho is 1, so 40 groups of 5 are 40 cases; 200 and 40 groups leave 199 and 39 degrees of freedom.
    assert effective_cases([GroupSum(5, 5, 5)] * 40) == pytest.approx(40 * (1.971957 / 2.022691) ** 2, rel=1e-6)
    assert clustered_wilson([(5, 5)] * 40)[0] == pytest.approx(0.908, abs=0.001)
    assert clustered_wilson([(5, 5)] * 40)[0] < wilson(40, 40)[0] < wilson(200, 200)[0]


def test_one_failing_case_hardly_tells_how_alike_the_cases_of_a_group_are():
    all_pass, one_fails = [(20, 20)] * 100, [(20, 20)] * 99 + [(19, 20)]
    assert clustered_wilson(one_fails)[0] < clustered_wilson(all_pass)[0] + 0.01
    assert wilson(1999, 2000)[0] > 0.997


def test_scattered_failures_leave_the_interval_nearly_as_it_is_without_groups():
    low, high = clustered_wilson([(4, 5)] * 40)
    alone = wilson(160, 200)
    assert alone[0] - 0.02 < low < alone[0]
    assert alone[1] < high < alone[1] + 0.02


@given(SHARES)
def test_it_is_never_narrower_than_without_groups_and_a_share_on_either_side(groups):
    hits, n = sum(hits for hits, _ in groups), sum(cases for _, cases in groups)
    low, high = clustered_wilson(groups)
    alone = wilson(hits, n)
    assert 0 <= low <= alone[0] + 1e-9
    assert alone[1] - 1e-9 <= high <= 1


@given(SHARES)
def test_it_is_the_same_for_failures_and_in_any_order(groups):
    low, high = clustered_wilson(groups)
    assert clustered_wilson([(cases - hits, cases) for hits, cases in groups]) == pytest.approx((1 - high, 1 - low))
    assert clustered_wilson(sorted(groups)) == pytest.approx((low, high))


@pytest.mark.parametrize(("groups", "least"), [([], 1.0), ([(0, 0)], 1.0), ([(5, 5)], 0.95), ([(9, 20)], 0.95)])
def test_without_cases_or_with_one_group_it_says_next_to_nothing(groups, least):
    low, high = clustered_wilson(groups)
    assert high - low >= least


@pytest.mark.parametrize("groups", [[(2, 1)], [(-1, 3)], [(1, 0)]])
def test_impossible_counts_are_refused(groups):
    with pytest.raises(ConfigurationError, match="hits"):
        clustered_wilson(groups)


@pytest.mark.parametrize("counts", [(36, 2, 12, 0), (0, 0, 0, 5), (5, 0, 0, 0), (1, 0, 1, 0), (10, 3, 4, 9)])
def test_with_one_pair_a_group_it_is_newcombes_interval(counts):
    kept, lost, won, missed = counts
    alone = [(1, 0, 0, 0)] * kept + [(0, 1, 0, 0)] * lost + [(0, 0, 1, 0)] * won + [(0, 0, 0, 1)] * missed
    assert clustered_paired_interval(alone) == paired_interval(*counts)


@given(PAIRS)
def test_the_paired_interval_is_never_narrower_than_newcombes_and_turns_with_the_runs(groups):
    low, high = clustered_paired_interval(groups)
    turned = clustered_paired_interval([(kept, won, lost, missed) for kept, lost, won, missed in groups])
    assert turned == pytest.approx((-high, -low))
    if any(map(any, groups)):
        alone = paired_interval(*(sum(numbers) for numbers in zip(*groups, strict=True)))
        assert -1 <= low <= alone[0] <= alone[1] <= high <= 1
    else:
        assert (low, high) == (-1, 1)


@pytest.mark.slow
@given(SHARES, SHARES)
def test_the_unpaired_interval_is_never_narrower_than_newcombes_and_turns_with_the_runs(first, second):
    low, high = clustered_unpaired_interval(first, second)
    assert clustered_unpaired_interval(second, first) == pytest.approx((-high, -low))
    (hits1, n1), (hits2, n2) = ((sum(hits for hits, _ in one), sum(n for _, n in one)) for one in (first, second))
    alone = unpaired_interval(hits1, n1, hits2, n2)
    assert -1 <= low <= alone[0] + 1e-12
    assert alone[1] - 1e-12 <= high <= 1
    if all(n <= 1 for _, n in first + second):
        assert (low, high) == alone


@pytest.mark.slow
def test_the_unpaired_interval_holds_the_difference_of_groups_that_are_alike():
    """95 % of batches or a little more; without groups it is far too narrow."""
    random = np.random.default_rng(1)
    held = alone = 0
    for _ in range(1000):
        samples = [[(int(n), n) if n else (0, 4) for n in 4 * random.binomial(1, 0.7, 30)] for _ in "ab"]
        low, high = clustered_unpaired_interval(*samples)
        held += low <= 0 <= high
        (hits1, n1), (hits2, n2) = ((sum(hits for hits, _ in one), sum(n for _, n in one)) for one in samples)
        low, high = unpaired_interval(hits1, n1, hits2, n2)
        alone += low <= 0 <= high
    assert 940 <= held <= 985
    assert alone < 800


def test_a_change_in_few_documents_is_wide_and_one_that_is_scattered_is_not():
    together, scattered = [(0, 0, 5, 0)] * 4 + [(5, 0, 0, 0)] * 36, [(4, 0, 1, 0)] * 20 + [(5, 0, 0, 0)] * 20
    alone = paired_interval(180, 0, 20, 0)
    assert (
        clustered_paired_interval(together)[0] < 0 < alone[0] < 0.1 < alone[1] < clustered_paired_interval(together)[1]
    )
    assert clustered_paired_interval(scattered)[0] > 0


def test_impossible_pairs_are_refused():
    with pytest.raises(ConfigurationError, match="cannot be negative"):
        clustered_paired_interval([(1, -1, 0, 0)])


@given(st.integers(0, 60), st.integers(0, 60))
def test_with_one_case_a_group_the_test_is_mcnemars(lost, won):
    expected = mcnemar([[0, lost], [won, 0]], exact=True).pvalue if lost + won else 1.0
    assert sign_flip_test([1] * won + [-1] * lost) == pytest.approx(expected, abs=1e-9)


@given(st.lists(st.integers(-6, 6), max_size=9))
def test_the_test_counts_every_way_to_flip_the_groups(differences):
    totals = [
        abs(sum(sign * difference for sign, difference in zip(signs, differences, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    expected = Fraction(sum(total >= abs(sum(differences)) for total in totals), len(totals))
    assert sign_flip_test(differences) == pytest.approx(float(expected), abs=1e-12)


def test_many_groups_are_approximated_and_agree_with_exact_counting():
    found = sign_flip_test([1] * 1080 + [-1] * 970)  # 2,050 groups
    assert found == pytest.approx(mcnemar([[0, 970], [1080, 0]], exact=True).pvalue, abs=0.002)


def test_few_groups_with_many_cases_are_counted():
    assert sign_flip_test([10**9, 10**9]) == 0.5
    assert sign_flip_test([10**9 + 7, -3, 10**8, 5, 1]) == 2 * 3 / 2**5  # of -3, 5 and 1, three of eight ways reach 3


@pytest.mark.parametrize("freedom", [1, 1.3, 2, 4.7, 9, 39, 199.5, 12345, 1e6])
def test_the_quantile_is_that_of_scipy(freedom):
    assert student_quantile(freedom) == pytest.approx(t.ppf(0.975, freedom), rel=1e-9)


def test_intraclass_correlation_is_the_correlation_of_all_pairs_of_a_group():
    groups = [[1, 1, 0], [0, 0], [1], [1, 0, 1, 1]]
    found = intraclass_correlation([GroupSum(len(group), sum(group), sum(group)) for group in groups])
    pairs = [pair for group in groups for pair in itertools.permutations(group, 2)]
    mean = sum(map(sum, groups)) / 10
    expected = sum((a - mean) * (b - mean) for a, b in pairs) / len(pairs) / (mean * (1 - mean))
    assert found.correlation == pytest.approx(max(0.0, expected))
    assert found.size == pytest.approx((9 + 4 + 1 + 16) / 10)
    assert found.options == f"--group-size 3 --icc {found.correlation:.2g}"


@pytest.mark.parametrize("groups", [[], [(5, 3)], [(1, 1), (1, 0)], [(4, 4), (3, 3)]])
def test_intraclass_correlation_is_unknown_without_pairs_or_differences(groups):
    assert intraclass_correlation([GroupSum(cases, hits, hits) for cases, hits in groups]) is None


@pytest.mark.parametrize("correlation", [0.1, 0.5])
def test_intraclass_correlation_has_no_bias_of_caution(correlation):
    """Beta-binomial groups of a known correlation."""
    random, size = np.random.default_rng(4), 6
    scale = 1 / correlation - 1
    hits = random.binomial(size, random.beta(0.7 * scale, 0.3 * scale, 20_000)).tolist()
    found = intraclass_correlation([GroupSum(size, one, one) for one in hits])
    assert found.correlation == pytest.approx(correlation, abs=0.02)
