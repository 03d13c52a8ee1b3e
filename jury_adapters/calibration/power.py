"""Power of exact binomial tests, and the smallest sample that has it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import ceil, inf, log, log1p, sqrt
from statistics import NormalDist

import numpy as np

from jury_adapters.calibration.binomial import binomial_pmf, most_errors
from jury_adapters.calibration.thresholds import fewest_decided
from jury_adapters.calibration.types import Floats, Ints

MOST = 100_000
"""Largest number of cases that is searched for an exact test."""

POWER = 0.8
"""Probability with which a planned guarantee is granted, or a planned difference is found, by default."""


def power_of_guarantee(n: int, *, alpha: float, level: float, error_rate: float, share: float, least: int) -> float:
    """Return the probability that ``n`` labelled cases show an error rate of at most ``alpha``.

    A case is decided with probability ``share``. Of D decided cases the test allows the most errors c with
    ``P(Bin(D, alpha) <= c) <= level``, and none where D is below ``least``.

    Args:
        n: number of labelled cases.
        alpha: error rate to be excluded, in 0..1.
        level: level of the one-sided test, in 0..1.
        error_rate: true error rate of the decided cases, in 0..1.
        share: share of the cases that is decided, in 0..1.
        least: smallest number of decided cases that is tested.
    """
    passed = _lower_tails(_table_size(n), alpha, level, error_rate)
    decided, weights = binomial_weights(n, share)
    return float((weights * np.where(decided >= least, passed[decided], 0.0)).sum())


def guarantee_sample(
    alpha: float, level: float, *, error_rate: float, share: float, power: float
) -> tuple[int | None, Callable[[int], float]]:
    """Return the smallest number of labelled cases that has the power, and the power of any number of them.

    Args:
        alpha: error rate to be excluded, in 0..1.
        level: level of the one-sided test, in 0..1.
        error_rate: true error rate of the decided cases, below ``alpha``.
        share: share of the cases that is decided, above 0 and at most 1.
        power: least power, in 0..1.

    Returns:
        The number, None where it is above :data:`MOST`, and a function from a number of cases to its power.
    """
    least = fewest_decided(alpha, level)

    def power_of(n: int) -> float:
        return power_of_guarantee(n, alpha=alpha, level=level, error_rate=error_rate, share=share, least=least)

    rough = normal_sample(alpha, error_rate, level, power) / share
    return None if rough > MOST else smallest_sample(power_of, power, least, 1 / (alpha * share)), power_of


def power_of_mcnemar(n: int, *, difference: float, discordant: float, level: float) -> float:
    """Return the power of the exact two-sided McNemar test on ``n`` pairs.

    A pair is discordant with probability ``discordant``. Of D discordant pairs, ``Bin(D, q)`` favour the better side,
    with ``q = (discordant + difference) / (2 discordant)``. The test rejects where
    ``2 P(Bin(D, 1/2) <= min(favour, D - favour)) <= level``.

    Args:
        n: number of pairs.
        difference: difference of the two rates, in 0..discordant.
        discordant: share of discordant pairs, in 0..1.
        level: level of the test, in 0..1.

    Source: Q. McNemar (1947), Psychometrika 12; exact power by enumeration, S. W. Duffy (1984), Biometrics 40.
    """
    pairs, weights = binomial_weights(n, discordant)
    size, better = _table_size(int(pairs[-1])), (discordant + difference) / (2 * discordant)
    rejected = sum(_lower_tails(size, 0.5, level / 2, rate)[pairs] for rate in (better, 1 - better))
    return float((weights * rejected).sum())


def paired_sample(
    difference: float, discordant: float, power: float, level: float
) -> tuple[int | None, Callable[[int], float]]:
    """Return the smallest number of pairs that has the power, and the power of any number of them.

    Args:
        difference: difference of the two rates, in 0..discordant.
        discordant: share of discordant pairs, in 0..1.
        power: least power, in 0..1.
        level: level of the exact two-sided McNemar test, in 0..1.

    Returns:
        The number, None where it is above :data:`MOST`, and a function from a number of pairs to its power.
    """

    def power_of(n: int) -> float:
        return power_of_mcnemar(n, difference=difference, discordant=discordant, level=level)

    rough = normal_sample(0.5, (discordant + difference) / (2 * discordant), level / 2, power) / discordant
    return None if rough > MOST else smallest_sample(power_of, power, 1, 2 / discordant), power_of


def unpaired_sample(rate: float, other: float, power: float, level: float) -> tuple[int | None, Callable[[int], float]]:
    """Return the smallest number of cases of each system that has the power, and the power of any number of them.

    Args:
        rate: pass rate of one system, in 0..1.
        other: that of the other, which is higher.
        power: least power, in 0..1.
        level: level of the two-sided z test of two proportions, in 0..1.

    Source: Fleiss, Levin and Paik (2003), *Statistical Methods for Rates and Proportions*, 4.2.
    """
    normal, mean = NormalDist(), (rate + other) / 2
    critical, null = normal.inv_cdf(1 - level / 2), sqrt(2 * mean * (1 - mean))
    spread = sqrt(rate * (1 - rate) + other * (1 - other))

    def power_of(n: int) -> float:
        beyond = (other - rate) * sqrt(n) - critical * null
        return normal.cdf(beyond / spread) if spread else float(beyond >= 0)

    if other - rate <= _SAME:
        return None, power_of
    return ceil(((critical * null + normal.inv_cdf(power) * spread) / (other - rate)) ** 2), power_of


def smallest_sample(power_of: Callable[[int], float], power: float, start: int, tooth: float) -> int | None:
    """Return the smallest sample from which on the power is kept; None where that is above :data:`MOST`.

    The power of an exact test rises like the teeth of a saw, so that a few cases more can have less of it. The number
    returned, and each larger one, has at least the power asked for (Chernick and Liu 2002, *The saw-toothed behavior of
    power versus sample size and software solutions*, The American Statistician 56).

    Args:
        power_of: returns the power of a sample.
        power: least power, in 0..1.
        start: smallest sample that counts.
        tooth: number of cases between two teeth.
    """
    if start > MOST:
        return None
    low, high = start - 1, start
    while power_of(high) < power:
        if high >= MOST:
            return None
        low, high = high, min(2 * high, MOST)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power_of(middle) >= power else (middle, high)
    last = high + ceil(_TEETH * tooth)
    number = high
    while number < last:
        number += 1
        if power_of(number) < power:
            high, last = number + 1, number + 1 + ceil(_TEETH * tooth)
    return high if high <= MOST else None


def normal_sample(null: float, rate: float, level: float, power: float) -> float:
    """Return the sample of the normal approximation of a one-sided test of a proportion.

    ``n = ((z_level sqrt(null (1 - null)) + z_power sqrt(rate (1 - rate))) / (null - rate))^2``
    (Fleiss, Levin and Paik 2003, *Statistical Methods for Rates and Proportions*, 2.5).
    """
    z = NormalDist().inv_cdf
    spread = z(1 - level) * sqrt(null * (1 - null)) + z(power) * sqrt(rate * (1 - rate))
    return (spread / (null - rate)) ** 2 if abs(null - rate) > _SAME else inf


def binomial_weights(n: int, p: float) -> tuple[Ints, Floats]:
    """Return the counts of ``Bin(n, p)`` that matter, and the probability of each; they add up to 1.

    Counts more than ten standard deviations from the mean are left out.
    """
    reach = 10 * sqrt(n * p * (1 - p)) + 10
    if p in (0, 1):
        reach = 0
    counts = np.arange(max(0, ceil(n * p - reach)), min(n, int(n * p + reach)) + 1, dtype=np.int64)
    if len(counts) <= 1:
        return counts, np.ones(len(counts))
    steps = np.log((n - counts[:-1]) / (counts[:-1] + 1)) + log(p) - log1p(-p)
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    weights = np.exp(logs - logs.max())
    return counts, weights / weights.sum()


_SAME = 1e-9  # rates that are closer take more cases than there are
_TEETH = 4  # how many teeth of the saw must pass before it counts as kept


def _table_size(n: int) -> int:
    """Return a power of two, so that nearby samples share a table."""
    return 1 << max(6, n.bit_length())


@lru_cache(maxsize=32)
def _lower_tails(most: int, null: float, level: float, rate: float) -> Floats:
    """Return for 0..``most`` items the probability that no more are wrong than the test allows.

    Each further item lowers ``P(Bin(items, rate) <= c)`` by ``rate P(Bin(items, rate) = c)``, and each further error
    allowed adds its own probability.
    """
    allowed = most_errors(most, null, level).tolist()
    tails = np.zeros(most + 1)
    tail = 0.0
    for items in range(most + 1):
        c = allowed[items]
        if c < 0:
            continue
        before = allowed[items - 1] if items else -1
        if before >= 0:
            tail -= rate * binomial_pmf(before, items - 1, rate)
        if c > before:
            tail += binomial_pmf(c, items, rate)
        tails[items] = min(1.0, max(0.0, tail))
    tails.flags.writeable = False  # it is shared
    return tails
