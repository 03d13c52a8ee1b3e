"""Intervals of agreement with few items and skewed labels."""

import numpy as np
import pytest

from jury_adapters.calibration import Votes, alpha, cohen_kappa, fleiss_kappa, gwet_ac, raw_agreement
from jury_adapters.calibration.resampling import Resampling
from jury_adapters.calibration.smoothing import Smoothed, group_size

COEFFICIENTS = [alpha, cohen_kappa, fleiss_kappa, gwet_ac]


def votes_of(agreeing_pass, split, agreeing_fail, groups=()):
    rows = [["PASS", "PASS"]] * agreeing_pass + [["PASS", "FAIL"]] * split + [["FAIL", "FAIL"]] * agreeing_fail
    return Votes.from_rows(rows, groups=groups)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_perfect_agreement_on_a_few_items_is_no_certainty(coefficient):
    found = coefficient(votes_of(15, 0, 5))
    assert found.value == pytest.approx(1.0)
    assert found.interval[1] == pytest.approx(1.0)
    assert 0.5 < found.interval[0] < 0.9


@pytest.mark.slow
@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_more_items_make_perfect_agreement_surer(coefficient):
    lows = [coefficient(votes_of(3 * size, 0, size)).interval[0] for size in (5, 50, 500)]
    assert lows == sorted(lows)
    assert lows[-1] > 0.99


@pytest.mark.parametrize("coefficient", [*COEFFICIENTS, raw_agreement])
def test_the_value_is_that_of_the_votes_alone(coefficient):
    votes = votes_of(20, 4, 6)
    assert coefficient(votes).value == coefficient(votes, resampling=Resampling(0)).value
    # 44 of 60 votes are PASS; the jurors agree on 26 of 30 items.
    by_hand = {
        alpha: 1 - 59 * 8 / (60**2 - 44**2 - 16**2),
        cohen_kappa: (26 / 30 - 0.6) / 0.4,
        fleiss_kappa: (26 / 30 - (44**2 + 16**2) / 60**2) / (1 - (44**2 + 16**2) / 60**2),
        gwet_ac: (26 / 30 - 2 * 44 * 16 / 60**2) / (1 - 2 * 44 * 16 / 60**2),
        raw_agreement: 26 / 30,
    }
    assert coefficient(votes).value == pytest.approx(by_hand[coefficient], abs=1e-9)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize("rows", [[["PASS", "FAIL"]], [["PASS", "FAIL"], ["PASS", None]], [["A", "B", "A"]]])
def test_a_single_item_has_no_coefficient(coefficient, rows):
    found = coefficient(Votes.from_rows(rows))
    assert found.value is None
    assert found.interval is None
    assert "one item" in found.reason or "no pair of jurors" in found.reason


def test_the_added_items_are_one_split_and_one_agreement_on_the_second_label():
    codes, groups = np.array([[0, 0, -1]] * 8 + [[1, 1, -1]] * 2), np.arange(10)
    smoothed = Smoothed.of(codes, groups, 2)
    assert smoothed.codes[10:].tolist() == [[0, 1, -1], [1, 0, -1], [1, 1, -1]]
    assert smoothed.as_voted.tolist() == [[1.0] * 10 + [0.0] * 3]
    assert Smoothed.of(codes, groups, 2, every_juror=True).codes[10:].tolist() == [[0, 1, 0], [1, 0, 1], [1, 1, 1]]


def test_groups_whose_items_are_alike_get_groups_of_their_size():
    smoothed = Smoothed.of(np.array([[0, 0], [0, 0], [1, 1], [1, 1]]), np.array([3, 3, 7, 7]), 2)
    assert smoothed.groups.tolist() == [3, 3, 7, 7, 8, 8, 9, 9, 10, 10]
    assert (smoothed.units, smoothed.added) == (2, 3)


def test_groups_whose_items_have_nothing_in_common_get_single_items():
    codes = np.array([[0, 0], [1, 1]] * 20)
    assert len(Smoothed.of(codes, np.repeat(np.arange(10), 4), 2).codes) == 43


def test_the_size_of_an_added_group_is_the_design_effect():
    chance = np.random.default_rng(3)
    groups = np.repeat(np.arange(400), 5)
    for shared, size in ((0.0, 1), (0.5, 3), (1.0, 5)):  # 1 + (5 - 1) * intraclass correlation
        together = np.repeat(chance.random(400) < 0.5, 5)
        values = np.where(np.repeat(chance.random(400) < shared, 5), together, chance.random(2000) < 0.5)
        assert group_size(values.astype(float), groups) == size
    assert group_size(np.zeros(2000), groups) == 5


@pytest.mark.parametrize(
    "codes", [[[0, 0], [0, 0]], [[0, -1], [1, -1]]], ids=["one label occurs", "no item has two votes"]
)
def test_nothing_is_added_where_no_coefficient_is_defined(codes):
    assert Smoothed.of(np.array(codes), np.arange(2), 2).added == 0


def test_nothing_is_added_to_scores_on_a_fine_scale():
    codes = np.arange(20).reshape(10, 2)
    assert Smoothed.of(codes, np.arange(10), 20).added == 0


def test_the_added_items_are_drawn_as_often_as_two_items():
    drawn = sum(weights.sum(axis=0) for weights in Resampling(4000).weights(50, (1, 1, 2)))
    assert drawn.sum() == 4000 * 50
    assert drawn[50:] / drawn[:50].mean() == pytest.approx([0.5, 0.5, 1.0], rel=0.05)


@pytest.mark.slow
def test_an_interval_of_groups_is_that_of_draws_by_hand():
    """The recipe of docs/concepts/agreement.md, for groups and three jurors, one group after the other."""
    chance = np.random.default_rng(11)
    kinds = np.array([[1, 1, 1], [1, 1, 0], [0, 0, 0], [1, 0, 0]])
    codes = kinds[np.repeat(chance.choice(4, p=[0.6, 0.15, 0.15, 0.1], size=40), 3)]
    votes = Votes.from_rows(
        [[["FAIL", "PASS"][code] for code in row] for row in codes], groups=list(np.repeat(np.arange(40), 3))
    )
    more = [[1, 0, 1], [0, 1, 0], [0, 0, 0]]  # turns about the two labels, and FAIL, which is the rarer one
    groups = [codes[at : at + 3] for at in range(0, 120, 3)] + [np.repeat([row], 3, axis=0) for row in more]

    def agreement(rows):
        return np.mean([(a == b, a == c, b == c) for a, b, c in rows])

    chances = np.array([2] * 40 + [1, 1, 2]) / 84
    drawn = [
        agreement(np.concatenate([groups[at] for at in chance.choice(43, size=40, p=chances)])) for _ in range(4000)
    ]
    found = raw_agreement(votes, resampling=Resampling(4000)).interval
    assert found == pytest.approx(tuple(np.quantile(drawn, (0.025, 0.975))), abs=0.017)  # the step of the values
