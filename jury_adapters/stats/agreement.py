"""Agreement of jurors over a batch: raw, corrected for chance, and the number of independent votes.

No coefficient suits all data. Where nearly all votes are one label, alpha and kappa are low even if jurors rarely
differ, and AC1 is high; read them together. Jurors that were asked only where earlier votes were open do not count.
"""

from collections.abc import Callable

import numpy as np

from jury_adapters.stats.figures import (
    Bools,
    Figure,
    Finish,
    Floats,
    Ints,
    figure,
    join_notes,
    mean,
    over,
    undefined,
    usual_disagreement,
)
from jury_adapters.stats.votes import MISSING, PEOPLE, Votes

_EXTRA = (0.5, 0.5, 1.0)  # a disagreement in either order, and an agreement on the second label


def raw_agreement(votes: Votes) -> Figure:
    """Return the share of agreeing pairs of votes on a case, on average over the cases with two votes or more.

    >>> raw_agreement(Votes.from_rows([["yes", "yes"], ["yes", "no"]])).value
    0.5
    """
    return _of_labels("raw agreement", votes, _shares, mean)


def alpha(votes: Votes) -> Figure:
    """Return Krippendorff's alpha of labels: 1 is perfect agreement, 0 what chance would give.

    Source: K. Krippendorff (2011), *Computing Krippendorff's Alpha-Reliability*.
    """

    def columns(counts: Floats) -> Floats:
        n = counts.sum(axis=1)
        return np.column_stack([(n**2 - (counts**2).sum(axis=1)) / (n - 1), counts])

    def finish(sums: Floats) -> Floats:
        n = sums[:, 1:].sum(axis=1)
        return np.asarray(1 - (n - 1) * over(sums[:, 0], n**2 - (sums[:, 1:] ** 2).sum(axis=1)), dtype=np.float64)

    return _of_labels("Krippendorff's alpha", votes, columns, finish)


def gwet_ac1(votes: Votes) -> Figure:
    """Return Gwet's AC1: agreement beyond chance that stays high where nearly all votes are one label.

    The shares of the labels, which give chance, are those of all cases with a vote.

    Source: K. L. Gwet (2008), *Computing inter-rater reliability and its variance in the presence of high agreement*.
    """

    def finish(sums: Floats) -> Floats:
        shares = over(sums[:, 3:], sums[:, 2:3])
        chance = (shares * (1 - shares)).sum(axis=1) / (shares.shape[1] - 1)
        return over(mean(sums) - chance, 1 - chance)

    return _of_labels("Gwet's AC1", votes, _shares, finish, fewest=1)


