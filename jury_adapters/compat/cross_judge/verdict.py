"""What one critic, and what an ensemble says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

VerdictKind = Literal["KEEP", "REJECT", "SPLIT", "MERGE", "UNCLEAR", "ERROR", "PARSE_FAIL"]
"""The usual labels; any other text is accepted too."""


class Verdict(BaseModel):
    """One critic's verdict on one query.

    It also takes the names of the older schema: ``verdict`` for ``kind``, ``rationale`` for ``reasoning`` and
    ``reviewer_id`` for ``critic_id``, and answers to them. Where both are given, the newer name wins.

    Attributes:
        kind: the label.
        confidence: the critic's own certainty, 0..1.
        reasoning: why.
        critic_id: the critic's name.
        raw_response: the model's reply, or None.
        error: what went wrong, or None. A verdict with an error does not vote.
        elapsed_s: seconds the call took.

    >>> Verdict(verdict="KEEP", confidence=0.9).kind
    'KEEP'
    """

    model_config = ConfigDict(extra="allow", populate_by_name=True)

    kind: str
    confidence: float = Field(0.0, ge=0.0, le=1.0)
    reasoning: str = ""
    critic_id: str = ""
    raw_response: str | None = None
    error: str | None = None
    elapsed_s: float = 0.0

    @model_validator(mode="before")
    @classmethod
    def _accept_legacy_kwargs(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        fields = dict(data)  # a copy: the row belongs to the caller
        for name, older in _OLDER_NAMES.items():
            if name not in fields and older in fields:
                fields[name] = fields.pop(older)
        return fields

    @property
    def verdict(self) -> str:
        """Another name for ``kind``."""
        return self.kind

    @property
    def rationale(self) -> str:
        """Another name for ``reasoning``."""
        return self.reasoning

    @property
    def reviewer_id(self) -> str:
        """Another name for ``critic_id``."""
        return self.critic_id


class EnsembleVerdict(BaseModel):
    """What an ensemble says about one query.

    Attributes:
        query_id: what the query is called.
        verdicts: one per critic, in order.
        consensus: the label that the vote came to.
        avg_confidence: the mean confidence of the verdicts without error, 0..1.
        disagreement: True when not all critics gave the same label.
        agreement_pct: the share of the verdicts without error that are the consensus, 0..1.
        krippendorff_alpha: exactly 1.0 when all agree, 0.0 when not, None below two verdicts. On a single query it
            cannot say more; over many, use :func:`jury_adapters.krippendorff_alpha`.
        voting: the name of the voting strategy.
        meta: the caller's own.
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


_OLDER_NAMES = {"kind": "verdict", "reasoning": "rationale", "critic_id": "reviewer_id"}
