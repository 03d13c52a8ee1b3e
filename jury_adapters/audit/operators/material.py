"""Answer that operators change, with everything they look up: its sentences, and the facts of its sources."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from jury_adapters.core.case import Case
from jury_adapters.grounding.names import NameIndex, names
from jury_adapters.grounding.normalisation import looks_english, sentences, tidy, words
from jury_adapters.grounding.number_index import NumberIndex
from jury_adapters.grounding.quantities import quantities


class Mutant(NamedTuple):
    """Changed answer.

    Attributes:
        answer: the whole answer after the change.
        change: the change, for readers: ``"40 km -> 65 km"``.
    """

    answer: str
    change: str


class Sentence(NamedTuple):
    """Sentence of an answer.

    Attributes:
        text: the sentence.
        start: its position in the answer.
    """

    text: str
    start: int

    @property
    def end(self) -> int:
        """Position of the first character after the sentence."""
        return self.start + len(self.text)


@dataclass(frozen=True, eq=False)
class Material:
    """Case whose answer is right, and sentences of other cases.

    Attributes:
        case: the case; it has an answer and contexts.
        foreign: sentences of the answers of other cases.
    """

    case: Case
    foreign: Sequence[str] = ()

    @property
    def answer(self) -> str:
        """The answer; empty if the case has none."""
        return self.case.answer or ""

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """The sentences of the answer with their positions."""
        return tuple(sentences_of(self.answer))

    @cached_property
    def source(self) -> str:
        """Everything that the answer may rest on: the question and the contexts."""
        return tidy("\n".join([self.case.question or "", *self.case.contexts]))

    @cached_property
    def lower_source(self) -> str:
        """The source in lower case."""
        return self.source.lower()

    @cached_property
    def numbers(self) -> NumberIndex:
        """The numbers and dates of the source."""
        return NumberIndex(self.source)

    @cached_property
    def names(self) -> NameIndex:
        """The names of the source."""
        return NameIndex(self.source)

    @cached_property
    def is_english(self) -> bool:
        """Whether the answer is English; rules about words apply to English alone.

        An answer without the small words of English, such as a table, counts if it has none of another language, and
        most of its words are those of an English source.
        """
        if looks_english(self.answer):
            return True
        said = set(words(self.answer))
        return (
            looks_english(self.source)
            and not said & _OTHER_LANGUAGES
            and len(said & set(words(self.source))) > len(said) / 2
        )

    @cached_property
    def statements(self) -> frozenset[int]:
        """Positions of the sentences that are neither negated nor questions."""
        return frozenset(
            one.start for one in self.sentences
            if not NEGATION.search(one.text) and not one.text.rstrip().endswith("?")
        )  # fmt: skip

    def sentence_at(self, position: int) -> Sentence | None:
        """Return the sentence that contains a position of the answer."""
        return next((one for one in self.sentences if one.start <= position < one.end), None)

    def replaced(self, start: int, end: int, text: str, change: str = "") -> Mutant:
        """Return the answer with one passage replaced."""
        old = self.answer[start:end]
        return Mutant(self.answer[:start] + text + self.answer[end:], change or f"{old} -> {text}")

    def has_number(self, text: str) -> bool:
        """Return whether the source states every number and date of a text, or a number that one of them rounds."""
        return all(self.numbers.covers(found) for found in quantities(text))

    def has_facts(self, sentence: str) -> bool:
        """Return whether the source has all names and numbers of a sentence."""
        return self.has_number(sentence) and not any(self.names.missing(name) for name in names(tidy(sentence)))


def sentences_of(text: str) -> Iterable[Sentence]:
    """Yield the sentences of a text with their positions."""
    position = 0
    for sentence in sentences(text):
        start = text.find(sentence, position)
        if start >= 0:
            position = start + len(sentence)
            yield Sentence(sentence, start)


def text_before(text: str, position: int) -> str:
    """Return the text just before a position, as far as the patterns for what stands before a number reach."""
    return text[max(0, position - NEAR) : position]


NEAR = 80
"""Characters beside a number in which a bound or the start of a range is looked for."""

NEGATION = re.compile(
    r"\b(?:no|not|never|neither|nor|none|nobody|nothing|without|cannot|nowhere)\b|n't\b", re.IGNORECASE
)
"""Words that negate. The change of a fact in a negated statement may leave it true."""

BOUND = re.compile(
    r"\b(?:at (?:least|most|the (?:latest|earliest))|(?:more|less|fewer|other|later|earlier|longer|higher|lower|rather)"
    r" than|over|under|up to|within|below|above|beyond|exceed\w*|minimum|maximum|min\.|max\.|before|after|until|till|"
    r"by|(?:the )?(?:first|last|top|next|past|previous)|can|may|able|enough|room for|"
    r"since|from|between|through|if|unless|when|whenever|once|every|or|limit\w*|than|only)\b[^.;,]{0,24}$",
    re.IGNORECASE,
)
"""Words before a number or a date after which another value may be implied by the right one, as in *at least 40*."""

BOUND_AFTER = re.compile(
    r"^[\s\w%°€$£-]{0,18}\b(?:or (?:more|less|fewer|above|below|over|under|older|younger|longer|later|earlier)|"
    r"and (?:above|over|older|under|younger|more)|to|through|at (?:least|most)|maximum|minimum)\b|"
    r"^\s?(?:[-–—+/]|to\b|and \d|or \d|hours a day\b|days a week\b)",  # noqa: RUF001
    re.IGNORECASE,
)
"""Words after a number that make it a bound or the end of a range."""

_OTHER_LANGUAGE_WORDS = """
    der das und ist nicht eine einen dem les est une dans qui el las una por che della het een zijn não uma och att är
"""
_OTHER_LANGUAGES = frozenset(_OTHER_LANGUAGE_WORDS.split())
PART_OF_NUMBER = re.compile(
    r"\b(?:hundred|thousand|million|one|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|and)[\s-]$", re.IGNORECASE
)
"""Words before a number word that belong to the same number."""
