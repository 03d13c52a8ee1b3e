"""Confidence intervals for shares, and for differences between shares, of cases that come in groups.

Cases of one group (questions about one document, answers to one user) are correlated, so they carry less information
than the same number of independent cases. All intervals are based on the number of *effective* cases: the number of
independent cases with the same information.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import erfc, sqrt
from typing import NamedTuple, TypeAlias

from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.incomplete_beta import student_quantile
from jury_adapters.core.statistics import combined_interval, paired_interval, wilson

PairCounts: TypeAlias = tuple[int, int, int, int]
"""Numbers of cases that pass both times, only the first time, only the second time, and neither time."""


class GroupSum(NamedTuple):
    """Sums over the cases of one group.

    Attributes:
        cases: number of cases.
        total: sum of their values.
        squares: sum of the squares of their values.
    """

    cases: int
    total: float
    squares: float


def clustered_wilson(groups: Iterable[tuple[int, int]], confidence: float = 0.95) -> tuple[float, float]:
    """Return the interval of a share of cases that come in groups.

    It is Wilson's interval for the number of :func:`effective_cases`. It is never narrower than the interval for
    ungrouped cases, and equal to it if each case is its own group. With a single group it says almost nothing.

    Args:
        groups: the number of hits and the number of cases of each group. Groups without cases are ignored; without any
            case the interval is 0 to 1.
        confidence: the probability that the interval has the true share, between 0 and 1.

    Raises:
        ConfigurationError: a group has more hits than cases, or a negative number of hits.

    Source: Wilson's interval for effective cases as in E. L. Korn and B. I. Graubard (1998), *Confidence intervals for
    proportions with small expected number of positive counts estimated from survey data*, Survey Methodology 24, and
    N. Dean and M. Pagano (2015), *Evaluating confidence interval methods for binomial proportions in clustered
    surveys*, Journal of Survey Statistics and Methodology 3.

    >>> [round(bound, 3) for bound in clustered_wilson([(5, 5)] * 7 + [(0, 5)] * 3)]  # ten documents, five cases each
    [0.352, 0.909]
    >>> clustered_wilson([(1, 1)] * 7 + [(0, 1)] * 3) == wilson(7, 10)
    True
    """
    counted = [(hits, cases) for hits, cases in groups if cases or hits]
    if any(not 0 <= hits <= cases for hits, cases in counted):
        raise ConfigurationError("the number of hits in a group must be between 0 and its number of cases")
    n, hits = sum(cases for _, cases in counted), sum(hits for hits, _ in counted)
    if not n:
        return wilson(0, 0)
    effective = effective_cases([GroupSum(cases, hits, hits) for hits, cases in counted])
    return wilson(hits if effective == n else hits / n * effective, effective, confidence)


def clustered_paired_interval(groups: Iterable[PairCounts]) -> tuple[float, float]:
    """Return the 95 % interval of the difference, second minus first, between paired shares of cases in groups.

    It is Newcombe's interval (:func:`~jury_adapters.core.statistics.paired_interval`) for the number of
    :func:`effective_cases` of the differences, which are 1, 0 or -1 per case. It is never narrower than the interval
    for ungrouped cases, and equal to it if each case is its own group.

    Args:
        groups: the numbers of cases of each group that pass both times, only the first time, only the second time, and
            neither time. Groups without cases are ignored; without any case the interval is -1 to 1.

    Raises:
        ConfigurationError: a number of cases is negative.

    >>> groups = [(3, 0, 2, 0)] * 4 + [(5, 0, 0, 0)] * 6  # ten documents, five cases each; 8 more pass the second time
    >>> [round(limit, 3) for limit in clustered_paired_interval(groups)]
    [-0.094, 0.428]
    >>> [round(limit, 3) for limit in paired_interval(42, 0, 8, 0)]
    [0.055, 0.285]
    """
    counts = [group for group in groups if any(group)]
    if any(number < 0 for group in counts for number in group):
        raise ConfigurationError("a number of cases cannot be negative")
    if not counts:
        return -1.0, 1.0
    both, first, second, neither = (sum(numbers) for numbers in zip(*counts, strict=True))
    ungrouped = paired_interval(both, first, second, neither)
    n = both + first + second + neither
    effective = effective_cases([GroupSum(sum(one), one[2] - one[1], one[1] + one[2]) for one in counts], lowest=-1)
    if effective == n:
        return ungrouped
    ratio = effective / n
    low, high = paired_interval(both * ratio, first * ratio, second * ratio, neither * ratio)
    return min(low, ungrouped[0]), max(high, ungrouped[1])


def clustered_unpaired_interval(
    first: Sequence[tuple[int, int]], second: Sequence[tuple[int, int]]
) -> tuple[float, float]:
    """Return the 95 % interval of the difference, second minus first, between shares of two samples of cases in groups.

    It combines the intervals of both shares (:func:`clustered_wilson`) as
    :func:`~jury_adapters.core.statistics.unpaired_interval` combines those of ungrouped cases. It is never narrower
    than that, and equal to it if each case is its own group. Groups that are in both samples make it too wide rather
    than too narrow, because their cases differ less than those of different groups.

    Args:
        first: the number of hits and the number of cases of each group of the first sample.
        second: the same for the second sample.

    Raises:
        ConfigurationError: a group has more hits than cases, or a negative number of hits.

    >>> groups = [(5, 5)] * 7 + [(0, 5)] * 3  # ten documents, five cases each
    >>> [round(limit, 3) for limit in clustered_unpaired_interval(groups, [(5, 5)] * 9 + [(0, 5)])]
    [-0.219, 0.558]
    """
    counts = [(sum(hits for hits, _ in groups), sum(cases for _, cases in groups)) for groups in (first, second)]
    return combined_interval(counts[0], clustered_wilson(first), counts[1], clustered_wilson(second))


def effective_cases(groups: Sequence[GroupSum], lowest: int = 0) -> float:
    """Return the number of independent cases whose mean would be equally precise.

    It is ``n / D * (t(n - 1) / t(K - 1))^2``, which is above 0 and at most n. Here n is the number of cases, t(f)
    is the 0.975 quantile of Student's t distribution with f degrees of freedom, and ``K = n^2 / sum(n_g^2)`` is the
    effective number of groups: the number of groups if all have the same size, and less if a few groups contain
    most of the cases. D is the design effect. It is at least 1, and otherwise the larger of these two:

    - the cluster-robust variance of the mean, ``G / (G - 1) * sum((total_g - mean * n_g)^2) / n^2``, divided by that
      of independent cases, ``s^2 / n``;
    - ``1 + (m - 1) * rho``, where ``m = sum(n_g^2) / n`` is the group size averaged over cases, and rho is the
      correlation of two cases of one group, over all such pairs. For rho, four cases are added with the extreme value
      that is farther from the mean, each together with ``m - 1`` cases of its group that have the same value.

    Rare values occur in few groups, so the first of the two is often far too small, and it is 0 if all values are
    equal. The four added cases prevent that: they make rho 1 if the data say nothing about it. Agresti and Coull (1998)
    add the same number of cases to a share for the same reason.

    Sources: L. Kish (1965), *Survey Sampling*, for the design effect; M. S. Ridout, C. G. B. Demétrio and D. Firth
    (1999), *Estimating intraclass correlation for binary data*, Biometrics 55, for the correlation over pairs; Korn and
    Graubard (1998) for the ratio of the quantiles; A. V. Carter, K. T. Schnepel and D. G. Steigerwald (2017),
    *Asymptotic behavior of a t-test robust to cluster heterogeneity*, Review of Economics and Statistics 99, for
    the degrees of freedom from the effective number of groups. ``docs/measured.md`` reports the coverage of the
    intervals that use it.

    Args:
        groups: the values of each group; every group has at least one case.
        lowest: the lowest value that a case may have; the highest is 1.

    >>> effective_cases([GroupSum(1, hit, hit) for hit in (1, 1, 0, 1)])
    4.0
    >>> round(effective_cases([GroupSum(5, 5, 5)] * 40), 1)  # equal values: about one case per group
    38.0
    """
    n = sum(group.cases for group in groups)
    mean_size = sum(group.cases**2 for group in groups) / n
    if mean_size == 1:
        return float(n)
    design = max(1.0, _robust_effect(groups, n), 1 + (mean_size - 1) * group_correlation(groups, lowest))
    return n / design / few_groups_factor([group.cases for group in groups]) ** 2


def group_correlation(groups: Sequence[GroupSum], lowest: int = 0) -> float:
    """Return the correlation of two cases of one group, 0..1, with the four added cases of :func:`effective_cases`.

    Args:
        groups: the values of each group; every group has at least one case, and one of them more.
        lowest: the lowest value that a case may have; the highest is 1.
    """
    if len(groups) < 2:
        return 1.0
    n = sum(group.cases for group in groups)
    mean, mean_size = sum(group.total for group in groups) / n, sum(group.cases**2 for group in groups) / n
    covariation = variation = _ADDED_CASES * (mean_size - 1) * max(1 - mean, mean - lowest) ** 2
    for group in groups:
        squares = group.squares - 2 * mean * group.total + group.cases * mean**2
        covariation += (group.total - group.cases * mean) ** 2 - squares
        variation += (group.cases - 1) * squares
    return min(1.0, max(0.0, covariation / variation)) if variation > _ROUNDING else 1.0


class IntraclassCorrelation(NamedTuple):
    """Correlation of the cases of a group and the size of groups, as ``jury sample-size`` asks for them.

    Attributes:
        size: the number of cases of a group, averaged over cases (``sum(n_g^2) / n``), which is what the design effect
            ``1 + (size - 1) * correlation`` of groups of different sizes depends on.
        correlation: the correlation of two cases of one group, over all such pairs, in 0..1.
    """

    size: float
    correlation: float

    @property
    def options(self) -> str:
        """The options of ``jury sample-size``."""
        return f"--group-size {self.size:.3g} --icc {self.correlation:.2g}"


def intraclass_correlation(groups: Sequence[GroupSum]) -> IntraclassCorrelation | None:
    """Return how far cases of a group are alike; None without two groups, a group of two cases, or different values.

    It is the estimate itself, for the plan of another sample: without the four cases that :func:`group_correlation`
    adds for a cautious interval.

    Args:
        groups: the values of each group; every group has at least one case.

    Source: M. S. Ridout, C. G. B. Demétrio and D. Firth (1999), *Estimating intraclass correlation for binary data*,
    Biometrics 55.

    >>> intraclass_correlation([GroupSum(5, 5, 5)] * 7 + [GroupSum(5, 0, 0)] * 3)
    IntraclassCorrelation(size=5.0, correlation=1.0)
    """
    n = sum(group.cases for group in groups)
    if len(groups) < 2 or n == len(groups):
        return None
    mean = sum(group.total for group in groups) / n
    squares = [group.squares - 2 * mean * group.total + group.cases * mean**2 for group in groups]
    between = [(group.total - group.cases * mean) ** 2 for group in groups]
    pairs = sum(group.cases * (group.cases - 1) for group in groups)
    variance = sum(squares) / n
    if variance <= _ROUNDING:
        return None
    correlation = (sum(between) - sum(squares)) / pairs / variance
    return IntraclassCorrelation(sum(group.cases**2 for group in groups) / n, min(1.0, max(0.0, correlation)))


def few_groups_factor(sizes: Sequence[int]) -> float:
    """Return the factor by which a normal interval widens because its variance is estimated from few groups.

    It is ``t(K - 1) / t(n - 1)``, as in :func:`effective_cases`: 1 for groups of one case.

    Args:
        sizes: number of cases of each group; every group has at least one case.

    >>> few_groups_factor([1] * 40), round(few_groups_factor([5] * 8), 3)
    (1.0, 1.169)
    """
    n = sum(sizes)
    groups = n**2 / sum(size**2 for size in sizes)
    return student_quantile(max(1.0, groups - 1)) / student_quantile(max(1.0, n - 1))


def sign_flip_test(differences: Iterable[int]) -> float:
    """Return the two-sided p value of the hypothesis that a difference is as likely as its opposite in each group.

    It is the share of all ways to flip the signs of whole groups that give a total at least as far from 0. With one
    case per group it is the exact McNemar test. The normal approximation is used if there are so many groups or
    differences that exact counting would be slow.

    Args:
        differences: for each group the number of cases that pass the second time, minus those that pass the first time.

    Source: R. A. Fisher (1935), *The Design of Experiments*, section 21, with groups in place of pairs.

    >>> sign_flip_test([1] * 12 + [-1] * 2), sign_flip_test([])
    (0.012939453125, 1.0)
    >>> sign_flip_test([3, 3, 2])  # of the eight ways, two give a total as far from 0
    0.25
    """
    found = [difference for difference in differences if difference]
    sizes, total = [abs(difference) for difference in found], abs(sum(found))
    if len(sizes) * min(sum(sizes), 2 ** min(len(sizes), _MANY_GROUPS)) > _MOST_ADDITIONS:
        return erfc(total / sqrt(2 * sum(size * size for size in sizes)))
    # A total of t means that the groups with a positive sign add up to (sum + t) / 2.
    tail = sum(chance for positive, chance in _sums(sizes).items() if 2 * positive >= sum(sizes) + total)
    return min(1.0, 2 * tail) if total else 1.0


_MOST_ADDITIONS = 1_000_000  # additions
_MANY_GROUPS = 64  # groups; this many have too many sums to count them all
_ADDED_CASES = 4
_ROUNDING = 1e-12


def _robust_effect(groups: Sequence[GroupSum], n: int) -> float:
    """Return the cluster-robust variance of the mean divided by that of independent cases; 0 if it is unknown."""
    mean = sum(group.total for group in groups) / n
    variance = sum(group.squares for group in groups) / n - mean**2
    if len(groups) < 2 or variance <= _ROUNDING:
        return 0.0
    between = sum((group.total - mean * group.cases) ** 2 for group in groups)
    return len(groups) / (len(groups) - 1) * between / n**2 / (variance / (n - 1))


def _sums(sizes: Sequence[int]) -> dict[int, float]:
    """Return the probability of each sum of sizes, where each size is included with probability 1/2."""
    sums = {0: 1.0}
    for size in sizes:
        updated = {total: chance / 2 for total, chance in sums.items()}
        for total, chance in sums.items():
            updated[total + size] = updated.get(total + size, 0.0) + chance / 2
        sums = updated
    return sums
