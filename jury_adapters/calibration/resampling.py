"""The bootstrap, by matrix products: how much a number would move with another sample of items or groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from jury_adapters.calibration import DRAWS
from jury_adapters.calibration.findings import Interval
from jury_adapters.calibration.types import Floats, Ints
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.tolerance import equal

Columns = TypeVar("Columns", Floats, NDArray[np.float32])

_CELLS = 1 << 21  # of the weights held at once: 16 MB


@dataclass(frozen=True, slots=True)
class Resampling:
    """How the bootstrap is to be done.

    Attributes:
        draws: how many samples are drawn; 0 for no interval.
        seed: equal seeds give equal intervals.
    """

    draws: int = DRAWS
    seed: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.draws, int) or self.draws < 0:
            raise ConfigurationError(f"draws is a whole number from 0, not {self.draws!r}")

    def weights(self, units: int, halves: Sequence[int] = ()) -> Iterator[Floats]:
        """Yield how often each unit is in each sample: blocks of draws x units, drawn with replacement.

        Args:
            units: number of units, and of those in a sample.
            halves: chances of further units to be drawn, in halves of that of a unit. They come last.
        """
        generator = np.random.default_rng(self.seed)
        owner = np.repeat(np.arange(units + len(halves)), [2] * units + list(halves)) if halves else np.arange(units)
        width = units + len(halves)
        block = max(1, min(self.draws, _CELLS // max(width, 1)))
        for start in range(0, self.draws, block):
            rows = min(block, self.draws - start)
            drawn = owner[generator.integers(0, len(owner), size=(rows, units))]
            drawn += np.arange(rows)[:, None] * width
            yield np.bincount(drawn.ravel(), minlength=rows * width).reshape(rows, width).astype(np.float64)

    def interval(
        self, units: int, statistic: Callable[[Floats], Floats], halves: Sequence[int] = ()
    ) -> tuple[Interval | None, int]:
        """Return the 95 % percentile interval.

        Args:
            units: number of items or groups to draw from.
            statistic: takes a block of weights (draws x units), returns one value per draw, NaN where undefined.
            halves: further units, as in :meth:`weights`.

        Returns:
            The interval, and how many draws were undefined. The interval is None when no draw was defined, and when
            all are equal: they then say nothing about items that were not seen.
        """
        if not self.draws or units < 2:
            return None, 0
        values = np.concatenate([statistic(block) for block in self.weights(units, halves)])
        defined = values[np.isfinite(values)]
        if not len(defined):
            return None, self.draws
        if equal(float(defined.min()), float(defined.max())):
            return None, self.draws - len(defined)
        low, high = np.quantile(defined, (0.025, 0.975))
        return (float(low), float(high)), self.draws - len(defined)


DEFAULT = Resampling()


def summed(rows: Columns, groups: Ints) -> Columns:
    """The sums of rows (items x columns) by group, groups in ascending order."""
    known, position = np.unique(groups, return_inverse=True)
    if len(known) == len(groups):
        return rows
    order = np.argsort(position, kind="stable")
    starts = np.searchsorted(position[order], np.arange(len(known)))
    sums: Columns = np.add.reduceat(rows[order], starts, axis=0)
    return sums


def ratio_of(above: Floats, below: Floats) -> Floats:
    """Division that gives NaN, not a warning, where there is nothing to divide by."""
    quotient: Floats = np.full(np.broadcast(above, below).shape, np.nan)
    np.divide(above, below, out=quotient, where=below > 0)
    return quotient


def difference_of_means(
    values: Floats, one: Floats, other: Floats, groups: Ints, how: Resampling
) -> tuple[float | None, Interval | None]:
    """The mean of some items' values minus that of others', with its interval.

    Args:
        values: one number per item.
        one: 1.0 for the items of the first mean, else 0.0.
        other: 1.0 for the items of the second mean, else 0.0.
        groups: what belongs together.
        how: the bootstrap.
    """
    sums = summed(np.stack([values * one, one, values * other, other], axis=1), groups)

    def statistic(weights: Floats) -> Floats:
        total = weights @ sums
        return ratio_of(total[:, 0], total[:, 1]) - ratio_of(total[:, 2], total[:, 3])

    value = float(statistic(np.ones((1, len(sums))))[0])
    if not np.isfinite(value):
        return None, None
    return value, how.interval(len(sums), statistic)[0]
