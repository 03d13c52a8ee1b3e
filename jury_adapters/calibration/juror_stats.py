"""Measures per juror: leniency and dissent."""

from __future__ import annotations

import numpy as np

from jury_adapters.calibration.estimates import FEW_ITEMS, Estimate, Interval, few, undefined
from jury_adapters.calibration.independence import plurality
from jury_adapters.calibration.types import MISSING, Bools, Floats, Ints, counted
from jury_adapters.calibration.votes import Votes
from jury_adapters.core.clustered_shares import clustered_wilson
from jury_adapters.core.formatting import percent
from jury_adapters.core.statistics import wilson
from jury_adapters.core.values import JsonValue


def leniency(votes: Votes) -> tuple[Estimate, ...]:
    """Return, per juror and per gold label, how often the juror gives the human label.

    For PASS and FAIL these are the true-positive rate (low for a strict juror) and the true-negative rate (low for a
    lenient juror); for other labels, the recall of each label.

    Args:
        votes: a batch with gold labels; ``pass_label`` is the positive label.

    Returns:
        Two estimates per juror (one per human label), with the juror as the subject. The interval is Wilson's; if items
        have groups, that of :func:`~jury_adapters.core.clustered_shares.clustered_wilson`. Details: ``label``,
        ``hits``.
    """
    codes = np.unique(votes.gold[votes.gold != MISSING]).tolist()
    found = [_recall(votes, column, code) for column in range(len(votes.jurors)) for code in codes]
    return tuple(found) or (undefined("recall", 0, "no item has a gold label"),)


def dissent(votes: Votes) -> tuple[Estimate, ...]:
    """Return, per juror, the share of items on which its vote is not the one that most others gave.

    Items on which the others are tied are left out. Details: ``dissents``.
    """
    found = []
    for column, juror in enumerate(votes.jurors):
        said = said_by_others(votes, column)
        asked = votes.answered[:, column] & (said != MISSING)
        n, hits = int(asked.sum()), int((asked & (votes.codes[:, column] != said)).sum())
        if not n:
            found.append(undefined("dissent rate", 0, "no item on which other jurors have a majority", subject=juror))
            continue
        interval = share_interval(asked & (votes.codes[:, column] != said), asked, votes)
        sentence = f"{juror} disagrees with most of the other jurors on {percent(hits / n)} of the items."
        warnings, details = few(n, groups_of(votes, asked)), {"dissents": hits}
        found.append(
            Estimate("dissent rate", hits / n, n, interval, sentence, warnings, subject=juror, details=details)
        )
    return tuple(found)


def said_by_others(votes: Votes, column: int) -> Ints:
    """Return, per item, the vote that most of the other jurors gave."""
    others = np.delete(votes.codes, column, axis=1)
    return plurality(counted(others, len(votes.labels)))


def share_interval(hits: Bools, asked: Bools, votes: Votes) -> Interval | None:
    """Return the interval of a share of items: Wilson's, or by groups if items have groups; None without items."""
    if not asked.any():
        return None
    known, position = np.unique(votes.groups[asked], return_inverse=True)
    if len(known) == len(position):  # independent items
        return wilson(int((hits & asked).sum()), len(position))
    of_groups = np.bincount(position, weights=(hits & asked)[asked]).astype(int), np.bincount(position)
    return clustered_wilson(zip(*(counts.tolist() for counts in of_groups), strict=True))


def groups_of(votes: Votes, asked: Bools) -> int:
    """Return the number of groups of these items."""
    return len(np.unique(votes.groups[asked]))


def as_numbers(votes: Votes, codes: Ints) -> Floats | None:
    """Return votes as numbers: their own, or 1 for PASS and 0 otherwise; NaN if missing; None without a PASS label."""
    if votes.numeric:
        points = votes.scale
    elif votes.pass_code is not None:
        points = (np.arange(len(votes.labels)) == votes.pass_code).astype(np.float64)
    else:
        return None
    return np.where(codes == MISSING, np.nan, points[codes])


def _recall(votes: Votes, column: int, code: int) -> Estimate:
    juror = votes.jurors[column]
    asked = (votes.gold == code) & votes.answered[:, column]
    label = str(votes.labels[code])
    binary = votes.pass_code is not None and len(np.unique(votes.gold[votes.gold != MISSING])) <= 2
    name = f"recall of {label}"
    if binary:
        name = "true-positive rate" if code == votes.pass_code else "true-negative rate"
    n, hits = int(asked.sum()), int((asked & (votes.codes[:, column] == code)).sum())
    if not n:
        return undefined(name, 0, f"{juror} answered no item with the human label {label!r}", subject=juror)
    sentence = f"Of the items with the human label {label!r}, {juror} says so of {percent(hits / n)}."
    lenient: tuple[str, ...] = ()
    if name == "true-negative rate" and hits / n < 0.5 and n >= FEW_ITEMS:
        lenient = ("it lets most of the bad ones pass; accuracy hides that where most items are good",)
    interval = share_interval(asked & (votes.codes[:, column] == code), asked, votes)
    details: dict[str, JsonValue] = {"label": label, "hits": hits}
    warnings = (*lenient, *few(n, groups_of(votes, asked)))
    return Estimate(name, hits / n, n, interval, sentence, warnings, subject=juror, details=details)
