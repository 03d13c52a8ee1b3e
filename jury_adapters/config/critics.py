"""Critics in a jury file: judges that ask a model, by a rubric or by one sentence.

Keys are never read from a file, only from each vendor's environment variable. A file may send such a key to an address
of its own only with permission.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import Field

from jury_adapters.config.permissions import how_to_allow
from jury_adapters.config.questions import AnswersSpec
from jury_adapters.config.spec_judge import Place, Question
from jury_adapters.core.errors import ConfigurationError, InputError
from jury_adapters.core.judge import Judge
from jury_adapters.critic.asking import default_name
from jury_adapters.critic.critic import Critic
from jury_adapters.critic.given_rubric import AnswerOptions, given_rubric
from jury_adapters.critic.replayed import ReplayedCritic
from jury_adapters.critic.rubric import Rubric
from jury_adapters.models.registry import split_name
from jury_adapters.models.settings import TIMEOUT_S
from jury_adapters.vendors import VENDORS

_NO_KEY = "replayed"  # nothing is sent: a replayed critic is only built for its fingerprint and its price


class _AskingSpec(AnswersSpec):
    """Options of every critic of a file about its model."""

    model: str = Field(min_length=1, description='"vendor:model", or the model\'s name beside base_url.')
    base_url: str | None = Field(None, description="The address of a server that speaks the vendor's protocol.")
    threshold: float | None = Field(
        None, ge=0, le=1, description="The score that passes, in place of the rubric's own rule."
    )
    repeat: int = Field(1, ge=1, le=100, description="How often the model is asked per case; a majority decides.")
    temperature: float | None = Field(0.0, ge=0, description="0 for the most likely answer; null for the vendor's own.")
    max_tokens: int = Field(2000, ge=1, description="The most output tokens, hidden reasoning included.")
    logprobs: bool = Field(False, description="Score by the probabilities of the answer's tokens.")
    timeout: float = Field(TIMEOUT_S, gt=0, description="Seconds one request may take.")

    def _critic(self, rubric: Rubric, place: Place, answers: AnswerOptions) -> Judge:
        if not place.replay:
            self._check_address(place.at("base_url"))
        options: dict[str, Any] = {
            key: getattr(self, key) for key in _AskingSpec.model_fields if key not in AnswersSpec.model_fields
        }
        with place.named():
            rubric = given_rubric(rubric, **answers)
            return self._replayed(rubric, options) if place.replay else Critic(self.name, rubric=rubric, **options)

    def _replayed(self, rubric: Rubric, options: dict[str, Any]) -> ReplayedCritic:
        """Return a critic that serves recorded votes; it needs neither a key nor an SDK."""
        own_name = default_name([rubric], split_name(self.model)[1])
        fingerprint, cost, unknown_because = None, 0.0, ""
        try:
            critic = Critic(self.name, rubric=rubric, api_key=_NO_KEY, **options)
            fingerprint, cost = critic.fingerprint, critic.cost
        except ConfigurationError as error:
            unknown_because = str(error)
        return ReplayedCritic(
            self.name or own_name, rubric, threshold=self.threshold, fingerprint=fingerprint, order_cost=cost,
            own_name=own_name, unknown_because=unknown_because, repeat=self.repeat,
        )  # fmt: skip

    def _check_address(self, place: Place) -> None:
        """Check that no key from the environment goes to an address of the file without permission.

        Raises:
            ConfigurationError: it would; the message says what to do.
        """
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

    critic: str = Field(
        "",
        description="The name of a rubric of the package, or the path of a YAML file; else the nearest `rubric:`.",
    )

    def build(self, place: Place) -> Judge:
        if self.critic or "critic" in self.model_fields_set:
            question = Question(self.critic, place.at("critic"), place.answers)
        elif place.question is not None:
            question = place.question
        else:
            with place.named():
                raise ConfigurationError("nothing says what this model judges; give `critic:` here, or `rubric:` above")
        with question.place.named():
            rubric = _rubric(question.rubric, place.source.folder)
        return self._critic(rubric, place, self.answers() or question.answers)


class CriteriaSpec(_AskingSpec):
    """A critic from one sentence: does the answer meet it?"""

    criteria: str = Field(min_length=1, description="What the answer must do, in one sentence.")

    def build(self, place: Place) -> Judge:
        if not self.criteria.strip():
            raise InputError(place.source.problem((*place.where, "criteria"), "the sentence is blank"))
        with place.named():
            rubric = Rubric.from_criteria(self.criteria)
        return self._critic(rubric, place, self.answers() or place.answers)


def _rubric(name: str, folder: Path) -> Rubric:
    return Rubric.from_yaml(folder / name) if name.endswith((".yaml", ".yml")) else Rubric.bundled(name)
