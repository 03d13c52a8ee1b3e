"""Units of measure: their names and symbols, their kinds, and exact conversion within a kind."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction

from jury_adapters.grounding.normalisation import GLUED

_NAMES = {
    "share": {"%": "% percent pct", "‰": "‰ permille promille", "%-points": ""},
    "money": {
        "USD": "$ dollar dollars usd", "EUR": "€ euro euros eur", "GBP": "£ pound pounds gbp",
        "JPY": "¥ yen jpy", "INR": "₹ rupee rupees",
    },
    "length": {
        "km": "km kilometre kilometres kilometer kilometers", "m": "metre metres meter meters",
        "dm": "dm decimetre decimetres decimeter decimeters", "cm": "cm centimetre centimetres centimeter centimeters",
        "mm": "mm millimetre millimetres millimeter millimeters",
        "\u03bcm": "\u03bcm micrometre micrometres micrometer micrometers micron microns",
        "mi": "mi mile miles", "ft": "ft foot feet", "in": "inch inches",
    },
    "mass": {
        "t": "tonne tonnes", "kg": "kg kilogram kilograms kilogramme kilogrammes", "g": "gram grams gramme grammes",
        "mg": "mg milligram milligrams milligramme milligrammes", "\u03bcg": "\u03bcg mcg microgram micrograms",
        "lb": "lb lbs",
    },
    "volume": {
        "hl": "hl hectolitre hectolitres hectoliter hectoliters", "l": "litre litres liter liters",
        "dl": "dl decilitre decilitres deciliter deciliters", "cl": "cl centilitre centilitres centiliter centiliters",
        "ml": "ml millilitre millilitres milliliter milliliters",
    },
    "time": {
        "ms": "ms millisecond milliseconds", "s": "sec secs second seconds", "min": "min mins minute minutes",
        "h": "hr hrs hour hours", "d": "day days", "wk": "week weeks", "mo": "month months", "yr": "year years",
        "decades": "decades",
    },
}  # fmt: skip
_EAST_ASIAN = {
    "km": "公里 千米 キロメートル 킬로미터",
    "m": "米 公尺 メートル 미터",
    "cm": "厘米 公分 センチメートル センチ 센티미터",
    "mm": "毫米 公厘 ミリメートル ミリ 밀리미터",
    "t": "吨 噸 トン 톤",
    "kg": "千克 公斤 キログラム 킬로그램",
    "g": "克 グラム 그램",
    "mg": "毫克 ミリグラム 밀리그램",
    "l": "升 公升 リットル 리터",
    "ml": "毫升 ミリリットル 밀리리터",
    "s": "秒 秒間 초",
    "min": "分钟 分鐘 分間",
    "h": "小时 小時 時間 시간",
}
_FACTORS = {
    "%": "1/100", "‰": "1/1000",
    "km": "1000", "m": "1", "dm": "1/10", "cm": "1/100", "mm": "1/1000", "\u03bcm": "1/1000000",
    "t": "1000000", "kg": "1000", "g": "1", "mg": "1/1000", "\u03bcg": "1/1000000",
    "hl": "100", "l": "1", "dl": "1/10", "cl": "1/100", "ml": "1/1000",
    "ms": "1/1000", "s": "1", "min": "60", "h": "3600", "d": "86400", "wk": "604800",
    "mo": "2629746", "yr": "31556952",  # of the mean Gregorian year, so that twelve months are a year
}  # fmt: skip
_EXACT = {unit: Fraction(factor) for unit, factor in _FACTORS.items()}
_BY_NAME = {name: unit for kinds in _NAMES.values() for unit, names in kinds.items() for name in names.split()}
_BY_NAME |= {name: unit for unit, names in _EAST_ASIAN.items() for name in names.split()}
_BY_NAME |= {"per cent": "%", "per mille": "‰", "percentage point": "%-points", "percentage points": "%-points"}
_BY_NAME |= {"metric ton": "t", "metric tons": "t"}
# Of one letter, as the standard writes them: "5 G" and "5 S" are something else.
_SYMBOLS = {"m": "m", "g": "g", "t": "t", "l": "l", "L": "l", "s": "s", "h": "h"}
_KINDS = {unit: kind for kind, units in _NAMES.items() for unit in units}

_END = rf"(?:(?!\w)|(?=[{GLUED}]))"
NAMES_PATTERN = r"per\ ?cent|per\ mille|percentage\ points?|metric\ tons?|" + "|".join(
    sorted((re.escape(name) for name in _BY_NAME if name.isalpha()), key=len, reverse=True)
)
"""Pattern of all names that consist of letters, the longest first; in any case."""
SYMBOLS_PATTERN = rf"(?-i:[{''.join(_SYMBOLS)}])(?![\w'-]|\.\w)"
"""Pattern of symbols of one letter; not of the beginning of a word such as "t-shirt"."""

_PER = re.compile(
    rf"(?: ?/ ?| per )(?P<any>(?:{NAMES_PATTERN}){_END}|{SYMBOLS_PATTERN})"
    r"| (?:an?|each|every) (?P<time>second|minute|hour)\b",
    re.IGNORECASE,
)
_RATES = frozenset(("ms", "s", "min", "h"))
_LONG_TIMES = frozenset(("d", "wk", "mo", "yr"))


def unit_named(name: str) -> str:
    """Return the canonical unit of a name, symbol or sign; "" for another word."""
    return _SYMBOLS.get(name) or _BY_NAME.get(name.lower(), "")


def kind_of(unit: str) -> str | None:
    """Return the kind of a canonical unit, such as "length"; None for none."""
    return _KINDS.get(unit)


def denominator(text: str, start: int) -> tuple[str, int]:
    """Return the unit that a unit is divided by there, as in "km/h" or "per hour", and where it ends; "" for none.

    >>> denominator("5 km/h", 4)
    ('h', 6)
    """
    match = _PER.match(text, start)
    return (unit_named(match["any"] or match["time"]), match.end()) if match else ("", start)


def amounts(values: Iterable[str | Fraction], unit: str, per: str = "") -> tuple[tuple[str, Fraction], ...]:
    """Return what values amount to in the base unit of their kind; empty for a unit without exact conversion.

    A rate by the second, minute or hour is of another kind than its unit. "A day" is often left out or written "daily",
    so a rate by the day or longer is not.

    Args:
        values: decimal numbers, such as "1.25".
        unit: the canonical unit.
        per: the canonical unit of the denominator, if any.

    >>> amounts(["1.25"], "km") == amounts(["1250"], "m"), amounts(["36"], "km", "h") == amounts(["10"], "m", "s")
    (True, True)
    """
    if unit not in _EXACT:
        return ()
    kind, factor = _KINDS[unit], _EXACT[unit]
    if per in _RATES:
        kind, factor = f"{kind} by time", factor / _EXACT[per]
    elif per and per not in _LONG_TIMES:
        kind = f"{kind} by {per}"
    return tuple((kind, Fraction(value) * factor) for value in values)
