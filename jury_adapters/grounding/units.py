"""Units of measure: their names and symbols, their kinds, and exact conversion within a kind.

SI prefixes are read by rule: a unit is listed once, with the prefixes that it takes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction

from jury_adapters.grounding.normalisation import GLUED

_PREFIXES = {
    "T": ("tera", "1000000000000"), "G": ("giga", "1000000000"), "M": ("mega", "1000000"), "k": ("kilo", "1000"),
    "h": ("hecto", "100"), "d": ("deci", "1/10"), "c": ("centi", "1/100"), "m": ("milli", "1/1000"),
    "\u03bc": ("micro", "1/1000000"), "n": ("nano", "1/1000000000"),
}  # fmt: skip
# Of each unit with prefixes: the kind, the symbols, the words (without the plural s), the prefixes, and the factor to
# the base unit of its kind; "" where multiples are not exact, such as 1000 or 1024 bytes.
_SI = (
    ("length", "m", "metre meter", "k d c m \u03bc n", "1"),
    ("mass", "g", "gram gramme gramm", "k m \u03bc n", "1"),
    ("volume", "l", "litre liter", "h d c m \u03bc", "1"),
    ("time", "s", "second", "m \u03bc n", "1"),
    ("force", "N", "newton", "M k m", "1"),
    ("torque", "Nm", "newton-metre newton-meter", "M k c m", "1"),
    ("pressure", "Pa", "pascal", "G M k h m", "1"),
    ("pressure", "bar", "", "m", "100000"),
    ("energy", "J", "joule", "T G M k m", "1"),
    ("energy", "Wh", "watt-hour watt-stunde", "T G M k", "3600"),
    ("power", "W", "watt", "T G M k m", "1"),
    ("apparent power", "VA", "volt-ampere", "M k", "1"),
    ("frequency", "Hz", "hertz", "T G M k", "1"),
    ("voltage", "V", "volt", "M k m \u03bc", "1"),
    ("current", "A", "ampere amp", "k m \u03bc n", "1"),
    ("charge", "Ah", "ampere-hour amp-hour ampere-stunde", "m", "3600"),
    ("resistance", "\u03a9", "ohm", "M k m", "1"),
    ("data", "B", "byte", "T G M k", ""),
    ("data", "bit", "", "T G M k", ""),
)  # fmt: skip
_NAMES = {
    "share": {"%": "% percent pct", "‰": "‰ permille promille", "%-points": ""},
    "money": {
        "USD": "$ dollar dollars usd", "EUR": "€ euro euros eur", "GBP": "£ pound pounds gbp",
        "JPY": "¥ yen jpy", "INR": "₹ rupee rupees",
    },
    "length": {"mi": "mi mile miles mph", "yd": "yd yard yards", "ft": "ft foot feet", "in": "inch inches",
               "\u03bcm": "micron microns"},
    "area": {"m^2": "", "ha": "ha hectare hectares hektar", "acre": "acre acres"},
    "mass": {"t": "tonne tonnes", "lb": "lb lbs", "oz": "oz ounce ounces", "\u03bcg": "mcg"},
    "volume": {
        "gal": "gal gallon gallons", "qt": "quart quarts", "pt": "pint pints", "bbl": "bbl barrel barrels",
        "ml": "cc ccm",
    },
    "time": {
        "s": "sec secs sekunde sekunden", "min": "min mins minute minutes minuten",
        "h": "hr hrs hour hours stunde stunden", "d": "day days tag tage tagen", "wk": "week weeks woche wochen",
        "mo": "month months monat monate monaten", "yr": "year years jahr jahre jahren", "decades": "decades",
    },
    "temperature": {"°C": "celsius", "°F": "fahrenheit", "K": "kelvin kelvins"},
    "pressure": {"psi": "psi", "mmHg": "mmhg"},
    "torque": {"lb-ft": "lbft ftlb"},
    "energy": {"kcal": "kcal kilocalorie kilocalories", "BTU": "btu btus"},
    "power": {"hp": "hp bhp horsepower"},
    "frequency": {"rpm": "rpm"},
    "level": {"dB": "db decibel decibels"},
}  # fmt: skip
# Units whose names are not one word of letters, as patterns in verbose mode: the kind and unit, and their forms.
_PHRASES = (
    ("share", "%", r"per\ ?cent"),
    ("share", "‰", r"per\ mille"),
    ("share", "%-points", r"percentage\ points?"),
    ("mass", "t", r"metric\ tons?"),
    ("volume", "floz", r"fl\.?\ ?oz|fluid\ ounces?"),
    ("temperature", "°C", r"(?-i:[°o]\ ?C)|(?-i:C)(?!['-])|(?:degrees?|deg\.?|grad)\ (?:celsius|centigrade|C)"),
    ("temperature", "°F", r"(?-i:[°o]\ ?F)|(?-i:F)(?!['-])|(?:degrees?|deg\.?|grad)\ (?:fahrenheit|F)"),
    ("frequency", "rpm", r"(?:1|U|r)/min|min\^?-1|revolutions\ (?:per|a)\ minute|umdrehungen\ (?:pro|je)\ minute"),
    ("torque", "lb-ft", r"lbf?[-·\ ]ft|ft[-·\ ]lbs?f?|pound-f(?:ee|oo)t|foot-pounds?"),
    ("torque", "Nm", r"(?-i:N[·\ ]m)"),
    *(("area", f"{prefix}m^2", rf"{prefix}m\^?2|square[- ]{word}met(?:re|er)s?|{word}quadratmeter|quadrat{word}meter")
      for prefix, word in (("k", "kilo"), ("c", "centi"), ("m", "milli"), ("", ""))),
    *(("volume", f"{prefix}m^3", rf"{prefix}m\^?3|cubic[- ]{word}met(?:re|er)s?|{word}kubikmeter|kubik{word}meter")
      for prefix, word in (("d", "deci"), ("c", "centi"), ("m", "milli"), ("", ""))),
)  # fmt: skip
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
_EXACT_FACTORS = {
    "%": "1/100", "‰": "1/1000",
    "mi": "1609.344", "yd": "0.9144", "ft": "0.3048", "in": "0.0254",
    "m^2": "1", "km^2": "1000000", "cm^2": "1/10000", "mm^2": "1/1000000", "ha": "10000", "acre": "4046.8564224",
    "t": "1000000", "lb": "453.59237", "oz": "28.349523125",
    "m^3": "1000", "dm^3": "1", "cm^3": "1/1000", "mm^3": "1/1000000",
    "min": "60", "h": "3600", "d": "86400", "wk": "604800",
    "mo": "2629746", "yr": "31556952",  # of the mean Gregorian year, so that twelve months are a year
    "K": "1", "°C": "1", "°F": "5/9", "rpm": "1/60",
}  # fmt: skip
_ZEROS = {"K": Fraction(0), "°C": Fraction("273.15"), "°F": Fraction("459.67")}  # above absolute zero
# Of one letter, as the standard writes them: "5 G" and "5 S" are something else.
_LETTERS = {unit: unit for unit in "mgtlshNJWVA"} | {"L": "l"}


def _multiples() -> Iterator[tuple[str, str, str, list[str]]]:
    """Yield each unit with each of its prefixes: its kind, symbol, factor ("" for none) and words."""
    for kind, symbol, words, prefixes, factor in _SI:
        for prefix in ("", *prefixes.split()):
            before, times = _PREFIXES.get(prefix, ("", "1"))
            exact = str(Fraction(factor) * Fraction(times)) if factor else ""
            yield kind, prefix + symbol, exact, [before + word.replace("-", "") for word in words.split()]


_EXACT = {unit: Fraction(factor) for unit, factor in _EXACT_FACTORS.items()}
_EXACT |= {unit: Fraction(factor) for _, unit, factor, _ in _multiples() if factor}
_KINDS = {unit: kind for kind, units in _NAMES.items() for unit in units}
_KINDS |= {unit: kind for kind, unit, _, _ in _multiples()} | {unit: kind for kind, unit, _ in _PHRASES}
_BY_NAME = {name: unit for kinds in _NAMES.values() for unit, names in kinds.items() for name in names.split()}
_BY_NAME |= {name: unit for unit, names in _EAST_ASIAN.items() for name in names.split()}
for _, _unit, _, _words in _multiples():
    for _word in _words:
        _BY_NAME |= dict.fromkeys((_word, f"{_word}s", f"{_word}n"), _unit)
_SYMBOLS = {unit: unit for _, unit, *_ in _multiples() if len(unit) > 1}
_LOWER = [symbol.lower() for symbol in _SYMBOLS]
# In capitals or without them, where only one symbol has these letters: "KWH", but not "MW" and "mw".
_BY_NAME |= {symbol.lower(): symbol for symbol in _SYMBOLS if _LOWER.count(symbol.lower()) == 1}

_END = rf"(?:(?!\w)|(?=[{GLUED}]))"
_WORDS = sorted((word.replace("-", r"[-\ ]?") for *_, words, _, _ in _SI for word in words.split()), key=len)[::-1]
_LISTED = sorted((re.escape(name) for kinds in (*_NAMES.values(), _EAST_ASIAN) for names in kinds.values()
                  for name in names.split() if name.isalpha()), key=len)[::-1]  # fmt: skip
_PREFIXED = rf"[{''.join(_PREFIXES)}]"
NAMES_PATTERN = "|".join(
    (
        *(pattern for *_, pattern in _PHRASES),
        rf"(?:{'|'.join(word for word, _ in _PREFIXES.values())})?(?:{'|'.join(_WORDS)})[sn]?",
        rf"{_PREFIXED}?(?:{'|'.join(symbol for _, symbol, *_ in _SI if len(symbol) > 1)})",
        rf"{_PREFIXED}[{''.join(symbol for _, symbol, *_ in _SI if len(symbol) == 1)}]",
        *_LISTED,
    )
)
"""Pattern of all names and symbols, but those of one letter; in any case."""
SYMBOLS_PATTERN = rf"(?-i:[{''.join(_LETTERS)}])(?![\w'-]|\.\w)"
"""Pattern of symbols of one letter; not of the beginning of a word such as "t-shirt"."""
_IN_PHRASES = tuple((re.compile(pattern, re.VERBOSE | re.IGNORECASE), unit) for _, unit, pattern in _PHRASES)

_PER = re.compile(
    rf"(?: ?/ ?| per )(?P<any>(?:{NAMES_PATTERN}){_END}|{SYMBOLS_PATTERN})"
    r"| (?:an?|each|every) (?P<time>second|minute|hour)\b",
    re.IGNORECASE,
)
_SEPARATORS = re.compile("[- ]")
_OTHER_SYMBOLS = frozenset(("rpm", "psi", "mmHg", "hp", "BTU", "dB", "kcal"))
_RATES = frozenset(("ms", "s", "min", "h"))
_LONG_TIMES = frozenset(("d", "wk", "mo", "yr"))


def unit_named(name: str) -> str:
    """Return the canonical unit of a name, symbol or sign; "" for another word.

    >>> [unit_named(name) for name in ("kilowatt hour", "kWh", "KWH", "MW", "mW", "m\u00b3", "cubic metres", "word")]
    ['kWh', 'kWh', 'kWh', 'MW', 'mW', '', 'm^3', '']
    """
    if found := _LETTERS.get(name) or _SYMBOLS.get(name) or _BY_NAME.get(_SEPARATORS.sub("", name.lower())):
        return found
    return next((unit for pattern, unit in _IN_PHRASES if pattern.fullmatch(name)), "")


def is_symbol(word: str) -> bool:
    """Return whether a word of two letters or more is the symbol of a unit, such as "kWh" or "rpm", as it is written.

    >>> [word for word in ("kWh", "Hz", "MW", "psi", "Kwh", "metre", "V") if is_symbol(word)]
    ['kWh', 'Hz', 'MW', 'psi']
    """
    return word in _SYMBOLS or word in _OTHER_SYMBOLS


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
    kind, factor, zero = _KINDS[unit], _EXACT[unit], Fraction(0)
    if not per:
        zero = _ZEROS.get(unit, zero)
    if per in _RATES:
        kind, factor = f"{kind} by time", factor / _EXACT[per]
    elif per and per not in _LONG_TIMES:
        kind = f"{kind} by {per}"
    return tuple((kind, (Fraction(value) + zero) * factor) for value in values)
