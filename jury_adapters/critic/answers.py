"""Answers that a rubric allows: labels with a meaning, or a scale with a pass mark.

A vocabulary is the only place that decides whether a model's text is an answer. It reads only exact answers: a label is
never looked for inside other words, and a number is never adjusted to its scale.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from jury_adapters.core.errors import ConfigurationError, plain_repr, unknown
from jury_adapters.core.judgment import Status
from jury_adapters.core.values import JsonValue, clean_text, normalise_score, shown

Named: TypeAlias = "Iterable[str] | Mapping[str, float | None]"


@dataclass(frozen=True, slots=True)
class Choice:
    """Allowed answer, as a vocabulary read it.

    Attributes:
        text: the answer in the rubric's own words: a label, or a rating such as ``"4"``.
        status: the meaning; None for a label without a PASS/FAIL meaning.
        label: the label; None on a scale.
        score: 0..1, or None for a label without a score.
    """

    text: str
    status: Status | None
    label: str | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Reason why something is not an answer.

    Attributes:
        problem: the reason, in a sentence that can be sent back to the model.
        answer: the given answer, if it has the form of an answer but is not in the vocabulary; else None.
    """

    problem: str
    answer: str | None = field(default=None, compare=False)


class Label(BaseModel):
    """Label with its meaning, and a score if the rubric declares one.

    Attributes:
        name: the label as the model should write it; case and white space are ignored when it is read.
        meaning: PASS, FAIL, ABSTAIN, or None for a label that is neither good nor bad (``KEEP``, ``A``).
        score: 0..1, or None.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    name: str
    meaning: Status | None = None
    score: float | None = Field(default=None, ge=0, le=1, allow_inf_nan=False)

    @field_validator("meaning", mode="before")
    @classmethod
    def _known_meaning(cls, value: object) -> Status | None:
        word = "none" if value is None else str(value).strip().lower()
        if word not in _MEANINGS:
            raise ValueError(unknown_meaning(value))
        return _MEANINGS[word]

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if not self.name.strip() or clean_text(self.name) != self.name:
            raise ValueError(f"a label is a word or a few, not {plain_repr(self.name)}")
        if self.meaning is Status.ABSTAIN and self.score is not None:
            raise ValueError(f"{plain_repr(self.name)} abstains, so it has no score")
        return self

    @property
    def value(self) -> float | None:
        """Value of the label in an average: its score, else 1 for PASS and 0 for FAIL, else None."""
        return self.score if self.score is not None else _WORTH.get(self.meaning)


class Labels(BaseModel):
    """Answers by name. Matching is exact except for case and white space, and never a substring test.

    In YAML: ``labels: {YES: pass, NO: fail, UNSURE: abstain}``, with scores ``labels: {good: 0.6, poor: 0}``, where a
    score from 0.5 passes, or with both: ``labels: {good: {meaning: fail, score: 0.6}}``.

    >>> Labels.of(passing=["YES"], failing=["NO"]).read(" yes ").status
    <Status.PASS: 'PASS'>
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    labels: tuple[Label, ...] = Field(min_length=1)

    @classmethod
    def of(
        cls, *, passing: Named = (), failing: Named = (), abstaining: Iterable[str] = (), neutral: Named = ()
    ) -> Labels:
        """Create labels from their meanings. A mapping declares scores: ``passing={"excellent": 1.0, "good": 0.6}``.

        Raises:
            ConfigurationError: there is no label, a label is given twice, or a score is outside 0..1.
        """
        groups = ((passing, Status.PASS), (failing, Status.FAIL), (abstaining, Status.ABSTAIN), (neutral, None))
        try:
            return cls(labels=tuple(label for names, meaning in groups for label in _labels(names, meaning)))
        except ValidationError as error:
            problems = "; ".join(details["msg"].removeprefix("Value error, ") for details in error.errors())
            raise ConfigurationError(
                f"a vocabulary needs at least one label, each with one meaning: {problems}"
            ) from None

    @field_validator("labels", mode="before")
    @classmethod
    def _from_mapping(cls, value: object) -> object:
        if not isinstance(value, Mapping):
            return value
        return [{**_label_of(meaning), "name": name} for name, meaning in value.items()]

    @model_validator(mode="after")
    def _no_doubles(self) -> Self:
        if len(self.by_key) < len(self.labels):
            raise ValueError("two labels differ only in case or white space, or not at all")
        return self

    @cached_property
    def by_key(self) -> dict[str, Label]:
        """Labels by the form in which they are compared."""
        return {comparable(label.name): label for label in self.labels}

    @property
    def pass_score(self) -> float | None:
        """The score from which answers pass; None if no label has a score between 0 and 1.

        It is 0.5 if that divides the labels that pass from those that fail, else the middle between them.

        Raises:
            ConfigurationError: a label that fails has a score that is not below those that pass.
        """
        if not any(label.score not in (None, 0, 1) for label in self.labels):
            return None
        worths = [(label.meaning, label.value) for label in self.labels if label.value is not None]
        passing = [value for meaning, value in worths if meaning is Status.PASS]
        failing = [value for meaning, value in worths if meaning is Status.FAIL]
        lowest, highest = min(passing, default=1.0), max(failing, default=0.0)
        if highest >= lowest:
            raise ConfigurationError(
                f"a label that fails has the score {highest:g}, and one that passes {lowest:g}, so no score divides "
                "them; give the vote a threshold=, or let PASS and FAIL vote with voting='majority'"
            )
        return _PASS_SCORE if highest < _PASS_SCORE <= lowest else (lowest + highest) / 2

    def read(self, value: object) -> Choice | Unreadable:
        """Read an answer: exactly one of the labels. A JSON number or boolean is read as JSON writes it."""
        if isinstance(value, bool | int):
            value = shown(value).lower()
        if not isinstance(value, str):
            return Unreadable(f"the answer must be {self.instruction()}, not {_kind(value)}")
        label = self.by_key.get(comparable(value))
        if label is None:
            return Unreadable(f"the answer must be {self.instruction()}, not {plain_repr(_clip(value))}", _word(value))
        return Choice(label.name, label.meaning, label.name, label.score)

    def schema_part(self) -> dict[str, JsonValue]:
        """Return the answer's part of a JSON schema."""
        return {"type": "string", "enum": [label.name for label in self.labels]}

    def instruction(self) -> str:
        """Return the allowed answers, for a prompt."""
        names = [f'"{label.name}"' for label in self.labels]
        return names[0] if len(names) == 1 else f"exactly one of {', '.join(names)}"


