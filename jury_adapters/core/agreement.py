"""Agreement of jurors: on one case, and over a batch."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from math import fsum
from typing import Any, Literal

from jury_adapters.core.values import ROUNDING

Band = Literal["high", "medium", "low"]
Level = Literal["nominal", "ordinal", "interval", "ratio"]
BANDS: Mapping[Band, float] = {"high": 4 / 5, "medium": 2 / 3, "low": 0.0}
"""The lowest agreement of each band: the limits that Krippendorff proposes for alpha."""


def pairwise_agreement(ballots: Sequence[str | float]) -> float | None:
    """Return agreeing pairs / pairs, in 0..1; for scores 1 - the mean absolute difference; None below two ballots.

    >>> pairwise_agreement(["KEEP", "KEEP", "DROP"])
    0.3333333333333333
    """
    pairs = list(combinations(ballots, 2))
    if not pairs:
        return None
    if any(isinstance(one, str) for one in ballots):
        return fsum(float(a == b) for a, b in pairs) / len(pairs)
    return fsum(1 - abs(float(a) - float(b)) for a, b in pairs) / len(pairs)


def band_of(agreement: float | None) -> Band | None:
    """Return the band of an agreement in 0..1: high from 0.8, medium from 2/3, else low; None if it is undefined."""
    if agreement is None:
        return None
    return next((band for band, least in BANDS.items() if agreement >= least - ROUNDING), "low")


def krippendorff_alpha(units: Iterable[Sequence[Any]], level: Level = "nominal") -> float | None:
    """Return Krippendorff's alpha: 1 is perfect agreement, 0 what chance would give.

    Args:
        units: one sequence of ratings per case; None is a missing rating. Ratings are numbers, but for nominal data.
        level: the level of measurement, which says how far two ratings are apart.

    Returns:
        alpha; None where all ratings are alike, because then nothing tells agreement from chance.

    Source: K. Krippendorff (2011), Computing Krippendorff's Alpha-Reliability.

    >>> krippendorff_alpha([["A", "A"], ["B", "B"], ["A", "B"]])
    0.4444444444444444
    """
    counts = [Counter(one for one in unit if one is not None) for unit in units]
    counts = [unit for unit in counts if unit.total() > 1]
    total = Counter(one for unit in counts for one in unit.elements())
    apart = _distance(level, total)
    observed = fsum(unit[a] * unit[b] * apart(a, b) / (unit.total() - 1) for unit in counts for a in unit for b in unit)
    expected = fsum(total[a] * total[b] * apart(a, b) for a in total for b in total)
    return 1 - (total.total() - 1) * observed / expected if expected else None


def _distance(level: Level, total: Mapping[Any, int]) -> Callable[[Any, Any], float]:
    """Return the squared distance of two ratings; of ordinal ones, that of the middles of their ranks."""
    if level == "nominal":
        return lambda a, b: float(a != b)
    if level == "ratio":
        return lambda a, b: ((a - b) / (a + b)) ** 2 if a + b else 0.0
    if level == "interval":
        return lambda a, b: float(a - b) ** 2
    place = {one: sum(total[other] for other in total if other < one) + total[one] / 2 for one in total}
    return lambda a, b: (place[a] - place[b]) ** 2
