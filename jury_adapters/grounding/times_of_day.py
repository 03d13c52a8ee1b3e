"""Times of day in any notation: "5 p.m.", "17:00", "half past seven", "19 h 30", "19.30 uur"."""

from __future__ import annotations

import re

from jury_adapters.grounding.east_asian import START, half_of_day

_NAMES = "one two three four five six seven eight nine ten eleven twelve"
_HOURS = {name: hour for hour, name in enumerate(_NAMES.split(), start=1)}
_HOUR = "|".join(sorted(_HOURS, key=len, reverse=True))
CLOCK_PATTERN = rf"""
    (?=\d)(?:{START}(?<![:.,/])|(?<=\dT))(?:
          (?:[01]?\d|2[0-4]):[0-5]\d(?::[0-5]\d)?(?!\d|:\d)(?:\ ?(?P<half>[ap](?:\.m\.|m\b)))?
        | (?:1[0-2]|0?[1-9])(?:\.[0-5]\d)?\ ?(?P<half_of_hour>[ap](?:\.m\.|m\b))
        | (?:[01]?\d|2[0-4])(?:\ ?(?-i:h)\ ?|\ (?:uhr|heures?)\ )[0-5]\d(?!\w|[.,:]\d)
        | (?:[01]?\d|2[0-4])\.[0-5]\d(?=\ ?(?:uur|uhr)\b))
    | (?<!\w)(?:half\ past|(?:an?\ )?quarter\ (?:past|to))\ (?:{_HOUR}|1[0-2]|[1-9])(?!\w|[.,]\d)
"""
"""Pattern of a time of day; one without a mark between hour and minutes is in another pattern."""


def is_clock_decimal(digits: str) -> bool:
    """Return whether a numeral may be a time of day, such as "19.30"."""
    return _DECIMAL.fullmatch(digits) is not None


def times(text: str, before: str = "") -> list[str]:
    """Return the times that a text can mean, on the clock of 24 hours.

    Both halves of the day are possible, unless one is stated, or the hour has a leading zero or is above twelve.

    Args:
        text: the time of day.
        before: the text before it, which may state the half of the day in Chinese, Japanese or Korean.

    >>> times("2.15 p.m."), times("2:15"), times("02:15"), times("half past seven")
    (['14:15'], ['2:15', '14:15'], ['2:15'], ['7:30', '19:30'])
    """
    hour, rest = hour_and_rest(text)
    half = _HALF.search(text)
    stated = half[1].lower() if half else half_of_day(before, len(before))
    if stated:
        hours = [hour % 12 + (12 if stated == "p" else 0)]
    elif hour == 24:
        hours = [24, 0]
    else:
        both = 0 < hour <= 12 and not (text[0] == "0" and ":" in text)
        hours = [hour, (hour + 12) % 24 if hour < 12 else 0] if both else [hour]
    return [":".join([str(one), *(f"{number:02}" for number in rest or [0])]) for one in hours]


def counts_24_hours(text: str) -> bool:
    """Return whether a time is written as on the clock of 24 hours: "18:00" or "09:30", and not a timestamp.

    >>> [counts_24_hours(text) for text in ("18:00", "09:30", "9:30", "6:00 pm", "17:02:11")]
    [True, True, False, False, False]
    """
    if not text[:1].isdigit() or _HALF.search(text) or text.count(":") > 1:
        return False
    return hour_and_rest(text)[0] > _NOON_HOUR or text[0] == "0"


def has_full_hour_of_24(text: str) -> bool:
    """Return whether a text has a full hour above twelve: "18 Uhr", or "18h" if it writes other times as "9h30".

    >>> [has_full_hour_of_24(text) for text in ("bis 18 Uhr", "de 9h30 à 18h", "it takes 18h", "bis 6 Uhr")]
    [True, True, False, False]
    """
    found = {match[1].lower() for match in _FULL_HOUR_OF_24.finditer(text)}
    return "uhr" in found or ("h" in found and _HOURS_AND_MINUTES.search(text) is not None)


def hour_and_rest(text: str) -> tuple[int, list[int]]:
    """Return the hour as written, and the minutes and seconds, if any."""
    if spoken := _SPOKEN.match(text):
        name = spoken["hour"].lower()
        hour = _HOURS.get(name) or int(name)
        if spoken["to"]:
            return hour - 1 or 12, [45]
        return hour, [15 if spoken["quarter"] else 30]
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    return numbers[0], numbers[1:] or ([30] if text[-1] in "半반" else [])


