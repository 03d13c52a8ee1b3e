from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_adapters import ConfigurationError
from jury_adapters.core.voting import parse_share


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (0.6, Fraction(3, 5)),
        (0.5, Fraction(1, 2)),
        (0.67, Fraction(2, 3)),
        (0.66, Fraction(33, 50)),
        (0.667, Fraction(2, 3)),
        (0.33, Fraction(33, 100)),
        (0.34, Fraction(34, 100)),
        (0.17, Fraction(1, 6)),
        (0.83, Fraction(83, 100)),
        (0.3, Fraction(3, 10)),
        (0.75, Fraction(3, 4)),
        (0.0, Fraction(0)),
        (1.0, Fraction(1)),
        (0, Fraction(0)),
        (1, Fraction(1)),
        (1e-07, Fraction(1, 10**7)),
        ("2/3", Fraction(2, 3)),
        ("0.67", Fraction(67, 100)),
        ((2, 3), Fraction(2, 3)),
        (Fraction(4, 7), Fraction(4, 7)),
    ],
)
def test_a_share_is_read_exactly(written, meant):
    assert parse_share(written) == meant


@pytest.mark.parametrize(
    "bad", ["most", "1/0", (1, 0), (1, 2, 3), True, float("nan"), float("inf"), None, [1, 2], "", "1e-1", "1e99999999"]
)
def test_what_is_no_share_is_refused_with_the_ways_to_write_one(bad):
    with pytest.raises(ConfigurationError, match=r'quorum must be a number from 0 to 1, "2/3" or \(2, 3\)'):
        parse_share(bad, "quorum")


@pytest.mark.parametrize("bad", [-0.1, 1.01, 2, "3/2", (-1, 2)])
def test_a_share_outside_0_to_1_is_refused(bad):
    with pytest.raises(ConfigurationError, match="min_share must lie from 0 to 1"):
        parse_share(bad, "min_share")


@given(st.integers(0, 12), st.integers(1, 12), st.integers(2, 6))
def test_a_fraction_of_few_jurors_meets_itself_rounded(passed, jurors, decimals):
    share = Fraction(min(passed, jurors), jurors)
    assert parse_share(float(f"{float(share):.{decimals}f}")) <= share


@given(st.floats(0, 1))
def test_the_exact_reading_is_never_raised_and_hardly_lowered(written):
    share = parse_share(written)
    assert share <= Fraction(repr(written)) <= share + Fraction(1, 200)
