"""Coverage of the 95 % intervals of shares whose cases come in groups, and of differences between paired shares.

    python tests/simulations/coverage_of_grouped_shares.py  # every cell, and the tables of docs/measured.md
    python tests/simulations/coverage_of_grouped_shares.py --repetitions 200

Each group of a batch has a rate of its own, drawn from a beta distribution (of a pair of runs: shares of the four
outcomes, from a Dirichlet distribution) whose mean is the population's and whose spread gives two cases of a group the
correlation of the cell. The intervals that know nothing of groups are beside them. The exit code is 1 if a cell covers
less than :data:`~tests.simulations.grids.LEAST`, but for the luck of the simulation.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from grids import run_grid, three_standard_errors
from numpy.typing import NDArray

from jury_adapters.core.clustered_shares import clustered_paired_interval, clustered_wilson
from jury_adapters.core.statistics import paired_interval, wilson

GROUPS = (10, 20, 40, 100)
UNEQUAL = 0
SIZES = (2, 5, 20, UNEQUAL)
RATES = (0.5, 0.7, 0.9, 0.97)
CORRELATIONS = (0.0, 0.3, 0.8, 1.0)
UNEQUAL_SIZES = (1, 1, 2, 3, 5, 8, 20, 40)  # each equally likely
PAIRS = ((0.7, 0.05, 0.05, 0.2), (0.85, 0.02, 0.08, 0.05), (0.4, 0.1, 0.3, 0.2), (0.95, 0.02, 0.02, 0.01))
PAIRED_GROUPS = (10, 40)
PAIRED_SIZES = (5, 20, UNEQUAL)

Ints = NDArray[np.int64]


class Cell(NamedTuple):
    """A population of cases in groups.

    Attributes:
        groups: number of groups in a batch.
        size: number of cases of each group; :data:`UNEQUAL` for one of :data:`UNEQUAL_SIZES`.
        outcomes: share of each outcome: passes and fails, or of a pair of runs passes both times, the first time only,
            the second time only, and never.
        correlation: that of two cases of a group, in 0..1.
    """

    groups: int
    size: int
    outcomes: tuple[float, ...]
    correlation: float

    @property
    def paired(self) -> bool:
        """Whether it is about two runs over the same cases."""
        return len(self.outcomes) > 2

    @property
    def truth(self) -> float:
        """Share of passes of the population, or difference between the two runs."""
        return self.outcomes[2] - self.outcomes[1] if self.paired else self.outcomes[0]


class Simulated(NamedTuple):
    """Results of the batches of a cell.

    Attributes:
        cell: the cell.
        coverage: share of the intervals that hold the truth, in 0..1.
        width: mean width of the intervals.
        ungrouped: share of the intervals that know nothing of groups and hold the truth, in 0..1.
        ungrouped_width: their mean width.
    """

    cell: Cell
    coverage: float
    width: float
    ungrouped: float
    ungrouped_width: float


def grid() -> Iterator[Cell]:
    """Yield the cells of the nightly run: shares, then paired differences."""
    for groups, size, rate, correlation in itertools.product(GROUPS, SIZES, RATES, CORRELATIONS):
        yield Cell(groups, size, (rate, round(1 - rate, 2)), correlation)
    for values in itertools.product(PAIRED_GROUPS, PAIRED_SIZES, PAIRS, CORRELATIONS):
        yield Cell(*values)


def simulate(cell: Cell, repetitions: int) -> Simulated:
    """Draw batches of a cell, and look at the interval of each with groups and without."""
    seed = (cell.groups, cell.size, *(round(1000 * x) for x in (*cell.outcomes, cell.correlation)))
    random = np.random.default_rng(seed)
    found = np.array([_intervals(batch, paired=cell.paired) for batch in draw_batches(cell, repetitions, random)])
    low, high = found[:, :, 0], found[:, :, 1]
    coverage = ((low <= cell.truth + 1e-9) & (cell.truth - 1e-9 <= high)).mean(axis=0)
    width = (high - low).mean(axis=0)
    return Simulated(cell, float(coverage[0]), float(width[0]), float(coverage[1]), float(width[1]))


def simulate_grid(repetitions: int) -> list[Simulated]:
    """Simulate every cell of the grid."""
    return [simulate(cell, repetitions) for cell in grid()]


def draw_batches(cell: Cell, repetitions: int, random: np.random.Generator) -> Ints:
    """Draw batches x groups x outcomes: how many cases of each group have which outcome."""
    shape = (repetitions, cell.groups)
    sizes = random.choice(UNEQUAL_SIZES, shape) if cell.size == UNEQUAL else np.full(shape, cell.size)
    outcomes = np.array(cell.outcomes)
    if cell.correlation == 0:
        return random.multinomial(sizes, outcomes)
    if cell.correlation == 1:
        return np.asarray(np.eye(len(outcomes), dtype=np.int64)[random.choice(len(outcomes), shape, p=outcomes)]
                          * sizes[..., None])  # fmt: skip
    own = random.gamma(outcomes * (1 / cell.correlation - 1), size=(*shape, len(outcomes))) + 1e-300
    return random.multinomial(sizes, own / own.sum(axis=-1, keepdims=True))


def table(results: Sequence[Simulated]) -> str:
    """Return the tables of the page: a line for each number of groups and cases per group."""
    shares, pairs = ([one for one in results if one.cell.paired is paired] for paired in (False, True))
    script = "`tests/simulations/coverage_of_grouped_shares.py`"
    return "\n\n".join(
        _table(f"{what}; {script}", rows)
        for what, rows in (("groups of a share", shares), ("groups of a paired difference", pairs))
        if rows
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulate the grid and print the tables; return the exit code."""
    return run_grid(arguments, __doc__, 1000, simulate_grid, table, three_standard_errors)


def _intervals(batch: Ints, *, paired: bool) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the interval with groups and the one without."""
    totals = batch.sum(axis=0).tolist()
    if paired:
        return clustered_paired_interval(map(tuple, batch.tolist())), paired_interval(*totals)
    groups = [(passed, passed + failed) for passed, failed in batch.tolist()]
    return clustered_wilson(groups), wilson(totals[0], sum(totals))


def _table(heading: str, results: Sequence[Simulated]) -> str:
    lines = [
        f"| {heading} | cases of each | coverage | lowest | width | without groups | lowest | width |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for groups, size in dict.fromkeys(result.cell[:2] for result in results):
        here = [result for result in results if result.cell[:2] == (groups, size)]
        cells = []
        for coverage, width in ((1, 2), (3, 4)):
            covered, wide = [one[coverage] for one in here], [one[width] for one in here]
            cells.append(f"{np.mean(covered):.3f} | {min(covered):.3f} | {np.mean(wide):.3f}")
        lines.append(f"| {groups} | {size or '1 to 40'} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
