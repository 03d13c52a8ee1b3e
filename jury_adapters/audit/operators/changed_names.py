"""Names that no longer are those of the source, and facts that changed places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from random import Random

from jury_adapters.audit.operators.material import NEGATION, Material, Mutant, Sentence
from jury_adapters.grounding.names import Name, names
from jury_adapters.grounding.normalisation import tidy


def change_name(material: Material, random: Random) -> Iterator[Mutant]:
    """Yield answers in which one name is that of another case, which this source does not have."""
    if not material.is_english:
        return
    others = sorted({
        name.text for sentence in material.foreign for name in names(tidy(sentence))
        if _is_proper(name) and set(name.parts) == set(material.names.missing(name))
    })  # fmt: skip
    done: set[str] = set()
    for sentence in material.sentences:
        if NEGATION.search(sentence.text):
            continue
        for name in names(sentence.text):
            if name.text in done or not _is_proper(name) or material.names.missing(name):
                continue
            done.add(name.text)
            alike = [other for other in others if len(other.split()) == len(name.text.split())]
            if alike:
                new = random.choice(alike)
                pattern = rf"(?<![\w-]){re.escape(name.text)}(?![\w-])"
                yield Mutant(re.sub(pattern, lambda _, new=new: new, material.answer), f"{name.text} -> {new}")  # type: ignore[misc]


def swap_pair(material: Material, _: Random) -> Iterator[Mutant]:
    """Yield answers in which two names, or two numbers with the same unit, of one sentence changed places.

    Pairs that a relation may hold both ways are left alone: *A and B*, *between A and B*, *A met B*.
    """
    if not material.is_english:
        return
    for sentence in material.sentences:
        if NEGATION.search(sentence.text) or _SYMMETRIC.search(sentence.text) or sentence.text.endswith("?"):
            continue
        for first, second in (*_name_pairs(material, sentence), *_number_pairs(sentence)):
            one, two = sentence.text[slice(*first)], sentence.text[slice(*second)]
            between = sentence.text[first[1] : second[0]]
            if one == two or len(re.findall(r"[a-z]{3,}", between)) < 2 or not _VERB.search(between):
                continue
            if _JOINED.search(between) or re.search(r"[;:]", between):
                continue
            text = sentence.text[: first[0]] + two + between + one + sentence.text[second[1] :]
            yield material.replaced(sentence.start, sentence.end, text, f"{one} <-> {two}")


def _name_pairs(material: Material, sentence: Sentence) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield the places of neighbouring names that the source has."""
    found: list[tuple[int, int]] = []
    for name in names(sentence.text):
        if _is_proper(name) and not material.names.missing(name) and sentence.text.count(name.text) == 1:
            start = sentence.text.index(name.text)
            found.append((start, start + len(name.text)))
    yield from pairwise(found)


def _number_pairs(sentence: Sentence) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield the places of neighbouring numbers with the same unit."""
    found = list(_MEASURE.finditer(sentence.text))
    for first, second in pairwise(found):
        if first["unit"] == second["unit"] and first["number"] != second["number"]:
            yield first.span("number"), second.span("number")


def _is_proper(name: Name) -> bool:
    """Return whether a name is one of a person, a place or a thing: no abbreviation, month or day of the week."""
    words = name.text.split()
    return (
        any(char.islower() for char in name.text)
        and not any(word in _CALENDAR for word in words)
        and all(word[0].isupper() and word.isascii() and word.replace("-", "").isalpha() for word in words)
        and sum(map(len, words)) > 3
    )


_CALENDAR_WORDS = """
    January February March April May June July August September October November December Monday Tuesday Wednesday
    Thursday Friday Saturday Sunday Mondays Tuesdays Wednesdays Thursdays Fridays Saturdays Sundays Jan Feb Mar Apr Jun
    Jul Aug Sep Sept Oct Nov Dec Christmas Easter English British
"""
_CALENDAR = frozenset(_CALENDAR_WORDS.split())
_SYMMETRIC = re.compile(
    r"\b(?:between|both|together|with|met|meets|marri\w*|border\w*|versus|vs|equal\w*|same|near|distance|from|either|"
    r"connect\w*|link\w*|join\w*|merg\w*|share\w*|compared?|respectively|each other|next to|beside|neighbou?r\w*|or)\b",
    re.IGNORECASE,
)
_JOINED = re.compile(r"^\s*(?:,|and|&)[^a-z]*$|^\s*(?:,|\()", re.IGNORECASE)
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|will|can|must|\w+ed|\w{3,}s|won|beat|built|sold|led|gave|made|wrote|became|costs?|"
    r"and|while|but|by|to|for|than)\b"
)
_UNITS = """
    km kilometres metres m kg kilograms grams g % hours minutes days weeks months years USD EUR GBP euros dollars pounds
    litres GB MB people seats members °C
"""
_MEASURE = re.compile(
    rf"(?<![\w.,/:\[–-])(?P<number>\d[\d,]*(?:\.\d+)?)(?P<unit>\s?(?:{'|'.join(_UNITS.split())}))(?![\w²³/])"  # noqa: RUF001
)
