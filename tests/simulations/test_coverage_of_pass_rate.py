"""The simulation of the true pass rate: its hardest cells, and its table in the documentation."""

from pathlib import Path

import pytest
from grids import LEAST
from support.examples import only_first

from tests.simulations.coverage_of_pass_rate import LABELLED, RATES, Cell, Simulated, grid, main, simulate, table

ROOT = Path(__file__).parents[2]
HARDEST = [
    Cell(30, 0.97, 1.0, 0.9, 1000),  # hardly ever a disagreement among the labels
    Cell(30, 0.9, 0.98, 0.5, 1000),
    Cell(100, 0.9, 1.0, 0.7, 1000),
    Cell(50, 0.5, 1.0, 0.7, 100),
    Cell(24, 0.95, 0.8, 0.9, 5),  # few labels, nearly all items good, and hardly any further verdict
    Cell(30, 0.9, 0.8, 0.9, 100),
    Cell(60, 0.95, 0.8, 0.5, 5),
]


@pytest.mark.slow
@pytest.mark.parametrize("cell", only_first(HARDEST))
def test_the_interval_covers_where_it_is_hardest(cell):
    simulated = simulate(cell, 600)
    assert simulated.coverage > LEAST - 0.02  # two standard errors of 600 batches
    assert abs(simulated.bias) < 0.02


@pytest.mark.parametrize(("coverage", "code"), [(0.5, 1), (0.929, 1), (0.93, 0), (0.95, 0)])
def test_a_cell_that_covers_too_little_fails_the_run(monkeypatch, capsys, coverage, code):
    monkeypatch.setattr("tests.simulations.coverage_of_pass_rate.grid", lambda: [HARDEST[0]])
    monkeypatch.setattr(
        "tests.simulations.coverage_of_pass_rate.simulate", lambda cell, _: Simulated(cell, coverage, 0.0, 0.1)
    )
    assert main(["--repetitions", "1000"]) == code
    assert ("below 0.930: Simulated(cell=Cell(labelled=30" in capsys.readouterr().out) == bool(code)


def test_the_page_shows_every_row_of_the_grid():
    page = (ROOT / "docs/measured.md").read_text(encoding="utf-8")
    header, _, *rows = table([Simulated(cell, 0.95, 0.0, 0.1) for cell in grid()]).splitlines()
    assert header in page
    shown = page[page.index(header) :].split("\n\n")[0].splitlines()[2:]
    assert [row.split(" | ")[:2] for row in shown] == [row.split(" | ")[:2] for row in rows]
    assert len(rows) == len(LABELLED) * len(RATES)
    assert all(float(row.split(" | ")[3]) >= LEAST for row in shown)
