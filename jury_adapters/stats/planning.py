"""How many human labels or cases a measurement takes, before any is made."""

from bisect import bisect_left
from collections.abc import Callable
from math import ceil, log, log1p, sqrt

import numpy as np
import scipy  # whose stats, 70 MiB, are loaded when they are used

from jury_adapters.core.values import ROUNDING, ConfigurationError
from jury_adapters.stats.figures import LEVEL, Floats, Z

MOST = 100_000
FEWEST_DECIDED = 30  # a calibration grants nothing on fewer decided cases


def labels_for_interval(half_width: float, rate: float, *, group_size: float = 1.0, correlation: float = 0.0) -> int:
    """Return how many cases to label so that the 95 % interval of a pass rate is expected to be so narrow.

    It is the smallest number of labels whose Wilson interval, on average over ``Bin(n, rate)``, has this half-width.

    Args:
        half_width: half of the width, above 0 and below 0.5: 0.05 for plus or minus 5 points.
        rate: the expected pass rate, 0..1; 0.5 takes the most labels.
        group_size: the number of cases in a group on average, from 1.
        correlation: that of PASS and FAIL of two cases in one group, 0..1. The number is multiplied by the design
            effect ``1 + (group_size - 1) correlation``.

    Raises:
        ConfigurationError: a value is out of its range, or more than 100,000 labels would be needed.

    Sources: E. B. Wilson (1927), *Probable inference*; L. Kish (1965), *Survey Sampling*.

    >>> labels_for_interval(0.05, 0.8)
    243
    """
    _check(half_width=(half_width, 0, 0.5), rate=(rate, -ROUNDING, 1 + ROUNDING))

    def narrow(n: int) -> bool:
        hits = np.arange(n + 1)
        half = Z / (n + Z**2) * np.sqrt(hits * (n - hits) / n + Z**2 / 4)
        return bool(scipy.stats.binom.pmf(hits, n, rate) @ half <= half_width + ROUNDING)

    return _in_groups(_smallest(narrow, 1), group_size, correlation)


def labels_for_guarantee(
    agreement: float, expected: float, *, delta: float = 0.1, tiers: int = 2, coverage: float = 1.0, power: float = 0.8
) -> int:
    """Return how many cases to label so that a calibration grants a guarantee with a probability of ``power``.

    A calibration tests a single tier at the level ``delta``, and a cascade at half of it. Of D decided cases the test
    allows the most errors c with ``P(Bin(D, 1 - agreement) <= c) <= level``; the jury passes with ``P(Bin(D, 1 -
    expected) <= c)``. The number returned, and every larger one, has the power if all decided cases have one
    confidence. Else stricter thresholds, which decide fewer cases, must pass first, and the power is lower: in
    simulations with graded confidences it was 0.4 to 0.9 instead of 0.8. Take the share of cases that the strictest
    threshold decides as ``coverage``, and the agreement that is expected there.

    Args:
        agreement: the share of decided cases that is to agree with human labels, between 0 and 1.
        expected: the share that is expected to agree, above ``agreement``.
        delta: the probability with which the guarantee may fail, between 0 and 1.
        tiers: the number of tiers, from 1.
        coverage: the share of cases that the strictest threshold decides, above 0 and at most 1.
        power: the probability with which the guarantee is to be granted, between 0 and 1.

    Returns:
        The number of labels; where cases come in groups, of groups, since a calibration counts one case of each.

    Raises:
        ConfigurationError: a value is out of its range, or more than 100,000 labels would be needed.

    Sources: A. N. Angelopoulos et al. (2021), *Learn then Test*; M. R. Chernick and C. Y. Liu (2002), *The saw-toothed
    behavior of power versus sample size*, for the number from which on a power is kept.

    >>> labels_for_guarantee(0.95, 0.98)
    286
    """
    _check(
        agreement=(agreement, 0, 1),
        expected=(expected, agreement, 1 + ROUNDING),
        delta=(delta, 0, 1),
        tiers=(tiers, 0, np.inf),
        coverage=(coverage, 0, 1 + ROUNDING),
        power=(power, 0, 1),
    )
    alpha, level = 1 - agreement, delta / min(tiers, 2)
    fewest = max(FEWEST_DECIDED, ceil(log(level) / log1p(-alpha)))

    def granted(n: int) -> bool:
        decided, chances = _binomial(n, coverage)
        allowed = _most_errors(decided, alpha, level)
        passes = np.where(decided >= fewest, scipy.stats.binom.cdf(allowed, decided, 1 - expected), 0.0)
        return bool(chances @ passes >= power)

    return _smallest(granted, fewest)


