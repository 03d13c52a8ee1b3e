import math
import warnings
from fractions import Fraction
from itertools import combinations, zip_longest

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples

from jury_adapters import ConfigurationError, Ensemble, Judgment, Status
from jury_adapters.checks import always_pass
from jury_adapters.core.agreement import ballots_band, band_of, modal_share
from jury_adapters.statistics import krippendorff_alpha, pairwise_agreement

LEVELS = ("nominal", "ordinal", "interval", "ratio")
# Krippendorff (2011), section C: four observers, twelve units; his own results are .743, .815, .849 and .797.
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]


@pytest.mark.parametrize(("level", "value"), [*zip(LEVELS, (0.743, 0.815, 0.849, 0.797), strict=True)])
def test_alpha_is_that_of_krippendorffs_own_example(level, value):
    alpha = krippendorff_alpha(zip_longest(*OBSERVERS), level)
    assert round(alpha.value, 3) == value
    assert (alpha.units, alpha.ratings, alpha.informative, alpha.reason) == (11, 40, True, "")


matrices = st.integers(2, 5).flatmap(
    lambda raters: st.lists(
        st.lists(st.none() | st.integers(0, 4), min_size=raters, max_size=raters), min_size=2, max_size=8
    )
)


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
@examples(150)
@given(units=matrices)
def test_alpha_is_that_of_the_krippendorff_package(level, units):
    ours = krippendorff_alpha(units, level)
    if ours.value is None or ours.units < 2:
        return
    by_rater = np.array([[np.nan if rating is None else rating for rating in unit] for unit in units], dtype=float).T
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # its ratio metric divides 0 by 0
        theirs = krippendorff.alpha(reliability_data=by_rater, level_of_measurement=level)
    assert ours.value == pytest.approx(theirs, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
@given(units=matrices, chance=st.randoms(use_true_random=False))
def test_neither_the_order_of_the_units_nor_that_of_the_raters_matters(level, units, chance):
    shuffled = [chance.sample(unit, len(unit)) for unit in chance.sample(units, len(units))]
    one, other = krippendorff_alpha(units, level), krippendorff_alpha(shuffled, level)
    assert (one.units, one.ratings, one.informative) == (other.units, other.ratings, other.informative)
    assert one.value == pytest.approx(other.value, abs=1e-12)


@given(units=matrices)
def test_units_with_fewer_than_two_ratings_change_nothing(units):
    lonely = [*units, [3, None], [None], [], [4]]
    assert krippendorff_alpha(lonely) == krippendorff_alpha(units)


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
@given(units=matrices)
def test_alpha_is_never_above_1_and_never_nan(level, units):
    alpha = krippendorff_alpha(units, level)
    assert (alpha.value is None) == (alpha.units == 0 or "without variation" in alpha.reason)
    if alpha.value is not None:
        assert math.isfinite(alpha.value)
        assert alpha.value <= 1.0


def test_without_variation_alpha_is_undefined_and_says_why():
    alpha = krippendorff_alpha([["PASS", "PASS"], ["PASS", "PASS", None]])
    assert (alpha.value, alpha.informative, alpha.units, alpha.ratings) == (None, False, 2, 4)
    assert "every rating is PASS: without variation" in alpha.reason
    assert krippendorff_alpha([(Status.PASS, Status.PASS)] * 2).reason == alpha.reason


def test_without_two_ratings_anywhere_alpha_is_undefined_and_says_why():
    for units in ([], [["A"], [None, "B"]]):
        assert krippendorff_alpha(units).reason == "no case has two ratings"


@pytest.mark.parametrize("level", LEVELS)
def test_on_one_unit_alpha_is_0_by_algebra_and_uninformative(level):
    alpha = krippendorff_alpha([[1, 2, 2, 5]], level)
    assert (alpha.value, alpha.informative) == (0.0, False)
    assert "says nothing" in alpha.reason


@pytest.mark.parametrize(
    ("units", "level", "message"),
    [
        ([["a", "b"]], "ordinal", r"level 'ordinal' needs numbers, not '[ab]'; use level='nominal'"),
        ([[1, 2]], "metric", r"unknown level 'metric'\. .*interval, nominal, ordinal, ratio"),
        ([[1, -1], [2, 3]], "ratio", "level 'ratio' needs numbers from 0, not -1; use level='interval'"),
        ([[1, math.nan], [2, 3]], "interval", "a rating is NaN; a missing rating is None"),
        ([["A", math.nan], ["A", "B"]], "nominal", "a rating is NaN; a missing rating is None"),
        ([[1, math.inf], [2, 3]], "ordinal", "needs finite numbers, not inf"),
    ],
)
def test_ratings_the_level_cannot_measure_are_refused(units, level, message):
    with pytest.raises(ConfigurationError, match=message):
        krippendorff_alpha(units, level)


@pytest.mark.parametrize(
    ("ballots", "agreement"),
    [
        ("KKKR", 1 / 2),
        ("KKK", 1.0),
        ("KRX", 0.0),
        ("KKR", 1 / 3),
        ("K", None),
        ("", None),
        ([0.9, 0.7], 0.8),
        ([1.0, 0.0], 0.0),
        ([0.2, 0.2, 0.2], 1.0),
        ([0.0, 0.5, 1.0], 1 / 3),
    ],
)
def test_agreement_on_one_case_is_that_of_its_pairs(ballots, agreement):
    assert pairwise_agreement(list(ballots)) == agreement


@given(st.lists(st.sampled_from("KRX"), min_size=2, max_size=12))
def test_agreement_is_the_share_of_agreeing_pairs(ballots):
    pairs = list(combinations(ballots, 2))
    assert pairwise_agreement(ballots) == float(Fraction(sum(a == b for a, b in pairs), len(pairs)))


@given(st.lists(st.floats(0, 1), min_size=2, max_size=12))
def test_agreement_of_scores_is_one_minus_the_mean_difference(ballots):
    pairs = list(combinations(ballots, 2))
    expected = 1 - math.fsum(abs(a - b) for a, b in pairs) / len(pairs)
    assert pairwise_agreement(ballots) == pytest.approx(expected, abs=1e-12)
    assert 0.0 <= pairwise_agreement(ballots) <= 1.0


@pytest.mark.parametrize(
    ("ballots", "on", "band"),
    [
        ("KKKKKKKKKR", "pairs", "high"),  # 36 of 45 pairs: exactly 4/5
        ("KKKKKKKKR", "pairs", "medium"),  # 28 of 36
        ("KKKKKR", "pairs", "medium"),  # 10 of 15: exactly 2/3
        ("KKKKR", "pairs", "low"),  # 6 of 10
        ("KKR", "pairs", "low"),
        ("KK", "pairs", "high"),
        ("KKKKR", "share", "high"),  # exactly 4/5
        ("KKKR", "share", "medium"),
        ("KKR", "share", "medium"),  # exactly 2/3
        ("KR", "share", "low"),
        ("K", "share", None),
        ("K", "pairs", None),
        ("", "pairs", None),
        ([0.9, 0.7], "pairs", "high"),  # decimals: exactly 1/5 apart, though the floats are not
        ([0.3, 0.1], "pairs", "high"),
        ([0.9, 0.69], "pairs", "medium"),
        ([0.9, 0.56], "pairs", "low"),
        ([0.1, 0.1, 0.6], "pairs", "medium"),  # 1 - 1/3
    ],
)
def test_bands_are_compared_exactly(ballots, on, band):
    assert ballots_band(list(ballots), on) == band


@pytest.mark.parametrize(
    ("agreement", "band"),
    [
        (Fraction(4, 5), "high"),
        (Fraction(799, 1000), "medium"),
        (Fraction(2, 3), "medium"),
        (Fraction(666, 1000), "low"),
        (0.8, "high"),
        (2 / 3, "medium"),
        (0.6666, "low"),
        (1, "high"),
        (0, "low"),
        (None, None),
    ],
)
def test_the_band_of_a_number(agreement, band):
    assert band_of(agreement) == band


@given(st.lists(st.sampled_from("KR"), min_size=2, max_size=30))
def test_the_band_of_the_agreement_shown_is_the_band_shown(labels):
    verdict = Ensemble([always_pass()]).aggregate(Judgment(None, label=label) for label in labels)
    assert verdict.agreement_band == band_of(verdict.agreement)


def test_the_modal_share_is_exact():
    assert modal_share("KKR") == Fraction(2, 3)
    assert modal_share([0.5, 0.5, 0.1, 0.9]) == Fraction(1, 2)
    assert modal_share([]) == 0


def test_alpha_on_one_verdict_says_unanimous_or_not_and_nothing_escalates_on_it():
    jury = Ensemble([always_pass()])
    unanimous, split, alone = (
        jury.aggregate(Judgment(status, reasoning="r", error="e") for status in statuses)
        for statuses in (["PASS"] * 3, ["PASS"] * 9 + ["FAIL"], ["PASS"])
    )
    assert [verdict.krippendorff_alpha for verdict in (unanimous, split, alone)] == [1.0, 0.0, None]
    assert not split.needs_review
