"""Index of the numbers and dates of a source, which answers whether they cover those of an answer."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

from jury_adapters.grounding.east_asian import has_number_words, in_digits
from jury_adapters.grounding.fraction_words import shares
from jury_adapters.grounding.months import days_in, months_in
from jury_adapters.grounding.normalisation import STOPWORDS
from jury_adapters.grounding.quantities import (
    PLAIN_NUMBER,
    Marks,
    Quantity,
    bare,
    quantities,
)
from jury_adapters.grounding.times_of_day import (
    counts_24_hours,
    half_in_words,
    has_full_hour_of_24,
    speaks_times,
    times_in_words,
)
from jury_adapters.grounding.units import is_symbol, kind_of


@dataclass(slots=True)
class NumberIndex:
    """Index of the numbers and dates of a source, which answers whether they cover another one.

    Attributes:
        source: the tidied text.
        marks: what a comma or full stop before three digits can mean in it.
        loose: whether digits that are only a part of a number, date or code count too.

    >>> index = NumberIndex("As of 22 February 2020, 77, 984 cases were known.")
    >>> [index.covers(q) for q in quantities("On February 22, 2020 there were 77,984, not 80,111.")]
    [True, True, False]
    """

    source: str
    marks: Marks = "any"
    loose: bool = True
    _values: set[str] = field(default_factory=set)
    _months: set[int] = field(default_factory=set)
    _days: dict[tuple[int, int], set[str]] = field(default_factory=dict)  # with their years; "" for a date without one
    _units: dict[str, set[str]] = field(default_factory=dict)
    _sizes: list[Decimal] = field(default_factory=list)
    _after: set[str] = field(default_factory=set)
    _amounts: set[tuple[str, Fraction]] = field(default_factory=set)
    _times: set[str] = field(default_factory=set)
    _other_halves: set[str] = field(default_factory=set)  # what times in digits mean in the other half of the day
    _hours: set[str] = field(default_factory=set)
    _fractions: set[Fraction] = field(default_factory=set)
    _signs: dict[str, set[bool]] = field(default_factory=dict)
    _writes_times: bool = False
    _counts_24_hours: bool = False
    _decimal_commas: bool = False

    def __post_init__(self) -> None:
        self._values.update(range_ends(self.source))
        text = f"{self.source}\n{in_digits(self.source)}" if has_number_words(self.source) else self.source
        if self.loose:
            self._values.update(bare(digits) for digits in set(re.findall(r"\d+", text)))
        for found in quantities(text, self.marks):
            self._values.update(found.times if found.is_time and ":" in found.text else found.readings)
            self._decimal_commas |= _DECIMAL_COMMA.search(found.text) is not None
            self._values.update(found.parts)
            self._add_times(found, text)
            for day in found.day:
                self._days.setdefault(day, set()).update(found.readings or ("",))
            self._months.update(month for month, _ in found.day)
            for value in found.readings:
                self._units.setdefault(value, set()).add(found.unit)
                self._signs.setdefault(value, set()).add(found.negative)
            self._amounts.update(found.amounts)
            if found.fraction is not None and not found.unit:
                self._fractions.add(found.fraction)
            if found.after:
                self._after.add(found.after)
        for day in days_in(self.source):  # read generously, so that most of them have been found with their year
            self._days.setdefault(day, {""})
        self._months.update(month for month, _ in self._days)
        self._counts_24_hours |= has_full_hour_of_24(text)
        self._times.update(times_in_words(text), () if self._counts_24_hours else self._other_halves)
        self._fractions.update(shares(text))
        self._months.update(months_in(self.source))
        self._sizes = sorted(Decimal(value) for value in self._values if PLAIN_NUMBER.fullmatch(value))

    def covers(self, asked: Quantity) -> bool:
        """Return whether the source states this number or date, also in another unit, or one that it rounds."""
        if asked.day:
            return self._has_date(asked)
        if asked.is_time:
            return self._has_time(asked)
        if asked.fraction is not None or asked.unit == "%":
            return self._has_share(asked)
        if any(value in self._values for value in asked.readings):
            return True
        if asked.readings and self._near(asked.readings[0], asked):
            return True
        if not self._amounts.isdisjoint(asked.amounts):
            return True
        if self._decimal_commas and _DECIMAL_COMMA.search(asked.text):
            return False  # "2,1" is not a list of 2 and 1 where "1,2" is a decimal number
        return bool(asked.parts) and all(part in self._values for part in asked.parts)

    def other_sign(self, asked: Quantity) -> bool:
        """Return whether the source has this number, and only with the other sign."""
        if asked.is_time or asked.fraction is not None or not asked.readings:
            return False
        seen = set().union(*(self._signs.get(value, ()) for value in asked.readings))
        return bool(seen) and asked.negative not in seen

    def other_year(self, asked: Quantity) -> bool:
        """Return whether the source has this day, and only in another year."""
        return bool(asked.readings) and any(day in self._days for day in asked.day) and not self._has_date(asked)

    def has_fractions(self) -> bool:
        """Return whether the source gives a share as a fraction: "two thirds", "2/3", "one in four"."""
        return bool(self._fractions)

    def writes_times_in_digits(self) -> bool:
        """Return whether the source writes times of day in digits, and none in words of a language that is not read."""
        return self._writes_times and not speaks_times(self.source)

    def states(self, asked: Quantity) -> bool:
        """Return whether the source covers this number or date with the same unit, or has an equal amount."""
        if kind_of(asked.unit) is None:
            return self.covers(asked)
        if not self._amounts.isdisjoint(asked.amounts):
            return True
        if any(asked.unit in self._units.get(value, ()) for value in asked.readings):
            return True
        return bool(asked.readings) and self._near(asked.readings[0], asked) and self.has_unit(asked.unit)

    def months(self) -> set[int]:
        """Return the months (1 to 12) in names and dates of the source."""
        return self._months

    def has_unit(self, unit: str) -> bool:
        """Return whether the source gives a number in digits with this unit."""
        return any(unit in units for units in self._units.values())

    def _has_kind(self, unit: str) -> bool:
        """Return whether the source gives measures in digits in any unit of the kind of this one."""
        kind = kind_of(unit)
        return kind is not None and any(kind_of(other) == kind for units in self._units.values() for other in units)

    def writes_in_digits(self, asked: Quantity) -> bool:
        """Return whether the source gives numbers in digits with the unit of this one, or a unit of its kind.

        Many styles spell smaller numbers out before a word, also one for a time. So from 13 up only, numbers before the
        same word count, and times before words such as "hours".
        """
        if asked.word or not asked.readings:
            return False
        large = PLAIN_NUMBER.fullmatch(asked.readings[0]) is not None and Decimal(asked.readings[0]) > _SPELLED_OUT
        if asked.unit and (self.has_unit(asked.unit) or self._has_kind(asked.unit)):
            return large or kind_of(asked.unit) != "time" or (has_symbol(asked) and self.has_unit(asked.unit))
        return large and asked.after in self._after

    def other_units(self, asked: Quantity) -> bool:
        """Return whether the source gives this number, and only with units other than this one, of any kind."""
        seen = set().union(*(self._units.get(value, ()) for value in asked.readings))
        measured = kind_of(asked.unit) is not None and bool(seen) and all(map(kind_of, seen))
        return measured and asked.unit not in seen and self._amounts.isdisjoint(asked.amounts)

    def other_unit(self, asked: Quantity) -> str:
        """Return another unit of the same kind that the source gives this number; "" if there is none."""
        kind = kind_of(asked.unit)
        seen = set().union(*(self._units.get(value, ()) for value in asked.readings))
        if kind is None or asked.unit in seen or any(kind_of(unit) != kind for unit in seen):
            return ""
        if not self._amounts.isdisjoint(asked.amounts):
            return ""  # "7,000 grams" may be read as 7 grams, and is 7 kg
        return " or ".join(sorted(seen))

    def _add_times(self, found: Quantity, text: str) -> None:
        """Add the times that a number states, and the hours of a numeral that may be one: "at 6", "9.30", "0930"."""
        halves = 1 if _either_half(found) else len(found.times)
        self._times.update(found.times[:halves])
        self._other_halves.update(found.times[halves:])
        of_timestamp = text[found.start - 1 : found.start] == "T"
        self._counts_24_hours |= found.is_time and not of_timestamp and counts_24_hours(found.text)
        self._times.update(value.rpartition(":")[0] for value in found.times if value.count(":") == 2)
        self._writes_times |= bool(found.times) or _FULL_HOUR.match(text, found.start) is not None
        measured = found.unit not in ("", "h") or (found.after and found.after not in _AFTER_HOURS)
        if not (found.is_time or found.times or measured or found.fraction or half_in_words(text, found.end)):
            self._hours.update(found.readings)

    def _has_time(self, asked: Quantity) -> bool:
        times, readings = asked.times, set(asked.readings)
        if self._counts_24_hours and _either_half(asked):
            times, readings = times[:1], _as_numerals(times[0])
        if not self._times.isdisjoint(times):
            return True
        if not self._hours.isdisjoint(readings) or not self._amounts.isdisjoint(asked.amounts):
            return True
        hours, _, minutes = asked.times[0].partition(":")  # "2 h 30" beside "2 hours and 30 minutes"
        return bool(asked.amounts) and self._has_measure(hours, "h") and self._has_measure(bare(minutes), "min")

    def _has_measure(self, value: str, unit: str) -> bool:
        return unit in self._units.get(value, ())

    def _has_share(self, asked: Quantity) -> bool:
        """Return whether the source states a fraction or percentage, as either; a fraction in words may round it."""
        if not self._amounts.isdisjoint(asked.amounts):
            return True
        if asked.fraction is None:
            if any(value in self._values for value in asked.readings) or self._near(asked.readings[0], asked):
                return True
            return any(_rounds(value, fraction) for value in asked.readings for fraction in self._fractions)
        if any(value in self._values for value in asked.readings):
            return True
        if asked.word and not asked.unit:
            known = {*self._fractions, *(value for kind, value in self._amounts if kind == "share")}
            return any(abs(asked.fraction - value) <= _ROUGHLY for value in known)
        return bool(asked.parts) and all(part in self._values for part in asked.parts)

    def _has_date(self, asked: Quantity) -> bool:
        if asked.readings and not any(year in self._values for year in asked.readings):
            return False
        if any(day == 0 and month in self._months for month, day in asked.day):
            return True
        years = set().union(*(self._days.get(day, ()) for day in asked.day))
        return bool(years) and (not asked.readings or "" in years or not years.isdisjoint(asked.readings))

    def _near(self, value: str, asked: Quantity) -> bool:
        """Return whether the source has a year of this decade or century, or a number that this one rounds."""
        if not PLAIN_NUMBER.fullmatch(value):
            return False
        if asked.unit == "decade":
            return any(str(int(value) + year) in self._values for year in range(10))
        if asked.unit == "century":
            return self._within(Decimal(value) * 100 - 100, Decimal(value) * 100)
        if asked.step:
            return self._within(Decimal(value) - asked.step, Decimal(value) + asked.step)
        return False

    def _within(self, low: Decimal, high: Decimal) -> bool:
        at = bisect_left(self._sizes, low)
        return at < len(self._sizes) and self._sizes[at] <= high


def _either_half(found: Quantity) -> bool:
    """Return whether a time in digits may be in either half of the day, as "9:30" may; the first comes first."""
    return len(found.times) > 1 and found.text[0].isdigit() and not found.times[0].startswith("24")


def _as_numerals(time: str) -> set[str]:
    """Return how a time may be written without its mark: "9.30" and "930", or "9" for the full hour."""
    hour, minutes = time.split(":")[:2]
    return {bare(f"{hour}.{minutes}"), f"{hour}{minutes}"} | ({hour} if minutes == "00" else set())


def _rounds(percentage: str, fraction: Fraction) -> bool:
    """Return whether a percentage is a fraction, rounded to its last digit: 33 or 33.3 for a third."""
    if not PLAIN_NUMBER.fullmatch(percentage):
        return False
    decimals = len(percentage.partition(".")[2])
    return abs(Fraction(percentage) - 100 * fraction) <= Fraction(1, 2 * 10**decimals)


def has_symbol(asked: Quantity) -> bool:
    """Return whether the unit of a number is a symbol, such as "Nm" or "°C", and not a word; a percentage has none.

    >>> [found.text for found in quantities("5 Nm, 5 hours, 5 °C, 5 %") if has_symbol(found)]
    ['5 Nm', '5 °C']
    """
    unit = asked.text.lstrip("0123456789.,' -")
    return kind_of(asked.unit) not in (None, "share") and (len(unit) < 3 or is_symbol(unit) or unit == "min")


def range_ends(text: str) -> set[str]:
    """Return the last years of ranges such as "2010-11"."""
    return {first[:2] + second for first, second in set(_RANGE.findall(text))}


_RANGE = re.compile(r"\b(\d{4}) ?[-/] ?(\d{2})\b")
_DECIMAL_COMMA = re.compile(r"(?<![\d,.])\d+,(?:\d{1,2}|\d{4,})(?![\d,])")
_SPELLED_OUT = 12
_ROUGHLY = Fraction(1, 50)
_AFTER_HOURS = STOPWORDS | {"o", "sharp", "noon", "uhr", "uur", "h", "heures", "daily"}
_FULL_HOUR = re.compile(r"\d{1,2}(?: ?h|\xa0?h| Uhr)\b", re.IGNORECASE)  # "14h", "14 Uhr"
