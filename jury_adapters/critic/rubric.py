"""Rubrics: the question that a model is asked about a case, and the answers that it may give."""

import re
from collections.abc import Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from jury_adapters.core.case import NAMES, Case
from jury_adapters.core.judgment import Status
from jury_adapters.core.values import ConfigurationError, Frozen, InputError, Share, Text, problems_of
from jury_adapters.critic.answers import Labels, Scale, Unreadable
from jury_adapters.critic.yaml import read_yaml

PLACEHOLDERS: dict[str, str] = {
    **{name: field for field, names in NAMES.items() for name in names},
    **{name: name for name in ("messages", "steps", "candidates")},
    "candidate_a": "candidates",
    "candidate_b": "candidates",
}
"""Placeholders of prompts, and the field of the case that each one shows. The generator has none, so that a judge does
not know who wrote an answer."""

YES_NO = Labels({"YES": "pass", "NO": "fail", "UNSURE": "abstain"})
"""The answers of a rubric that declares none."""

_BUNDLED = Path(__file__).with_name("rubrics")
_FIELD = re.compile(r"\{\{([A-Za-z_]\w*)\}\}|\{([A-Za-z_]\w*)\}", re.ASCII)
_CRITERION = """\
Does the answer meet this criterion?

{criterion}

YES: the answer meets it.
NO: it does not, or only in part.
UNSURE: it cannot be told from the material.

Judge by this criterion and by nothing else. Take it literally, but not pettily."""
_EVERYTHING = """\
Earlier messages:
{messages}

Question:
{question}

Contexts:
{contexts}

Steps of the agent:
{steps}

Reference:
{reference}

Answer to judge:
{answer}"""


class Example(Frozen):
    """Worked example, which a model sees as an earlier turn of the exchange.

    Attributes:
        case: the case.
        answer: the right answer, one of the rubric's.
        reasoning: the reasons for it.
    """

    case: Case
    answer: Text | int | float
    reasoning: Text


