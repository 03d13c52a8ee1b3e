"""Bootstrap intervals of agreement that remain valid with few items and skewed labels.

A sample without a disagreement has only resamples without one, and a sample with one minority label has many resamples
without any. The percentile bootstrap then gives an interval that is too narrow, or a single point. So the resamples are
drawn from the items and two more: one on which the jurors disagree, and one on which they agree on the second most
frequent label. Agresti and Coull (1998) add two successes and two failures to a proportion for the same reason.
``docs/measured.md`` has the coverage with them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite

import numpy as np

from jury_adapters.calibration.estimates import Interval
from jury_adapters.calibration.resampling import Resampling, distinct
from jury_adapters.calibration.types import MISSING, Floats, Ints, counted

_HALVES = (1, 1, 2)  # two halves of the item with a disagreement, in either order, and the item with an agreement
_MANY_VALUES = 10  # on a finer scale, votes are rarely equal, so no value prevails


@dataclass(frozen=True, slots=True)
class Smoothed:
    """Votes with the items that exist only in resamples.

    Attributes:
        codes: items x jurors; the added items come last. In a large batch without groups, alike items are one row.
        groups: one number per row of ``codes``; those of the added items are the largest.
        counts: the number of groups (or items) of the votes themselves that each number of ``groups`` stands for.
        added: the number of added groups, 0 or 3.
    """

    codes: Ints
    groups: Ints
    counts: Ints
    added: int

    @classmethod
    def of(cls, codes: Ints, groups: Ints, labels: int, *, every_juror: bool = False) -> Smoothed:
        """Add the items.

        Args:
            codes: items x jurors, positions in the scale, -1 for no vote.
            groups: one number per item.
            labels: the number of labels. Nothing is added if there are more than ten, if only one occurs, or if
                no item has two votes.
            every_juror: whether each juror votes on the added items, or only the usual number of jurors.
        """
        rows, numbers, kinds = _kinds_of(codes, groups)
        counts, votes = counted(codes, labels).sum(axis=0), (codes != MISSING).sum(axis=1)
        if labels > _MANY_VALUES or (counts > 0).sum() < 2 or not (votes >= 2).any():
            return cls(rows, numbers, kinds, 0)
        first, second = np.argsort(-counts, kind="stable")[:2].tolist()
        jurors = codes.shape[1]
        usual = jurors if every_juror else max(2, round(float(votes[votes >= 2].mean())))
        minority = (codes == second).sum(axis=1) / np.maximum(votes, 1)
        turns = np.where(np.arange(jurors) % 2, second, first)
        more = np.stack([turns, first + second - turns, np.full(jurors, second)])
        more[:, usual:] = MISSING
        size = group_size(minority, groups)
        last = int(numbers.max()) + 1 + np.arange(len(more))
        return cls(
            np.concatenate([rows, np.repeat(more, size, axis=0)]),
            np.concatenate([numbers, np.repeat(last, size)]),
            kinds,
            len(more),
        )

    @property
    def units(self) -> int:
        """Number of groups (or items) of the votes themselves."""
        return int(self.counts.sum())

    @property
    def as_voted(self) -> Floats:
        """Weights of the votes as they are: 1 for each group, 0 for the added ones."""
        return np.concatenate([self.counts, np.zeros(self.added)])[None, :]

    def interval(self, how: Resampling, statistic: Callable[[Floats], Floats]) -> tuple[Interval | None, int]:
        """Return the 95 % percentile interval, and the number of draws for which the statistic is undefined.

        The interval contains the value of the votes as they are. The added groups can move the draws of a coefficient
        at the end of its range past that value.

        Args:
            how: number of draws and seed.
            statistic: takes weights (draws x groups, the added ones last) and returns a value per draw.
        """
        interval, undefined_draws = how.interval(self.counts, statistic, _HALVES[: self.added])
        value = float(statistic(self.as_voted)[0])
        if interval is not None and isfinite(value):
            interval = (min(interval[0], value), max(interval[1], value))
        return interval, undefined_draws


def _kinds_of(codes: Ints, groups: Ints) -> tuple[Ints, Ints, Ints]:
    """Return rows of votes, the number of the group of each, and how many groups each number stands for."""
    units = len(np.unique(groups))
    if units < len(codes):
        return codes, groups, np.ones(units, dtype=np.int64)
    rows, counts = distinct(codes)
    return rows, np.arange(len(rows)), counts


def group_size(values: Floats, groups: Ints) -> int:
    """Return the number of items in an added group: from 1 to the size of the usual group.

    It is the design effect of the values. Items of a group that are all alike count as the whole group; independent
    items count as one. If all values are equal, groups are assumed to be alike.
    """
    usual = max(1, round(len(values) / len(np.unique(groups))))
    apart = variance_of_mean(values, np.arange(len(values)))
    if not apart:
        return usual
    return min(usual, max(1, round(variance_of_mean(values, groups) / apart)))


def variance_of_mean(values: Floats, groups: Ints) -> float:
    """Return the variance of a mean of items in groups; for groups of one, the sample variance over n."""
    position = np.unique(groups, return_inverse=True)[1]
    sums = np.bincount(position, weights=values - values.mean())
    many = len(sums)
    return float((sums**2).sum() / len(values) ** 2 * many / (many - 1)) if many > 1 else 0.0