class Scale(BaseModel):
    """Answers as a number. Scores in judgments are normalised to 0..1.

    Numbers as text are read too if they are unambiguous: ``"4"``, ``"4/5"`` when 5 is the maximum, and
    ``"85%"`` on a scale from 0 to 1 or from 0 to 100. NaN, infinity, booleans and numbers outside the scale are
    refused.

    Attributes:
        minimum: the worst rating.
        maximum: the best rating.
        integer: whether only whole ratings are allowed; by default when both ends are whole and not just 0 and 1.
        pass_mark: the lowest rating that passes; the middle of the scale by default.

    >>> Scale(minimum=1, maximum=5, pass_mark=4).read("4/5").score
    0.75
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, allow_inf_nan=False)

    minimum: float
    maximum: float
    pass_mark: float = math.nan
    integer: bool = False

    @model_validator(mode="before")
    @classmethod
    def _defaults(cls, data: object) -> object:
        if not isinstance(data, Mapping):
            return data
        filled = dict(data)
        low, high = _number_or_none(data.get("minimum")), _number_or_none(data.get("maximum"))
        if low is not None and high is not None:
            filled.setdefault("pass_mark", (low + high) / 2)
            filled.setdefault("integer", low.is_integer() and high.is_integer() and high - low > 1)
        return filled

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.minimum < self.maximum:
            raise ValueError(f"a scale needs minimum < maximum, not {self.minimum:g} and {self.maximum:g}")
        if not self.minimum <= self.pass_mark <= self.maximum:
            raise ValueError(f"pass_mark {self.pass_mark:g} is outside the scale {self._range}")
        if self.integer and not (self.minimum.is_integer() and self.maximum.is_integer()):
            raise ValueError(f"a scale of whole numbers has whole ends, not {self._range}")
        return self

    @property
    def pass_score(self) -> float:
        """The pass mark as a score from 0 to 1."""
        return normalise_score(self.pass_mark, self.minimum, self.maximum)

    @property
    def _range(self) -> str:
        return f"{self.minimum:g} to {self.maximum:g}"

    def read(self, value: object) -> Choice | Unreadable:
        """Read a rating: a number on the scale, or text that is clearly one."""
        number = self._parsed(value) if isinstance(value, str) else value
        if isinstance(number, bool) or not isinstance(number, int | float):
            return Unreadable(f"the answer must be {self.instruction()}, not {_kind(value)}", _word(value))
        # The comparison is false for NaN, and comes before float() because that fails for a huge int.
        if not self.minimum <= number <= self.maximum:
            return Unreadable(
                f"the answer must be {self.instruction()}, not {_clip(shown(value))}", _word(shown(value))
            )
        rating = float(number) + 0.0  # -0 becomes 0
        if self.integer and not rating.is_integer():
            return Unreadable(
                f"the answer must be {self.instruction()}, not {_clip(shown(value))}", _word(shown(value))
            )
        status = Status.PASS if rating >= self.pass_mark else Status.FAIL
        return Choice(
            repr(rating).removesuffix(".0"), status, None, normalise_score(rating, self.minimum, self.maximum)
        )

    def schema_part(self) -> dict[str, JsonValue]:
        """Return the answer's part of a JSON schema: an enum for a short scale, because some vendors refuse bounds."""
        if self.integer and self.maximum - self.minimum < _LONGEST_ENUM:
            return {"type": "integer", "enum": list(range(int(self.minimum), int(self.maximum) + 1))}
        return {"type": "integer" if self.integer else "number", "description": self.instruction()}

    def instruction(self) -> str:
        """Return the allowed answers, for a prompt."""
        kind = "a whole number" if self.integer else "a number"
        return f"{kind} from {self.minimum:g} (worst) to {self.maximum:g} (best)"

    def _parsed(self, text: str) -> float | str:
        match = _NUMBER.fullmatch(text)
        if match is None:
            return text
        number = float(match["number"])
        if match["percent"]:
            # Not number / 100, because 1.53 % is 0.0153 and not the adjacent float.
            percent_of = {1.0: float(f"{match['number']}e-2"), 100.0: number} if self.minimum == 0 else {}
            return percent_of.get(self.maximum, text)
        if match["whole"] and float(match["whole"]) != self.maximum:
            return text
        return number


