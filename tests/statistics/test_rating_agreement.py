"""Scores against graded human labels: against independent implementations, and at the edges of the sentences."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr
from sklearn.metrics import cohen_kappa_score

from jury_adapters import Ensemble, Judgment, judge
from jury_adapters.calibration import Votes
from jury_adapters.calibration.resampling import Resampling
from jury_adapters.statistics import graded_agreement
from jury_adapters.statistics.rating_agreement import _reading, _shown
from jury_adapters.statistics.weighted import kendall_tau_b

NAMES = ("weighted kappa (linear)", "weighted kappa (quadratic)", "spearman correlation", "kendall tau-b")
FAST = Resampling(100)
grades = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=50)


def measured(scores, ratings, groups=(), resampling=FAST):
    votes = Votes.from_rows([[score] for score in scores], jurors=["a"], gold=list(ratings), groups=groups)
    return {one.name: one for one in graded_agreement(votes, resampling=resampling) if one.subject == "a"}


@pytest.mark.slow
@given(grades)
def test_values_are_those_of_scikit_learn_and_scipy(told):
    scores, ratings = zip(*told, strict=True)
    found = measured(scores, ratings)
    if len(set(scores)) < 2 or len(set(ratings)) < 2:
        assert all(found[name].value is None and "the same" in found[name].reason for name in NAMES)
        return
    scale = [1, 2, 3, 4, 5]
    expected = [cohen_kappa_score(scores, ratings, weights=one, labels=scale) for one in ("linear", "quadratic")]
    expected += [spearmanr(scores, ratings).statistic, kendalltau(scores, ratings).statistic]
    assert [found[name].value for name in NAMES] == pytest.approx(expected, abs=1e-6)


@pytest.mark.slow
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=3, max_size=40))
def test_rank_correlations_of_fine_scores(told):
    scores, ratings = zip(*told, strict=True)
    found = measured(scores, ratings)
    if found[NAMES[2]].value is None:
        assert len(set(scores)) < 2 or len(set(ratings)) < 2
        return
    assert found["spearman correlation"].value == pytest.approx(spearmanr(scores, ratings).statistic, abs=1e-6)
    assert found["kendall tau-b"].value == pytest.approx(kendalltau(scores, ratings).statistic, abs=1e-6)


@pytest.mark.slow
@given(grades)
def test_intervals_hold_the_value(told):
    scores, ratings = zip(*(told * 16)[:60], strict=True)
    for one in measured(scores, ratings, resampling=Resampling(50)).values():
        if one.interval is not None:
            assert -1 <= one.interval[0] <= one.value <= one.interval[1] <= 1


def test_perfect_scores_are_no_certainty():
    for one in measured([1, 2, 3, 4, 5] * 8, [1, 2, 3, 4, 5] * 8).values():
        assert one.value == pytest.approx(1.0)
        assert 0.5 < one.interval[0] < 0.99


def test_below_thirty_items_or_groups_there_is_no_interval():
    scores, ratings = [1, 2, 3, 4, 5, 1], [1, 3, 2, 4, 4, 1]
    assert all(one.interval is None for one in measured(scores * 4, ratings * 4).values())
    assert all(one.interval is not None for one in measured(scores * 5, ratings * 5).values())
    groups = [number // 3 for number in range(60)]
    assert all(one.interval is None for one in measured(scores * 10, ratings * 10, groups).values())
    assert "not tested" in measured(scores, ratings)["spearman correlation"].sentence


def test_scores_on_another_scale_have_rank_correlations_only():
    found = measured([0.1, 0.4, 0.5, 0.9], [1, 2, 4, 5])
    assert found["spearman correlation"].value == 1.0
    assert found[NAMES[0]].value is None
    assert found[NAMES[1]].reason == "its scores lie from 0.1 to 0.9 and human labels from 1 to 5, so not on one scale"


def test_means_of_ratings_count_although_no_juror_can_give_them():
    found = measured([1, 2, 4, 5], [1.3333, 2.0, 3.6667, 5.0])
    assert found["spearman correlation"].value == 1.0
    assert found[NAMES[1]].n == 4


@pytest.mark.parametrize(("scores", "n"), [([3], 1), ([3, None, None], 1)])
def test_fewer_than_two_items(scores, n):
    for one in measured(scores, [1, 2, 3][: len(scores)]).values():
        assert (one.value, one.n) == (None, n)
        assert "it takes 2" in one.reason


def test_labels_that_are_words_and_jurors_without_scores():
    (nothing,) = graded_agreement(Votes.from_rows([["PASS"], ["FAIL"]], gold=["PASS", "FAIL"]))
    assert nothing.reason == "no item has a human label that is a number"
    rows = [{"item_id": str(n), "gold": n, "votes": {"a": {"score": None}}} for n in range(3)]
    (nothing,) = graded_agreement(Votes.from_recorded(rows, on="score"))
    assert nothing.reason == "no juror has a score on an item whose human label is a number"


def test_weights_are_copies_of_items():
    random = np.random.default_rng(5)
    first, second = random.integers(1, 5, 12).astype(float), random.integers(1, 5, 12).astype(float)
    weights = random.integers(0, 4, 12)
    copied = [np.repeat(numbers, weights) for numbers in (first, second)]
    assert kendall_tau_b(weights[None].astype(float), first, second)[0] == pytest.approx(kendalltau(*copied).statistic)


def test_thousands_of_items_have_no_interval_of_tau_and_no_warning_of_numpy():
    random = np.random.default_rng(0)
    scores = random.random(1001)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = measured(scores.tolist(), (scores + random.random(1001)).tolist(), resampling=Resampling(20))
    assert found["kendall tau-b"].interval is None
    assert found["spearman correlation"].interval is not None


@pytest.mark.parametrize(
    ("interval", "said"),
    [
        ((0.0004, 0.5), "not shown to be more than chance"),
        ((0.0006, 0.5), "that is more than chance"),
        ((-0.5, 0.5), "not shown to be more than chance"),
        ((-0.5, -0.0006), "that is less than chance gives"),
        (None, "not tested"),
    ],
)
def test_sentences_never_contradict_the_interval(interval, said):
    assert said in _shown(interval)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.0004, "as often the same way as the other"),
        (0.3, "the same way more often"),
        (-0.3, "the other way more often"),
    ],
)
def test_the_sentence_of_tau_says_which_way(value, said):
    assert said in _reading("kendall tau-b", value, None)


def test_ratings_in_the_units_of_the_rubric_go_before_normalised_scores():
    @judge(name="scale")
    def rated(case):
        rating = int(case.answer)
        return Judgment("PASS" if rating > 3 else "FAIL", score=(rating - 1) / 4, metadata={"rating": rating})

    verdicts = [Ensemble({"one": rated, "two": rated}).judge(answer=str(n % 5 + 1)) for n in range(10)]
    votes = Votes.from_verdicts(verdicts, gold=[n % 5 + 1 for n in range(10)], on="score")
    found = {(one.subject, one.name): one for one in graded_agreement(votes, resampling=FAST)}
    assert found["one", NAMES[1]].value == 1.0
    assert {subject for subject, _ in found} == {"one", "two"}  # the majority of two statuses has no score


def test_numbers_written_as_text_count_as_numbers():
    rows = [{"item_id": str(n), "gold": f"{n % 5 + 1}", "votes": {"a": {"label": f"{n % 4 + 1}"}}} for n in range(20)]
    found = {one.name: one for one in graded_agreement(Votes.from_recorded(rows), resampling=FAST)}
    expected = spearmanr([n % 4 for n in range(20)], [n % 5 for n in range(20)]).statistic
    assert found["spearman correlation"].value == pytest.approx(expected)
