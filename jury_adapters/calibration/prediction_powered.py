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
    smoothed = mean_with_two_more(errors, pair, own)
    variance, centre, smooth = variance_of_mean(errors, own), value + smoothed.shift, smoothed.variance
    if lam:
        together = 2 * lam * _covariance_of_means(errors, own, unlabelled, others)
        smoothed = mean_with_two_more(unlabelled, more.unlabelled, others)
        variance += lam**2 * variance_of_mean(unlabelled, others) + together
        centre += lam * smoothed.shift
        smooth += lam**2 * smoothed.variance + together
    return CorrectedMean(value, lam, sqrt(max(0.0, variance)), centre, sqrt(max(0.0, smooth)))


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


def _covariance_of_means(first: Floats, groups: Ints, second: Floats, others: Ints) -> float:
    """Return the covariance of the means of two sets of items that share groups; 0 if they share none."""
    numbers, position = np.unique(np.concatenate([groups, others]), return_inverse=True)
    many = len(numbers)
    sums = np.bincount(position[: len(first)], first - first.mean(), many) / len(first)
    return float(sums @ np.bincount(position[len(first) :], second - second.mean(), many)) / len(second)
