"""Voting rule ``majority``: the ballot with most votes wins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from jury_adapters.core.judgment import Judgment
from jury_adapters.core.voting.ballots import Mode
from jury_adapters.core.voting.base import Box, VoteResult
from jury_adapters.core.voting.shares import Share, parse_share
from jury_adapters.core.voting.ties import MostVotes


@dataclass(frozen=True, kw_only=True)
class Majority(MostVotes):
    """Rule in which most votes win: PASS if passes > fails; for labels the most frequent one.

    Attributes:
        min_share: the share of the eligible votes that the winner needs (``"2/3"``); below it the verdict is ABSTAIN
            with the ``disagree_label``, or without one the ``default_label``.

    Each juror has one vote; weights affect only the confidence. Use ``weighted`` if weights should decide.
    """

    name: ClassVar[str] = "majority"
    also_called: ClassVar[tuple[str, ...]] = ("plurality",)
    passes_when: ClassVar[str] = "more PASS than FAIL; of labels the most frequent"
    good_for: ClassVar[str] = "the default; jurors of about equal accuracy"

    min_share: Share | None = None
    _min_share: Fraction = field(init=False, repr=False, compare=False, default=Fraction(0))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.min_share is not None:
            object.__setattr__(self, "_min_share", parse_share(self.min_share, "min_share"))

    def _decide(self, mode: Mode, box: Box[str], judgments: Sequence[Judgment]) -> VoteResult:
        votes: dict[str, float] = {}
        for _, ballot in box.voted:
            votes[ballot] = votes.get(ballot, 0) + 1
        if self._min_share and Fraction(int(max(votes.values())), len(box.voted)) < self._min_share:
            return self._disagreement(mode, box, f"no vote reaches the share of {self.min_share}")
        return self._most(mode, box, judgments, votes)
