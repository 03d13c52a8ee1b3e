"""Question and answers of critics in a jury file, given once for all critics inside a jury."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, model_validator

from jury_adapters.config.problems import problem_at
from jury_adapters.config.spec_judge import REFERENCE, JudgeSpec, Place, Question, ReadBy, Spec
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.judge import Judge
from jury_adapters.critic.asking import AskingJudge
from jury_adapters.critic.given_rubric import AnswerOptions
from jury_adapters.critic.replayed import ReplayedCritic

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
    """Judge whose critics, itself or those inside it, may have answers of its own instead of the rubric's."""

    labels: dict[str, Meaning] | None = Field(
        None, description="The answers of its critics: what each label means, or its score. Not beside `scale:`."
    )
    scale: YamlScale | None = Field(None, description="The answers of its critics as a number. Not beside `labels:`.")

    @model_validator(mode="after")
    def _one_kind_of_answers(self) -> AnswersSpec:
        if self.labels is not None and self.scale is not None:
            raise problem_at("scale", "give `labels:` or `scale:`, not both: an answer is a label or a rating")
        return self

    def answers(self) -> AnswerOptions:
        """Return the answers given here as the argument of a critic."""
        if self.labels is not None:
            return {"labels": self.labels}
        return {} if self.scale is None else {"scale": self.scale.model_dump(exclude_none=True)}


class QuestionSpec(AnswersSpec):
    """Jury that can state once what its critics judge."""

    rubric: str = Field(
        "", description="What its critics judge: the name of a rubric of the package, or the path of a YAML file."
    )

    def asking(self, place: Place) -> Place:
        """Return the place with the options given here: answers belong to a rubric next to them, or to all critics."""
        answers = self.answers()
        if "rubric" in self.model_fields_set:
            return place.judging(Question(self.rubric, place.at("rubric"), answers or place.answers))
        return place.answering(answers) if answers else place

    def check_asked(self, place: Place, judges: Iterable[Judge]) -> None:
        """Check that a question given here has a model to answer it.

        Raises:
            ConfigurationError: there is no critic inside.
        """
        given = [key for key in ("rubric", "labels", "scale") if key in self.model_fields_set]
        if given and not any(isinstance(judge, _CRITICS) for judge in _leaves(judges)):
            with place.at(given[0]).named():
                raise ConfigurationError("no model in this jury answers it; a juror is {model: ...}")


_CRITICS = (AskingJudge, ReplayedCritic)


def _leaves(judges: Iterable[Judge]) -> Iterator[Judge]:
    for judge in judges:
        yield judge
        yield from _leaves(judge.members)
