"""Voting rule ``weighted_average``: the weighted mean score decides."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import ClassVar

from jury_adapters.core.voting.base import Box
from jury_adapters.core.voting.scores import ScoreVote


@dataclass(frozen=True, kw_only=True)
class WeightedAverage(ScoreVote):
    """Rule that passes if the weighted mean score reaches ``threshold``; the weights need not sum to 1.

    If no juror with a weight above 0 votes, the verdict is ABSTAIN.
    """

    name: ClassVar[str] = "weighted_average"
    passes_when: ClassVar[str] = "the weighted mean score reaches `threshold` (0.5, inclusive)"
    good_for: ClassVar[str] = "jurors of unequal accuracy that give scores"

    def _score(self, box: Box[float]) -> float:
        return min(1.0, fsum(box.weight(i) * ballot for i, ballot in box.voted) / box.total_weight())

    def _weight(self, box: Box[float]) -> float:
        return box.total_weight()

    def _spread(self, box: Box[float], score: float) -> float:
        return fsum(box.weight(i) * abs(ballot - score) for i, ballot in box.voted) / box.total_weight()
