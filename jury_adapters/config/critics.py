"""Critics in a jury file: judges that ask a model, by a rubric or by one sentence.

No key is read from a file; each vendor's environment variable has it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import Field

from jury_adapters.config.jurors import JudgeSpec, Place
from jury_adapters.core.errors import InputError
from jury_adapters.critic.critic import Critic
from jury_adapters.critic.rubric import Rubric


class _AskingSpec(JudgeSpec):
    """What every critic of a file may say about its model."""

    model: str = Field(min_length=1, description='"vendor:model", or the model\'s name beside base_url.')
    base_url: str | None = Field(None, description="The address of a server that speaks the vendor's protocol.")
    threshold: float | None = Field(
        None, ge=0, le=1, description="The score that passes, in place of the rubric's own rule."
    )
    repeat: int = Field(1, ge=1, description="How often the model is asked per case; a majority decides.")
    temperature: float | None = Field(0.0, ge=0, description="0 for the most likely answer; null for the vendor's own.")
    max_tokens: int = Field(2000, ge=1, description="The most output tokens, hidden reasoning included.")
    logprobs: bool = Field(False, description="Score by the probabilities of the answer's tokens.")
    timeout: float = Field(60.0, gt=0, description="Seconds one request may take.")

    def _critic(self, rubric: Rubric, name: str) -> Critic:
        options: dict[str, Any] = {
            key: getattr(self, key) for key in _AskingSpec.model_fields if key not in JudgeSpec.model_fields
        }
        return Critic(name, rubric=rubric, **options)


class CriticSpec(_AskingSpec):
    """A critic: a model that judges by a rubric."""

    critic: str = Field(min_length=1, description="The name of a rubric of the package, or the path of a YAML file.")

    def build(self, place: Place) -> Critic:
        with place.at("critic").named():
            rubric = self._rubric(place)
        with place.named():
            return self._critic(rubric, self.name or rubric.name)

    def _rubric(self, place: Place) -> Rubric:
        if not self.critic.endswith((".yaml", ".yml")):
            return Rubric.bundled(self.critic)
        path: Path = place.source.folder / self.critic
        return Rubric.from_yaml(path)


class CriteriaSpec(_AskingSpec):
    """A critic from one sentence: does the answer meet it?"""

    criteria: str = Field(min_length=1, description="What the answer must do, in one sentence.")

    def build(self, place: Place) -> Critic:
        if not self.criteria.strip():
            raise InputError(place.source.problem((*place.where, "criteria"), "the sentence is blank"))
        with place.named():
            return self._critic(Rubric.from_criteria(self.criteria, name="criteria"), self.name or "criteria")
