"""Names that no longer are those of the source, and facts that changed places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations, pairwise
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
            if _kind(name.text) == "person" and _is_place(sentence.text, name.text):
                continue
            done.add(name.text)
            alike = [other for other in others if _kind(other) == _kind(name.text)]
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
            if one == two or not re.search(r"[a-z]{3,}", between) or not _VERB.search(between):
                continue
            if _JOINED.search(between) or re.search(r"[;:]", between):
                continue
            text = sentence.text[: first[0]] + two + between + one + sentence.text[second[1] :]
            yield material.replaced(sentence.start, sentence.end, text, f"{one} <-> {two}")


def _name_pairs(material: Material, sentence: Sentence) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield the places of two names of one kind that the source has."""
    found = [
        name.text for name in names(sentence.text)
        if _is_proper(name) and not material.names.missing(name) and sentence.text.count(name.text) == 1
    ]  # fmt: skip
    for first, second in combinations(found, 2):
        if _kind(first) == _kind(second) and _is_place(sentence.text, first) is _is_place(sentence.text, second):
            starts = (sentence.text.index(first), sentence.text.index(second))
            yield (starts[0], starts[0] + len(first)), (starts[1], starts[1] + len(second))


def _number_pairs(sentence: Sentence) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield the places of neighbouring numbers with the same unit."""
    found = list(_MEASURE.finditer(sentence.text))
    for first, second in pairwise(found):
        if first["unit"] == second["unit"] and first["number"] != second["number"]:
            yield first.span("number"), second.span("number")


def _kind(name: str) -> str:
    """Return the kind of a name, as far as its words show it: a body or place, a product, a person, or unknown."""
    words = name.split()
    if any(word in _BODIES for word in words):
        return "body"
    if len(words[-1]) < 3:
        return "product"
    return "person" if len(words) == 2 else f"{len(words)} words"


def _is_place(sentence: str, name: str) -> bool:
    """Return whether a name follows a preposition of place."""
    return re.search(r"\b(?:in|at|near|to|into)\s(?:the\s)?$", sentence[: sentence.index(name)]) is not None


def _is_proper(name: Name) -> bool:
    """Return whether a name is one of a person, a place or a thing: no abbreviation, month or day of the week."""
    words = name.text.split()
    return (
        any(char.islower() for char in name.text)
        and name.text not in _BODIES
        and words[0] != "The"
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
_BODY_WORDS = """
    Academy Agency Air Airlines Airport Arena Association Authority Award Bank Bay Beach Board Boatyard Bridge Building
    Bureau Castle Cathedral Center Centre Church City Clinic Club College Committee Company Corporation Council County
    Court Creek Cross Cup Department Engineering Falls Festival Forest Foundation Freight Fund Gallery Garden Gardens
    Group Hall Harbor Harbour Health Hill Hills Home Hospital Hotel House Institute Island Islands Labs Laboratory Lake
    Lane League Library Lines Line Market Marine Meridian Mill Ministry Mount Mountain
    Museum Mutual Office Orchestra Palace
    Park Party Pharma Port Power Press Prize Quay Railway Recycling Reserve River Road Room School Sea Services Society
    Square Stadium Station Steel Street Systems Team Temple Theatre Theater Times Tower Town Trust Union Universe
    University Valley Village Works World Zone Gate North South East West Northern Southern Eastern Western New Old Iron
    Comets Cycles Coastal Salt Glass Spring Tidal Queen King Lower Upper
"""
_BODIES = frozenset(_BODY_WORDS.split())
_SYMMETRIC = re.compile(
    r"\b(?:between|both|together|with|met|meets|marri\w*|border\w*|versus|vs|equal\w*|same|near|distance|from|either|"
    r"connect\w*|link\w*|join\w*|merg\w*|share\w*|compared?|respectively|each other|next to|beside|neighbou?r\w*|or|"
    r"against|cousins?|siblings?|sisters?|brothers?|twins?|friends?|colleagues?|partners?|rivals?|relatives?|competitors?|"
    r"spouses?|engaged|divorced|talk\w*|speaks?|spoken?|discuss\w*|disagree\w*|argue\w*|negotiat\w*|differ\w*|"
    r"resembl\w*|similar\w*|like|unlike|cooperat\w*|collaborat\w*|adjacent|parallel|opposite|alongside|jointly|mutual\w*|"
    r"exchang\w*|identical|alike|synonym\w*|equivalent|plus|total\w*|sum)\b",
    re.IGNORECASE,
)
_JOINED = re.compile(r"^\s*(?:,|and|&)[^a-z]*$|^\s*(?:,|\(|and\b|&)", re.IGNORECASE)
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
