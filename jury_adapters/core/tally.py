"""Counts of the votes of a jury."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from jury_adapters.core.values import check_word

Ballot = str | float | None
"""Vote of one juror: a status, a label or a score; None if it did not vote."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of the votes of one verdict.

    Attributes:
        on: the subject of the vote: ``"status"``, ``"label"`` or ``"score"``.
        eligible: number of judgments that voted. Abstentions never vote; errors do if the error policy counts them.
        passed: number of votes counted as PASS.
        failed: number of votes counted as FAIL, including errors under ``errors="fail"``.
        abstained: number of judgments with status ABSTAIN.
        errors: number of judgments with status ERROR, regardless of the error policy.
        ignored: number of judgments left out for other reasons: errors under ``errors="ignore"``, and judgments without
            a ballot (also errors under ``errors="fail"`` in a vote on labels without ``error_label``).
        tied: True if the tie rule had to decide.
        ballots: the ballot of each juror, in juror order; None for abstentions, errors and ignored judgments. They are
            kept for audits of the vote.
        errors_decided: True if errors count as FAIL, and the status could be different if these jurors had voted: it is
            different without them, or a FAIL would be a PASS with their PASS. A member verdict that is FAIL only
            because of errors counts as an error here, regardless of the error policy.
    """

    on: Literal["status", "label", "score"] = "status"
    eligible: int = 0
    passed: int = 0
    failed: int = 0
    abstained: int = 0
    errors: int = 0
    ignored: int = 0
    tied: bool = False
    ballots: tuple[Ballot, ...] = ()
    errors_decided: bool = False

    def __post_init__(self) -> None:
        check_word(self.on, ("status", "label", "score"), "Tally.on")
        if self.ballots.__class__ is not tuple:
            object.__setattr__(self, "ballots", tuple(self.ballots))

    @property
    def valid_ballots(self) -> tuple[str | float, ...]:
        """The ballots that were cast."""
        ballots = self.ballots
        return ballots if None not in ballots else tuple([ballot for ballot in ballots if ballot is not None])  # type: ignore[return-value]

    @property
    def unanimous(self) -> bool:
        """True if at least one ballot was cast and all are equal."""
        return len(set(self.valid_ballots)) == 1


NO_TALLY = Tally()
"""Tally of a verdict without a vote."""


def only_vote(opinion: str | None, jurors: int) -> str:
    """Return the sentence about the vote of one juror beside others that did not vote.

    >>> only_vote("PASS", 4)
    'the only vote of 4 jurors is PASS'
    """
    return f"the only vote of {jurors} jurors is {opinion}"
