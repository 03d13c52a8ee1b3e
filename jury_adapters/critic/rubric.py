"""Rubrics: the question that a model is asked, and the answers that it may give."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    field_validator,
    model_validator,
)

from jury_adapters.core.errors import ConfigurationError, plain_repr, unknown
from jury_adapters.core.field_names import ALIASES
from jury_adapters.core.judgment import Status
from jury_adapters.core.values import EMPTY, FrozenDict, JsonValue, freeze_mapping
from jury_adapters.critic.answers import Labels, Scale, Unreadable
from jury_adapters.critic.criteria import user_prompt_for
from jury_adapters.critic.rubric_examples import FROZEN, Example
from jury_adapters.critic.rubric_file import input_error, read_rubric_file
from jury_adapters.critic.rubric_history import RubricChange
from jury_adapters.critic.template import Template

_SHOWN = ("question", "answer", "contexts", "reference", "candidates", "messages", "trajectory", "metadata")
PLACEHOLDERS: Mapping[str, str] = {
    **{field: field for field in _SHOWN},
    **{alias: field for alias, field in ALIASES.items() if field in _SHOWN},
    "candidate_a": "candidates",
    "candidate_b": "candidates",
}
"""Placeholders of a user prompt, and the field of the case that each one shows.

The generator is left out, because a judge that knows the author of an answer is no longer impartial.
"""

CLAIM_LABELS = Labels.of(passing=["supported"], failing=["contradicted", "unsupported"], abstaining=["unclear"])
"""Verdicts that a model may give on a single claim."""

_OWN_SENTENCE = (
    ' A sentence of your own is written Critic.from_criteria(model, "..."), or Rubric.from_criteria("...") for several '
    'models; in a jury file, criterion: "..." instead of rubric:.'
)
_FOR_READERS = frozenset({"name", "version", "description", "source", "also_called", "history"})
# Part of every fingerprint. Increase it when the text that this package adds to prompts changes.
_FORMAT = 1
_SYSTEM_PROMPT = """\
You are a careful and impartial judge. Judge by the criteria below and by nothing else: neither length, style, \
politeness nor a confident tone makes an answer better, and it does not matter what you would have answered yourself.
"""
_USER_PROMPT = "Question:\n{question}\n\nAnswer to judge:\n{answer}\n"
_DEFAULT_ANSWERS = Labels.of(passing=["YES"], failing=["NO"], abstaining=["UNSURE"])


def _which(answers: object) -> str:
    return (
        "labels" if isinstance(answers, Labels) or (isinstance(answers, Mapping) and "labels" in answers) else "scale"
    )


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


Answers = Annotated[Annotated[Labels, Tag("labels")] | Annotated[Scale, Tag("scale")], Discriminator(_which)]
Names = Annotated[tuple[str, ...], BeforeValidator(_listed)]
AnswerText = Annotated[str, BeforeValidator(lambda value: str(value) if isinstance(value, int) else value)]


class Rubric(BaseModel):
    """Question that a model is asked, and the answers that it may give. Immutable; unknown keys are refused.

    Attributes:
        name: the quality that is judged, in a word or two.
        version: the version; increase it with every change, so that old judgments stay comparable.
        description: a description for readers; the model does not see it.
        source: the publication or page that defines the quality; the model does not see it.
        also_called: the names of the same quality in other packages, for the message about an unknown name.
        criteria: what is good and what is not, in words.
        system_prompt: the role of the judge and its way of working. The criteria replace ``{criteria}``, or else
            follow. It has no placeholders of a case: untrusted text belongs in the user prompt.
        user_prompt: the case, as a template with the names of :data:`PLACEHOLDERS`, ``{criteria}`` and ``variables``.
        answers: the allowed answers. In YAML ``labels: {YES: pass, NO: fail, UNSURE: abstain}`` (the default) or
            ``scale: {minimum: 1, maximum: 5, pass_mark: 4}``.
        claims: whether the model splits the answer into claims and judges each of them. A label that passes although a
            claim fails makes the reply unreadable. With ``"verified"``, the claims decide, and their quotations are
            verified; see :mod:`jury_adapters.critic.verified_claims`.
        examples: worked examples, shown as earlier turns of the exchange.
        variables: further placeholders, whose values come with each case.
        requires: fields of the case (or variables) without which the judge abstains; by default all that the user
            prompt names.
        empty_answer: the label or rating of an answer without any text or image, which no model is asked about; by
            default the model is asked.
        history: the changes from which the rubric results, the latest last; for readers only.

    >>> Rubric(name="polite", criteria="The answer is polite.").answers.read("yes").status
    <Status.PASS: 'PASS'>
    """

    model_config = FROZEN

    name: str = Field(min_length=1)
    version: str = "1"
    description: str = ""
    source: str = ""
    also_called: Names = ()
    criteria: str = ""
    system_prompt: str = _SYSTEM_PROMPT
    user_prompt: str = _USER_PROMPT
    answers: Answers = _DEFAULT_ANSWERS
    claims: bool | Literal["verified"] = False
    examples: tuple[Example, ...] = ()
    variables: Names = ()
    requires: Names = ()
    empty_answer: AnswerText = ""
    history: tuple[RubricChange, ...] = ()

    @classmethod
    def from_yaml(cls, path_or_text: str | Path) -> Rubric:
        """Read a rubric from a YAML file, or from YAML text.

        Without the key ``name``, the rubric gets the name of the file. The key ``user_prompt_template`` is another name
        for ``user_prompt``.

        Raises:
            InputError: the file cannot be read or is not a rubric; the message names the file and the key.
        """
        source, data = read_rubric_file(path_or_text)
        data.setdefault("name", "rubric" if source.name == "<text>" else Path(source.name).stem)
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            raise input_error(source, error) from error

    @classmethod
    def bundled(cls, name: str, version: str | None = None) -> Rubric:
        """Return a rubric that comes with this package; :func:`bundled_rubrics` lists them.

        Args:
            name: its name.
            version: the version that you rely on. If a later release has another version, it is refused.

        Raises:
            ConfigurationError: there is no such rubric, or not in this version.
        """
        if name not in bundled_rubrics():
            raise _no_such_rubric(name)
        rubric = _bundled(name)
        if version is not None and version != rubric.version:
            raise ConfigurationError(f"rubric {plain_repr(name)} comes in version {rubric.version}, not {version}")
        return rubric

    @classmethod
    def from_criteria(cls, criteria: str, *, name: str = "criteria") -> Rubric:
        """Create a rubric from one sentence that the answer must meet.

        A model is shown question and answer, and the fields that the sentence mentions: *contexts*, *sources*,
        *passages* or *documents*, *the reference* or *expected answer*, the *conversation*, *tool calls* (see
        :data:`jury_adapters.critic.criteria.SPOKEN_OF`).

        Raises:
            ConfigurationError: the sentence is blank, or is not a text.

        >>> Rubric.from_criteria("The answer names its source.", name="sourced").requires
        ('answer',)
        """
        if not isinstance(criteria, str):
            raise ConfigurationError(
                f"the criterion is one sentence, not {type(criteria).__name__}; of a critic, the model comes first: "
                "Critic.from_criteria(model, 'The answer names its source.')"
            )
        if not criteria.strip():
            raise ConfigurationError("the criterion is blank; say in one sentence what the answer must do")
        own = {"criteria": criteria, "name": name, "user_prompt": user_prompt_for(criteria), "requires": ("answer",)}
        return cls.bundled("criteria").model_copy(update=own)

    @model_validator(mode="before")
    @classmethod
    def _keys(cls, data: object) -> object:
        if not isinstance(data, Mapping):
            return data
        known = {*cls.model_fields, *_OTHER_NAMES}
        fields: dict[str, object] = {}
        for key, value in data.items():
            if key not in known:
                raise ValueError(unknown("key", key, known))
            name = _OTHER_NAMES.get(key, str(key))
            if name in fields:
                raise ValueError(f"{plain_repr(key)} says what {plain_repr(name)} says already; give one of them")
            fields[name] = {"labels": value} if key == "labels" and not isinstance(value, Labels) else value
        return fields

    @field_validator("variables")
    @classmethod
    def _free_names(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if name in PLACEHOLDERS or name == "criteria":
                raise ValueError(f"{plain_repr(name)} is a placeholder already; a variable needs a name of its own")
            if Template(f"{{{name}}}").names != (name,):
                raise ValueError(
                    f"{plain_repr(name)} is not a name for a variable: letters, digits and underscores, no digit first"
                )
        return names

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        for key, template in (("system_prompt", "system_template"), ("user_prompt", "user_template")):
            try:
                getattr(self, template)
            except ConfigurationError as error:
                raise ValueError(f"{key}: {error}") from error
        names = self.user_template.names
        if not set(names) - {"criteria"}:
            raise ValueError("the user prompt shows nothing of the case; name a field, as in {answer}")
        if not self.criteria.strip() and "criteria" in (*names, *self.system_template.names):
            raise ValueError("the prompt names {criteria}, but the rubric has none")
        if self.claims == "verified":
            self._check_verifiable()
        fields = dict.fromkeys(self._field_of(name) for name in self.requires or names if name != "criteria")
        object.__setattr__(self, "requires", tuple(fields))
        if self.empty_answer and isinstance(read := self.answers.read(self.empty_answer), Unreadable):
            raise ValueError(f"empty_answer: {read.problem}")
        for position, example in enumerate(self.examples):
            problem = self._problem_of(example)
            if problem:
                raise ValueError(f"examples[{position}]: {problem}")
        return self

    @cached_property
    def system_template(self) -> Template:
        return Template(self.system_prompt, known=("criteria",))

    @cached_property
    def user_template(self) -> Template:
        return Template(self.user_prompt, known=(*PLACEHOLDERS, "criteria", *self.variables))

    @cached_property
    def fingerprint(self) -> str:
        """Short hash of everything that changes the prompt or how the reply is read; without name and version."""
        content = self.model_dump(mode="json", exclude={*_FOR_READERS, "examples", "empty_answer"})
        content["examples"] = [example.model_dump(mode="json", exclude_defaults=True) for example in self.examples]
        content["format"] = _FORMAT
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def described(self, more: Mapping[str, JsonValue] = EMPTY) -> FrozenDict:
        """Return the metadata of a judgment by this rubric: its name, version and fingerprint, and ``more``."""
        return FrozenDict({**self._description, **freeze_mapping(more)})

    @cached_property
    def _description(self) -> FrozenDict:
        return freeze_mapping(
            {"rubric": self.name, "rubric_version": self.version, "rubric_fingerprint": self.fingerprint}
        )

    def __hash__(self) -> int:
        return hash((self.fingerprint, self.name, self.version))

    def reply_schema(self) -> dict[str, JsonValue]:
        """Return the JSON schema of the reply. The reasons come first, so that the model thinks before it answers.

        It uses only what every vendor's strict mode accepts: no optional keys and no bounds on numbers.
        """
        properties: dict[str, JsonValue] = {"reasoning": {"type": "string"}}
        if self.claims:
            parts = {**_CLAIM_PARTS, "verdict": CLAIM_LABELS.schema_part()}
            claim = {name: parts[name] for name in claim_keys(self)}
            properties["claims"] = {"type": "array", "items": _closed(claim)}
        properties["answer"] = self.answers.schema_part()
        properties["confidence"] = {"type": "number", "description": "from 0 (a guess) to 1 (certain)"}
        return _closed(properties)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with other values in some fields, checked as in the constructor. ``deep`` has no effect.

        The copy keeps ``empty_answer`` only if that has the same meaning among its answers.
        """
        changes = dict(update or {})
        replaced = {_OTHER_NAMES.get(key, key) for key in changes}
        if "user_prompt" in replaced:
            replaced.add("requires")  # the defaults of the new prompt, not those of the old one
        other_answers = "answers" in replaced and "empty_answer" not in replaced
        if other_answers:
            replaced.add("empty_answer")  # which is one of the old answers
        kept = {name: getattr(self, name) for name in type(self).model_fields if name not in replaced}
        copy = self.model_validate({**kept, **changes})
        if other_answers and self.empty_answer:
            empty = self.answers.read(self.empty_answer)
            if empty == copy.answers.read(self.empty_answer):
                return self.model_validate({**kept, **changes, "empty_answer": self.empty_answer})
        return copy

    def _check_verifiable(self) -> None:
        """Check that claims can be verified: against contexts, with labels for both outcomes."""
        shown = {PLACEHOLDERS.get(name) for name in self.user_template.names}
        if not {"answer", "contexts"} <= shown:
            raise ValueError("claims: verified needs {answer} and {contexts} in the user prompt")
        meanings = {label.meaning for label in self.answers.labels} if isinstance(self.answers, Labels) else set()
        if not {Status.PASS, Status.FAIL} <= meanings:
            raise ValueError("claims: verified needs labels, at least one that means pass and one that means fail")

    def _field_of(self, name: str) -> str:
        if name in self.variables:
            return name
        if name not in PLACEHOLDERS:
            raise ValueError(f"requires: {unknown('field', name, [*PLACEHOLDERS, *self.variables])}")
        return PLACEHOLDERS[name]

    def _problem_of(self, example: Example) -> str:
        read = self.answers.read(example.answer)
        if isinstance(read, Unreadable):
            return read.problem
        if example.claims and not self.claims:
            return "it judges claims, but the rubric does not ask for them (claims: true)"
        for claim in example.claims:
            verdict = CLAIM_LABELS.read(claim.verdict)
            if isinstance(verdict, Unreadable):
                return f"claim {claim.claim!r}: {verdict.problem}"
        return ""


