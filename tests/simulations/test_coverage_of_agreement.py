"""The simulation of agreement: its hardest cells, and its table in the documentation."""

from pathlib import Path

import pytest
from grids import LEAST, three_standard_errors
from support.examples import only_first

from tests.simulations.coverage_of_agreement import COEFFICIENTS, ITEMS, Cell, Simulated, grid, simulate, table

ROOT = Path(__file__).parents[2]
HARDEST = [
    Cell(30, 0.9, 0.5, 2),  # three items with a FAIL, if that many
    Cell(30, 0.9, 0.8, 3),
    Cell(50, 0.95, 0.8, 2),
    Cell(100, 0.95, 0.95, 2),  # hardly ever a disagreement
]


@pytest.mark.slow
@pytest.mark.parametrize("cell", only_first(HARDEST))
def test_the_interval_covers_where_it_is_hardest(cell):
    for simulated in simulate(cell, 150, ["alpha", "gwet AC1"]):
        assert simulated.coverage > LEAST - 0.04, simulated  # two standard errors of 150 batches
        assert simulated.withheld < 0.1, simulated


def test_the_coefficients_of_the_population_by_hand():
    cell = Cell(30, 0.9, 0.5, 2)
    assert cell.truth("alpha") == cell.truth("cohen kappa") == 0.5
    assert cell.truth("raw agreement") == pytest.approx(0.5 + 0.5 * 0.82)
    assert cell.truth("gwet AC1") == pytest.approx((0.91 - 0.18) / 0.82)


def test_the_page_shows_every_row_of_the_grid():
    page = (ROOT / "docs/measured.md").read_text(encoding="utf-8")
    results = [Simulated(cell, name, 0.95, 0.0, 0.1) for cell in grid() for name in COEFFICIENTS]
    header, _, *rows = table(results).splitlines()
    assert header in page
    shown = page[page.index(header) :].split("\n\n")[0].splitlines()[2:]
    assert [row.split(" | ")[:2] for row in shown] == [row.split(" | ")[:2] for row in rows]
    assert len(rows) == len(COEFFICIENTS) * len(ITEMS)
    assert all(float(row.split(" | ")[3]) >= LEAST - three_standard_errors(1000) for row in shown)
