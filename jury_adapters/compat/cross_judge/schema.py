"""The older schema: what one reviewer, and what a panel says."""

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
        rationale: why.
        raw_response: the model's reply, or None.
        error: what went wrong, or None. A verdict with an error does not vote.
        elapsed_s: seconds the call took.
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
    """What a panel says about one item.

    Attributes:
        item_id: what the item is called.
        verdicts: one per reviewer, in order.
        consensus: the label that the vote came to.
        avg_confidence: the mean confidence of the verdicts without error, 0..1.
        disagreement: True when not all reviewers gave the same label.
        strategy: the name of the strategy.
        meta: the caller's own.
    """

    model_config = ConfigDict(extra="allow")

    item_id: str
    verdicts: list[Verdict]
    consensus: str
    avg_confidence: float = Field(0.0, ge=0.0, le=1.0)
    disagreement: bool = False
    strategy: str
    meta: dict[str, Any] = Field(default_factory=dict)
