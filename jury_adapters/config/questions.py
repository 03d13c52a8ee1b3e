"""Schema of the rubric and the answers that a jury file gives once for all critics inside a jury."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from pydantic import ConfigDict, Field, model_validator
from pydantic.config import JsonDict

from jury_adapters.config.problems import problem_at
from jury_adapters.config.spec_judge import REFERENCE, JudgeSpec, Place, Question, ReadBy, Spec
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.judge import Judge

if TYPE_CHECKING:
    from jury_adapters.critic.given_rubric import AnswerOptions

Meaning: TypeAlias = Literal["pass", "fail", "abstain"] | Annotated[float, Field(ge=0, le=1)]


def without_default(schema: JsonDict) -> None:
    """Remove the default from a JSON schema, where it only means that the key may be left out."""
    schema.pop("default", None)


class ScaleSpec(Spec):
    """Scale of numeric answers."""

    minimum: float = Field(description="The worst rating.")
    maximum: float = Field(description="The best rating.")
    pass_mark: float | None = Field(None, description="The lowest rating that passes; the middle by default.")
    integer: bool | None = Field(
        None, description="Whether only whole ratings are allowed; by default when both ends are whole."
    )


YamlScale: TypeAlias = Annotated[ScaleSpec, ReadBy(ScaleSpec.model_validate, {REFERENCE: "scale"})]


class AnswersSpec(JudgeSpec):
    """Judge that may replace the rubric's answers, for itself or for all critics inside it."""

    model_config = ConfigDict(json_schema_extra={"not": {"required": ["labels", "scale"]}})

    labels: dict[str, Meaning] | None = Field(
        None,
        min_length=1,
        description="The answers of its critics: what each label means, or its score. Not together with `scale:`.",
    )
    scale: YamlScale | None = Field(
        None, description="The answers of its critics as a number. Not together with `labels:`."
    )

    @model_validator(mode="after")
    def _check_answers(self) -> AnswersSpec:
        if self.labels is not None and self.scale is not None:
            raise problem_at("scale", "give `labels:` or `scale:`, not both: an answer is a label or a rating")
        return self

    def answers(self) -> AnswerOptions:
        """Return the answers given here as keyword arguments of a critic; empty if none are given."""
        if self.labels is not None:
            return {"labels": self.labels}
        return {} if self.scale is None else {"scale": self.scale.model_dump(exclude_none=True)}


class QuestionSpec(AnswersSpec):
    """Jury that may give the rubric or the answers of all its critics."""

    rubric: str = Field(
        "",
        min_length=1,
        json_schema_extra=without_default,
        description="What its critics judge: the name of a rubric of the package, or the path of a YAML file.",
    )

    criterion: str = Field(
        "",
        min_length=1,
        json_schema_extra=without_default,
        description="What its critics judge, in one sentence. Not together with `rubric:`.",
    )

    @model_validator(mode="after")
    def _check_question(self) -> QuestionSpec:
        if "rubric" in self.model_fields_set and "criterion" in self.model_fields_set:
            raise problem_at("criterion", "give `rubric:` or `criterion:`, not both: a jury has one question")
        return self

    def place_of_jurors(self, place: Place) -> Place:
        """Return the place for the jurors, with the question and the answers given here.

        Answers next to a rubric or a criterion belong to it. Answers alone apply to all critics inside the jury.
        """
        answers = self.answers()
        if "rubric" in self.model_fields_set:
            return place.judging(Question(self.rubric, place.at("rubric"), answers or place.answers))
        if "criterion" in self.model_fields_set:
            there = place.at("criterion")
            return place.judging(Question(self.criterion, there, answers or place.answers, is_sentence=True))
        return place.answering(answers) if answers else place

    def check_critics(self, place: Place, judges: Iterable[Judge]) -> None:
        """Check that the jury contains a critic if a rubric or answers are given here.

        Raises:
            ConfigurationError: there is no critic among the judges or inside them.
        """
        given = [key for key in ("rubric", "criterion", "labels", "scale") if key in self.model_fields_set]
        if given and not _has_critic(judges):
            with place.at(given[0]).named():
                raise ConfigurationError("no model in this jury answers it; give it a juror {model: ...}")


def _has_critic(judges: Iterable[Judge]) -> bool:
    from jury_adapters.critic.asking import AskingJudge
    from jury_adapters.critic.replayed import ReplayedCritic

    return any(isinstance(judge, AskingJudge | ReplayedCritic) for judge in _with_members(judges))


def _with_members(judges: Iterable[Judge]) -> Iterator[Judge]:
    for judge in judges:
        yield judge
        yield from _with_members(judge.members)