def _of_labels(
    name: str, votes: Votes, columns: Callable[[Floats], Floats], finish: Finish, *, fewest: int = 2
) -> Figure:
    """Return a coefficient of the cases with so many votes; all but raw agreement take two labels."""
    codes, note = votes.codes[:, votes.panel], _left_out(votes)
    given = (codes != MISSING).sum(axis=1)
    rows = given >= fewest
    if why := _too_few(votes, given >= 2):
        return undefined(name, int((given >= 2).sum()), why)
    counts = (codes[rows][..., None] == np.arange(max(2, len(votes.labels)))).sum(axis=1).astype(np.float64)
    order = np.argsort(-counts.sum(axis=0), kind="stable")
    counts = counts[:, order[: max(2, np.count_nonzero(counts.sum(axis=0)))]]  # the most frequent label first
    if finish is not mean and not counts[:, 1].any():
        return undefined(
            name, len(counts), join_notes("all votes are alike: nothing tells agreement from chance", note)
        )
    usual = max(2, round(counts.sum() / len(counts)))
    split = [[usual - usual // 2, usual // 2], [usual // 2, usual - usual // 2], [0, usual]]
    return figure(
        name,
        columns(counts),
        finish,
        votes.groups[rows],
        added=columns(np.pad(split, ((0, 0), (0, counts.shape[1] - 2))).astype(np.float64)),
        chances=_EXTRA,
        bounds=(-1, 1),
        note=note,
    )


def _shares(counts: Floats) -> Floats:
    n = counts.sum(axis=1)
    agreeing = (counts * (counts - 1)).sum(axis=1) / np.maximum(n * (n - 1), 1)
    return np.column_stack([agreeing, n > 1, np.ones(len(n)), counts / n[:, None]])


def alpha_of_scores(votes: Votes) -> Figure:
    """Return Krippendorff's alpha of scores, in which two scores are apart by their squared difference.

    Source: as for :func:`alpha`, with the interval metric.

    >>> alpha_of_scores(Votes.from_rows([[1, 2], [5, 5], [3, 4]])).value
    0.875
    """
    name, scores = "Krippendorff's alpha of scores", votes.scores[:, votes.panel]
    rows = (~np.isnan(scores)).sum(axis=1) >= 2
    if why := _too_few(votes, rows, "two scores"):
        return undefined(name, int(rows.sum()), why)
    points = (scores[rows] - np.nanmean(scores[rows])) / (np.nanstd(scores[rows]) or 1.0)

    def columns(points: Floats) -> Floats:
        n, total, squares = (~np.isnan(points)).sum(axis=1), np.nansum(points, axis=1), np.nansum(points**2, axis=1)
        return np.column_stack([2 * (n * squares - total**2) / (n - 1), n, total, squares])

    def finish(sums: Floats) -> Floats:
        apart, n, total, squares = sums.T
        return np.asarray(1 - (n - 1) * over(apart, 2 * (n * squares - total**2)), dtype=np.float64)

    items = columns(points)
    turns = np.where(np.arange(max(2, round((~np.isnan(points)).sum() / len(points)))) % 2, 1.0, -1.0)
    apart = turns * usual_disagreement(items[:, 0], float(columns(turns[None])[0, 0])) ** 0.5
    return figure(
        name,
        items,
        finish,
        votes.groups[rows],
        added=columns(np.stack([apart, -apart, np.ones(len(turns))])),
        chances=_EXTRA,
        bounds=(-1, 1),
        note=_left_out(votes),
    )


def cohen_kappa(votes: Votes, first: str, second: str) -> Figure:
    """Return Cohen's kappa of two voters, of the cases on which both voted.

    Args:
        votes: the votes.
        first: a juror, ``"the jury"``, or ``"human labels"``.
        second: another one.

    Raises:
        ConfigurationError: there is no such voter.

    Source: J. Cohen (1960), *A coefficient of agreement for nominal scales*.

    >>> votes = Votes.from_rows([["yes"]] * 6 + [["no"]] * 4, human_labels=["yes"] * 5 + ["no"] * 5)
    >>> round(cohen_kappa(votes, "juror 1", "human labels").value, 3)
    0.8
    """
    name, both = "Cohen's kappa", (votes.said(first) != MISSING) & (votes.said(second) != MISSING)
    pairs = np.column_stack([votes.said(first)[both], votes.said(second)[both]])
    if PEOPLE not in (first, second) and (picked := votes.selected & {first, second}):
        return undefined(name, len(pairs), f"{min(picked)} was asked only where earlier votes were open")
    if len(pairs) < 2:
        return undefined(name, len(pairs), "fewer than 2 cases have both", of=f"{first}, {second}")
    places = np.arange(max(2, len(votes.labels)))
    a, b = np.argsort(-np.bincount(pairs.ravel(), minlength=len(places)), kind="stable")[:2]

    def columns(pairs: Ints) -> Floats:
        said = [pairs[:, [side]] == places for side in (0, 1)]
        return np.column_stack([pairs[:, 0] == pairs[:, 1], *said]).astype(np.float64)

    def finish(sums: Floats) -> Floats:
        one, two = np.split(sums[:, 1:], 2, axis=1)
        n = one.sum(axis=1)
        chance = over((one * two).sum(axis=1), n)
        return over(sums[:, 0] - chance, n - chance)

    return figure(
        name,
        columns(pairs),
        finish,
        votes.groups[both],
        added=columns(np.array([[a, b], [b, a], [b, b]])),
        chances=_EXTRA,
        bounds=(-1, 1),
        of=f"{first}, {second}",
    )


def effective_votes(votes: Votes) -> Figure:
    """Return how many independent jurors the panel is worth: ``n / (1 + (n - 1) phi)``.

    phi is the mean correlation of the errors of two jurors, over the pairs that both err at times.

    Returns:
        From 1 (all err together) to the number of jurors (errors are independent), or more if errors cancel. The
        details have ``phi`` and, by pair of jurors, ``pairs``.

    Source: L. Kish (1965), *Survey Sampling*, for the effective number.
    """
    jurors = [votes.jurors[place] for place in votes.panel]
    codes = np.where((votes.gold != MISSING)[:, None], votes.codes[:, votes.panel], MISSING)
    rows = (codes != MISSING).sum(axis=1) >= 2
    if why := _too_few(votes, rows, "a human label and two votes"):
        return undefined("effective votes", int(rows.sum()), why)
    voted, wrong, (one, two) = codes != MISSING, codes != votes.gold[:, None], np.triu_indices(len(jurors), 1)
    both = voted[:, one] & voted[:, two]
    items = np.hstack([both, both & wrong[:, one], both & wrong[:, two], both & wrong[:, one] & wrong[:, two]])[rows]

    def correlations(sums: Floats) -> Floats:
        n, a, b, ab = np.split(sums, 4, axis=1)
        return over(n * ab - a * b, np.sqrt(np.maximum((n - a) * a * (n - b) * b, 0)))

    def finish(sums: Floats) -> Floats:
        found = correlations(sums)
        phi = over(np.nansum(found, axis=1), np.isfinite(found).sum(axis=1))
        return over(np.full(len(phi), len(jurors)), 1 + (len(jurors) - 1) * phi)

    phis, ones = correlations(items.sum(axis=0, dtype=np.float64)[None])[0], np.ones(len(one))
    pairs = {
        f"{jurors[a]}, {jurors[b]}": phi for a, b, phi in zip(one, two, phis.tolist(), strict=True) if np.isfinite(phi)
    }
    return figure(
        "effective votes",
        items.astype(np.float64),
        finish,
        votes.groups[rows],
        added=np.stack(
            [np.hstack([ones, ones / 2, ones / 2, 0 * ones]), np.tile(ones, 4)]
        ),  # err in turn, and together
        chances=(1, 1),
        note=_left_out(votes),
        details={"phi": float(np.nanmean(phis)) if np.isfinite(phis).any() else None, "pairs": pairs},
    )


def _too_few(votes: Votes, rows: Bools, what: str = "two votes") -> str:
    """Return why there are too few jurors or cases for agreement; empty if there are enough."""
    jurors = "fewer than 2 jurors were asked about every case" if len(votes.panel) < 2 else ""
    cases = f"fewer than 2 cases have {what}" if rows.sum() < 2 else ""
    return join_notes(jurors or cases, _left_out(votes)) if jurors or cases else ""


def _left_out(votes: Votes) -> str:
    names = [name for name in votes.jurors if name in votes.selected]
    return f"without jurors that were asked only about some cases: {', '.join(names)}" if names else ""
