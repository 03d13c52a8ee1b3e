"""Voting rule ``first_disagreement``: a label for cases on which the jurors disagree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.judgment import LABEL_ONLY, Judgment, OpinionStatuses
from jury_adapters.core.voting.ballots import BallotVote, Mode, agreement_in, share_of, tally_of
from jury_adapters.core.voting.base import Box, VoteResult


@dataclass(frozen=True, kw_only=True)
class FirstDisagreement(BallotVote):
    """Rule that returns the common ballot of all jurors, or a label without PASS/FAIL meaning if ballots differ.

    Attributes:
        disagree_label: the label of a verdict whose ballots differ.
    """

    name: ClassVar[str] = "first_disagreement"
    passes_when: ClassVar[str] = "all agree on PASS; where they disagree the label is `disagree_label`"
    good_for: ClassVar[str] = "finding the cases that need human review"
    _decided_by_a_split: ClassVar[bool] = True

    disagree_label: str = "DISAGREE"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.disagree_label is None:
            raise ConfigurationError("first_disagreement has a disagree_label, such as 'SPLIT'; not None")

    def opinion_statuses(self, members: OpinionStatuses) -> OpinionStatuses:
        return super().opinion_statuses(members) | LABEL_ONLY

    def _decide(self, mode: Mode, box: Box[str], judgments: Sequence[Judgment]) -> VoteResult:
        first = box.voted[0][1]
        for position, ballot in box.voted:
            if ballot != first:
                who = judgments[position].critic or f"judge {position + 1}"
                return VoteResult(None, tally_of(mode, box), label=self.disagree_label, confidence=share_of(box, None),
                                  reasoning=f"{who} is the first to disagree: {ballot}, not {first}")  # fmt: skip
        return self._won(mode, box, judgments, first, reason=agreement_in(box))
