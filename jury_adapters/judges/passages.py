"""The contexts of a case, read once and ready to be searched: sentences, words, names, numbers.

Everything is indexed, so that searching takes time by the length of what is asked, not of what is searched.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from jury_adapters.judges.names import NameIndex
from jury_adapters.judges.normalise import bigrams, content, looks_english, sentences, tidy, words
from jury_adapters.judges.quantities import NumberIndex

_MOST_PLACES = 50  # an n-gram that stands in more sentences than this tells nothing about where to look
_CANDIDATES = 3  # how many of the best places are compared in full
# What counts the text and says nothing: the number or bullet of a list item, and citation marks such as [1] or [2, 3].
_MARKS = re.compile(
    r"^[ \t]{0,8}(?:\(?\d{1,2}[.)]|[-*•])[ \t]{1,4}(?=[^\s\d])|\[\d{1,3}(?:, ?\d{1,3}){0,9}\]", re.MULTILINE
)
_LETTER = re.compile(r"[^\W_]")
_LONGEST = 200  # words; what runs on without a full stop is cut, so that comparing one place stays cheap


@dataclass(slots=True)
class Passages:
    """Contexts, searchable.

    Attributes:
        text: all contexts, tidied, one under the other.
        lines: their sentences; a longer one than 200 words in pieces.
        tokens: the words of each line.
    """

    text: str
    lines: list[str] = field(default_factory=list)
    tokens: list[list[str]] = field(default_factory=list)
    _exact: set[tuple[str, ...]] = field(default_factory=set)
    _places: dict[object, list[int]] = field(default_factory=dict)
    _frequency: Counter[str] = field(default_factory=Counter)
    _content: list[frozenset[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for line in sentences(self.text):
            found = words(line)
            self._exact.add(tuple(found))
            self.tokens.extend(found[at : at + _LONGEST] for at in range(0, len(found), _LONGEST))
            self.lines.extend(line if len(found) <= _LONGEST else "" for _ in range(0, len(found), _LONGEST))
        self.lines = [line or " ".join(found) for line, found in zip(self.lines, self.tokens, strict=True)]
        places: defaultdict[object, list[int]] = defaultdict(list)
        for number, found in enumerate(self.tokens):
            stems = frozenset(content(found))
            self._content.append(stems)
            self._frequency.update(stems)
            for gram in {*bigrams(found), *stems, *found}:
                entries = places[gram]
                if len(entries) <= _MOST_PLACES:
                    entries.append(number)
        self._places = dict(places)

    def has(self, found: Sequence[str]) -> bool:
        """Whether these words are exactly one sentence of the contexts."""
        return tuple(found) in self._exact

    def weight(self, term: str) -> float:
        """How much a stem tells (IDF over the sentences); a stem that is nowhere tells most."""
        return math.log(1 + (len(self.lines) + 1) / (self._frequency[term] + 0.5))

    def knows(self, term: str) -> bool:
        """Whether a stem stands anywhere in the contexts."""
        return term in self._frequency

    def places(self, found: Sequence[str]) -> list[int]:
        """The numbers of the lines most like these words, best first."""
        return self._best(Counter[object](bigrams(list(found))) or Counter[object](found))

    def window(self, line: int) -> list[str]:
        """The words of a line and of its neighbours: not everyone cuts sentences at the same places."""
        return [word for tokens in self.tokens[max(0, line - 1) : line + 2] for word in tokens]

    def support(self, stems: Sequence[str]) -> tuple[float, str]:
        """The weighted share of these stems that one place of the contexts has, and the sentence in its middle."""
        weights = {term: self.weight(term) for term in stems}
        total = sum(weights.values())
        best, where = 0.0, ""
        for line in self._best(weights):
            have = frozenset().union(*self._content[max(0, line - 1) : line + 2])
            share = sum(weight for term, weight in weights.items() if term in have) / total
            if share > best:
                best, where = share, self.lines[line]
        return min(best, 1.0), where

    def _best(self, terms: Mapping[str, float] | Mapping[object, int]) -> list[int]:
        votes: defaultdict[int, float] = defaultdict(float)
        for term, weight in terms.items():
            entries = self._places.get(term, ())
            if len(entries) <= _MOST_PLACES or len(terms) <= _CANDIDATES:
                for line in entries:
                    votes[line] += weight
        return sorted(votes, key=lambda line: (-votes[line], line))[:_CANDIDATES]


@dataclass(frozen=True, slots=True)
class Source:
    """What an answer may rest on: the contexts and, for names and numbers, the question too."""

    passages: Passages
    names: NameIndex
    numbers: NumberIndex
    english: bool


# Every juror of the screen asks for the same case, one after the other; more than a few would only hold memory.
@lru_cache(maxsize=4)
def read_source(contexts: tuple[str, ...], question: str) -> Source:
    """Read contexts and question; the last few are remembered."""
    passages = Passages("\n".join(tidy(context) for context in contexts))
    known = f"{passages.text}\n{tidy(question)}"
    numbers = NumberIndex(known)
    return Source(passages, NameIndex(known, frozenset(numbers.months())), numbers, looks_english(known))


@lru_cache(maxsize=4)
def read_sentences(text: str) -> tuple[str, ...]:
    """The sentences of an answer, tidied; the last few answers are remembered."""
    return tuple(line for line in sentences(_MARKS.sub("", tidy(text))) if _LETTER.search(line))


def common_length(first: Sequence[str], second: Sequence[str]) -> int:
    """The length of the longest common subsequence of words.

    Bit-parallel (Hyyrö 2004): one whole number holds a row of the table, so a word costs a few operations on it
    instead of one per cell.

    >>> common_length("the cat sat down".split(), "the old cat sat".split())
    3
    """
    masks: defaultdict[str, int] = defaultdict(int)
    for position, word in enumerate(first):
        masks[word] |= 1 << position
    row = full = (1 << len(first)) - 1
    for word in second:
        match = row & masks.get(word, 0)
        row = ((row + match) | (row - match)) & full
    return len(first) - row.bit_count()
