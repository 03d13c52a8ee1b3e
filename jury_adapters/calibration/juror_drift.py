"""Drift of a juror over a run: whether its votes become more lenient or stricter."""

from __future__ import annotations

import numpy as np

from jury_adapters.calibration.correlation_test import with_null
from jury_adapters.calibration.estimates import FEW_ITEMS, TOO_FEW, Estimate, Interval, few, signed, undefined
from jury_adapters.calibration.juror_stats import as_numbers
from jury_adapters.calibration.moves import Moves, against_labels, among_jurors, of_agreement, within_labels
from jury_adapters.calibration.resampling import DEFAULT, Resampling
from jury_adapters.calibration.types import MISSING, Bools, Floats, Ints
from jury_adapters.calibration.votes import Votes
from jury_adapters.core.values import JsonValue

NO_LENIENCE = (
    " Whether the juror became more lenient is not known, because no label is known to mean PASS (pass_label=, "
    "--pass-label)."
)
_FEWEST_LABELLED = 30  # items of each half with a human label
_LEAST_SHARE = 0.25  # of the items of each half
_MOST_LABELS = 20  # more are no classes of items
_FEWEST = 2  # items of each half
_PAIR = 2  # jurors


def drift(votes: Votes, *, resampling: Resampling = DEFAULT) -> tuple[Estimate, ...]:
    """Return, per juror, how its votes move from the first half of the items to the second.

    A vote counts as its number, or as 1 for PASS and 0 otherwise; without such labels, as 1 if it is the human label.
    Human labels are used if 30 items of each half, and a quarter of it, have one.

    - Of three jurors or more, the move is relative to the median juror
      (:func:`~jury_adapters.calibration.moves.among_jurors`). Harder items later in the run then do not look like
      drift, and a juror that drifts hardly affects the others if more than half of the jurors are steady. With labels,
      a vote is compared with the juror's others on items of the same label
      (:func:`~jury_adapters.calibration.moves.within_labels`); without them, jurors of different accuracy move
      differently where the share of good items changes. A move of most jurors does not show.
    - Of one or two jurors with labels, it is that among items with the same label
      (:func:`~jury_adapters.calibration.moves.against_labels`); harder items move it, too. ``votes.panel(["name"])``
      gives it for one of several jurors.
    - Of two jurors without labels, it is relative to the other; the votes do not tell which one changed. Of one, it is
      that of its mean.
    - Without a PASS label and human labels, it is that of the agreement with the others
      (:func:`~jury_adapters.calibration.moves.of_agreement`).

    Returns:
        The mean in the second half minus that in the first: above 0 the juror became more lenient, or, where no label
        is known to mean PASS, agrees more; its sentence says which of the two. None below two usable items in either
        half; no interval below 30 items, where it would be misleading, and none for a juror that is always the median.
        The interval excludes 0 only if a test of the difference has p < 0.05. Details: ``compared_with`` (``"human
        labels"``, ``"jurors"``, or None for a juror by itself) and ``by_label`` (whether human labels are used).

    Simulated false alarms and power: ``tests/calibration/test_juror_drift.py``.
    """
    later = np.arange(len(votes.items)) >= len(votes.items) / 2
    points = as_numbers(votes, votes.codes)
    labelled = _enough_labels(votes, later)
    moves = _moves(votes, points, later, labelled=labelled)
    if moves is None:
        return tuple(_undefined(votes, column, 0) for column in range(len(votes.jurors)))
    intervals = moves.intervals(later, votes.groups, resampling)
    found = []
    for column, value in enumerate(moves.values.tolist()):
        usable = moves.usable[:, column]
        n, interval = int(usable.sum()), intervals[column]
        if min((usable & ~later).sum(), (usable & later).sum()) < _FEWEST or not np.isfinite(value):
            found.append(_undefined(votes, column, n))
            continue
        if n < FEW_ITEMS:
            interval = None  # with few items, draws tell too little
        if interval is not None and not interval[0] <= 0 <= interval[1]:
            interval = with_null(interval, *_tested(votes, moves.series(column), later, labelled=labelled))
        subject = _subject(votes, column, lenience=points is not None, labelled=labelled)
        sentence = _sentence(subject, value, n, interval, lenience=points is not None)
        warned = _warnings(len(votes.jurors), labelled=labelled) if _moved(interval) else ()
        compared = "jurors" if _beside(votes, labelled=labelled) else "human labels" if labelled else None
        details: dict[str, JsonValue] = {"compared_with": compared, "by_label": labelled}
        warnings, juror = (*warned, *few(n)), votes.jurors[column]
        found.append(Estimate("drift", value, n, interval, sentence, warnings, subject=juror, details=details))
    return tuple(found)


