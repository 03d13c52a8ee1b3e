"""The simulation of corrected pass rates in groups: its hardest cells, and its table in the documentation."""

from pathlib import Path

import pytest
from grids import LEAST
from support.examples import only_first

from tests.simulations.coverage_of_grouped_pass_rate import (
    GROUPS,
    SIZES,
    Cell,
    Simulated,
    grid,
    main,
    simulate,
    table,
)

ROOT = Path(__file__).parents[2]
HARDEST = [
    Cell(8, 28, 0.7, 0.0, 0.6, 0.8),  # the variance of eight groups is often far too small by chance
    Cell(8, 28, 0.9, 0.3, 0.95, 0.7),
    Cell(20, 28, 0.9, 0.3, 0.6, 0.8),
    Cell(8, 5, 0.5, 0.8, 0.6, 0.8),
]


@pytest.mark.slow
@pytest.mark.parametrize("cell", only_first(HARDEST))
def test_the_interval_covers_where_it_is_hardest(cell):
    simulated = simulate(cell, 400)
    assert simulated.coverage > LEAST - 0.025  # two standard errors of 400 batches
    assert simulated.narrower == 0


@pytest.mark.parametrize(("coverage", "code"), [(0.5, 1), (0.94, 0)])
def test_a_cell_that_covers_too_little_fails_the_run(monkeypatch, capsys, coverage, code):
    monkeypatch.setattr("tests.simulations.coverage_of_grouped_pass_rate.grid", lambda: [HARDEST[0]])
    monkeypatch.setattr(
        "tests.simulations.coverage_of_grouped_pass_rate.simulate",
        lambda cell, _: Simulated(cell, coverage, 0.2, 0.9, 0.1, 0.0),
    )
    assert main(["--repetitions", "1000"]) == code
    assert ("below" in capsys.readouterr().out) == bool(code)


def test_the_page_shows_every_row_of_the_grid():
    page = (ROOT / "docs/measured.md").read_text(encoding="utf-8")
    header, _, *rows = table([Simulated(cell, 0.95, 0.2, 0.9, 0.1, 0.0) for cell in grid()]).splitlines()
    assert header in page
    shown = page[page.index(header) :].split("\n\n")[0].splitlines()[2:]
    assert [row.split(" | ")[:2] for row in shown] == [row.split(" | ")[:2] for row in rows]
    assert len(rows) == len(GROUPS) * len(SIZES)
    assert all(float(row.split(" | ")[3]) >= LEAST - 0.025 for row in shown)
