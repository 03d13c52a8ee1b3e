"""Statistics of counts that several parts of the package tell: the interval of a share, and kappa of two raters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from math import sqrt
from statistics import NormalDist
from typing import TypeVar

Opinion = TypeVar("Opinion", bound=Hashable)

Z95 = NormalDist().inv_cdf(0.975)
"""How many standard errors a 95 % interval reaches to either side."""


def wilson(hits: float, n: float) -> tuple[float, float]:
    """The 95 % Wilson score interval of a share; honest for few cases and for shares near 0 and 1.

    Args:
        hits: how many of them are hits.
        n: of how many; where there are none, the share may be anything from 0 to 1.

    Source: E. B. Wilson (1927), *Probable inference, the law of succession, and statistical inference*, JASA 22.

    >>> [round(bound, 3) for bound in wilson(9, 10)]
    [0.596, 0.982]
    """
    if n <= 0:
        return 0.0, 1.0
    share, z2 = hits / n, Z95**2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 * sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return max(0.0, min(share, centre - half)), min(1.0, max(share, centre + half))


def cohen_kappa(pairs: Mapping[tuple[Opinion, Opinion], int]) -> float | None:
    """Cohen's kappa of two raters: agreement beyond chance. None when chance explains all, or there is nothing.

    Args:
        pairs: how often which two opinions met, that of the first rater first.

    Source: J. Cohen (1960), *A coefficient of agreement for nominal scales*, Educational and Psychological Measurement
    20.

    >>> cohen_kappa({("PASS", "PASS"): 20, ("PASS", "FAIL"): 5, ("FAIL", "PASS"): 10, ("FAIL", "FAIL"): 15})
    0.4
    """
    n = sum(pairs.values())
    one: Counter[Opinion] = Counter()
    other: Counter[Opinion] = Counter()
    for (a, b), times in pairs.items():
        one[a] += times
        other[b] += times
    by_chance = sum(one[label] * other[label] for label in one)
    if by_chance == n * n:  # also when there is nothing
        return None
    observed = sum(times for (a, b), times in pairs.items() if a == b)
    return (n * observed - by_chance) / (n * n - by_chance)
