"""Voting rule ``average``: the mean score decides."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import ClassVar

from jury_adapters.core.voting.base import Box
from jury_adapters.core.voting.scores import ScoreVote


@dataclass(frozen=True, kw_only=True)
class Average(ScoreVote):
    """Rule that passes if the mean score reaches ``threshold``."""

    name: ClassVar[str] = "average"
    passes_when: ClassVar[str] = "the mean score reaches `threshold` (0.5, inclusive)"
    good_for: ClassVar[str] = "jurors that give scores"

    def _score(self, box: Box[float]) -> float:
        return fsum(ballot for _, ballot in box.voted) / len(box.voted)
