"""False alarms of self-preference and vendor preference where no juror prefers anybody, and their power.

    python tests/simulations/alarms_of_preferences.py  # every cell, and the table of docs/measured.md
    python tests/simulations/alarms_of_preferences.py --repetitions 100

A panel has jurors of some vendors, and two or three models of these vendors wrote the answers. A vote depends on the
human label alone: each juror passes a share of its own of the good answers, and another of the bad ones. With human
labels, one writer has more good answers than the others; without, all have equally many. For the power, one juror also
passes :data:`FAVOURED` of the bad answers of its own model that it would fail. The exit code is 1 if a cell has more
false alarms than :data:`LEVEL`, but for the luck of the simulation.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
from grids import run_grid

from jury_adapters.calibration import Estimate, Votes, self_preference
from jury_adapters.calibration.resampling import Resampling

MODELS = (
    ("openai:gpt-4.1-mini", "openai:gpt-4o"),
    ("anthropic:claude-haiku-4-5", "anthropic:claude-sonnet-4-5"),
    ("gemini:gemini-2.5-flash", "gemini:gemini-2.5-pro"),
    ("mistral:mistral-small", "mistral:mistral-large"),
)
"""Models of each vendor."""

ITEMS = (400, 500, 3000)
JURORS = (2, 3, 4, 6)
VENDORS = (2, 3, 4)
FAVOURED = 0.4
LEVEL = 0.05
"""Share of false alarms that a cell may have, but for the luck of the simulation."""


class Cell(NamedTuple):
    """A panel and its answers.

    Attributes:
        items: number of answers.
        jurors: number of jurors.
        vendors: number of their vendors.
        gold: whether the answers have human labels.
    """

    items: int
    jurors: int
    vendors: int
    gold: bool


class Simulated(NamedTuple):
    """Results of the batches of a cell.

    Attributes:
        cell: the cell.
        alarms: share of the estimates of innocent jurors that are *more than chance explains*, in 0..1.
        estimates: number of these.
        found: share of the biased jurors of which a preference is found, among those with an estimate, in 0..1.
    """

    cell: Cell
    alarms: float
    estimates: int
    found: float

    @property
    def coverage(self) -> float:
        """The share without false alarms, on the scale of :func:`~tests.simulations.grids.run_grid`."""
        return 1.0 if self.alarms <= LEVEL + luck(self.estimates) else 0.0


def luck(estimates: int) -> float:
    """Return three standard errors of a share of false alarms in so many estimates."""
    return 3 * sqrt(LEVEL * (1 - LEVEL) / max(1, estimates))


def grid() -> Iterator[Cell]:
    """Yield the cells of the nightly run."""
    for items, jurors, vendors, gold in itertools.product(ITEMS, JURORS, VENDORS, (True, False)):
        if vendors <= jurors:
            yield Cell(items, jurors, vendors, gold)


def simulate(cell: Cell, repetitions: int) -> Simulated:
    """Draw batches of a cell, and look at the preferences of each."""
    random = np.random.default_rng([cell.items, cell.jurors, cell.vendors, cell.gold])
    innocent: list[bool] = []
    found: list[bool] = []
    for _ in range(repetitions):
        for biased, into in ((False, innocent), (True, found)):
            votes, juror = draw(cell, random, biased=biased)
            how = Resampling(200, 0)
            one = [*self_preference(votes, resampling=how)]
            if not biased:
                one += self_preference(votes, match="family", resampling=how)
            known = [each for each in one if each.value is not None and (not biased or _of_bad(each, juror))]
            into += ["more than chance explains" in each.sentence for each in known]
    return Simulated(
        cell, float(np.mean(innocent or [0])), len(innocent), float(np.mean(found)) if found else float("nan")
    )


def _of_bad(estimate: Estimate, juror: str) -> bool:
    return estimate.subject == juror and estimate.details["gold"] in ("FAIL", None)


def draw(cell: Cell, random: np.random.Generator, *, biased: bool) -> tuple[Votes, str]:
    """Return the votes of a batch, and the name of the juror that is biased."""
    vendors = random.permutation(len(MODELS))[: cell.vendors].tolist()
    panel = [MODELS[vendors[at % cell.vendors]][at // cell.vendors % 2] for at in range(cell.jurors)]
    names = [f"{model} {at}" for at, model in enumerate(panel)]
    others = [model for vendor in vendors for model in MODELS[vendor]]
    writers = [panel[0], *random.permutation([model for model in others if model != panel[0]])[: random.integers(1, 3)]]
    wrote = random.integers(0, len(writers), cell.items)
    good = random.random(cell.items) < np.where(wrote == 1, 0.8 if cell.gold else 0.6, 0.6)
    passes = {name: (random.uniform(0.7, 0.98), random.uniform(0.05, 0.5)) for name in names}
    said = {name: random.random(cell.items) < np.where(good, *passes[name]) for name in names}
    if biased:
        said[names[0]] |= (wrote == 0) & ~good & (random.random(cell.items) < FAVOURED)
    rows = [
        {
            "item_id": str(at), "meta": {"generator": writers[wrote[at]]},
            **({"gold": "PASS" if good[at] else "FAIL"} if cell.gold else {}),
            "votes": {name: {"label": "PASS" if said[name][at] else "FAIL", "model": model}
                      for name, model in zip(names, panel, strict=True)},
        }
        for at in range(cell.items)
    ]  # fmt: skip
    return Votes.from_recorded(rows, pass_label="PASS"), names[0]


def simulate_grid(repetitions: int) -> list[Simulated]:
    """Simulate every cell of the grid."""
    return [simulate(cell, repetitions if cell.items < 1000 else max(1, repetitions // 3)) for cell in grid()]


def table(results: Sequence[Simulated]) -> str:
    """Return the table of the page: a line for each number of items, with human labels and without."""
    lines = [
        "| answers; `tests/simulations/alarms_of_preferences.py` | human labels | estimates | false alarms | found |",
        "| ---: | --- | ---: | ---: | ---: |",
    ]
    for items, gold in itertools.product(ITEMS, (True, False)):
        here = [one for one in results if (one.cell.items, one.cell.gold) == (items, gold) and one.estimates]
        estimates = sum(one.estimates for one in here)
        alarms = sum(one.alarms * one.estimates for one in here) / max(1, estimates)
        known = [one.found for one in here if not np.isnan(one.found)]
        found = float(np.mean(known)) if known else float("nan")
        lines.append(f"| {items:,} | {'yes' if gold else 'no'} | {estimates:,} | {alarms:.3f} | {found:.2f} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulate the grid and print the table; return the exit code."""
    return run_grid(arguments, __doc__, 100, simulate_grid, table)


if __name__ == "__main__":
    sys.exit(main())
