"""Shares as exact fractions, so that 2 of 3 meets two thirds in any notation."""

from __future__ import annotations

import re
from fractions import Fraction
from math import floor, isfinite
from typing import TypeAlias

from jury_adapters.core.errors import ConfigurationError, plain_repr

Share: TypeAlias = float | str | tuple[int, int] | Fraction

_LARGEST_DENOMINATOR = 12
_SHARE = re.compile(r"\s*-?[0-9]{0,20}(\.[0-9]{0,20}|\s*/\s*[0-9]{1,20})?\s*")


def parse_share(value: Share, what: str = "share") -> Fraction:
    """Return a share of 0..1 as an exact fraction.

    A float is read by its decimals: 0.6 is 3/5. A float with two or more decimals may be a rounded fraction: if a
    fraction with a denominator of at most 12 rounds to exactly those decimals, the smaller of the two applies. So 0.67
    is 2/3, and 2 of 3 meets it, but 1 of 3 does not meet 0.34. Integers, ``"2/3"`` and ``(2, 3)`` are exact.

    Raises:
        ConfigurationError: the value is not a number, or is outside 0..1.

    >>> parse_share(0.67), parse_share(0.34), parse_share("2/3")
    (Fraction(2, 3), Fraction(17, 50), Fraction(2, 3))
    """
    try:
        share = _read(value)
    except (ValueError, TypeError, ZeroDivisionError) as error:
        raise ConfigurationError(
            f'{what} must be a number from 0 to 1, "2/3" or (2, 3); not {plain_repr(value)}'
        ) from error
    if not 0 <= share <= 1:
        raise ConfigurationError(f"{what} must lie from 0 to 1, not {plain_repr(value)}")
    return share


def _read(value: Share) -> Fraction:
    if isinstance(value, bool):
        raise TypeError("a share is not a truth value")
    if isinstance(value, tuple):
        return Fraction(*value)
    if isinstance(value, str) and not _SHARE.fullmatch(value):
        raise ValueError("neither a decimal number nor a fraction")  # an exponent could stand for gigabytes of digits
    if isinstance(value, str | int | Fraction):
        return Fraction(value)
    if not isfinite(value):
        raise ValueError("not finite")
    text = repr(float(value))
    exact = Fraction(text)
    decimals = len(text.partition(".")[2]) if "e" not in text else 0
    return min([exact, *_rounded_to(exact, decimals)]) if decimals >= 2 else exact


def _rounded_to(exact: Fraction, decimals: int) -> list[Fraction]:
    scale = 10**decimals
    nearest = (Fraction(round(exact * d), d) for d in range(1, _LARGEST_DENOMINATOR + 1))
    return [f for f in nearest if Fraction(floor(f * scale + Fraction(1, 2)), scale) == exact]
