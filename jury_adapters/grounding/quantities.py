"""Numbers, dates and quantities in a text, in any notation.

"77,984", "77 984" of tokenised text, "two million", "2.5m", "19th", "22 February 2020", "22 février 2020" and
"2020-02-22" are read as their values. The source is read generously (a mark that could be a thousands or a decimal mark
is both), because a number is reported as new only if the source has none of its readings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from jury_adapters.grounding.east_asian import (
    CLOCK_PATTERN,
    DATE_PATTERN,
    END,
    GLUED_LETTER,
    HEDGES,
    SCALED_PATTERN,
    START,
    is_kilo,
    scaled_value,
)
from jury_adapters.grounding.fraction_words import PATTERN as FRACTION_PATTERN
from jury_adapters.grounding.fraction_words import is_ordinal_half, scale_and_unit, value_of
from jury_adapters.grounding.months import BEFORE_YEAR, OTHER_DATE_PATTERN, month_number
from jury_adapters.grounding.months import ENGLISH_MONTH as _MONTH
from jury_adapters.grounding.times_of_day import CLOCK_PATTERN as TIME_PATTERN
from jury_adapters.grounding.times_of_day import hour_and_rest, is_clock_decimal
from jury_adapters.grounding.times_of_day import times as times_of
from jury_adapters.grounding.units import NAMES_PATTERN, SYMBOLS_PATTERN, amounts, denominator, kind_of, unit_named


@dataclass(frozen=True, slots=True)
class Quantity:
    """Number or date in a text.

    Attributes:
        text: the number as written.
        start: its position in the text.
        readings: the values it can mean, as plain decimal text ("77984", "1.7").
        parts: the numbers in it, should its marks only separate ("100, 200"); else empty.
        day: (month, day) readings of a date; a day of 0 means that only month and year are given.
        unit: the canonical unit ("%", "km", "USD"), or "".
        end: where it ends, with its unit.
        amounts: the values in the base unit of their kind, for units with exact conversion.
        after: the word after a numeral without a unit, lower case; of a script without spaces its first letter.
        step: maximum distance between the first reading and a number of the source that it rounds; 0 for an exact
            number.
        word: True when written as a word ("seven").
        negative: whether a minus stands before it.
        fraction: the value of a fraction ("two thirds", "2/3"), else None.
    """

    text: str
    start: int
    readings: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    day: tuple[tuple[int, int], ...] = ()
    unit: str = ""
    end: int = 0
    amounts: tuple[tuple[str, Fraction], ...] = ()
    after: str = ""
    step: Decimal = Decimal(0)
    word: bool = False
    negative: bool = False
    fraction: Fraction | None = None

    @property
    def times(self) -> list[str]:
        """Return the times of day that it can mean ("14:15")."""
        return [value for value in self.readings if ":" in value]

    @property
    def is_time(self) -> bool:
        """Return whether it is a time of day, and not only a numeral that may be one ("19.30")."""
        return bool(self.readings) and ":" in self.readings[0]


Marks = Literal["any", "english", "thousands"]
"""Meanings that a comma or full stop before three digits can have.

