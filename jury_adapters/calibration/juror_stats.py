"""Measures per juror: leniency, drift over a run, and dissent."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from jury_adapters.calibration.findings import FEW_ITEMS, TOO_FEW, Finding, Interval, few, signed, undefined
from jury_adapters.calibration.independence import plurality
from jury_adapters.calibration.resampling import DEFAULT, Resampling, difference_of_means, ratio_of, summed
from jury_adapters.calibration.types import MISSING, Bools, Floats, Ints, counted
from jury_adapters.calibration.votes import Votes
from jury_adapters.core.formatting import percent
from jury_adapters.core.statistics import wilson
from jury_adapters.core.values import JsonValue


def leniency(votes: Votes, *, resampling: Resampling = DEFAULT) -> tuple[Finding, ...]:
    """Return, per juror and per gold label, how often the juror gives the human label.

    For PASS and FAIL these are the true-positive rate (low for a strict juror) and the true-negative rate (low for a
    lenient juror); for other labels, the recall of each label.

    Args:
        votes: a batch with gold labels; ``pass_label`` is the positive label.
        resampling: used if items have groups; otherwise the interval is Wilson's.

    Returns:
        Two findings per juror (one per human label), with the juror as the subject. Details: ``label``,
        ``hits``.
    """
    told = np.unique(votes.gold[votes.gold != MISSING]).tolist()
    found = [_recall(votes, column, code, resampling) for column in range(len(votes.jurors)) for code in told]
    return tuple(found) or (undefined("recall", 0, "no item has a gold label"),)


def dissent(votes: Votes, *, resampling: Resampling = DEFAULT) -> tuple[Finding, ...]:
    """Return, per juror, the share of items on which its vote is not the one that most others gave.

    Items on which the others are tied are left out. Details: ``dissents``.
    """
    found = []
    for column, juror in enumerate(votes.jurors):
        said = _said_by_others(votes, column)
        asked = votes.answered[:, column] & (said != MISSING)
        n, hits = int(asked.sum()), int((asked & (votes.codes[:, column] != said)).sum())
        if not n:
            found.append(undefined("dissent rate", 0, "no item on which other jurors have a majority", subject=juror))
            continue
        interval = share_interval(asked & (votes.codes[:, column] != said), asked, votes, resampling)
        sentence = f"{juror} disagrees with most of the other jurors on {percent(hits / n)} of the items."
        found.append(
            Finding("dissent rate", hits / n, n, interval, sentence, few(n), subject=juror, details={"dissents": hits})
        )
    return tuple(found)


def drift(votes: Votes, *, resampling: Resampling = DEFAULT) -> tuple[Finding, ...]:
    """Return, per juror, how its votes move from the first half of the items to the second, compared with the others.

    A vote counts as its number, or as 1 for PASS and 0 otherwise; without such labels, as 1 if it is the vote of most
    others. For numbers and PASS, the median of the other jurors on the same item is subtracted: harder items later in
    the run then do not look like drift, and a single drifting juror hardly affects the others.

    Returns:
        The mean in the second half minus that in the first: above 0 the juror became more lenient. None below two
        answered items in either half; no interval below 30 items, where it would be misleading.
    """
    later = np.arange(len(votes.items)) >= len(votes.items) / 2
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
        moved = interval is not None and (interval[0] > 0 or interval[1] < 0)
        chance = "that is more than chance explains" if moved else "that is within chance"
        several = len(votes.jurors) > 1
        sentence = (
            f"{'Compared with the other jurors, ' if several else ''}{juror}'s votes moved by {signed(value)} from the "
            f"first half of the items to the second; {chance if n >= FEW_ITEMS else TOO_FEW}."
        )
        warned = ("of twenty steady jurors one looks like this by chance",) if several and moved else ()
        found.append(Finding("drift", value, n, interval, sentence, (*warned, *few(n)), subject=juror))
    return tuple(found)


def share_interval(hits: Bools, asked: Bools, votes: Votes, resampling: Resampling) -> Interval | None:
    """Return the interval of a share of items: Wilson's, or by groups if items have groups.

    If all items or none are hits, no draw differs from another; each group is then one observation for Wilson's.
    """
    n, total = float(hits.sum()), float(asked.sum())
    if not total:
        return None
    if not votes.grouped or not resampling.draws:
        return wilson(n, total)
    if n in (0, total):
        units = len(np.unique(votes.groups[asked]))
        return wilson(units if n else 0, units)
    sums = summed(np.column_stack([hits, asked])[asked].astype(np.float64), votes.groups[asked])
    return resampling.interval(len(sums), _quotient(sums))[0]


def as_numbers(votes: Votes, codes: Ints) -> Floats | None:
    """Return votes as numbers: their own, or 1 for PASS and 0 otherwise; NaN if missing; None without a PASS label."""
    if votes.numeric:
        points = votes.scale
    elif votes.pass_code is not None:
        points = (np.arange(len(votes.labels)) == votes.pass_code).astype(np.float64)
    else:
        return None
    return np.where(codes == MISSING, np.nan, points[codes])


def _recall(votes: Votes, column: int, code: int, resampling: Resampling) -> Finding:
    juror = votes.jurors[column]
    asked = (votes.gold == code) & votes.answered[:, column]
    label = str(votes.labels[code])
    binary = votes.pass_code is not None and len(np.unique(votes.gold[votes.gold != MISSING])) <= 2
    name = f"recall of {label}"
    if binary:
        name = "true-positive rate" if code == votes.pass_code else "true-negative rate"
    n, hits = int(asked.sum()), int((asked & (votes.codes[:, column] == code)).sum())
    if not n:
        return undefined(name, 0, f"{juror} answered no item that people call {label!r}", subject=juror)
    sentence = f"Of the items that people call {label!r}, {juror} says so of {percent(hits / n)}."
    lenient: tuple[str, ...] = ()
    if name == "true-negative rate" and hits / n < 0.5 and n >= FEW_ITEMS:
        lenient = ("it lets most of the bad ones pass; accuracy hides that where most items are good",)
    interval = share_interval(asked & (votes.codes[:, column] == code), asked, votes, resampling)
    details: dict[str, JsonValue] = {"label": label, "hits": hits}
    return Finding(name, hits / n, n, interval, sentence, (*lenient, *few(n)), subject=juror, details=details)


def _said_by_others(votes: Votes, column: int) -> Ints:
    others = np.delete(votes.codes, column, axis=1)
    return plurality(counted(others, len(votes.labels)))


def _beside_others(votes: Votes, column: int) -> tuple[Floats, Bools]:
    """Return, per item, how a juror's vote differs from the others', and the items on which that is known."""
    points = as_numbers(votes, votes.codes)
    if points is None:
        said = _said_by_others(votes, column)
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


def _quotient(sums: Floats) -> Callable[[Floats], Floats]:
    def quotient(weights: Floats) -> Floats:
        total = weights @ sums
        return ratio_of(total[:, 0], total[:, 1])

    return quotient
