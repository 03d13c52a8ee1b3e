"""The counted coverage of independent samples, and its table in the documentation."""

from pathlib import Path

import pytest

from tests.simulations.coverage_of_independent_samples import RATES, SIZES, Counted, count, table

PAGE = Path(__file__).parents[2] / "docs/measured.md"


def test_the_page_shows_what_is_counted():
    shown = PAGE.read_text(encoding="utf-8")
    header, _, *rows = table([count(sizes) for sizes in SIZES if max(sizes) < 100]).splitlines()
    assert all(line in shown for line in (header, *rows))
    everything = table([Counted(sizes, 0.95, 0.9, 0.05, 0.05) for sizes in SIZES]).splitlines()[2:]
    page = shown[shown.index(header) :].split("\n\n")[0].splitlines()[2:]
    assert [row.split(" | ")[0] for row in page] == [row.split(" | ")[0] for row in everything]


@pytest.mark.slow
def test_every_row_of_the_page_is_what_is_counted():
    shown = PAGE.read_text(encoding="utf-8")
    assert all(line in shown for line in table([count(sizes) for sizes in SIZES]).splitlines())


def test_one_case_of_each_system_holds_every_difference():
    one = count((1, 1), RATES[::12])
    assert one.coverage > 0.95
    assert one.most == 0.0
