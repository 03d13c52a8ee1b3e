"""Reliability diagrams: what confidences say, and how often the answers are right, bin by bin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi, sqrt
from typing import Any, Literal, cast

import numpy as np

from jury_adapters.calibration.estimates import Estimate, Interval
from jury_adapters.calibration.smoothing import variance_of_mean
from jury_adapters.calibration.types import Floats, Ints
from jury_adapters.core.errors import ConfigurationError, plain_repr, unknown
from jury_adapters.core.statistics import wilson
from jury_adapters.core.values import JsonValue

By = Literal["mass", "width"]
BINS = 10
_IN_A_BIN = 10  # items, where the number of bins is not given


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Items of about the same confidence.

    Attributes:
        low: lowest confidence in the bin, 0..1.
        high: highest confidence in the bin, 0..1.
        n: number of items.
        confidence: mean confidence, 0..1.
        accuracy: share of the items whose answer is right, 0..1.
        interval: the 95 % Wilson interval of the accuracy.
        by_chance: the mean absolute difference between accuracy and confidence that so many items of these confidences
            have where confidence is exactly the chance to be right, in the normal approximation.
    """

    low: float
    high: float
    n: int
    confidence: float
    accuracy: float
    interval: Interval
    by_chance: float

    def to_dict(self) -> dict[str, JsonValue]:
        """Return JSON values."""
        return {
            "low": self.low, "high": self.high, "n": self.n, "confidence": self.confidence, "accuracy": self.accuracy,
            "interval": list(self.interval), "by_chance": self.by_chance,
        }  # fmt: skip


def reliability_diagram(
    confidences: Sequence[float] | Floats,
    right: Sequence[bool] | Floats,
    *,
    bins: int | None = None,
    by: By = "mass",
    groups: Sequence[int] | Ints = (),
) -> tuple[ReliabilityBin, ...]:
    """Return the bins of a reliability diagram, in ascending order of confidence; empty bins are left out.

    Args:
        confidences: confidence of each answer, 0..1.
        right: whether each answer is right.
        bins: number of bins; by default 10, or as many as have 10 items each if that is fewer. Equal confidences lie in
            one bin, so there may be fewer.
        by: ``"mass"`` for about the same number of items in each bin, ``"width"`` for bins of the same width:
            ``[0, 1/bins], (1/bins, 2/bins]`` and so on.
        groups: what belongs together, one number per item; the intervals are as wide as for independent items divided
            by the design effect.

    Raises:
        ConfigurationError: no or unequal numbers of items, a confidence outside 0..1, or fewer than one bin.

    Sources: C. Guo, G. Pleiss, Y. Sun, K. Weinberger (2017), *On calibration of modern neural networks*, ICML (bins of
    equal width); M. P. Naeini, G. Cooper, M. Hauskrecht (2015), *Obtaining well calibrated probabilities using Bayesian
    binning*, AAAI.

    >>> for found in reliability_diagram([0.6, 0.6, 0.9, 0.9], [True, False, True, True], bins=2):
    ...     print(found.confidence, found.accuracy, found.n)
    0.6 0.5 2
    0.9 1.0 2
    """
    stated, hits = _checked(confidences, right)
    if by not in ("mass", "width"):
        raise ConfigurationError(unknown("by", by, ("mass", "width")))
    if bins is None:
        bins = max(1, min(BINS, len(stated) // _IN_A_BIN))
    if isinstance(bins, bool) or not isinstance(bins, int) or bins < 1:
        raise ConfigurationError(f"bins is a whole number from 1, not {plain_repr(bins)}")
    bin_of = _by_mass(stated, bins) if by == "mass" else np.clip(np.ceil(stated * bins - 1e-9) - 1, 0, bins - 1)
    effect = _design_effect(hits, np.asarray(groups)) if len(groups) else 1.0
    return tuple(_bin(stated[inside], hits[inside], effect) for one in np.unique(bin_of) for inside in [bin_of == one])


def bins_of(estimate: Estimate) -> tuple[ReliabilityBin, ...]:
    """Return the bins that an expected calibration error has in its details; none for another estimate."""
    bins = cast("Sequence[dict[str, Any]]", estimate.details.get("bins", ()))
    return tuple(ReliabilityBin(**{**one, "interval": tuple(one["interval"])}) for one in bins)


def calibration_error(bins: Sequence[ReliabilityBin]) -> float:
    """Return the expected calibration error: the mean of |accuracy - confidence| of the bins, weighted by items."""
    total = sum(one.n for one in bins)
    return sum(one.n * abs(one.accuracy - one.confidence) for one in bins) / total


def error_by_chance(bins: Sequence[ReliabilityBin]) -> float:
    """Return about what :func:`calibration_error` is where confidence is exactly the chance to be right."""
    total = sum(one.n for one in bins)
    return sum(one.n * one.by_chance for one in bins) / total


def _checked(confidences: Sequence[float] | Floats, right: Sequence[bool] | Floats) -> tuple[Floats, Floats]:
    stated, hits = np.asarray(confidences, dtype=np.float64), np.asarray(right, dtype=np.float64)
    if not len(stated) or len(stated) != len(hits):
        raise ConfigurationError(f"{len(stated)} confidences and {len(hits)} answers; give as many of both, and some")
    if not ((stated >= 0) & (stated <= 1)).all():  # False for NaN
        raise ConfigurationError("a confidence is a number from 0 to 1")
    if not np.isin(hits, (0.0, 1.0)).all():
        raise ConfigurationError("right is True or False for each answer")
    return stated, hits


def _by_mass(stated: Floats, bins: int) -> Ints:
    """Return a bin per item: as the item in the middle of its ties would be placed, so that ties stay together."""
    _, place, counts = np.unique(stated, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts + 1) / 2  # of the positions from 0
    of_value = np.floor(middle * bins / len(stated)).astype(np.int64)
    found: Ints = of_value[place.reshape(-1)]
    return found


def _bin(stated: Floats, hits: Floats, effect: float) -> ReliabilityBin:
    n = len(stated)
    spread = sqrt(float((stated * (1 - stated)).sum())) / n
    return ReliabilityBin(
        float(stated.min()),
        float(stated.max()),
        n,
        float(stated.mean()),
        float(hits.mean()),
        wilson(float(hits.sum()) / effect, n / effect),
        spread * sqrt(2 / pi),
    )


def _design_effect(hits: Floats, groups: Ints) -> float:
    """Return by how much the groups make the variance of the accuracy larger; at least 1."""
    apart = variance_of_mean(hits, np.arange(len(hits)))
    if not apart:
        return len(hits) / len(np.unique(groups))
    return max(1.0, variance_of_mean(hits, groups) / apart)
