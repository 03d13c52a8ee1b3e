"""Exact tests of shares, and Holm's correction for many of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, floor

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
