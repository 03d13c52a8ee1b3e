"""Voting rule ``weighted``: the ballot with the largest weight x confidence wins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import ClassVar

from jury_adapters.core.judgment import Judgment
from jury_adapters.core.voting.ballots import Mode
from jury_adapters.core.voting.base import Box, VoteResult
from jury_adapters.core.voting.ties import MostVotes


@dataclass(frozen=True, kw_only=True)
class Weighted(MostVotes):
    """Rule in which the ballot with the largest sum of weight x confidence wins.

    Attributes:
        use_confidence: whether a vote counts weight x confidence, or only the weight. A juror without a confidence
            counts with 1.0.
    """

    name: ClassVar[str] = "weighted"
    passes_when: ClassVar[str] = "the ballot with the largest weight x confidence is PASS"
    good_for: ClassVar[str] = "jurors of unequal accuracy"

    use_confidence: bool = True

    @property
    def reads_numbers(self) -> bool:
        return self.use_confidence

    def _decide(self, mode: Mode, box: Box[str], judgments: Sequence[Judgment]) -> VoteResult:
        masses: dict[str, list[float]] = {}
        for position, ballot in box.voted:
            given = judgments[position].confidence if self.use_confidence else None
            masses.setdefault(ballot, []).append(box.weight(position) * (1.0 if given is None else given))
        votes = {ballot: fsum(mass) for ballot, mass in masses.items()}
        total = fsum(votes.values())
        return self._most(mode, box, judgments, votes, confidence=max(votes.values()) / total if total else 0.0)
