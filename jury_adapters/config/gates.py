"""Gates in a jury file: conditions for the verdicts of the jury."""

from __future__ import annotations

from typing import Annotated, Literal, cast

from pydantic import Field

from jury_adapters.config.spec_judge import Spec
from jury_adapters.core.agreement import Band
from jury_adapters.core.gates import GateOptions

Share = Annotated[float, Field(ge=0, le=1)]


class GatesSpec(Spec):
    """Conditions as in ``verdict.require(...)``. What is left out, or null, is not checked."""

    passed: bool | None = Field(None, description="true: the verdict is PASS; false: it is not.")
    allow_undecided: bool | None = Field(
        None, description="true: the verdict may be ABSTAIN or ERROR; otherwise such a verdict misses the gates."
    )
    min_agreement: Share | None = Field(None, description="The least agreement among the jurors.")
    min_confidence: Band | Share | None = Field(
        None, description="The least band of the agreement (low, medium, high), or the verdict's least own confidence."
    )
    min_eligible: int | None = Field(None, ge=0, description="How many jurors must have voted.")
    allow_escalation: bool | None = Field(
        None, description="false: no verdict is split, has a broken tier, or is changed by jurors that broke."
    )
    broken_tiers: bool | None = Field(None, description="false: no tier broke, also in a cascade inside another jury.")
    allow_same_family: bool | None = Field(
        None, description="false: no juror is of the vendor family of the answer's author."
    )
    allow_bias_warning: bool | None = Field(None, description="false: no such juror in a verdict of low agreement.")
    allow_partial: bool | None = Field(None, description="false: no juror was left out to save a call.")
    max_cost_usd: float | None = Field(None, ge=0, description="The most a verdict may have cost, in US dollars.")
    undefined: Literal["skip", "fail"] | None = Field(
        None, description="What a value that is not there means: one juror alone has no agreement. skip by default."
    )

    def conditions(self) -> GateOptions:
        """Return only the conditions that the file gives."""
        given = {name: getattr(self, name) for name in type(self).model_fields}
        return cast(GateOptions, {name: value for name, value in given.items() if value is not None})