class Rubric(Frozen):
    """Question that a model is asked about a case, and the answers that it may give.

    In prompts ``{answer}`` is a placeholder; all other braces are text. Names are the fields of a case, in any of
    their usual spellings, ``{candidate_a}``, ``{candidate_b}``, and the ``variables`` of the rubric. Values are
    inserted in one pass, so a placeholder in the judged text stays text. ``{{name}}`` is the text ``{name}``.

    Attributes:
        name: what is judged, in a word or two.
        version: the version; increase it with every change.
        description: for readers; the model does not see it.
        source: the publication or page that defines the quality; the model does not see it.
        criteria: what is good and what is not, in words.
        prompt: the case, as a template.
        labels: the allowed answers; by default YES (pass), NO (fail) and UNSURE (abstain).
        scale: the allowed answers as a number; instead of labels.
        threshold: the lowest score that passes, 0..1, instead of the meaning of labels that have a score, of the pass
            mark of the scale, or of the share of supported claims (1.0).
        claims_of: ``answer`` or ``reference``, if the model lists the claims of that text, and the claims decide; see
            :mod:`jury_adapters.critic.claims`.
        variables: further placeholders, whose values are in the metadata of a case.
        requires: the fields and variables without which the critic abstains; by default all that the prompt shows.
        empty_answer: the answer to a case whose answer is blank, about which no model is asked; by default it is asked.
        examples: worked examples.

    Raises:
        ValidationError: the parts do not fit together.

    >>> rubric = Rubric(name="polite", criteria="Is the answer polite?", labels={"POLITE": "pass", "RUDE": "fail"})
    >>> rubric.answers.read("rude").status.value, rubric.required
    ('FAIL', ('question', 'answer'))
    """

    name: Text = Field(min_length=1)
    version: Text = "1"
    description: Text = ""
    source: Text = ""
    criteria: Text = ""
    prompt: Text = "Question:\n{question}\n\nAnswer to judge:\n{answer}"
    labels: Labels | None = None
    scale: Scale | None = None
    threshold: Share | None = None
    claims_of: Literal["answer", "reference"] | None = None
    variables: tuple[Text, ...] = ()
    requires: tuple[Text, ...] | None = None
    empty_answer: Text | int | None = None
    examples: tuple[Example, ...] = ()

    @classmethod
    def bundled(cls, name: str) -> "Rubric":
        """Return a rubric that comes with this package; :func:`bundled_rubrics` lists their names.

        Raises:
            ConfigurationError: there is no rubric of this name.
        """
        if name not in bundled_rubrics():
            raise ConfigurationError(
                f"no rubric is named {name!r}; a rubric is a Rubric, the path of a YAML file, or one of "
                f"{', '.join(bundled_rubrics())}"
            )
        return _bundled(name)

    @classmethod
    def from_yaml(cls, path: str | Path) -> "Rubric":
        """Return the rubric in a YAML file. Without a ``name``, it has that of the file.

        Raises:
            InputError: the file cannot be read, or is not a rubric.
        """
        found = read_yaml(Path(path))
        if not isinstance(found, dict):
            raise InputError(f"{path}: a rubric is a mapping of keys to values")
        try:
            return Rubric.model_validate({"name": Path(path).stem, **found})
        except ValidationError as error:
            raise InputError(f"{path}: {problems_of(error)}") from None

    @classmethod
    def from_criteria(cls, criterion: str, *, name: str = "criteria") -> "Rubric":
        """Return a rubric for one sentence that the answer must meet. The model is shown all that the case has.

        Raises:
            ConfigurationError: the sentence is blank.

        >>> Rubric.from_criteria("The answer names its source.", name="sourced").required
        ('answer',)
        """
        if not isinstance(criterion, str) or not criterion.strip():
            raise ConfigurationError(f"a criterion is a sentence that the answer must meet, not {criterion!r}")
        criteria = _CRITERION.replace("{criterion}", criterion.strip())
        return cls(name=name, criteria=criteria, prompt=_EVERYTHING, requires=("answer",))

    def replace(self, **changes: Any) -> Self:
        """Return a copy with changes, which are checked; other labels replace a scale, and the reverse.

        Raises:
            ConfigurationError: the parts do not fit together.
        """
        other = {"labels": "scale", "scale": "labels"}
        for name in other.keys() & changes.keys():
            changes = {other[name]: None, **changes}
        try:
            return self.but(**changes)
        except ValidationError as error:
            raise ConfigurationError(f"rubric {self.name!r}: {problems_of(error)}") from None

    @cached_property
    def answers(self) -> Labels | Scale:
        """The allowed answers, by the threshold."""
        found = self.scale or self.labels or YES_NO
        return found if self.threshold is None or self.claims_of else found.from_score(self.threshold)

    @property
    def pass_mark(self) -> float:
        """The score from which an answer passes, 0..1."""
        if self.threshold is not None:
            return self.threshold
        return 1.0 if self.claims_of else self.answers.passing_score

    @cached_property
    def shown(self) -> tuple[str, ...]:
        """The placeholders of the prompt, each once, in order."""
        return tuple(dict.fromkeys(match[2] for match in _FIELD.finditer(self.prompt) if match[2]))

    @cached_property
    def required(self) -> tuple[str, ...]:
        """The fields and variables without which the critic abstains."""
        names = self.shown if self.requires is None else self.requires
        return tuple(dict.fromkeys(PLACEHOLDERS.get(name, name) for name in names))

    @field_validator("version", mode="before")
    @classmethod
    def _version_as_text(cls, version: Any) -> Any:
        return str(version) if isinstance(version, int) else version

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.labels is not None and self.scale is not None:
            raise ValueError("a rubric has labels or a scale, not both")
        known = {*PLACEHOLDERS, *self.variables}
        if unknown := [name for name in (*self.shown, *(self.requires or ())) if name not in known]:
            raise ValueError(
                f"{unknown[0]!r} is not a placeholder: {', '.join(sorted(known))}; to show braces, write "
                f"{{{{{unknown[0]}}}}}, and to show a value of the metadata, variables=[{unknown[0]!r}]"
            )
        if taken := [name for name in self.variables if name in PLACEHOLDERS or not _FIELD.fullmatch(f"{{{name}}}")]:
            raise ValueError(f"{taken[0]!r} cannot name a variable: it is a field of the case, or not a plain name")
        doubled = [match[1] for match in _FIELD.finditer(self.prompt) if match[1] in known]
        if doubled or not self.shown:
            name = doubled[0] if doubled else "answer"
            raise ValueError(f"the prompt shows no {name}: write {{{name}}}, with single braces")
        self._check_claims()
        answers = {f"examples.{place}": example.answer for place, example in enumerate(self.examples)}
        for place, answer in {"empty_answer": self.empty_answer, **answers}.items():
            if answer is not None and isinstance(read := self.answers.read(answer), Unreadable):
                raise ValueError(f"{place}: {read}")
        return self

    def _check_claims(self) -> None:
        if self.claims_of is None:
            return
        fields = {PLACEHOLDERS.get(name) for name in self.shown}
        meanings = {one.meaning for one in self.labels.root.values()} if self.labels else {Status.PASS, Status.FAIL}
        if not {"contexts", self.claims_of} <= fields or not {Status.PASS, Status.FAIL} <= meanings or self.scale:
            raise ValueError(
                f"claims need {{{self.claims_of}}} and {{contexts}} in the prompt, and labels that pass and that fail"
            )
        if self.examples:
            raise ValueError("a rubric with claims has no examples")


def fill(template: str, values: Mapping[str, str]) -> str:
    """Return a template with its placeholders replaced, in one pass.

    >>> fill('{name} says {"a": 1} and {{name}}', {"name": "{other}"})
    '{other} says {"a": 1} and {name}'
    """
    return _FIELD.sub(lambda match: values[match[2]] if match[2] else f"{{{match[1]}}}", template)


@cache
def bundled_rubrics() -> tuple[str, ...]:
    """Return the names of the rubrics that come with this package.

    >>> "faithfulness" in bundled_rubrics()
    True
    """
    return tuple(sorted(path.stem for path in _BUNDLED.glob("*.yaml")))


def rubric_of(given: "Rubric | str | Path") -> Rubric:
    """Return a rubric that is given as such, by its name, or as the path of a YAML file.

    Raises:
        ConfigurationError: it is something else, or no rubric has that name.
        InputError: the file is not a rubric.
    """
    if isinstance(given, Rubric):
        return given
    if isinstance(given, Path) or str(given).endswith((".yaml", ".yml")):
        return Rubric.from_yaml(given)
    return Rubric.bundled(given)


@cache
def _bundled(name: str) -> Rubric:
    return Rubric.from_yaml(_BUNDLED / f"{name}.yaml")
