"""Coverage of the 95 % intervals of confidences and scores, simulated: how often they hold the value of the population.

    python tests/simulations/coverage_of_confidence.py  # every cell of the grid, and the table of docs/measured.md
    python tests/simulations/coverage_of_confidence.py --repetitions 100

The confidence of a right answer is the logistic function of a normal number, that of a wrong one of another; the
distance between the two gives the AUROC. Scores and human labels are two correlated normal numbers, on a continuous
scale or cut into five grades, half of which are 5 where the scale is skewed. Items come alone or in groups
of four alike.
The exit code is 1 if a cell covers less than :data:`LEAST`, but for the luck of the simulation.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from math import nan, sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from grids import run_grid, three_standard_errors
from numpy.typing import NDArray
from scipy.stats import kendalltau, spearmanr

from jury_adapters.calibration import Estimate, Votes
from jury_adapters.calibration.resampling import Resampling
from jury_adapters.statistics import confidence_quality, graded_agreement
from jury_adapters.statistics.weighted import linear_kappa, quadratic_kappa

ITEMS = (50, 200)
ACCURACIES = (0.6, 0.8, 0.95)
AREAS = (0.5, 0.7, 0.9, 0.98)
SCALES = ("continuous", "five grades", "skewed grades")
CORRELATIONS = (0.0, 0.6, 0.9, 0.98)
GROUPS = (1, 4)
DRAWS = 300
POPULATION = 200_000
MOST_WITHHELD = 0.5
"""Share of batches without an interval above which a cell has no coverage: too few are left."""
OF_CONFIDENCE = ("overconfidence", "AUROC of confidence", "Brier score of confidence")
OF_SCORES = ("weighted kappa (linear)", "weighted kappa (quadratic)", "spearman correlation", "kendall tau-b")

Floats = NDArray[np.float64]


class Confidences(NamedTuple):
    """A population of answers with a confidence.

    Attributes:
        items: number of answers in a batch.
        together: number of answers in a group.
        accuracy: share of the answers that are right, in 0..1.
        area: AUROC of the confidence.
    """

    items: int
    together: int
    accuracy: float
    area: float

    names = OF_CONFIDENCE

    def draw(self, random: np.random.Generator, items: int, together: int) -> tuple[Floats, Floats]:
        """Return confidences, and 1 or 0 for right or wrong; a group has one of either."""
        size = -(-items // together)
        right = np.repeat(random.random(size) < self.accuracy, together)[:items].astype(float)
        noise = np.repeat(random.normal(size=size), together)[:items]
        apart = NormalDist().inv_cdf(self.area) * sqrt(2)
        return 1 / (1 + np.exp(-(noise + apart * (right - 0.5) + 0.5))), right

    def truth(self) -> Mapping[str, float]:
        """Return the values of the population."""
        stated, right = self.draw(np.random.default_rng(7), POPULATION, 1)
        brier = float(((stated - right) ** 2).mean())
        return dict(zip(self.names, (float(stated.mean() - right.mean()), self.area, brier), strict=True))

    def estimates(self, first: Floats, second: Floats, groups: list[int], how: Resampling) -> Sequence[Estimate]:
        """Return the estimates of a batch."""
        rows = [
            {
                "item_id": str(item), "group": group, "gold": "PASS" if hit else "FAIL",
                "votes": {"a": {"label": "PASS", "confidence": stated}},
            }
            for item, (stated, hit, group) in enumerate(zip(first.tolist(), second.tolist(), groups, strict=True))
        ]  # fmt: skip
        return confidence_quality(Votes.from_recorded(rows, group="group"), resampling=how)


class Scores(NamedTuple):
    """A population of scores beside human labels.

    Attributes:
        items: number of items in a batch.
        together: number of items in a group.
        scale: one of :data:`SCALES`.
        correlation: of the normal numbers behind score and human label.
    """

    items: int
    together: int
    scale: str
    correlation: float

    names = OF_SCORES

    def draw(self, random: np.random.Generator, items: int, together: int) -> tuple[Floats, Floats]:
        """Return scores and human labels; a group has one of either."""
        size = -(-items // together)
        first = random.normal(size=size)
        second = self.correlation * first + sqrt(1 - self.correlation**2) * random.normal(size=size)
        return self._cut(np.repeat(first, together)[:items]), self._cut(np.repeat(second, together)[:items])

    def _cut(self, numbers: Floats) -> Floats:
        if self.scale == "continuous":
            return numbers
        edges = [-1.2, -0.4, 0.4, 1.2] if self.scale == "five grades" else [-2.0, -1.5, -1.0, 0.0]
        return 1.0 + np.digitize(numbers, edges)

    def truth(self) -> Mapping[str, float]:
        """Return the values of the population."""
        first, second = self.draw(np.random.default_rng(7), POPULATION, 1)
        whole = np.ones((1, POPULATION))
        kappas = [float(kappa(whole, first, second)[0]) for kappa in (linear_kappa, quadratic_kappa)]
        ranks = [float(rank(first, second).statistic) for rank in (spearmanr, kendalltau)]
        return dict(zip(self.names, (*kappas, *ranks), strict=True))

    def estimates(self, first: Floats, second: Floats, groups: list[int], how: Resampling) -> Sequence[Estimate]:
        """Return the estimates of a batch."""
        votes = Votes.from_rows(first[:, None].tolist(), gold=second.tolist(), groups=groups)
        return graded_agreement(votes, resampling=how)


Cell = Confidences | Scores


class Simulated(NamedTuple):
    """The result of one figure in one cell.

    Attributes:
        cell: the cell.
        figure: name of the figure.
        coverage: share of the intervals that hold the value of the population, in 0..1; NaN where more than
            :data:`MOST_WITHHELD` of the batches have no interval.
        withheld: share of the batches without an interval, in 0..1; they are left out of the others.
        width: mean width of the intervals.
    """

    cell: Cell
    figure: str
    coverage: float
    withheld: float
    width: float


def grid() -> Iterator[Cell]:
    """Yield the cells of the nightly run: items in groups only where there are 200."""
    for items, together in ((50, 1), (200, 1), (200, 4)):
        for accuracy, area in itertools.product(ACCURACIES, AREAS):
            yield Confidences(items, together, accuracy, area)
        for scale, correlation in itertools.product(SCALES, CORRELATIONS):
            yield Scores(items, together, scale, correlation)


@cache
def truth_of(cell: Cell) -> Mapping[str, float]:
    """Return the values of a cell's population, computed once."""
    return cell.truth()


