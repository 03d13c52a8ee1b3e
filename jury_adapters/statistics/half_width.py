"""Expected half-widths of the intervals of a pass rate, before any case is labelled."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from jury_adapters.calibration.power import binomial_weights
from jury_adapters.core.statistics import Z95, wilson


def wilson_half_width(n: int, rate: float) -> float:
    """Return the expected half-width of the 95 % Wilson interval: its mean over ``Bin(n, rate)``.

    Args:
        n: number of labels.
        rate: share with a human PASS, in 0..1.

    >>> round(wilson_half_width(100, 0.8), 4)
    0.0772
    """
    low, high = wilson_ends(n, rate)
    return (high - low) / 2


def wilson_ends(n: int, rate: float) -> tuple[float, float]:
    """Return the expected ends of the 95 % Wilson interval: their means over ``Bin(n, rate)``.

    >>> [round(end, 3) for end in wilson_ends(41, 0.99)]
    [0.898, 0.998]
    """
    counts, weights = binomial_weights(n, rate)
    low, high = weights @ np.array([wilson(hits, n) for hits in counts.tolist()])
    return float(low), float(high)


@dataclass(frozen=True, slots=True)
class JudgedCases:
    """Cases that a jury judges, some of which have human labels.

    Attributes:
        number: number of cases, labelled ones included.
        rate: share with a human PASS, in 0..1.
        tpr: share that the jury passes of the cases with a human PASS, in 0..1.
        tnr: share that the jury fails of the cases with a human FAIL, in 0..1.
    """

    number: int
    rate: float
    tpr: float
    tnr: float

    def half_width(self, labels: int) -> float:
        """Return the expected half-width of the interval of ``prediction_powered_rate``.

        It puts expected moments for those of the sample, with the two disagreements and the two verdicts more that the
        interval counts, and cuts the interval to 0..1.

        Args:
            labels: number of cases with a human label, 2 or more; with all of them the interval is Wilson's.
        """
        others = self.number - labels
        if others < 1:
            return wilson_half_width(labels, self.rate)
        passed = self.rate * self.tpr + (1 - self.rate) * (1 - self.tnr)
        both, spread = self.rate * self.tpr, passed * (1 - passed)
        lam = 0.0
        if others > 1 and spread > 0:
            lam = min(1.0, max(0.0, (both - self.rate * passed) / ((1 + labels / others) * spread)))
        square = self.rate - 2 * lam * both + lam**2 * passed
        error = _Mean.of(labels, self.rate - lam * passed, square, (1.0, -lam))
        verdict = _Mean.of(others, passed, passed, (1.0, 0.0))
        centre = self.rate + error.shift + lam * verdict.shift
        reach = Z95 * sqrt(error.variance + lam**2 * verdict.variance)
        return (min(1.0, centre + reach) - max(0.0, centre - reach)) / 2


@dataclass(frozen=True, slots=True)
class _Mean:
    """Expected shift and variance of a mean of ``n`` values and a pair of values more."""

    shift: float
    variance: float

    @classmethod
    def of(cls, n: int, mean: float, square: float, pair: tuple[float, float]) -> _Mean:
        """Compute both from the mean of the values and of their squares."""
        first, second = pair
        total = n * mean + first + second
        squares = n * square + first**2 + second**2
        around = squares - (total**2 + n * (square - mean**2)) / (n + 2)
        return cls(total / (n + 2) - mean, around / (n * (n + 1)))
