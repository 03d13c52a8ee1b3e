"""Verdicts of a critic and of an ensemble."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

VerdictKind = Literal["KEEP", "REJECT", "SPLIT", "MERGE", "UNCLEAR", "ERROR", "PARSE_FAIL"]
"""Usual labels; any other text is accepted too."""


class Verdict(BaseModel):
    """One critic's verdict on one query.

    It also accepts the names of the older schema, ``verdict`` for ``kind``, ``rationale`` for ``reasoning`` and
    ``reviewer_id`` for ``critic_id``, and has them as attributes. If both are given, the newer name wins.

    Attributes:
        kind: the label.
        confidence: the critic's own certainty, 0..1.
        reasoning: the reasons.
        critic_id: the critic's name.
        raw_response: the model's reply, or None.
        error: the error, or None. A verdict with an error does not vote.
        elapsed_s: the duration of the call, in seconds.

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
        fields = dict(data)  # a copy, because the row belongs to the caller
        for name, older in _OLDER_NAMES.items():
            if name not in fields and older in fields:
                fields[name] = fields.pop(older)
        return fields

    @property
    def verdict(self) -> str:
        """Alias of ``kind``."""
        return self.kind

    @property
    def rationale(self) -> str:
        """Alias of ``reasoning``."""
        return self.reasoning

    @property
    def reviewer_id(self) -> str:
        """Alias of ``critic_id``."""
        return self.critic_id


class EnsembleVerdict(BaseModel):
    """Verdict of an ensemble on one query.

    Attributes:
        query_id: the id of the query.
        verdicts: one per critic, in order.
        consensus: the label that won the vote.
        avg_confidence: the mean confidence of the verdicts without error, 0..1.
        disagreement: whether critics gave different labels.
        agreement_pct: the share of the verdicts without error that are the consensus, 0..1.
        krippendorff_alpha: exactly 1.0 if all agree, 0.0 if not, None below two verdicts. It has no further meaning on
            a single query; for many queries, use :func:`jury_adapters.statistics.krippendorff_alpha`.
        voting: the name of the voting strategy.
        meta: data of the caller.
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
