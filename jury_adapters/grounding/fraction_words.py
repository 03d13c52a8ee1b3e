"""Fractions and mixed numbers in words and digits: "two thirds", "half an hour", "one and a half", "2 1/2 hours"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from jury_adapters.grounding.units import NAMES_PATTERN

_ONES = "one two three four five six seven eight nine ten eleven twelve"
_COUNTS = {word: value for value, word in enumerate(_ONES.split(), start=1)} | {"a": 1, "an": 1}
_PARTS = "half third quarter fifth sixth seventh eighth ninth tenth"
_SIZES = {word: value for value, word in enumerate(_PARTS.split(), start=2)} | {"fourth": 4, "halve": 2}
_SCALES = {"dozen": 12, "hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}

_MANY = "|".join(sorted((word for word in _COUNTS if word not in ("a", "an", "one")), key=len, reverse=True))
_PART = "half|third|quarter|fourth|fifth|sixth|seventh|eighth|ninth|tenth"
_SLASH = r"\d{1,2}/\d{1,3}(?![\w/]|[.,]\d)"
_DETERMINERS = r"of\b|an?\b|the\b|all\b|my\b|your\b|his\b|her\b|its\b|our\b|their\b"
PATTERN = rf"""
    (?<!\w)(?<!\w-)(?:
          (?P<whole>an?|one|{_MANY}|(?<![./,:])\d{{1,3}})(?:\ (?P<each>{NAMES_PATTERN}|dozen|[mb]illion))?
            \ and\ (?:an?|one|three|two)[ -](?:half|thirds?|quarters?)(?!\w)
        | (?<![./,:])\d{{1,3}}\ {_SLASH}
        | (?:one|{_MANY}|\d)[ -](?:halves|(?:third|quarter|fourth|fifth|sixth|seventh|eighth|ninth|tenth)s)(?!\w)
        | one[ -](?:{_PART})(?!\w)
        | an?[ -](?:{_PART})(?=\ of\b)
        | (?<=\bby\ )(?:half|an?\ (?:{_PART}))(?=[.,;]|$|\ (?:in|on|to|from|since|over|and)\b)
        | (?:(?:an?|one)[ -])?half(?=\ (?:{_DETERMINERS})|[ -]hours?\b)
        | (?:an?|one)\ quarter(?=\ (?:of|hour)\b))
"""
"""Pattern of a fraction; "the second half" and "a third person" are none."""


def value_of(text: str) -> Fraction:
    """Return the value of a fraction or mixed number.

    >>> [str(value_of(text)) for text in ("two thirds", "2 1/2", "one and a half", "3/4")]
    ['2/3', '5/2', '3/2', '3/4']
    """
    total, count = Fraction(0), 1
    whole = re.match(r"(\d+) \d", text)
    if whole:
        total, text = total + int(whole[1]), text[whole.end(1) :]
    for word in re.findall(r"\d+/\d+|\d+|[a-z]+", text.lower()):
        if "/" in word:
            above, below = map(int, word.split("/"))
            total += Fraction(above, below) if below else 0
            count = 0
        elif word.isdigit() or word in _COUNTS:
            count = int(word) if word.isdigit() else _COUNTS[word]
        elif word == "and":
            total, count = total + count, 1
        elif size := _SIZES.get(word) or _SIZES.get(word.removesuffix("s")):
            total, count = total + Fraction(count, size), 0
    return total


def scale_and_unit(text: str, end: int) -> tuple[int, str, int]:
    """Return the scale and the name of the unit of a fraction that ends there, and where they end.

    >>> scale_and_unit("half a million euros", 4), scale_and_unit("quarter of an hour", 7)
    ((1000000, 'euros', 20), (1, 'hour', 18))
    """
    scale = _SCALE_AFTER.match(text, end)
    if scale:
        end = scale.end()
    unit = _UNIT_AFTER.match(text, end)
    return _SCALES[scale[1].lower()] if scale else 1, unit[1] if unit else "", unit.end() if unit else end


def is_ordinal_half(text: str, start: int) -> bool:
    """Return whether a half before this place is one of two periods: "the second half of the match"."""
    return _ORDINAL.search(text, max(0, start - 12), start) is not None


def shares(text: str) -> Iterator[Fraction]:
    """Yield the shares that a text states as counts: "one in four", "2 out of 3"."""
    for match in _ONE_IN.finditer(text):
        above, below = (_COUNTS.get(number.lower()) or int(number) for number in match.groups())
        if above < below:
            yield Fraction(above, below)


_SCALE_AFTER = re.compile(rf"(?: of)?(?: an?)? ({'|'.join(_SCALES)})(?!\w)", re.IGNORECASE)
_UNIT_AFTER = re.compile(rf"(?: of)?(?: an?)?[ -]({NAMES_PATTERN})(?!\w)", re.IGNORECASE)
_ORDINAL = re.compile(
    r"(?:first|second|third|fourth|last|other|latter|next|this|that|each|every|better|'s) $", re.IGNORECASE
)
_ONE_IN = re.compile(
    rf"\b(one|{_MANY}|[1-9]\d{{0,2}}) (?:in|out of)(?: every)? ({_MANY}|[1-9]\d{{0,2}})(?![\w%]|[.,]\d)", re.IGNORECASE
)
