"""Ties: the winner when several ballots have most votes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from jury_adapters.core.errors import ConfigurationError, plain_repr, unknown
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.tolerance import equal
from jury_adapters.core.verdict import Verdict, is_pairwise_opinion
from jury_adapters.core.voting.ballots import BallotVote, Mode, share_of, tally_of
from jury_adapters.core.voting.base import Box, VoteResult

TiePolicy = Literal["fail", "pass", "abstain", "first"]

TIE = "tie"
"""Label of a comparison in which neither candidate is better."""


@dataclass(frozen=True, kw_only=True)
class MostVotes(BallotVote):
    """Base of the rules in which the ballot with most votes wins.

    Attributes:
        tie: the result of a tie: ``"fail"`` (default for statuses), ``"pass"``, ``"abstain"`` (default if
            ``disagree_label`` is given), or ``"first"`` (default for labels): the tied ballot of the earliest juror.
        priority: ballots that win a tie, best first; applied before ``tie``.
    """

    tie: TiePolicy | None = None
    priority: Sequence[str] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tie is not None and self.tie not in ("fail", "pass", "abstain", "first"):
            raise ConfigurationError(unknown("tie=", self.tie, ("fail", "pass", "abstain", "first")))
        if isinstance(self.priority, str):
            raise ConfigurationError(f"priority is a list of labels: [{plain_repr(self.priority)}]")
        object.__setattr__(self, "priority", tuple(self.priority))

    def _known_labels(self) -> Iterable[str]:
        return self.priority

    def _most(
        self, mode: Mode, box: Box[str], judgments: Sequence[Judgment], votes: Mapping[str, float], *,
        confidence: float | None = None,
    ) -> VoteResult:  # fmt: skip
        """Return the result for the ballot with most votes; the tie rules decide between several."""
        most = max(votes.values())
        tied = [ballot for ballot, count in votes.items() if equal(count, most)]
        if len(tied) == 1:
            return self._won(mode, box, judgments, tied[0], confidence=confidence)
        winner = next((ballot for ballot in self.priority if ballot in tied), None)
        rule = self.tie or self._default_tie(mode)
        if winner is None and rule == "first":
            place, winner = next(vote for vote in box.voted if vote[1] in tied)
            if self.tie is None and _is_comparison(judgments[place]):
                reason = f"a tie of {', '.join(tied)}: neither is better"
                share = share_of(box, None) if confidence is None else confidence
                return self._won(mode, box, judgments, TIE, confidence=share, tied=True, reason=reason)
        if winner is not None:
            return self._won(mode, box, judgments, winner, confidence=confidence, tied=True)
        reason = f"a tie of {', '.join(tied)} counts as {rule.upper()}"
        broke = sum(box.cast[position] is None for position, _ in box.voted)
        if broke:
            reason += f", {broke} juror{'s' if broke > 1 else ''} broke"
        if rule == "abstain":
            return self._disagreement(mode, box, reason, tied=True)
        said = rule.upper() if mode == "status" else None
        share = share_of(box, said) if confidence is None else confidence
        return VoteResult(Status(rule.upper()), tally_of(mode, box, tied=True), confidence=share, reasoning=reason)

    def _default_tie(self, mode: Mode) -> TiePolicy:
        if self.disagree_label is not None:
            return "abstain"
        return "fail" if mode == "status" else "first"


def _is_comparison(judgment: Judgment) -> bool:
    """Whether a judgment is the opinion of a pairwise juror, or the verdict of a jury of such jurors."""
    if is_pairwise_opinion(judgment):
        return True
    return isinstance(judgment, Verdict) and bool(judgment.judgments) and all(map(_is_comparison, judgment.judgments))
