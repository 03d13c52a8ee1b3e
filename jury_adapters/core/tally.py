"""Counts of the votes of a jury."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from jury_adapters.core.values import check_word

Ballot = str | float | None


@dataclass(frozen=True, slots=True)
class Tally:
    """Count of the votes of one verdict.

    Attributes:
        on: what voted: ``"status"``, ``"label"`` or ``"score"``.
        eligible: judgments that voted; abstentions have left, errors follow the error policy.
        passed: votes counted as PASS.
        failed: votes counted as FAIL, errors under ``errors="fail"`` included.
        abstained: judgments with status ABSTAIN.
        errors: judgments with status ERROR, whatever the policy made of them.
        ignored: judgments left out otherwise: errors under ``errors="ignore"``, or nothing to vote with
            (also errors under ``errors="fail"`` in a vote on labels without ``error_label``).
        tied: True when the tie rule had to decide.
        ballots: what each juror voted, in juror order; None for abstentions, errors and ignored ones. Kept because a
            vote can only be audited beside the ballots that were cast.
        errors_decided: True when errors count as FAIL, and without them the status would be another. A member verdict
            that is FAIL only by errors counts as an error here, whatever the error policy.
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
        return tuple(ballot for ballot in self.ballots if ballot is not None)

    @property
    def unanimous(self) -> bool:
        """True when at least one ballot was cast and all are equal."""
        return len(set(self.valid_ballots)) == 1


NO_TALLY = Tally()
