"""The interval of Cohen's kappa between two raters with two labels."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_adapters.core.kappa_intervals import kappa_interval
from jury_adapters.core.statistics import cohen_kappa

TABLES = st.tuples(*[st.integers(0, 60)] * 4)


def pairs(a, b, c, d, labels=("PASS", "FAIL")):
    one, other = labels
    return {(one, one): a, (one, other): b, (other, one): c, (other, other): d}


def by_differences(cells):
    """Return kappa and its standard error by the delta method, with derivatives as differences."""
    n = sum(cells)
    shares = [cell / n for cell in cells]

    def kappa(p):
        total = sum(p)
        a, b, c, d = (x / total for x in p)
        by_chance = (a + b) * (a + c) + (c + d) * (b + d)
        return (a + d - by_chance) / (1 - by_chance)

    slopes = []
    for at in range(4):
        moved = [
            [share + (sign * 1e-6 if at == place else 0) for place, share in enumerate(shares)] for sign in (1, -1)
        ]
        slopes.append((kappa(moved[0]) - kappa(moved[1])) / 2e-6)
    mean = sum(share * slope for share, slope in zip(shares, slopes, strict=True))
    variance = sum(share * (slope - mean) ** 2 for share, slope in zip(shares, slopes, strict=True)) / n
    return kappa(shares), math.sqrt(variance)


@pytest.mark.parametrize("cells", [(20, 5, 10, 15), (90, 3, 5, 2), (40, 1, 2, 57), (10, 10, 10, 10)])
def test_it_is_the_delta_method_with_one_case_more_in_each_cell(cells):
    kappa, error = by_differences([cell + 1 for cell in cells])
    expected = max(-1, kappa - 1.959964 * error), min(1, kappa + 1.959964 * error)
    assert kappa_interval(pairs(*cells)) == pytest.approx(expected, abs=1e-5)


@given(TABLES)
def test_it_holds_kappa_and_knows_no_order_of_raters_or_labels(cells):
    a, b, c, d = cells
    found = kappa_interval(pairs(a, b, c, d))
    kappa = cohen_kappa(pairs(a, b, c, d))
    if kappa is None:
        assert found is None
        return
    assert found is not None
    assert -1 <= found[0] <= kappa <= found[1] <= 1
    assert kappa_interval(pairs(a, c, b, d)) == pytest.approx(found)
    assert kappa_interval(pairs(d, c, b, a)) == pytest.approx(found)
    assert kappa_interval(pairs(a, b, c, d, labels=("good", "bad"))) == pytest.approx(found)


@given(TABLES)
def test_groups_of_one_case_are_independent_cases(cells):
    single = [{pair: 1} for pair, times in pairs(*cells).items() for _ in range(times)]
    found, alone = kappa_interval(pairs(*cells), single), kappa_interval(pairs(*cells))
    assert found == (None if alone is None else pytest.approx(alone))


def test_cases_that_repeat_each_other_widen_it():
    groups = [pairs(5, 0, 0, 0)] * 6 + [pairs(0, 0, 5, 0)] * 2 + [pairs(0, 0, 0, 5)] * 4
    together = pairs(30, 0, 10, 20)
    low, high = kappa_interval(together)
    grouped_low, grouped_high = kappa_interval(together, groups)
    assert grouped_low < low - 0.1
    assert grouped_high > high


@pytest.mark.parametrize("none", [{}, {("a", "a"): 9}, {("a", "b"): 1}, {("a", "a"): 5, ("b", "b"): 5, ("c", "a"): 1}])
def test_without_a_kappa_of_two_labels_there_is_none(none):
    assert kappa_interval(none) is None
