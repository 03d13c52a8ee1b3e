"""Warnings about a juror that repeats another, and about one that votes at random."""

import random

import pytest

from jury_adapters.calibration import Votes, effective_votes
from jury_adapters.calibration.resampling import Resampling

FAST = Resampling(100)
ITEMS = 400


def panel(**jurors):
    """Votes of jurors, each a function of the truth and of the votes before it in its row."""
    chance = random.Random(5)
    rows, gold = [], []
    for _ in range(ITEMS):
        truth = chance.random() < 0.7
        row = []
        for juror in jurors.values():
            row.append(juror(chance, truth, row))
        rows.append(["PASS" if vote else "FAIL" for vote in row])
        gold.append("PASS" if truth else "FAIL")
    return Votes.from_rows(rows, jurors=list(jurors), gold=gold)


def right(share):
    return lambda chance, truth, row: truth if chance.random() < share else not truth


def coin(chance, truth, row):
    return chance.random() < 0.5


def copy_of(position):
    return lambda chance, truth, row: row[position] if chance.random() < 0.98 else not row[position]


def warnings(votes):
    return effective_votes(votes, resampling=FAST).warnings


def test_independent_jurors_have_no_warning():
    assert warnings(panel(a=right(0.85), b=right(0.85), c=right(0.75), d=right(0.65))) == ()


def test_a_copy_in_a_panel_is_named():
    found = warnings(panel(a=right(0.85), b=right(0.85), copycat=copy_of(0), d=right(0.8), e=right(0.8)))
    assert len(found) == 1
    assert found[0].startswith("a and copycat make nearly the same errors (correlation 0.9")


@pytest.mark.parametrize("useless", [coin, lambda chance, truth, row: True])
def test_a_juror_at_chance_is_named(useless):
    found = warnings(panel(a=right(0.85), b=right(0.85), useless=useless))
    assert [one for one in found if one.startswith("useless is not shown to agree with human labels more than chance")]


def test_few_errors_in_common_are_not_a_copy():
    rows = [["PASS", "PASS", "PASS"]] * 95 + [["FAIL", "FAIL", "PASS"]] * 4 + [["PASS", "PASS", "FAIL"]] * 5
    found = warnings(Votes.from_rows(rows, jurors=["a", "b", "c"], gold=["PASS"] * 104))
    assert not any("same errors" in one for one in found)
