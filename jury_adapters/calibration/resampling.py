"""Bootstrap by matrix products: how much a number would vary with another sample of items or groups.

In a large batch many items have the same votes. How often each kind of item is in a sample then follows a multinomial
distribution, which is drawn directly (Efron and Tibshirani 1993, *An Introduction to the Bootstrap*, section 6.2). The
time of a sample is then that of the kinds and not that of the items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from jury_adapters.calibration import DRAWS
from jury_adapters.calibration.estimates import Interval
from jury_adapters.calibration.types import Floats, Ints
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.tolerance import equal

Columns = TypeVar("Columns", Floats, NDArray[np.float32], NDArray[np.uint8], Ints)

_CELLS = 1 << 17  # number of weights in memory at once: 1 MB, which caches hold
_MANY = 2_000  # units from which on alike ones are drawn together
_ALIKE = 4  # units of a kind on average, from which on that pays


@dataclass(frozen=True, slots=True)
class Resampling:
    """Options of the bootstrap.

    Attributes:
        draws: the number of samples; 0 for no interval.
        seed: equal seeds give equal intervals.
    """

    draws: int = DRAWS
    seed: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.draws, int) or self.draws < 0:
            raise ConfigurationError(f"draws is a whole number from 0, not {plain_repr(self.draws)}")

    def weights(self, units: int | Ints, halves: Sequence[int] = ()) -> Iterator[Floats]:
        """Yield the number of times that each unit is in each sample: blocks of draws x units, drawn with replacement.

        Args:
            units: the number of units, and the size of a sample; or the number of units of each kind, as
                :func:`distinct` returns them, for blocks of draws x kinds.
            halves: the probabilities of further units, in halves of that of a unit. They come last.
        """
        generator = np.random.default_rng(self.seed)
        if not isinstance(units, int):
            if int(units.sum()) > len(units):
                yield from self._weights_of_kinds(generator, units, halves)
                return
            units = len(units)
        owner = np.repeat(np.arange(units + len(halves)), [2] * units + list(halves)) if halves else np.arange(units)
        width = units + len(halves)
        block = max(1, min(self.draws, _CELLS // max(width, 1)))
        for start in range(0, self.draws, block):
            rows = min(block, self.draws - start)
            drawn = owner[generator.integers(0, len(owner), size=(rows, units))]
            drawn += np.arange(rows)[:, None] * width
            yield np.bincount(drawn.ravel(), minlength=rows * width).reshape(rows, width).astype(np.float64)

    def _weights_of_kinds(
        self, generator: np.random.Generator, counts: Ints, halves: Sequence[int]
    ) -> Iterator[Floats]:
        chances = np.concatenate([2.0 * counts, np.asarray(halves, dtype=np.float64)])
        block = max(1, min(self.draws, _CELLS // len(chances)))
        for start in range(0, self.draws, block):
            rows = min(block, self.draws - start)
            drawn = generator.multinomial(int(counts.sum()), chances / chances.sum(), size=rows)
            yield drawn.astype(np.float64)

    def interval(
        self, units: int | Ints, statistic: Callable[[Floats], Floats], halves: Sequence[int] = ()
    ) -> tuple[Interval | None, int]:
        """Return the 95 % percentile interval.

        Args:
            units: the number of items or groups to draw from, or that of each kind, as in :meth:`weights`.
            statistic: takes a block of weights (draws x units) and returns one value per draw, NaN if undefined.
            halves: further units, as in :meth:`weights`.

        Returns:
            The interval, and the number of undefined draws. The interval is None if no draw was defined, or if
            all are equal, because they then say nothing about other items.
        """
        if not self.draws or np.sum(units) < 2:
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
    """Return the sums of rows (items x columns) by group, with groups in ascending order."""
    known, position = np.unique(groups, return_inverse=True)
    if len(known) == len(groups):
        return rows
    order = np.argsort(position, kind="stable")
    starts = np.searchsorted(position[order], np.arange(len(known)))
    sums: Columns = np.add.reduceat(rows[order], starts, axis=0)
    return sums


def distinct(rows: Columns) -> tuple[Columns, Ints]:
    """Return the different rows and the number of units with each, for :meth:`Resampling.weights`.

    If there are fewer than 2,000 units, or hardly any are alike, each row stays by itself.

    Args:
        rows: one per unit: everything that a statistic reads of the unit.
    """
    kinds = _kinds_of(rows) if len(rows) >= _MANY else None
    if kinds is None:
        return rows, np.ones(len(rows), dtype=np.int64)
    _, first, counts = np.unique(kinds, return_index=True, return_counts=True)
    return rows[first], counts


def ratio_of(above: Floats, below: Floats) -> Floats:
    """Divide, with NaN instead of a warning if the divisor is not positive."""
    quotient: Floats = np.full(np.broadcast(above, below).shape, np.nan)
    np.divide(above, below, out=quotient, where=below > 0)
    return quotient


def difference_of_means(
    values: Floats, one: Floats, other: Floats, groups: Ints, how: Resampling
) -> tuple[float | None, Interval | None]:
    """Return the mean of some items' values minus that of others', with its interval.

    Args:
        values: one number per item.
        one: 1.0 for the items of the first mean, else 0.0.
        other: 1.0 for the items of the second mean, else 0.0.
        groups: the group of each item.
        how: the options of the bootstrap.
    """
    sums, counts = distinct(summed(np.stack([values * one, one, values * other, other], axis=1), groups))

    def statistic(weights: Floats) -> Floats:
        total = weights @ sums
        return ratio_of(total[:, 0], total[:, 1]) - ratio_of(total[:, 2], total[:, 3])

    value = float(statistic(counts[None, :].astype(np.float64))[0])
    if not np.isfinite(value):
        return None, None
    return value, how.interval(counts, statistic)[0]


def _kinds_of(rows: Columns) -> Ints | None:
    """Return a number per row that is equal for equal rows, in the order of the rows; None if hardly any are alike.

    ``np.unique(rows, axis=0)`` is several times slower, because it compares whole rows.
    """
    kinds: Ints = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:
        values, place = np.unique(column, return_inverse=True)
        if len(values) * _ALIKE > len(rows):
            return None
        different, kinds = np.unique(kinds * len(values) + place.reshape(-1), return_inverse=True)
        if len(different) * _ALIKE > len(rows):
            return None
    return kinds.reshape(-1)
