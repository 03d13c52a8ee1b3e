"""Words that turn a statement into its opposite: negations, quantifiers, comparisons, and conditions left out.

The rules are for English. Each leaves alone what may be true in both forms: *some rooms are heated* and *some rooms are
not heated*, or a source that has both the word and its opposite.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

from jury_adapters.audit.operators.material import NEGATION, Material, Mutant, Sentence
from jury_adapters.grounding.normalisation import content, words


def change_negation(material: Material, _: Random) -> Iterator[Mutant]:
    """Yield answers in which one main clause is negated, or no longer is."""
    for sentence in _plain_sentences(material):
        for start, end, new, change in negated(sentence):
            yield material.replaced(sentence.start + start, sentence.start + end, new, change)


def negated(sentence: Sentence) -> Iterator[tuple[int, int, str, str]]:
    """Yield the ways to negate the main clause of a sentence: start, end, the new words, and the change."""
    text = sentence.text
    if _UNCLEAR.search(text):
        return
    if not NEGATION.search(text):
        found = _AUXILIARY.search(text)
        if found is not None and _is_main_clause(text[: found.start()]):
            word = found[0]
            new = "cannot" if word == "can" else f"{word} not"
            yield found.start(), found.end(), new, f"{_around(text, *found.span())}: {word} -> {new}"
        return
    removable = list(_NEGATED.finditer(text))
    if len(removable) == 1 and len(NEGATION.findall(text)) == 1:
        found = removable[0]
        word = found["verb"]
        new = "can" if found[0].lower() in ("cannot", "can not", "can't") else word
        if new is None:
            new = _CONTRACTED[found[0].lower()]
        yield found.start(), found.end(), new, f"{_around(text, *found.span())}: {found[0]} -> {new}"


def change_quantifier(material: Material, _: Random) -> Iterator[Mutant]:
    """Yield answers in which one quantifier contradicts the source: all became none, at least became at most."""
    for sentence in _plain_sentences(material):
        for pattern, replacement, needed in _QUANTIFIERS:
            for found in pattern.finditer(sentence.text):
                negative = NEGATION.search(sentence.text)
                if negative is not None and negative.start() != found.start():
                    continue
                if not re.search(needed, material.lower_source):
                    continue
                new = found.expand(replacement)
                new = new[0].upper() + new[1:] if found[0][0].isupper() else new
                if _opposite_is_known(material, new):
                    continue
                yield material.replaced(sentence.start + found.start(), sentence.start + found.end(), new)


def change_comparison(material: Material, _: Random) -> Iterator[Mutant]:
    """Yield answers in which one comparison or order is reversed."""
    for sentence in _plain_sentences(material):
        if NEGATION.search(sentence.text):
            continue
        for found in _COMPARISON.finditer(sentence.text):
            old = found[0]
            new = _OPPOSITES[old.lower()]
            if re.search(rf"\b{re.escape(new)}\b", material.lower_source) or _NO_COMPARISON.search(
                sentence.text[: found.start()]
            ):
                continue
            if not _is_comparison(sentence.text, found):
                continue
            new = new.capitalize() if old[0].isupper() else new
            change = f"{_around(sentence.text, *found.span())}: {old} -> {new}"
            yield material.replaced(sentence.start + found.start(), sentence.start + found.end(), new, change)


def drop_condition(material: Material, _: Random) -> Iterator[Mutant]:
    """Yield answers that state without its condition or exception what the source states with it."""
    for sentence in _plain_sentences(material):
        found = _CONDITION.search(sentence.text)
        if found is None or _EMPTY_CONDITION.search(found[0]):
            continue
        kept = sentence.text[: found.start()].rstrip(" ,")
        known = set(content(words(material.source)))
        needed = content(words(found["clause"]))
        if len(kept.split()) < 4 or " or " in kept or NEGATION.search(kept):
            continue
        if _NO_CONDITION.search(kept) or ("as long as" in found[0] and _COMPARED.search(kept)):
            continue
        if not needed or sum(word in known for word in needed) < 0.7 * len(needed):
            continue
        new = kept + sentence.text[found.end() :]
        change = f"left out: {found[0].strip(' ,')}"
        yield material.replaced(sentence.start, sentence.end, new, change)


def _plain_sentences(material: Material) -> Iterator[Sentence]:
    """Yield the English statements of the answer."""
    if material.is_english:
        yield from (one for one in material.sentences if not one.text.rstrip().endswith("?"))


def _is_main_clause(before: str) -> bool:
    """Return whether an auxiliary after these words is that of the main clause; its negation is then the opposite."""
    return (
        0 < len(before.split()) <= 9
        and not _SUBORDINATE.search(before)
        and "," not in before
        and ":" not in before
        and ";" not in before
    )


def _is_comparison(text: str, found: re.Match[str]) -> bool:
    """Return whether a word compares or orders here, and is not part of a name, no noun and no attribute."""
    word, before, after = found[0], text[: found.start()], text[found.end() :]
    if word[0].isupper() and (before or re.match(r"\s\d", after)):
        return False
    match word.lower():
        case "after" | "before":
            return not _VAGUE_ORDER.match(after)
        case "earlier" | "later":
            return re.match(r"\s(?:than\b)|[.,;]|$", after) is not None
        case "increases" | "decreases" | "rises" | "falls":
            return not _NOUN.search(before)
    return not re.search(r"\ban\s$", before)


def _opposite_is_known(material: Material, new: str) -> bool:
    return re.search(rf"\b{re.escape(new.lower())}\b", material.lower_source) is not None


def _around(text: str, start: int, end: int) -> str:
    """Return the words beside a place, for the description of a change."""
    before = text[:start].split()[-3:]
    after = text[end:].split()[:3]
    return " ".join([*before, text[start:end], *after])


_AUXILIARY = re.compile(
    r"\b(?:is|are|was|were|can|will|must)\b"
    r"(?!\s+(?:not|only|also|mainly|usually|about|either|both|all|each|often|to be|"
    r"almost|nearly|roughly|approximately|around))"
)
_SUBORDINATE = re.compile(
    r"\b(?:that|which|who|whose|whom|where|when|if|although|though|because|while|since|as|after|before|until|unless|"
    r"whether|what|how|why|some|most|many|few|several|sometimes|usually|often|either|any|half|part|only|about|may)\b",
    re.IGNORECASE,
)
_UNCLEAR = re.compile(
    r"\b(?:but|some|most|many|few|sometimes|usually|often|either|any|may|might|could|or|only|whether|partly|mostly|"
    r"generally|typically|up to|"
    r"not (?:until|only|all|every|more|less|necessarily|yet|just|least|always|both|later|earlier))\b",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"\bcan(?:not| not|'t)\b|\b(?P<verb>is|are|was|were|do|does|did|will|must|should|has been|have been|had)\s+not\b|"
    r"\b(?:isn't|aren't|wasn't|weren't|doesn't|don't|didn't|won't|mustn't|hasn't|haven't)(?=\s)",
    re.IGNORECASE,
)
_CONTRACTED = {
    "isn't": "is", "aren't": "are", "wasn't": "was", "weren't": "were", "doesn't": "does", "don't": "do",
    "didn't": "did", "won't": "will", "mustn't": "must", "hasn't": "has", "haven't": "have",
}  # fmt: skip
_COUNT = r"(?:\d|two|three|four|five|six|seven|eight|nine|ten|twelve)"
_QUANTIFIERS = (
    (re.compile(r"\b[Aa]ll of the\b"), "none of the", r"\b(?:all|every|each)\b"),
    (re.compile(r"\b[Aa]ll (the|our|its|their) (?=[a-z-]+s\b)"), r"none of \1 ", r"\b(?:all|every|each)\b"),
    (re.compile(r"(?<!\bof )(?<!\bfor )\b[Aa]ll (?=[a-z-]{3,}s\b)(?!\w*ways)"), "no ", r"\b(?:all|every|each)\b"),
    (
        re.compile(
            r"(?:(?<=^)|(?<=, ))[Ee]very (?=[a-z-]{4,}\b)(?!day|week|month|year|hour|time|other|morning|evening)"
        ),
        "no ",
        r"\b(?:all|every|each)\b",
    ),
    (re.compile(r"\b[Nn]one of the\b"), "all of the", r"\b(?:no|none|not|neither)\b"),
    (
        re.compile(rf"(?<!than )\b[Aa]t least(?= {_COUNT})"),
        "at most",
        r"\b(?:at least|minimum|or more|no less|no fewer|not less)\b",
    ),
    (
        re.compile(rf"(?<!than )\b[Aa]t most(?= {_COUNT})"),
        "at least",
        r"\b(?:at most|maximum|up to|no more|not more|or less|or fewer|limit)\b",
    ),
    (
        re.compile(r"\b[Nn]o more than(?= \d)"),
        "at least",
        r"\b(?:at most|maximum|up to|no more|not more|or less|or fewer|limit)\b",
    ),
    (re.compile(r"\b[Aa]lways\b"), "never", r"\b(?:always|all|every|each|must)\b"),
    (re.compile(r"\b[Nn]ever\b"), "always", r"\b(?:never|no|not|none)\b"),
    (re.compile(r"\b[Hh]alf of the\b"), "all of the", r"\bhalf\b"),
    (re.compile(r"\b[Ss]ome of the\b"), "all of the", r"\bsome\b"),
    (re.compile(r"\b[Mm]ost of the\b"), "none of the", r"\bmost\b"),
    (re.compile(r"(?<!at )\b[Mm]ost (?=[a-z-]{3,}s\b)"), "no ", r"\bmost\b"),
)
"""Quantifiers, what replaces them, and what the source must have, so that the original is known to rest on it."""
_PAIRS = (
    ("more than", "less than"), ("fewer than", "more than"), ("higher", "lower"), ("larger", "smaller"),
    ("bigger", "smaller"), ("before", "after"), ("earlier", "later"), ("longer", "shorter"), ("faster", "slower"),
    ("above", "below"), ("increased", "decreased"), ("increases", "decreases"), ("rose", "fell"), ("rises", "falls"),
    ("highest", "lowest"), ("largest", "smallest"), ("longest", "shortest"), ("oldest", "newest"),
    ("fastest", "slowest"),
    ("older", "younger"), ("heavier", "lighter"), ("stronger", "weaker"), ("warmer", "colder"), ("wider", "narrower"),
    ("maximum", "minimum"), ("cheaper", "dearer"), ("deeper", "shallower"), ("taller", "shorter"),
    ("earliest", "latest"),
)  # fmt: skip
_OPPOSITES = dict(_PAIRS) | {second: first for first, second in _PAIRS if second != "more than"}
_OPPOSITES |= {"less than": "more than", "smaller": "larger", "shorter": "longer"}
_COMPARISON = re.compile(rf"\b(?:{'|'.join(sorted(_OPPOSITES, key=len, reverse=True))})\b", re.IGNORECASE)
_NO_COMPARISON = re.compile(
    r"\b(?:no|any|much|once|look\w*|nam\w*|call\w*|day|week|ever|even|and|or|not|shortly|soon|long|just|"
    r"see|as|mentioned|described|shown|listed|stated|noted|given|explained|discussed|said|table|figure|list|section|example|"
    r"paragraph|text|diagram|chart|image|photo)\s$",
    re.IGNORECASE,
)
_NOUN = re.compile(r"\b(?:the|an?|of|these|those|such|all|both|further|its|their)\s$", re.IGNORECASE)
_VAGUE_ORDER = re.compile(r"\s*(?:and|or|all|that|this|which|then|[.,;]|$)", re.IGNORECASE)
_CONDITION = re.compile(
    r",?\s+(?:except(?: for| on| in| at| when| that)?|unless|provided that|as long as|apart from|but only|only if|"
    r"only when|if)\s"
    r"(?P<clause>[^.;:()]{4,120}?)(?=[.;]?$)"
)
_COMPARED = re.compile(r"\b(?:twice|times|half|just|almost|nearly|about|exactly)$", re.IGNORECASE)
_NO_CONDITION = re.compile(
    r"\b(?:even|as|what|is|are|was|were|be|been)$|"
    r"\b(?:ask|check|know|known|see|wonder|decide|determine|test|tell|confirm|verif|find out|found out|say|show|learn|"
    r"examine|doubt|remember|sure|clear|unclear|unknown)\w*(?:\s\S+){0,3}$",
    re.IGNORECASE,
)
"""Words before *if* or *as long as* where it is not a condition: an indirect question, or a comparison."""
_EMPTY_CONDITION = re.compile(
    r"\b(?:question|need|needed|necessary|possible|wish|want|like|prefer|applicable|any|available|so|in doubt|help)\b",
    re.IGNORECASE,
)
