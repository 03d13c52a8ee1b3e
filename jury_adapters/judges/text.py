"""Ready-made checks of the answer's text: no model, no network.

Each is a small frozen dataclass and a :class:`~jury_adapters.core.judge.Judge`, so ``NotEmpty() & ValidJSON()``
works, and so does any jury. Each abstains if there is no answer; only :class:`NotEmpty` fails then.

``Matches`` and ``ValidJSON(schema=...)`` need the extra ``checks``.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError, plain_repr, unknown
from jury_adapters.core.formatting import counted
from jury_adapters.core.hidden_characters import is_blank
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import PASS_OR_FAIL, Finding, Judgment, Status, abstain, broken
from jury_adapters.core.strict_json import unique_keys
from jury_adapters.core.values import JsonValue
from jury_adapters.judges.equality import json_difference, not_json, short, text_difference
from jury_adapters.judges.json_schema import SchemaValidator
from jury_adapters.judges.patterns import check_pattern_timeout, compile_pattern

if TYPE_CHECKING:
    import regex
    from jsonschema import ValidationError

__all__ = ["Contains", "Equals", "LengthBetween", "Matches", "NotEmpty", "ValidJSON"]


@dataclass(frozen=True)
class NotEmpty(Judge):
    """The answer, or another field, is not blank or has an image. A missing field fails too.

    White space and characters that a reader does not see, such as a zero-width space, are blank.
    With ``of="contexts"``, it keeps a jury from passing a case without contexts because all other jurors abstain.

    Args:
        name: the check's name in verdicts.
        of: the field to check: ``"answer"``, ``"contexts"``, ``"question"`` or ``"reference"``.

    Raises:
        ConfigurationError: the field is another one.

    >>> NotEmpty().judge(question="Who?", answer="  ").status
    <Status.FAIL: 'FAIL'>
    """

    opinion_statuses = PASS_OR_FAIL
    name: str = "NotEmpty"
    of: Literal["answer", "contexts", "question", "reference"] = "answer"

    def __post_init__(self) -> None:
        if self.of not in _NOT_EMPTY:
            raise ConfigurationError(unknown("of=", self.of, _NOT_EMPTY))

    @property
    def required_fields(self) -> tuple[str, ...]:
        return (self.of,)

    def assess(self, case: Case) -> Judgment:
        missing, blank, there = _NOT_EMPTY[self.of]
        if any(image.field == self.of for image in case.attachments):
            return Judgment(Status.PASS, reasoning=f"{there}, with an image")
        texts = case.contexts if self.of == "contexts" else (getattr(case, self.of),)
        if all(text is None for text in texts):
            return Judgment(Status.FAIL, reasoning=missing)
        passes = any(text is not None and not is_blank(text) for text in texts)
        return Judgment(Status.PASS if passes else Status.FAIL, reasoning=there if passes else blank)


_NOT_EMPTY = {
    "answer": ("there is no answer", "the answer is blank", "there is an answer"),
    "contexts": ("there are no contexts", "the contexts are blank", "there are contexts"),
    "question": ("there is no question", "the question is blank", "there is a question"),
    "reference": ("there is no reference", "the reference is blank", "there is a reference"),
}


@dataclass(frozen=True)
class Contains(Judge):
    """The answer contains a text, or several; one check for each.

    A letter with an accent is the same in one character and in two (Unicode NFC and NFD).

    Args:
        texts: the text to look for, or a sequence of texts.
        need: ``"all"`` (default) or ``"any"`` of them.
        ignore_case: compare without regard to upper and lower case.
        name: the check's name in verdicts.

    Raises:
        ConfigurationError: there is no text, a text is empty, or ``need`` is unknown.

    >>> Contains(["Paris", "Rome"], need="any", ignore_case=True).judge(answer="It is PARIS.").status
    <Status.PASS: 'PASS'>
    """

    opinion_statuses = PASS_OR_FAIL
    required_fields = ("answer",)
    texts: str | Sequence[str]
    need: Literal["all", "any"] = "all"
    ignore_case: bool = False
    name: str = "Contains"

    def __post_init__(self) -> None:
        texts = (self.texts,) if isinstance(self.texts, str) else tuple(self.texts)
        if not texts or not all(isinstance(text, str) and text for text in texts):
            raise ConfigurationError(
                f"Contains needs one or more texts that are not empty, not {plain_repr(self.texts)}"
            )
        if self.need not in ("all", "any"):
            raise ConfigurationError(unknown("need", self.need, ("all", "any")))
        object.__setattr__(self, "texts", texts)

    def assess(self, case: Case) -> Judgment:
        if case.answer is None:
            return abstain(_NO_ANSWER)
        answer = _composed(case.answer, self.ignore_case)
        findings = [
            Finding(f"contains {short(text)!r}", _composed(text, self.ignore_case) in answer) for text in self.texts
        ]
        found, missing = (
            [short(text) for text, finding in zip(self.texts, findings, strict=True) if finding.passed is wanted]
            for wanted in (True, False)
        )
        passed = not missing if self.need == "all" else bool(found)
        if not missing:
            reasoning = "contains every text"
        elif passed:
            reasoning = f"contains {', '.join(map(repr, found))}; one is enough"
        else:
            reasoning = f"missing: {', '.join(map(repr, missing))}"
        return Judgment(_status(passed), reasoning=reasoning, findings=tuple(findings))


@dataclass(frozen=True)
class Matches(Judge):
    r"""The answer matches a regular expression, within a time limit.

    The pattern runs in the ``regex`` library (a superset of ``re``), which supports time limits: a pattern that
    takes too long on a hostile answer gives ERROR after ``timeout_s`` and never blocks a batch.

    Args:
        pattern: the regular expression.
        full: the whole answer must match, not just a part of it.
        ignore_case: match without regard to upper and lower case.
        timeout_s: seconds one match may take, 60 at most.
        name: the check's name in verdicts.

    Raises:
        ConfigurationError: the pattern is not valid, the time limit is not positive, or ``regex`` is not installed.

    >>> Matches(r"\d{4}-\d{2}-\d{2}").judge(answer="Due on 2026-03-01.").findings[0].evidence
    '2026-03-01'
    """

    opinion_statuses = PASS_OR_FAIL
    required_fields = ("answer",)
    pattern: str
    full: bool = False
    ignore_case: bool = False
    timeout_s: float = 1.0
    name: str = "Matches"
    _compiled: regex.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_pattern_timeout(self.timeout_s)
        object.__setattr__(self, "_compiled", compile_pattern(self.pattern, "Matches", ignore_case=self.ignore_case))

    def assess(self, case: Case) -> Judgment:
        if case.answer is None:
            return abstain(_NO_ANSWER)
        search = self._compiled.fullmatch if self.full else self._compiled.search
        try:
            match = search(case.answer, timeout=self.timeout_s)
        except TimeoutError:
            return broken(
                "timeout", f"the pattern {short(self.pattern)!r} exceeded its time limit, {self.timeout_s:g} s"
            )
        evidence = match[0][:_MOST_EVIDENCE] if match else ""
        finding = Finding(f"matches {short(self.pattern)!r}", match is not None, evidence=evidence)
        reasoning = "the pattern matches" if match else f"nothing matches {short(self.pattern)!r}"
        return Judgment(_status(match is not None), reasoning=reasoning, findings=(finding,))


@dataclass(frozen=True)
class Equals(Judge):
    r"""The answer equals an expected text, or the case's reference.

    Two JSON objects or arrays are compared by value: the order of keys does not matter, and 1840.0 equals 1840. The
    reason names the places where they differ.

    Args:
        expected: the text to equal; None (default) takes ``case.reference``, and abstains if there is none.
        exact: every character must be the same, also in JSON. By default white space at the ends is dropped and runs
            of it inside count as one space, and a letter with an accent is the same in one character and in two.
        ignore_case: compare without regard to upper and lower case.
        name: the check's name in verdicts.

    >>> Equals().judge(answer="Paris \n", reference="Paris").status
    <Status.PASS: 'PASS'>
    >>> Equals().judge(answer='{"city": "Bonn", "fee": 12.5}', reference='{"fee": 12, "city": "Bonn"}').reasoning
    'fee: expected 12, got 12.5'
    """

    opinion_statuses = PASS_OR_FAIL
    expected: str | None = None
    exact: bool = False
    ignore_case: bool = False
    name: str = "Equals"

    @property
    def required_fields(self) -> tuple[str, ...]:
        return ("answer", "reference") if self.expected is None else ("answer",)

    def assess(self, case: Case) -> Judgment:
        expected = case.reference if self.expected is None else self.expected
        if case.answer is None:
            return abstain(_NO_ANSWER)
        if expected is None:
            return abstain("nothing to compare with: give expected=, or a case with a reference")
        if self._form(case.answer) == self._form(expected):
            return Judgment(Status.PASS, reasoning="equals the expected text")
        difference = None if self.exact else json_difference(expected, case.answer, self._form)
        if difference == "":
            return Judgment(Status.PASS, reasoning="equals the expected JSON by value")
        texts = map(self._spaced, (expected, case.answer))
        return Judgment(Status.FAIL, reasoning=difference or text_difference(*texts, ignore_case=self.ignore_case))

    def _spaced(self, text: str) -> str:
        return text if self.exact else " ".join(text.split())

    def _form(self, text: str) -> str:
        text = self._spaced(text)
        if not self.exact:
            return _composed(text, self.ignore_case)
        return text.casefold() if self.ignore_case else text


@dataclass(frozen=True)
class ValidJSON(Judge):
    """The answer is JSON and, if a schema is given, fits it; one check for each place that does not fit.

    It is as strict as the programs that read the answer: NaN and Infinity are not JSON, and an object that has a key
    twice fails, because readers disagree about which value counts. Text around the JSON fails; see ``fenced``.

    Args:
        schema: a JSON Schema (a mapping, or True or False), of the draft its ``$schema`` names, by default 2020-12.
            A ``$ref`` is resolved within the schema only and never fetched. Its patterns are those of :class:`Matches`.
            ``format`` is not checked.
        fenced: also accept the JSON inside one Markdown code fence, as chat models often write it.
        timeout_s: seconds the schema may take for one answer, 60 at most; then the judgment is ERROR ``timeout``.
        name: the check's name in verdicts.

    Raises:
        ConfigurationError: the schema is not valid, refers to another document, mixes drafts, or has
            ``unevaluatedProperties`` as well as ``patternProperties``; or the time limit is not positive, or
            ``jsonschema`` is not installed.

    >>> ValidJSON(schema={"required": ["city"]}).judge(answer='{"town": "Bonn"}').reasoning
    "does not fit the schema: $: 'city' is a required property"
    """

    opinion_statuses = PASS_OR_FAIL
    required_fields = ("answer",)
    schema: Mapping[str, JsonValue] | bool | None = field(default=None, hash=False)
    fenced: bool = False
    timeout_s: float = 1.0
    name: str = "ValidJSON"
    _validator: SchemaValidator | None = field(init=False, repr=False, compare=False, default=None)

    def __post_init__(self) -> None:
        check_pattern_timeout(self.timeout_s)
        if self.schema is not None:
            object.__setattr__(self, "schema", deepcopy(self.schema))  # the caller may change theirs later
            object.__setattr__(self, "_validator", SchemaValidator(self.schema))

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_validator": None}  # a validator cannot be pickled, but is made again

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        if self.schema is not None:
            object.__setattr__(self, "_validator", SchemaValidator(self.schema))

    def assess(self, case: Case) -> Judgment:
        if case.answer is None:
            return abstain(_NO_ANSWER)
        fence = _FENCE.fullmatch(case.answer.strip()) if self.fenced else None
        try:
            value = json.loads(
                fence[1] if fence else case.answer, parse_constant=not_json, object_pairs_hook=unique_keys
            )
        except (ValueError, RecursionError) as error:
            problem = "nested too deeply to be read" if isinstance(error, RecursionError) else str(error)
            return Judgment(Status.FAIL, reasoning=f"not JSON: {problem}", findings=(Finding("JSON", False, problem),))
        try:
            errors = self._errors(value)
        except TimeoutError:
            return broken("timeout", f"the schema exceeded its time limit, {self.timeout_s:g} s")
        except RecursionError:
            return broken("recursion", "the schema refers to itself without end, or the answer is nested too deeply")
        wrong = [Finding(f"schema {found.json_path}"[:80], False, found.message[:_MOST_EVIDENCE]) for found in errors]
        findings = (Finding("JSON", True), *wrong)
        if wrong:
            reasoning = f"does not fit the schema: {wrong[0].name.removeprefix('schema ')}: {wrong[0].detail}"
            return Judgment(Status.FAIL, reasoning=reasoning, findings=findings)
        fits = " and fits the schema" if self._validator is not None else ""
        return Judgment(Status.PASS, reasoning=f"the answer is JSON{fits}", findings=findings)

    def _errors(self, value: JsonValue) -> Sequence[ValidationError]:
        if self._validator is None:
            return ()
        return self._validator.errors(value, seconds=self.timeout_s, most=_MOST_ERRORS)


@dataclass(frozen=True)
class LengthBetween(Judge):
    """The answer's length is between two bounds, both included.

    Args:
        minimum: the minimum length.
        maximum: the maximum length; None for no bound.
        unit: ``"characters"`` (default; Unicode code points) or ``"words"`` (runs without white space).
        name: the check's name in verdicts.

    Raises:
        ConfigurationError: a bound is negative, ``minimum`` is above ``maximum``, or the unit is unknown.

    >>> LengthBetween(1, 3, unit="words").judge(answer="Paris, in France").status
    <Status.PASS: 'PASS'>
    """

    opinion_statuses = PASS_OR_FAIL
    required_fields = ("answer",)
    minimum: int = 0
    maximum: int | None = None
    unit: Literal["characters", "words"] = "characters"
    name: str = "LengthBetween"

    def __post_init__(self) -> None:
        if self.unit not in ("characters", "words"):
            raise ConfigurationError(unknown("unit", self.unit, ("characters", "words")))
        if self.minimum < 0 or (self.maximum is not None and self.maximum < self.minimum):
            raise ConfigurationError(
                f"LengthBetween needs 0 <= minimum <= maximum, not {self.minimum} and {self.maximum}"
            )

    def assess(self, case: Case) -> Judgment:
        if case.answer is None:
            return abstain(_NO_ANSWER)
        length = len(case.answer) if self.unit == "characters" else len(case.answer.split())
        passed = self.minimum <= length and (self.maximum is None or length <= self.maximum)
        upper = "" if self.maximum is None else f" and at most {self.maximum}"
        has = counted(length, "character" if self.unit == "characters" else "word")
        return Judgment(_status(passed), reasoning=f"{has}; asked for at least {self.minimum}{upper}")


_NO_ANSWER = "there is no answer to check"
_MOST_EVIDENCE = 300  # characters
_MOST_ERRORS = 20  # reported places where one answer does not fit its schema
_FENCE = re.compile(r"```[A-Za-z0-9]*[ \t]*\n(.*)\n[ \t]*```", re.DOTALL)


def _composed(text: str, ignore_case: bool) -> str:
    """Return a text with each accented letter as one character, and without case if that is ignored."""
    text = unicodedata.normalize("NFC", text)
    return unicodedata.normalize("NFC", text.casefold()) if ignore_case else text


def _status(passed: bool) -> Status:
    return Status.PASS if passed else Status.FAIL
