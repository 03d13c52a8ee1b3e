"""False alarms of the test that labelled items are a random sample, where items come in groups, and its power.

    python tests/simulations/alarms_of_random_samples.py  # every cell, and the table of docs/measured.md
    python tests/simulations/alarms_of_random_samples.py --repetitions 500

Each group of a batch has a share of its own of items that a jury passes, as in ``coverage_of_grouped_shares.py``. A
fifth of the items have a label: random items, all items of random groups, or a random half of the items of random
groups. For the power, the labels of random items are dropped where they are FAIL and a careless reviewer, who passes
four in five of these, contradicts the other. The exit code is 1 if a cell has more false alarms than :data:`MOST`.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from grids import run_grid

from jury_adapters.calibration.random_samples import NOT_RANDOM, random_sample_p_value
from jury_adapters.calibration.types import Bools, Ints
from tests.simulations.coverage_of_grouped_shares import Cell as Shares
from tests.simulations.coverage_of_grouped_shares import draw_batches

GROUPS = ((8, 28), (20, 10), (40, 5), (170, 3), (100, 28))
RATES = (0.5, 0.7, 0.9)
CORRELATIONS = (0.0, 0.3, 0.8)
DRAWN = ("items", "groups", "items of groups")
DROPPED = "contradicted dropped"
LABELLED = 0.2
CARELESS = 0.8
MOST = 0.003
"""Share of false alarms that a cell may have: the level of 0.001, and the luck of a simulation."""


class Cell(NamedTuple):
    """A population of items in groups, and the way in which labelled items are drawn.

    Attributes:
        groups: number of groups in a batch.
        size: number of items of each group.
        rate: share of the items that the jury passes, in 0..1.
        correlation: that of the verdicts of two items of a group, in 0..1.
        drawn: how labelled items are drawn: one of :data:`DRAWN`, or :data:`DROPPED`.
    """

    groups: int
    size: int
    rate: float
    correlation: float
    drawn: str


class Simulated(NamedTuple):
    """Results of the batches of a cell.

    Attributes:
        cell: the cell.
        alarms: share of the batches whose labelled items are not taken for a random sample, in 0..1.
        of_items: the same for the test that knows nothing of groups.
    """

    cell: Cell
    alarms: float
    of_items: float

    @property
    def coverage(self) -> float:
        """The share without a false alarm, on the scale of :func:`~tests.simulations.grids.run_grid`."""
        return 1.0 if self.cell.drawn == DROPPED or self.alarms <= MOST else 0.0


def grid() -> Iterator[Cell]:
    """Yield the cells of the nightly run."""
    for (groups, size), rate, correlation, drawn in itertools.product(GROUPS, RATES, CORRELATIONS, (*DRAWN, DROPPED)):
        yield Cell(groups, size, rate, correlation, drawn)


def simulate(cell: Cell, repetitions: int) -> Simulated:
    """Draw batches of a cell, and test the labelled items of each."""
    seeds = (cell.groups, cell.size, round(10 * cell.rate), round(10 * cell.correlation), len(cell.drawn))
    random = np.random.default_rng(seeds)
    shares = Shares(cell.groups, cell.size, (cell.rate, 1 - cell.rate), cell.correlation)
    groups = np.repeat(np.arange(cell.groups), cell.size)
    alarms = np.zeros(2)
    for passing, _ in draw_batches(shares, repetitions, random).transpose(0, 2, 1):
        passed = np.arange(len(groups)) % cell.size < passing[groups]
        labelled = _labelled(cell, passed, groups, random)
        alarms += [random_sample_p_value(labelled, passed, of) < NOT_RANDOM for of in (groups, ())]
    return Simulated(cell, *(alarms / repetitions).tolist())


def _labelled(cell: Cell, passed: Bools, groups: Ints, random: np.random.Generator) -> Bools:
    n = len(groups)
    if cell.drawn in ("items", DROPPED):
        labelled = np.isin(np.arange(n), random.choice(n, round(LABELLED * n), replace=False))
        return labelled & (passed | (random.random(n) >= CARELESS)) if cell.drawn == DROPPED else labelled
    share = LABELLED if cell.drawn == "groups" else 2 * LABELLED
    chosen = np.isin(groups, random.choice(cell.groups, round(share * cell.groups), replace=False))
    return chosen if cell.drawn == "groups" else chosen & (random.random(n) < 0.5)


def simulate_grid(repetitions: int) -> list[Simulated]:
    """Simulate every cell of the grid."""
    return [simulate(cell, repetitions) for cell in grid()]


def table(results: Sequence[Simulated]) -> str:
    """Return the table of the page: a line for each number of groups and items per group."""
    lines = [
        "| groups of labelled cases; `tests/simulations/alarms_of_random_samples.py` | cases of each | "
        f"{' | '.join(f'random {drawn}' for drawn in DRAWN)} | without groups | contradicted FAILs dropped |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for groups, size in dict.fromkeys(result.cell[:2] for result in results):
        here = [result for result in results if result.cell[:2] == (groups, size)]
        cells = [max(one.alarms for one in here if one.cell.drawn == drawn) for drawn in DRAWN]
        cells.append(max(one.of_items for one in here if one.cell.drawn != DROPPED))
        power = float(np.mean([one.alarms for one in here if one.cell.drawn == DROPPED]))
        lines.append(f"| {groups} | {size} | {' | '.join(f'{share:.4f}' for share in cells)} | {power:.2f} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulate the grid and print the table; return the exit code."""
    return run_grid(arguments, __doc__, 4000, simulate_grid, table)


if __name__ == "__main__":
    sys.exit(main())
