"""Base of the rules that vote on scores."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import ClassVar

from jury_adapters.core.judgment import PASS_OR_FAIL, Judgment, OpinionStatuses, Status
from jury_adapters.core.tally import Tally
from jury_adapters.core.tolerance import reaches
from jury_adapters.core.values import unit_interval
from jury_adapters.core.voting.base import Box, VoteResult, VotingStrategy, Weights, collect, too_few
from jury_adapters.core.voting.options import UnitInterval


@dataclass(frozen=True, kw_only=True)
class ScoreVote(VotingStrategy):
    """Base of the rules on scores. PASS and FAIL without a score count as 1.0 and 0.0.

    Attributes:
        threshold: the jury passes from this score on, 0..1, inclusive. A rule that is given by name takes the score
            from which its jurors pass, such as the pass mark of their rubric, and 0.5 if they have none.
    """

    threshold_of_jurors: ClassVar[bool] = True

    threshold: UnitInterval = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "threshold", unit_interval(self.threshold, "threshold"))

    @property
    def pass_score(self) -> float | None:
        return self.threshold

    def opinion_statuses(self, members: OpinionStatuses) -> OpinionStatuses:
        return PASS_OR_FAIL

    def _count(self, judgments: Sequence[Judgment], weights: Weights) -> VoteResult:
        propagated = self._propagated(judgments, "score")
        if propagated is not None:
            return propagated
        box = collect(judgments, weights, self.errors or "fail", _score_ballot, 0.0)
        if len(box.voted) < self.min_votes or not self._weight(box):
            return VoteResult(Status.ABSTAIN, self._tally(box), reasoning=too_few(len(box.voted), self.min_votes))
        return self._decide(box)

    def _decide(self, box: Box[float]) -> VoteResult:
        """Return the result of at least ``min_votes`` scores."""
        score = self._score(box)
        passed = reaches(score, self.threshold)
        spread = self._spread(box, score)
        reason = f"{self.name} {score:.3f} {'reaches' if passed else 'is below'} {self.threshold:g}"
        return VoteResult(Status.PASS if passed else Status.FAIL, self._tally(box), score=score,
                          confidence=max(0.0, 1.0 - spread), reasoning=reason)  # fmt: skip

    @abstractmethod
    def _score(self, box: Box[float]) -> float:
        """Return the jury's score of at least one ballot."""

    def _weight(self, box: Box[float]) -> float:
        """Return the total weight of the votes; the verdict is ABSTAIN if it is 0."""
        return float(len(box.voted))

    def _spread(self, box: Box[float], score: float) -> float:
        """Return the mean absolute deviation of the scores from the jury's score."""
        return fsum(abs(ballot - score) for _, ballot in box.voted) / len(box.voted)

    def _tally(self, box: Box[float]) -> Tally:
        passed = sum(reaches(ballot, self.threshold) for _, ballot in box.voted)
        n = len(box.voted)
        return Tally("score", n, passed, n - passed, box.abstained, box.errors, box.ignored, False, box.cast)


def _score_ballot(judgment: Judgment) -> float | None:
    return judgment.numeric_score
