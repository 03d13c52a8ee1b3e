"""Coverage of the 95 % interval of Cohen's kappa between a jury and human labels.

    python tests/simulations/coverage_of_label_kappa.py  # every cell, and the table of docs/measured.md
    python tests/simulations/coverage_of_label_kappa.py --repetitions 200

Human labels pass a share of the cases, and the jury passes a share of these and fails a share of the rest. In groups,
each group repeats its own label, and its own kind of mistake, with a probability that gives two cases of it the
correlation of the cell. The exit code is 1 if a cell covers less than :data:`~tests.simulations.grids.LEAST`, but for
the luck of the simulation.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from grids import run_grid, three_standard_errors
from numpy.typing import NDArray

from jury_adapters.core.kappa_intervals import kappa_interval

LABELS = (30, 50, 100, 200)
SIZES = (1, 5)
RATES = (0.5, 0.8, 0.95)
JURIES = ((0.6, 0.6), (0.9, 0.9), (0.95, 0.5), (0.99, 0.9), (0.5, 0.5))
CORRELATIONS = (0.3, 0.8)

Bools = NDArray[np.bool_]


class Cell(NamedTuple):
    """A population of labelled cases.

    Attributes:
        labels: number of labelled cases in a batch.
        size: number of cases of each group; 1 for independent cases.
        rate: share of the cases with a human PASS.
        passes: share of these that the jury passes.
        fails: share of the other cases that the jury fails.
        correlation: that of the labels of two cases of a group, and of the jury's mistakes on them, in 0..1.
    """

    labels: int
    size: int
    rate: float
    passes: float
    fails: float
    correlation: float

    @property
    def truth(self) -> float:
        """Cohen's kappa of the population."""
        right = self.rate * self.passes + (1 - self.rate) * self.fails
        said = self.rate * self.passes + (1 - self.rate) * (1 - self.fails)
        by_chance = self.rate * said + (1 - self.rate) * (1 - said)
        return (right - by_chance) / (1 - by_chance)


class Simulated(NamedTuple):
    """Results of the batches of a cell.

    Attributes:
        cell: the cell.
        coverage: share of the intervals that hold the truth, in 0..1.
        width: mean width of the intervals.
    """

    cell: Cell
    coverage: float
    width: float


def grid() -> Iterator[Cell]:
    """Yield the cells of the nightly run."""
    for labels, size, rate, jury in itertools.product(LABELS, SIZES, RATES, JURIES):
        for correlation in (0.0,) if size == 1 else CORRELATIONS:
            yield Cell(labels, size, rate, *jury, correlation)


def simulate(cell: Cell, repetitions: int) -> Simulated:
    """Draw batches of a cell, and look at the interval of each. Batches without variation have no kappa."""
    random = np.random.default_rng([cell.labels, cell.size, *(round(1000 * part) for part in cell[2:])])
    found = [interval for _ in range(repetitions) if (interval := interval_of(cell, random)) is not None]
    covered = [low - 1e-9 <= cell.truth <= high + 1e-9 for low, high in found]
    return Simulated(cell, float(np.mean(covered)), float(np.mean([high - low for low, high in found])))


def simulate_grid(repetitions: int) -> list[Simulated]:
    """Simulate every cell of the grid."""
    return [simulate(cell, repetitions) for cell in grid()]


def interval_of(cell: Cell, random: np.random.Generator) -> tuple[float, float] | None:
    """Draw a batch and return its interval; None without a kappa."""
    shape = (cell.labels // cell.size, cell.size)
    passed = _alike(cell.rate, cell.correlation, shape, random)
    right = np.where(
        passed,
        _alike(cell.passes, cell.correlation, shape, random),
        _alike(cell.fails, cell.correlation, shape, random),
    )
    said = passed == right
    groups = [Counter(zip(one.tolist(), other.tolist(), strict=True)) for one, other in zip(passed, said, strict=True)]
    return kappa_interval(sum(groups, Counter()), groups if cell.size > 1 else ())


def table(results: Sequence[Simulated]) -> str:
    """Return the table of the page: a line for each number of labels and cases per group."""
    lines = [
        "| labels; `tests/simulations/coverage_of_label_kappa.py` | in groups of | coverage | lowest | width |",
        "| ---: | ---: | ---: | ---: | ---: |",
    ]
    for labels, size in dict.fromkeys(result.cell[:2] for result in results):
        here = [result for result in results if result.cell[:2] == (labels, size)]
        covered = [one.coverage for one in here]
        width = np.mean([one.width for one in here])
        lines.append(f"| {labels} | {size} | {np.mean(covered):.3f} | {min(covered):.3f} | {width:.3f} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulate the grid and print the table; return the exit code."""
    return run_grid(arguments, __doc__, 1000, simulate_grid, table, three_standard_errors)


def _alike(share: float, correlation: float, shape: tuple[int, int], random: np.random.Generator) -> Bools:
    """Draw values of a share, two of which correlate within a group (a row)."""
    common = random.random((shape[0], 1)) < share
    own = random.random(shape) < share
    return np.where(random.random(shape) < np.sqrt(correlation), common, own)


if __name__ == "__main__":
    raise SystemExit(main())
