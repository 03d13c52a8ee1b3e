"""Confidence and scores against human labels, beside scikit-learn and SciPy."""

import numpy as np
import pytest
import scipy
from fact_tables import each_row
from hypothesis import given, settings
from hypothesis import strategies as st

from jury_adapters.stats import Votes, confidence_quality, graded_agreement

STATED = st.one_of(st.sampled_from([0.5, 0.6, 2 / 3, 0.9, 1.0]), st.floats(0.001, 0.999))
ANSWERS = st.lists(st.tuples(STATED, st.booleans()), min_size=1, max_size=40)


def quality(answers, groups=None):
    """Return the figures of answers that are PASS, with their confidence and whether they are right."""
    votes = Votes.from_rows(
        [["yes"]] * len(answers),
        human_labels=[right for _, right in answers],
        confidences=[[stated] for stated, _ in answers],
        groups=groups,
    )
    return {one.name: one for one in confidence_quality(votes) if one.of in ("juror 1", "")}


@settings(deadline=None, max_examples=25)
@given(ANSWERS)
def test_figures_are_those_of_scikit_learn(answers):
    from sklearn.metrics import brier_score_loss, roc_auc_score

    stated, right = map(np.array, zip(*answers, strict=True))
    found = quality(answers)
    assert found["Brier score"].value == pytest.approx(brier_score_loss(right, stated))
    assert found["overconfidence"].value == pytest.approx(stated.mean() - right.mean())
    if len({*right.tolist()}) == 2:
        assert found["AUROC of confidence"].value == pytest.approx(roc_auc_score(right, stated))
    else:
        assert found["AUROC of confidence"].value is None
        assert "are right" in found["AUROC of confidence"].note or "are wrong" in found["AUROC of confidence"].note
    for one in found.values():
        assert one.value is None or one.interval is None or one.interval[0] <= one.value <= one.interval[1]


@settings(deadline=None, max_examples=25)
@given(ANSWERS)
def test_the_calibration_error_is_that_of_the_bins_of_scikit_learn(answers):
    from sklearn.calibration import calibration_curve

    stated, right = map(np.array, zip(*answers, strict=True))
    found = quality(answers)["calibration error"]
    accuracy, confidence = calibration_curve(right, stated, n_bins=10)
    bins = found.details["bins"]
    assert [one["accuracy"] for one in bins] == pytest.approx(accuracy.tolist())
    assert [one["confidence"] for one in bins] == pytest.approx(confidence.tolist())
    weights = np.array([one["n"] for one in bins]) / len(stated)
    assert found.value == pytest.approx(float(weights @ np.abs(accuracy - confidence)))
    assert found.interval is None


def test_the_interval_of_the_auroc_is_that_of_delong():
    rng = np.random.default_rng(5)
    right = rng.random(2000) < 0.7
    stated = 1 / (1 + np.exp(-(rng.normal(size=2000) + right)))
    found = quality(list(zip(stated.tolist(), right.tolist(), strict=True)))["AUROC of confidence"]
    more = np.sign(stated[right][:, None] - stated[~right][None]) / 2 + 0.5
    error = np.sqrt(more.mean(axis=1).var(ddof=1) / right.sum() + more.mean(axis=0).var(ddof=1) / (~right).sum())
    assert found.interval == pytest.approx((found.value - 1.96 * error, found.value + 1.96 * error), abs=0.004)
    assert found.details == {"right": int(right.sum()), "wrong": int((~right).sum())}


def test_perfect_confidence_is_no_certainty():
    found = quality([(0.9, True)] * 10 + [(0.6, False)] * 5)["AUROC of confidence"]
    assert found.value == 1.0
    assert found.interval[0] < 0.95


def test_groups_widen_the_intervals():
    answers = [(0.9, True), (0.6, False), (0.7, True), (0.8, False)] * 10
    five = [one for one in answers for _ in range(5)]
    alone, grouped = quality(five), quality(five, groups=np.repeat(np.arange(40), 5))
    for name in ("AUROC of confidence", "Brier score", "overconfidence"):
        assert np.ptp(grouped[name].interval) > 1.5 * np.ptp(alone[name].interval)


@each_row(
    "votes",
    [
        Votes.from_rows([["yes"]], human_labels=["yes"]),
        Votes.from_rows([["yes"]], confidences=[[0.5]]),
        Votes.from_rows([[None]], human_labels=["yes"], confidences=[[0.5]]),
        Votes.from_rows([]),
    ],
)
def test_without_confidence_vote_or_label_there_is_a_reason(votes):
    (found,) = confidence_quality(votes)
    assert (found.value, found.note) == (None, "no vote with a confidence has a human label")


@settings(deadline=None, max_examples=25)
@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=30))
def test_graded_agreement_is_that_of_scikit_learn_and_scipy(pairs):
    from sklearn.metrics import cohen_kappa_score

    scores, grades = zip(*pairs, strict=True)
    votes = Votes.from_rows([[score] for score in scores], human_labels=grades)
    found = {one.name: one for one in graded_agreement(votes) if one.of == "juror 1"}
    kappa, spearman = found["quadratic kappa"], found["Spearman's correlation"]
    if len({*scores, *grades}) > 1:
        expected = cohen_kappa_score(scores, grades, weights="quadratic", labels=[1, 2, 3, 4, 5])
        assert kappa.value == pytest.approx(expected, abs=1e-9)
        assert kappa.interval[0] <= kappa.value <= kappa.interval[1]
    else:
        assert kappa.value is None
    if len({*scores}) > 1 and len({*grades}) > 1:
        assert spearman.value == pytest.approx(scipy.stats.spearmanr(scores, grades).statistic)
    else:
        assert spearman.value is None


def test_the_note_of_kappa_has_both_scales():
    kappa, spearman = graded_agreement(Votes.from_rows([[0.1], [0.5], [0.9]], human_labels=[1, 3, 5]))[:2]
    assert kappa.note.startswith("takes one scale: scores are 0.1 to 0.9, human labels 1 to 5")
    assert spearman.value == pytest.approx(1)
    assert spearman.interval[0] < 1


@pytest.mark.parametrize(
    "votes", [Votes.from_rows([[1]], human_labels=["yes"]), Votes.from_rows([["yes"]], human_labels=[1])]
)
def test_words_are_no_grades(votes):
    assert graded_agreement(votes)[0].value is None