def simulate(cell: Cell, repetitions: int) -> list[Simulated]:
    """Draw batches of a cell, and look at the interval of each figure."""
    random = np.random.default_rng([cell.items, cell.together, *map(ord, str(cell[2:]))])
    truth, hits, widths, shown = truth_of(cell), *(dict.fromkeys(cell.names, 0.0) for _ in range(3))
    groups = [item // cell.together for item in range(cell.items)]
    for number in range(repetitions):
        first, second = cell.draw(random, cell.items, cell.together)
        for found in cell.estimates(first, second, groups, Resampling(DRAWS, seed=number)):
            if found.interval is not None and found.name in truth:
                low, high = found.interval
                shown[found.name] += 1
                hits[found.name] += low - 1e-9 <= truth[found.name] <= high + 1e-9
                widths[found.name] += high - low
    return [_simulated(cell, name, hits[name], shown[name], widths[name], repetitions) for name in cell.names]


def _simulated(cell: Cell, name: str, hits: float, shown: float, width: float, repetitions: int) -> Simulated:
    withheld = 1 - shown / repetitions
    if withheld > MOST_WITHHELD:
        return Simulated(cell, name, nan, withheld, nan)
    return Simulated(cell, name, hits / shown, withheld, width / shown)


def simulate_grid(repetitions: int) -> list[Simulated]:
    """Simulate every cell of the grid."""
    return [result for cell in grid() for result in simulate(cell, repetitions)]


def table(results: Sequence[Simulated]) -> str:
    """Return the table of the page: a line for each figure and kind of batch."""
    lines = [
        "| figure; `tests/simulations/coverage_of_confidence.py` | items | in groups of | coverage | lowest | withheld "
        "| width |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    kinds = sorted({result.cell[:2] for result in results})
    for name, kind in itertools.product(OF_CONFIDENCE + OF_SCORES, kinds):
        here = [one for one in results if (one.figure, one.cell[:2]) == (name, kind)]
        known = [one for one in here if one.coverage >= 0]
        told = "- | - | {} | -" if not known else "{:.3f} | {:.3f} | {} | {:.3f}"
        if here:
            withheld = f"{np.mean([one.withheld for one in here]):.2f}"
            coverage, width = ([getattr(one, of) for one in known] for of in ("coverage", "width"))
            numbers = (np.mean(coverage), min(coverage), withheld, np.mean(width)) if known else (withheld,)
            lines.append(f"| {name} | {kind[0]} | {kind[1]} | {told.format(*numbers)} |")
    return "\n".join(lines)


def allowed(repetitions: int) -> float:
    """Return three standard errors of a cell in which half the batches have an interval."""
    return three_standard_errors(repetitions // 2)


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulate the grid and print the table; return the exit code."""
    return run_grid(arguments, __doc__, 500, simulate_grid, table, allowed)


if __name__ == "__main__":
    raise SystemExit(main())
