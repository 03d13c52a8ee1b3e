"""Alignments of simulated models: accepted where they help, refused where nothing does."""

import pytest

from tests.simulations.acceptance_of_alignments import simulate, table


@pytest.mark.parametrize(
    ("kind", "accepted"),
    [
        ("examples", 3),
        pytest.param("criterion", 3, marks=pytest.mark.slow),
        ("fixed", 0),
        pytest.param("low threshold", 3, marks=pytest.mark.slow),
    ],
)
def test_what_helps_is_accepted_and_what_does_not_is_refused(kind, accepted):
    outcome = simulate(kind, 3)
    assert outcome.accepted == accepted
    assert outcome.is_right, outcome
    assert table([outcome]).count("\n") == 2