"any" is thousands or decimals; "english" is a comma for thousands, a full stop for decimals; "thousands" is thousands.
"""


def quantities(text: str, marks: Marks = "any") -> Iterator[Quantity]:
    """Yield every number and date of a tidied text, in order.

    >>> [found.readings for marks in ("any", "english") for found in quantities("3,000", marks)]
    [('3000', '3'), ('3000',)]
    """
    for match in _ANY.finditer(text):
        kind = match.lastgroup or ""
        if kind in _DATES:
            yield _date(match, kind)
        elif kind in ("clock", "east_clock"):
            yield _clock(match)
        elif kind == "scaled":
            yield _scaled(match, text)
        elif kind == "fraction":
            if (fraction := _fraction(match, text)) is not None:
                yield fraction
        elif kind == "words":
            found = _from_words(match, text)
            if found is not None:
                yield found
        else:
            yield _numeral(match, text, marks)


def _numeral(match: re.Match[str], text: str, marks: Marks) -> Quantity:
    digits, ending, scale = match["digits"], match["ending"] or "", match["scale"] or ""
    readings, parts = _read(digits, marks)
    unit = unit_named((match["currency"] or "").strip()) or unit_named(match["unit"] or "")
    times = _SCALES.get(scale.lower().rstrip("s"), 1)
    value = _slash_value(digits)
    kind = "decade" if ending.lower() == "s" else ""
    century = _CENTURY.match(text, match.end()) if ending else None
    if century:
        kind = "century"
    values = readings if times == 1 else tuple(_times(value, times) for value in readings)
    measured, measure = values, unit
    if len(scale) < 3 and times > 1:
        values += readings  # "5m" may also be five metres
    negative = _MINUS.search(text, max(0, match.start() - 8), match.start()) is not None
    if not unit and (scale == "m" or ending == "s" or match[0].endswith(" K")):  # "30s" may also be seconds
        measured, measure = readings, scale or ending
        unit = scale
    per, end = denominator(text, match.end()) if measure else ("", century.end() if century else match.end())
    step = _step(digits, times, text, match.start()) if not kind else Decimal(0)
    plain = [value for value in measured if len(value) < _LONGEST and PLAIN_NUMBER.fullmatch(value)]
    if negative and kind_of(measure) == "temperature":
        plain = [f"-{value}" for value in plain]
    found, after = amounts(plain, measure, per), "" if unit else _word_after(text, end)
    if value is not None:
        found = _fraction_amounts(value, measure, per)
    if not (unit or scale or ending) and is_clock_decimal(digits):
        values += tuple(time for time in times_of(digits) if time not in values)
    return Quantity(
        match[0], match.start(), values, parts, unit=kind or unit, end=end, amounts=found, after=after, step=step,
        negative=negative, fraction=value,
    )  # fmt: skip


def _slash_value(digits: str) -> Fraction | None:
    """Return the value of digits such as "2/3", or None for digits that are not a proper fraction."""
    above, slash, below = digits.partition("/")
    if not slash or not (above.isdigit() and below.isdigit()) or len(below) > 3 or not 0 < int(above) < int(below):
        return None
    return Fraction(int(above), int(below))


def _fraction_amounts(value: Fraction, unit: str, per: str = "") -> tuple[tuple[str, Fraction], ...]:
    return amounts([value], unit, per) if unit else (("share", value),)


def _fraction(match: re.Match[str], text: str) -> Quantity | None:
    """Return the value of "two thirds" or "half an hour"; None for "the second half of", which is a period."""
    if is_ordinal_half(text, match.start()):
        return None
    value = value_of(match["fraction"])
    if match["each"]:  # "an hour and a half"
        scale, name, end = _SCALES.get(match["each"].lower(), 1), match["each"], match.end()
    else:
        scale, name, end = scale_and_unit(text, match.end())
    value, unit = value * scale, unit_named(name)
    decimal = value if value.denominator in (1, 2, 4, 5, 8, 10, 20) and value != 1 else None
    readings = (bare(f"{float(decimal):.3f}"),) if decimal is not None and (unit or scale > 1 or value > 1) else ()
    found = _fraction_amounts(value, unit) if unit or value < 1 else ()
    return Quantity(
        text[match.start() : end], match.start(), readings, unit=unit, end=end, amounts=found, word=True, fraction=value
    )


def _word_after(text: str, end: int) -> str:
    found = _WORD_AFTER.match(text, end)
    return found[1].casefold() if found else ""


def _scaled(match: re.Match[str], text: str) -> Quantity:
    """Return a number with East Asian scales, such as "3万" or "1億2000万"."""
    numbers = re.findall(r"\d[\d,.]*", match[0])
    value, first = scaled_value(match[0]) or match[0], numbers[0].rstrip(".,")
    readings: tuple[str, ...] = (value,)
    if is_kilo(match[0], text, match.end()):
        readings += _read(first, "any")[0]
    step = Decimal(0)
    if len(numbers) == 1 and PLAIN_NUMBER.fullmatch(first) and PLAIN_NUMBER.fullmatch(value) and float(first):
        step = _step(first, round(Decimal(value) / Decimal(first)), text, match.start())
    return Quantity(match[0], match.start(), readings, end=match.end(), step=step)


def _clock(match: re.Match[str]) -> Quantity:
    """Return a time of day, also as it is written without a mark: "9.30", "0930", and "at 6" in the evening."""
    readings = times_of(match[0], match.string[max(0, match.start() - 4) : match.start()])
    hour, rest = hour_and_rest(match[0])
    for one in {hour, *(int(time.partition(":")[0]) for time in readings)}:
        loose = [bare(f"{one}.{rest[0]:02}"), f"{one}{rest[0]:02}"] if rest else [str(one)]
        readings += loose if len(rest) < 2 else []
    lasting = _LASTING.fullmatch(match[0])  # "2 h 30" may also be two hours and a half
    found = amounts([Fraction(int(lasting[1])) + Fraction(int(lasting[2]), 60)], "h") if lasting else ()
    return Quantity(match[0], match.start(), tuple(readings), end=match.end(), amounts=found)


def _read(digits: str, marks: Marks) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the values of a numeral with marks, and the numbers in it if the marks may only separate."""
    if digits.isdigit():
        return (bare(digits),), ()
    parts = tuple(bare(part) for part in re.split(r"[^\d]+", digits))
    if "/" in digits and "." not in digits and "," not in digits:
        return (digits.replace(" ", ""),), parts
    compact = digits.replace(" ", "").replace("'", "")
    if len(digits) > _LONGEST:
        return (compact,), parts
    apart = parts if " " in digits or "/" in digits else ()
    grouped = all(len(part) == 3 for part in re.split(r"[^\d]+", digits)[1:])
    found = set(re.sub(r"\d", "", compact))
    if len(found) == 2:  # 1,234.5 or 1.234,5: the last mark is the decimal one
        whole, fraction = re.sub(r"[.,](?=.*[.,])", "", compact), compact[max(map(compact.rfind, found)) :]
        return (bare(whole[: -len(fraction)] + "." + fraction[1:]),), apart
    plain = bare(re.sub(r"\D", "", compact))
    if len(parts) > 2:
        return ((plain,) if grouped else (compact,)), apart or (() if grouped else parts)
    decimal = bare(compact.replace(",", ".")) if found and found <= {",", "."} else plain
    if not grouped or " " in digits:
        return ((plain,) if grouped and "." not in found else (decimal,)), apart or (parts if "." not in found else ())
    if len(parts[0]) > 3 or digits[0] == "0":
        return (decimal,), apart
    if found and marks != "any":
        return ((decimal,) if "." in found and marks == "english" else (plain,)), apart
    return (plain, decimal), apart


