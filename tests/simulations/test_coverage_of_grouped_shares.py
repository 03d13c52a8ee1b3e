"""The simulation of groups: its hardest cells, and its tables in the documentation."""

from pathlib import Path

import numpy as np
import pytest
from grids import LEAST

from tests.simulations.coverage_of_grouped_shares import (
    GROUPS,
    PAIRED_GROUPS,
    PAIRED_SIZES,
    SIZES,
    UNEQUAL,
    Cell,
    Simulated,
    draw_batches,
    grid,
    simulate,
    table,
)

ROOT = Path(__file__).parents[2]
HARDEST = [
    Cell(100, 20, (0.97, 0.03), 0.8),  # three groups with a FAIL, if that many
    Cell(40, 20, (0.9, 0.1), 0.8),
    Cell(40, UNEQUAL, (0.5, 0.5), 0.3),
    Cell(20, 5, (0.97, 0.03), 1.0),
    Cell(40, 20, (0.95, 0.02, 0.02, 0.01), 0.8),
]


@pytest.mark.parametrize("cell", HARDEST)
def test_the_interval_covers_where_it_is_hardest(cell):
    assert simulate(cell, 300).coverage > LEAST - 0.03  # two standard errors of 300 batches


def test_without_groups_it_covers_far_too_little():
    simulated = simulate(Cell(40, 5, (0.7, 0.3), 0.8), 200)
    assert simulated.ungrouped < 0.75 < LEAST - 0.035 < simulated.coverage
    assert simulated.ungrouped_width < simulated.width


def test_a_batch_has_the_rate_and_the_correlation_of_its_cell():
    cell = Cell(100, 2, (0.7, 0.3), 0.3)
    batches = draw_batches(cell, 400, np.random.default_rng(1))
    assert batches.shape == (400, 100, 2)
    assert batches[..., 0].mean() / 2 == pytest.approx(0.7, abs=0.01)
    assert (batches[..., 0] == 2).mean() == pytest.approx(0.7**2 + 0.3 * 0.7 * 0.3, abs=0.01)


def test_the_page_shows_every_row_of_the_grid():
    page = (ROOT / "docs/measured.md").read_text(encoding="utf-8")
    tables = table([Simulated(cell, 0.95, 0.1, 0.7, 0.1) for cell in grid()]).split("\n\n")
    for given, number in zip(tables, (len(GROUPS) * len(SIZES), len(PAIRED_GROUPS) * len(PAIRED_SIZES)), strict=True):
        header, _, *rows = given.splitlines()
        assert header in page
        shown = page[page.index(header) :].split("\n\n")[0].splitlines()[2:]
        assert [row.split(" | ")[:2] for row in shown] == [row.split(" | ")[:2] for row in rows]
        assert len(rows) == number
        assert all(float(row.split(" | ")[3]) >= LEAST for row in shown)
