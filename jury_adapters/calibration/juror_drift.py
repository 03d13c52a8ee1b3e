"""Drift of a juror over a run: whether its votes become more lenient or stricter."""

from __future__ import annotations

import numpy as np

from jury_adapters.calibration.correlation_test import with_null
from jury_adapters.calibration.estimates import FEW_ITEMS, TOO_FEW, Estimate, few, signed, undefined
from jury_adapters.calibration.juror_stats import as_numbers, said_by_others
from jury_adapters.calibration.resampling import DEFAULT, Resampling, difference_of_means
from jury_adapters.calibration.types import MISSING, Bools, Floats
from jury_adapters.calibration.votes import Votes

NO_LENIENCE = (
    " Whether the juror became more lenient is not known, because no label is known to mean PASS (pass_label=, "
    "--pass-label)."
)


def drift(votes: Votes, *, resampling: Resampling = DEFAULT) -> tuple[Estimate, ...]:
    """Return, per juror, how its votes move from the first half of the items to the second, compared with the others.

    A vote counts as its number, or as 1 for PASS and 0 otherwise; without such labels, as 1 if it is the vote of most
    others. For numbers and PASS, the median of the other jurors on the same item is subtracted: harder items later in
    the run then do not look like drift, and a single drifting juror hardly affects the others.

    Returns:
        The mean in the second half minus that in the first: above 0 the juror became more lenient, or, where no label
        is known to mean PASS, agrees more with the others; its sentence says which of the two. None below two
        answered items in either half; no interval below 30 items, where it would be misleading. The interval excludes 0
        only if a test of the difference has p < 0.05.
    """
    later = np.arange(len(votes.items)) >= len(votes.items) / 2
    lenience = as_numbers(votes, votes.codes) is not None
    found = []
    for column, juror in enumerate(votes.jurors):
        values, usable = _beside_others(votes, column)
        first, second = (usable & ~later), (usable & later)
        n = int(usable.sum())
        if min(first.sum(), second.sum()) < 2:
            found.append(undefined("drift", n, "it takes 2 answered items in each half of the run", subject=juror))
            continue
        flags = [part.astype(np.float64) for part in (second, first)]
        value, interval = difference_of_means(values, flags[0], flags[1], votes.groups, resampling)
        interval = interval if n >= FEW_ITEMS else None  # with few items, draws tell too little
        interval = with_null(interval, values[usable], flags[0][usable], votes.groups[usable])
        moved = interval is not None and (interval[0] > 0 or interval[1] < 0)
        chance = "that is more than chance explains" if moved else "that is within chance"
        several = len(votes.jurors) > 1
        subject = f"{'Compared with the other jurors, ' if several else ''}{juror}'s votes"
        subject = subject if lenience else f"The agreement of {juror} with the other jurors"
        sentence = (
            f"{subject} moved by {signed(value)} from "
            f"the first half of the items to the second; {chance if n >= FEW_ITEMS else TOO_FEW}."
            f"{'' if lenience else NO_LENIENCE}"
        )
        warned = ("of twenty steady jurors one looks like this by chance",) if several and moved else ()
        found.append(Estimate("drift", value, n, interval, sentence, (*warned, *few(n)), subject=juror))
    return tuple(found)


def _beside_others(votes: Votes, column: int) -> tuple[Floats, Bools]:
    """Return, per item, how a juror's vote differs from the others', and the items on which that is known."""
    points = as_numbers(votes, votes.codes)
    if points is None:
        said = said_by_others(votes, column)
        usable = votes.answered[:, column] & (said != MISSING)
        return (votes.codes[:, column] == said).astype(np.float64), usable
    own = points[:, column]
    if points.shape[1] == 1:
        return np.nan_to_num(own), ~np.isnan(own)
    rest = np.delete(points, column, axis=1)
    usable = ~np.isnan(own) & ~np.isnan(rest).all(axis=1)
    beside = np.zeros(len(own))
    beside[usable] = own[usable] - _medians(rest[usable])
    return beside, usable


def _medians(rows: Floats) -> Floats:
    """Return the median of each row's numbers, of which there is at least one; NaN sorts last."""
    ordered, known = np.sort(rows, axis=1), (~np.isnan(rows)).sum(axis=1)
    each = np.arange(len(rows))
    middle: Floats = (ordered[each, (known - 1) // 2] + ordered[each, known // 2]) / 2
    return middle
