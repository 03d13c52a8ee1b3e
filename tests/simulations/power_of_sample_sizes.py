"""Simulated results of planned numbers of labels and cases: half-widths, guarantees granted, differences found.

    python tests/simulations/power_of_sample_sizes.py  # every cell of the grid, and the table of docs/measured.md
    python tests/simulations/power_of_sample_sizes.py --repetitions 200

Each cell asks for a number, draws batches of that size from the population that was assumed, and applies what the
package does with labels: the interval of the true pass rate, the calibration, the exact McNemar test, the z test. The
exit code is 1 if intervals are wider than planned, or if a guarantee or a difference is found less often than planned
by more than the error of the simulation. It is also 1 if one is found in more than :data:`MOST` of the batches and the
stepwise power of an exact test does not explain it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from math import sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from jury_adapters.calibration import prediction_powered_rate
from jury_adapters.calibration.binomial import binomial_cdf
from jury_adapters.calibration.thresholds import Trials, choose_thresholds
from jury_adapters.core.statistics import wilson
from jury_adapters.statistics import SampleSize, cases_for_difference, labels_for_guarantee, labels_for_interval

POWER = 0.8
MOST = 0.9
NEAR = 0.05  # part of the half-width by which intervals may miss the planned one


class Cell(NamedTuple):
    """A question, and the numbers that are expected.

    Attributes:
        question: ``"interval"``, ``"interval, judged"``, ``"guarantee"``, ``"paired"`` or ``"unpaired"``.
        target: half-width, agreement or difference, in 0..1.
        expected: pass rate, or agreement of the jury, in 0..1.
        more: TPR and TNR of the jury, or share of discordant cases, in 0..1; 0 where there is none.
    """

    question: str
    target: float
    expected: float
    more: float = 0.0


class Simulated(NamedTuple):
    """Results of the batches of a cell.

    Attributes:
        cell: the cell.
        n: the planned number.
        planned: what it is to give: mean half-width, or probability.
        found: mean half-width of the intervals, or share of the batches with a guarantee or a difference.
        kept: share of the intervals that are no wider than asked for; otherwise the same as ``found``.
    """

    cell: Cell
    n: int
    planned: float
    found: float
    kept: float

    @property
    def is_width(self) -> bool:
        """Whether it is of intervals."""
        return self.cell.question.startswith("interval")


def grid() -> Iterator[Cell]:
    """Yield the cells of the nightly run."""
    for half_width, rate in ((0.1, 0.5), (0.05, 0.8), (0.05, 0.95), (0.03, 0.9)):
        yield Cell("interval", half_width, rate)
        yield Cell("interval, judged", half_width, rate, 0.9)
    for agreement, expected in ((0.8, 0.9), (0.9, 0.95), (0.9, 0.98), (0.95, 0.98), (0.95, 1.0)):
        yield Cell("guarantee", agreement, expected)
    for difference, rate, discordant in ((0.05, 0.8, 0.1), (0.1, 0.6, 0.3), (0.1, 0.85, 0.1), (0.2, 0.5, 0.5)):
        yield Cell("paired", difference, rate, discordant)
        yield Cell("unpaired", difference, rate)


def simulate(cell: Cell, repetitions: int) -> Simulated:
    """Draw batches of the planned size, and do with each what the package does."""
    draw = np.random.default_rng([len(cell.question), *(round(1000 * x) for x in cell[1:])])
    planned, batch = _QUESTIONS[cell.question](cell)
    found = np.array([batch(draw) for _ in range(repetitions)])
    kept = found <= cell.target + 1e-9 if cell.question.startswith("interval") else found
    return Simulated(cell, planned.n, planned.gives[planned.n], float(found.mean()), float(kept.mean()))


def wrong(result: Simulated, repetitions: int) -> bool:
    """Return whether a result is not as planned, beyond three standard errors of the simulation."""
    if result.is_width:
        return result.found > result.cell.target * (1 + NEAR) or result.found < result.cell.target * (1 - 3 * NEAR)
    luck = 3 * sqrt(POWER * (1 - POWER) / repetitions)
    return result.found < POWER - luck or abs(result.found - result.planned) > max(luck, MOST - POWER)


def table(results: Sequence[Simulated]) -> str:
    """Return the table of the page: a line for each cell."""
    lines = [
        "| question; `tests/simulations/power_of_sample_sizes.py` | asked for | expected | n | planned | simulated |",
        "| --- | --- | --- | ---: | ---: | ---: |",
    ]
    for cell, n, planned, found, kept in results:
        asked, expected = _SHOWN[cell.question]
        shown = f"{found:.3f}, {kept:.0%} within" if cell.question.startswith("interval") else f"{found:.3f}"
        columns = (
            cell.question, asked.format(cell.target), expected.format(cell.expected, cell.more), f"{n:,}",
            f"{planned:.3f}", shown,
        )  # fmt: skip
        lines.append(f"| {' | '.join(columns)} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulate the grid and print the table; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=2000, help="batches of a cell (2000)")
    given = parser.parse_args(arguments)
    results = [simulate(cell, given.repetitions) for cell in grid()]
    print(table(results))
    amiss = [result for result in results if wrong(result, given.repetitions)]
    for result in amiss:
        print(f"not as planned: {result}")
    return 1 if amiss else 0


Batch = Callable[[np.random.Generator], float]


def _interval(cell: Cell) -> tuple[SampleSize, Batch]:
    planned = labels_for_interval(cell.target, cell.expected)

    def batch(draw: np.random.Generator) -> float:
        low, high = wilson(int(draw.binomial(planned.n, cell.expected)), planned.n)
        return (high - low) / 2

    return planned, batch


def _judged(cell: Cell) -> tuple[SampleSize, Batch]:
    planned = labels_for_interval(cell.target, cell.expected, judged=_JUDGED, tpr=cell.more, tnr=cell.more)

    def batch(draw: np.random.Generator) -> float:
        good = draw.random(_JUDGED) < cell.expected
        passed = (draw.random(_JUDGED) < cell.more) == good
        labels, verdicts = good.astype(float), passed.astype(float)
        low, high = prediction_powered_rate(labels[: planned.n], verdicts[: planned.n], verdicts[planned.n :]).interval
        return (high - low) / 2

    return planned, batch


def _guarantee(cell: Cell) -> tuple[SampleSize, Batch]:
    planned = labels_for_guarantee(cell.target, cell.expected)

    def batch(draw: np.random.Generator) -> float:
        right = draw.random((planned.n, 1)) < cell.expected
        return float(choose_thresholds(Trials(np.full(right.shape, 0.9), right), 1 - cell.target, 0.1)[0].decided > 0)

    return planned, batch


def _paired(cell: Cell) -> tuple[SampleSize, Batch]:
    planned = cases_for_difference(cell.target, cell.expected, discordant=cell.more)
    won, lost = (cell.more + cell.target) / 2, (cell.more - cell.target) / 2

    def batch(draw: np.random.Generator) -> float:
        favour, against, _ = draw.multinomial(planned.n, [won, lost, 1 - won - lost]).tolist()
        return float(2 * binomial_cdf(min(favour, against), favour + against, 0.5) <= 0.05)

    return planned, batch


def _unpaired(cell: Cell) -> tuple[SampleSize, Batch]:
    planned = cases_for_difference(cell.target, cell.expected, paired=False)
    n, critical = planned.n, NormalDist().inv_cdf(0.975)

    def batch(draw: np.random.Generator) -> float:
        one, other = draw.binomial(n, [cell.expected, cell.expected + cell.target]) / n
        mean = (one + other) / 2
        return float(abs(other - one) > critical * sqrt(2 * mean * (1 - mean) / n))

    return planned, batch


_JUDGED = 2000
_QUESTIONS = {
    "interval": _interval, "interval, judged": _judged, "guarantee": _guarantee, "paired": _paired,
    "unpaired": _unpaired,
}  # fmt: skip
_SHOWN = {
    "interval": ("± {:g}", "rate {:g}"),
    "interval, judged": ("± {:g}", "rate {:g}, TPR and TNR {:g}"),
    "guarantee": ("agreement {:g}", "agreement {:g}"),
    "paired": ("difference {:g}", "rate {:g}, discordant {:g}"),
    "unpaired": ("difference {:g}", "rate {:g}"),
}

if __name__ == "__main__":
    raise SystemExit(main())
