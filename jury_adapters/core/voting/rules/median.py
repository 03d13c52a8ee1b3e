"""Voting rule ``median``: the median score decides."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import ClassVar

from jury_adapters.core.voting.base import Box
from jury_adapters.core.voting.scores import ScoreVote


@dataclass(frozen=True, kw_only=True)
class Median(ScoreVote):
    """Rule that passes if the median score, which one outlier cannot move, reaches ``threshold``."""

    name: ClassVar[str] = "median"
    passes_when: ClassVar[str] = "the median score reaches `threshold` (0.5, inclusive)"
    good_for: ClassVar[str] = "scores with an outlier, which cannot move it"

    def _score(self, box: Box[float]) -> float:
        return median(ballot for _, ballot in box.voted)
