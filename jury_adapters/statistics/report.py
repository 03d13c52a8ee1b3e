"""Everything that votes and the numbers beside them tell of a jury: what ``jury report --agreement`` shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from jury_adapters.calibration import DRAWS
from jury_adapters.calibration.estimates import Estimate
from jury_adapters.calibration.report import AgreementReport, agreement_report, with_selection
from jury_adapters.calibration.resampling import Resampling
from jury_adapters.calibration.votes import Votes
from jury_adapters.core.agreement import Level
from jury_adapters.statistics.confidence import confidence_quality
from jury_adapters.statistics.consistency import retest
from jury_adapters.statistics.rating_agreement import graded_agreement
from jury_adapters.statistics.reliability import ReliabilityBin, bins_of

CONFIDENCE, GRADES, RETEST = "Confidence against human labels", "Scores against human labels", "Asked again"
_GRADES = 3  # different human labels from which on they are grades
_MANY_LABELS = 20  # of which hardly one is exactly the human label
_WIDTH = 20  # of the diagram, in characters


def full_report(
    votes: Votes, level: Level | None = None, *, draws: int = DRAWS, seed: int = 0, random_sample: bool = True
) -> AgreementReport:
    """Analyse a batch of votes, and the confidences, scores and repetitions beside them.

    These are the sections of :func:`jury_adapters.calibration.agreement_report` and three more, each where the votes
    allow it: "Confidence against human labels", where judgments state a confidence and items have a human label;
    "Scores against human labels", where there are scores and at least three different human labels that are numbers;
    "Asked again", where jurors were asked several times.

    Args:
        votes: the batch.
        level: as in :func:`jury_adapters.calibration.agreement_report`.
        draws: bootstrap draws per interval; 0 for no bootstrap.
        seed: equal seeds give equal reports.
        random_sample: as in :func:`jury_adapters.calibration.true_pass_rate`; False for labelled items that were
            picked.

    >>> rows = [["PASS", "PASS"], ["PASS", "FAIL"], ["FAIL", "FAIL"]] * 20
    >>> list(full_report(Votes.from_rows(rows)).sections)
    ['Agreement', 'Labels', 'Jurors']
    """
    how = Resampling(draws, seed)
    base = agreement_report(votes, level, draws=draws, seed=seed, random_sample=random_sample)
    sections = {
        CONFIDENCE: with_selection(votes, _confidence(votes, how), compared=False),
        GRADES: with_selection(votes, _grades(votes, how), compared=False),
        RETEST: tuple(_again(votes, how)),
    }
    found = {title: estimates for title, estimates in sections.items() if estimates}
    tables = {CONFIDENCE: tuple(_diagrams(found[CONFIDENCE]))} if CONFIDENCE in found else {}
    return replace(base, sections={**base.sections, **found}, tables=tables)


def _confidence(votes: Votes, how: Resampling) -> Iterable[Estimate]:
    stated = votes.stated.confidences[votes.gold >= 0] if votes.stated.confidences.size else np.empty(0)
    if not len(votes.labels) <= _MANY_LABELS or np.isnan(stated).all():
        return ()
    return confidence_quality(votes, resampling=how)


def _grades(votes: Votes, how: Resampling) -> Iterable[Estimate]:
    ratings = votes.stated.ratings
    if len(np.unique(ratings[np.isfinite(ratings)])) < _GRADES or not np.isfinite(votes.stated.scores).any():
        return ()
    return graded_agreement(votes, resampling=how)


def _again(votes: Votes, how: Resampling) -> Iterator[Estimate]:
    for juror, repetitions in votes.repetitions.items():
        yield from retest(repetitions, juror, resampling=how)


def _diagrams(estimates: Sequence[Estimate]) -> Iterator[str]:
    """Yield the lines of the reliability diagrams, each as a table with a bar from 0 to 1."""
    for estimate in estimates:
        if bins := bins_of(estimate):
            yield f"{estimate.subject}: how often it is right, by confidence (# right, | confidence)"
            yield f"  {'confidence':>12}  {'mean':>5}  {'right':>5}  {'95 % interval':>14}  {'n':>6}"
            yield from (_row(one) for one in bins)


def _row(one: ReliabilityBin) -> str:
    right, (low, high) = round(one.accuracy * _WIDTH), one.interval
    bar = list("#" * right + "." * (_WIDTH - right))
    bar[min(int(one.confidence * _WIDTH), _WIDTH - 1)] = "|"
    return (
        f"  {one.low:>6.3f}-{one.high:.3f}  {one.confidence:.3f}  {one.accuracy:.3f}  {low:>8.3f}-{high:.3f}  "
        f"{one.n:>6,}  {''.join(bar)}"
    )
