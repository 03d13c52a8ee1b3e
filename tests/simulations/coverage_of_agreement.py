"""Coverage of the 95 % intervals of agreement, simulated: how often they hold the coefficient of the population.

    python tests/simulations/coverage_of_agreement.py  # every cell of the grid, and the table of docs/measured.md
    python tests/simulations/coverage_of_agreement.py --repetitions 100

In each cell jurors give an item the same label with a certain chance, and else vote each for itself. That chance is the
population's kappa and alpha; Gwet's AC1 and the raw agreement follow from it and from how often a juror says PASS. The
exit code is 1 if a cell covers less than :data:`LEAST`, but for the luck of the simulation.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from grids import run_grid, three_standard_errors

from jury_adapters.calibration import Votes, alpha, cohen_kappa, fleiss_kappa, gwet_ac, raw_agreement
from jury_adapters.calibration.estimates import Estimate
from jury_adapters.calibration.resampling import Resampling

ITEMS = (30, 50, 100, 200)
PREVALENCES = (0.5, 0.7, 0.9, 0.95)
KAPPAS = (0.2, 0.5, 0.8, 0.95)
JURORS = (2, 3)
DRAWS = 500

COEFFICIENTS: Mapping[str, Callable[..., Estimate]] = {
    "alpha": alpha,
    "fleiss kappa": fleiss_kappa,
    "cohen kappa": cohen_kappa,
    "gwet AC1": gwet_ac,
    "raw agreement": raw_agreement,
}


class Cell(NamedTuple):
    """A population of items, and the jurors.

    Attributes:
        items: number of items in a batch.
        prevalence: share of PASS among a juror's votes, in 0..1.
        kappa: chance that the jurors give an item one and the same label, in 0..1.
        jurors: number of jurors.
    """

    items: int
    prevalence: float
    kappa: float
    jurors: int

    def truth(self, coefficient: str) -> float:
        """Return a coefficient of the population."""
        by_chance = self.prevalence**2 + (1 - self.prevalence) ** 2
        observed = self.kappa + (1 - self.kappa) * by_chance
        if coefficient == "raw agreement":
            return observed
        if coefficient == "gwet AC1":
            return (observed - (1 - by_chance)) / by_chance
        return self.kappa


class Simulated(NamedTuple):
    """Result of the batches of a cell for one coefficient.

    Attributes:
        cell: the cell.
        coefficient: its name.
        coverage: share of the intervals that hold the population's coefficient, in 0..1.
        withheld: share of the batches without a coefficient, in 0..1; they are left out of the others.
        width: mean width of the intervals.
    """

    cell: Cell
    coefficient: str
    coverage: float
    withheld: float
    width: float


def grid() -> Iterator[Cell]:
    """Yield the cells of the nightly run."""
    for values in itertools.product(ITEMS, PREVALENCES, KAPPAS, JURORS):
        yield Cell(*values)


def simulate(cell: Cell, repetitions: int, coefficients: Sequence[str] = tuple(COEFFICIENTS)) -> list[Simulated]:
    """Draw batches of a cell, and look at the interval of each coefficient."""
    random = np.random.default_rng([cell.items, cell.jurors, *(round(1000 * x) for x in (cell.prevalence, cell.kappa))])
    hits, widths, withheld = (dict.fromkeys(coefficients, 0.0) for _ in range(3))
    for number in range(repetitions):
        alone = random.random((cell.items, cell.jurors)) < cell.prevalence
        together = random.random((cell.items, 1)) < cell.prevalence
        passed = np.where(random.random((cell.items, 1)) < cell.kappa, together, alone)
        votes = Votes.from_rows(passed.tolist())
        for name in coefficients:
            found = COEFFICIENTS[name](votes, resampling=Resampling(DRAWS, seed=number))
            if found.interval is None:
                withheld[name] += 1
                continue
            low, high = found.interval
            hits[name] += low - 1e-9 <= cell.truth(name) <= high + 1e-9
            widths[name] += high - low
    found_in = {name: max(1.0, repetitions - withheld[name]) for name in coefficients}
    return [
        Simulated(cell, name, hits[name] / found_in[name], withheld[name] / repetitions, widths[name] / found_in[name])
        for name in coefficients
    ]


def simulate_grid(repetitions: int) -> list[Simulated]:
    """Simulate every cell of the grid."""
    return [result for cell in grid() for result in simulate(cell, repetitions)]


def table(results: Sequence[Simulated]) -> str:
    """Return the table of the page: a line for each coefficient and number of items."""
    lines = [
        "| coefficient; `tests/simulations/coverage_of_agreement.py` | items | coverage | lowest | width |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for name, items in itertools.product(COEFFICIENTS, ITEMS):
        here = [result for result in results if (result.coefficient, result.cell.items) == (name, items)]
        if here:
            coverage, width = (float(np.mean([getattr(one, of) for one in here])) for of in ("coverage", "width"))
            lowest = min(result.coverage for result in here)
            lines.append(f"| {name} | {items} | {coverage:.3f} | {lowest:.3f} | {width:.3f} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulate the grid and print the table; return the exit code."""
    return run_grid(arguments, __doc__, 1000, simulate_grid, table, three_standard_errors)


if __name__ == "__main__":
    raise SystemExit(main())
