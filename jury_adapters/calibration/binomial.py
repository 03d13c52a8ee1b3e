"""Exact binomial tails and bounds, without SciPy.

Everything is based on one identity: for ``X ~ Bin(n, p)``, the lower tail is a regularised incomplete beta function,
``P(X <= k) = I_{1-p}(n - k, k + 1)`` (Abramowitz and Stegun, 26.5.24). Tests compare it with direct sums in rational
numbers.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil, exp, isfinite, lgamma, log, log1p

import numpy as np

from jury_adapters.calibration.types import Ints
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.incomplete_beta import incomplete_beta

_UNSURE = 1e-6  # a sum of many terms that is closer than this to a level is computed exactly


def binomial_cdf(k: float, n: float, p: float) -> float:
    """Return the probability of at most ``k`` errors among ``n`` independent items, each wrong with probability ``p``.

    Args:
        k: number of errors; the result is 0 below 0, and 1 from ``n`` upwards.
        n: number of items, from 0.
        p: probability of an error, 0..1.

    >>> round(binomial_cdf(1, 10, 0.1), 6)
    0.736099
    """
    _check(n, p)
    if k < 0:
        return 0.0
    if k >= n or p == 0:
        return 1.0
    if p == 1:
        return 0.0
    return incomplete_beta(n - k, k + 1, 1 - p)


def binomial_pmf(k: int, n: int, p: float) -> float:
    """Return the probability of exactly ``k`` errors among ``n`` independent items, each wrong with probability ``p``.

    >>> round(binomial_pmf(1, 10, 0.1), 6)
    0.38742
    """
    if k > n:
        return 0.0
    if p in (0, 1):
        return float(k == n * p)
    return exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log1p(-p))


def upper_bound(errors: float, n: float, delta: float) -> float:
    """Return the one-sided Clopper-Pearson upper bound of an error rate, after ``errors`` of ``n``.

    It is the ``p`` with ``P(Bin(n, p) <= errors) = delta``, that is ``Beta^-1(1 - delta; errors + 1, n - errors)``
    (Clopper and Pearson 1934). The true rate is above it with probability ``delta`` at most.

    Args:
        errors: number of observed errors, 0..n.
        n: number of independent items, which may be fractional (effective cases); without any, the bound is 1.
        delta: the probability that the bound may be wrong, strictly between 0 and 1.

    >>> round(upper_bound(0, 30, 0.1), 4)
    0.0739
    """
    check_level(delta, "delta")
    if not 0 <= errors <= n:
        raise ConfigurationError(f"errors lie from 0 to n={n}, not {plain_repr(errors)}")
    if errors == n:
        return 1.0
    low, high = 0.0, 1.0
    while True:
        middle = (low + high) / 2
        if middle in (low, high):  # neighbours: there is no float between them
            return high
        if binomial_cdf(errors, n, middle) > delta:
            low = middle
        else:
            high = middle


@lru_cache(maxsize=512)  # two bisections take milliseconds, and simulations ask for the same counts again
def exact_interval(hits: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Return Clopper and Pearson's interval of a share; it reaches 0 or 1 only if all items are alike.

    Args:
        hits: number of hits, 0..n.
        n: number of independent items, which may be fractional (effective cases, as in Korn and Graubard 1998).
        confidence: the probability with which the interval holds the true share at least.

    >>> [round(end, 4) for end in exact_interval(22, 24)]
    [0.73, 0.9897]
    """
    level = (1 - confidence) / 2
    return 1 - upper_bound(n - hits, n, level), upper_bound(hits, n, level)


def fewest_items(alpha: float, delta: float) -> int:
    """Return the number of error-free items that show a rate of at most ``alpha``: ``ceil(ln delta / ln(1 - alpha))``.

    >>> fewest_items(0.1, 0.1)
    22
    """
    check_level(alpha, "alpha")
    check_level(delta, "delta")
    items = ceil(log(delta) / log1p(-alpha))
    return items if binomial_cdf(0, items, alpha) <= delta else items + 1  # the logarithms are rounded


@lru_cache(maxsize=64)
def most_errors(n: int, alpha: float, delta: float) -> Ints:
    """Return, for each number of items 0..n, the most errors with ``P(Bin(items, alpha) <= errors) <= delta``.

    The table reduces the test of many thresholds to one comparison. It has -1 where even zero errors do not suffice.

    >>> most_errors(50, 0.1, 0.1)[[21, 22, 37, 38]].tolist()
    [-1, 0, 0, 1]
    """
    _check(n, alpha)
    check_level(delta, "delta")
    table = np.searchsorted(_rises(n, alpha, delta), np.arange(n + 1), side="right") - 1
    table.flags.writeable = False  # the cached table is shared
    return table


def _rises(n: int, alpha: float, delta: float) -> list[int]:
    """Return the numbers of items, up to ``n``, from which on 0, 1, 2 ... errors are allowed.

    One more item never allows fewer errors, and at most one more. The tail and its last term are updated item by item:
    ``P(X = k)`` of ``m`` items is that of ``m - 1`` items times ``(1 - alpha) m / (m - k)``, and ``P(X = k + 1)`` is
    ``P(X = k)`` times ``(m - k) / (k + 1) * alpha / (1 - alpha)``.
    """
    if alpha == 1:  # every item is an error: P(X <= k) is 0 for k below the number of items
        return list(range(1, n + 1))
    right, odds = 1 - alpha, alpha / (1 - alpha)
    rises: list[int] = []
    k, tail, last = 0, 1.0, 1.0  # P(X <= k) and P(X = k), of no items
    for items in range(1, n + 1):
        tail -= alpha * last
        last *= right * items / (items - k)
        if tail > delta + _UNSURE:
            continue
        if tail > delta - _UNSURE:  # this also ends what the updates have rounded so far
            tail, last = binomial_cdf(k, items, alpha), binomial_pmf(k, items, alpha)
        if tail <= delta:
            rises.append(items)
            last *= (items - k) / (k + 1) * odds
            k += 1
            tail += last
    return rises


def check_level(value: float, what: str) -> None:
    """Refuse a risk or probability that is not strictly between 0 and 1.

    Raises:
        ConfigurationError: the value is not.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
        raise ConfigurationError(f"{what} lies strictly between 0 and 1, not {plain_repr(value)}")


def _check(n: float, p: float) -> None:
    if n < 0 or not isfinite(p) or not 0 <= p <= 1:
        raise ConfigurationError(f"a binomial has n >= 0 and p from 0 to 1, not n={plain_repr(n)}, p={plain_repr(p)}")
