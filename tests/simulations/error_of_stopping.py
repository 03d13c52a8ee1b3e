"""Error of ``jury judge --stop-when-decided``, simulated: how often a stopped run is wrong about the whole file.

    python tests/simulations/error_of_stopping.py  # every cell of the grid, and the table of docs/measured.md
    python tests/simulations/error_of_stopping.py --repetitions 50

Each cell is a file of cases: so many rows, a share of them abstentions, and a pass rate at some distance from the gate.
The file is judged in many random orders. The exit code is 1 if a cell is decided wrongly in more than 5 % of them, but
for the luck of the simulation.
"""

from __future__ import annotations

import argparse
import itertools
import random
from collections.abc import Iterator, Sequence
from math import ceil, sqrt
from typing import NamedTuple

from jury_adapters import Judgment, abstain
from jury_adapters.core.sequential_gate import ALPHA, SequentialGate

CASES = (200, 1000, 5000)
GATES = (0.8, 0.9, 0.95)
DISTANCES = (-0.1, -0.05, -0.02, -0.0, 0.0, 0.02, 0.05, 0.1)  # -0.0: one passed case too few
ABSTAINED = (0.0, 0.2)
NAMES = {"-0.0": "one case below", "0.0": "just met"}

_PASS, _FAIL, _ABSTAIN = Judgment("PASS"), Judgment("FAIL"), abstain("cannot say")


class Cell(NamedTuple):
    """A file of cases.

    Attributes:
        cases: number of rows.
        gate: the least pass rate, in 0..1.
        distance: pass rate of the file minus the gate; 0.0 where the gate is just met, -0.0 where one passed case is
            missing.
        abstained: share of the rows that are abstentions, in 0..1.
    """

    cases: int
    gate: float
    distance: float
    abstained: float

    @property
    def verdicts(self) -> list[Judgment]:
        """The verdicts on all rows."""
        abstained = round(self.abstained * self.cases)
        counted = self.cases - abstained
        passed = ceil(round((self.gate + self.distance) * counted, 6)) - (str(self.distance) == "-0.0")
        return [_PASS] * passed + [_FAIL] * (counted - passed) + [_ABSTAIN] * abstained

    @property
    def met(self) -> bool:
        """Whether the whole file meets the gate."""
        return not str(self.distance).startswith("-")


class Simulated(NamedTuple):
    """Results of the random orders of a cell.

    Attributes:
        cell: the cell.
        error: share of the orders in which the decision is not that of the whole file, in 0..1.
        saved: mean share of the cases that were not judged, in 0..1.
    """

    cell: Cell
    error: float
    saved: float


def grid() -> Iterator[Cell]:
    """Yield the cells of the nightly run."""
    for cell in itertools.starmap(Cell, itertools.product(CASES, GATES, DISTANCES, ABSTAINED)):
        if cell.gate + cell.distance <= 1:
            yield cell


def simulate(cell: Cell, repetitions: int) -> Simulated:
    """Judge the file of a cell in random orders."""
    seeds = random.Random(repr(cell))
    verdicts, wrong, saved = cell.verdicts, 0, 0
    for _ in range(repetitions):
        gate = SequentialGate(cell.cases, at_least=cell.gate, seed=seeds.getrandbits(64))
        for verdict in gate.draw(verdicts):
            gate.add(verdict)
        wrong += gate.met is not cell.met
        saved += gate.decision.cases_saved
    return Simulated(cell, wrong / repetitions, saved / repetitions / cell.cases)


def table(results: Sequence[Simulated]) -> str:
    """Return the table of the page: a line for each number of cases and distance from the gate."""
    lines = [
        "| cases; `tests/simulations/error_of_stopping.py` | rate - gate | wrong | highest | cases saved | lowest |",
        "| ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for cases, distance in itertools.product(CASES, map(str, DISTANCES)):
        here = [one for one in results if (one.cell.cases, str(one.cell.distance)) == (cases, distance)]
        if here:
            errors, saved = [one.error for one in here], [100 * one.saved for one in here]
            error = f"{sum(errors) / len(here):.3f} | {max(errors):.3f}"
            name = NAMES.get(distance, f"{float(distance):+g}")
            lines.append(f"| {cases:,} | {name} | {error} | {sum(saved) / len(here):.0f} % | {min(saved):.0f} % |")
    return "\n".join(lines)


def highest(repetitions: int) -> float:
    """Return the share of wrong decisions above which a cell fails: three standard errors above 5 %."""
    return ALPHA + 3 * sqrt(ALPHA * (1 - ALPHA) / repetitions)


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulate the grid and print the table; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=400, help="random orders of a cell (400)")
    given = parser.parse_args(arguments)
    results = [simulate(cell, given.repetitions) for cell in grid()]
    print(table(results))
    high = [result for result in results if result.error > highest(given.repetitions)]
    for result in high:
        print(f"above {highest(given.repetitions):.3f}: {result}")
    return 1 if high else 0


if __name__ == "__main__":
    raise SystemExit(main())
