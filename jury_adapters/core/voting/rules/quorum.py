"""Voting rule ``quorum``: enough jurors must reach the threshold."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from jury_adapters.core.judgment import Status
from jury_adapters.core.voting.base import Box, VoteResult
from jury_adapters.core.voting.options import UnitInterval
from jury_adapters.core.voting.scores import ScoreVote
from jury_adapters.core.voting.shares import Share, parse_share


@dataclass(frozen=True, kw_only=True)
class Quorum(ScoreVote):
    """Rule that passes if the share of jurors whose score reaches ``threshold`` is at least ``quorum``.

    The scores decide, not the jurors' own PASS or FAIL. The jury's score is the share that passed.

    Attributes:
        threshold: a juror passes from this score on. A rule that is given by name takes the score from which the
            jurors pass, and 0.7 if they have none.
        quorum: the share of the eligible jurors that must pass (0.5), such as ``"2/3"``; :func:`parse_share` reads it.
    """

    name: ClassVar[str] = "quorum"
    passes_when: ClassVar[str] = "the share of jurors whose score reaches `threshold` (0.7) is at least `quorum` (0.5)"
    good_for: ClassVar[str] = "scores with a bar for each juror"

    threshold: UnitInterval = 0.7
    quorum: Share = 0.5
    _quorum: Fraction = field(init=False, repr=False, compare=False, default=Fraction(1, 2))

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "_quorum", parse_share(self.quorum, "quorum"))

    @property
    def pass_score(self) -> float:
        return float(self._quorum)

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
