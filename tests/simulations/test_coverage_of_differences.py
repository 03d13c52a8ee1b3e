"""The simulation of differences: its hardest cells, and its table in the documentation."""

from pathlib import Path

import pytest
from grids import LEAST, three_standard_errors
from support.examples import only_first

from tests.simulations.coverage_of_differences import (
    GROUP_SIZES,
    JURIES,
    LABELLED,
    RATES,
    Cell,
    Simulated,
    grid,
    main,
    simulate,
    table,
)

ROOT = Path(__file__).parents[2]
HARDEST = [
    Cell(30, (0.95, 0.97), JURIES[0], 600, 1),  # hardly ever a disagreement among the labels
    Cell(30, (0.5, 0.5), JURIES[2], 600, 5),
    Cell(100, (0.7, 0.8), JURIES[2], 100, 5),
    Cell(200, (0.7, 0.8), JURIES[2], 600, 1),
]


@pytest.mark.slow
@pytest.mark.parametrize("cell", only_first(HARDEST))
def test_the_intervals_cover_where_it_is_hardest(cell):
    simulated = simulate(cell, 300)
    assert simulated.corrected > LEAST - 0.03  # two standard errors of 300 batches
    assert simulated.verdicts > LEAST - 0.03
    assert abs(simulated.bias) < 0.02


@pytest.mark.slow
def test_a_jury_that_favours_a_system_misleads_without_labels():
    assert simulate(Cell(50, (0.7, 0.8), JURIES[1], 600, 1), 100).at_face_value < 0.1
    assert simulate(Cell(50, (0.7, 0.7), JURIES[0], 600, 1), 100).at_face_value > 0.85


@pytest.mark.parametrize(
    ("coverage", "verdicts", "code"), [(0.5, 0.95, 1), (0.95, 0.5, 1), (0.90, 0.95, 1), (0.925, 0.925, 0)]
)
def test_a_cell_that_covers_too_little_fails_the_run(monkeypatch, capsys, coverage, verdicts, code):
    monkeypatch.setattr("tests.simulations.coverage_of_differences.grid", lambda: [HARDEST[0]])
    monkeypatch.setattr(
        "tests.simulations.coverage_of_differences.simulate",
        lambda cell, _: Simulated(cell, coverage, verdicts, 0.5, 0.0, 0.1),
    )
    assert main(["--repetitions", "1000"]) == code  # three standard errors of 1,000 batches are 0.024
    assert ("below 0.906: Simulated(cell=Cell(labelled=30" in capsys.readouterr().out) == bool(code)


def test_the_page_shows_every_row_of_the_grid():
    page = (ROOT / "docs/measured.md").read_text(encoding="utf-8")
    header, _, *rows = table([Simulated(cell, 0.95, 0.95, 0.5, 0.0, 0.1) for cell in grid()]).splitlines()
    assert header in page
    shown = page[page.index(header) :].split("\n\n")[0].splitlines()[2:]
    assert [row.split(" | ")[:3] for row in shown] == [row.split(" | ")[:3] for row in rows]
    assert len(rows) == len(LABELLED) * len(RATES) * len(GROUP_SIZES)
    for row in shown:
        corrected, verdicts = (float(row.split(" | ")[at]) for at in (4, 8))
        assert min(corrected, verdicts) >= LEAST - three_standard_errors(1500)
