"""The simulation of labelled items that are a random sample: its hardest cells, and its table in the documentation."""

from pathlib import Path

import pytest
from support.examples import SLOW, only_first

from tests.simulations.alarms_of_random_samples import (
    DROPPED,
    GROUPS,
    MOST,
    Cell,
    Simulated,
    grid,
    main,
    simulate,
    table,
)

ROOT = Path(__file__).parents[2]
HARDEST = [
    Cell(170, 3, 0.9, 0.8, "groups"),
    Cell(100, 28, 0.9, 0.8, "groups"),
    Cell(8, 28, 0.5, 0.8, "groups"),  # the share of two groups differs from that of six by far
    Cell(8, 28, 0.9, 0.3, "items of groups"),
    Cell(40, 5, 0.5, 0.3, "items"),
]


@pytest.mark.sized
@pytest.mark.parametrize("cell", only_first(HARDEST))
def test_a_random_sample_is_taken_for_one(cell):
    simulated = simulate(cell, 4000 if SLOW else 400)
    assert simulated.alarms <= MOST
    assert "items" in cell.drawn or simulated.of_items > 0.01


@pytest.mark.parametrize("correlation", [0.0, 0.3])
def test_a_sample_without_contradicted_fails_is_found_out(correlation):
    simulated = simulate(Cell(170, 3, 0.7, correlation, DROPPED), 200)
    assert simulated.alarms > 0.6
    assert simulated.alarms > simulated.of_items - 0.15


@pytest.mark.parametrize(("alarms", "code"), [(0.01, 1), (0.001, 0)])
def test_a_cell_with_many_false_alarms_fails_the_run(monkeypatch, capsys, alarms, code):
    monkeypatch.setattr("tests.simulations.alarms_of_random_samples.grid", lambda: [HARDEST[0], *list(grid())[:4]])
    monkeypatch.setattr(
        "tests.simulations.alarms_of_random_samples.simulate", lambda cell, _: Simulated(cell, alarms, 0.2)
    )
    monkeypatch.setattr("tests.simulations.alarms_of_random_samples.table", lambda _: "")
    assert main(["--repetitions", "1000"]) == code
    assert ("below" in capsys.readouterr().out) == bool(code)


def test_the_page_shows_every_row_of_the_grid():
    page = (ROOT / "docs/measured.md").read_text(encoding="utf-8")
    header, _, *rows = table([Simulated(cell, 0.001, 0.1) for cell in grid()]).splitlines()
    assert header in page
    shown = page[page.index(header) :].split("\n\n")[0].splitlines()[2:]
    assert [row.split(" | ")[:2] for row in shown] == [row.split(" | ")[:2] for row in rows]
    assert len(rows) == len(GROUPS)
    assert all(float(share) <= MOST for row in shown for share in row.split(" | ")[2:5])
