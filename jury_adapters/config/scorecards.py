"""Scorecards in a jury file: one judge for each criterion, and a rule over criteria."""

from __future__ import annotations

from typing import Annotated, cast

from pydantic import Field, WithJsonSchema

from jury_adapters.config.spec_judge import Criterion, JudgeSpec, NoEmptyName, Place
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.judge import Judge
from jury_adapters.core.scorecard import PassWhen, Scorecard, counted_criteria, criterion_weights

_ALL_OR_ANY = WithJsonSchema({"enum": ["all", "any"]})
_ONE_OR_MORE = WithJsonSchema({"type": "integer", "minimum": 1})
_NAMES = WithJsonSchema({"type": "array", "items": {"type": "string"}, "minItems": 1})


class ScorecardSpec(JudgeSpec):
    """A jury of criteria, each with its own judge and question."""

    scorecard: Annotated[dict[str, Criterion], NoEmptyName()] = Field(
        min_length=1,
        description="A judge for each criterion, by name. Where criteria have a `weight:`, those without one are only "
        "reported.",
    )
    pass_when: Annotated[str, _ALL_OR_ANY] | Annotated[int, _ONE_OR_MORE] | Annotated[list[str], _NAMES] = Field(
        "all", description="all, any, the least number of criteria that must pass, or the names of those that must."
    )
    threshold: float | None = Field(
        None, ge=0, le=1, description="The weighted mean from which the scorecard passes; belongs to `weight:`."
    )
    juror_timeout: float | None = Field(
        None, gt=0, description="Seconds each criterion may take; then it counts as ERROR timeout."
    )

    def build(self, place: Place) -> Scorecard:
        weights = {name: spec.weight for name, spec in self.scorecard.items() if spec.weight is not None} or None
        self._check_rule(place, weights)
        criteria: dict[str, Judge] = {
            name: spec.build_judge(place.at("scorecard", name), beside=("weight",))
            for name, spec in self.scorecard.items()
        }
        with place.named():
            return Scorecard(
                criteria,
                pass_when=cast(PassWhen, self.pass_when),
                weights=weights,
                threshold=self.threshold,
                juror_timeout=self.juror_timeout,
                name=self.name,
            )

    def _check_rule(self, place: Place, weights: dict[str, float] | None) -> None:
        """Check the rule before the criteria are built, so that an error has the line of its key.

        Raises:
            ConfigurationError: the rule cannot be met.
        """
        names = list(self.scorecard)
        weighted = weights is not None or self.threshold is not None
        with place.at("pass_when").named():
            counted_criteria(cast(PassWhen, self.pass_when), names)
            if weighted and "pass_when" in self.model_fields_set:
                raise ConfigurationError("give this, or `weight:` beside criteria and `threshold:`; not both")
        if weighted:
            with place.at(*("threshold",) if weights is None else ("scorecard", next(iter(weights)), "weight")).named():
                criterion_weights(weights, self.threshold, names)