Vocabulary: TypeAlias = Labels | Scale


def comparable(text: str) -> str:
    """Return the form in which labels and other texts are compared: without differences of case and white space."""
    return " ".join(text.casefold().split())


_LONGEST_ENUM = 21
_LONGEST_LABEL = 40
_LABEL_LIKE = re.compile(r"[^\s.,;:!?\"'{}\[\]<>]++(?: [^\s.,;:!?\"'{}\[\]<>]++){0,2}|[-+]?\d++(?:\.\d++)?")
_PASS_SCORE = 0.5  # the same as for scores of functions and of recorded votes
_MEANINGS: dict[str, Status | None] = {
    "pass": Status.PASS, "fail": Status.FAIL, "abstain": Status.ABSTAIN, "none": None, "neutral": None,
}  # fmt: skip
_WORTH: dict[Status | None, float] = {Status.PASS: 1.0, Status.FAIL: 0.0}
# Deliberately short: no real rating has more digits.
_NUMBER = re.compile(
    r"\s*+(?P<number>[-+]?(?:\d{1,15}(?:\.\d{0,15})?|\.\d{1,15}))\s*+"
    r"(?:(?P<percent>%)|(?:/|out of)\s*+(?P<whole>\d{1,15}(?:\.\d{1,15})?))?\s*+",
    re.ASCII | re.IGNORECASE,
)


def _labels(names: Named, meaning: Status | None) -> list[Label]:
    if isinstance(names, str):
        raise ConfigurationError(f"labels come as a list: [{plain_repr(names)}]")
    if isinstance(names, Mapping):
        return [Label(name=name, meaning=meaning, score=score) for name, score in names.items()]
    return [Label(name=name, meaning=meaning) for name in names]


def unknown_meaning(value: object, known: Iterable[str] | None = None) -> str:
    """Return the message for an unknown meaning of a label; by default all meanings are known."""
    meant = ("pass" if value else "fail") if isinstance(value, bool) else None
    return f"{unknown('meaning', value, _MEANINGS if known is None else known, meant)[:-1]}, or a score from 0 to 1."


def _label_of(meaning: object) -> Mapping[str, object]:
    """Return the fields of a label: a mapping has them all, a number is a score, and a word is the meaning."""
    if isinstance(meaning, Mapping):
        return meaning
    if isinstance(meaning, int | float) and not isinstance(meaning, bool):
        return {"meaning": Status.PASS if meaning >= _PASS_SCORE else Status.FAIL, "score": meaning}
    return {"meaning": meaning}


def _number_or_none(value: object) -> float | None:
    try:
        number = float(value) if isinstance(value, int | float | str) else math.nan
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _kind(value: object) -> str:
    """Return the name of a refused value in a message to the model."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    names = {str: "such text", list: "a list", dict: "an object", float: "such a number"}
    return names.get(type(value), type(value).__name__)


def _word(value: object) -> str | None:
    """Return a text that has the form of a label or a rating, of three words at most; None for any other value."""
    if not isinstance(value, str) or len(value) > _LONGEST_LABEL:
        return None
    return value.strip() if _LABEL_LIKE.fullmatch(value.strip()) else None


def _clip(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:59] + "…"
