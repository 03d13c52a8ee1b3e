"""Number of labels with which a calibration that was refused would probably be granted."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import NamedTuple

import numpy as np

from jury_adapters.calibration.gold import FEWEST_LABELS
from jury_adapters.calibration.power import guarantee_sample, power_of_guarantee
from jury_adapters.calibration.simulated_grants import ThresholdSequence, threshold_sequences
from jury_adapters.calibration.thresholds import Method, Trials, fewest_decided


class _FirstTest(NamedTuple):
    """First threshold that a calibration tests with some number of labels.

    Attributes:
        share: share of the cases that it decides.
        error_rate: share of these that disagrees with human labels.
        most: number of labels from which on a stricter threshold is the first that decides enough cases.
    """

    share: float
    error_rate: float
    most: float


def labels_for_power(
    trials: Trials, agreement: float, delta: float, method: Method, power: float
) -> tuple[int, float] | None:
    """Return the number of labelled items that get the guarantee with this power, if they come out like these.

    A guarantee depends on the first threshold that decides enough items. The number is that of
    :func:`~jury_adapters.statistics.labels_for_guarantee`, for the share of items that this threshold decides, and the
    share of those that agrees with human labels. Of a threshold that decides fewer than 30 of the items too little is
    known. More labels raise the power little where confidences take many values, because a stricter threshold is then
    the first that decides enough items.

    Args:
        trials: the labelled items of the refused calibration.
        agreement: the share to guarantee, in 0..1.
        delta: the probability with which the guarantee may fail, in 0..1.
        method: the method of the search for thresholds.
        power: least probability of the guarantee, in 0..1.

    Returns:
        The number and its power; None if no number is known to have the power.
    """
    alpha, found = 1 - agreement, []
    for sequence in threshold_sequences(trials, [(~trials.correct).astype(np.float64)], delta, method):
        level, least = sequence.level, fewest_decided(alpha, sequence.level)
        for share, error_rate, most in _first_tests(sequence, least):
            if error_rate >= alpha or most <= len(trials.confidences) + 1:
                continue
            if most < np.inf and power > power_of_guarantee(
                ceil(most) - 1, alpha=alpha, level=level, error_rate=error_rate, share=share, least=least
            ):
                continue
            n, power_of = guarantee_sample(alpha, level, error_rate=error_rate, share=share, power=power)
            if n is not None and len(trials.confidences) < n < most:
                found.append((n, power_of(n)))
    return min(found, default=None)


def _first_tests(sequence: ThresholdSequence, least: int) -> Iterator[_FirstTest]:
    """Yield the thresholds that decide more items than stricter ones, and 30 or more."""
    decided = np.bincount(sequence.first, minlength=sequence.size + 1)[:-1].cumsum()
    items, most, rates = len(sequence.first), np.inf, sequence.rates[0]
    for at in np.flatnonzero(np.diff(decided, prepend=0)).tolist():
        share = float(decided[at] / items)
        if decided[at] >= FEWEST_LABELS:
            wrong = rates[sequence.first <= at, at if rates.shape[1] > 1 else 0]
            yield _FirstTest(share, float(wrong.mean()), most)
        most = least / share
