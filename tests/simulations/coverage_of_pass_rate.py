"""Coverage of the 95 % interval of the true pass rate, simulated: how often it holds the rate of the population.

    python tests/simulations/coverage_of_pass_rate.py  # every cell of the grid, and the table of docs/measured.md
    python tests/simulations/coverage_of_pass_rate.py --repetitions 200

Each cell draws batches of a population in which people pass a share of the items, and the jury passes a share of those
(TPR) and fails a share of the others (TNR). People label a random part of a batch; the jury judges all of it. The exit
code is 1 if a cell covers less than :data:`LEAST`, but for the luck of the simulation.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from grids import run_grid

from jury_adapters.calibration import prediction_powered_rate

LABELLED = (30, 50, 100, 200)
RATES = (0.5, 0.7, 0.9, 0.97)
TPRS = (0.95, 0.98, 1.0)
TNRS = (0.5, 0.7, 0.9)
UNLABELLED = (100, 1000)


class Cell(NamedTuple):
    """A population and a sample of it.

    Attributes:
        labelled: items with a label.
        rate: share of the items that people pass, in 0..1.
        tpr: share of those that the jury passes too, in 0..1.
        tnr: share of the others that the jury fails too, in 0..1.
        unlabelled: items without a label.
    """

    labelled: int
    rate: float
    tpr: float
    tnr: float
    unlabelled: int


class Simulated(NamedTuple):
    """Results of the batches of a cell.

    Attributes:
        cell: the cell.
        coverage: share of the intervals that hold the rate of the population, in 0..1.
        bias: mean of the estimates minus that rate.
        width: mean width of the intervals.
    """

    cell: Cell
    coverage: float
    bias: float
    width: float


def grid() -> Iterator[Cell]:
    """Yield the cells of the nightly run."""
    for values in itertools.product(LABELLED, RATES, TPRS, TNRS, UNLABELLED):
        yield Cell(*values)


def simulate(cell: Cell, repetitions: int, seed: int = 0) -> Simulated:
    """Draw batches of a cell, and look at the interval of each."""
    random = np.random.default_rng([seed, cell.labelled, cell.unlabelled, *(round(1000 * x) for x in cell[1:4])])
    covered, estimates, widths = 0, [], []
    for _ in range(repetitions):
        good = random.random(cell.labelled + cell.unlabelled) < cell.rate
        passed = random.random(len(good)) < np.where(good, cell.tpr, 1 - cell.tnr)
        labels, verdicts = good.astype(float), passed.astype(float)
        n = cell.labelled
        found = prediction_powered_rate(labels[:n], verdicts[:n], verdicts[n:])
        assert found.value is not None
        assert found.interval is not None
        low, high = found.interval
        covered += low <= cell.rate <= high
        estimates.append(found.value)
        widths.append(high - low)
    return Simulated(cell, covered / repetitions, float(np.mean(estimates)) - cell.rate, float(np.mean(widths)))


def simulate_grid(repetitions: int) -> list[Simulated]:
    """Simulate every cell of the grid."""
    return [simulate(cell, repetitions) for cell in grid()]


def table(results: Sequence[Simulated]) -> str:
    """Return the table of the page: a line for each number of labels and pass rate."""
    lines = [
        "| labels; `tests/simulations/coverage_of_pass_rate.py` | pass rate | coverage | lowest | bias up to | width |",
        "| ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    keys = sorted({result.cell[:2] for result in results})
    for labelled, rate in keys:
        here = [result for result in results if result.cell[:2] == (labelled, rate)]
        mean = sum(result.coverage for result in here) / len(here)
        lowest = min(result.coverage for result in here)
        bias = max((result.bias for result in here), key=abs)
        width = sum(result.width for result in here) / len(here)
        lines.append(f"| {labelled} | {rate:g} | {mean:.3f} | {lowest:.3f} | {bias:+.3f} | {width:.3f} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulate the grid and print the table; return the exit code."""
    return run_grid(arguments, __doc__, 2000, simulate_grid, table)


if __name__ == "__main__":
    raise SystemExit(main())
