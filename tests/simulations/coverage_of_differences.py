"""Coverage of the 95 % intervals of a difference of pass rates, simulated: how often they hold the true difference.

    python tests/simulations/coverage_of_differences.py  # every cell of the grid, and the table of docs/measured.md
    python tests/simulations/coverage_of_differences.py --repetitions 200

Each cell draws batches of cases that two systems answer. People pass a share of each system's answers, the same cases
are easy for both, and the jury passes a share of what people pass (TPR) and fails a share of the rest (TNR), which may
differ between the systems. People label both answers of a random part of the cases. Two intervals are looked at: that
of the verdicts alone, which should hold the difference between the rates at which the jury passes the answers, and the
corrected one, which should hold the difference between people's rates. The exit code is 1 if an interval of a cell
covers less than 0.93, but for the luck of the simulation.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from grids import run_grid, three_standard_errors
from numpy.typing import NDArray

from jury_adapters.statistics import compare

LABELLED = (30, 50, 100, 200)
RATES = ((0.5, 0.5), (0.7, 0.8), (0.9, 0.9), (0.95, 0.97))
JURIES = (
    ((0.95, 0.9), (0.95, 0.9)),
    ((0.95, 0.9), (0.98, 0.5)),
    ((0.8, 0.8), (0.98, 0.4)),
)
UNLABELLED = (100, 600)
GROUP_SIZES = (1, 5)
ALIKE = 0.5  # share of the cases that are as hard for both systems, and of a group's cases that are as hard as another


class Cell(NamedTuple):
    """Two systems, their jury, and a sample.

    Attributes:
        labelled: cases with labels of both answers.
        rates: share of the answers of a and of b that people pass, in 0..1.
        juries: the jury's TPR and TNR on the answers of a and of b, in 0..1.
        unlabelled: cases without labels.
        group_size: cases in each group; 1 for independent cases.
    """

    labelled: int
    rates: tuple[float, float]
    juries: tuple[tuple[float, float], tuple[float, float]]
    unlabelled: int
    group_size: int


class Simulated(NamedTuple):
    """Results of the batches of a cell.

    Attributes:
        cell: the cell.
        corrected: share of the corrected intervals that hold the difference between people's rates, in 0..1.
        verdicts: share of the intervals of the verdicts alone that hold the difference of the jury's rates, in 0..1.
        at_face_value: share of the intervals of the verdicts alone that hold the difference between people's rates.
        bias: mean of the corrected estimates minus the true difference.
        width: mean width of the corrected intervals.
    """

    cell: Cell
    corrected: float
    verdicts: float
    at_face_value: float
    bias: float
    width: float

    @property
    def coverage(self) -> float:
        """The lower of the coverages of the two intervals."""
        return min(self.corrected, self.verdicts)


def grid() -> Iterator[Cell]:
    """Yield the cells of the nightly run."""
    for values in itertools.product(LABELLED, RATES, JURIES, UNLABELLED, GROUP_SIZES):
        yield Cell(*values)


def simulate(cell: Cell, repetitions: int, seed: int = 0) -> Simulated:
    """Draw batches of a cell, and look at both intervals of each."""
    random = np.random.default_rng([seed, *(round(1000 * x) for x in np.hstack([np.ravel(part) for part in cell]))])
    n = cell.labelled + cell.unlabelled
    groups = np.arange(n) // cell.group_size
    truth = cell.rates[1] - cell.rates[0]
    of_jury = [rate * tpr + (1 - rate) * (1 - tnr) for rate, (tpr, tnr) in zip(cell.rates, cell.juries, strict=True)]
    covered = np.zeros(3)
    estimates, widths = [], []
    for _ in range(repetitions):
        people, verdicts = _batch(random, cell, groups)
        known = np.zeros(n, dtype=bool)
        known[random.permutation(n)[: cell.labelled]] = True
        labels = [[int(said) if there else None for said, there in zip(one, known, strict=True)] for one in people]
        plain = compare(*verdicts.astype(int).tolist(), groups=groups.tolist())
        found = compare(*verdicts.astype(int).tolist(), labels_a=labels[0], labels_b=labels[1], groups=groups.tolist())
        if found.value is None:  # a random sample of labels that looks selected: 0.3 % of them at most
            continue
        assert found.interval is not None
        assert plain.interval is not None
        low, high = plain.interval
        covered += (found.interval[0] <= truth <= found.interval[1], low <= of_jury[1] - of_jury[0] <= high,
                    low <= truth <= high)  # fmt: skip
        estimates.append(found.value)
        widths.append(found.interval[1] - found.interval[0])
    shares = (covered / len(estimates)).tolist()
    return Simulated(cell, *shares, float(np.mean(estimates)) - truth, float(np.mean(widths)))


def simulate_grid(repetitions: int) -> list[Simulated]:
    """Simulate every cell of the grid."""
    return [simulate(cell, repetitions) for cell in grid()]


def table(results: Sequence[Simulated]) -> str:
    """Return the table of the page: a line for each number of labels, pair of rates, and group size."""
    lines = [
        "| labels; `tests/simulations/coverage_of_differences.py` | pass rates of a, b | group of "
        "| corrected: coverage | lowest | bias up to | width | verdicts alone: coverage | lowest "
        "| against human labels |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    keys = sorted({(result.cell.labelled, result.cell.rates, result.cell.group_size) for result in results})
    for labelled, rates, size in keys:
        here = [r for r in results if (r.cell.labelled, r.cell.rates, r.cell.group_size) == (labelled, rates, size)]
        bias = max((result.bias for result in here), key=abs)
        width = float(np.mean([result.width for result in here]))
        lines.append(
            f"| {labelled} | {rates[0]:g}, {rates[1]:g} | {size} | {np.mean([r.corrected for r in here]):.3f} "
            f"| {min(r.corrected for r in here):.3f} | {bias:+.3f} | {width:.3f} "
            f"| {np.mean([r.verdicts for r in here]):.3f} | {min(r.verdicts for r in here):.3f} "
            f"| {min(r.at_face_value for r in here):.3f} |"
        )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulate the grid and print the table; return the exit code."""
    return run_grid(arguments, __doc__, 2000, simulate_grid, table, three_standard_errors)


def _batch(
    random: np.random.Generator, cell: Cell, groups: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Draw what people say of each system's answers (systems x cases), and what the jury says."""
    n = len(groups)
    hard = _shared(random, random.random(n), groups, cell.group_size)  # how hard a case is, in 0..1
    of_each = np.where(random.random((2, n)) < ALIKE, hard, random.random((2, n)))
    people = of_each < np.array(cell.rates)[:, None]
    tpr, tnr = np.array(cell.juries).T[..., None]
    luck = np.stack([_shared(random, random.random(n), groups, cell.group_size) for _ in range(2)])
    return people, luck < np.where(people, tpr, 1 - tnr)


def _shared(
    random: np.random.Generator, values: NDArray[np.float64], groups: NDArray[np.int64], size: int
) -> NDArray[np.float64]:
    """Return the values, of which a part is that of the group."""
    if size == 1:
        return values
    of_group = random.random(groups[-1] + 1)[groups]
    return np.where(random.random(len(values)) < ALIKE, of_group, values)


if __name__ == "__main__":
    raise SystemExit(main())
