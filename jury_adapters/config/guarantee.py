"""Guarantee in a jury file: the result of a calibration, and the jury that it belongs to."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Literal

from pydantic import Field

from jury_adapters.config.spec_judge import Spec
from jury_adapters.core.jury import Jury

Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]


class GuaranteeSpec(Spec):
    """Guarantee as written by ``jury calibrate`` and ``Guarantee.to_yaml()``; do not change it by hand."""

    agreement: Share = Field(description="The share of the decided cases that agrees with human labels.")
    delta: Share = Field(description="The probability with which the guarantee may fail.")
    method: Literal["both", "path", "per_tier"] = Field(description="How thresholds were looked for.")
    found_by: Literal["path", "per_tier"] = Field(description="Which of the two ways found them.")
    thresholds: dict[str, Share | None] = Field(
        description="Per tier the confidence from which it decides; null: it decides nothing and is not asked."
    )
    n: Count = Field(description="Independent labelled cases, without those that a screening tier decided.")
    decided: Count = Field(description="How many of them the jury decides.")
    errors: Count = Field(description="How many of these disagree with human labels.")
    bound: Share = Field(description="The upper confidence bound of the share of disagreement.")
    coverage: Share = Field(description="The share of the labelled cases that is decided.")
    tier_shares: dict[str, Share] = Field(description="Per tier, which share of the cases it decides.")
    full_votes: list[str] = Field(
        [],
        description="The tiers that state no confidence: each of their verdicts counts as that of a jury of one.",
    )
    cost_expected: float | None = Field(ge=0, description="US dollars per case; null when a price is unknown.")
    screening_tiers: list[str] = Field(
        [], description="The screening tiers in front, which keep their policies; the guarantee does not cover them."
    )
    screened: Count = Field(0, description="How many labelled cases these screening tiers decided; not among n.")
    screened_errors: Count = Field(0, description="How many of these disagree with human labels.")
    merged: Count = Field(0, description="How many labelled cases repeat an item and count once; not among n.")
    broken: Count = Field(0, description="How many labelled cases are left out because a juror broke; not among n.")
    contradicting: Count = Field(
        0, description="How many labelled cases are left out because reviewers contradict each other; not among n."
    )
    constant: str = Field("", description="The constant answer that agrees with most labels of the decided cases.")
    constant_agreement: Share = Field(0.0, description="The share of the decided cases on which it agrees with them.")
    granted_if_false: Share = Field(
        description="How often simulated calibrations of these sizes grant it to a jury that is just not good enough."
    )
    granted_as_seen: Share = Field(description="How often they grant it to a jury as good as this one seemed.")
    simulated_runs: Count = Field(description="The number of simulated calibrations of each kind.")
    fingerprint: str = Field(
        description="Identifies the tiers, jurors, rubrics and voting rules it is for, and the values above."
    )

    def applied_to(self, jury: Jury) -> Jury:
        """Return the jury with the thresholds, which abstains if no tier reaches its own.

        Configuration does not depend on calibration, so the class is imported dynamically, and only for files that need
        it.

        Raises:
            ConfigurationError: it is not the jury that was calibrated.
        """
        guarantee = import_module("jury_adapters.calibration.guarantee").Guarantee
        calibrated: Jury = guarantee.from_dict(self.model_dump(exclude_unset=True)).applied_to(jury)
        return calibrated
