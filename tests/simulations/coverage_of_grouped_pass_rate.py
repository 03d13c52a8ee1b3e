"""Coverage of the 95 % interval of the true pass rate where cases come in groups (``--group``).

    python tests/simulations/coverage_of_grouped_pass_rate.py  # every cell, and the table of docs/measured.md
    python tests/simulations/coverage_of_grouped_pass_rate.py --repetitions 200

Each group of a batch has a rate of its own, as in ``coverage_of_grouped_shares.py``. A jury passes a share of the items
that people pass (TPR) and fails a share of the others (TNR). People label a random part of the items. The same interval
without groups is beside it. The exit code is 1 if a cell covers less than
:data:`~tests.simulations.grids.LEAST`, but for the luck of the simulation.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from grids import run_grid, three_standard_errors

from jury_adapters.calibration import prediction_powered_rate
from tests.simulations.coverage_of_grouped_shares import Cell as Shares
from tests.simulations.coverage_of_grouped_shares import draw_batches

GROUPS = (8, 20, 40)
SIZES = (5, 28)
RATES = (0.5, 0.7, 0.9)
CORRELATIONS = (0.0, 0.05, 0.3, 0.8)
JURIES = ((0.6, 0.8), (0.95, 0.7))
LABELLED = 0.4


class Cell(NamedTuple):
    """A population of items in groups, and a jury.

    Attributes:
        groups: number of groups in a batch.
        size: number of items of each group, of which people label :data:`LABELLED` on average.
        rate: share of the items that people pass, in 0..1.
        correlation: that of the human labels of two items of a group, in 0..1.
        tpr: share of the items with a human PASS that the jury passes too, in 0..1.
        tnr: share of the others that the jury fails too, in 0..1.
    """

    groups: int
    size: int
    rate: float
    correlation: float
    tpr: float
    tnr: float


class Simulated(NamedTuple):
    """Results of the batches of a cell.

    Attributes:
        cell: the cell.
        coverage: share of the intervals that hold the rate of the population, in 0..1.
        width: mean width of the intervals.
        ungrouped: share of the intervals that know nothing of groups and hold it, in 0..1.
        ungrouped_width: their mean width.
        narrower: share of the batches in which groups make the interval narrower, in 0..1.
    """

    cell: Cell
    coverage: float
    width: float
    ungrouped: float
    ungrouped_width: float
    narrower: float


def grid() -> Iterator[Cell]:
    """Yield the cells of the nightly run."""
    for groups, size, rate, correlation, jury in itertools.product(GROUPS, SIZES, RATES, CORRELATIONS, JURIES):
        yield Cell(groups, size, rate, correlation, *jury)


def simulate(cell: Cell, repetitions: int) -> Simulated:
    """Draw batches of a cell, and look at the interval of each with groups and without."""
    random = np.random.default_rng([cell.groups, cell.size, *(round(1000 * x) for x in cell[2:])])
    shares = Shares(cell.groups, cell.size, (cell.rate, 1 - cell.rate), cell.correlation)
    groups = np.repeat(np.arange(cell.groups), cell.size)
    found = []
    for passing, _ in draw_batches(shares, repetitions, random).transpose(0, 2, 1):
        good = np.arange(len(groups)) % cell.size < passing[groups]
        passed = random.random(len(good)) < np.where(good, cell.tpr, 1 - cell.tnr)
        known = np.isin(np.arange(len(good)), random.choice(len(good), round(LABELLED * len(good)), replace=False))
        parts = good[known].astype(float), passed[known].astype(float), passed[~known].astype(float)
        both = (
            prediction_powered_rate(*parts, groups=groups[known], unlabelled_groups=groups[~known]),
            prediction_powered_rate(*parts),
        )
        found.append([one.interval for one in both])
    low, high = np.moveaxis(np.array(found, dtype=float), 2, 0)
    coverage, width = ((low <= cell.rate) & (cell.rate <= high)).mean(axis=0), (high - low).mean(axis=0)
    narrower = float((high[:, 0] - low[:, 0] < high[:, 1] - low[:, 1] - 1e-9).mean())
    return Simulated(cell, float(coverage[0]), float(width[0]), float(coverage[1]), float(width[1]), narrower)


def simulate_grid(repetitions: int) -> list[Simulated]:
    """Simulate every cell of the grid."""
    return [simulate(cell, repetitions) for cell in grid()]


def table(results: Sequence[Simulated]) -> str:
    """Return the table of the page: a line for each number of groups and items per group."""
    lines = [
        "| groups of a corrected rate; `tests/simulations/coverage_of_grouped_pass_rate.py` | cases of each | coverage "
        "| lowest | width | without groups | lowest | width |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for groups, size in dict.fromkeys(result.cell[:2] for result in results):
        here = [result for result in results if result.cell[:2] == (groups, size)]
        cells = []
        for coverage, width in ((1, 2), (3, 4)):
            covered, wide = [one[coverage] for one in here], [one[width] for one in here]
            cells.append(f"{np.mean(covered):.3f} | {min(covered):.3f} | {np.mean(wide):.3f}")
        lines.append(f"| {groups} | {size} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulate the grid and print the table; return the exit code."""
    return run_grid(arguments, __doc__, 400, simulate_grid, table, three_standard_errors)


if __name__ == "__main__":
    raise SystemExit(main())
