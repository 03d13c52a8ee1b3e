"""Checks of the answer's text. All but :class:`NotEmpty` abstain if there is no answer."""

import json
import re
from abc import abstractmethod
from collections import Counter
from typing import Literal
from unicodedata import decomposition, normalize

from jury_adapters.core.case import Case
from jury_adapters.core.judge import Returned
from jury_adapters.core.judgment import Finding, Judgment, Status, abstain
from jury_adapters.core.text import visible
from jury_adapters.core.values import Share
from jury_adapters.judges.options import NO_ANSWER, DeclaredCheck, Flag, OfAnswer, Texts, Whole, declared
from jury_adapters.judges.schema import matcher, read_json

_SHORT = 60  # characters of a text in a reason


@declared
class _OfReference(DeclaredCheck):
    """Base of checks that compare the answer with an expected text, or with the reference."""

    expected: str | None = None

    def check(self, case: Case) -> Returned:
        expected = case.reference if self.expected is None else self.expected
        if expected is None:
            return abstain("there is nothing to compare with: give expected=, or a case with a reference")
        return NO_ANSWER if case.answer is None else self.compare(case.answer, expected)

    @abstractmethod
    def compare(self, answer: str, expected: str) -> Returned:
        """Judge an answer by what is expected."""


@declared
class NotEmpty(DeclaredCheck):
    """The answer, or another field, is not blank, or has an image. A missing field fails.

    Spaces of any kind and characters that show nothing, such as a zero-width space, are blank. With ``of="contexts"``
    it keeps a jury from passing a case without contexts because all other jurors abstain.

    Args:
        of: the field: ``answer``, ``contexts``, ``question`` or ``reference``.
        name: the name in verdicts.

    >>> NotEmpty().judge(question="Who?", answer="  ").status.value
    'FAIL'
    """

    of: Literal["answer", "contexts", "question", "reference"] = "answer"

    def check(self, case: Case) -> Returned:
        found = getattr(case, self.of)
        texts = found if isinstance(found, tuple) else (found or "",)
        shown = any(image.part == self.of.removesuffix("s") for image in case.images)
        there = shown or any(char.isprintable() and not char.isspace() for text in texts for char in text)
        return there, f"the field {self.of!r} is {'not blank' if there else 'blank or missing'}"


@declared
class Contains(OfAnswer):
    """The answer contains texts; with a finding for each.

    Runs of white space count as one space, and a letter with an accent is the same in one character and in two.

    Args:
        texts: the text to look for, or several.
        need: ``all`` of them, ``any`` of them, or ``none``.
        ignore_case: compare without regard to upper and lower case.
        ignore_width: full-width and half-width forms of a character are the same.
        name: the name in verdicts.

    Raises:
        ConfigurationError: there is no text, or an option is wrong.

    >>> Contains(["Paris", "Rome"], need="any", ignore_case=True).judge(answer="It is PARIS.").status.value
    'PASS'
    """

    texts: Texts
    need: Literal["all", "any", "none"] = "all"
    ignore_case: Flag = False
    ignore_width: Flag = False

    def read(self, answer: str) -> Returned:
        options = {"ignore_case": self.ignore_case, "ignore_width": self.ignore_width}
        found = {text: form(text, **options) in said for said in [form(answer, **options)] for text in self.texts}
        passed = all(found.values()) if self.need == "all" else any(found.values()) is (self.need == "any")
        findings = [
            Finding(name=f"contains '{visible(text, _SHORT)}'", passed=there is not (self.need == "none"))
            for text, there in found.items()
        ]
        missing = [f"'{visible(text, _SHORT)}'" for text, there in found.items() if not there]
        return Judgment(
            status=Status.PASS if passed else Status.FAIL,
            reasoning=f"{len(found) - len(missing)} of {len(found)} texts found"
            + (f"; not found: {', '.join(missing)}" if missing else ""),
            findings=tuple(findings),
        )


@declared
class Matches(OfAnswer):
    r"""The answer matches a regular expression, in time in proportion to its length.

    The expressions are those of Rust's ``regex``: the usual ones, without look-around and back-references.

    Args:
        pattern: the regular expression.
        full: the whole answer must match, not just a part of it.
        ignore_case: match without regard to upper and lower case.
        name: the name in verdicts.

    Raises:
        ConfigurationError: the pattern is not valid.

    >>> Matches(r"\d{4}-\d{2}-\d{2}").judge(answer="Due on 2026-03-01.").status.value
    'PASS'
    """

    pattern: str
    full: Flag = False
    ignore_case: Flag = False

    def __post_init__(self) -> None:
        super().__post_init__()
        matcher(self.pattern)
        whole = rf"\A(?:{self.pattern})\z" if self.full else self.pattern
        self._whole = f"(?i){whole}" if self.ignore_case else whole

    def read(self, answer: str) -> Returned:
        found = matcher(self._whole).isinstance_python(answer)
        return found, f"it {'matches' if found else 'does not match'} '{visible(self.pattern, _SHORT)}'"


