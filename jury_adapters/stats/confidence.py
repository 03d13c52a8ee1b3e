"""Confidence and scores of voters against human labels."""

from collections.abc import Iterator

import numpy as np
import scipy  # whose stats, 70 MiB, are loaded when they are used

from jury_adapters.stats.bias import rank_correlation, ranks
from jury_adapters.stats.figures import Bools, Figure, Floats, Ints, figure, mean, over, undefined, usual_disagreement
from jury_adapters.stats.votes import MISSING, Votes

BINS = 10


def confidence_quality(votes: Votes) -> tuple[Figure, ...]:
    """Return whether confidence tells right votes from wrong ones, and whether it is as high as their accuracy.

    Returns:
        For each voter with confidences on cases with a human label:

        - ``AUROC of confidence``: the probability that a right vote has more confidence than a wrong one; ties count
          one half. 0.5 is chance. The bootstrap draws the placement of each vote among those of the other kind.
        - ``overconfidence``: the mean confidence minus the share of right votes.
        - ``Brier score``: the mean squared difference of confidence and right (1) or wrong (0). 0 is best.
        - ``calibration error``: the mean distance of confidence and accuracy over ten bins of equal width, weighted by
          their votes. It is above 0 by chance, so it has no interval; the details have the ``bins``.

    Sources: E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson (1988), *Comparing the areas under two or more
    correlated receiver operating characteristic curves*; G. W. Brier (1950), *Verification of forecasts expressed in
    terms of probability*; C. Guo, G. Pleiss, Y. Sun and K. Weinberger (2017), *On calibration of modern neural
    networks*.

    >>> rows, labels, sure = [["yes"]] * 4, ["yes", "yes", "no", "yes"], [[0.9], [0.8], [0.6], [0.7]]
    >>> confidence_quality(Votes.from_rows(rows, human_labels=labels, confidences=sure))[0].value
    1.0
    """
    found: list[Figure] = []
    for column, voter in enumerate(votes.voters):
        known = (votes.codes[:, column] != MISSING) & (votes.gold != MISSING) & ~np.isnan(votes.confidences[:, column])
        stated, right = votes.confidences[known, column], votes.codes[known, column] == votes.gold[known]
        if known.any():
            found += _quality(stated, right, votes.groups[known], voter)
    return tuple(found) or (undefined("AUROC of confidence", 0, "no vote with a confidence has a human label"),)


def _quality(stated: Floats, right: Bools, groups: Ints, voter: str) -> Iterator[Figure]:
    yield _auroc(stated, right, groups, voter)
    for name, values, low in (("overconfidence", stated - right, -1), ("Brier score", (stated - right) ** 2, 0)):
        yield figure(
            name,
            np.column_stack([values, np.ones(len(values))]),
            mean,
            groups,
            added=[(low, 1), (1, 1)],
            chances=(0.5, 0.5),
            bounds=(low, 1),
            of=voter,
        )
    places = np.searchsorted(np.linspace(0, 1, BINS + 1)[1:-1], stated)
    bins = [
        {"n": int(inside.sum()), "confidence": float(stated[inside].mean()), "accuracy": float(right[inside].mean())}
        for inside in (places == place for place in np.unique(places))
    ]
    error = sum(one["n"] * abs(one["accuracy"] - one["confidence"]) for one in bins) / len(stated)
    yield Figure("calibration error", error, len(stated), of=voter, details={"bins": bins})


def _auroc(stated: Floats, right: Bools, groups: Ints, voter: str) -> Figure:
    name, wrong, place = "AUROC of confidence", ~right, scipy.stats.rankdata(stated)
    if right.all() or wrong.all():
        return undefined(
            name, len(right), f"all votes with a confidence are {'right' if right[0] else 'wrong'}", of=voter
        )
    place[right] = (place[right] - scipy.stats.rankdata(stated[right])) / wrong.sum()  # share of wrong votes below
    place[wrong] = 1 - (place[wrong] - scipy.stats.rankdata(stated[wrong])) / right.sum()  # share of right votes above
    area = place[right].mean()
    return figure(
        name,
        np.column_stack([place * right, right, place * wrong, wrong]),
        lambda sums: over(sums[:, 0], sums[:, 1]) + over(sums[:, 2], sums[:, 3]) - area,
        groups,
        added=[(0, 1, 0, 0), (1, 1, 0, 0), (0, 0, 0, 1), (0, 0, 1, 1)],
        chances=(0.5,) * 4,
        bounds=(0, 1),
        of=voter,
        details={"right": int(right.sum()), "wrong": int(wrong.sum())},
    )


def graded_agreement(votes: Votes) -> tuple[Figure, ...]:
    """Return how scores of voters match human labels that are numbers.

    Returns:
        For each voter with scores on such cases ``quadratic kappa``, which takes scores and labels on one scale, and
        ``Spearman's correlation`` of ranks, which does not. The note of kappa has the ranges of both if they differ.

    Sources: J. Cohen (1968), *Weighted kappa*; C. Spearman (1904), *The proof and measurement of association between
    two things*.

    >>> votes = Votes.from_rows([[1], [2], [3], [5], [4]], human_labels=[1, 2, 3, 4, 5])
    >>> for found in graded_agreement(votes)[:2]:
    ...     print(found)
    juror 1: quadratic kappa 0.900 [0.107, 1.000] (n = 5); rough, of 5 cases
    juror 1: Spearman's correlation 0.900 [0.000, 1.000] (n = 5); rough, of 5 cases
    """
    found: list[Figure] = []
    for voter, scores in zip(votes.voters, votes.scores.T, strict=True):
        rows = ~np.isnan(scores) & ~np.isnan(votes.grades)
        if rows.any():
            x, y = (ranks(values[rows], np.zeros(rows.sum(), dtype=np.int64)) for values in (scores, votes.grades))
            groups = votes.groups[rows]
            found += [
                _quadratic_kappa(scores[rows], votes.grades[rows], groups, voter),
                rank_correlation("Spearman's correlation", x, y, groups, of=voter),
            ]
    return tuple(found) or (undefined("Spearman's correlation", 0, "no score has a human label that is a number"),)


def _quadratic_kappa(scores: Floats, grades: Floats, groups: Ints, voter: str) -> Figure:
    one, other = (f"{values.min():g} to {values.max():g}" for values in (scores, grades))
    note = "" if one == other else f"takes one scale: scores are {one}, human labels {other}"
    both = np.concatenate([scores, grades])
    scale, middle = float(both.std()) or 1.0, float(both.mean())

    def columns(a: Floats, b: Floats) -> Floats:
        return np.column_stack([np.ones(len(a)), a, b, (a - b) ** 2, a * a + b * b])

    def finish(sums: Floats) -> Floats:
        n, a, b, apart, squares = sums.T
        return np.asarray(1 - over(apart, squares - 2 * over(a * b, n)), dtype=np.float64)

    items, turned = columns((scores - middle) / scale, (grades - middle) / scale), np.array([-1.0, 1.0])
    apart = turned * usual_disagreement(items[:, 3], 4.0) ** 0.5
    return figure(
        "quadratic kappa",
        items,
        finish,
        groups,
        added=np.vstack([columns(apart, -apart), columns(turned, turned)]),  # opposite grades, and equal ones
        chances=(0.5, 0.5, 1, 1),
        bounds=(-1, 1),
        of=voter,
        note=note,
    )
