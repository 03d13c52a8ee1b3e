"""Thresholds of confidence for a guarantee: fixed-sequence tests on labelled items.

Tiers are tried in order, and a tier decides an item if its confidence reaches the tier's threshold. The thresholds
are chosen so that, of the items decided, at most a share ``alpha`` disagrees with human labels. Each candidate is
tested exactly: ``p = P(Bin(decided, alpha) <= errors)``. Candidates are tested in an order fixed beforehand, from
strict to lenient, until one fails; so one ``delta`` covers the whole sequence (fixed-sequence testing; Learn then Test,
arXiv 2110.01052; Trust or Escalate, arXiv 2407.18370).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Literal, TypeAlias, get_args

import numpy as np

from jury_adapters.calibration.binomial import check_level, fewest_items, most_errors
from jury_adapters.calibration.gold import FEWEST_LABELS
from jury_adapters.calibration.types import Bools, Floats, Ints
from jury_adapters.core.errors import ConfigurationError, unknown
from jury_adapters.core.tolerance import TOLERANCE

Method: TypeAlias = Literal["both", "path", "per_tier"]

PATH = tuple(round(0.995 - 0.005 * step, 3) for step in range(100))
"""Common thresholds that ``path`` tries: 0.995, 0.990 ... 0.500."""


@dataclass(frozen=True, slots=True)
class Trials:
    """Judgments of each tier on each labelled item.

    Attributes:
        confidences: items x tiers, 0..1; -1 if a tier gave no acceptable judgment.
        correct: items x tiers: whether the tier agrees with the human label; False if it gave no judgment.
    """

    confidences: Floats
    correct: Bools

    def __post_init__(self) -> None:
        if self.confidences.ndim != 2 or self.confidences.shape != self.correct.shape:
            raise ConfigurationError("confidences and correct are two matrices, items x tiers, of one shape")

    def take(self, rows: Ints) -> Trials:
        """Return only these items, by position."""
        return Trials(self.confidences[rows], self.correct[rows])

    def without(self, tier: int) -> Trials:
        """Return the trials of a cascade without one of the tiers, by position."""
        return Trials(np.delete(self.confidences, tier, axis=1), np.delete(self.correct, tier, axis=1))

    def decided_by(self, thresholds: tuple[float, ...]) -> Ints:
        """Return, per item, the tier that decides it, or -1 if none does."""
        reached = self.confidences >= np.asarray(thresholds) - TOLERANCE
        return np.where(reached.any(axis=1), reached.argmax(axis=1), -1)

    def outcome(self, thresholds: tuple[float, ...]) -> Outcome:
        """Return the outcome of these thresholds on these items."""
        tier = self.decided_by(thresholds)
        decided = np.flatnonzero(tier >= 0)
        errors = int((~self.correct[decided, tier[decided]]).sum())
        per_tier = np.bincount(tier[decided], minlength=self.confidences.shape[1])
        return Outcome(thresholds, len(tier), len(decided), errors, tuple(per_tier.tolist()))


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of thresholds on a set of items.

    Attributes:
        thresholds: one per tier; infinity if a tier decides nothing.
        items: the number of items.
        decided: the number of items that a tier decided.
        errors: the number of these that disagree with human labels.
        per_tier: the number that each tier decided.
    """

    thresholds: tuple[float, ...]
    items: int
    decided: int
    errors: int
    per_tier: tuple[int, ...]


def choose_thresholds(trials: Trials, alpha: float, delta: float, method: Method = "both") -> tuple[Outcome, Method]:
    """Return the most lenient thresholds with which at most a share ``alpha`` of the decided items has errors.

    Args:
        trials: labelled items, independent of each other and not used to fit the confidences.
        alpha: the allowed share of disagreement, 0..1.
        delta: the probability with which the guarantee may fail, 0..1.
        method: ``"path"`` moves one common threshold down :data:`PATH`. ``"per_tier"`` goes through the tiers, each
            over its own confidences among the items left, at ``delta / tiers``. ``"both"`` does both at ``delta / 2``
            and takes the one that decides more items.

    Returns:
        The outcome of the thresholds on the trials, and which of ``path`` and ``per_tier`` found them. If nothing
        passes, every threshold is infinity and nothing is decided.
    """
    check_level(alpha, "the disagreement allowed (1 - agreement)")
    check_level(delta, "delta")
    check_method(method)
    if method == "path":
        return trials.outcome(_path(trials, alpha, delta)), "path"
    if method == "per_tier":
        return trials.outcome(_per_tier(trials, alpha, delta)), "per_tier"
    path = trials.outcome(_path(trials, alpha, delta / 2))
    per_tier = trials.outcome(_per_tier(trials, alpha, delta / 2))
    return (per_tier, "per_tier") if per_tier.decided > path.decided else (path, "path")


