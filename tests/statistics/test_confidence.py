"""Confidence against human labels: against independent implementations, and at the edges of its sentences."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss, roc_auc_score

from jury_adapters import ConfigurationError
from jury_adapters.calibration import Votes
from jury_adapters.calibration.resampling import Resampling
from jury_adapters.core.statistics import wilson
from jury_adapters.statistics import confidence_quality, reliability_diagram
from jury_adapters.statistics.confidence import _area, _beside, _direction
from jury_adapters.statistics.reliability import bins_of, calibration_error, error_by_chance

FAST = Resampling(100)


def votes_of(confidences, right, groups=None, extra=()):
    rows = [
        {
            "item_id": str(item),
            "gold": "good",
            "votes": {"a": {"label": "good" if hit else "bad", "confidence": stated}},
        }
        for item, (stated, hit) in enumerate(zip(confidences, right, strict=True))
    ]
    for row, group in zip(rows, groups or (), strict=False):
        row["meta"] = {"doc": group}
    return Votes.from_recorded([*rows, *extra], group="meta.doc" if groups else "", pass_label="good")


def found(votes, name, voter="a", **options):
    estimates = confidence_quality(votes, resampling=FAST, **options)
    return next(one for one in estimates if (one.name, one.subject) == (name, voter))


answers = st.lists(
    st.tuples(st.integers(0, 20).map(lambda twentieth: twentieth / 20), st.booleans()), min_size=1, max_size=60
)


@pytest.mark.slow
@given(answers)
def test_scores_are_those_of_scikit_learn(told):
    stated, right = np.array([one for one, _ in told]), np.array([hit for _, hit in told])
    votes = votes_of(stated.tolist(), right.tolist())
    assert found(votes, "Brier score of confidence").value == pytest.approx(((stated - right) ** 2).mean(), abs=1e-9)
    area = found(votes, "AUROC of confidence")
    if right.all() or not right.any():
        assert area.value is None
        assert ("right" if right.any() else "wrong") in area.reason
    else:
        assert area.value == pytest.approx(roc_auc_score(right, stated), abs=1e-6)
        brier = found(votes, "Brier score of confidence").value
        assert brier == pytest.approx(brier_score_loss(right, stated), abs=1e-6)
    assert found(votes, "overconfidence").value == pytest.approx(stated.mean() - right.mean(), abs=1e-9)


@pytest.mark.slow
@given(answers)
def test_every_number_lies_in_its_range_and_its_interval(told):
    for one in confidence_quality(votes_of(*zip(*told, strict=True)), resampling=FAST):
        assert one.sentence.endswith(".")
        assert (one.value is None) == bool(one.reason)
        if one.value is not None:
            low = -1 if one.name == "overconfidence" else 0
            assert low <= one.value <= 1
            assert one.interval is None or low - 1e-9 <= one.interval[0] <= one.value <= one.interval[1] <= 1 + 1e-9


def test_calibration_error_by_hand():
    # Three bins of two: means .15, .55, .9; right 1/2, 1/2, 2/2. (0.35 + 0.05 + 0.1) / 3.
    stated, right = [0.1, 0.2, 0.5, 0.6, 0.85, 0.95], [1, 0, 0, 1, 1, 1]
    bins = reliability_diagram(stated, right, bins=3)
    assert [(one.n, one.low, one.high) for one in bins] == [(2, 0.1, 0.2), (2, 0.5, 0.6), (2, 0.85, 0.95)]
    assert calibration_error(bins) == pytest.approx(0.5 / 3)
    by_hand = sum(math.sqrt(sum(p * (1 - p) for p in pair)) for pair in ((0.1, 0.2), (0.5, 0.6), (0.85, 0.95))) / 2 / 3
    assert error_by_chance(bins) == pytest.approx(by_hand * math.sqrt(2 / math.pi))


@pytest.mark.slow
@given(answers, st.integers(1, 15))
def test_bins_of_equal_width_are_those_of_guo_et_al(told, bins):
    stated, right = np.array([one for one, _ in told]), np.array([hit for _, hit in told], dtype=float)
    expected = 0.0
    for number in range(bins):  # ((m - 1) / M, m / M], in exact fractions of 20 * bins
        twentieths = np.round(stated * 20).astype(int) * bins
        inside = (twentieths > 20 * number) & (twentieths <= 20 * (number + 1))
        inside |= (number == 0) & (twentieths == 0)
        if inside.any():
            expected += inside.mean() * abs(stated[inside].mean() - right[inside].mean())
    assert calibration_error(reliability_diagram(stated, right, bins=bins, by="width")) == pytest.approx(expected)


@given(answers, st.integers(1, 15))
def test_bins_of_equal_mass_hold_all_items_once_and_ties_together(told, bins):
    stated, right = zip(*told, strict=True)
    made = reliability_diagram(stated, right, bins=bins)
    assert sum(one.n for one in made) == len(stated)
    assert len(made) <= bins
    for one, following in itertools.pairwise(made):
        assert one.high < following.low
    if len(set(stated)) == len(stated):
        assert max(one.n for one in made) - min(one.n for one in made) <= 1 or len(stated) < bins


@pytest.mark.slow
def test_exact_confidences_have_about_the_error_by_chance():
    random = np.random.default_rng(0)
    errors, told = [], []
    for _ in range(300):
        stated = random.uniform(0.5, 1.0, 200)
        bins = reliability_diagram(stated, random.random(200) < stated, bins=10)
        errors.append(calibration_error(bins))
        told.append(error_by_chance(bins))
    assert np.mean(errors) == pytest.approx(np.mean(told), rel=0.05)


@pytest.mark.parametrize("stated", [[math.nan], [1.2], [-0.1], []])
def test_diagrams_refuse_what_is_no_confidence(stated):
    with pytest.raises(ConfigurationError):
        reliability_diagram(stated, [True] * len(stated))
    with pytest.raises(ConfigurationError, match="whole number"):
        reliability_diagram([0.5], [True], bins=0)


def test_few_wrong_answers_have_no_interval_and_the_sentence_claims_nothing():
    votes = votes_of([0.9] * 40 + [0.5] * 5, [True] * 40 + [False] * 5)
    area = found(votes, "AUROC of confidence")
    assert (area.value, area.interval) == (1.0, None)
    assert "only 5 answers are wrong, and an interval of the AUROC takes 10" in area.warnings
    assert "without an interval" in area.sentence


@pytest.mark.parametrize(
    ("confidence", "right", "said"),
    [(1.0, 69, "claims more than it delivers"), (0.9, 69, "within chance"), (0.6, 69, "delivers more than it claims")],
)
def test_the_same_confidence_for_every_answer_has_an_interval(confidence, right, said):
    votes = votes_of([confidence] * 82, [True] * right + [False] * (82 - right))
    over = found(votes, "overconfidence")
    low, high = wilson(right, 82)
    assert over.interval == pytest.approx((confidence - high, confidence - low))
    assert said in over.sentence


def test_one_answer_has_no_interval_of_the_overconfidence():
    assert found(votes_of([0.9], [True]), "overconfidence").interval is None


def test_groups_count_once():
    stated, right = [0.9, 0.6, 0.8, 0.7] * 50, [True, False, True, True] * 50
    alone = found(votes_of(stated, right), "AUROC of confidence")
    groups = [number // 40 for number in range(200)]
    grouped = found(votes_of(stated, right, groups), "AUROC of confidence")
    assert alone.interval is not None
    assert grouped.interval is None
    assert any("only 5 groups have a wrong answer" in warning for warning in grouped.warnings)


def test_groups_of_copies_give_the_interval_of_the_groups():
    random = np.random.default_rng(3)
    stated, right = random.random(60).round(2), random.random(60) < 0.6
    alone = found(votes_of(stated, right), "AUROC of confidence").interval
    copied = found(votes_of(np.repeat(stated, 5), np.repeat(right, 5), np.repeat(range(60), 5).tolist()),
                   "AUROC of confidence").interval  # fmt: skip
    assert copied == pytest.approx(alone, abs=0.03)


def test_the_same_confidence_everywhere_says_nothing():
    area = found(votes_of([0.8] * 30, [True, False] * 15), "AUROC of confidence")
    assert (area.value, area.interval) == (0.5, None)
    assert "says nothing" in area.sentence


def test_jurors_without_confidence_and_odd_confidences_are_named():
    extra = [
        {"item_id": f"x{n}", "gold": "good", "votes": {
            "a": {"label": "good", "confidence": odd}, "silent": {"label": "good"},
            "percent": {"label": "good", "confidence": 85},
        }}
        for n, odd in enumerate([85, "high", True, -0.5, math.nan])
    ]  # fmt: skip
    votes = votes_of([0.9, 0.8], [True, False], extra=extra)
    others = found(votes, "confidence of the others", "")
    assert others.value is None
    assert "silent" in others.reason
    assert "percent" not in others.reason
    assert "none of its confidences is a number from 0 to 1" in found(votes, "AUROC of confidence", "percent").reason
    brier = found(votes, "Brier score of confidence")
    assert brier.n == 2
    assert brier.warnings[0] == "4 confidences are not a number from 0 to 1 and left out"  # NaN is none


def test_without_labels_or_with_scores_there_is_nothing_to_compare():
    rows = [{"item_id": "1", "votes": {"a": {"label": "good", "confidence": 0.5}}}]
    (nothing,) = confidence_quality(Votes.from_recorded(rows))
    assert nothing.reason == "no item has a human label"
    scores = Votes.from_rows([[n / 50] for n in range(50)], gold=[n / 50 for n in range(50)])
    assert "different numbers" in confidence_quality(scores)[0].reason


def test_an_abstention_has_no_confidence_in_an_answer():
    rows = [
        {"item_id": str(n), "gold": "good", "votes": {"a": {"label": "?" if n else "good", "confidence": 0.9}}}
        for n in range(9)
    ]
    votes = Votes.from_recorded(rows, abstain_labels=["?"])
    assert found(votes, "overconfidence").n == 1


@pytest.mark.parametrize(
    ("interval", "said"),
    [
        ((0.5004, 0.6), "not shown to be better than chance"),
        ((0.5006, 0.6), "more confidence does mean more often right"),
        ((0.4, 0.4996), "not shown to be better than chance"),
        ((0.4, 0.4994), "worse than chance"),
        ((0.4, 0.6), "not shown to be better than chance"),
        (None, "without an interval"),
    ],
)
def test_sentences_of_the_area_never_contradict_its_interval(interval, said):
    assert said in _area(0.5, interval)


@pytest.mark.parametrize(
    ("interval", "said"),
    [
        ((0.0004, 0.2), "within chance"),
        ((0.0006, 0.2), "claims more than it delivers"),
        ((-0.2, -0.0004), "within chance"),
        ((-0.2, -0.0006), "delivers more than it claims"),
        (None, "without an interval"),
    ],
)
def test_sentences_of_overconfidence_never_contradict_its_interval(interval, said):
    assert said in _direction(interval)


@pytest.mark.parametrize(
    ("value", "constant", "said"),
    [(0.2501, 0.25, "as large as"), (0.2506, 0.25, "larger than"), (0.2494, 0.25, "smaller than")],
)
def test_sentences_of_the_brier_score_compare_what_is_shown(value, constant, said):
    assert _beside(value, constant) == said


def test_the_bins_come_back_from_the_details():
    error = found(votes_of([0.5, 0.6, 0.9] * 10, [True, False, True] * 10), "expected calibration error", bins=2)
    assert bins_of(error) == reliability_diagram([0.5, 0.6, 0.9] * 10, [True, False, True] * 10, bins=2)
