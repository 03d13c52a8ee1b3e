"""Agreement: alpha against the package krippendorff, pairs of ballots, and bands."""

import math
import warnings
from itertools import combinations

import krippendorff
import pytest
from fact_tables import each_row
from hypothesis import given, settings
from hypothesis import strategies as st

from jury_adapters import Judgment
from jury_adapters.voting import krippendorff_alpha, pairwise_agreement

RATINGS = st.lists(st.lists(st.sampled_from([None, 1, 2, 3, 5]), min_size=3, max_size=3), min_size=2, max_size=8)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
@settings(max_examples=50, deadline=None)
@given(units=RATINGS)
def test_alpha_is_that_of_the_package_krippendorff(level: str, units: list) -> None:
    alpha = krippendorff_alpha(units, level)
    paired = [unit for unit in units if sum(one is not None for one in unit) > 1]
    values = {one for unit in paired for one in unit if one is not None}
    assert (alpha is None) == (len(values) < 2)
    if alpha is not None:
        raters = [[math.nan if one is None else float(one) for one in rater] for rater in zip(*paired, strict=True)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = krippendorff.alpha(reliability_data=raters, level_of_measurement=level)
        assert alpha == pytest.approx(expected, abs=1e-9)


UNDEFINED = [[], [[]], [[1]], [[1, None], [None, 2]], [[1, 1], [1, 1]], [[0, 0], [0, 0]]]


@each_row("units", UNDEFINED)
@each_row("level", ["nominal", "ratio"])
def test_alpha_is_undefined_where_nothing_varies(units: list, level: str) -> None:
    assert krippendorff_alpha(units, level) is None


def test_alpha_reads_any_iterables_of_any_labels() -> None:
    units = [("KEEP", "KEEP", None), ("DROP", "KEEP", "DROP"), ("DROP", "DROP", "DROP")]
    numbers = [[None if one is None else len(one + "!" * (one == "KEEP")) for one in unit] for unit in units]
    assert krippendorff_alpha(iter(units)) == krippendorff_alpha(numbers) is not None
    assert krippendorff_alpha([[0.0, 0.0], [0.0, 1.0]], "ratio") == pytest.approx(0.0)


PAIRS = [
    ([], None),
    (["A"], None),
    ([0.5], None),
    (["A", "A"], 1.0),
    (["A", "B"], 0.0),
    (["A", "A", "B"], 1 / 3),
    (["A", "A", "B", "B"], 1 / 3),
    ([0.2, 0.8], 0.4),
    ([0.0, 1.0], 0.0),
    ([0.0, 0.5, 1.0], 1 / 3),
    ([1.0, 1.0, 1.0], 1.0),
]


@each_row(("ballots", "agreement"), PAIRS)
def test_agreement_is_the_share_of_pairs_that_agree_or_how_near_scores_are(ballots: list, agreement: float) -> None:
    assert pairwise_agreement(ballots) == (agreement if agreement is None else pytest.approx(agreement))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from("ABC"), min_size=2, max_size=9))
def test_agreement_does_not_depend_on_the_order_and_counts_pairs(ballots: list) -> None:
    pairs = [*combinations(ballots, 2)]
    assert pairwise_agreement(ballots) == pytest.approx(sum(a == b for a, b in pairs) / len(pairs))
    assert pairwise_agreement(ballots[::-1]) == pytest.approx(pairwise_agreement(ballots))


BANDS = [(1.0, "high"), (0.8, "high"), (0.7999, "medium"), (0.67, "medium"), (0.666, "low"), (0.0, "low")]


@each_row(("agreement", "band"), BANDS)
def test_bands_are_those_of_krippendorff(agreement: float, band: str) -> None:
    jurors = [Judgment(status="PASS", score=score) for score in (0.0, round(1 - agreement, 9))]
    verdict = Judgment(status="PASS", voting="median", judgments=jurors)
    assert verdict.agreement == pytest.approx(agreement)
    assert verdict.agreement_band == band