def is_hedged(text: str, start: int) -> bool:
    """Return whether "about", "nearly", "more than" or the like stands before a number."""
    return _HEDGE.search(text, max(0, start - 24), start) is not None


def bare(number: str) -> str:
    """Return decimal text without insignificant zeros."""
    whole, point, fraction = number.partition(".")
    fraction = fraction.rstrip("0")
    return (whole.lstrip("0") or "0") + (point + fraction if fraction else "")


def _times(value: str, scale: int) -> str:
    if len(value) > _LONGEST or not PLAIN_NUMBER.fullmatch(value):
        return value
    return bare(f"{Decimal(value) * scale:f}")


def _step(digits: str, scale: int, text: str, start: int) -> Decimal:
    """Return how much a number of the source may differ from this one.

    1.7 is a rounding of 1.68 and 2.5 million of 2,481,000: half a unit of the last digit, and at most 5 % because one
    digit alone is not precise. After "about", "nearly", "more than" a whole unit is allowed, and trailing zeros count
    as rounded.
    """
    if len(digits) > _LONGEST:
        return Decimal(0)
    compact = _DECIMAL_COMMA.sub(".", digits).replace(",", "").replace(" ", "")
    if not PLAIN_NUMBER.fullmatch(compact):
        return Decimal(0)
    decimals = len(compact.partition(".")[2])
    zeros = 0 if decimals else len(compact) - len(compact.rstrip("0"))
    if not zeros and not decimals and scale == 1:
        return Decimal(0)
    if is_hedged(text, start):
        return Decimal(10) ** (zeros - decimals) * scale
    if not decimals and scale == 1:
        return Decimal(0)
    return min(Decimal(10) ** -decimals * scale / 2, Decimal(compact) * scale / 20)


