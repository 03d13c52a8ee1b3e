"""The threshold of confidence with a guarantee: sequences of exact binomial tests, each in a fixed order."""

from typing import NamedTuple

import numpy as np
import scipy  # whose stats, 70 MiB, are loaded when they are used

from jury_adapters.core.values import ROUNDING
from jury_adapters.stats.figures import Bools, Floats, Ints
from jury_adapters.stats.planning import FEWEST_DECIDED

PATH = np.round(np.arange(1.0, 0.495, -0.005), 3)
"""The thresholds of every sequence, in the order in which they are tested: 1.000, 0.995 ... 0.500."""


class Choice(NamedTuple):
    """Threshold that passed.

    Attributes:
        first: the place of the first tier that is asked.
        last: the place of the last.
        threshold: the confidence from which a tier decides.
        decided: the number of cases that are decided.
        errors: how many of these disagree with the human label.
        bound: the Clopper-Pearson bound of their share, at the level of the test.
    """

    first: int
    last: int
    threshold: float
    decided: int
    errors: int
    bound: float


def choose(confidences: Floats, correct: Bools, alpha: float, delta: float) -> Choice | None:
    """Return the threshold that decides most cases, of those that are shown to err on at most a share ``alpha``.

    Of thresholds that the same judgments reach, it is the strictest, so that less sure ones than any labelled one that
    was tested decide nothing.

    A tier decides a case if its confidence reaches the threshold. There is a *sequence* of tests for the whole cascade,
    at a level of half of ``delta``, and one for each tier by itself, in case another tier spoils the cascade: the tiers
    after the first share a third of ``delta``, and the first has the last sixth. A single tier has one sequence, at
    ``delta``. A sequence goes down :data:`PATH`, begins at the first threshold that decides enough cases, and ends at
    the first that fails. A threshold fails if ``P(Bin(decided, alpha) <= errors)`` is above the level.

    Proof. Which thresholds a sequence tests is known from the confidences, before any label is looked at. Call a
    threshold *bad* if the cases that it decides are wrong with a mean probability above ``alpha``. A sequence can end
    at or behind a bad threshold only if the strictest bad one that it tests has passed. Labels of different cases are
    independent, so the errors at that threshold are a sum of independent indicators with a mean above ``alpha *
    decided``. Few errors are then at most as probable as under ``Bin(decided, alpha)`` (Hoeffding 1956, theorem 4, for
    up to ``alpha * decided - 1`` errors; at levels up to 1/4, no more errors pass). So a sequence returns a bad
    threshold with a probability of at most its level, and any of them with at most ``delta``, the sum of the levels.

    This is about cases with the confidences of the labelled ones. If those are a random sample, the errors of a
    threshold are exactly ``Bin(decided, share)``, with its share of errors among all cases, so its test is also one of
    the cases to come. Only the place where a sequence begins then depends on the sample; ``benchmarks/guarantees.py``
    counts false guarantees for cases to come.

    Args:
        confidences: cases x tiers, 0..1; -1 where a tier decides nothing. The cases are independent of each other, and
            were not used to choose the jurors, their rubrics or their weights.
        correct: cases x tiers: whether the tier agrees with the human label.
        alpha: the share of errors that is allowed, between 0 and 1.
        delta: the probability with which the guarantee may fail, above 0 and at most 0.25.

    Sources: A. N. Angelopoulos et al. (2021), *Learn then Test*, for fixed sequences of tests of thresholds; J. Jung,
    F. Brahman and Y. Choi (2025), *Trust or Escalate*, for cascades of judges; W. Hoeffding (1956), *On the
    distribution of the number of successes in independent trials*; C. J. Clopper and E. S. Pearson (1934), *The use of
    confidence or fiducial limits*, for the bound.
    """
    cases, tiers = confidences.shape
    steps = np.searchsorted(-PATH, -(confidences + ROUNDING))
    levels = {(0, tiers - 1): delta / min(tiers, 2)}
    levels |= {(tier, tier): delta / 3 / (tiers - 1) for tier in range(1, tiers)}
    levels |= {(0, 0): delta / 6} if tiers > 1 else {}
    best = None
    for (first, last), level in levels.items():
        within = steps[:, first : last + 1]
        decided, errors = _counts(within, correct[:, first : last + 1])
        # A quarter of the cases, at least: among fewer, a single error more would end the sequence.
        fewest = max(FEWEST_DECIDED, np.log(level) / np.log1p(-alpha), cases / 4)
        tested = np.flatnonzero(decided >= fewest)
        passes = scipy.stats.binom.cdf(errors[tested], decided[tested], alpha) <= level
        number = len(passes) if passes.all() else int(passes.argmin())
        if number and (best is None or decided[tested[number - 1]] > best.decided):
            at = within[within <= tested[number - 1]].max()
            n, wrong = int(decided[at]), int(errors[at])
            bound = float(scipy.stats.beta.ppf(1 - level, wrong + 1, n - wrong))
            best = Choice(first, last, float(PATH[at]), n, wrong, bound)
    return best


def decider(confidences: Floats, choice: Choice) -> Ints:
    """Return the place of the tier that decides each case; -1 for none."""
    reached = confidences >= choice.threshold - ROUNDING
    reached[:, : choice.first] = reached[:, choice.last + 1 :] = False
    return np.where(reached.any(axis=1), reached.argmax(axis=1), -1)


def _counts(steps: Ints, correct: Bools) -> tuple[Ints, Ints]:
    """Return how many cases each threshold decides, and how many of them wrongly.

    A tier decides a case from the step of its own confidence on, until a step that an earlier tier reaches.
    """
    change, until = np.zeros((2, len(PATH) + 1), dtype=np.int64), np.full(len(steps), len(PATH))
    for step, right in zip(steps.T, correct.T, strict=True):
        for row, counted in enumerate((step < until, (step < until) & ~right)):
            change[row] += np.bincount(step[counted], minlength=len(PATH) + 1)
            change[row] -= np.bincount(until[counted], minlength=len(PATH) + 1)
        until = np.minimum(until, step)
    decided, errors = change.cumsum(axis=1)[:, :-1]
    return decided, errors
