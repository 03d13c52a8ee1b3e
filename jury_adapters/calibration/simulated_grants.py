"""Rates at which calibrations of given sizes grant a guarantee to a jury that is not good enough, and to one like this.

Both are simulated. A simulated calibration draws as many labelled items as there are, with replacement, and keeps the
tiers' confidences; the agreement with human labels is drawn randomly. It grants the guarantee if the first threshold
that decides enough items passes its test: if that one fails, the calibration tries no other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jury_adapters.calibration.binomial import most_errors
from jury_adapters.calibration.grant_rates import GrantRates
from jury_adapters.calibration.thresholds import PATH, Method, Trials, fewest_decided, level_of_test, path_steps
from jury_adapters.calibration.types import Bools, Floats, Ints

RUNS = 1000
"""Number of simulated calibrations of each kind; the standard error of a rate is 0.016 at most."""


def simulate_grants(
    trials: Trials, agreement: float, delta: float, method: Method, *, runs: int = RUNS, seed: int = 0
) -> GrantRates:
    """Simulate calibrations of juries that are not good enough, and of juries like this one.

    The error rate of a tier of a jury like this one is a logistic function of its confidence, fitted with a weak prior
    (half an error and half an agreement more, and a standard normal slope): zero observed errors do not mean zero
    future errors. All tiers err on the same items, as far as they err.

    Args:
        trials: the labelled items of the calibration.
        agreement: the share to guarantee, in 0..1.
        delta: the probability with which the guarantee may fail, in 0..1.
        method: the method of the search for thresholds.
        runs: number of simulated calibrations of each kind.
        seed: the seed of the simulation.
    """
    draw = np.random.default_rng(seed)
    items = len(trials.confidences)
    seen = _error_rates(trials)
    sequences = threshold_sequences(trials, [np.full_like(seen, 1 - agreement), seen], delta, method)
    granted = np.zeros(2, dtype=np.int64)
    at_once = max(1, _MOST_AT_ONCE // items)
    for start in range(0, runs, at_once):
        size = (min(at_once, runs - start), items)
        rows, luck = draw.integers(0, items, size), draw.random(size)
        granted += np.any([each.passes(rows, luck, 1 - agreement) for each in sequences], axis=0).sum(axis=1)
    if_false, as_seen = (granted / runs).tolist()
    return GrantRates(if_false, as_seen, runs, any(each.keeps(1, 1 - agreement) for each in sequences))


@dataclass(frozen=True, slots=True)
class ThresholdSequence:
    """Thresholds from strict to lenient, as a calibration tests them.

    Attributes:
        first: per item, the position of the first threshold that decides it; ``size`` if none does.
        size: the number of thresholds.
        rates: the error rate of the deciding tier, for each kind of jury: items x thresholds, or items x 1 if a single
            tier decides.
        level: the level of the test.
    """

    first: Ints
    size: int
    rates: Sequence[Floats]
    level: float

    def passes(self, rows: Ints, luck: Floats, alpha: float) -> Bools:
        """Return, per kind and simulated calibration, whether the first threshold that decides enough items passes.

        Args:
            rows: calibrations x items: the item that was drawn.
            luck: of the same shape, in 0..1: the item is an error if this is below the error rate.
            alpha: the allowed share of errors, in 0..1.
        """
        runs, items = rows.shape
        first = self.first[rows]
        places = (first + (self.size + 1) * np.arange(runs)[:, None]).ravel()
        counts = np.bincount(places, minlength=runs * (self.size + 1)).reshape(runs, -1)
        decided = counts[:, :-1].cumsum(axis=1)
        enough = decided >= fewest_decided(alpha, self.level)
        if not enough.any():
            return np.zeros((len(self.rates), runs), dtype=bool)
        threshold = enough.argmax(axis=1)[:, None]
        number = np.take_along_axis(decided, threshold, axis=1)[:, 0]
        allowed = most_errors(items, alpha, self.level)[number]
        reached = first <= threshold
        wrong = [luck < rates[rows, threshold if rates.shape[1] > 1 else 0] for rates in self.rates]
        errors = np.array([(each & reached).sum(axis=1) for each in wrong])
        passed: Bools = enough.any(axis=1) & (errors <= allowed)
        return passed

    def keeps(self, kind: int, alpha: float) -> bool:
        """Return whether a jury of this kind errs on at most ``alpha`` at the first or the last threshold tested."""
        decided = np.bincount(self.first, minlength=self.size + 1)[:-1].cumsum()
        tested = np.flatnonzero(decided >= fewest_decided(alpha, self.level))
        rates = self.rates[kind]
        for threshold in tested[[0, -1]] if len(tested) else ():
            reached = self.first <= threshold
            if rates[reached, threshold if rates.shape[1] > 1 else 0].mean() <= alpha:
                return True
        return False


def threshold_sequences(
    trials: Trials, kinds: Sequence[Floats], delta: float, method: Method
) -> list[ThresholdSequence]:
    """Return the sequences of thresholds that a calibration by this method tests.

    Args:
        trials: the labelled items.
        kinds: for each kind of jury, items x tiers: the error rate of a tier.
        delta: the probability with which the guarantee may fail, in 0..1.
        method: the method of the search for thresholds.
    """
    tiers = trials.confidences.shape[1]
    found = []
    if method != "per_tier":
        begins = path_steps(trials.confidences)
        reached = begins[:, :, None] <= np.arange(len(PATH))
        decider = reached.argmax(axis=1)  # the first tier that is certain enough
        by_step = [np.take_along_axis(rates, decider, axis=1) for rates in kinds]
        found.append(ThresholdSequence(begins.min(axis=1), len(PATH), by_step, level_of_test(delta, method, tiers)))
    if method != "path":
        level = level_of_test(delta, "per_tier", tiers) / (2 if method == "both" else 1)
        for tier in range(tiers):
            confidences = trials.confidences[:, tier]
            values, first = np.unique(-confidences, return_inverse=True)
            size = int((values <= 0).sum())  # -1 means no verdict
            found.append(ThresholdSequence(np.minimum(first, size), size, [rates[:, [tier]] for rates in kinds], level))
    return found


def _error_rates(trials: Trials) -> Floats:
    """Return the error rate of each tier at the confidence of each item; items x tiers."""
    rates = np.ones_like(trials.confidences)
    for tier in range(rates.shape[1]):
        said = trials.confidences[:, tier] >= 0
        if said.any():
            rates[said, tier] = _logistic(trials.confidences[said, tier], ~trials.correct[said, tier])
    return rates


def _logistic(x: Floats, y: Floats) -> Floats:
    """Return the fitted probability of ``y`` for each ``x``, by Newton's method."""
    spread = float(x.std())
    z = (x - x.mean()) / spread if spread > _ALIKE else np.zeros_like(x)
    design = np.column_stack([np.ones(z.size + 1), np.append(z, 0.0)])  # with one added item, half right, at the mean
    outcome, prior = np.append(y.astype(np.float64), 0.5), np.array([0.0, 1.0])
    share = float(outcome.mean())
    beta = np.array([np.log(share / (1 - share)), 0.0])
    for _ in range(_STEPS):
        fitted = 1 / (1 + np.exp(-design @ beta))
        gradient = design.T @ (outcome - fitted) - prior * beta
        curvature = design.T @ (design * (fitted * (1 - fitted))[:, None]) + np.diag(prior)
        step = np.linalg.solve(curvature, gradient)
        beta = beta + np.clip(step, -1, 1)
        if abs(step).max() < _CLOSE:
            break
    result: Floats = (1 / (1 + np.exp(-design @ beta)))[:-1]
    return result


_MOST_AT_ONCE = 500_000  # drawn items, which bounds the memory
_ALIKE = 1e-9  # confidences that differ by less are the same
_STEPS = 100
_CLOSE = 1e-10
