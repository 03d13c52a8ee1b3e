"""The simulation of confidences and scores: its hardest cells, and its table in the documentation."""

import math
from pathlib import Path

import pytest
from grids import LEAST, three_standard_errors
from support.examples import only_first

from tests.simulations.coverage_of_confidence import (
    Confidences,
    Scores,
    Simulated,
    allowed,
    grid,
    simulate,
    table,
    truth_of,
)

ROOT = Path(__file__).parents[2]
HARDEST = [
    Confidences(50, 1, 0.6, 0.98),  # hardly ever a wrong answer with more confidence than a right one
    Confidences(200, 4, 0.6, 0.5),
    Scores(50, 1, "continuous", 0.0),
    Scores(50, 1, "skewed grades", 0.98),
    Scores(200, 4, "skewed grades", 0.6),
]


@pytest.mark.slow
@pytest.mark.parametrize("cell", only_first(HARDEST), ids=str)
def test_the_interval_covers_where_it_is_hardest(cell):
    for simulated in simulate(cell, 60):
        assert simulated.coverage > LEAST - allowed(120), simulated
        assert simulated.withheld < 0.2, simulated


@pytest.mark.slow
def test_the_values_of_the_population():
    truth = truth_of(Confidences(50, 1, 0.8, 0.9))
    assert truth["AUROC of confidence"] == 0.9
    assert -0.5 < truth["overconfidence"] < 0.5
    scores = truth_of(Scores(50, 1, "continuous", 0.6))
    assert scores["weighted kappa (quadratic)"] == pytest.approx(0.6, abs=0.01)  # with equal means and variances
    assert scores["kendall tau-b"] == pytest.approx(0.41, abs=0.01)  # 2 / pi * arcsin(0.6)


def test_a_figure_without_any_interval_has_no_coverage_in_the_table():
    cell = Confidences(50, 1, 0.95, 0.5)
    (row,) = [
        line
        for line in table([Simulated(cell, "AUROC of confidence", math.nan, 1.0, math.nan)]).splitlines()[2:]
        if "AUROC" in line
    ]
    assert row == "| AUROC of confidence | 50 | 1 | - | - | 1.00 | - |"


def test_the_page_shows_every_row_of_the_grid():
    page = (ROOT / "docs/measured.md").read_text(encoding="utf-8")
    results = [Simulated(cell, name, 0.95, 0.0, 0.1) for cell in grid() for name in cell.names]
    header, _, *rows = table(results).splitlines()
    assert header in page
    shown = page[page.index(header) :].split("\n\n")[0].splitlines()[2:]
    assert [row.split(" | ")[:3] for row in shown] == [row.split(" | ")[:3] for row in rows]
    assert all(float(row.split(" | ")[3]) >= LEAST for row in shown)
    assert all(float(row.split(" | ")[4]) >= LEAST - three_standard_errors(500) for row in shown)