@declared
class Equals(_OfReference):
    """The answer equals an expected text, or the reference.

    White space at the ends does not count, and runs of it inside count as one space; a letter with an accent is the
    same in one character and in two. Two JSON objects or arrays are compared by value: the order of keys does not
    matter, and 1840.0 equals 1840.

    Args:
        expected: the text; None takes the reference of the case, and abstains if there is none.
        exact: white space, accents and JSON are compared as they are written.
        ignore_case: compare without regard to upper and lower case.
        ignore_width: full-width and half-width forms are the same.
        name: the name in verdicts.

    >>> Equals().judge(answer='{"city": "Bonn", "fee": 12.0}', reference='{"fee": 12, "city": "Bonn"}').status.value
    'PASS'
    """

    exact: Flag = False
    ignore_case: Flag = False
    ignore_width: Flag = False

    def compare(self, answer: str, expected: str) -> Returned:
        options = {"exact": self.exact, "ignore_case": self.ignore_case, "ignore_width": self.ignore_width}
        pair = [form(text if self.exact else _canonical(text).strip(), **options) for text in (expected, answer)]
        differs = next((place for place, (one, other) in enumerate(zip(*pair, strict=False)) if one != other), 0)
        start = max(0, differs - 20)
        wanted, found = (f"'{'…' if start else ''}{visible(text[start:], _SHORT)}'" for text in pair)
        return pair[0] == pair[1], "" if pair[0] == pair[1] else f"expected {wanted}, found {found}"


@declared
class Similar(_OfReference):
    """The answer has the words of an expected text, or of the reference. The score is their F1, 0..1.

    F1 is the harmonic mean of the share of the answer's words that the reference has and the share of the reference's
    words that the answer has (Rajpurkar et al. 2016, SQuAD), without regard to case, width, marks and order. In scripts
    without spaces, each character counts as a word. It compares words and not meanings.

    Args:
        expected: the text; None takes the reference of the case, and abstains if there is none.
        threshold: the lowest F1 that passes, 0..1.
        name: the name in verdicts.

    Raises:
        ConfigurationError: the threshold is not in 0..1.

    >>> Similar().judge(answer="It stopped in 2018.", reference="It stopped running in 2018").score
    0.8888888888888888
    """

    threshold: Share = 0.5

    def compare(self, answer: str, expected: str) -> Returned:
        found, wanted = (Counter(_words(text)) for text in (answer, expected))
        common = (found & wanted).total()
        if not wanted:
            return abstain("the expected text has no word")
        return 2 * common / (found.total() + wanted.total()), f"{common} words are in both"


@declared
class LengthBetween(OfAnswer):
    """The answer's length is between two bounds, both included.

    Args:
        minimum: the shortest length.
        maximum: the longest length; None for no bound.
        unit: ``characters`` (Unicode code points) or ``words`` (runs without white space).
        name: the name in verdicts.

    Raises:
        ConfigurationError: a bound is negative, or ``minimum`` is above ``maximum``.

    >>> LengthBetween(1, 3, unit="words").judge(answer="Paris, in France").status.value
    'PASS'
    """

    minimum: Whole = 0
    maximum: Whole | None = None
    unit: Literal["characters", "words"] = "characters"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.maximum is not None and self.maximum < self.minimum:
            raise ValueError(f"minimum={self.minimum} is above maximum={self.maximum}")

    def read(self, answer: str) -> Returned:
        length = len(answer if self.unit == "characters" else answer.split())
        upper = "" if self.maximum is None else f" and at most {self.maximum}"
        reason = f"it has {length} {self.unit}; asked for at least {self.minimum}{upper}"
        return self.minimum <= length <= (length if self.maximum is None else self.maximum), reason


def form(text: str, *, exact: bool = False, ignore_case: bool = False, ignore_width: bool = False) -> str:
    r"""Return a text in the form in which it is compared: composed characters, and one space for a run of spaces.

    >>> form("Cafe\u0301  10\u00a0km") == "Caf\u00e9 10 km"
    True
    """
    if ignore_width:
        text = "".join(
            normalize("NFKC", char) if decomposition(char).startswith(("<wide>", "<narrow>")) else char for char in text
        )
    text = (text if exact else normalize("NFD", text)).casefold() if ignore_case else text
    return text if exact else normalize("NFC", re.sub(r"\s+", " ", text))


def _canonical(text: str) -> str:
    """Return a JSON object or array in one form; another text as it is."""
    try:
        found = read_json(text)
    except ValueError:
        return text
    return json.dumps(found, sort_keys=True, ensure_ascii=False) if isinstance(found, dict | list) else text


# Words, and single characters of the scripts that have no spaces: Thai to Tibetan, Burmese, Khmer, Chinese, Japanese.
_WORD = re.compile(
    "[^\\W_\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+|[^\\W_]"
)


def _words(text: str) -> list[str]:
    return _WORD.findall(form(text, ignore_case=True, ignore_width=True))
