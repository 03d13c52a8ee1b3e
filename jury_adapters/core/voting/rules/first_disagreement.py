"""The rule ``first_disagreement``: a label for what the jurors disagree about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from jury_adapters.core.judgment import Judgment
from jury_adapters.core.voting.ballots import BallotVote, Mode, share_of, tally_of
from jury_adapters.core.voting.base import Box, VoteResult


@dataclass(frozen=True, kw_only=True)
class FirstDisagreement(BallotVote):
    """The ballot all agree on, else the label ``DISAGREE`` (which has no PASS/FAIL meaning)."""

    name: ClassVar[str] = "first_disagreement"
    passes_when: ClassVar[str] = "all agree on PASS; where they disagree the label is `DISAGREE`"
    good_for: ClassVar[str] = "finding the cases that need human review"
    _decided_by_a_split: ClassVar[bool] = True

    def _decide(self, mode: Mode, box: Box[str], judgments: Sequence[Judgment]) -> VoteResult:
        first = box.voted[0][1]
        for position, ballot in box.voted:
            if ballot != first:
                who = judgments[position].critic or f"judge {position + 1}"
                return VoteResult(None, tally_of(mode, box), label="DISAGREE", confidence=share_of(box, None),
                                  reasoning=f"{who} is the first to disagree: {ballot}, not {first}")  # fmt: skip
        return self._won(mode, box, judgments, first, reason=f"all {len(box.voted)} agree")
