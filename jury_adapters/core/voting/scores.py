"""Strategies that vote on scores: average, weighted_average, median, quorum."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import fsum
from statistics import median
from typing import ClassVar

from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.values import unit_interval
from jury_adapters.core.verdict import Tally
from jury_adapters.core.voting.base import Box, VoteResult, VotingStrategy, Weights, collect
from jury_adapters.core.voting.shares import Share, parse_share

# Sums of decimal scores miss their threshold by a rounding error: the mean of 0.7, 0.7 and 0.7 must reach 0.7.
_ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True)
class ScoreVote(VotingStrategy):
    """What the strategies on scores share. PASS and FAIL without a score count 1.0 and 0.0.

    Attributes:
        threshold: the jury passes from this score on, 0..1, inclusive.
    """

    threshold: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "threshold", unit_interval(self.threshold, "threshold"))

    def _count(self, judgments: Sequence[Judgment], weights: Weights) -> VoteResult:
        propagated = self._propagated(judgments, "score")
        if propagated is not None:
            return propagated
        box = collect(judgments, weights, self.errors or "fail", _score_ballot, 0.0)
        if len(box.voted) < self.min_valid or not self._weight(box):
            reason = f"{len(box.voted)} voted with a weight above 0, at least {self.min_valid} must"
            return VoteResult(Status.ABSTAIN, self._tally(box), reasoning=reason)
        return self._decide(box)

    def _decide(self, box: Box[float]) -> VoteResult:
        """Decide over at least ``min_valid`` scores."""
        score = self._score(box)
        passed = score >= self.threshold - _ROUNDING
        spread = self._spread(box, score)
        reason = f"{self.name} {score:.3f} {'reaches' if passed else 'is below'} {self.threshold:g}"
        return VoteResult(Status.PASS if passed else Status.FAIL, self._tally(box), score=score,
                          confidence=max(0.0, 1.0 - spread), reasoning=reason)  # fmt: skip

    @abstractmethod
    def _score(self, box: Box[float]) -> float:
        """The jury's score over at least one ballot."""

    def _weight(self, box: Box[float]) -> float:
        """The weight that decides; nothing is eligible without any."""
        return float(len(box.voted))

    def _spread(self, box: Box[float], score: float) -> float:
        """Mean absolute deviation of the scores from the jury's score."""
        return fsum(abs(ballot - score) for _, ballot in box.voted) / len(box.voted)

    def _tally(self, box: Box[float]) -> Tally:
        passed = sum(ballot >= self.threshold for _, ballot in box.voted)
        n = len(box.voted)
        return Tally("score", n, passed, n - passed, box.abstained, box.errors, box.ignored, False, box.cast)


@dataclass(frozen=True, kw_only=True)
class Average(ScoreVote):
    """Passes when the mean score reaches ``threshold``."""

    name: ClassVar[str] = "average"

    def _score(self, box: Box[float]) -> float:
        return fsum(ballot for _, ballot in box.voted) / len(box.voted)


@dataclass(frozen=True, kw_only=True)
class WeightedAverage(ScoreVote):
    """Passes when the weighted mean score reaches ``threshold``; the weights need not sum to 1.

    When everyone with a weight above 0 has left, nothing is eligible and the verdict is ABSTAIN.
    """

    name: ClassVar[str] = "weighted_average"

    def _score(self, box: Box[float]) -> float:
        return min(1.0, fsum(box.weight(i) * ballot for i, ballot in box.voted) / box.total_weight())

    def _weight(self, box: Box[float]) -> float:
        return box.total_weight()

    def _spread(self, box: Box[float], score: float) -> float:
        return fsum(box.weight(i) * abs(ballot - score) for i, ballot in box.voted) / box.total_weight()


@dataclass(frozen=True, kw_only=True)
class Median(ScoreVote):
    """Passes when the median score reaches ``threshold``; one outlier cannot move it."""

    name: ClassVar[str] = "median"

    def _score(self, box: Box[float]) -> float:
        return median(ballot for _, ballot in box.voted)


@dataclass(frozen=True, kw_only=True)
class Quorum(ScoreVote):
    """Passes when the share of jurors whose score reaches ``threshold`` is at least ``quorum``.

    The scores decide, not the jurors' own PASS or FAIL. The jury's score is the share that passed.

    Attributes:
        threshold: a juror passes from this score on (0.7).
        quorum: the share of the eligible jurors that must pass (0.5); see :func:`parse_share` for how it is read.
    """

    name: ClassVar[str] = "quorum"

    threshold: float = 0.7
    quorum: Share = 0.5
    _quorum: Fraction = field(init=False, repr=False, compare=False, default=Fraction(1, 2))

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "_quorum", parse_share(self.quorum, "quorum"))

    def _decide(self, box: Box[float]) -> VoteResult:
        tally = self._tally(box)
        n = tally.eligible
        share = Fraction(tally.passed, n)
        met = share >= self._quorum
        reason = (
            f"{tally.passed} of {n} reach {self.threshold:g}; the quorum of {self.quorum} is {'' if met else 'not '}met"
        )
        return VoteResult(Status.PASS if met else Status.FAIL, tally, score=float(share),
                          confidence=float(max(share, 1 - share)), reasoning=reason)  # fmt: skip

    def _score(self, box: Box[float]) -> float:
        return sum(ballot >= self.threshold for _, ballot in box.voted) / len(box.voted)


def _score_ballot(judgment: Judgment) -> float | None:
    return judgment.numeric_score
