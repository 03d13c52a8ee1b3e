"""The older schema: verdicts of a reviewer and of a panel."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

VerdictLabel = str


class Verdict(BaseModel):
    """One reviewer's verdict on one item.

    Attributes:
        reviewer_id: the reviewer's name.
        verdict: the label.
        confidence: the reviewer's own certainty, 0..1.
        rationale: the reasons.
        raw_response: the model's reply, or None.
        error: the error, or None. A verdict with an error does not vote.
        elapsed_s: the duration of the call, in seconds.
    """

    model_config = ConfigDict(extra="allow")

    reviewer_id: str
    verdict: str
    confidence: float = Field(0.0, ge=0.0, le=1.0)
    rationale: str = ""
    raw_response: str | None = None
    error: str | None = None
    elapsed_s: float = 0.0


class EnsembleResult(BaseModel):
    """Verdict of a panel on one item.

    Attributes:
        item_id: the id of the item.
        verdicts: one per reviewer, in order.
        consensus: the label that won the vote.
        avg_confidence: the mean confidence of the verdicts without error, 0..1.
        disagreement: whether reviewers gave different labels.
        strategy: the name of the strategy.
        meta: data of the caller.
    """

    model_config = ConfigDict(extra="allow")

    item_id: str
    verdicts: list[Verdict]
    consensus: str
    avg_confidence: float = Field(0.0, ge=0.0, le=1.0)
    disagreement: bool = False
    strategy: str
    meta: dict[str, Any] = Field(default_factory=dict)
