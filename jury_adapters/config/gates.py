"""Gates in a jury file: conditions for the verdicts of the jury."""

from __future__ import annotations

from typing import Annotated, Literal, cast

from pydantic import Field

from jury_adapters.config.spec_judge import Spec
from jury_adapters.core.agreement import Band
from jury_adapters.core.gates import GateOptions

Share = Annotated[float, Field(ge=0, le=1)]


class GatesSpec(Spec):
    """Conditions as in ``verdict.require(...)``. What is left out, or null, is not checked; but see ``decided``."""

    passed: bool | None = Field(None, description="true: the verdict is PASS; false: it is not.")
    decided: bool | None = Field(
        None, description="null: the verdict may be ABSTAIN or ERROR; false: it must be. true if it is left out."
    )
    needs_review: bool | None = Field(
        None,
        description="false: the verdict is decided and not split, no tier broke, and no jurors that broke changed it.",
    )
    broken_tiers: bool | None = Field(None, description="false: no tier broke, also in a cascade inside another jury.")
    same_family: bool | None = Field(
        None, description="false: no juror is of the vendor family of the answer's author."
    )
    bias_warning: bool | None = Field(None, description="false: no such juror in a verdict of low agreement.")
    partial: bool | None = Field(None, description="false: the jury itself left out no juror to save a call.")
    min_agreement: Share | Band | None = Field(
        None, description="The least agreement among the jurors, 0 to 1, or its least band (low, medium, high)."
    )
    min_confidence: Share | None = Field(None, description="The verdict's least own confidence, 0 to 1.")
    min_votes: int | None = Field(None, ge=0, description="How many jurors must have voted.")
    max_cost_usd: float | None = Field(None, ge=0, description="The most a verdict may have cost, in US dollars.")
    undefined: Literal["skip", "fail"] | None = Field(
        None, description="What a value that is not there means: one juror alone has no agreement. skip by default."
    )

    def conditions(self) -> GateOptions:
        """Return only the conditions that the file gives."""
        given = {name: getattr(self, name) for name in type(self).model_fields if name in self.model_fields_set}
        lifted = {"decided"}  # null lifts the one condition that is checked by default
        return cast(GateOptions, {name: value for name, value in given.items() if value is not None or name in lifted})
