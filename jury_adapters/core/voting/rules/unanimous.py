"""Voting rule ``unanimous``: all jurors must agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from jury_adapters.core.errors import ConfigurationError, unknown
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.voting.ballots import BallotVote, Mode, agreement_in
from jury_adapters.core.voting.base import Box, VoteResult


@dataclass(frozen=True, kw_only=True)
class Unanimous(BallotVote):
    """Rule that passes or fails if all jurors agree on PASS or FAIL; for labels all must agree on one.

    Attributes:
        on_split: the result of a split in a vote on statuses: ``"fail"`` (default) or ``"abstain"`` (default if
            ``disagree_label`` is given). Split labels always give ABSTAIN with the ``disagree_label``, or without one
            the ``default_label``.

    Weights have no effect, and an abstention does not break unanimity.
    """

    name: ClassVar[str] = "unanimous"
    also_called: ClassVar[tuple[str, ...]] = ("consensus",)
    passes_when: ClassVar[str] = "all agree on PASS"
    good_for: ClassVar[str] = "where a wrong PASS is expensive"
    _decided_by_a_split: ClassVar[bool] = True

    on_split: Literal["fail", "abstain"] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.on_split not in (None, "fail", "abstain"):
            raise ConfigurationError(unknown("on_split=", self.on_split, ("fail", "abstain")))

    def _decide(self, mode: Mode, box: Box[str], judgments: Sequence[Judgment]) -> VoteResult:
        ballots = {ballot for _, ballot in box.voted}
        if len(ballots) == 1:
            return self._won(mode, box, judgments, ballots.pop(), reason=agreement_in(box))
        reason = "split: " + ", ".join(f"{n} {b}" for b, n in Counter(b for _, b in box.voted).most_common())
        on_split = self.on_split or ("fail" if self.disagree_label is None else "abstain")
        if mode == "label" or on_split == "abstain":
            return self._disagreement(mode, box, reason)
        return self._won(mode, box, judgments, "FAIL", reason=reason)
