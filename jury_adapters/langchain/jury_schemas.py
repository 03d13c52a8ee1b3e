"""Schemas of the input and the output of a jury, for LangChain's tools, servers and drawings of graphs."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field


class CaseInput(BaseModel):
    """Input of a jury; other names for the fields, messages, documents and states are accepted too."""

    question: str | None = Field(default=None, description="what was asked")
    answer: str | None = Field(default=None, description="the answer to judge")
    contexts: list[str] = Field(default_factory=list, description="the passages that the answer should rest on")
    reference: str | None = Field(default=None, description="a right answer to compare with")


class JudgmentOutput(BaseModel):
    """Judgment of a jury as JSON; empty fields are omitted."""

    status: Literal["PASS", "FAIL", "ABSTAIN", "ERROR"] | None
    score: float | None = None
    label: str | None = None
    confidence: float | None = None
    reasoning: str = ""
    error: str | None = None
    agreement: float | None = None
    agreement_band: Literal["high", "medium", "low"] | None = None
    judgments: list[dict[str, Any]] = Field(default_factory=list)
    usage: dict[str, Any] = Field(default_factory=dict)
