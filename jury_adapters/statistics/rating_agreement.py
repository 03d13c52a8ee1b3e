"""Scores against graded human labels: weighted kappa, and rank correlations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from jury_adapters.calibration.estimates import Estimate, Interval, few, number, undefined
from jury_adapters.calibration.resampling import DEFAULT, Resampling
from jury_adapters.calibration.types import Floats, Ints
from jury_adapters.calibration.votes import Votes
from jury_adapters.core.statistics import Z95
from jury_adapters.statistics.intervals import Drawn, Statistic
from jury_adapters.statistics.weighted import Ranked, correlation, kendall_tau_b, linear_kappa, quadratic_kappa

LINEAR, QUADRATIC = "weighted kappa (linear)", "weighted kappa (quadratic)"
SPEARMAN, KENDALL = "spearman correlation", "kendall tau-b"
FEWEST = 30
"""Scored items (or groups) that an interval takes."""
MOST_FOR_TAU = 1000
"""Scored items above which Kendall's tau-b has no interval: its time grows with their square."""
_ERRORS = {LINEAR: 2.3, QUADRATIC: 2.3, SPEARMAN: 1.05 * Z95, KENDALL: 1.05 * Z95}


@dataclass(frozen=True, slots=True)
class _Scores:
    """The scores of one voter beside the human labels of the same items."""

    voter: str
    scores: Floats
    ratings: Floats
    groups: Ints

    @property
    def n(self) -> int:
        return len(self.scores)

    @property
    def units(self) -> int:
        return len(np.unique(self.groups))

    @property
    def undefined(self) -> str:
        """The reason that there is no number; empty where there is one."""
        if self.n < 2:
            return f"{self.voter} has a score on {self.n} item with a human label that is a number; it takes 2"
        same = [
            who for who, numbers in (("its scores", self.scores), ("human labels", self.ratings)) if not np.ptp(numbers)
        ]
        return f"all {' and all '.join(same)} are the same" if same else ""


def graded_agreement(votes: Votes, *, resampling: Resampling = DEFAULT) -> tuple[Estimate, ...]:
    """Compare the scores of each juror, and of the jury, with human labels that are numbers.

    The score of a judgment is its rating in the units of its rubric (such as 1 to 5) where it has one, else its score
    (0 to 1); of a recorded vote that is a number, that number. Jurors without scores are left out.

    Args:
        votes: a batch whose gold labels are numbers.
        resampling: number of draws and seed of the bootstrap over items, or over groups where there are any.

    Returns:
        Four estimates per voter, which is the subject; each is 1 for perfect, 0 for none, and None where either side is
        always the same or there are fewer than 2 items:

        - ``weighted kappa (linear)`` and ``weighted kappa (quadratic)``: agreement beyond chance, where a miss counts
          by its distance or squared distance (Cohen 1968). The distances are those of the numbers, so a level without
          an item makes no difference. None where scores lie from 0 to 1 and human labels do not, or the reverse.
        - ``spearman correlation``: whether higher scores go with higher human labels; the scales may differ (Spearman
          1904; ties have their mean rank).
        - ``kendall tau-b``: of two items, how much more often score and human label order them the same way than the
          other way, corrected for ties (Kendall 1945). No interval above 1,000 items.

        Intervals are of the bootstrap on the scale of Fisher's z, from 30 items or groups on.

    >>> votes = Votes.from_rows([[1], [2], [3], [4], [4]], jurors=["a"], gold=[1, 2, 3, 5, 4])
    >>> for found in graded_agreement(votes):
    ...     print(found.name, round(found.value, 3))
    weighted kappa (linear) 0.865
    weighted kappa (quadratic) 0.941
    spearman correlation 0.975
    kendall tau-b 0.949
    """
    stated = votes.stated
    if not np.isfinite(stated.ratings).any():
        return (undefined(SPEARMAN, 0, "no item has a human label that is a number"),)
    found: list[Estimate] = []
    for column, voter in enumerate(stated.voters):
        asked = np.isfinite(stated.ratings) & np.isfinite(stated.scores[:, column])
        if asked.any():
            scores = _Scores(voter, stated.scores[asked, column], stated.ratings[asked], votes.groups[asked])
            found.extend(_estimates(scores, resampling))
    return tuple(found) or (undefined(SPEARMAN, 0, "no juror has a score on an item whose human label is a number"),)


