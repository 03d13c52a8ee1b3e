"""Answers that a rubric allows: labels with a meaning, or a scale with a pass mark.

This is the only place that decides whether something is an answer. Answers are compared whole, but for case and white
space: a label is never looked for inside other words, and a number is never adjusted to its scale.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, Self

from pydantic import BeforeValidator, ConfigDict, Field, RootModel, model_validator

from jury_adapters.core.judgment import Status
from jury_adapters.core.text import visible
from jury_adapters.core.values import EMPTY, ROUNDING, Frozen, Share, Text

_LONGEST_ENUM = 21  # ratings; some vendors refuse bounds, so a short scale is an enumeration
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Choice:
    """Allowed answer.

    Attributes:
        text: the answer in the words of the rubric: a label, or a rating such as ``4``.
        status: its meaning.
        label: the label; None for a rating, and for a label that is the name of its status.
        score: 0..1, where it has one.
    """

    text: str
    status: Status
    label: str | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Reason why something is not an answer, in words that can be sent back to the model; and what it was instead."""

    problem: str
    instead: str = ""

    def __str__(self) -> str:
        return f"{self.problem}, not {self.instead}" if self.instead else self.problem


def comparable(text: str) -> str:
    """Return the form in which answers are compared: without differences of case and white space."""
    return " ".join(text.casefold().split())


class Label(Frozen):
    """Meaning of a label, and a score if the rubric declares one.

    Attributes:
        meaning: PASS, FAIL, ABSTAIN, or LABEL for one that is neither good nor bad.
        score: 0..1, or None.
    """

    meaning: Annotated[Status, BeforeValidator(lambda word: word.upper() if isinstance(word, str) else word)]
    score: Share | None = None

    @model_validator(mode="before")
    @classmethod
    def _of_a_word_or_a_score(cls, given: Any) -> Any:
        if isinstance(given, bool) or not isinstance(given, str | int | float):
            return given
        return {"meaning": given} if isinstance(given, str) else {"meaning": passes(given), "score": given}

    @model_validator(mode="after")
    def _is_possible(self) -> Self:
        if self.meaning is Status.ERROR or (self.meaning is Status.ABSTAIN and self.score is not None):
            raise ValueError("a label means 'pass', 'fail', 'label', or 'abstain' without a score; or it has a score")
        return self


class Labels(RootModel[dict[Text, Label]]):
    """Answers by name, each with its meaning.

    A meaning is ``"pass"``, ``"fail"``, ``"abstain"``, ``"label"`` (neither good nor bad), a score, which passes from
    0.5, or ``{"meaning": "fail", "score": 0.6}``. A label may be PASS, FAIL or ABSTAIN only with that meaning.

    Raises:
        ValidationError: there is no label, one is blank, two differ only in case or white space, a meaning is none of
            these, or a label that fails has a score that is not below those that pass.

    >>> Labels({"POLITE": "pass", "RUDE": "fail"}).read(" polite ").status.value
    'PASS'
    """

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    @model_validator(mode="after")
    def _are_told_apart(self) -> Self:
        if not self.root or len(self._by_key) < len(self.root) or "" in self._by_key:
            raise ValueError("labels: at least one is needed, none is blank, and no two differ only in case or space")
        for name, label in self.root.items():
            if name.upper() in list(Status) and name.upper() != label.meaning:
                raise ValueError(f"{name!r} is the name of a status, so no label that means {label.meaning}")
        passing = [one.score for one in self.root.values() if one.meaning is Status.PASS and one.score is not None]
        failing = [one.score for one in self.root.values() if one.meaning is Status.FAIL and one.score is not None]
        if passing and failing and max(failing) >= min(passing):
            raise ValueError(f"a label that fails has the score {max(failing)}, and one that passes {min(passing)}")
        return self

    @cached_property
    def _by_key(self) -> dict[str, str]:
        return {comparable(name): name for name in self.root}

    @cached_property
    def declared(self) -> dict[str, Status]:
        """The labels that a judge declares: all but those that are the name of a status."""
        return {name: label.meaning for name, label in self.root.items() if name.upper() not in list(Status)}

    @property
    def values(self) -> dict[str, float]:
        """The labels that have a value: their score, else 1 for PASS and 0 for FAIL."""
        worth = {Status.PASS: 1.0, Status.FAIL: 0.0}
        found = {name: worth.get(one.meaning) if one.score is None else one.score for name, one in self.root.items()}
        return {name: value for name, value in found.items() if value is not None}

    @property
    def passing_score(self) -> float:
        """The score from which answers pass: 0.5 if it divides the labels, else the lowest score that passes."""
        passing = [self.values[name] for name, one in self.root.items() if one.meaning is Status.PASS]
        failing = [self.values[name] for name, one in self.root.items() if one.meaning is Status.FAIL]
        lowest = min(passing, default=1.0)
        return 0.5 if max(failing, default=0.0) < 0.5 <= lowest else lowest

    def from_score(self, threshold: float) -> "Labels":
        """Return the labels with other meanings of those that have a score: they pass from the threshold."""
        meanings = {
            name: one if one.score is None else Label(meaning=passes(one.score, threshold), score=one.score)
            for name, one in self.root.items()
        }
        return Labels(meanings)

    def read(self, value: object) -> Choice | Unreadable:
        """Return the label that a value of JSON is, or why it is not one."""
        text = json.dumps(value) if isinstance(value, bool | int) else value
        name = self._by_key.get(comparable(text)) if isinstance(text, str) else None
        if name is None:
            return Unreadable(f"the answer must be {self.instruction}", _for_message(value))
        label = self.root[name]
        return Choice(name, label.meaning, name if name in self.declared else None, label.score)

    @property
    def schema_part(self) -> dict[str, Any]:
        """The answer in a JSON schema."""
        return {"type": "string", "enum": list(self.root)}

    @property
    def instruction(self) -> str:
        """The allowed answers, for a prompt."""
        return f"exactly one of {', '.join(json.dumps(name, ensure_ascii=False) for name in self.root)}"


