"""Ratios of measured values, as the benchmarks print them."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence


def spread(values: Sequence[float], digits: str = ".2f") -> str:
    """Return the median of the values, with the lowest and the highest of them."""
    median, low, high = statistics.median(values), min(values), max(values)
    return f"{median:{digits}} ({low:{digits}}-{high:{digits}})"


def spread_of_ratios(values: Sequence[float], base: Sequence[float], digits: str = ".2f") -> str:
    """Return the spread of the ratios within rounds; both have a value per round."""
    return spread([one / least for one, least in zip(values, base, strict=True)], digits)


def print_microseconds(seconds: Mapping[str, Sequence[float]], times: int, against: str) -> None:
    """Print a table of rows that take turns in rounds: microseconds for one of ``times`` repetitions, and ratios.

    Args:
        seconds: the seconds of each round, by row.
        times: number of repetitions in a round.
        against: the name of the first row, to which the ratios are.
    """
    width = max(map(len, seconds)) + 2
    base = next(iter(seconds.values()))
    print(f"{'':{width}}{'us per verdict':>16}{f'x {against}':>20}")
    for name, taken in seconds.items():
        each = statistics.median(taken) / times * 1e6
        print(f"{name:{width}}{each:16.1f}{spread_of_ratios(taken, base, '.1f'):>20}")