def check_method(method: str) -> None:
    """Refuse an unknown method.

    Raises:
        ConfigurationError: there is no such method.
    """
    if method not in get_args(Method):
        raise ConfigurationError(unknown("method", method, get_args(Method)))


def fewest_labels(alpha: float, delta: float, method: Method, tiers: int) -> int:
    """Return the number of labelled items below which not even zero errors can pass."""
    return fewest_decided(alpha, level_of_test(delta, method, tiers))


def level_of_test(delta: float, method: Method, tiers: int) -> float:
    """Return the level at which a candidate is tested; for ``both``, that of its path, which is higher."""
    return {"path": delta, "per_tier": delta / tiers, "both": delta / 2}[method]


def fewest_decided(alpha: float, level: float) -> int:
    """Return the smallest number of decided items that is tested."""
    return max(FEWEST_LABELS, fewest_items(alpha, level))


def path_steps(confidences: Floats) -> Ints:
    """Return the position in :data:`PATH` of the first threshold that each confidence reaches, or its length."""
    return np.searchsorted(-np.array(PATH), -confidences)


def _path(trials: Trials, alpha: float, delta: float) -> tuple[float, ...]:
    """Return one threshold for all tiers.

    A tier decides an item at the steps from the first that its confidence reaches up to the first that an earlier
    tier's does. Counting the beginnings and ends of these ranges gives all steps at once.
    """
    items, tiers = trials.confidences.shape
    begins = path_steps(trials.confidences)
    ends = np.full(items, len(PATH))
    change = np.zeros((2, len(PATH) + 1), dtype=np.int64)  # of the numbers of decided items and of errors
    for tier in range(tiers):
        begin = begins[:, tier]
        for row, counted in enumerate((begin < ends, (begin < ends) & ~trials.correct[:, tier])):
            change[row] += np.bincount(begin[counted], minlength=len(PATH) + 1)
            change[row] -= np.bincount(ends[counted], minlength=len(PATH) + 1)
        ends = np.minimum(ends, begin)
    decided, errors = change.cumsum(axis=1)[:, :-1]
    last = _last_that_passed(decided, errors, items, alpha, delta)
    threshold = inf if last is None else PATH[last]
    return (threshold,) * int(tiers)


def _per_tier(trials: Trials, alpha: float, delta: float) -> tuple[float, ...]:
    """Return a threshold for each tier, based on the items that the tiers before it did not decide."""
    tiers = trials.confidences.shape[1]
    left = np.ones(len(trials.confidences), dtype=bool)
    thresholds = []
    for tier in range(tiers):
        open_to_it = np.flatnonzero(left & (trials.confidences[:, tier] >= 0))
        confidences = trials.confidences[open_to_it, tier]
        order = np.argsort(-confidences, kind="stable")
        sure, wrong = confidences[order], ~trials.correct[open_to_it, tier][order]
        ends = np.flatnonzero(np.append(sure[1:] != sure[:-1], np.ones(min(1, len(sure)), dtype=bool)))
        last = _last_that_passed(ends + 1, np.cumsum(wrong)[ends], len(left), alpha, delta / tiers)
        threshold = inf if last is None else float(sure[ends[last]])
        left &= ~(trials.confidences[:, tier] >= threshold - TOLERANCE)
        thresholds.append(threshold)
    return tuple(thresholds)


def _last_that_passed(decided: Ints, errors: Ints, items: int, alpha: float, delta: float) -> int | None:
    """Return the last candidate before the first that fails; candidates that decide too few items are skipped."""
    tested = np.flatnonzero(decided >= fewest_decided(alpha, delta))
    if not len(tested):
        return None
    passed = errors[tested] <= most_errors(items, alpha, delta)[decided[tested]]
    passes = len(tested) if passed.all() else int(passed.argmin())
    return int(tested[passes - 1]) if passes else None
