"""Numbers, dates and units that no longer are those of the source.

A mutant is made only if the source neither states nor rounds to the new value. Statements with a bound (*at least 40*),
a range, a condition or a negation are left alone, because another value may be implied by the right one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

from jury_adapters.audit.operators.material import (
    BOUND,
    BOUND_AFTER,
    NEAR,
    PART_OF_NUMBER,
    Material,
    Mutant,
    text_before,
)
from jury_adapters.grounding.quantities import quantities


def change_number(material: Material, random: Random) -> Iterator[Mutant]:
    """Yield answers with one number changed by a third or more; years belong to :func:`change_date`."""
    if not material.is_english:
        return
    dates = [(one.start, one.start + len(one.text)) for one in quantities(material.answer) if one.day]
    for found in _NUMERAL.finditer(material.answer):
        if any(start <= found.start() < end for start, end in dates) or not _is_free(material, found):
            continue
        whole = found["whole"].replace(",", "")
        if (len(whole) > 1 and whole.startswith("0")) or (len(whole) > 6 and "," not in found["whole"]):
            continue  # an identifier
        if found["part"] is None and _YEAR.fullmatch(found["whole"]):
            continue
        new = _other_number(
            material, found["whole"], found["part"] or "", _is_percent(material.answer, found.end()), random
        )
        if new and not _in_stated_range(material, found.end(), found[0], new):
            yield material.replaced(*found.span(), new, _shown(material.answer, found, new))
    for found in _NUMBER_WORD.finditer(material.answer):
        if _is_free(material, found) and not PART_OF_NUMBER.search(text_before(material.answer, found.start())):
            value = _WORDS.index(found[0].lower())
            others = [
                word for other, word in enumerate(_WORDS)
                if other > 1 and abs(other - value) >= max(2, value / 3) and not material.has_number(f"{other}")
                and not _in_stated_range(material, found.end(), str(value), str(other))
            ]  # fmt: skip
            if others:
                word = random.choice(others)
                new = word.capitalize() if found[0][0].isupper() else word
                yield material.replaced(*found.span(), new, _shown(material.answer, found, new))


def change_date(material: Material, random: Random) -> Iterator[Mutant]:
    """Yield answers with the day, the month, the year, the day of the week or the hour of one date changed."""
    if not material.is_english:
        return
    taken: list[tuple[int, int]] = []
    for date in quantities(material.answer):
        if not date.day:
            continue
        span = (date.start, date.start + len(date.text))
        taken.append(span)
        if not _is_free_span(material, *span) or _RANGE_OF_DATES.search(material.source):
            continue
        new = _other_date(material, date.text, random)
        if new:
            yield material.replaced(*span, new)
    for found in _YEAR.finditer(material.answer):
        if any(start <= found.start() < end for start, end in taken) or not _is_free(material, found):
            continue
        years = [int(found[0]) + step for step in (-11, -8, -7, -4, -3, 3, 4, 7, 8, 11)]
        years = [
            year for year in years if not material.has_number(f"in {year}") and str(year)[2:] not in material.source
        ]
        if years:
            yield material.replaced(*found.span(), str(random.choice(years)))
    yield from _changed_weekdays(material, random)
    yield from _changed_hours(material, random)


def change_unit(material: Material, random: Random) -> Iterator[Mutant]:
    """Yield answers in which one number has another unit of the same kind."""
    if not material.is_english:
        return
    for found in _WITH_UNIT.finditer(material.answer):
        if _SAME_IN_BOTH.search(text_before(material.answer, found.end())):
            continue
        if not float(found["number"].replace(",", "") or 0) or not _is_free_span(material, found.start(), found.end()):
            continue
        choices = [
            unit for unit in _UNITS[found["unit"]] if not _stated(material.source, found["number"], unit)
        ]  # fmt: skip
        if choices:
            unit = random.choice(choices)
            yield material.replaced(*found.span("unit"), unit, f"{found[0]} -> {found['number']} {unit}")


def _is_free(material: Material, found: re.Match[str]) -> bool:
    return _is_free_span(material, *found.span())


def _is_free_span(material: Material, start: int, end: int) -> bool:
    """Return whether another value at this place is certainly wrong: no bound, no range, no negation, no list mark."""
    sentence = material.sentence_at(start)
    if sentence is None or sentence.start not in material.statements:
        return False
    before = material.answer[max(sentence.start, start - NEAR) : start]
    return not (
        BOUND.search(before)
        or BOUND_AFTER.search(material.answer[end : min(sentence.end, end + NEAR)])
        or _RANGE_BEFORE.search(before)
        or (not material.answer[sentence.start : start].strip() and re.match(r"[.)]\s", material.answer[end:]))
        or _COUNTED.search(before)
        or (_CELL.search(before) and re.match(r"\s*\|", material.answer[end:]))
    )


def _other_number(material: Material, whole: str, part: str, percent: bool, random: Random) -> str:
    """Return a number in the same notation that the source does not have; "" if none was found."""
    value = float(whole.replace(",", "") + part)
    if value in (0, 1):
        return ""
    digits = whole.replace(",", "")
    zeros = 0 if part else len(digits) - len(digits.rstrip("0"))
    unit = 10.0 ** (zeros if not part else -(len(part) - 1))
    for factor in random.sample(_FACTORS, len(_FACTORS)):
        steps = round(value * factor / unit)
        new = steps * unit
        if abs(new - value) < 0.33 * value or new < 2 * unit or (percent and value <= 100 < new):
            continue
        if not part and value > 31 and _YEAR.fullmatch(f"{new:.0f}"):
            continue
        text = f"{new:,.{max(0, len(part) - 1)}f}" if "," in whole else f"{new:.{max(0, len(part) - 1)}f}"
        if not material.has_number(text) and len(text.partition(".")[0]) <= len(whole) + 2:
            return text
    return ""


def _in_stated_range(material: Material, end: int, old: str, new: str) -> bool:
    """Return whether the source has a range with both numbers, as in *ages 4 to 12*, or a bound at the old one.

    Args:
        material: the answer and its source.
        end: the position after the old number in the answer; the same word must follow the bound.
        old: the old number.
        new: the new number.
    """
    both = [float(text.replace(",", "")) for text in (old, new)]
    for found in _RANGE.finditer(material.source):
        low, high = (float((found[one] or found[other]).replace(",", "")) for one, other in _ENDS)
        if low <= min(both) and max(both) <= high:
            return True
    word = re.match(r"\s?(?:%|[^\W\d]+)", material.answer[end:])
    value = rf"(?<![\d.,]){re.escape(old + (word[0].lower() if word else ''))}(?![\w,]|\.\d)"
    return re.search(rf"{_BOUND_IN_SOURCE}{value}|{value}{_OR_MORE}", material.lower_source) is not None


def _other_date(material: Material, text: str, random: Random) -> str:
    """Return the date with another month, year or day, none of which the source has; "" if none was found."""
    choices: list[str] = []
    month = _MONTH.search(text)
    if month is not None:
        known = material.numbers.months()
        here = _MONTHS.index(month[0][:3])
        for step in (3, 4, 5, 6, 7, 8, 9):
            other = (here + step) % 12
            if other + 1 not in known:
                name = _LONG_MONTHS[other] if len(month[0]) > 3 or month[0] == "May" else _LONG_MONTHS[other][:3]
                choices.append(text[: month.start()] + name + text[month.end() :])
    year = _YEAR.search(text)
    if year is not None:
        for step in (-7, -4, -3, 3, 4, 7):
            other_year = int(year[0]) + step
            if not material.has_number(f"in {other_year}"):
                choices.append(text[: year.start()] + str(other_year) + text[year.end() :])
    choices = [new for new in choices if _day_exists(new) and not material.has_number(new)]
    return random.choice(choices) if choices else ""


def _day_exists(text: str) -> bool:
    return not re.search(
        r"\b31 (?:Feb|Apr|Jun|Sep|Nov)|\b(?:Feb|Apr|Jun|Sep|Nov)\w* 31\b|\b(?:29|30) Feb|\bFeb\w* (?:29|30)\b", text
    )


def _changed_weekdays(material: Material, random: Random) -> Iterator[Mutant]:
    if _UNNAMED_DAYS.search(material.source):
        return
    for found in _WEEKDAY.finditer(material.answer):
        if not _is_free(material, found) or re.match(r"\s*(?:and|or|to|,)", material.answer[found.end() :]):
            continue
        if re.search(r"(?:\b(?:and|or|to)|day,)\s$", text_before(material.answer, found.start())):
            continue
        others = [day for day in _WEEKDAYS if day.lower() not in material.lower_source]
        if others and found["day"].lower() in material.lower_source:
            day = random.choice(others)
            yield material.replaced(*found.span("day"), day, f"{found[0]} -> {day}{found['plural']}")


def _changed_hours(material: Material, random: Random) -> Iterator[Mutant]:
    if _RANGE_OF_HOURS.search(material.source):
        return
    for found in _CLOCK.finditer(material.answer):
        if not _is_free(material, found):
            continue
        hours = [hour for hour in range(7, 22) if 2 <= abs(hour - int(found["hour"])) <= 6]
        new = [f"{hour:0{len(found['hour'])}}:{found['minutes']}" for hour in hours]
        new = [time for time in new if not material.has_number(time)]
        if new and not re.match(r"\s?[ap]\.?m", material.answer[found.end() :]):
            yield material.replaced(*found.span(), random.choice(new))


def _is_percent(answer: str, end: int) -> bool:
    return re.match(r"\s?(?:%|per ?cent\b)", answer[end:]) is not None


def _shown(answer: str, found: re.Match[str], new: str) -> str:
    """Return the change with the word that follows it."""
    after = re.match(r"\s?[^\s.,;]{0,20}", answer[found.end() :])
    tail = after[0] if after else ""
    return f"{found[0]}{tail} -> {new}{tail}"


def _stated(source: str, number: str, unit: str) -> bool:
    return (
        re.search(rf"(?<![\d.,]){re.escape(number)}[\s-]?{re.escape(unit.rstrip('s'))}", source, re.IGNORECASE)
        is not None
    )


_FACTORS = (0.35, 0.4, 0.5, 0.55, 0.6, 1.4, 1.5, 1.6, 1.8, 2.0, 2.2, 2.5, 3.0)
_NUMERAL = re.compile(
    r"(?<![\w.,/:#\[\-–—+'])(?P<whole>\d{1,3}(?:,\d{3})+|\d+)(?P<part>\.\d+)?(?![\w/:\]\-–—']|\.\d|,\d|\s?(?:am|pm|a\.m|p\.m|o'clock)\b)"  # noqa: RUF001
)
_YEAR = re.compile(
    r"(?<![\w.,/:#$€£-])(?:1[5-9]|20)\d\d(?![\w/:-]|\.\d|,\d|\s(?:km|m|kg|g|people|users|litres|steps|watts)\b)"
)
_COUNTED = re.compile(r"\($|^#+\s*$|\b(?:step|point|item|option|part)\s$", re.IGNORECASE)
"""Text before the number of a step, an item or a heading, which states nothing."""
_CELL = re.compile(r"^\s*\|\s*$")
_RANGE_BEFORE = re.compile(r"\d\s?(?:to|and|or|-|–|—|x|by)\s$|\bbetween\s$", re.IGNORECASE)  # noqa: RUF001
_NUMBERS = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty
"""
_WORDS = _NUMBERS.split()
_NUMBER_WORD = re.compile(
    rf"(?<![\w-])(?:{'|'.join(_WORDS[2:])})(?![\w-]|\s(?:hundred|thousand|million|billion|thirds|of the|quarters))",
    re.IGNORECASE,
)
_MONTH_NAMES = "January February March April May June July August September October November December"
_LONG_MONTHS = _MONTH_NAMES.split()
_MONTHS = [month[:3] for month in _LONG_MONTHS]
_MONTH = re.compile(rf"\b(?:{'|'.join(_LONG_MONTHS)}|{'|'.join(_MONTHS)})\b")
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
_WEEKDAYS = _DAYS.split()
_WEEKDAY = re.compile(rf"\b(?P<day>{'|'.join(_WEEKDAYS)})(?P<plural>s?)\b")
_CLOCK = re.compile(r"(?<![\w:.])(?P<hour>[01]?\d|2[0-3]):(?P<minutes>[0-5]\d)(?![\w:])")
_UNITS = {
    "km": ("miles", "m"), "kilometres": ("miles", "metres"), "kilometers": ("miles", "meters"),
    "miles": ("kilometres",),
    "m": ("km", "cm"), "metres": ("kilometres", "centimetres"), "meters": ("kilometers", "centimeters"),
    "cm": ("mm", "m"), "centimetres": ("millimetres", "metres"), "mm": ("cm",), "millimetres": ("centimetres",),
    "kg": ("g", "tonnes"), "kilograms": ("grams", "tonnes"), "g": ("kg", "mg"), "grams": ("kilograms", "milligrams"),
    "mg": ("g",), "milligrams": ("grams",), "tonnes": ("kilograms",), "litres": ("millilitres",), "ml": ("litres",),
    "millilitres": ("litres",), "seconds": ("minutes", "hours"), "minutes": ("hours", "seconds"),
    "hours": ("minutes", "days"), "days": ("weeks", "hours"), "weeks": ("months", "days"), "months": ("years", "weeks"),
    "years": ("months", "weeks"), "kB": ("MB",), "MB": ("GB",), "GB": ("MB", "TB"), "TB": ("GB",), "kW": ("MW",),
    "MW": ("kW", "GW"), "GW": ("MW",), "kWh": ("MWh",), "MWh": ("kWh", "GWh"), "GWh": ("MWh",), "USD": ("EUR", "GBP"),
    "EUR": ("USD", "GBP"), "GBP": ("USD", "EUR"), "dollars": ("euros", "pounds"), "euros": ("dollars", "pounds"),
    "°C": ("°F",), "°F": ("°C",), "hectares": ("square metres", "square kilometres"), "W": ("kW",), "V": ("kV",),
}  # fmt: skip
_SAME_IN_BOTH = re.compile(r"\bminus 40\s?°[CF]$", re.IGNORECASE)
_UNIT = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))
_WITH_UNIT = re.compile(
    rf"(?<![\w.,/:\[\-–—])(?P<number>\d[\d,]*(?:\.\d+)?)(?:\s|-)?(?P<unit>{_UNIT})(?![\w²³/])"  # noqa: RUF001
)
_AMOUNT = r"\d+(?:,\d{3})*(?:\.\d+)?"
_RANGE = re.compile(
    rf"(?<![\d:.,])(?P<low>{_AMOUNT})[^\d:.,;()]{{0,12}}?(?:\bto\b|(?<=[\d\s])[-–—])\s?(?P<high>{_AMOUNT})(?!:\d)|"  # noqa: RUF001
    rf"\bbetween\s(?P<least>{_AMOUNT})[^\d.,;()]{{0,12}}?\band\s(?P<most>{_AMOUNT})"
)
_ENDS = (("low", "least"), ("high", "most"))
_BOUND_IN_SOURCE = (
    r"\b(?:at least|at most|up to|over|under|above|below|more than|less than|fewer than|older than|minimum(?: of)?|"
    r"maximum(?: of)?)\s"
)
_OR_MORE = r"(?:\s\w+){0,2}\s(?:or|and)\s(?:more|less|fewer|older|younger|over|above|under|below|upwards?)\b"
_DAY = _DAYS.replace(" ", "|")
_UNNAMED_DAYS = re.compile(
    rf"\b(?:{_DAY})\s?(?:to|through|until|till|[-–—])\s?(?:{_DAY})\b|"  # noqa: RUF001
    r"\b(?:daily|weekdays?|weekends?|workdays?|every day|all week|seven days|7 days)\b",
    re.IGNORECASE,
)
"""Days that a source states without their names; a day that is not named may be one of them."""
_RANGE_OF_HOURS = re.compile(r"\d:\d\d\s?(?:to|until|till|and|[-–—])\s?\d?\d:\d\d")  # noqa: RUF001
_MONTH_NAME = _MONTH_NAMES.replace(" ", "|")
_RANGE_OF_DATES = re.compile(
    rf"\b(?:{_MONTH_NAME})(?:\s\d{{1,2}},)?(?:\s\d{{4}})?\s?(?:to|until|till|through|and|[-–—])\s?"  # noqa: RUF001
    rf"(?:\d{{1,2}}\s)?(?:{_MONTH_NAME})\b"
)
