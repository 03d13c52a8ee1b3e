"""Jurors for which a mean over a panel misleads: one that repeats another, and one that votes no better than chance."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from jury_adapters.calibration.estimates import number
from jury_adapters.calibration.types import MISSING, Bools
from jury_adapters.calibration.votes import Votes
from jury_adapters.core.formatting import counted

SAME_ERRORS = 0.8
"""Correlation of errors from which two jurors count as one."""
FEWEST_ERRORS = 5
FEWEST_ITEMS = 10
_Z = 1.645  # the 95th percentile of the normal distribution


def misleading_jurors(labelled: Votes, wrong: Bools) -> tuple[str, ...]:
    """Return warnings about jurors that the mean correlation of errors hides.

    Args:
        labelled: votes on items that all have a gold label.
        wrong: items x jurors: whether the juror voted, and not for the gold label.
    """
    return (*_same_errors(labelled, wrong), *_at_chance(labelled))


def _same_errors(labelled: Votes, wrong: Bools) -> Iterator[str]:
    found = []
    for a, b in combinations(range(len(labelled.jurors)), 2):
        both = labelled.answered[:, a] & labelled.answered[:, b]
        one, other = wrong[both, a], wrong[both, b]
        if (one & other).sum() >= FEWEST_ERRORS and not (one.all() or other.all()):
            found.append((float(np.corrcoef(one, other)[0, 1]), labelled.jurors[a], labelled.jurors[b]))
    close = sorted((pair for pair in found if pair[0] >= SAME_ERRORS), reverse=True)
    if close and len(labelled.jurors) > 2:
        (phi, one_name, other_name), *others = close
        more = f" (and {counted(len(others), 'more pair')})" if others else ""
        yield (
            f"{one_name} and {other_name}{more} make nearly the same errors (correlation {number(phi)}): a pair like "
            "this is hardly more than one vote, which the mean over all pairs hides"
        )


def _at_chance(labelled: Votes) -> Iterator[str]:
    """Yield a warning about jurors whose votes are not shown to depend on the truth, for two gold labels.

    The test is that of two shares with pooled variance: how often the juror says the one label where people say it, and
    where they say the other.
    """
    known = np.unique(labelled.gold[labelled.gold != MISSING])
    if len(known) != 2:
        return
    first, second = map(int, known)
    names = [name for at, name in enumerate(labelled.jurors) if _is_at_chance(labelled, at, first, second)]
    if names:
        are, they_lift = ("is", "it lifts") if len(names) == 1 else ("are", "they lift")
        yield (
            f"{', '.join(names)} {are} not shown to agree with human labels more than chance; random errors look "
            f"independent, so {they_lift} this number without adding a vote"
        )


def _is_at_chance(labelled: Votes, column: int, first: int, second: int) -> bool:
    asked = labelled.answered[:, column]
    said = labelled.codes[:, column] == first
    of_first, of_second = said[asked & (labelled.gold == first)], said[asked & (labelled.gold == second)]
    n, others = len(of_first), len(of_second)
    if min(n, others) < FEWEST_ITEMS:
        return False
    pooled = (of_first.sum() + of_second.sum()) / (n + others)
    error = np.sqrt(pooled * (1 - pooled) * (1 / n + 1 / others))
    return bool(of_first.mean() - of_second.mean() < _Z * error or not error)
