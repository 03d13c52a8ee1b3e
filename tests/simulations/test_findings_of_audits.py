"""Audits of simulated jurors with known weaknesses: the findings that must and must not appear, for some seeds."""

import pytest

from tests.simulations.findings_of_audits import recorded_votes, simulate_judges, simulate_pairs, table
from tests.simulations.known_weaknesses import MATRIX, PAIR_MATRIX

KINDS = ("blind_to_numbers",)


@pytest.mark.parametrize(
    "kind", [kind if kind in KINDS else pytest.param(kind, marks=pytest.mark.slow) for kind in MATRIX]
)
def test_a_known_weakness_is_found_and_no_other(kind):
    (outcome,) = simulate_judges(3, [kind])
    assert outcome.is_right, outcome


@pytest.mark.slow
@pytest.mark.parametrize("kind", PAIR_MATRIX)
def test_a_preferred_place_is_found(kind):
    (outcome,) = simulate_pairs(3, [kind])
    assert outcome.is_right, outcome


@pytest.mark.slow
def test_a_preferred_place_is_found_in_recorded_votes():
    outcomes = recorded_votes(5)
    assert all(outcome.is_right for outcome in outcomes), outcomes
    assert table(outcomes).count("\n") == len(outcomes) + 1
