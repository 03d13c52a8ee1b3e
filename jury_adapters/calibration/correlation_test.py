"""Test of whether chance explains a correlation, which is valid also where few votes differ from the others."""

from __future__ import annotations

import numpy as np

from jury_adapters.calibration.estimates import Interval
from jury_adapters.calibration.random_samples import association_p_value
from jury_adapters.calibration.resampling import summed
from jury_adapters.calibration.types import Floats, Ints
from jury_adapters.core.incomplete_beta import incomplete_beta

_LEVEL = 0.05
_RARE = 100  # number of items with the rarer of two values from which on the exact test is not necessary


def with_null(interval: Interval | None, one: Floats, other: Floats, groups: Ints) -> Interval | None:
    """Return a bootstrap interval that excludes 0 only if :func:`correlation_p_value` is below 0.05.

    Where a single vote differs from all others, every bootstrap sample with that vote has a correlation of the same
    sign, so the bootstrap interval alone excludes 0 for any such vote.
    """
    if interval is None or interval[0] <= 0 <= interval[1] or correlation_p_value(one, other, groups) < _LEVEL:
        return interval
    return min(interval[0], 0.0), max(interval[1], 0.0)


def correlation_p_value(one: Floats, other: Floats, groups: Ints) -> float:
    """Return the two-sided p value of the hypothesis that two series are not correlated.

    It is Student's t test of the correlation, which approximates the permutation test. Of ranks it is conservative
    where one series has a rare value: a single FAIL is never significant. If both series have two values, it is
    Fisher's exact test if that has the larger p value. Groups reduce the number of items to the effective number, by
    the variance of the sums of groups.

    Args:
        one: the first series.
        other: the second series.
        groups: the group of each item.

    Sources: E. J. G. Pitman (1937), *Significance tests which may be applied to samples from any populations. II. The
    correlation coefficient test*, Supplement to the Journal of the Royal Statistical Society 4; L. Kish (1965), *Survey
    Sampling*, for the effective number.

    >>> lengths = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
    >>> round(correlation_p_value(lengths, np.array([1.0, 0, 2, 4, 3, 5, 7, 6]), np.arange(8)), 5)
    0.00086
    """
    x, y = one - one.mean(), other - other.mean()
    products, spread = x * y, float(x @ x) * float(y @ y)
    if not spread:
        return 1.0
    squared = min(1.0, float(products.sum()) ** 2 / spread)
    alone, together = float(products @ products), float(np.square(summed(products[:, None], groups)).sum())
    freedom = len(x) * min(1.0, alone / together if together else 1.0) - 2
    if 1 - squared == 1 or freedom <= 0:
        return 1.0
    p_value = incomplete_beta(freedom / 2, 0.5, 1 - squared) if squared < 1 else 0.0
    flags = [series == series.max() for series in (one, other) if len(np.unique(series)) == 2]
    if len(flags) == 2 and min(min(flag.sum(), (~flag).sum()) for flag in flags) < _RARE:
        p_value = max(p_value, association_p_value(*flags))
    return p_value
