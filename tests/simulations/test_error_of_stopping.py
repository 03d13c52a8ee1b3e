"""The simulation of stopped runs: its hardest cells, what is saved, and its table in the documentation."""

from pathlib import Path

import pytest
from support.examples import only_first

from tests.simulations.error_of_stopping import (
    CASES,
    DISTANCES,
    Cell,
    Simulated,
    grid,
    highest,
    main,
    simulate,
    table,
)

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.parametrize(
    "cell",
    only_first(
        [Cell(200, 0.8, 0.0, 0.2), Cell(200, 0.9, -0.0, 0.0), Cell(200, 0.95, 0.0, 0.0), Cell(1000, 0.9, 0.0, 0.2)]
    ),
)
def test_the_error_is_bounded_where_the_file_just_meets_or_misses_the_gate(cell):
    simulated = simulate(cell, 200)
    assert simulated.error <= highest(200), simulated


@pytest.mark.parametrize(
    ("cell", "least"),
    [
        pytest.param(Cell(1000, 0.9, 0.05, 0.0), 0.8, marks=pytest.mark.slow),
        pytest.param(Cell(1000, 0.9, -0.05, 0.0), 0.7, marks=pytest.mark.slow),
        pytest.param(Cell(1000, 0.9, 0.05, 0.2), 0.7, marks=pytest.mark.slow),
        (Cell(200, 0.9, 0.1, 0.0), 0.75),
        (Cell(1000, 0.95, 0.02, 0.0), 0.5),  # 0.47 with bets that forget that cases are drawn without replacement
    ],
)
def test_far_from_the_gate_most_cases_are_saved(cell, least):
    assert simulate(cell, 60).saved > least


def test_the_cells_are_the_files_that_their_names_say():
    just, below = Cell(1000, 0.9, 0.0, 0.2), Cell(1000, 0.9, -0.0, 0.2)
    assert [sum(str(one.status) == "PASS" for one in cell.verdicts) for cell in (just, below)] == [720, 719]
    assert (just.met, below.met, len(just.verdicts)) == (True, False, 1000)


@pytest.mark.parametrize(("error", "code"), [(0.02, 0), (0.05, 0), (0.06, 0), (0.08, 1)])
def test_a_cell_that_is_wrong_too_often_fails_the_run(monkeypatch, capsys, error, code):
    cell = Cell(200, 0.9, 0.0, 0.0)
    monkeypatch.setattr("tests.simulations.error_of_stopping.grid", lambda: [cell])
    monkeypatch.setattr("tests.simulations.error_of_stopping.simulate", lambda cell, _: Simulated(cell, error, 0.1))
    assert main(["--repetitions", "1000"]) == code  # three standard errors of 1,000 orders are 0.021
    assert ("above 0.071: Simulated(cell=Cell(cases=200" in capsys.readouterr().out) == bool(code)


def test_the_page_shows_every_row_of_the_grid():
    page = (ROOT / "docs/measured.md").read_text(encoding="utf-8")
    header, _, *rows = table([Simulated(cell, 0.0, 0.5) for cell in grid()]).splitlines()
    assert header in page
    shown = page[page.index(header) :].split("\n\n")[0].splitlines()[2:]
    assert [row.split(" | ")[:2] for row in shown] == [row.split(" | ")[:2] for row in rows]
    assert len(rows) == len(CASES) * len(DISTANCES)
    assert all(float(row.split(" | ")[2]) <= 0.06 for row in shown)
