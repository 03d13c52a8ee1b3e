"""The figure and its text, Wilson's interval, effective cases, and the bootstrap."""

import json
from dataclasses import asdict

import numpy as np
import pytest
import scipy
from fact_tables import each_row
from hypothesis import given, settings
from hypothesis import strategies as st

from jury_adapters.stats.figures import (
    Figure,
    design_effect,
    effective_cases,
    figure,
    mean,
    share,
    widening,
    wilson,
    with_test,
    zero_test,
)

ALONE = np.arange(1000)
HALVES = {"added": [(1, 1), (0, 1)], "chances": (1, 1), "bounds": (0, 1)}


def of_mean(values, groups=None, **options):
    """Return the figure of a mean."""
    values = np.asarray(values, dtype=float)
    groups = ALONE[: len(values)] if groups is None else np.asarray(groups)
    return figure("mean", np.column_stack([values, np.ones(len(values))]), mean, groups, **{**HALVES, **options})


@each_row(
    ("found", "text"),
    [
        (Figure("accuracy", 0.75, 40, (0.598, 0.858), of="GPT-4"), "GPT-4: accuracy 0.750 [0.598, 0.858] (n = 40)"),
        (Figure("alpha", None, 1, note="too few cases"), "alpha - (n = 1); too few cases"),
        (Figure("rate", 1 / 3, 12_345), "rate 0.333 (n = 12,345)"),
        (Figure("gap", -0.0001, 5, (-0.0002, 0.0004)), "gap 0.000 [0.000, 0.000] (n = 5)"),
        (Figure("rate", 1.0, 3, note="a\nb", of="\x1b[2J"), "\\u001b[2J: rate 1.000 (n = 3); a b"),
    ],
)
def test_a_figure_prints_name_value_interval_n_and_its_note(found, text):
    assert str(found) == text


@settings(deadline=None, max_examples=25)
@given(st.floats(-1, 1), st.floats(0, 1), st.floats(0, 1))
def test_the_printed_interval_holds_the_printed_value(value, below, above):
    found = Figure("a", value, 1, (value - below, value + above))
    text, span = found.texts
    low, high = map(float, span.strip("[]").split(", "))
    assert low <= float(text) <= high


def test_a_figure_is_json():
    found = of_mean([1, 0, 1, 1], details={"a": 1})
    assert json.loads(json.dumps(asdict(found)))["details"] == {"a": 1}


@each_row(("hits", "n"), [(0, 10), (7, 10), (10, 10), (1, 1), (97, 100), (499, 1000), (2.5, 7.25)])
def test_wilsons_interval_is_that_of_statsmodels(hits, n):
    from statsmodels.stats.proportion import proportion_confint

    assert wilson(hits, n) == pytest.approx(proportion_confint(hits, n, method="wilson"), abs=1e-9)


def test_wilsons_interval_of_nothing_says_nothing():
    assert wilson(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(
    "groups",
    [
        [(20, 20), (1, 20), (18, 20), (3, 20), (19, 20), (0, 20)],
        [(40, 40), (0, 30), (9, 10), (2, 10), (5, 5), (1, 4), (1, 1)],
        [(10, 10)] * 9 + [(0, 10)] * 6,
    ],
)
def test_where_groups_differ_much_the_design_effect_is_that_of_a_regression_with_clusters(groups):
    import statsmodels.api as sm

    values = np.concatenate([[1.0] * hits + [0.0] * (cases - hits) for hits, cases in groups])
    clusters = np.repeat(np.arange(len(groups)), [cases for _, cases in groups])
    model, n = sm.OLS(values, np.ones(len(values))), len(values)
    robust = model.fit(cov_type="cluster", cov_kwds={"groups": clusters})
    expected = float(robust.bse[0] ** 2 / model.fit().bse[0] ** 2)
    kish = n**2 / sum(cases**2 for _, cases in groups)
    assert widening(clusters) == pytest.approx(scipy.stats.t.ppf(0.975, kish - 1) / scipy.stats.t.ppf(0.975, n - 1))
    assert effective_cases(values, clusters) == pytest.approx(n / expected / widening(clusters) ** 2)


def test_effective_cases_by_hand():
    # All alike: rho is 1, so 40 groups of 5 are 40 cases; 200 and 40 groups leave 199 and 39 degrees of freedom.
    groups = np.repeat(np.arange(40), 5)
    assert effective_cases(np.ones(200), groups) == pytest.approx(40 * (1.971957 / 2.022691) ** 2, rel=1e-6)
    assert effective_cases(np.ones(4), np.arange(4)) == pytest.approx(4)
    assert effective_cases(np.ones(5), np.zeros(5, dtype=int)) < 1


@settings(deadline=None, max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=40))
def test_groups_never_narrow_the_interval_of_a_share(cases):
    groups, hits = np.array([group for group, _ in cases]), np.array([hit for _, hit in cases])
    every = np.ones(len(hits), dtype=bool)
    grouped, alone = share("a", hits, every, groups), share("a", hits, every, np.arange(len(hits)))
    low, high = grouped.interval
    assert 0 <= low <= alone.interval[0] + 1e-9
    assert alone.interval[1] - 1e-9 <= high <= 1
    turned = share("a", ~hits, every, groups).interval
    assert turned == pytest.approx((1 - high, 1 - low))


