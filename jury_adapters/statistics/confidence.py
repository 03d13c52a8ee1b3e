"""Confidence against human labels: whether an answer with more confidence is more often right, and how often it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt

import numpy as np

from jury_adapters.calibration.estimates import Estimate, Interval, few, number, undefined
from jury_adapters.calibration.juror_stats import share_interval
from jury_adapters.calibration.resampling import DEFAULT, Resampling, ratio_of
from jury_adapters.calibration.types import MISSING, Bools, Floats, Ints
from jury_adapters.calibration.votes import Votes
from jury_adapters.core.formatting import counted, percent
from jury_adapters.core.last_result import last_result
from jury_adapters.statistics.intervals import Drawn
from jury_adapters.statistics.reliability import By, calibration_error, error_by_chance, reliability_diagram
from jury_adapters.statistics.weighted import Ranked, area_under_curve

FEWEST = 10
"""Right and wrong answers (or groups with them) that an interval of the AUROC needs of each."""
AUROC, BRIER = "AUROC of confidence", "Brier score of confidence"
ECE, OVER, OTHERS = "expected calibration error", "overconfidence", "confidence of the others"
_MANY_LABELS = 20


@dataclass(frozen=True, slots=True)
class _Answers:
    """The answers of one voter that have a confidence and a human label.

    Attributes:
        voter: its name.
        votes: the batch.
        asked: per item of the batch, whether there is such an answer.
        hit: per item of the batch, whether that answer is right.
        confidences: per answer, 0..1.
        right: per answer, 1.0 or 0.0.
        groups: per answer.
        unusable: number of confidences that are not a number from 0 to 1.
    """

    voter: str
    votes: Votes
    asked: Bools
    hit: Bools
    confidences: Floats
    right: Floats
    groups: Ints
    unusable: int

    @property
    def n(self) -> int:
        return len(self.right)

    @property
    def warnings(self) -> tuple[str, ...]:
        units = len(np.unique(self.groups))
        what = f"{counted(self.unusable, 'confidence is', 'confidences are')} not a number from 0 to 1 and left out"
        return ((what,) if self.unusable else ()) + few(self.n, units)


def confidence_quality(
    votes: Votes, *, bins: int | None = None, by: By = "mass", resampling: Resampling = DEFAULT
) -> tuple[Estimate, ...]:
    """Compare the confidence of each juror, and of the jury, with whether its answer is the human label.

    An abstention has no answer, and its confidence does not count. Jurors that state no confidence are named in the
    last estimate, ``confidence of the others``, which has no value. Nothing is recalibrated.

    Args:
        votes: a batch with gold labels.
        bins: number of bins of the reliability diagram, as in :func:`reliability_diagram`.
        by: kind of bins, as in :func:`reliability_diagram`.
        resampling: number of draws and seed of the bootstrap over items, or over groups where there are any.

    Returns:
        Four estimates per voter, which is the subject:

        - ``overconfidence``: mean confidence minus accuracy, -1..1; above 0 it claims more than it delivers. Interval:
          those of the two means, squared and added (Newcombe 1998, without correlation), which is conservative.
          Details: ``confidence``, ``accuracy``.
        - ``AUROC of confidence``: chance that a right answer has more confidence than a wrong one, ties counted half
          (Mann and Whitney 1947); 0.5 is chance. No interval below 10 right and 10 wrong answers, or groups with them.
          Details: ``right``, ``wrong``.
        - ``Brier score of confidence``: mean squared difference between confidence and 1 for right, 0 for wrong
          (Brier 1950); 0 is best. Details: ``constant``, the score of the accuracy as confidence of every answer.
        - ``expected calibration error``: mean absolute difference between confidence and accuracy in the bins (Naeini
          et al. 2015, Guo et al. 2017); 0 is best. Chance alone makes it larger than 0, so it has no interval. Details:
          ``by_chance``, about what exact confidences would give; ``bins``; ``by``.

    >>> rows = [{"item_id": str(n), "gold": "PASS" if n % 4 else "FAIL",
    ...          "votes": {"a": {"label": "PASS", "confidence": 0.9 if n % 4 else 0.6}}} for n in range(80)]
    >>> over, auroc, *_ = confidence_quality(Votes.from_recorded(rows))
    >>> round(over.value, 3), auroc.value
    (0.075, 1.0)
    """
    if not votes.has_gold:
        return (undefined(AUROC, 0, "no item has a human label"),)
    if len(votes.labels) > _MANY_LABELS:
        reason = f"the votes are {len(votes.labels)} different numbers, so that hardly any is right or wrong"
        return (undefined(AUROC, 0, reason),)
    found: list[Estimate] = []
    without: list[str] = []
    for column in range(len(votes.stated.voters)):
        answers = _answers_of(votes, column)
        if answers.n or answers.unusable:
            found += _estimates(answers, bins, by, resampling)
        else:
            without.append(answers.voter)
    if without:
        reason = f"no labelled answer of {', '.join(without)} has a confidence"
        found.append(undefined(OTHERS, 0, reason))
    return tuple(found)


def _answers_of(votes: Votes, column: int) -> _Answers:
    stated = votes.stated
    codes, confidences = stated.codes[:, column], stated.confidences[:, column]
    labelled = (codes != MISSING) & (votes.gold != MISSING) & ~np.isnan(confidences)
    asked = labelled & np.isfinite(confidences)
    hit = asked & (codes == votes.gold)
    return _Answers(
        stated.voters[column],
        votes,
        asked,
        hit,
        confidences[asked],
        hit[asked].astype(np.float64),
        votes.groups[asked],
        int((labelled & ~asked).sum()),
    )


def _estimates(answers: _Answers, bins: int | None, by: By, how: Resampling) -> Iterator[Estimate]:
    if not answers.n:
        reason = "none of its confidences is a number from 0 to 1"
        yield undefined(AUROC, 0, reason, subject=answers.voter)
        return
    drawn = _with_contradictions(answers)
    yield _overconfidence(answers, how)
    yield _auroc(answers, drawn, how)
    yield _brier(answers, drawn, how)
    yield _calibration_error(answers, bins, by)


@dataclass(frozen=True, slots=True)
class _Contradicted:
    """The answers, and two that only resamples have: a wrong one as sure as any right one, and the reverse."""

    drawn: Drawn
    confidences: Floats
    right: Floats


def _with_contradictions(answers: _Answers) -> _Contradicted:
    stated, right = answers.confidences, answers.right > 0
    surest = stated[right].max() if right.any() else stated.max()
    least = stated[~right].min() if (~right).any() else stated.min()
    return _Contradicted(
        Drawn.of(answers.groups, answers.right),
        np.concatenate([stated, [surest, least]]),
        np.concatenate([answers.right, [0.0, 1.0]]),
    )


def _overconfidence(answers: _Answers, how: Resampling) -> Estimate:
    mean, accuracy = float(answers.confidences.mean()), float(answers.right.mean())
    value = mean - accuracy
    interval = _of_difference(answers, mean, accuracy, how)
    direction = _direction(interval)
    sentence = f"Its mean confidence is {number(mean)}, and {number(accuracy)} of its answers are right: {direction}."
    details = {"confidence": mean, "accuracy": accuracy}
    return Estimate(
        OVER, value, answers.n, interval, sentence, answers.warnings, subject=answers.voter, details=details
    )


def _of_difference(answers: _Answers, mean: float, accuracy: float, how: Resampling) -> Interval | None:
    right = share_interval(answers.hit, answers.asked, answers.votes)
    drawn = Drawn.of(answers.groups, answers.confidences)
    least, most = float(answers.confidences.min()), float(answers.confidences.max())
    if least == most:  # all draws have the same mean, and no percentiles
        stated: Interval | None = (mean, mean) if how.draws and drawn.units > 1 else None
    else:
        stated = drawn.percentiles(how, _weighted_mean, np.concatenate([answers.confidences, [least, most]]))
    if right is None or stated is None:
        return None
    below = sqrt((mean - min(stated[0], mean)) ** 2 + (right[1] - accuracy) ** 2)
    above = sqrt((max(stated[1], mean) - mean) ** 2 + (accuracy - right[0]) ** 2)
    return max(-1.0, mean - accuracy - below), min(1.0, mean - accuracy + above)


def _weighted_mean(weights: Floats, values: Floats) -> Floats:
    return ratio_of(weights @ values, weights.sum(axis=1))


def _direction(interval: Interval | None) -> str:
    """Say what an interval of the overconfidence shows, as it is printed: with three decimals."""
    if interval is None:
        return "without an interval, the difference may be chance"
    if round(interval[0], 3) > 0:
        return "it claims more than it delivers"
    if round(interval[1], 3) < 0:
        return "it delivers more than it claims"
    return "that is within chance"


def _auroc(answers: _Answers, items: _Contradicted, how: Resampling) -> Estimate:
    right, wrong = int(answers.right.sum()), int((1 - answers.right).sum())
    if not right or not wrong:
        which, other = ("right", "wrong") if right else ("wrong", "right")
        reason = f"all {counted(answers.n, 'answer')} with a confidence are {which}, so there is no {other} one beside"
        if answers.n == 1:
            reason = f"its one answer with a confidence is {which}, so there is no {other} one beside"
        return undefined(AUROC, answers.n, reason, subject=answers.voter, warnings=answers.warnings)

    ranked = last_result(Ranked)  # the blocks of draws have the same confidences

    def area(weights: Floats, confidences: Floats, right: Floats) -> Floats:
        return area_under_curve(weights, ranked(confidences), right)

    value = float(area(items.drawn.as_voted, items.confidences, items.right)[0])
    warnings, interval = answers.warnings, None
    same = bool(np.ptp(answers.confidences) == 0)
    if not same:
        scarce = _scarce(answers)
        interval = None if scarce else items.drawn.percentiles(how, area, items.confidences, items.right)
        warnings = (scarce, *warnings) if scarce else warnings
    if interval is not None:
        interval = min(interval[0], value), max(interval[1], value)
    sentence = (
        "All its answers have the same confidence, which says nothing of which are right."
        if same
        else _area(value, interval)
    )
    details = {"right": right, "wrong": wrong}
    return Estimate(AUROC, value, answers.n, interval, sentence, warnings, subject=answers.voter, details=details)


def _scarce(answers: _Answers) -> str:
    """Return the warning that there are too few right or wrong answers for an interval; empty when there are enough."""
    grouped = answers.votes.grouped
    for which, mask in (("wrong", answers.right == 0), ("right", answers.right == 1)):
        n = len(np.unique(answers.groups[mask])) if grouped else int(mask.sum())
        if n < FEWEST:
            what = counted(n, f"group has a {which} answer", f"groups have a {which} answer") if grouped else (
                counted(n, f"answer is {which}", f"answers are {which}")
            )  # fmt: skip
            return f"only {what}, and an interval of the AUROC takes {FEWEST}"
    return ""


def _area(value: float, interval: Interval | None) -> str:
    pairs = (
        f"Of a right and a wrong answer picked at random, the right one has more confidence in {percent(value)} of the "
        "cases (50 % is chance)"
    )
    if interval is None:
        return f"{pairs}; without an interval, that may be chance."
    if round(interval[0], 3) > 0.5:
        return f"{pairs}: more confidence does mean more often right."
    if round(interval[1], 3) < 0.5:
        return f"{pairs}: worse than chance, more confidence means less often right."
    return f"{pairs}: not shown to be better than chance."


def _brier(answers: _Answers, items: _Contradicted, how: Resampling) -> Estimate:
    errors = (items.confidences - items.right) ** 2
    value, accuracy = float(errors[:-2].mean()), float(answers.right.mean())
    constant = accuracy * (1 - accuracy)
    interval = items.drawn.percentiles(how, _weighted_mean, errors)
    if interval is not None:
        interval = min(interval[0], value), max(interval[1], value)
    sentence = (
        f"The mean squared error of its confidence is {number(value)} (0 is best). That is {_beside(value, constant)} "
        f"the {number(constant)} of a confidence of {number(accuracy)} for every answer."
    )
    return Estimate(
        BRIER, value, answers.n, interval, sentence, answers.warnings, subject=answers.voter,
        details={"constant": constant},
    )  # fmt: skip


def _beside(value: float, constant: float) -> str:
    """Say how one error compares with another, as they are printed."""
    if number(value) == number(constant):
        return "as large as"
    return "smaller than" if value < constant else "larger than"


def _calibration_error(answers: _Answers, bins: int | None, by: By) -> Estimate:
    groups = answers.groups if answers.votes.grouped else ()
    found = reliability_diagram(answers.confidences, answers.right, bins=bins, by=by, groups=groups)
    value, chance = calibration_error(found), error_by_chance(found)
    sentence = (
        f"Confidence and the share of right answers differ by {number(value)} on average over "
        f"{counted(len(found), 'bin')}; exact confidences would differ by about {number(chance)} by chance."
    )
    return Estimate(
        ECE, value, answers.n, None, sentence, answers.warnings, subject=answers.voter,
        details={"by_chance": chance, "by": by, "bins": [one.to_dict() for one in found]},
    )  # fmt: skip
