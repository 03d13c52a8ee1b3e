"""Voting strategy that calls a function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any, Literal

from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.return_values import to_judgment
from jury_adapters.core.tally import Tally
from jury_adapters.core.voting.base import VoteResult, VotingStrategy, Weights, collect, too_few


@dataclass(frozen=True, kw_only=True)
class FunctionVote(VotingStrategy):
    """Voting strategy that calls a function with the eligible judgments, and with their weights if it takes two.

    The function may return a Status, a bool, a score 0..1 (PASS from 0.5), a label, a pair (one of these, reason), or a
    Judgment. It receives the judgments that vote: without abstentions, and with errors as ``errors=`` says. Its
    behaviour on missing votes is unknown, so an early-stopping jury asks every juror.

    Attributes:
        function: the rule; its name is the name of the strategy.
    """

    function: Callable[..., Any]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.function):
            raise ConfigurationError(
                f"voting= takes a name, a strategy or a function of the judgments, not {plain_repr(self.function)}"
            )

    @property
    def name(self) -> str:  # type: ignore[override]
        return getattr(self.function, "__name__", type(self.function).__name__)

    @property
    def supports_early_stop(self) -> bool:
        return False

    def _count(self, judgments: Sequence[Judgment], weights: Weights) -> VoteResult:
        on_labels = any(judgment.status is None for judgment in judgments)
        on: Literal["status", "label"] = "label" if on_labels else "status"
        propagated = self._propagated(judgments, on)
        if propagated is not None:
            return propagated
        box = collect(
            judgments, weights, self.errors or ("ignore" if on_labels else "fail"), lambda j: j.ballot, "FAIL"
        )
        passed = sum(judgments[i].status is Status.PASS for i, _ in box.voted)
        n = len(box.voted)
        failed = sum(judgments[i].status in (Status.FAIL, Status.ERROR) for i, _ in box.voted)
        tally = Tally(on, n, passed, failed, box.abstained, box.errors, box.ignored, False, box.cast)
        if n < self.min_votes:
            return VoteResult(Status.ABSTAIN, tally, reasoning=too_few(n, self.min_votes))
        eligible = [judgments[i] for i, _ in box.voted]
        outcome = (
            self.function(eligible, [box.weight(i) for i, _ in box.voted])
            if self._takes_weights()
            else self.function(eligible)
        )
        judgment = _read(outcome)
        total = box.total_weight()
        agreeing = fsum(box.weight(i) for i, _ in box.voted if judgments[i].ballot == judgment.ballot)
        confidence = judgment.confidence
        if confidence is None and agreeing and total:
            confidence = agreeing / total
        return VoteResult(
            judgment.status, tally, judgment.score, judgment.label, confidence, judgment.reasoning, judgment.error
        )

    def _takes_weights(self) -> bool:
        try:
            parameters = inspect.signature(self.function).parameters.values()
        except (TypeError, ValueError):  # some builtins have no signature
            return False
        positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        return len(positional) >= 2 or any(p.kind is p.VAR_POSITIONAL for p in parameters)


def _read(outcome: object) -> Judgment:
    reason = ""
    if isinstance(outcome, tuple) and len(outcome) == 2:
        reason = outcome[1] if isinstance(outcome[1], str) else ""
        outcome = outcome[0]
    if isinstance(outcome, str) and not isinstance(outcome, Status):
        if outcome in Status.__members__:
            return to_judgment((Status(outcome), reason))
        return Judgment(None, label=outcome, reasoning=reason)
    return to_judgment((outcome, reason) if reason else outcome)
