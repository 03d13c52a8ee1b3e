"""Worked examples of a rubric, which the model sees as earlier turns of the exchange."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
)

from jury_adapters.core.case import Case

FROZEN = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class ExampleClaim(BaseModel):
    """Claim of an example's model answer; ``sentence``, ``passage`` and ``reason`` belong to ``claims: verified``."""

    model_config = FROZEN

    claim: str
    verdict: str
    evidence: str = ""
    sentence: str = ""
    passage: int = Field(default=0, ge=0)
    reason: str = ""


class Example(BaseModel):
    """Worked example: a case, and the judgment that it deserves.

    Attributes:
        fields: the case, by the field names of Case.
        answer: the right answer, one of the rubric's.
        reasoning: the reasons for it.
        confidence: the confidence of the example's judgment.
        claims: the claims, when the rubric asks for them.
        variables: values of the rubric's own variables.
    """

    model_config = FROZEN

    fields: Case
    answer: str | int | float
    reasoning: str
    confidence: float = Field(default=0.95, ge=0, le=1)
    claims: tuple[ExampleClaim, ...] = ()
    variables: Mapping[str, str] = Field(default_factory=dict)
