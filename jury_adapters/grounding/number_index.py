"""Index of the numbers and dates of a source, which answers whether they cover those of an answer."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

from jury_adapters.grounding.east_asian import has_number_words, in_digits
from jury_adapters.grounding.months import days_in, months_in
from jury_adapters.grounding.quantities import (
    PLAIN_NUMBER,
    Marks,
    Quantity,
    bare,
    quantities,
)
from jury_adapters.grounding.units import kind_of


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
    _days: set[tuple[int, int]] = field(default_factory=set)
    _units: dict[str, set[str]] = field(default_factory=dict)
    _sizes: list[Decimal] = field(default_factory=list)
    _after: set[str] = field(default_factory=set)
    _amounts: set[tuple[str, Fraction]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._values.update(range_ends(self.source))
        self._days.update(days_in(self.source))
        self._months.update(month for month, _ in self._days)
        text = f"{self.source}\n{in_digits(self.source)}" if has_number_words(self.source) else self.source
        if self.loose:
            self._values.update(bare(digits) for digits in set(re.findall(r"\d+", text)))
        for found in quantities(text, self.marks):
            clock = [value for value in found.readings if ":" in value]
            self._values.update(clock if clock and ":" in found.text else found.readings)
            self._values.update(found.parts)
            self._values.update(value.rpartition(":")[0] for value in clock if value.count(":") == 2)
            self._days.update(found.day)
            self._months.update(month for month, _ in found.day)
            for value in found.readings:
                self._units.setdefault(value, set()).add(found.unit)
            self._amounts.update(found.amounts)
            if found.after:
                self._after.add(found.after)
        self._months.update(months_in(self.source))
        self._sizes = sorted(Decimal(value) for value in self._values if PLAIN_NUMBER.fullmatch(value))

    def covers(self, asked: Quantity) -> bool:
        """Return whether the source states this number or date, also in another unit, or one that it rounds."""
        if asked.day:
            return self._has_date(asked)
        if any(value in self._values for value in asked.readings):
            return True
        if asked.readings and self._near(asked.readings[0], asked):
            return True
        if not self._amounts.isdisjoint(asked.amounts):
            return True
        return bool(asked.parts) and all(part in self._values for part in asked.parts)

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

    def writes_in_digits(self, asked: Quantity) -> bool:
        """Return whether the source gives numbers in digits with the unit of this one or, from 13 up, before its word.

        Many styles spell smaller numbers out.
        """
        if asked.word or not asked.readings:
            return False
        if asked.unit and self.has_unit(asked.unit):
            return True
        large = PLAIN_NUMBER.fullmatch(asked.readings[0]) is not None and Decimal(asked.readings[0]) > _SPELLED_OUT
        return large and asked.after in self._after

    def other_unit(self, asked: Quantity) -> str:
        """Return another unit of the same kind that the source gives this number; "" if there is none."""
        kind = kind_of(asked.unit)
        seen = set().union(*(self._units.get(value, ()) for value in asked.readings))
        if kind is None or asked.unit in seen or any(kind_of(unit) != kind for unit in seen):
            return ""
        if not self._amounts.isdisjoint(asked.amounts):
            return ""  # "7,000 grams" may be read as 7 grams, and is 7 kg
        return " or ".join(sorted(seen))

    def _has_date(self, asked: Quantity) -> bool:
        if asked.readings and not any(year in self._values for year in asked.readings):
            return False
        return any((month in self._months) if day == 0 else ((month, day) in self._days) for month, day in asked.day)

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


def range_ends(text: str) -> set[str]:
    """Return the last years of ranges such as "2010-11"."""
    return {first[:2] + second for first, second in set(_RANGE.findall(text))}


_RANGE = re.compile(r"\b(\d{4}) ?[-/] ?(\d{2})\b")
_SPELLED_OUT = 12
