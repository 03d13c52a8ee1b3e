"""Statistics of weighted items, for many weightings at once: one row of weights per draw of a bootstrap."""

from __future__ import annotations

import numpy as np

from jury_adapters.calibration.resampling import ratio_of
from jury_adapters.calibration.types import Floats, Ints


class Ranked:
    """Numbers in ascending order, equal ones together.

    Args:
        numbers: one per item.

    Attributes:
        order: positions of the items in ascending order of their numbers.
        starts: where in that order each different number begins.
        place: per item, the position of its number among the different ones.
    """

    def __init__(self, numbers: Floats) -> None:
        self.order: Ints = np.argsort(numbers, kind="stable")
        ordered = numbers[self.order]
        self.starts: Ints = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
        self.place: Ints = np.unique(numbers, return_inverse=True)[1].reshape(-1)

    def sums(self, weights: Floats) -> Floats:
        """Return draws x different numbers: the weight of each different number."""
        found: Floats = np.add.reduceat(weights[:, self.order], self.starts, axis=1)
        return found

    def ranks(self, weights: Floats) -> Floats:
        """Return draws x items: the mid-rank of each item among the weighted items, less one half."""
        sums = self.sums(weights)
        ranks: Floats = (np.cumsum(sums, axis=1) - sums / 2)[:, self.place]
        return ranks


def area_under_curve(weights: Floats, ranked: Ranked, positive: Floats) -> Floats:
    """Return the area under the ROC curve per draw; NaN without a positive or a negative item.

    Args:
        weights: draws x items.
        ranked: the scores of the items.
        positive: 1.0 for the positive items, else 0.0.
    """
    above, below = ranked.sums(weights * positive), ranked.sums(weights * (1 - positive))
    lower = np.cumsum(below, axis=1) - below / 2
    return ratio_of((above * lower).sum(axis=1), above.sum(axis=1) * below.sum(axis=1))


def correlation(weights: Floats, first: Floats, second: Floats) -> Floats:
    """Return Pearson's correlation per draw; NaN where one of the two does not vary.

    Args:
        weights: draws x items.
        first: numbers, draws x items.
        second: numbers, draws x items.
    """
    total = weights.sum(axis=1, keepdims=True)
    one = first - (weights * first).sum(axis=1, keepdims=True) / total
    other = second - (weights * second).sum(axis=1, keepdims=True) / total
    spread = np.sqrt((weights * one**2).sum(axis=1) * (weights * other**2).sum(axis=1))
    varies = spread > 1e-9 * np.maximum(1.0, total[:, 0])
    found = ratio_of((weights * one * other).sum(axis=1), np.where(varies, spread, 0.0))
    return np.clip(found, -1.0, 1.0)


def quadratic_kappa(weights: Floats, first: Floats, second: Floats) -> Floats:
    """Return kappa with squared distances per draw; NaN where neither varies and both are the same."""
    total = weights.sum(axis=1)
    centre = float(first.mean())
    one, other = first - centre, second - centre  # far from zero, squares would lose their last digits
    means = [weights @ numbers / total for numbers in (one, other)]
    squares = [weights @ numbers**2 / total for numbers in (one, other)]
    observed = weights @ (one - other) ** 2 / total
    by_chance = squares[0] + squares[1] - 2 * means[0] * means[1]
    return _kappa(observed, by_chance, float(np.ptp(np.concatenate([one, other]))) ** 2)


def linear_kappa(weights: Floats, first: Floats, second: Floats) -> Floats:
    """Return kappa with absolute distances per draw; NaN where neither varies and both are the same."""
    total = weights.sum(axis=1)
    values = np.unique(np.concatenate([first, second]))
    observed = weights @ np.abs(first - second) / total
    shares = [_shares_up_to(weights, numbers, values) for numbers in (first, second)]
    apart = shares[0] * (1 - shares[1]) + shares[1] * (1 - shares[0])
    by_chance = apart[:, :-1] @ np.diff(values)
    return _kappa(observed, by_chance, float(np.ptp(values)))


def kendall_tau_b(weights: Floats, first: Floats, second: Floats) -> Floats:
    """Return Kendall's tau-b per draw; NaN where one of the two does not vary. Time grows with the square of the items.

    Copies of an item in a draw are ties in both numbers.
    """
    total = weights.sum(axis=1)
    concordant = np.zeros(len(weights))
    for start in range(0, len(first), _ROWS):
        rows = slice(start, start + _ROWS)
        signs = np.sign(first[rows, None] - first[None, :]) * np.sign(second[rows, None] - second[None, :])
        concordant += ((weights @ signs.T) * weights[:, rows]).sum(axis=1)
    untied = [total**2 - (Ranked(numbers).sums(weights) ** 2).sum(axis=1) for numbers in (first, second)]
    return np.clip(ratio_of(concordant, np.sqrt(np.maximum(untied[0] * untied[1], 0.0))), -1.0, 1.0)


_ROWS = 512  # of the matrix of pairs that are held at once


def _shares_up_to(weights: Floats, numbers: Floats, values: Floats) -> Floats:
    """Return draws x values: the share of the weight that numbers up to this value have."""
    ranked = Ranked(numbers)
    sums = np.zeros((len(weights), len(values)))
    sums[:, np.searchsorted(values, np.unique(numbers))] = ranked.sums(weights)
    shares: Floats = np.cumsum(sums, axis=1) / weights.sum(axis=1, keepdims=True)
    return shares


def _kappa(observed: Floats, by_chance: Floats, largest: float) -> Floats:
    defined = by_chance > 1e-12 * largest
    return 1 - ratio_of(observed, np.where(defined, by_chance, 0.0))
