"""The simulation of sample sizes: its hardest cells, its exit code, and its table in the documentation."""

from pathlib import Path

import pytest

from tests.simulations.power_of_sample_sizes import POWER, Cell, Simulated, grid, main, simulate, table, wrong

ROOT = Path(__file__).parents[2]
HARDEST = [
    Cell("interval, judged", 0.05, 0.95, 0.9),  # the interval is cut at 1
    Cell("guarantee", 0.95, 0.98),  # few errors, so the saw is coarse
    Cell("guarantee", 0.9, 0.98),
    Cell("paired", 0.1, 0.85, 0.1),  # all discordant cases favour one system
    Cell("unpaired", 0.1, 0.85),  # far from the normal distribution
]


@pytest.mark.slow
@pytest.mark.parametrize("cell", HARDEST)
def test_the_number_gives_what_was_planned_where_it_is_hardest(cell):
    simulated = simulate(cell, 600)
    assert not wrong(simulated, 600), simulated


@pytest.mark.parametrize(
    ("cell", "planned", "found", "amiss"),
    [
        (HARDEST[1], 0.85, 0.84, False), (HARDEST[1], 0.85, 0.7, True), (HARDEST[3], 0.8, 0.95, True),
        (HARDEST[1], 1.0, 1.0, False), (HARDEST[0], 0.05, 0.049, False), (HARDEST[0], 0.05, 0.06, True),
        (HARDEST[0], 0.05, 0.03, True),
    ],
)  # fmt: skip
def test_what_is_not_as_planned_fails_the_run(monkeypatch, capsys, cell, planned, found, amiss):
    monkeypatch.setattr("tests.simulations.power_of_sample_sizes.grid", lambda: [cell])
    result = Simulated(cell, 100, planned, found, 0.5)
    monkeypatch.setattr("tests.simulations.power_of_sample_sizes.simulate", lambda cell, _: result)
    assert main(["--repetitions", "1000"]) == amiss
    assert ("not as planned" in capsys.readouterr().out) == amiss


def test_the_page_shows_every_row_of_the_grid():
    page = (ROOT / "docs/measured.md").read_text(encoding="utf-8")
    header, _, *rows = table([Simulated(cell, 100, 0.8, 0.8, 0.5) for cell in grid()]).splitlines()
    assert header in page
    shown = page[page.index(header) :].split("\n\n")[0].splitlines()[2:]
    assert [row.split(" | ")[:3] for row in shown] == [row.split(" | ")[:3] for row in rows]
    powers = [float(row.split(" | ")[4]) for row in shown if "interval" not in row]
    assert min(powers) >= POWER - 1e-9
