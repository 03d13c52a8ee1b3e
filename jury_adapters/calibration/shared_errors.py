"""Test of the assumption of Dawid and Skene that jurors err independently, from the votes alone."""

from __future__ import annotations

from itertools import combinations
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from jury_adapters.calibration.resampling import summed
from jury_adapters.calibration.types import Bools, Floats
from jury_adapters.calibration.votes import Votes

LEVEL = 0.05
"""Probability that the test finds a pair although the jurors of a panel err independently, at most."""

LEAST_EXCESS = 0.01
"""Smallest difference between two shares of agreement that matters."""


class AlikePair(NamedTuple):
    """Pair of jurors that agree more than independent errors allow.

    Attributes:
        names: the two jurors.
        agreed: the share of the items on which they agree, of those that both judged, in 0..1.
        allowed: the share on which jurors with these reliabilities would agree if their errors were independent.
    """

    names: tuple[str, str]
    agreed: float
    allowed: float


def alike_pairs(votes: Votes, truth: Floats, confusions: Floats) -> list[AlikePair]:
    """Return the pairs that agree more than the estimates of Dawid and Skene allow, the clearest first.

    If the errors of two jurors a and b are independent given the truth, they agree on the share ``e = sum_l q_l sum_v
    pi_a[l, v] pi_b[l, v]`` of the items, where ``q`` is the mean posterior of the items that both judged. The test is
    that of the residual ``(o - e) / sqrt(e (1 - e) / n)``, one-sided and with Bonferroni's correction for the number of
    pairs, at a level of 0.05; o is the share on which they do agree. The estimates follow the votes, so the residual
    varies less than the normal distribution, and false alarms are rarer. In groups, n is the effective number of
    items. The excess of a pair must be one percentage point or more.

    A pair that errs alike pulls the estimates towards itself. They then explain the agreement of this pair, and not
    that of the others, which agree with the truth. So the test finds that jurors err together, but not which ones.
    With two labels and three jurors it finds nothing: the estimates fit such votes, whatever the errors.

    Args:
        votes: items x jurors.
        truth: the posterior of each item.
        confusions: the confusion matrix of each juror.

    Sources: J. K. Vermunt and J. Magidson (2005), *Technical Guide for Latent GOLD 4.0*, for bivariate residuals;
    D. L. Oberski, G. H. van Kollenburg and J. K. Vermunt (2013), *A Monte Carlo evaluation of three methods to detect
    local dependence in binary data latent class models*, Advances in Data Analysis and Classification 7.
    """
    answered = votes.answered.astype(np.float64)
    both = answered.T @ answered
    allowed, agreed = np.zeros_like(both), np.zeros_like(both)
    for code in range(len(votes.labels)):
        mass = (answered * truth[:, [code]]).T @ answered
        allowed += mass * (confusions[:, code] @ confusions[:, code].T)
        said = (votes.codes == code).astype(np.float64)
        agreed += said.T @ said
    pairs = [(a, b) for a, b in combinations(range(len(votes.jurors)), 2) if both[a, b] > 0]
    found = []
    for a, b in pairs:
        of_both = votes.answered[:, a] & votes.answered[:, b]
        n = float(both[a, b])
        share, chance = agreed[a, b] / n, min(1 - 1 / n, float(allowed[a, b]) / n)
        n /= _design_effect(votes, a, b, of_both) if votes.grouped else 1.0
        residual = (share - chance) / np.sqrt(chance * (1 - chance) / n)
        if residual > NormalDist().inv_cdf(1 - LEVEL / len(pairs)) and share - chance >= LEAST_EXCESS:
            names = votes.jurors[a], votes.jurors[b]
            found.append((residual, AlikePair(names, float(share), float(chance))))
    return [pair for _, pair in sorted(found, key=lambda one: -one[0])]


def _design_effect(votes: Votes, a: int, b: int, of_both: Bools) -> float:
    """Return the variance of the agreement of two jurors, relative to independent items; 1 at least."""
    agree = (votes.codes[of_both, a] == votes.codes[of_both, b]).astype(np.float64)
    centred = agree - agree.mean()
    alone = float(centred @ centred)
    together = float(np.square(summed(centred[:, None], votes.groups[of_both])).sum())
    return max(1.0, together / alone) if alone else 1.0
