"""Comparisons of numbers that ignore rounding errors: the mean of 0.7, 0.7 and 0.7 reaches 0.7."""

from __future__ import annotations

from typing import Final

TOLERANCE: Final = 1e-12
"""Relative difference (for numbers below 1: absolute difference) up to which two numbers count as equal."""


def reaches(value: float, threshold: float) -> bool:
    """Whether a value is at least the threshold.

    >>> 1 - 0.9 >= 0.1, reaches(1 - 0.9, 0.1)
    (False, True)
    """
    return value >= threshold or equal(value, threshold)


def exceeds(value: float, limit: float) -> bool:
    """Whether a value is more than the limit."""
    return value > limit and not equal(value, limit)


def equal(first: float, second: float) -> bool:
    """Whether two numbers are equal except for rounding errors.

    >>> 0.1 + 0.2 == 0.3, equal(0.1 + 0.2, 0.3)
    (False, True)
    """
    return abs(first - second) <= TOLERANCE * max(1.0, abs(first), abs(second))