def claim_keys(rubric: Rubric) -> tuple[str, ...]:
    """Return the keys of a claim in a reply, in their order: the verdict comes last."""
    if rubric.claims == "verified":
        return ("claim", "sentence", "passage", "evidence", "reason", "verdict")
    return ("claim", "evidence", "verdict")


@cache
def bundled_rubrics() -> tuple[str, ...]:
    """Return the names of the rubrics that come with this package."""
    files = (resources.files("jury_adapters.critic") / "rubrics").iterdir()
    return tuple(sorted(file.name.removesuffix(".yaml") for file in files if file.name.endswith(".yaml")))


def bundled_text(name: str) -> str:
    """Return the YAML text of a rubric that comes with this package."""
    return (resources.files("jury_adapters.critic") / "rubrics" / f"{name}.yaml").read_text(encoding="utf-8")


_TEXT: JsonValue = {"type": "string"}
_CLAIM_PARTS: dict[str, JsonValue] = {
    "claim": _TEXT, "sentence": _TEXT, "evidence": _TEXT, "reason": _TEXT,
    "passage": {"type": "integer", "description": "number of the context, or 0"},
}  # fmt: skip
_OTHER_NAMES = {"labels": "answers", "scale": "answers", "user_prompt_template": "user_prompt"}


def _closed(properties: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _no_such_rubric(name: object) -> ConfigurationError:
    """Return the error for a name that no rubric has: a sentence, a name of another package, or a misspelling."""
    known = bundled_rubrics()
    if isinstance(name, str):
        if " " in name.strip():
            return ConfigurationError(f"{unknown('rubric', name, known)}{_OWN_SENTENCE}")
        other_names = {other: rubric for rubric in known for other in _bundled(rubric).also_called}
        written = name.strip().casefold().replace("-", "_")
        near = get_close_matches(written, other_names, n=1, cutoff=0.9) or get_close_matches(written, known, n=1)
        for spelling in near:
            return ConfigurationError(unknown("rubric", name, known, other_names.get(spelling, spelling)))
    return ConfigurationError(unknown("rubric", name, known))


@cache
def _bundled(name: str) -> Rubric:
    return Rubric.from_yaml(f"{bundled_text(name)}\n")
