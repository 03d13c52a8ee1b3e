"""Bootstrap intervals over groups of items, with two items that only resamples have.

A sample in which every right answer has more confidence than every wrong one has only resamples of that kind, and the
bootstrap gives a single point. The same goes for scores that equal the human labels. So resamples are drawn from the
items and two more that contradict the rest, each with half the chance of an item. ``docs/measured.md`` has the
coverage.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from jury_adapters.calibration.estimates import Interval
from jury_adapters.calibration.resampling import Resampling, distinct
from jury_adapters.calibration.smoothing import group_size
from jury_adapters.calibration.types import Floats, Ints

_HALVES = (1, 1)
Statistic = Callable[[Floats], Floats]


@dataclass(frozen=True, slots=True)
class Drawn:
    """Items to resample by group, the two added ones last.

    Attributes:
        unit: per item, the position of its group; those of the added items are the last two.
        size: per item, how often it counts where its group is drawn once.
        units: number of groups of the items themselves.
    """

    unit: Ints
    size: Floats
    units: int

    @classmethod
    def of(cls, groups: Ints, values: Floats) -> Drawn:
        """Add two groups.

        Args:
            groups: one number per item.
            values: one number per item, whose design effect is the size of the added groups.
        """
        known, position = np.unique(groups, return_inverse=True)
        size = float(group_size(values, groups))
        return cls(
            np.concatenate([position.reshape(-1), len(known) + np.arange(2)]),
            np.concatenate([np.ones(len(groups)), [size, size]]),
            len(known),
        )

    @property
    def as_voted(self) -> Floats:
        """Weights of the items as they are: 1 for each, 0 for the added ones."""
        return np.concatenate([np.ones(len(self.unit) - 2), np.zeros(2)])[None, :]

    def percentiles(self, how: Resampling, statistic: Callable[..., Floats], *columns: Floats) -> Interval | None:
        """Return the 95 % percentile interval of a statistic.

        Args:
            how: number of draws and seed.
            statistic: takes item weights (draws x items) and the columns, returns a value per draw.
            columns: everything that the statistic reads of the items: one number per item, the added ones last.
        """
        if self.units == len(self.unit) - 2:
            kinds, counts = distinct(np.column_stack(columns)[:-2])
            if len(kinds) < self.units:
                size = np.concatenate([np.ones(len(kinds)), self.size[-2:]])
                of_kinds = [np.concatenate([kinds[:, at], column[-2:]]) for at, column in enumerate(columns)]
                return how.interval(counts, lambda weights: statistic(weights * size, *of_kinds), _HALVES)[0]
        return how.interval(self.units, self._by_item(lambda weights: statistic(weights, *columns)), _HALVES)[0]

    def fisher(self, how: Resampling, statistic: Statistic, errors: float) -> Interval | None:
        """Return the interval of a correlation: so many standard errors to either side, on the scale of Fisher's z.

        Source: R. A. Fisher (1921), *On the probable error of a coefficient of correlation*, Metron 1; the standard
        error is that of the bootstrap.

        Args:
            how: number of draws and seed.
            statistic: takes item weights (draws x items), returns a correlation or kappa per draw.
            errors: number of standard errors.
        """
        if not how.draws or self.units < 2:
            return None
        most = 1 - 1 / self.units**2
        of_units = self._by_item(statistic)
        drawn = np.concatenate([of_units(block) for block in how.weights(self.units, _HALVES)])
        drawn = drawn[np.isfinite(drawn)]
        value = float(statistic(self.as_voted)[0])
        if len(drawn) < 2 or not np.isfinite(value):
            return None
        reach = errors * float(np.arctanh(np.clip(drawn, -most, most)).std())
        middle = float(np.arctanh(np.clip(value, -most, most)))
        low, high = float(np.tanh(middle - reach)), float(np.tanh(middle + reach))
        return min(low, value), max(high, value)

    def _by_item(self, statistic: Statistic) -> Statistic:
        return lambda weights: statistic(weights[:, self.unit] * self.size)
