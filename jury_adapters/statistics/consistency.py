"""Test-retest consistency: whether a juror that is asked the same again says the same again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from jury_adapters.calibration.agreement import fleiss_kappa
from jury_adapters.calibration.estimates import Estimate, few, number, undefined
from jury_adapters.calibration.juror_stats import groups_of, share_interval
from jury_adapters.calibration.resampling import DEFAULT, Resampling, ratio_of
from jury_adapters.calibration.types import MISSING, Floats
from jury_adapters.calibration.votes import Votes
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.formatting import percent
from jury_adapters.statistics.intervals import Drawn

SAME, KAPPA = "same answer again", "kappa between repetitions"
WITHIN, ICC = "standard deviation within an item", "ICC(1,1)"
_MANY_LABELS = 20
_FEWEST = 30
"""Items (or groups) with repeated scores that an interval takes."""


def retest(repetitions: Votes, juror: str = "", *, resampling: Resampling = DEFAULT) -> tuple[Estimate, ...]:
    """Measure the consistency of one juror that was asked the same several times.

    Items with fewer than two answers are left out. An abstention is not an answer.

    Args:
        repetitions: its answers, one column per repetition: an entry of ``votes.repetitions``, or the columns of a
            jury of one judge repeated.
        juror: its name in the estimates.
        resampling: number of draws and seed of the bootstrap over items, or over groups where there are any.

    Returns:
        For answers that are labels, or up to 20 different numbers:

        - ``same answer again``: share of the items on which all its answers are the same, with Wilson's interval, or
          that of :func:`~jury_adapters.core.clustered_shares.clustered_wilson` for groups. Details: ``same``;
          ``repetitions``, the mean number of answers.
        - ``kappa between repetitions``: Fleiss' kappa (1971), agreement beyond chance.

        For scores, and ratings:

        - ``standard deviation within an item``, in the units of the scores: the root of the mean variance.
        - ``ICC(1,1)``: share of the variance that is between items (Shrout and Fleiss 1979), from a one-way analysis of
          variance; with unequal numbers of answers, of their adjusted mean. Interval from 30 items or groups on.

    >>> votes = Votes.from_rows([["PASS", "PASS"], ["FAIL", "PASS"], ["FAIL", "FAIL"], ["PASS", "PASS"]])
    >>> print(retest(votes, "a")[0].sentence)
    Asked again, a gives the same answer on 75.0 % of the items.
    """
    if len(repetitions.jurors) < 2:
        return (undefined(SAME, 0, "it takes 2 repetitions", subject=juror),)
    found = []
    if len(repetitions.labels) <= _MANY_LABELS:
        found += [_same(repetitions, juror), _kappa(repetitions, juror, resampling)]
    scores = repetitions.stated.scores[:, : len(repetitions.jurors)]
    if (np.isfinite(scores).sum(axis=1) >= 2).any():
        found += _spread(scores, repetitions, juror, resampling)
    return tuple(found) or (undefined(SAME, 0, "no item has 2 answers", subject=juror),)


def retest_runs(first: Votes, second: Votes, *, resampling: Resampling = DEFAULT) -> tuple[Estimate, ...]:
    """Measure the consistency of each juror over two runs; items are matched by id, jurors by name.

    The jury's own verdicts are compared too, where both runs have them. Items or jurors of one run only are left out.

    Args:
        first: votes of one run.
        second: votes of another run of the same jury over the same items.
        resampling: number of draws and seed of the bootstrap.

    Returns:
        The estimates of :func:`retest` for each juror.

    Raises:
        ConfigurationError: the runs share no item or no juror.

    >>> runs = [Votes.from_rows(rows, jurors=["a"]) for rows in ([["PASS"], ["FAIL"]], [["PASS"], ["PASS"]])]
    >>> retest_runs(*runs)[0].value
    0.5
    """
    place = {item: row for row, item in enumerate(second.items)}
    rows = [row for row, item in enumerate(first.items) if item in place]
    voters = [name for name in first.stated.voters if name in second.stated.voters]
    if not rows or not voters:
        raise ConfigurationError(f"the two runs share no {'juror' if rows else 'item'}; give two runs of one jury")
    other = second.take([place[first.items[row]] for row in rows])
    return tuple(
        estimate
        for name in voters
        for estimate in retest(_beside(first.take(rows), other, name), name, resampling=resampling)
    )


def _beside(first: Votes, second: Votes, voter: str) -> Votes:
    """Return the answers of one voter in two runs over the same items, as repetitions."""
    runs = [(run, run.stated.voters.index(voter)) for run in (first, second)]
    known = [dict(enumerate(run.labels)) for run, _ in runs]
    rows = [
        [labels.get(code) for labels, code in zip(known, codes, strict=True)]
        for codes in zip(*(run.stated.codes[:, column].tolist() for run, column in runs), strict=True)
    ]
    votes = Votes.from_rows(rows, groups=first.groups.tolist())
    scores = np.stack([run.stated.scores[:, column] for run, column in runs], axis=1)
    return replace(votes, stated=replace(votes.stated, scores=scores))


def _same(votes: Votes, juror: str) -> Estimate:
    answered = votes.answered.sum(axis=1)
    asked = answered >= 2
    n = int(asked.sum())
    if not n:
        return undefined(SAME, 0, "no item has 2 answers", subject=juror)
    highest = votes.codes.max(axis=1)
    same = asked & ((votes.codes == highest[:, None]) | (votes.codes == MISSING)).all(axis=1)
    share = float(same.sum() / n)
    sentence = f"Asked again, {juror or 'the juror'} gives the same answer on {percent(share)} of the items."
    details = {"same": int(same.sum()), "repetitions": float(answered[asked].mean())}
    interval = share_interval(same, asked, votes)
    return Estimate(SAME, share, n, interval, sentence, few(n, groups_of(votes, asked)), subject=juror, details=details)


def _kappa(votes: Votes, juror: str, how: Resampling) -> Estimate:
    found = fleiss_kappa(votes, resampling=how)
    if found.value is None:
        return replace(found, name=KAPPA, subject=juror)
    sentence = f"Its answers agree with each other {number(found.value)} of the way from guessing (0) to perfect (1)."
    return replace(found, name=KAPPA, subject=juror, sentence=sentence)


def _spread(scores: Floats, votes: Votes, juror: str, how: Resampling) -> Iterator[Estimate]:
    asked = np.isfinite(scores).sum(axis=1) >= 2
    moments = _moments(scores[asked])
    n, groups = len(moments), votes.groups[asked]
    units = len(np.unique(groups))
    drawn = Drawn.of(groups, moments[:, 1] / moments[:, 0])
    # The two items that only resamples have: one at the mean, whose answers lie as far apart as any, for both.
    padded = np.concatenate([moments, np.repeat(_widest(moments), 2, axis=0)])
    value = float(_within(drawn.as_voted, padded)[0])
    interval = (
        drawn.percentiles(how, lambda weights, *moments: _within(weights, np.column_stack(moments)), *padded.T)
        if units >= _FEWEST
        else None
    )
    if interval is not None:
        interval = min(interval[0], value), max(interval[1], value)
    sentence = f"Its scores of one item scatter by {number(value)} (one standard deviation) when it is asked again."
    yield Estimate(WITHIN, value, n, interval, sentence, few(n, units), subject=juror)
    correlation = float(_icc(drawn.as_voted, padded)[0])
    if n < 2 or not np.isfinite(correlation):
        reason = "it takes 2 items" if n < 2 else "all its scores are the same"
        yield undefined(ICC, n, reason, subject=juror)
        return
    around = drawn.fisher(how, lambda weights: _icc(weights, padded), 2.0) if units >= _FEWEST else None
    share = f"{number(correlation)} of the variance of its scores is between items; the rest is between repetitions."
    low = f"Its scores of one item differ as much as those of different items: {number(correlation)}."
    yield Estimate(ICC, correlation, n, around, share if correlation > 0 else low, few(n, units), subject=juror)


def _moments(scores: Floats) -> Floats:
    """Return per item: number of scores, their sum, and their sum of squared deviations from their mean."""
    known = np.isfinite(scores)
    counts = known.sum(axis=1).astype(np.float64)
    sums = np.where(known, scores, 0.0).sum(axis=1)
    deviations = np.where(known, scores - (sums / counts)[:, None], 0.0)
    return np.column_stack([counts, sums, (deviations**2).sum(axis=1)])


def _widest(moments: Floats) -> Floats:
    """Return the moments of an item at the mean of all, with the largest variance of any, or that between items."""
    counts, sums, inside = moments.T
    means = sums / counts
    usual, middle = max(2.0, round(float(counts.mean()))), float(sums.sum() / counts.sum())
    far = max(float((inside / (counts - 1)).max()), float(means.var()))
    return np.array([[usual, usual * middle, far * (usual - 1)]])


def _within(weights: Floats, moments: Floats) -> Floats:
    counts, _, inside = moments.T
    found: Floats = np.sqrt(ratio_of(weights @ inside, weights @ (counts - 1)))
    return found


def _icc(weights: Floats, moments: Floats) -> Floats:
    """ICC(1,1) of a one-way analysis of variance, for items with unequal numbers of scores."""
    counts, sums, inside = moments.T
    items, answers = weights.sum(axis=1), weights @ counts
    mean = weights @ sums / answers
    between = weights @ (sums**2 / counts) - answers * mean**2
    usual = ratio_of(answers - weights @ counts**2 / answers, items - 1)
    over, under = ratio_of(np.maximum(between, 0.0), items - 1), ratio_of(weights @ inside, answers - items)
    scale = float((sums**2 / counts + inside).max()) * 1e-12
    total = over + (usual - 1) * under
    return ratio_of(over - under, np.where(total > scale, total, 0.0))
