"""Krippendorff's alpha as a function of sums over items, so that a resample costs one matrix product."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from jury_adapters.calibration.resampling import ratio_of, summed
from jury_adapters.calibration.types import MISSING, Floats, Ints, counted
from jury_adapters.core.agreement import Level
from jury_adapters.core.errors import ConfigurationError

_WIDEST = 32  # up to this number of values, the items' coincidence matrices are stored in full
_BLOCK = 512


def alpha_of_weights(codes: Ints, scale: Floats, groups: Ints, level: Level) -> Callable[[Floats], Floats]:
    """Prepare alpha for any weighting of the groups.

    Args:
        codes: items x jurors, positions in the scale, -1 for no vote; every item has two votes or more.
        scale: the values in ascending order (for nominal votes, any numbers).
        groups: one number per item.
        level: the level of measurement, which defines the distance of two votes.

    Returns:
        A function from weights (draws x groups) to one alpha per draw; NaN if the draw has no variation.

    Only the ordinal distance depends on how often each value occurs, and so on the draw. For the other levels, an
    item's own disagreement is one number, and the expected disagreement follows from how often each value was drawn.
    """
    if level == "ordinal":
        return (_ordinal if len(scale) <= _WIDEST else _ordinal_by_draw)(codes, len(scale), groups)
    if level == "interval":
        return _interval(codes, scale, groups)
    if level == "ratio" and scale.min(initial=0.0) < 0:
        raise ConfigurationError(f"level 'ratio' needs numbers from 0, not {scale.min():g}; use level='interval'")
    counts = counted(codes, len(scale)).astype(np.float64)
    votes = counts.sum(axis=1)
    if level == "nominal":
        observed = (votes**2 - (counts**2).sum(axis=1)) / (votes - 1)
    else:
        observed = _ratio_pairs(codes, scale) / (votes - 1)
    sums = summed(np.column_stack([observed, counts]), groups)

    def alpha(weights: Floats) -> Floats:
        total = weights @ sums
        drawn = total[:, 1:]
        n = drawn.sum(axis=1)
        expected = n**2 - (drawn**2).sum(axis=1) if level == "nominal" else _ratio_expected(drawn, scale)
        return _alpha(n, total[:, 0], expected)

    return alpha


def _alpha(n: Floats, observed: Floats, expected: Floats) -> Floats:
    alpha: Floats = 1.0 - (n - 1) * ratio_of(observed, expected)
    return alpha


def _interval(codes: Ints, scale: Floats, groups: Ints) -> Callable[[Floats], Floats]:
    """Return alpha for intervals; squared differences need no pairs: twice (n sum of squares - square of the sum)."""
    answered = codes != MISSING
    centred = scale - scale[codes[answered]].mean()  # the same differences, and squares of the same magnitude
    points = np.where(answered, centred[codes], 0.0)
    votes, total, squares = answered.sum(axis=1), points.sum(axis=1), (points**2).sum(axis=1)
    observed = 2 * np.maximum(votes * squares - total**2, 0.0) / (votes - 1)
    sums = summed(np.column_stack([observed, votes, total, squares]), groups)

    def alpha(weights: Floats) -> Floats:
        apart, n, first, second = (weights @ sums).T
        return _alpha(n, apart, _no_noise(2 * (n * second - first**2), n * second))

    return alpha


def _ordinal(codes: Ints, values: int, groups: Ints) -> Callable[[Floats], Floats]:
    counts = counted(codes, values).astype(np.float64)
    pairs = counts[:, :, None] * counts[:, None, :]
    pairs[:, np.arange(values), np.arange(values)] -= counts
    pairs /= (counts.sum(axis=1) - 1)[:, None, None]
    sums = summed(pairs.reshape(len(codes), values * values), groups)

    def alpha(weights: Floats) -> Floats:
        coincidences = (weights @ sums).reshape(len(weights), values, values)
        drawn = coincidences.sum(axis=2)
        ranks = drawn.cumsum(axis=1) - drawn / 2
        distance = (ranks[:, :, None] - ranks[:, None, :]) ** 2
        observed = (coincidences * distance).sum(axis=(1, 2))
        expected = np.einsum("bi,bij,bj->b", drawn, distance, drawn, optimize=True)
        return _alpha(drawn.sum(axis=1), observed, expected)

    return alpha


def _ordinal_by_draw(codes: Ints, values: int, groups: Ints) -> Callable[[Floats], Floats]:
    """Return ordinal alpha for scores with many values, for which a matrix per item would not fit into memory."""
    answered = codes != MISSING
    votes = answered.sum(axis=1)
    group = np.unique(groups, return_inverse=True)[1]
    owner = np.broadcast_to(group[:, None], codes.shape)[answered]
    given = codes[answered]

    def alpha_of(weight: Floats) -> float:
        drawn = np.bincount(given, weights=weight[owner], minlength=values)
        n = drawn.sum()
        ranks = drawn.cumsum() - drawn / 2 - n / 2
        points = np.where(answered, ranks[codes], 0.0)
        apart = 2 * (votes * (points**2).sum(axis=1) - points.sum(axis=1) ** 2) / (votes - 1)
        expected = 2 * (n * (drawn * ranks**2).sum() - (drawn * ranks).sum() ** 2)
        return float(1.0 - (n - 1) * (weight[group] @ apart) / expected) if np.count_nonzero(drawn) > 1 else np.nan

    return lambda weights: np.array([alpha_of(weight) for weight in weights])


def _relative(one: Floats, other: Floats) -> Floats:
    """Return the squared relative difference; two zeros do not differ."""
    return np.nan_to_num(ratio_of(one - other, one + other)) ** 2


def _ratio_pairs(codes: Ints, scale: Floats) -> Floats:
    """Return, per item, the sum of the distances of all its ordered pairs of votes."""
    apart = np.zeros(len(codes))
    points = np.where(codes == MISSING, np.nan, scale[codes])
    for juror in range(1, codes.shape[1]):
        distance = _relative(points[:, :juror], points[:, juror : juror + 1])
        apart += 2 * np.where(np.isnan(points[:, juror : juror + 1]), 0.0, distance).sum(axis=1)
    return apart


def _ratio_expected(drawn: Floats, scale: Floats) -> Floats:
    expected = np.zeros(len(drawn))
    for start in range(0, len(scale), _BLOCK):
        rows = slice(start, start + _BLOCK)
        distance = _relative(scale[rows, None], scale[None, :])
        expected += ((drawn[:, rows] @ distance) * drawn).sum(axis=1)
    return expected


def _no_noise(difference: Floats, size: Floats) -> Floats:
    """Return zero where a difference of two large numbers does not exceed their rounding errors."""
    return np.where(difference > 1e-12 * np.abs(size), difference, 0.0)