def cases_for_difference(
    difference: float,
    *,
    discordant: float | None = None,
    rate: float | None = None,
    power: float = 0.8,
    group_size: float = 1.0,
    correlation: float = 0.0,
) -> int:
    """Return how many cases show a difference of two pass rates, with a two-sided test at 0.05.

    Args:
        difference: the difference to be found, above 0 and below 1.
        discordant: for the same cases in both systems: the share of cases that one passes and the other does not, from
            ``difference`` to 1. The test is the exact McNemar test.
        rate: for different cases: the expected pass rate of the system that passes less. The test is the z test of two
            proportions.
        power: the probability with which the difference is to be found, between 0.05 and 1.
        group_size: as in :func:`labels_for_interval`.
        correlation: likewise; of pairs, that of the differences, which is usually near 0.

    Returns:
        The number of cases; of different cases, that of each system.

    Raises:
        ConfigurationError: a value is out of its range, not exactly one of ``discordant`` and ``rate`` is given, or
            more than 100,000 cases would be needed.

    Sources: S. W. Duffy (1984), *Asymptotic and exact power for the McNemar test and its analogue with R controls per
    case*; J. L. Fleiss, B. Levin and M. C. Paik (2003), *Statistical Methods for Rates and Proportions*, 4.2.

    >>> cases_for_difference(0.05, discordant=0.1), cases_for_difference(0.05, rate=0.8)
    (337, 906)
    """
    _check(difference=(difference, 0, 1), power=(power, LEVEL, 1))
    if (discordant is None) == (rate is None):
        raise ConfigurationError("give discordant= for the same cases in both systems, or rate= for different cases")
    if discordant is None:
        return _in_groups(_of_different_cases(difference, rate or 0.0, power), group_size, correlation)
    _check(discordant=(discordant, difference - ROUNDING, 1 + ROUNDING))
    better = min(1.0, (discordant + difference) / (2 * discordant))

    def found(n: int) -> bool:
        pairs, chances = _binomial(n, min(1.0, discordant))
        allowed = _most_errors(pairs, 0.5, LEVEL / 2)
        tails = scipy.stats.binom.cdf(allowed, pairs, better) + scipy.stats.binom.cdf(allowed, pairs, 1 - better)
        return bool(chances @ tails >= power)

    return _in_groups(_smallest(found, 1), group_size, correlation)


def _of_different_cases(difference: float, rate: float, power: float) -> int:
    _check(rate=(rate, -ROUNDING, 1 - difference + ROUNDING))
    other, middle = min(1.0, rate + difference), rate + difference / 2
    spread = sqrt(rate * (1 - rate) + other * (1 - other))
    reach = Z * sqrt(2 * middle * (1 - middle)) + float(scipy.stats.norm.ppf(power)) * spread
    return ceil((reach / difference) ** 2)


def _check(**given: tuple[float, float, float]) -> None:
    for name, (value, low, high) in given.items():
        if isinstance(value, bool) or not low < value < high:
            raise ConfigurationError(f"{name}= lies between {round(low, 6):g} and {round(high, 6):g}, not at {value!r}")


def _in_groups(independent: int, group_size: float, correlation: float) -> int:
    _check(group_size=(group_size, 1 - ROUNDING, np.inf), correlation=(correlation, -ROUNDING, 1 + ROUNDING))
    return ceil(round(independent * (1 + (group_size - 1) * correlation), 6))


def _binomial(n: int, share: float) -> tuple[Floats, Floats]:
    """Return the counts of ``Bin(n, share)`` within ten standard deviations, and their probabilities."""
    reach = 10 * sqrt(n * share * (1 - share)) + 10
    counts = np.arange(max(0, ceil(n * share - reach)), min(n, int(n * share + reach)) + 1)
    return counts.astype(np.float64), np.asarray(scipy.stats.binom.pmf(counts, n, share))


def _most_errors(n: Floats, rate: float, level: float) -> Floats:
    """Return the most errors c of n with ``P(Bin(n, rate) <= c) <= level``; -1 if there is none."""
    found = scipy.stats.binom.ppf(level, n, rate)
    return np.asarray(found - (scipy.stats.binom.cdf(found, n, rate) > level), dtype=np.float64)


def _smallest(enough: Callable[[int], bool], start: int) -> int:
    """Return the smallest number from which on the condition holds: by bisection, then past the teeth of the saw."""
    high = start
    while not enough(high):
        if high > MOST:
            raise ConfigurationError(f"more than {MOST:,} would be needed")
        high *= 2
    high = bisect_left(range(high), True, lo=high // 2, key=enough)
    while misses := [n for n in range(high, high + max(40, high // 4)) if not enough(n)]:
        high = misses[-1] + 1
    return high