def test_a_plain_share_of_eight_groups_keeps_effective_cases():
    """The lowest coverage of the studies was that of a share of 8 groups of 28; the interval is that of 0.2."""
    hits = np.repeat([28, 28, 14, 28, 21, 28, 28, 7], 28) > np.tile(np.arange(28), 8)
    found = share("share", hits, np.ones(224, dtype=bool), np.repeat(np.arange(8), 28))
    assert found.interval == pytest.approx((0.50298270, 0.94886237), abs=1e-6)
    assert found.note == "rough, of 8 groups"


def test_undecided_cases_are_left_out_with_their_bounds():
    hits, among = np.array([True] * 2 + [False] * 2), np.array([True, True, True, False])
    found = share("rate", hits, among, ALONE[:4], undecided=1)
    assert (found.value, found.n, found.details["bounds"]) == (2 / 3, 3, [0.5, 0.75])
    assert "1 of 4 undecided: 0.500 to 0.750 of all" in found.note
    nothing = share("rate", hits, among & False, ALONE[:4], undecided=4)
    assert (nothing.value, nothing.note) == (None, "no such case; 4 of 4 undecided: 0.000 to 1.000 of all")


@pytest.mark.parametrize("values", [[1.0] * 50, [0.0] * 50, [0.0] * 49 + [1.0]])
def test_a_batch_without_a_disagreement_has_no_interval_of_zero_width(values):
    low, high = of_mean(values).interval
    assert high - low > 0.02
    assert low <= np.mean(values) <= high


@pytest.mark.parametrize(("values", "value"), [([], None), ([1.0], 1.0)])
def test_no_case_has_no_value_and_one_has_no_interval(values, value):
    found = of_mean(values)
    assert (found.value, found.interval) == (value, None)


def test_the_interval_of_many_cases_is_that_of_the_normal_approximation():
    values = np.tile([1.0, 1, 0, 1], 500)
    low, high = of_mean(values, np.arange(2000)).interval
    half = 1.96 * np.sqrt(0.75 * 0.25 / 2000)
    assert (low, high) == pytest.approx((0.75 - half, 0.75 + half), abs=0.003)


@settings(deadline=None, max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from([0.0, 0.5, 1.0])), min_size=3, max_size=30), st.randoms())
def test_the_order_of_cases_and_the_numbers_of_groups_do_not_matter(cases, random):
    turned = random.sample(cases, len(cases))
    one = of_mean([value for _, value in cases], [group for group, _ in cases])
    other = of_mean([value for _, value in turned], [9 - group for group, _ in turned])
    assert one.value == pytest.approx(other.value)
    assert (one.interval is None) == (other.interval is None)
    if one.interval:
        assert one.interval == pytest.approx(other.interval, abs=1e-6)


def test_alike_cases_of_a_group_count_once():
    once, five = of_mean([1, 0, 1, 1] * 10), of_mean(np.repeat([1, 0, 1, 1] * 10, 5), np.repeat(np.arange(40), 5))
    assert five.interval[0] == pytest.approx(once.interval[0], abs=0.03)
    assert five.interval[1] == pytest.approx(once.interval[1], abs=0.03)
    plain = of_mean(np.repeat([1, 0, 1, 1] * 10, 5))
    assert plain.interval[1] - plain.interval[0] < 0.6 * (once.interval[1] - once.interval[0])


def test_the_design_effect_of_independent_cases_is_one():
    assert design_effect(np.array([1.0, -1, 0, 2]), np.arange(4), 2.0) == pytest.approx(1)
    assert design_effect(np.zeros(3), np.arange(3), 0.0) == 1


@each_row(
    ("moves", "p_value"),
    [([], 1.0), ([0.0, 0.0], 1.0), ([1.0], 1.0), ([1.0, -1.0], 1.0), ([1.0] * 3, 1 - 0.6**0.5)],
)
def test_a_few_moves_show_nothing(moves, p_value):
    assert zero_test(np.array(moves), np.arange(len(moves))) == pytest.approx(p_value)


def test_the_test_of_zero_is_students_where_sums_are_alike():
    moves = np.random.default_rng(1).normal(0.2, 1, 2000)
    squares, groups = moves**2, np.arange(2000)
    freedom = squares.sum() ** 2 / (squares**2).sum() - 1
    t = moves.sum() / np.sqrt(squares.sum())
    assert zero_test(moves, groups) == pytest.approx(2 * scipy.stats.t.sf(t, freedom))
    assert zero_test(np.repeat(moves, 3), np.repeat(groups, 3)) == pytest.approx(zero_test(moves, groups))


def test_an_interval_excludes_zero_only_if_the_test_does():
    found = Figure("a", 0.3, 9, (0.1, 0.5))
    assert with_test(found, 0.2).interval == (0.0, 0.5)
    assert with_test(found, 0.01).interval == (0.1, 0.5)
    assert with_test(Figure("a", None, 0), 1.0).interval is None