def _from_words(match: re.Match[str], text: str) -> Quantity | None:
    """Return the value of "two hundred and five"; None for "a few hundred", "half a million", "nineteen eighty"."""
    found = re.findall(r"[a-z]+", match["words"].lower())
    if _VAGUE.search(text, max(0, match.start() - 16), match.start()) or not any(word in _WORDS for word in found):
        return None
    total, group = 0, 0
    for word in found[:12]:
        value = _WORDS.get(word, 0)
        if word in ("a", "an"):
            group = 1
        elif word in _SCALES:
            if _SCALES[word] == 100 or word == "dozen":
                group = (group or 1) * _SCALES[word]
            else:
                total, group = total + (group or 1) * _SCALES[word], 0
        elif group % 100 and not (group % 10 == 0 and group % 100 > 10 and 0 < value < 10):
            return None
        else:
            group += value
    if century := _CENTURY.match(text, match.end()):
        return Quantity(match[0], match.start(), (str(total + group),), unit="century", end=century.end(), word=True)
    return _measure_in_words(match, str(total + group), text)


def _measure_in_words(match: re.Match[str], value: str, text: str) -> Quantity:
    """Return a number in words with the unit after it, if any."""
    after = _UNIT_AFTER.match(text, match.end())
    unit = unit_named(after[0].strip(" -")) if after else ""
    per, end = denominator(text, after.end()) if after else ("", match.end())
    found = amounts([value], unit, per)
    return Quantity(match[0], match.start(), (value,), unit=unit, end=end, amounts=found, word=True)


def _date(match: re.Match[str], kind: str) -> Quantity:
    numbers = [int(number) for number in re.findall(r"\d+", match[0])]
    month = next(filter(None, map(month_number, re.findall(r"[^\W\d_]{3,}", match[0]))), 0)
    years = [number for number in numbers if number > 31]
    day: tuple[tuple[int, int], ...]
    small = [number for number in numbers if number <= 31]
    if month:
        day = ((month, small[0] if small else 0),)
    elif kind == "iso":
        day = ((small[0], small[1]),)
    elif kind == "east_date":
        day = ((small[0], small[1] if len(small) > 1 else 0),)
    else:  # 3/4/2020: either the day or the month may come first
        small = numbers[:2]
        years = [numbers[2] + (2000 if numbers[2] < 50 else 1900 if numbers[2] < 100 else 0)]
        day = ((small[0], small[1]), (small[1], small[0]))
    return Quantity(match[0], match.start(), tuple(str(year) for year in years[:1]), day=day, end=match.end())


_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINALS = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth"
)
_WORDS = {word: value for names in (_ONES, _ORDINALS) for value, word in enumerate(names.split())}
_WORDS |= {word: 10 * value for value, word in enumerate(_TENS.split(), 2)}
_WORDS |= {word[:-1] + "ieth": 10 * value for value, word in enumerate(_TENS.split(), 2)}
_WORDS |= {"once": 1, "twice": 2, "thrice": 3}
_SCALES = {
    "hundred": 100, "dozen": 12, "thousand": 1000, "k": 1000, "lakh": 10**5, "million": 10**6, "m": 10**6, "mn": 10**6,
    "crore": 10**7, "billion": 10**9, "bn": 10**9, "b": 10**9, "trillion": 10**12, "tn": 10**12,
}  # fmt: skip
_WORDS |= dict.fromkeys(("hundred", "dozen", "thousand", "million", "billion", "trillion"), 0)

NUMBER_WORDS = frozenset(_WORDS) | frozenset(f"{word}s" for word in _SCALES if len(word) > 2)
"""Words that are a number or a part of one, in lower case."""

_LONGEST = 30  # digits; longer numbers are compared as text
_DATES = ("iso", "slash", "named", "east_date")

