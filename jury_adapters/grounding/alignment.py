"""Alignment: whether a sentence is in the contexts nearly verbatim, with nothing left out that changes what it says."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from jury_adapters.core.judgment import Finding
from jury_adapters.core.negations import negates
from jury_adapters.core.qualifiers import ALSO_ENGLISH, BEFORE_NUMBERS, BOUNDS, HEDGES, PREPOSITIONS
from jury_adapters.grounding.exact_words import HARD, SOFT, exact_words
from jury_adapters.grounding.findings import listed, says_something, short
from jury_adapters.grounding.normalisation import unsegmented, words
from jury_adapters.grounding.passages import Passages, common_length
from jury_adapters.grounding.quantities import NUMBER_WORDS


def aligned(passages: Passages, line: str) -> Finding:
    """Return the check whether one sentence is in the contexts nearly verbatim."""
    name, found = short(line), words(line)
    if passages.has(line):
        return Finding(name, True, "is in the contexts", score=1.0)
    if unsegmented(line):
        return Finding(name, None, "words cannot be separated")
    if not says_something(line):
        return Finding(name, None, "too common to be told from any other text")
    if len(found) > _LONGEST_SENTENCE:
        return Finding(name, None, "too long to be one sentence")
    plain, complete = exact_words(line) or found, line.endswith((".", "!", "?")) and len(found) >= _FEWEST_WORDS
    lists = _IN_ENGLISH if passages.marks == "english" else _IN_OTHERS
    best, detail, where = 0.0, "no place in the contexts is like it", ""
    for number in passages.places(found):
        evidence = passages.lines[number]
        for clauses in (passages.clauses(number), passages.window(number)):
            tokens = [word for word in clauses if word not in (SOFT, HARD)]
            share = common_length(plain, tokens) / len(plain)
            problem = _new_or_turned(plain, tokens, share, lists)
            problem = problem or _left_out(plain, Place.read(clauses, lists, complete=complete))
            if not problem and evidence.endswith("?") and not line.endswith("?"):
                problem = "the contexts ask it"
            if not problem:
                return Finding(name, True, "nearly verbatim", evidence[:_MOST_EVIDENCE], share)
            if share >= best:
                best, detail, where = share, problem, evidence
    return Finding(name, None, detail, where[:_MOST_EVIDENCE], best)


@dataclass(frozen=True, slots=True)
class Lists:
    """Words of other languages than English that qualify a sentence, as far as they count beside a context.

    Attributes:
        bounds: words that narrow their clause.
        hedges: words that weaken or reverse the sentence.
        before_numbers: words that bound the number after them.
        prepositions: words that begin a phrase, English ones included.
    """

    bounds: frozenset[str]
    hedges: frozenset[str]
    before_numbers: frozenset[str]
    prepositions: frozenset[str]

    def narrows(self, word: str) -> bool:
        """Return whether a word narrows, bounds or measures what is said in its clause."""
        return _NARROWS.fullmatch(word) is not None or _is_one_of(word, self.bounds)

    def turns(self, word: str) -> bool:
        """Return whether a word reverses, weakens or reports the sentence around it."""
        return _TURNS.fullmatch(word) is not None or negates(word) or _is_one_of(word, self.hedges)

    def bounds_next(self, word: str) -> bool:
        """Return whether a word bounds the number after it."""
        return word in _BOUNDS or word in self.before_numbers


def _is_one_of(word: str, known: frozenset[str]) -> bool:
    """Return whether a list has a word, or a part of it such as that before the apostrophe of "jusqu'en"."""
    return word in known or ("'" in word and not known.isdisjoint(word.split("'")))


@dataclass(frozen=True, slots=True)
class Place:
    """Place of the contexts: its words, and sets of their positions as the bits of integers.

    Attributes:
        tokens: the words.
        soft: words after a comma, bracket or dash.
        hard: words after a semicolon or colon, or the end of a sentence.
        numbers: numbers, in digits or words.
        kept: words that may not be left out between two words of the answer.
        starts: words at which the answer may start.
        ends: words at which it may end.
    """

    tokens: list[str]
    soft: int
    hard: int
    numbers: int
    kept: int
    starts: int
    ends: int

    @classmethod
    def read(cls, clauses: Sequence[str], lists: Lists, *, complete: bool) -> Place:
        """Read the words of a place and the marks between its clauses.

        Args:
            clauses: the words and marks.
            lists: the words that qualify a sentence.
            complete: whether the answer is a complete sentence. It leaves out no phrase with a preposition, such as
                "with a pacemaker" or "in the first 3 days", which may restrict what it says. A part of a sentence, such
                as "Ann Weber" or "40 euros", says nothing by itself.
        """
        tokens: list[str] = []
        soft = hard = 0
        for word in clauses:
            if word == SOFT:
                soft |= 1 << len(tokens)
            elif word == HARD:
                hard |= 1 << len(tokens)
            else:
                tokens.append(word)
        joints = _JOINTS | lists.prepositions if complete else _JOINTS
        kept = _bits(tokens, lambda word: word in joints or lists.narrows(word) or _is_amount(word))
        starts, ends = _starts(tokens, soft, hard, lists), _ends(tokens, soft, hard, lists)
        if complete:
            starts &= _complete_starts(tokens, soft, hard, lists)
            ends &= _complete_ends(tokens, soft, hard, lists)
        return cls(tokens, soft, hard, _bits(tokens, _is_number), kept, starts, ends)

    def follow(self, reached: int, word: str) -> int:
        """Return the positions of the next word of an answer after those reached, with up to three words left out.

        Left-out words are all that stands between two commas, or of one clause and without a number that is not a
        year. They are not beside a number, because "5 to 7 km" and "more than 40" are not "5 km" and "40".
        """
        here = _bits(self.tokens, word.__eq__)
        found = reached << 1
        open_gap = enclosed = reached & ~self.numbers
        for gap in range(_MOST_LEFT_OUT):
            open_gap = (open_gap << 1) & ~(self.kept | self.hard | self.soft)
            enclosed = (enclosed << 1) & ~self.hard & (self.soft if gap == 0 else -1)
            nexts = ((open_gap << 1) & ~self.soft) | ((enclosed << 1) & self.soft)
            found |= nexts & ~self.numbers & ~self.hard
        return found & here


def _new_or_turned(plain: Sequence[str], tokens: Sequence[str], share: float, lists: Lists) -> str:
    """Return the reason that the words of a sentence and of a place differ, or "" if all are there in this order."""
    known = set(tokens)
    if new := [word for word in plain if word not in known]:
        return f"new here: {listed(new)}"
    left_out = Counter(tokens) - Counter(plain)
    if turned := sorted(word for word in left_out if lists.turns(word)):
        return f"the contexts qualify it: {listed(turned)}"
    if share < 1:
        return f"only {share:.0%} of its words are there in this order"
    return ""


def _left_out(plain: Sequence[str], place: Place) -> str:
    """Return the reason that what is left out of a place may change a sentence, or "" if it does not."""
    reached = _bits(place.tokens, plain[0].__eq__) & place.starts
    if not reached:
        return f"what stands before {plain[0]!r} there may change what it says"
    for before, word in pairwise(plain):
        if not (reached := place.follow(reached, word)):
            return f"what stands between {before!r} and {word!r} there may change what it says"
    return "" if reached & place.ends else f"what stands after {plain[-1]!r} there may change what it says"


def _bits(tokens: Sequence[str], is_set: Callable[[str], bool]) -> int:
    return sum(1 << at for at, word in enumerate(tokens) if is_set(word))


def _starts(tokens: Sequence[str], soft: int, hard: int, lists: Lists) -> int:
    """Return the words before which nothing of the clause is left out that narrows them."""
    starts = 0
    narrowed, before = False, ""
    for at, word in enumerate(tokens):
        begins = bool((soft | hard) >> at & 1)
        if begins or before in _COORDINATORS:
            narrowed = False
            before = "" if begins else before
        if not narrowed and not (_is_number(word) and lists.bounds_next(before)):
            starts |= 1 << at
        narrowed |= lists.narrows(word) or _is_amount(word)
        before = word
    return starts


def _complete_starts(tokens: Sequence[str], soft: int, hard: int, lists: Lists) -> int:
    """Return the words before which no phrase is left out: not the king of "the son of the king died".

    A phrase before a comma counts too: "on Sundays, the shop is closed".
    """
    starts = 0
    restricted, before = False, ""
    for at, word in enumerate(tokens):
        begins = at == 0 or bool((soft | hard) >> at & 1)
        if hard >> at & 1 or before in _COORDINATORS:
            restricted = False
        if not restricted and (begins or before not in lists.prepositions):
            starts |= 1 << at
        restricted |= lists.narrows(word) or _is_amount(word) or (begins and word in lists.prepositions)
        before = word
    return starts


def _ends(tokens: Sequence[str], soft: int, hard: int, lists: Lists) -> int:
    """Return the words after which nothing of the clause is left out that narrows it, nor the unit of a number."""
    ends, narrowed = 0, False
    for at, after, closed in _followed(tokens, soft, hard):
        following = "" if closed else after
        if not following or following in _COORDINATORS:
            narrowed = False
        narrowed |= lists.narrows(following)
        unit_left_out = following and following not in _AFTER_NUMBERS and _BARE.fullmatch(tokens[at])
        if not narrowed and after not in _CONTINUES and (not unit_left_out or _is_year(tokens[at])):
            ends |= 1 << at
    return ends


def _complete_ends(tokens: Sequence[str], soft: int, hard: int, lists: Lists) -> int:
    """Return the words that end their clause, and after which no number and no bound follows in the sentence.

    A bound may stand beyond a comma: "with food, at most twice a day".
    """
    ends, narrowed = 0, False
    for at, after, closed in _followed(tokens, soft, hard):
        if not after or after in _COORDINATORS:
            narrowed = False
        narrowed |= lists.narrows(after) or _is_amount(after)
        if not narrowed and (closed or not after or after in _COORDINATORS):
            ends |= 1 << at
    return ends


def _followed(tokens: Sequence[str], soft: int, hard: int) -> Iterator[tuple[int, str, bool]]:
    """Yield the position of each word, from the last, the word after it in the sentence, and whether a comma is there.

    The word after it is empty for the last word of a sentence.
    """
    for at in reversed(range(len(tokens))):
        after = tokens[at + 1] if at + 1 < len(tokens) and not hard >> (at + 1) & 1 else ""
        yield at, after, bool(soft >> (at + 1) & 1)


def _is_number(word: str) -> bool:
    return _DIGITS.match(word) is not None or word in NUMBER_WORDS


def _is_amount(word: str) -> bool:
    return _is_number(word) and not _is_year(word)


def _is_year(word: str) -> bool:
    return _YEAR.fullmatch(word) is not None


_MOST_EVIDENCE = 300  # characters
_LONGEST_SENTENCE = 300  # words; longer ones pass only if the contexts have them unchanged
_FEWEST_WORDS = 3  # of a sentence with a verb; "Ann Weber." is a part of one
_MOST_LEFT_OUT = 3  # words between two that are adjacent in the answer

# Words that reverse or weaken the sentence around them, or report it; their endings vary, so beginnings are listed.
_TURNS = re.compile(
    r"(?:not|no|none|never|neither|nor|nobody|nothing|nowhere|without|lack(?:s|ed|ing)?|hardly|barely|scarcely|unless|"
    r"if|far|whether|when|whenever|provided|except(?:ing|ions?)?|exclud\w+|instead|otherwise|only|solely|exclusively|may|"
    r"might|could|would|should|perhaps|maybe|possibl[ye]|probabl[ye]|likely|unlikely|almost|nearly|un?able|false|falsely|"
    r"untrue|impossib\w+|so-called|alleged\w*|illegal\w*|unlawful\w*|former\w*|rumou?r\w*|alleg\w+|claim\w*|sa(?:y|ys|id|"
    r"ying)|according|argu(?:e|es|ed|ing)|assert\w*|insist\w*|suggest\w*|th(?:ink|inks|ought|inking)|den(?:y|ies|ied|"
    r"ying)|doubt\w*|disput\w+|reject\w*|refus\w+|fail\w*|report(?:s|ed|edly)|suppos\w+|suspect\w*|believ\w+|expect\w*|"
    r"plan(?:s|ned|ning)?|propos\w+|intend\w*|want(?:s|ed)?|wish(?:es|ed)?|hop(?:e|es|ed|ing)|threat\w*|attempt\w*|"
    r"tr(?:y|ies|ied|ying)|predict\w*|forecast\w*|promis\w+|pretend\w*|forbid\w*|forbade|prohibit\w*|prevent\w*|avoid\w*|"
    r"cancel\w*|contrary|wrong\w*|myths?|hoax\w*)"
)
# Words that narrow, bound or measure what is said in their own clause.
_NARROWS = re.compile(
    r"half(?:-\w+)?|halves|quarters?|thirds?|fifths?|tenths?|doubles?|doubled|triples?|twice|thrice|once|times|percent|"
    r"per|each|every|more|most|less|least|few|fewer|fewest|many|much|several|some|part|partly|partially|mostly|mainly|"
    r"largely|minority|majority|up|about|around|roughly|approximately|approx|circa|below|above|beyond|exceed\w*|minimum|"
    r"maximum|min|max|maximally|minimally|before|after|until|till|during|while|since|must|can|shall|ought|need(?:s|ed)?|"
    r"rarely|seldom|sometimes|occasionally|usually|often|normally|generally|always|hourly|daily|weekly|monthly|yearly|"
    r"annually|minus|plus|non|other|another|too|so|than|as|ex|like"
)
# Words that join clauses, or items of a list: what stands beyond them is said of something else.
_COORDINATORS = frozenset(("and", "but", "while", "whereas", "although", "though", "because"))
_JOINTS = _COORDINATORS | frozenset(("or", "who", "whom", "whose", "which", "that", "where", "to", "versus", "vs"))
_BOUNDS = frozenset(("over", "under", "within", "between", "to", "from", "or", "by", "nor"))
_PREPOSITIONS = frozenset(
    ("of", "for", "with", "like", "from", "to", "by", "against", "about", "in", "on", "at", "over", "under", "between",
     "among", "or", "versus", "into", "than", "as", "without", "within", "during", "through", "throughout", "inside",
     "outside", "near", "behind", "beside", "across", "along", "beyond")
)  # fmt: skip
# Words that go on with what stands before them, also after a bracket: "from Monday to Friday", "€ 40 (per day)".
_CONTINUES = frozenset(("to", "or", "through", "per", "each", "plus", "minus", "every"))
_AFTER_NUMBERS = frozenset(("and", "or", "but", "in", "on", "for", "by", "at", "from", "with", "when", "because"))
_DIGITS = re.compile(r"[-+<>≤≥±~≈]{0,3}\d")
_BARE = re.compile(r"[-+<>≤≥±~≈]{0,3}\d[\d.,]*|" + "|".join(sorted(NUMBER_WORDS)))
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d(?:[-/]\d\d)?")
_IN_OTHERS = Lists(BOUNDS, HEDGES, BEFORE_NUMBERS, _PREPOSITIONS | PREPOSITIONS)
_IN_ENGLISH = Lists(BOUNDS - ALSO_ENGLISH, HEDGES - ALSO_ENGLISH, BEFORE_NUMBERS - ALSO_ENGLISH, _PREPOSITIONS)
