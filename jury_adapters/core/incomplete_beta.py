"""Incomplete beta function without SciPy, for tails of the binomial distribution and quantiles of Student's t."""

from __future__ import annotations

from functools import lru_cache
from math import exp, lgamma, log, log1p, pi, sqrt

from jury_adapters.core.statistics import Z95


def incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function ``I_x(a, b)``.

    It is computed with its continued fraction, on the side on which that converges fast.

    Args:
        a: first parameter, above 0.
        b: second parameter, above 0.
        x: upper limit of the integral, strictly between 0 and 1.

    Source: Abramowitz and Stegun, 26.5.8, with Lentz's method.

    >>> round(incomplete_beta(2, 3, 0.4), 4)
    0.5248
    """
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, 1 - x)
    front = lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)
    return min(1.0, exp(front) / a * _continued_fraction(a, b, x))


@lru_cache(maxsize=256)
def student_quantile(freedom: float) -> float:
    """Return the 0.975 quantile of Student's t distribution: half the width of a 95 % interval in standard errors.

    Args:
        freedom: degrees of freedom, from 1; may be fractional.

    Source: Abramowitz and Stegun, 26.7.1: ``P(|T| > t) = I_x(freedom / 2, 1 / 2)`` with
    ``x = freedom / (freedom + t^2)``.

    >>> round(student_quantile(9), 4)
    2.2622
    """
    density = exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2)) / sqrt(freedom * pi)
    quantile, step = Z95, 1.0  # the value for infinitely many degrees of freedom, which is below the quantile
    while step > 1e-14 * quantile:  # the tail is convex there, so Newton's method never passes the quantile
        x = freedom / (freedom + quantile**2)
        step = (incomplete_beta(freedom / 2, 0.5, x) - 0.05) / (2 * density * x ** ((freedom + 1) / 2))
        quantile += step
    return quantile


def _continued_fraction(a: float, b: float, x: float) -> float:
    c, d = 1.0, 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _MOST_STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _away_from_zero(1 + term * d)
            c = _away_from_zero(1 + term / c)
            value *= c * d
        if abs(c * d - 1) < _ENOUGH:
            break
    return value


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


_TINY = 1e-300
_ENOUGH = 1e-15
_MOST_STEPS = 10_000