_NAME = "|".join(sorted(_WORDS, key=len, reverse=True))
_ANY = re.compile(
    rf"""
    (?=[\d$€£¥₹]|\b(?:[abdefhjmnoqstz]|{BEFORE_YEAR}))  # the beginnings: most places are passed over here
    (?:
      (?P<iso>(?=\d){START}(?<!-)\d{{4}}-(?:0?[1-9]|1[0-2])-(?:0?[1-9]|[12]\d|3[01])(?!\d))
    | (?=\d[\d.,]{{0,24}}\ ?[^\x00-\x7f]){START}(?:
          (?P<east_date>{DATE_PATTERN}) | (?<![:.,/])(?P<east_clock>{CLOCK_PATTERN}) | (?P<scaled>{SCALED_PATTERN}))
    | (?P<slash>(?=\d){START}(?<![./-])\d{{1,2}}(?:
          (?P<mark>[/.])\d{{1,2}}(?P=mark)(?:\d{{4}}|\d{{2}}){END}(?!/) | -\d{{1,2}}-[12]\d{{3}}{END}(?!-)))
    | (?P<named>(?<!\w)(?:
          {_MONTH}\ (?:\d{{1,2}}(?:st|nd|rd|th)?\b(?!\.?\d|:|\ ?%)(?:,?\ (?:of\ )?[12]\d{{3}}\b)?|,?\ ?[12]\d{{3}}\b)
        | \d{{1,2}}(?:st|nd|rd|th)?\ (?:of\ )?{_MONTH}(?:,?\ [12]\d{{3}}\b)?
        | {_MONTH},\ [12]\d{{3}}\b
        | {OTHER_DATE_PATTERN}))
    | (?P<clock>{TIME_PATTERN})
    | (?P<fraction>{FRACTION_PATTERN})
    | (?P<numeral>(?=[\d$€£¥₹]){START}(?<!(?-i:[A-Z])-)
        (?P<currency>[$€£¥₹]\ ?)?
        (?P<digits>\d{{1,3}}(?:,\ \d{{3}})+(?!\d)|\d{{1,3}}(?:\ \d{{3}})+(?![\d,.])|
           \d{{1,4}}\.\ \d{{1,3}}(?![\d.,])|\d+(?:[.,'/]\d+)*)
        (?:(?P<ending>st|nd|rd|th|s){END}|
           [ -]?(?P<scale>(?:hundred|thousand|million|billion|trillion|lakh|crore|dozen)s?|bn|mn|tn|[kmbKMB](?!\^))
           {END})?
        (?:[ -]?(?P<unit>[%‰]|(?:{NAMES_PATTERN}){END}|{SYMBOLS_PATTERN}))?)
    | (?P<words>(?<![\w'])(?<!\w-)(?:(?:an?)\ (?=hundred|thousand|million|billion|trillion|dozen))?
        (?:{_NAME})(?:(?:[ -]|(?:(?<=hundred)|(?<=thousand)|(?<=[mb]illion))\ and\ )(?:{_NAME}))*(?!\w))
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_UNIT_AFTER = re.compile(rf"[ -](?:{NAMES_PATTERN})\b", re.IGNORECASE)
_WORD_AFTER = re.compile(rf" ?((?:(?!{GLUED_LETTER})[^\W\d_])+|{GLUED_LETTER})")
_MINUS = re.compile(r"(?:(?<![\w.,)\]%'\"-])(?<!\d )-|\bminus )(?:[$€£¥₹] ?)?$", re.IGNORECASE)
_LASTING = re.compile(r"(\d+) ?h ?(\d+)")
_CENTURY = re.compile(r"[ -](?:century|centuries)", re.IGNORECASE)
PLAIN_NUMBER = re.compile(r"\d{1,30}(?:\.\d{1,30})?")
_DECIMAL_COMMA = re.compile(r",(?!\d{3}(?!\d)| )|(?<=^0),")
_HEDGE = re.compile(
    r"(?:about|around|nearly|roughly|over|almost|approximately|approx\.|some|than|under|least|most|up to|close to|"
    r"above|below|exceeding|estimated|exceeds|exceeded|~|circa|ca\.|" + HEDGES + r") ?(?:a |an |the )?[$€£¥₹]?$",
    re.IGNORECASE,
)
_VAGUE = re.compile(r"(?:several|few|couple|couple of|half|many|half of|quarter of) (?:an? )?$", re.IGNORECASE)
