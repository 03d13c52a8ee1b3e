"""Voting rule ``k_veto``: a fixed number of objections fails a case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.judgment import PASS_OR_FAIL, Judgment, OpinionStatuses, Status
from jury_adapters.core.tally import Tally
from jury_adapters.core.voting.ballots import share_of
from jury_adapters.core.voting.base import VoteResult, VotingStrategy, Weights, collect
from jury_adapters.core.voting.options import Count


@dataclass(frozen=True, kw_only=True)
class KVeto(VotingStrategy):
    """Rule that fails if ``k`` jurors say FAIL, however many say PASS.

    LLM judges pass far more than they should, so a minority that objects is often right (Beyond Consensus, arXiv
    2510.11822: 4 objections of 14). With ``k=1`` one objection is enough. Learn ``k`` from labels with
    :func:`jury_adapters.calibration.reliabilities.fit_k_veto`.

    Attributes:
        k: the number of objections that fail a case, from 1.

    The confidence is the share of the eligible weight that voted for the status of the verdict. Weights do not affect
    the status.
    """

    name: ClassVar[str] = "k_veto"
    passes_when: ClassVar[str] = "fewer than `k` say FAIL"
    good_for: ClassVar[str] = "lenient jurors (nearly all are): a minority that objects is often right"

    k: Count = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.k, bool) or not isinstance(self.k, int) or self.k < 1:
            raise ConfigurationError(
                f"k is the number of objections that fail a case, from 1; not {plain_repr(self.k)}"
            )

    @property
    def reads_numbers(self) -> bool:
        return False

    def opinion_statuses(self, members: OpinionStatuses) -> OpinionStatuses:
        return PASS_OR_FAIL

    def bind(self, names: Sequence[str]) -> KVeto:
        if self.k > len(names):
            raise ConfigurationError(f"k_veto needs {self.k} objections, but there are only {len(names)} jurors")
        return self

    def _count(self, judgments: Sequence[Judgment], weights: Weights) -> VoteResult:
        propagated = self._propagated(judgments, "status")
        if propagated is not None:
            return propagated
        box = collect(judgments, weights, self.errors or "fail", lambda judgment: judgment.status, "FAIL")
        failed = sum(ballot == "FAIL" for _, ballot in box.voted)
        n = len(box.voted)
        tally = Tally("status", n, n - failed, failed, box.abstained, box.errors, box.ignored, False, box.cast)
        if n < self.min_votes:
            return VoteResult(Status.ABSTAIN, tally, reasoning=f"{n} voted, at least {self.min_votes} must")
        status = Status.FAIL if failed >= self.k else Status.PASS
        reason = f"{failed} of {n} object; {self.k} fail{'s' if self.k == 1 else ''} a case"
        return VoteResult(status, tally, confidence=share_of(box, status), reasoning=reason)