def _moved(interval: Interval | None) -> bool:
    return interval is not None and (interval[0] > 0 or interval[1] < 0)


def _sentence(subject: str, value: float, n: int, interval: Interval | None, *, lenience: bool) -> str:
    chance = "that is more than chance explains" if _moved(interval) else "that is within chance"
    return (
        f"{subject} moved by {signed(value)} from the first half of the items to the second; "
        f"{chance if n >= FEW_ITEMS else TOO_FEW}.{'' if lenience else NO_LENIENCE}"
    )


def _enough_labels(votes: Votes, later: Bools) -> bool:
    known = votes.gold != MISSING
    if len(np.unique(votes.gold[known])) > _MOST_LABELS:
        return False
    return all(known[half].sum() >= max(_FEWEST_LABELLED, _LEAST_SHARE * half.sum()) for half in (later, ~later))


def _beside(votes: Votes, *, labelled: bool) -> bool:
    """Whether jurors are compared with each other; labels take the place of a single other juror."""
    return len(votes.jurors) > (_PAIR if labelled else 1)


def _moves(votes: Votes, points: Floats | None, later: Bools, *, labelled: bool) -> Moves | None:
    beside = _beside(votes, labelled=labelled)
    if labelled:
        right = np.where(votes.answered, votes.codes == votes.gold[:, None], np.nan)
        numbers = right if points is None else points
        if beside:
            return among_jurors(within_labels(numbers, later, votes.gold), later)
        return against_labels(numbers, later, votes.gold)
    if beside:
        return of_agreement(votes.codes, later) if points is None else among_jurors(points, later)
    return None if points is None else against_labels(points, later, np.zeros(len(votes.items), dtype=np.int64))


def _tested(votes: Votes, series: Floats, later: Bools, *, labelled: bool) -> tuple[Floats, Floats, Ints]:
    """Return two series whose correlation is tested, and the groups; with labels, both less their means by label."""
    known = ~np.isnan(series)
    half = (~later).astype(np.float64)
    if labelled:
        for label in np.unique(votes.gold[known]).tolist():
            here = known & (votes.gold == label)
            half[here] -= half[here].mean()
    return series[known], half[known], votes.groups[known]


def _undefined(votes: Votes, column: int, n: int) -> Estimate:
    return undefined("drift", n, "it takes 2 answered items in each half of the run", subject=votes.jurors[column])


def _subject(votes: Votes, column: int, *, lenience: bool, labelled: bool) -> str:
    juror, beside = votes.jurors[column], _beside(votes, labelled=labelled)
    if not lenience and not labelled:
        return f"The agreement of {juror} with the other jurors"
    moved = f"{juror}'s votes" if lenience else f"the agreement of {juror} with human labels"
    if not beside and not labelled:
        return moved
    if not beside:
        return f"Among items with the same human label, {moved}"
    return f"Compared with the other jurors{' on items with the same human label' if labelled else ''}, {moved}"


def _warnings(jurors: int, *, labelled: bool) -> tuple[str, ...]:
    if jurors == 1:
        return ()
    chance = "of twenty steady jurors one looks like this by chance"
    if jurors > _PAIR:
        return (chance, "drift is that beside the other jurors, of which more than half must be steady")
    if labelled:
        return (chance,)
    return (chance, "votes alone do not tell which of the two jurors changed; labels of items in both halves do")