def _estimates(scores: _Scores, how: Resampling) -> Iterator[Estimate]:
    warnings = few(scores.n, scores.units)
    if reason := scores.undefined:
        for name in (LINEAR, QUADRATIC, SPEARMAN, KENDALL):
            yield undefined(name, scores.n, reason, subject=scores.voter, warnings=warnings)
        return
    padded = _Padded.of(scores)
    for name, kappa in ((LINEAR, linear_kappa), (QUADRATIC, quadratic_kappa)):
        if reason := _two_scales(scores):
            yield undefined(name, scores.n, reason, subject=scores.voter, warnings=warnings)
        else:
            yield _estimate(name, scores, padded, padded.statistic(kappa), how)
    one, other = Ranked(padded.scores), Ranked(padded.ratings)
    yield _estimate(SPEARMAN, scores, padded, lambda w: correlation(w, one.ranks(w), other.ranks(w)), how)
    without = how if scores.n <= MOST_FOR_TAU else Resampling(0)
    yield _estimate(KENDALL, scores, padded, padded.statistic(kendall_tau_b), without)


@dataclass(frozen=True, slots=True)
class _Padded:
    """Scores and human labels with two items that only resamples have.

    On one of them the score is in the upper quarter and the human label in the lower quarter, on the other the reverse.
    """

    drawn: Drawn
    scores: Floats
    ratings: Floats

    @classmethod
    def of(cls, scores: _Scores) -> _Padded:
        (low, high), (least, most) = _quarters(scores.scores), _quarters(scores.ratings)
        ranks = (
            Ranked(scores.scores).ranks(np.ones((1, scores.n)))[0]
            + Ranked(scores.ratings).ranks(np.ones((1, scores.n)))[0]
        )
        return cls(
            Drawn.of(scores.groups, ranks),
            np.concatenate([scores.scores, [low, high]]),
            np.concatenate([scores.ratings, [most, least]]),
        )

    def statistic(self, of: Callable[[Floats, Floats, Floats], Floats]) -> Statistic:
        """Return a statistic of weights, scores and human labels as one of the weights alone."""
        return lambda weights: of(weights, self.scores, self.ratings)


def _quarters(numbers: Floats) -> tuple[float, float]:
    """The lower and upper quartile; the extremes where they are the same."""
    low, high = np.quantile(numbers, (0.25, 0.75), method="nearest").tolist()
    return (low, high) if low < high else (float(numbers.min()), float(numbers.max()))


def _two_scales(scores: _Scores) -> str:
    """Return the reason that scores and human labels are not on one scale; empty where they may be."""
    ranges = [(float(numbers.min()), float(numbers.max())) for numbers in (scores.scores, scores.ratings)]
    shares = [low >= 0 and high <= 1 for low, high in ranges]
    if shares[0] == shares[1]:
        return ""
    (low, high), (least, most) = ranges
    return f"its scores lie from {low:g} to {high:g} and human labels from {least:g} to {most:g}, so not on one scale"


def _estimate(name: str, scores: _Scores, padded: _Padded, statistic: Statistic, how: Resampling) -> Estimate:
    value = float(statistic(padded.drawn.as_voted)[0])
    interval = padded.drawn.fisher(how, statistic, _ERRORS[name]) if scores.units >= FEWEST else None
    sentence = _reading(name, value, interval)
    return Estimate(name, value, scores.n, interval, sentence, few(scores.n, scores.units), subject=scores.voter)


def _reading(name: str, value: float, interval: Interval | None) -> str:
    if name == KENDALL:
        shown = number(value)
        what = "as often the same way as the other way" if float(shown) == 0 else (
            f"{'the same' if value > 0 else 'the other'} way more often than not: {shown}"
        )  # fmt: skip
        sentence = f"Score and human label order two items {what} (1 is always the same way, -1 never)"
    elif name == SPEARMAN:
        shown = number(value)
        which = "do not rise or fall" if float(shown) == 0 else "rise" if value > 0 else "fall"
        sentence = f"Scores {which} with rising human labels: {shown} (1 is always, -1 is the reverse)"
    else:
        far = "distance" if name == LINEAR else "squared distance"
        sentence = f"With a miss counted by its {far}, its scores reach {number(value)} (1 is perfect, 0 is chance)"
    return f"{sentence}; {_shown(interval)}."


def _shown(interval: Interval | None) -> str:
    """Say what an interval shows, as it is printed: with three decimals."""
    if interval is None:
        return "whether that is chance is not tested"
    if round(interval[0], 3) > 0:
        return "that is more than chance"
    return "that is less than chance gives" if round(interval[1], 3) < 0 else "not shown to be more than chance"
