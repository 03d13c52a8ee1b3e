"""Contexts of a case, read once and indexed: sentences, words, names, numbers.

With the index, a search takes time by the length of the query, not of the contexts.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from jury_adapters.grounding.codes import CodeIndex
from jury_adapters.grounding.exact_words import HARD, exact_clauses, exact_words
from jury_adapters.grounding.languages import reads_english, script
from jury_adapters.grounding.months import is_dotted_date
from jury_adapters.grounding.names import NameIndex
from jury_adapters.grounding.normalisation import GLUED, WORD, bigrams, content, sentences, tidy, words
from jury_adapters.grounding.number_index import NumberIndex, range_ends
from jury_adapters.grounding.quantities import Marks, Quantity, quantities

_MOST_PLACES = 50  # an n-gram in more sentences than this does not help to find a place
_CANDIDATES = 3  # number of best places that are compared in full
# Marks without content: the number or bullet of a list item, and citation marks such as [1] or [2, 3].
_MARKS = re.compile(
    rf"^[ \t]{{0,8}}(?:(?:\(?\d{{1,2}}[.)]|[-*•])[ \t]{{1,4}}(?=[^\s\d])|\(?\d{{1,2}}[.)、](?=[{GLUED}]))"
    r"|\[\d{1,3}(?:, ?\d{1,3}){0,9}\]",
    re.MULTILINE,
)
# The same within a line: the label of a step ("Step 2: ...") or "2) ..." at the start of a sentence.
_STEP = "(?:step |手順 ?|ステップ ?|步骤 ?|步驟 ?|단계 ?|第)"
_LABEL = re.compile(
    rf"^\W{{0,6}}(?:{_STEP}\d{{1,2}}步?(?:\W{{0,4}}[:.)-](?!\d))|\(?\d{{1,2}}\)(?= ))\W{{0,6}}", re.IGNORECASE
)
# The number of a section or paragraph; not a number that the sentence begins with.
_NUMBERING = re.compile(
    r"^\W{0,4}(?:(?:§|art(?:icle|\.)?|rule|section|step|no\.) ?\d[\d.]{0,8}[:.)]?|\(?\d{1,2}\)|"
    r"\d{1,2}(?:\.\d{1,2}){1,3}\.?)[ \t]{1,3}(?=(?-i:[A-Z]))",
    re.IGNORECASE,
)
_CIRCLED = re.compile("[\u2460-\u249b\u24ea-\u24ff\u2776-\u2793]")  # ① to ⒛, ⓪, ❶
_LETTER = re.compile(r"[^\W_]")
_LONGEST = 200  # words; longer sentences are cut, so that comparing one place stays cheap


@dataclass(frozen=True, slots=True)
class Measure:
    """Number, date or measure of an answer or question, and the stems of its words."""

    asked: Quantity
    stems: frozenset[str]


@dataclass(frozen=True, slots=True)
class Support:
    """Best place of the contexts for a sentence.

    Attributes:
        share: the weighted share of the sentence's words that it has.
        line: its middle sentence.
        stated: the stems of numbers and measures that it states in other words.
    """

    share: float = 0.0
    line: str = ""
    stated: frozenset[str] = frozenset()


@dataclass(slots=True)
class Passages:
    """Contexts with a search index.

    Attributes:
        text: all contexts, tidied, one after another.
        marks: what a comma or full stop before three digits means in them.
        lines: their sentences; those of more than some 200 words in pieces.
        tokens: the words of each line.
    """

    text: str
    marks: Marks = "thousands"
    lines: list[str] = field(default_factory=list)
    tokens: list[list[str]] = field(default_factory=list)
    _exact: defaultdict[tuple[str, ...], list[str]] = field(default_factory=lambda: defaultdict(list))
    _clauses: dict[int, list[str]] = field(default_factory=dict)
    _places: dict[object, list[int]] = field(default_factory=dict)
    _frequency: Counter[str] = field(default_factory=Counter)
    _content: list[frozenset[str]] = field(default_factory=list)
    _numbers: dict[object, list[int]] | None = None

    def __post_init__(self) -> None:
        for line in sentences(self.text):
            found = words(line)
            self._exact[tuple(found)].append(line)
            pieces = _pieces(line) if len(found) > _LONGEST else [line] if found else []
            self.lines.extend(pieces)
            self.tokens.extend([found] if len(pieces) == 1 else map(words, pieces))
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

    def has(self, line: str) -> bool:
        """Return whether this is exactly one sentence of the contexts, up to marks that change nothing."""
        exact, asks = exact_words(line), line.endswith("?")
        same = self._exact.get(tuple(words(line)), ())
        return any(asks == other.endswith("?") and exact == exact_words(other) for other in same[:_MOST_PLACES])

    def weight(self, term: str) -> float:
        """Return the weight of a stem (IDF over the sentences), which is highest for a stem that occurs nowhere."""
        return math.log(1 + (len(self.lines) + 1) / (self._frequency[term] + 0.5))

    def knows(self, term: str) -> bool:
        """Return whether a stem occurs in the contexts."""
        return term in self._frequency

    def has_word(self, word: str) -> bool:
        """Return whether the contexts have a word in lower case as it is."""
        return word in self._places

    def places(self, found: Sequence[str]) -> list[int]:
        """Return the numbers of the lines most like these words, best first."""
        return self._best(Counter[object](bigrams(list(found))) or Counter[object](found))

    def clauses(self, line: int) -> list[str]:
        """Return the words of a line with their signs, and the ends of its clauses."""
        if line not in self._clauses:
            self._clauses[line] = exact_clauses(_NUMBERING.sub("", self.lines[line]))
        return self._clauses[line]

    def window(self, line: int) -> list[str]:
        """Return the same of a line and its neighbours, because sentences may be split at other places."""
        found: list[str] = []
        for near in range(max(0, line - 1), min(len(self.lines), line + 2)):
            found += [*self.clauses(near), HARD] if near == line or not self.lines[near].endswith("?") else [HARD]
        return found

    def support(self, stems: Sequence[str], measures: Sequence[Measure] = ()) -> Support:
        """Return the weighted share of these stems at the best place of the contexts, and its middle sentence.

        The stems of a number, date or measure that the place states count as there, however they are written.
        """
        weights = {term: self.weight(term) for term in stems}
        total = sum(weights.values())
        best = Support()
        for line in self._best(weights, self._stating(measures, weights)):
            have: frozenset[str] = frozenset().union(*self._content[max(0, line - 1) : line + 2])
            stated = self._stated(line, [measure for measure in measures if not measure.stems <= have])
            share = sum(weight for term, weight in weights.items() if term in have or term in stated) / total
            if share > best.share:
                best = Support(min(share, 1.0), self.lines[line], stated)
        return best

    def states(self, measure: Measure) -> bool:
        """Return whether the contexts state this number, date or measure anywhere."""
        return any(self._stated(line, [measure]) for line in self._stating([measure], {}))

    def _stated(self, line: int, measures: Sequence[Measure]) -> frozenset[str]:
        """Return the stems of the numbers that a line or its neighbours state."""
        near = range(max(0, line - 1), line + 2)
        measures = [measure for measure in measures if self._may_state(near, measure.asked)]
        if not measures:
            return frozenset()
        window = "\n".join(self.lines[max(0, line - 1) : line + 2])
        index = NumberIndex(window, self.marks, loose=False)
        return frozenset().union(*(measure.stems for measure in measures if index.states(measure.asked)))

    def _may_state(self, lines: range, asked: Quantity) -> bool:
        """Return whether these lines can state a number: they have an equal one, or it is a date or a round number."""
        if asked.step or asked.day or asked.unit in ("decade", "century"):
            return True
        numbers = self._lines_of_numbers()
        return any(
            line in lines or len(numbers[key]) > _MOST_PLACES
            for key in _keys(asked)
            if key in numbers
            for line in numbers[key]
        )

    def _stating(self, measures: Sequence[Measure], weights: Mapping[str, float]) -> dict[int, float]:
        """Return the lines with a number equal to one that the contexts write in other words, and their weights."""
        votes: defaultdict[int, float] = defaultdict(float)
        for measure in measures:
            if all(map(self.knows, measure.stems)):
                continue
            for line in {line for key in _keys(measure.asked) for line in self._lines_of_numbers().get(key, ())}:
                votes[line] += sum(weights.get(term, 0.0) for term in measure.stems)
        return dict(votes)

    def _lines_of_numbers(self) -> dict[object, list[int]]:
        """Return the lines of each value, amount and date; they are read when first asked for."""
        if self._numbers is None:
            found: defaultdict[object, list[int]] = defaultdict(list)
            for number, line in enumerate(self.lines):
                keys: set[object] = {*range_ends(line)}
                for key in keys.union(*map(_keys, quantities(line, self.marks))):
                    if len(found[key]) <= _MOST_PLACES:
                        found[key].append(number)
            self._numbers = dict(found)
        return self._numbers

    def _best(
        self, terms: Mapping[str, float] | Mapping[object, int], stating: Mapping[int, float] | None = None
    ) -> list[int]:
        votes: defaultdict[int, float] = defaultdict(float, stating or {})
        for term, weight in terms.items():
            entries = self._places.get(term, ())
            if len(entries) <= _MOST_PLACES or len(terms) <= _CANDIDATES:
                for line in entries:
                    votes[line] += weight
        return sorted(votes, key=lambda line: (-votes[line], line))[:_CANDIDATES]


def _pieces(line: str) -> list[str]:
    """Return a long line in pieces of some 200 words."""
    ends = [word.end() for word in WORD.finditer(line)][_LONGEST - 1 :: _LONGEST]
    return [piece for start, end in zip([0, *ends], [*ends, len(line)], strict=True) if words(piece := line[start:end])]


def _keys(quantity: Quantity) -> set[object]:
    return {*quantity.readings, *quantity.parts, *quantity.amounts, *quantity.day}


@dataclass(frozen=True, slots=True)
class Source:
    """Sources of an answer: the contexts and, for names and numbers, the question and what the user said before it.

    Attributes:
        passages: the contexts.
        names: the names in contexts and question.
        numbers: the numbers in contexts and question.
        codes: the codes of letters and digits in contexts and question.
        english: whether contexts and question read as English prose.
        compares_names: whether the names of the answer can be compared with these; not if the answer is in another
            language.
        reads_number_words: whether numbers in words of the contexts are read: in English, Chinese and Japanese.
        other_language: whether the answer is in another language than the contexts.
    """

    passages: Passages
    names: NameIndex
    numbers: NumberIndex
    codes: CodeIndex
    english: bool
    compares_names: bool
    reads_number_words: bool = True
    other_language: bool = False

    @property
    def marks(self) -> Marks:
        """Meaning of a comma or full stop before three digits in the answer, read generously."""
        return "english" if self.compares_names else "any"

    @property
    def support_marks(self) -> Marks:
        """Meaning of a comma or full stop before three digits in the answer, where numbers count as support."""
        return "english" if self.compares_names else "thousands"


# All jurors of the screen ask for the same case, one after the other; more entries would only use memory.
@lru_cache(maxsize=4)
def read_source(contexts: tuple[str, ...], question: str, earlier: tuple[str, ...] = ()) -> Source:
    """Read contexts, question, and what the user said before it. The last few results are cached."""
    text = "\n".join(tidy(context) for context in contexts)
    known = "\n".join((text, *map(tidy, earlier), tidy(question)))
    english = reads_english(text, tidy(question))
    passages = Passages(text, "english" if english else "thousands")
    numbers = NumberIndex(known)
    names = NameIndex(known, frozenset(numbers.months()))
    codes = CodeIndex(known)
    return Source(passages, names, numbers, codes, english, english, english or script(passages.text) == "han")


@lru_cache(maxsize=4)
def read_sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of an answer, tidied and without list marks. The last few results are cached."""
    text = tidy(_CIRCLED.sub(" ", text)) if not text.isascii() else tidy(text)
    one = sum(mark[0][-1] in " \t" for mark in _MARKS.finditer(text)) < 2  # "1. September 2024" alone is not a list
    text = _MARKS.sub(lambda mark: mark[0] if one and is_dotted_date(text, mark.start()) else "", text)
    found = [line for line in sentences(text) if _LETTER.search(line)]
    lines = [_LABEL.sub("", line) for line in found]
    if found and not _LETTER.search(lines[-1]):
        lines[-1] = found[-1]  # the answer is "Step 2."
    return tuple(line for line in lines if _LETTER.search(line))


def common_length(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the longest common subsequence of words.

    Bit-parallel (Hyyrö 2004): one integer contains a row of the table, so a word costs a few operations on it
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
