"""Conversion between this API's verdicts and the judgments that the package votes on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from jury_adapters.compat.cross_judge import schema
from jury_adapters.compat.cross_judge.verdict import Verdict
from jury_adapters.core.judgment import Judgment, Status, abstain, broken
from jury_adapters.core.tally import Tally
from jury_adapters.core.values import stated
from jury_adapters.core.verdict import Verdict as JuryVerdict
from jury_adapters.core.voting import VotingStrategy

PARSE_FAIL = "parse_fail"


class AnyVerdict(Protocol):
    """Common attributes of the verdicts of both schemas, with the names of the older one."""

    @property
    def verdict(self) -> str: ...
    @property
    def confidence(self) -> float: ...
    @property
    def rationale(self) -> str: ...
    @property
    def reviewer_id(self) -> str: ...
    @property
    def error(self) -> str | None: ...


def judgment_of(verdict: AnyVerdict) -> Judgment:
    """Return a verdict as a judgment: its label counts as a vote, an error does not."""
    if verdict.error == PARSE_FAIL:
        return abstain(stated(verdict.rationale, PARSE_FAIL), error=PARSE_FAIL, critic=verdict.reviewer_id)
    if verdict.error is not None:
        return broken(verdict.error, verdict.rationale, critic=verdict.reviewer_id)
    return Judgment(
        None,
        label=verdict.verdict,
        confidence=verdict.confidence,
        reasoning=verdict.rationale,
        critic=verdict.reviewer_id,
    )


def verdict_of(judgment: Judgment, critic_id: str) -> Verdict:
    """Return a judgment as a verdict."""
    return Verdict(
        kind=_kind(judgment),
        confidence=judgment.confidence or 0.0,
        reasoning=_reasons(judgment),
        critic_id=critic_id,
        raw_response=judgment.raw_response,
        error=judgment.error,
        elapsed_s=_elapsed(judgment),
    )


def legacy_verdict_of(judgment: Judgment, reviewer_id: str) -> schema.Verdict:
    """Return a judgment as a verdict of the older schema."""
    return schema.Verdict(
        reviewer_id=reviewer_id,
        verdict=_kind(judgment),
        confidence=judgment.confidence or 0.0,
        rationale=_reasons(judgment),
        raw_response=judgment.raw_response,
        error=judgment.error,
        elapsed_s=_elapsed(judgment),
    )


def counted(
    strategy: VotingStrategy, verdicts: Sequence[AnyVerdict], fallback: str, weights: Sequence[float] | None = None
) -> tuple[str, Tally]:
    """Return the label that wins the vote, and the count of the votes."""
    result = strategy.tally([judgment_of(verdict) for verdict in verdicts], weights)
    return fallback if result.label is None else result.label, result.tally


def as_jury_verdict(verdicts: Sequence[AnyVerdict], consensus: str = "") -> JuryVerdict:
    """Return the verdict of a jury with these verdicts and this consensus, for its measures of agreement."""
    judgments = tuple(judgment_of(verdict) for verdict in verdicts)
    tally = Tally("label", ballots=tuple(judgment.ballot for judgment in judgments))
    return JuryVerdict(None, label=consensus, judgments=judgments, tally=tally)


def _kind(judgment: Judgment) -> str:
    if judgment.status is Status.ABSTAIN:
        return "PARSE_FAIL" if judgment.error == PARSE_FAIL else "UNCLEAR"
    return judgment.ballot or "" if judgment.valid else "ERROR"


def _reasons(judgment: Judgment) -> str:
    return (judgment.error or "") if judgment.reasoning.startswith("the judge broke: ") else judgment.reasoning


def _elapsed(judgment: Judgment) -> float:
    return round(judgment.elapsed_s or 0.0, 3)