def times_in_words(text: str) -> set[str]:
    """Return the times that a text states in words around a number: "6 in the evening", "half seven", "noon"."""
    found = set()
    for match in _HALF_IN_WORDS.finditer(text):
        part = match["part"].lower()
        hour = _HOURS.get(match["hour"].lower()) or int(match["hour"])
        later = part in ("afternoon", "evening") or (part == "night" and 5 < hour < 12)
        found.add(f"{hour % 12 + (12 if later else 0)}:{match['minutes'] or '00'}")
    for match in _HALF_HOUR.finditer(text):
        found.update(_both(_HOURS[match[1].lower()], 30))
    for match in _MINUTES_FROM.finditer(text):
        hour, minutes = _HOURS[match[3].lower()], _MINUTES[match[1].lower().replace(" ", "-")]
        found.update(_both(hour, minutes) if match[2].lower() == "past" else _both(hour - 1 or 12, 60 - minutes))
    for match in _HOUR_AND_MINUTES.finditer(text):
        found.update(_both(_HOURS[match[1].lower()], _MINUTES[match[2].lower().replace(" ", "-")]))
    for match in _AT_HOUR.finditer(text):
        found.update(_both(_HOURS.get(match[1].lower()) or int(match[1]), 0))
    if _NOON.search(text):
        found.add("12:00")
    if _MIDNIGHT.search(text):
        found.update(("0:00", "24:00"))
    return found


def half_in_words(text: str, start: int) -> bool:
    """Return whether an hour is followed by the half of the day in words, such as "in the evening"."""
    return _HALF_AFTER.match(text, start) is not None


def speaks_times(text: str) -> bool:
    """Return whether a text has a word that times in words have in other languages than English, such as "halb"."""
    return _SPOKEN_ELSEWHERE.search(text) is not None


def _both(hour: int, minutes: int) -> tuple[str, str]:
    """Return a time in both halves of the day."""
    return f"{hour % 24}:{minutes:02}", f"{(hour + 12) % 24}:{minutes:02}"


_NOON_HOUR = 12
_FULL_HOUR_OF_24 = re.compile(r"(?<![\d.,:])(?:1[3-9]|2[0-4])[ \xa0]?(h|Uhr)\b(?! ?\d)", re.IGNORECASE)
_HOURS_AND_MINUTES = re.compile(r"(?<!\d)\d{1,2}[ \xa0]?h[ \xa0]?[0-5]\d(?!\d)", re.IGNORECASE)
_MINUTES = {
    "five": 5, "ten": 10, "fifteen": 15, "twenty": 20, "twenty-five": 25, "thirty": 30, "thirty-five": 35, "forty": 40,
    "forty-five": 45, "fifty": 50, "fifty-five": 55,
}  # fmt: skip
_MINUTE = "|".join(sorted((name.replace("-", "[ -]") for name in _MINUTES), key=len, reverse=True))
_MINUTES_FROM = re.compile(rf"\b({_MINUTE})(?: minutes)? (past|to) ({_HOUR})\b", re.IGNORECASE)
_HOUR_AND_MINUTES = re.compile(rf"\b({_HOUR}) ({_MINUTE})\b", re.IGNORECASE)
_AT_HOUR = re.compile(
    rf"\b(?:at|from|until|till|by|before|after) ({_HOUR}|1[0-2]|[1-9])(?!\w|[.,:]\d)"
    r"(?=$|[.,;:!?)]| (?:and|on|or|to|until|till|in(?! the (?:morning|afternoon|evening))|every|each)\b)",
    re.IGNORECASE | re.MULTILINE,
)
_DECIMAL = re.compile(r"(?:[01]?\d|2[0-4])\.[0-5]\d")
_HALF = re.compile(r"(?<=[\d ])([ap])\.?m", re.IGNORECASE)
_SPOKEN = re.compile(
    rf"(?:half past|(?:an? )?(?P<quarter>quarter) (?:past|(?P<to>to))) (?P<hour>{_HOUR}|\d+)", re.IGNORECASE
)
_HALF_AFTER = re.compile(r"(?: o'clock)? (?:in the (?:morning|afternoon|evening)|at night)\b", re.IGNORECASE)
_HALF_IN_WORDS = re.compile(
    rf"(?<![\d.,:/$€£-])(?<!\w)(?P<hour>1[0-2]|0?[1-9]|{_HOUR})(?:[.:](?P<minutes>[0-5]\d))?(?: o'clock)? "
    r"(?:in the |at )(?P<part>morning|afternoon|evening|night)\b",
    re.IGNORECASE,
)
_HALF_HOUR = re.compile(rf"\bhalf ({_HOUR})\b", re.IGNORECASE)
_NOON = re.compile(r"\b(?:noon|midday)\b", re.IGNORECASE)
_MIDNIGHT = re.compile(r"\bmidnight\b", re.IGNORECASE)
_SPOKEN_ELSEWHERE = re.compile(
    r"\b(?:half|halb|halv|kwart|viertel|kvart|demie|quart|media|cuarto|mezza|mezzo|meia|midi|minuit)\b", re.IGNORECASE
)
