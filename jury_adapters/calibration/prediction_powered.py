"""Prediction-powered means (PPI++): many predictions, corrected by their error on the items with human labels.

The pass rate of one system and the difference between two are both such means.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np

from jury_adapters.calibration.smoothing import group_size, variance_of_mean
from jury_adapters.calibration.types import Floats, Ints
from jury_adapters.core.clustered_shares import GroupSum, few_groups_factor, group_correlation
from jury_adapters.core.errors import ConfigurationError


class TwoMore(NamedTuple):
    """Two added items that count only for the interval: one disagreement in each direction.

    Attributes:
        labels: their human labels.
        predictions: their predictions.
        unlabelled: the two predictions that are added to those of the items without a label.
    """

    labels: tuple[float, float]
    predictions: tuple[float, float]
    unlabelled: tuple[float, float]


class CorrectedMean(NamedTuple):
    """A prediction-powered mean.

    Attributes:
        value: the estimate.
        lam: weight of the predictions, in 0..1.
        error: standard error of the estimate.
        centre: centre of the interval, which includes the two added items.
        spread: standard error of the interval.
    """

    value: float
    lam: float
    error: float
    centre: float
    spread: float


def corrected_mean(
    labels: Floats, predictions: Floats, unlabelled: Floats, own: Ints, others: Ints, *, more: TwoMore
) -> CorrectedMean:
    """Return ``lam * mean(unlabelled) + mean(labels - lam * predictions)``, with the lam of the narrowest interval.

    The lam is in 0..1: useless predictions get 0, which gives the plain mean of the labels.

    The spread is that of Liang and Zeger's cluster-robust variance or, if it is larger, that of independent items and
    the variance between groups at :func:`~jury_adapters.core.clustered_shares.group_correlation` of the labels: the
    former is often far too small with few groups. It grows by
    :func:`~jury_adapters.core.clustered_shares.few_groups_factor`, the larger one of the labelled and the other
    items.

    Args:
        labels: the human labels of the labelled items; two or more.
        predictions: the predictions for the same items.
        unlabelled: the predictions for all other items.
        own: the group of each labelled item.
        others: the group of each other item. A number that is also in ``own`` is the same group.
        more: the two added items that count only for the interval.

    Source: Angelopoulos, Duchi and Zrnic (2023), *PPI++: Efficient Prediction-Powered Inference*.
    """
    n, rest = len(labels), len(unlabelled)
    spread = float(np.concatenate([predictions, unlabelled]).var(ddof=1))
    covariance = float(((labels - labels.mean()) * (predictions - predictions.mean())).sum() / (n - 1))
    lam = float(np.clip(covariance / ((1 + n / rest) * spread), 0, 1)) if rest > 1 and spread > 0 else 0.0
    errors = labels - lam * predictions
    value = lam * float(unlabelled.mean() if rest else 0.0) + float(errors.mean())
    pair = (more.labels[0] - lam * more.predictions[0], more.labels[1] - lam * more.predictions[1])
    parts = (_Part(1.0, errors, pair), _Part(lam, unlabelled, more.unlabelled))[: 2 if lam else 1]
    grouped = _errors_of(parts, (own, others))
    alone = _errors_of(parts, (np.arange(n), n + np.arange(rest)))
    widest = max(grouped.spread, sqrt(alone.spread**2 + _variance_between(labels, own, more.labels)))
    factor = max(few_groups_factor(_sizes(groups)) for groups in (own, others)[: len(parts)])
    return CorrectedMean(value, lam, max(grouped.error, alone.error), value + grouped.shift, factor * widest)


class SmoothedMean(NamedTuple):
    """Mean with two values added to the observed ones.

    Attributes:
        shift: the change of the mean by the two values.
        variance: the variance of the mean.
    """

    shift: float
    variance: float


def mean_with_two_more(values: Floats, pair: tuple[float, float], groups: Ints) -> SmoothedMean:
    """Return the mean of the values and two added ones; if items have groups, each added value is a group."""
    new, size = int(groups.max()) + 1, group_size(values, groups)
    more = np.concatenate([values, np.repeat(pair, size)])
    spread = variance_of_mean(more, np.concatenate([groups, np.repeat([new, new + 1], size)]))
    return SmoothedMean(float(more.mean() - values.mean()), spread * len(more) / len(values))


def numbered_groups(groups: Sequence[int] | Ints, n: int, what: str) -> Ints:
    """Return the groups as numbers; without any, each item is a group.

    Raises:
        ConfigurationError: the number of groups is not that of the items.
    """
    if not len(groups):
        return np.arange(n, dtype=np.int64)
    if len(groups) != n:
        raise ConfigurationError(f"{what} has {len(groups)} entries for {n} items")
    return np.asarray(groups, dtype=np.int64)


class _Part(NamedTuple):
    """Mean of the labelled or of the other items, which is a term of the estimate.

    Attributes:
        weight: the factor of the mean in the estimate.
        values: the values of the items.
        pair: the two values that are added for the interval.
    """

    weight: float
    values: Floats
    pair: tuple[float, float]


class _Errors(NamedTuple):
    """Standard errors of an estimate, without and with the two added items, and the shift of its centre by these."""

    error: float
    spread: float
    shift: float


def _errors_of(parts: Sequence[_Part], groups: Sequence[Ints]) -> _Errors:
    """Return the errors of a sum of one or two means whose items may share groups."""
    variance = smooth = shift = 0.0
    for part, own in zip(parts, groups, strict=False):
        smoothed = mean_with_two_more(part.values, part.pair, own)
        variance += part.weight**2 * variance_of_mean(part.values, own)
        smooth += part.weight**2 * smoothed.variance
        shift += part.weight * smoothed.shift
    if len(parts) == 2:
        (first, second), (own, others) = parts, groups
        together = 2 * first.weight * second.weight * _covariance_of_means(first.values, own, second.values, others)
        variance, smooth = variance + together, smooth + together
    return _Errors(sqrt(max(0.0, variance)), sqrt(max(0.0, smooth)), shift)


def _variance_between(labels: Floats, groups: Ints, more: tuple[float, float]) -> float:
    """Return the variance that groups add to the mean of the labels, at the correlation of two labels of a group."""
    position, sizes = np.unique(groups, return_inverse=True)[1], _sizes(groups)
    n = len(labels)
    apart = sum(size**2 for size in sizes) / n - 1
    if not apart:
        return 0.0
    totals, squares = (np.bincount(position, weights=values).tolist() for values in (labels, labels**2))
    sums = [GroupSum(*one) for one in zip(sizes, totals, squares, strict=True)]
    correlation = group_correlation(sums, int(min(more)))
    return correlation * float(np.concatenate([labels, more]).var()) * apart / n


def _sizes(groups: Ints) -> list[int]:
    return list(np.unique(groups, return_counts=True)[1].tolist())


def _covariance_of_means(first: Floats, groups: Ints, second: Floats, others: Ints) -> float:
    """Return the covariance of the means of two sets of items that share groups; 0 if they share none."""
    numbers, position = np.unique(np.concatenate([groups, others]), return_inverse=True)
    many = len(numbers)
    sums = np.bincount(position[: len(first)], first - first.mean(), many) / len(first)
    return float(sums @ np.bincount(position[len(first) :], second - second.mean(), many)) / len(second)
