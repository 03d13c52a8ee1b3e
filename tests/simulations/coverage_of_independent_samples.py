"""Coverage of the 95 % interval of the difference between two independent samples, by counting every outcome.

    python tests/simulations/coverage_of_independent_samples.py  # the table of docs/measured.md, in seconds

Each row has two numbers of cases. For each pair of pass rates, the chances of all outcomes whose interval holds the
difference are added up. So are those of equal rates whose interval excludes 0, where one system is called better
although none is.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jury_adapters.statistics.differences import unpaired_difference

SIZES = ((5, 200), (10, 10), (30, 30), (30, 300), (100, 100), (200, 200))
RATES = tuple(round(0.02 * step, 2) for step in range(1, 50))
_EXACT = 1e-9


class Counted(NamedTuple):
    """Results for two numbers of cases.

    Attributes:
        sizes: number of cases of a and of b.
        coverage: mean share of the intervals that hold the difference, over all pairs of rates, in 0..1.
        lowest: the lowest of these shares.
        called: mean share of the intervals that exclude 0, over equal rates.
        most: the highest of these shares.
    """

    sizes: tuple[int, int]
    coverage: float
    lowest: float
    called: float
    most: float


def count(sizes: tuple[int, int], rates: Sequence[float] = RATES) -> Counted:
    """Count the outcomes of two samples with these numbers of cases."""
    low, high = _intervals(*sizes)
    held, called = [], []
    for a, b in itertools.product(rates, repeat=2):
        chances = np.outer(_chances(sizes[0], a), _chances(sizes[1], b))
        inside = (low <= b - a + _EXACT) & (b - a <= high + _EXACT)
        held.append(float(chances[inside].sum()))
        if a == b:
            called.append(float(chances[(low > _EXACT) | (high < -_EXACT)].sum()))
    return Counted(sizes, float(np.mean(held)), min(held), float(np.mean(called)), max(called))


def table(results: Sequence[Counted]) -> str:
    """Return the table of the page."""
    lines = [
        "| cases of a, b; `tests/simulations/coverage_of_independent_samples.py` | coverage | lowest "
        "| one called better, of equal systems | at most |",
        "| ---: | ---: | ---: | ---: | ---: |",
    ]
    for (a, b), *shares in results:
        lines.append(f"| {a}, {b} | {' | '.join(f'{share:.3f}' for share in shares)} |")
    return "\n".join(lines)


def _intervals(first: int, second: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    ends = np.zeros((2, first + 1, second + 1))
    for a, b in itertools.product(range(first + 1), range(second + 1)):
        found = unpaired_difference(a, first, b, second).interval
        assert found is not None
        ends[:, a, b] = found
    return ends[0], ends[1]


def _chances(cases: int, rate: float) -> NDArray[np.float64]:
    return np.array([comb(cases, hits) * rate**hits * (1 - rate) ** (cases - hits) for hits in range(cases + 1)])


if __name__ == "__main__":
    print(table([count(sizes) for sizes in SIZES]))
