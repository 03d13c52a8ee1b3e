"""The simulation of preferences of judges: panels of the kinds that misled, and its table in the documentation."""

from pathlib import Path

import pytest
from support.examples import SLOW, only_first

from tests.simulations.alarms_of_preferences import (
    ITEMS,
    LEVEL,
    Cell,
    Simulated,
    grid,
    luck,
    main,
    simulate,
    table,
)

ROOT = Path(__file__).parents[2]
PANELS = [Cell(500, 4, 3, True), Cell(400, 6, 2, False), Cell(500, 3, 2, True), Cell(3000, 4, 4, True)]


@pytest.mark.sized
@pytest.mark.parametrize("cell", only_first(PANELS))
def test_innocent_jurors_are_not_accused_and_a_biased_one_is_found(cell):
    simulated = simulate(cell, 200 if SLOW else 25)
    assert simulated.estimates > 20
    assert simulated.alarms <= LEVEL + luck(simulated.estimates)
    assert simulated.found > 0.3


@pytest.mark.parametrize(("alarms", "code"), [(0.3, 1), (0.04, 0)])
def test_a_cell_with_many_false_alarms_fails_the_run(monkeypatch, capsys, alarms, code):
    monkeypatch.setattr("tests.simulations.alarms_of_preferences.grid", lambda: PANELS[:1])
    monkeypatch.setattr(
        "tests.simulations.alarms_of_preferences.simulate", lambda cell, _: Simulated(cell, alarms, 100, 0.5)
    )
    assert main(["--repetitions", "10"]) == code
    assert ("below" in capsys.readouterr().out) == bool(code)


def test_the_page_shows_every_row_of_the_grid():
    page = (ROOT / "docs/measured.md").read_text(encoding="utf-8")
    header, _, *rows = table([Simulated(cell, 0.04, 100, 0.5) for cell in grid()]).splitlines()
    assert header in page
    shown = page[page.index(header) :].split("\n\n")[0].splitlines()[2:]
    assert [row.split(" | ")[:2] for row in shown] == [row.split(" | ")[:2] for row in rows]
    assert len(rows) == 2 * len(ITEMS)
    assert all(float(row.split(" | ")[3]) <= LEVEL + 0.01 for row in shown)
