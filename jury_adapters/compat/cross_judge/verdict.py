"""Verdicts of critics and results of ensembles, in both schemas of cross-judge."""

from typing import Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from jury_adapters.core.values import Text

VerdictKind = Literal["KEEP", "REJECT", "SPLIT", "MERGE", "UNCLEAR", "ERROR", "PARSE_FAIL"]
"""The usual labels; any text is allowed."""
FORMER = {"kind": "verdict", "reasoning": "rationale", "critic_id": "reviewer_id"}


class Verdict(BaseModel):
    """Verdict of one critic; the former names ``verdict``, ``rationale`` and ``reviewer_id`` may be given and read.

    Attributes:
        kind: the label, such as KEEP; ``ERROR`` and ``PARSE_FAIL`` come with an ``error``.
        confidence: 0..1.
        reasoning: why.
        critic_id: the name of the critic.
        raw_response: the whole reply.
        error: what went wrong; such a verdict does not vote.
        elapsed_s: seconds.
    """

    model_config = ConfigDict(extra="allow")

    kind: Text = Field(validation_alias=AliasChoices("kind", "verdict"))
    confidence: float = Field(0.0, ge=0.0, le=1.0)
    reasoning: Text = Field("", validation_alias=AliasChoices("reasoning", "rationale"))
    critic_id: Text = Field("", validation_alias=AliasChoices("critic_id", "reviewer_id"))
    raw_response: Text | None = None
    error: Text | None = None
    elapsed_s: float = 0.0

    @property
    def verdict(self) -> str:
        """The label."""
        return self.kind

    @property
    def rationale(self) -> str:
        """The reasons."""
        return self.reasoning

    @property
    def reviewer_id(self) -> str:
        """The name of the critic."""
        return self.critic_id


class EnsembleVerdict(BaseModel):
    """Result of an ensemble for one query.

    Attributes:
        query_id: the caller's id of the query.
        verdicts: the verdicts of the critics, in their order.
        consensus: the label that won.
        avg_confidence: the mean confidence of the verdicts without an error.
        disagreement: whether they differ.
        agreement_pct: the share of them that equals the consensus, 0..1.
        krippendorff_alpha: see :func:`krippendorff_alpha`.
        voting: the name of the strategy.
        meta: the caller's own data.
    """

    model_config = ConfigDict(extra="allow")

    query_id: str
    verdicts: list[Verdict]
    consensus: str
    avg_confidence: float = Field(0.0, ge=0.0, le=1.0)
    disagreement: bool = False
    agreement_pct: float = Field(0.0, ge=0.0, le=1.0)
    krippendorff_alpha: float | None = None
    voting: str
    meta: dict[str, Any] = Field(default_factory=dict)


class LegacyVerdict(BaseModel):
    """Verdict of a reviewer, in the former schema; see :class:`Verdict`."""

    model_config = ConfigDict(extra="allow")

    reviewer_id: Text
    verdict: Text
    confidence: float = Field(0.0, ge=0.0, le=1.0)
    rationale: Text = ""
    raw_response: Text | None = None
    error: Text | None = None
    elapsed_s: float = 0.0


class EnsembleResult(BaseModel):
    """Result of a panel for one item, in the former schema; see :class:`EnsembleVerdict`."""

    model_config = ConfigDict(extra="allow")

    item_id: str
    verdicts: list[LegacyVerdict]
    consensus: str
    avg_confidence: float = Field(0.0, ge=0.0, le=1.0)
    disagreement: bool = False
    strategy: str
    meta: dict[str, Any] = Field(default_factory=dict)


AnyVerdict = Verdict | LegacyVerdict
"""Both schemas; a verdict of either has ``verdict``, ``reviewer_id``, ``confidence`` and ``error``."""
