"""Critics in a jury file: judges that ask a model, by a rubric or by one sentence.

Keys are never read from a file, only from each vendor's environment variable. A file may send such a key to an address
of its own only with permission. What asks a model is imported where a file has a critic.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from jury_adapters.config.permissions import how_to_allow
from jury_adapters.config.questions import AnswersSpec, without_default
from jury_adapters.config.spec_judge import Place, Question
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.judge import Judge
from jury_adapters.models.settings import TIMEOUT_S
from jury_adapters.vendors import VENDORS

if TYPE_CHECKING:
    from jury_adapters.critic.given_rubric import AnswerOptions
    from jury_adapters.critic.replayed import ReplayedCritic
    from jury_adapters.critic.rubric import Rubric

_NO_KEY = "replayed"  # nothing is sent: a replayed critic is only built for its fingerprint and its price


class _AskingSpec(AnswersSpec):
    """Options of every critic of a file about its model."""

    model: str = Field(min_length=1, description='"vendor:model", or the model\'s name beside base_url.')
    base_url: str | None = Field(None, description="The address of a server that speaks the vendor's protocol.")
    threshold: float | None = Field(
        None, ge=0, le=1, description="The score that passes, in place of the rubric's own rule."
    )
    samples: int = Field(
        1,
        ge=1,
        le=100,
        description="How often the model is asked per case; a majority decides. At temperature 0 it hardly varies.",
    )
    temperature: float | None = Field(0.0, ge=0, description="0 for the most likely answer; null for the vendor's own.")
    max_tokens: int = Field(2000, ge=1, description="The most output tokens, hidden reasoning included.")
    logprobs: bool = Field(False, description="Score by the probabilities of the answer's tokens.")
    image_urls: bool = Field(False, description="Whether the vendor may be sent addresses of images, to fetch them.")
    request_timeout: float = Field(TIMEOUT_S, gt=0, description="Seconds one request may take.")

    def _critic(self, rubric: Rubric, place: Place, answers: AnswerOptions) -> Judge:
        from jury_adapters.critic.critic import Critic
        from jury_adapters.critic.given_rubric import given_rubric

        if not place.replay:
            self._check_address(place.at("base_url"))
        options: dict[str, Any] = {
            key: getattr(self, key) for key in _AskingSpec.model_fields if key not in AnswersSpec.model_fields
        }
        with place.named():
            rubric = given_rubric(rubric, **answers)
            return self._replayed(rubric, options) if place.replay else Critic(rubric=rubric, name=self.name, **options)

    def _replayed(self, rubric: Rubric, options: dict[str, Any]) -> ReplayedCritic:
        """Return a critic that serves recorded votes; it needs neither a key nor an SDK."""
        from jury_adapters.critic.asking import default_name
        from jury_adapters.critic.critic import Critic
        from jury_adapters.critic.replayed import ReplayedCritic
        from jury_adapters.models.registry import split_name

        model = split_name(self.model)[1]
        own_name = default_name([rubric], model)
        fingerprint, cost, unknown_because = None, 0.0, ""
        try:
            critic = Critic(rubric=rubric, name=self.name, api_key=_NO_KEY, **options)
            fingerprint, cost = critic.fingerprint, critic.cost
        except ConfigurationError as error:
            unknown_because = str(error)
        return ReplayedCritic(
            self.name or own_name, rubric, threshold=self.threshold, fingerprint=fingerprint, order_cost=cost,
            own_name=own_name, unknown_because=unknown_because, samples=self.samples, model=model,
        )  # fmt: skip

    def _check_address(self, place: Place) -> None:
        """Check that no key from the environment goes to an address of the file without permission.

        Raises:
            ConfigurationError: it would; the message says what to do.
        """
        from jury_adapters.models.registry import split_name

        vendor, _ = split_name(self.model)
        variable = VENDORS[vendor].key_variable if vendor is not None else None
        if self.base_url is None or variable is None or place.permissions.base_url:
            return
        instead = VENDORS[vendor].url_variable if vendor is not None else None
        raise ConfigurationError(
            place.source.problem(
                place.where,
                f"this address would get the key in {variable}, and a jury file may come from anyone; "
                f"{how_to_allow('base_url')}; or leave it out"
                + (f" and set the environment variable {instead}" if instead else ""),
            )
        )


class CriticSpec(_AskingSpec):
    """A critic: a model that judges by a rubric."""

    rubric: str = Field(
        "",
        min_length=1,
        json_schema_extra=without_default,
        description="The name of a rubric of the package, or the path of a YAML file; else the nearest one above.",
    )

    def build(self, place: Place) -> Judge:
        if "rubric" in self.model_fields_set:
            question = self._question(place)
        elif place.question is not None:
            question = place.question
        else:
            with place.named():
                raise ConfigurationError(
                    "nothing says what this model judges; give `rubric:` here or above, or one sentence as `criterion:`"
                )
        with question.place.named():
            rubric = _rubric(question, place.source.folder)
        return self._critic(rubric, place, self.answers() or question.answers)

    def place_of_fallbacks(self, place: Place) -> Place:
        return place.judging(self._question(place)) if "rubric" in self.model_fields_set else place

    def _question(self, place: Place) -> Question:
        return Question(self.rubric, place.at("rubric"), self.answers() or place.answers)


class CriterionSpec(_AskingSpec):
    """A critic from one sentence: does the answer meet it?"""

    criterion: str = Field(min_length=1, description="What the answer must do, in one sentence.")

    def build(self, place: Place) -> Judge:
        from jury_adapters.critic.rubric import Rubric

        with place.at("criterion").named():
            rubric = Rubric.from_criteria(self.criterion)
        return self._critic(rubric, place, self.answers() or place.answers)

    def place_of_fallbacks(self, place: Place) -> Place:
        answers = self.answers() or place.answers
        return place.judging(Question(self.criterion, place.at("criterion"), answers, is_sentence=True))


def _rubric(question: Question, folder: Path) -> Rubric:
    from jury_adapters.critic.rubric import Rubric

    name = question.rubric
    if question.is_sentence:
        return Rubric.from_criteria(name)
    return Rubric.from_yaml(folder / name) if name.endswith((".yaml", ".yml")) else Rubric.bundled(name)
