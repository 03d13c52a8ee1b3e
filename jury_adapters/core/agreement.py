"""Agreement of jurors on one case, and over a batch of cases.

One case has *item agreement* (:func:`pairwise_agreement`). Only a batch has a reliability coefficient that corrects for
chance (:func:`krippendorff_alpha`): on a single case alpha is 0 or undefined by algebra.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import fsum, isfinite
from typing import Literal

from jury_adapters.core.errors import ConfigurationError, plain_repr, unknown

Band = Literal["high", "medium", "low"]
Level = Literal["nominal", "ordinal", "interval", "ratio"]
Rating = str | float | None

HIGH = Fraction(4, 5)
MEDIUM = Fraction(2, 3)
_REMEMBERED = 1024  # combinations of ballots, of the cases seen last


def pairwise_agreement(ballots: Sequence[str | float]) -> float | None:
    """Return agreeing pairs / pairs, or for scores 1 - mean absolute pairwise difference; None below two ballots.

    >>> pairwise_agreement(["KEEP", "KEEP", "KEEP", "REJECT"])
    0.5
    """
    return _agreement(tuple(ballots))


def modal_share(ballots: Sequence[str | float]) -> Fraction:
    """Return the share of the most frequent ballot as an exact fraction; 0 without ballots."""
    return Fraction(max(Counter(ballots).values()), len(ballots)) if ballots else Fraction(0)


def ballots_band(ballots: Sequence[str | float], on: Literal["pairs", "share"] = "pairs") -> Band | None:
    """Return the agreement band of one case, computed with exact fractions; None below two ballots."""
    return _band(tuple(ballots), on)


def band_of(agreement: Fraction | float | None) -> Band | None:
    """Return ``"high"`` from 4/5, ``"medium"`` from 2/3, else ``"low"``; None if the agreement is undefined."""
    if agreement is None:
        return None
    # A float is a rounded fraction: the float 2/3 is below the exact 2/3 but must count as equal.
    high, medium = (float(HIGH), float(MEDIUM)) if isinstance(agreement, float) else (HIGH, MEDIUM)
    if agreement >= high:
        return "high"
    return "medium" if agreement >= medium else "low"


@dataclass(frozen=True, slots=True)
class Alpha:
    """Krippendorff's alpha over a batch.

    Attributes:
        value: the coefficient (1 perfect, 0 as by chance, below 0 systematic disagreement); None if undefined.
        reason: the reason why it is undefined or uninformative; empty otherwise.
        units: number of cases with at least two ratings; the other cases carry no information and are left out.
        ratings: number of ratings in those cases.
    """

    value: float | None
    reason: str
    units: int
    ratings: int

    @property
    def informative(self) -> bool:
        """False if the coefficient is undefined, or is based on a single case."""
        return self.value is not None and self.units > 1


def krippendorff_alpha(units: Iterable[Sequence[Rating]], level: Level = "nominal") -> Alpha:
    """Return Krippendorff's alpha over cases x jurors; a missing rating is None.

    Args:
        units: one row of ratings per case; rows may differ in length, and the order within a row does not matter.
        level: the distance of two ratings: ``"nominal"`` (equal or not), ``"ordinal"`` (ranks), ``"interval"`` (squared
            difference) or ``"ratio"`` (squared relative difference). All levels except nominal need numbers.

    Returns:
        The coefficient with the numbers of cases and ratings. Without any variation it is undefined: ``value`` is None,
        and ``reason`` says why.

    Raises:
        ConfigurationError: the level is unknown, or cannot measure a rating (words, NaN, negative ratios).

    Source: K. Krippendorff (2011), *Computing Krippendorff's Alpha-Reliability*, section C: the coincidence matrix
    o_cc' = sum_u n_uc (n_uc' - [c = c']) / (n_u - 1), and alpha = 1 - (n - 1) sum o_cc' d_cc' / sum n_c n_c' d_cc'.

    >>> krippendorff_alpha([["A", "A"], ["A", "B"], ["B", "B"]]).value
    0.4444444444444444
    """
    if level not in ("nominal", "ordinal", "interval", "ratio"):
        raise ConfigurationError(unknown("level", level, ("nominal", "ordinal", "interval", "ratio")))
    counts = [Counter(rating for rating in unit if rating is not None) for unit in units]
    counts = [unit for unit in counts if unit.total() >= 2]
    total: Counter[str | float] = Counter()
    for unit in counts:
        total.update(unit)
    n = total.total()
    if any(rating != rating for rating in total):  # noqa: PLR0124  only NaN differs from itself
        raise ConfigurationError("a rating is NaN; a missing rating is None")
    if not counts:
        return Alpha(None, "no case has two ratings", 0, 0)
    if len(total) == 1:
        reason = f"every rating is {next(iter(total))}: without variation there is no chance to correct for"
        return Alpha(None, reason, len(counts), n)
    distance = _Distance(total, level)
    observed = fsum(
        unit[a] * unit[b] * distance(a, b) / (unit.total() - 1) for unit in counts for a in unit for b in unit if a != b
    )
    expected = fsum(total[a] * total[b] * distance(a, b) for a in total for b in total if a != b)
    value = 0.0 if len(counts) == 1 else 1.0 - (n - 1) * observed / expected
    reason = "one case only: alpha is 0 by algebra and says nothing" if len(counts) == 1 else ""
    return Alpha(value, reason, len(counts), n)


class _Distance:
    """Squared distance between two ratings at one level of measurement."""

    def __init__(self, total: Counter[str | float], level: Level) -> None:
        self._level = level
        self._rank: dict[str | float, float] = {}
        if level == "nominal":
            return
        words = [rating for rating in total if isinstance(rating, str)]
        if words:
            raise ConfigurationError(
                f"level {plain_repr(level)} needs numbers, not {plain_repr(words[0])}; use level='nominal' for labels"
            )
        numbers = [float(rating) for rating in total]
        if not all(map(isfinite, numbers)):
            raise ConfigurationError(f"level {plain_repr(level)} needs finite numbers, not inf")
        if level == "ratio" and min(numbers) < 0:
            raise ConfigurationError(f"level 'ratio' needs numbers from 0, not {min(numbers):g}; use level='interval'")
        if level == "ordinal":  # the rank of a value is the middle of the ratings with that value
            below = 0
            for value in sorted(total, key=float):
                self._rank[value] = below + total[value] / 2
                below += total[value]

    def __call__(self, a: str | float, b: str | float) -> float:
        if self._level == "nominal":
            return float(a != b)
        if self._level == "ordinal":
            return (self._rank[a] - self._rank[b]) ** 2
        a, b = float(a), float(b)
        if self._level == "interval":
            return (a - b) ** 2
        return ((a - b) / (a + b)) ** 2 if a + b else 0.0


# The ballots of many cases are the same, and a verdict is asked several times for its agreement.
@lru_cache(maxsize=_REMEMBERED)
def _agreement(ballots: tuple[str | float, ...]) -> float | None:
    exact = _exact_agreement(ballots)
    return None if exact is None else float(exact)


@lru_cache(maxsize=_REMEMBERED)
def _band(ballots: tuple[str | float, ...], on: Literal["pairs", "share"]) -> Band | None:
    if len(ballots) < 2:
        return None
    return band_of(modal_share(ballots) if on == "share" else _exact_agreement(ballots))


@lru_cache(maxsize=_REMEMBERED)
def _exact_agreement(ballots: tuple[str | float, ...]) -> Fraction | None:
    n = len(ballots)
    if n < 2:
        return None
    pairs = n * (n - 1) // 2
    if all(isinstance(ballot, str) for ballot in ballots):
        agreeing = sum(count * (count - 1) // 2 for count in Counter(ballots).values())
        return Fraction(agreeing, pairs)
    # Read floats by their decimals: 0.9 and 0.7 then differ by exactly 1/5.
    scores = sorted(Fraction(repr(float(ballot))) for ballot in ballots)
    differences = sum(((2 * rank - n + 1) * score for rank, score in enumerate(scores)), Fraction(0))
    return 1 - differences / pairs
