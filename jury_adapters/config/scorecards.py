"""Scorecards in a jury file: one judge for each criterion, and a rule over criteria."""

from __future__ import annotations

from typing import Annotated, TypeAlias, cast

from pydantic import Field, WithJsonSchema

from jury_adapters.config.problems import problem_at
from jury_adapters.config.spec_judge import REFERENCE, JudgeSpec, Place, ReadBy, read_judge
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.judge import Judge
from jury_adapters.core.scorecard import PassWhen, Scorecard, counted_criteria, criterion_weights


def read_criterion(given: object) -> JudgeSpec:
    """Read the judge of one criterion, whose name is its key."""
    criterion = read_judge(given)
    if "name" in criterion.model_fields_set:
        raise problem_at("name", "a criterion is named by its key; leave `name:` out")
    return criterion


Criterion: TypeAlias = Annotated[JudgeSpec, ReadBy(read_criterion, {REFERENCE: "any.judge"})]
_ALL_OR_ANY = WithJsonSchema({"enum": ["all", "any"]})


class ScorecardSpec(JudgeSpec):
    """A jury of criteria, each with its own judge and question."""

    scorecard: dict[str, Criterion] = Field(min_length=1, description="A judge for each criterion, by name.")
    pass_when: Annotated[str, _ALL_OR_ANY] | int | list[str] = Field(
        "all", description="all, any, the least number of criteria that must pass, or the names of those that must."
    )
    weights: dict[str, float] | None = Field(
        None, description="The weight of each criterion, by name; criteria without a weight are only reported."
    )
    threshold: float | None = Field(None, ge=0, le=1, description="The weighted mean from which the scorecard passes.")
    juror_timeout: float | None = Field(
        None, gt=0, description="Seconds each criterion may take; then it counts as ERROR timeout."
    )

    def build(self, place: Place) -> Scorecard:
        self._check_rule(place)
        criteria: dict[str, Judge] = {
            name: judge.seat(place.at("scorecard", name)) for name, judge in self.scorecard.items()
        }
        with place.named():
            return Scorecard(
                criteria,
                pass_when=cast(PassWhen, self.pass_when),
                weights=self.weights,
                threshold=self.threshold,
                juror_timeout=self.juror_timeout,
                name=self.name,
            )

    def _check_rule(self, place: Place) -> None:
        """Check the rule before the criteria are built, so that an error has the line of its key.

        Raises:
            ConfigurationError: the rule cannot be met.
        """
        names = list(self.scorecard)
        weighted = self.weights is not None or self.threshold is not None
        with place.at("pass_when").named():
            counted_criteria(cast(PassWhen, self.pass_when), names)
            if weighted and self.pass_when != "all":
                raise ConfigurationError("give this, or `weights:` and `threshold:`; not both")
        if weighted:
            with place.at("weights" if self.weights is not None else "threshold").named():
                criterion_weights(self.weights, self.threshold, names)
