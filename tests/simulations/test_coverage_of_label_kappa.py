"""The simulation of kappa against human labels: its hardest cells, and its table in the documentation."""

from pathlib import Path

import pytest
from grids import LEAST

from tests.simulations.coverage_of_label_kappa import LABELS, SIZES, Cell, Simulated, grid, simulate, table

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.parametrize(
    "cell",
    [
        Cell(30, 1, 0.95, 0.9, 0.9, 0.0),
        Cell(100, 1, 0.95, 0.95, 0.5, 0.0),
        Cell(100, 5, 0.5, 0.95, 0.5, 0.8),
    ],
)
def test_the_interval_covers_where_it_is_hardest(cell):
    assert simulate(cell, 300).coverage > LEAST - 0.03  # two standard errors of 300 batches


def test_the_truth_is_the_kappa_of_the_population():
    assert Cell(30, 1, 0.5, 0.9, 0.9, 0.0).truth == pytest.approx(0.8)
    assert Cell(30, 1, 0.8, 0.5, 0.5, 0.0).truth == pytest.approx(0.0)


def test_the_page_shows_every_row_of_the_grid():
    page = (ROOT / "docs/measured.md").read_text(encoding="utf-8")
    header, _, *rows = table([Simulated(cell, 0.95, 0.1) for cell in grid()]).splitlines()
    shown = page[page.index(header) :].split("\n\n")[0].splitlines()[2:]
    assert [row.split(" | ")[:2] for row in shown] == [row.split(" | ")[:2] for row in rows]
    assert len(rows) == len(LABELS) * len(SIZES)
    assert all(float(row.split(" | ")[3]) >= LEAST - 0.01 for row in shown)
