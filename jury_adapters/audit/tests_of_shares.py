"""Exact tests of shares, and Holm's correction for many of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, exp, floor, lgamma

from jury_adapters.core.clustered_shares import GroupSum, effective_cases
from jury_adapters.core.incomplete_beta import incomplete_beta


def share_below(groups: Iterable[tuple[int, int]], limit: float) -> float:
    """Return the one-sided p value of the hypothesis that a share is at least a limit.

    It is the exact binomial tail for the number of effective cases (:func:`effective_cases`), so that several cases of
    one group do not count as independent. The number of hits is rounded up and that of cases down, which makes the test
    conservative.

    Args:
        groups: the number of hits and the number of cases of each group.
        limit: the limit, between 0 and 1.

    Source: C. J. Clopper and E. S. Pearson (1934), *The use of confidence or fiducial limits*, Biometrika 26.

    >>> round(share_below([(1, 1)] * 12 + [(0, 1)] * 8, 0.8), 4)
    0.0321
    """
    hits, trials = effective_counts(groups)
    return _binomial_cdf(hits, trials, limit) if trials else 1.0


def effective_counts(groups: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Return the number of hits and of independent cases with the same information, whole numbers.

    The number of cases is rounded down, and that of hits up.

    >>> effective_counts([(1, 1)] * 12 + [(0, 1)] * 8), effective_counts([(2, 2)] * 12 + [(0, 2)] * 8)
    ((12, 20), (11, 18))
    """
    counted = [(hits, cases) for hits, cases in groups if cases]
    if not counted:
        return 0, 0
    hits, n = sum(hits for hits, _ in counted), sum(cases for _, cases in counted)
    effective = effective_cases([GroupSum(cases, hits, hits) for hits, cases in counted])
    trials = max(1, floor(effective + _ROUNDING))
    return min(trials, ceil(hits * trials / n - _ROUNDING)), trials


def share_above(groups: Iterable[tuple[int, int]], limit: float) -> float:
    """Return the one-sided p value of the hypothesis that a share is at most a limit; see :func:`share_below`.

    >>> round(share_above([(1, 1)] * 8 + [(0, 1)] * 12, 0.2), 4)
    0.0321
    """
    return share_below([(cases - hits, cases) for hits, cases in groups], 1 - limit)


def fisher_less(hits: int, n: int, other_hits: int, other_n: int) -> float:
    """Return the one-sided p value of Fisher's exact test: the first share is not lower than the second.

    Args:
        hits: number of hits of the first sample.
        n: number of cases of the first sample.
        other_hits: number of hits of the second sample.
        other_n: number of cases of the second sample.

    Source: R. A. Fisher (1934), *Statistical Methods for Research Workers*, fifth edition, section 21.02.

    >>> round(fisher_less(1, 10, 9, 10), 6)
    0.000547
    """
    total, all_hits = n + other_n, hits + other_hits
    lowest = max(0, all_hits - other_n)
    return min(1.0, sum(_hypergeometric(k, n, all_hits, total) for k in range(lowest, hits + 1)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p values corrected for the number of tests.

    If those of at most ``level`` are rejected, the probability of any wrong rejection is at most ``level``, however the
    tests depend on each other.

    Source: S. Holm (1979), *A simple sequentially rejective multiple test procedure*, Scandinavian Journal of
    Statistics 6.

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[place]))
        corrected[place] = highest
    return corrected


_ROUNDING = 1e-9


def _binomial_cdf(k: int, n: int, p: float) -> float:
    if k >= n:
        return 1.0
    return incomplete_beta(n - k, k + 1, 1 - p)


def _hypergeometric(k: int, n: int, hits: int, total: int) -> float:
    """Return the probability of k hits among n cases drawn from ``total`` cases with ``hits`` hits."""
    return exp(_log_choose(hits, k) + _log_choose(total - hits, n - k) - _log_choose(total, n))


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