class Scale(Frozen):
    """Answers as a number. Scores of judgments are its share of the way from the worst to the best rating.

    Attributes:
        minimum: the worst rating.
        maximum: the best rating.
        pass_mark: the lowest rating that passes; the middle of the scale by default.
        integer: whether ratings are whole numbers, written without a point; by default if both ends are whole and more
            than 1 apart.
        declared: the labels that a judge declares: none.

    Raises:
        ValidationError: the ends are not in order, or the pass mark is not between them.

    >>> Scale(minimum=1, maximum=5, pass_mark=4).read(4).score
    0.75
    """

    minimum: float = Field(allow_inf_nan=False)
    maximum: float = Field(allow_inf_nan=False)
    pass_mark: float = Field(allow_inf_nan=False)
    integer: bool
    declared: ClassVar[Mapping[str, Status]] = EMPTY

    @model_validator(mode="before")
    @classmethod
    def _with_defaults(cls, given: Any) -> Any:
        if isinstance(given, list | tuple) and len(given) == 2:
            given = {"minimum": given[0], "maximum": given[1]}
        if not isinstance(given, Mapping):
            return given
        low, high = given.get("minimum"), given.get("maximum")
        if not isinstance(low, int | float) or not isinstance(high, int | float):
            return given
        whole = float(low).is_integer() and float(high).is_integer() and high - low > 1
        return {"pass_mark": (low + high) / 2, "integer": whole, **given}

    @model_validator(mode="after")
    def _is_in_order(self) -> Self:
        if not self.minimum < self.maximum or not self.minimum <= self.pass_mark <= self.maximum:
            raise ValueError(
                "a scale has minimum < maximum, and its pass_mark between them; not "
                f"{self.minimum:g}, {self.maximum:g} and {self.pass_mark:g}"
            )
        if self.integer and not (self.minimum.is_integer() and self.maximum.is_integer()):
            raise ValueError(f"a scale of whole numbers has whole ends, not {self.minimum:g} and {self.maximum:g}")
        return self

    @property
    def values(self) -> dict[str, float]:
        """The scores of the ratings, if the scale is short; else empty."""
        return {str(rating): self._score(rating) for rating in self._ratings}

    @property
    def passing_score(self) -> float:
        """The score from which answers pass."""
        return self._score(self.pass_mark)

    def from_score(self, threshold: float) -> "Scale":
        """Return the scale with the pass mark at a score."""
        mark = self.minimum + threshold * (self.maximum - self.minimum)
        return self.model_copy(update={"pass_mark": min(mark, self.maximum)})

    def read(self, value: object) -> Choice | Unreadable:
        """Return the rating that a value of JSON is, or why it is not one."""
        number = json.loads(value.strip()) if isinstance(value, str) and _NUMBER.fullmatch(value.strip()) else value
        kinds = int if self.integer else int | float
        # The comparison is false for NaN.
        if isinstance(number, bool) or not isinstance(number, kinds) or not self.minimum <= number <= self.maximum:
            return Unreadable(f"the answer must be {self.instruction}", _for_message(value))
        number += 0  # -0.0 becomes 0.0
        score = self._score(number)
        return Choice(json.dumps(number), passes(score, self.passing_score), None, score)

    @property
    def schema_part(self) -> dict[str, Any]:
        """The answer in a JSON schema."""
        if self._ratings:
            return {"type": "integer", "enum": list(self._ratings)}
        return {"type": "integer" if self.integer else "number", "description": self.instruction}

    @property
    def instruction(self) -> str:
        """The allowed answers, for a prompt."""
        kind = "a whole number without a point" if self.integer else "a number"
        return f"{kind} from {self.minimum:g} (worst) to {self.maximum:g} (best)"

    @property
    def _ratings(self) -> range:
        short = self.integer and self.maximum - self.minimum < _LONGEST_ENUM
        return range(int(self.minimum), int(self.maximum) + 1) if short else range(0)

    def _score(self, rating: float) -> float:
        return (rating - self.minimum) / (self.maximum - self.minimum)


def passes(score: float, threshold: float = 0.5) -> Status:
    """Return PASS for a score that reaches the threshold, else FAIL."""
    return Status.PASS if score >= threshold - ROUNDING else Status.FAIL


def _for_message(value: object) -> str:
    """Return a refused value for the user: a text in quotes, and JSON."""
    text = json.dumps(value, ensure_ascii=False, default=str) if not isinstance(value, str) else f"{value!r}"
    return visible(text, 60)
