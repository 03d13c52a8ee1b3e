"""Question and answers of critics in a jury file, given once for all critics inside a jury."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, model_validator

from jury_adapters.config.problems import problem_at
from jury_adapters.config.spec_judge import REFERENCE, JudgeSpec, Place, Question, ReadBy, Spec

Meaning: TypeAlias = Literal["pass", "fail", "abstain"] | Annotated[float, Field(ge=0, le=1)]


class ScaleSpec(Spec):
    """Answers as a number."""

    minimum: float = Field(description="The worst rating.")
    maximum: float = Field(description="The best rating.")
    pass_mark: float | None = Field(None, description="The lowest rating that passes; the middle by default.")
    integer: bool | None = Field(
        None, description="Whether only whole ratings are allowed; by default when both ends are whole."
    )


YamlScale: TypeAlias = Annotated[ScaleSpec, ReadBy(ScaleSpec.model_validate, {REFERENCE: "scale"})]


class AnswersSpec(JudgeSpec):
    """Judge whose critics, itself or those inside it, may have answers of its own in place of the rubric's."""

    labels: dict[str, Meaning] | None = Field(
        None, description="The answers of its critics: what each label means, or its score. Not beside `scale:`."
    )
    scale: YamlScale | None = Field(None, description="The answers of its critics as a number. Not beside `labels:`.")

    @model_validator(mode="after")
    def _one_kind_of_answers(self) -> AnswersSpec:
        if self.labels is not None and self.scale is not None:
            raise problem_at("scale", "give `labels:` or `scale:`, not both: an answer is a label or a rating")
        return self

    def asking(self, place: Place) -> Place:
        """Return the place with the answers given here, which count for all critics inside."""
        if self.labels is not None:
            return place.answering({"labels": self.labels})
        if self.scale is not None:
            return place.answering({"scale": self.scale.model_dump(exclude_none=True)})
        return place


class QuestionSpec(AnswersSpec):
    """Jury that may say once what its critics judge."""

    rubric: str = Field(
        "", description="What its critics judge: the name of a rubric of the package, or the path of a YAML file."
    )

    def asking(self, place: Place) -> Place:
        """Return the place with the question and the answers given here."""
        place = super().asking(place)
        return place.judging(Question(self.rubric, place.at("rubric"))) if "rubric" in self.model_fields_set else place
