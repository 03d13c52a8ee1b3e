"""Jurors that were asked again: found in verdicts, measured, and compared over two runs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from jury_adapters import Case, ConfigurationError, Ensemble, Judgment, judge
from jury_adapters.calibration import Votes
from jury_adapters.calibration.repetitions import is_repeated
from jury_adapters.core.combinators import with_samples
from jury_adapters.statistics import full_report, retest, retest_runs


def by_turns(name, *answers):
    """A judge that gives these answers one after the other."""
    turns = iter(answers)

    @judge(name=name)
    def asked(case):
        return next(turns)

    return asked


def measured(rows, **options):
    return {one.name: one for one in retest(Votes.from_rows(rows, **options), "a")}


def test_labels_by_hand():
    rows = (
        [["PASS", "PASS", "PASS"]] * 6
        + [["FAIL", "FAIL", None]] * 2
        + [["PASS", "FAIL", "PASS"]] * 2
        + [["PASS", None, None]]
    )
    found = measured(rows)
    same = found["same answer again"]
    assert (same.value, same.n, same.details["same"]) == (0.8, 10, 8)
    assert same.details["repetitions"] == pytest.approx((6 * 3 + 2 * 2 + 2 * 3) / 10)
    assert same.interval[0] < 0.8 < same.interval[1]
    assert "80.0 % of the items" in same.sentence
    assert 0 < found["kappa between repetitions"].value < 1


def test_groups_widen_the_interval():
    rows = [["PASS", "PASS"]] * 40 + [["PASS", "FAIL"]] * 20
    alone = measured(rows)["same answer again"].interval
    grouped = measured(rows, groups=[row // 10 for row in range(60)])["same answer again"].interval
    assert grouped[1] - grouped[0] > alone[1] - alone[0]


@pytest.mark.slow
@given(st.lists(st.lists(st.integers(0, 10), min_size=3, max_size=3), min_size=2, max_size=30))
def test_scores_are_those_of_a_one_way_analysis_of_variance(rows):
    scores = np.array(rows, dtype=float) / 10
    found = measured(scores.tolist())
    inside = scores.var(axis=1, ddof=1).mean()
    assert found["standard deviation within an item"].value == pytest.approx(np.sqrt(inside), abs=1e-9)
    between = 3 * scores.mean(axis=1).var(ddof=1)
    icc = found["ICC(1,1)"]
    if between + 2 * inside < 1e-12:
        assert (icc.value, icc.reason) == (None, "all its scores are the same")
    else:
        assert icc.value == pytest.approx((between - inside) / (between + 2 * inside), abs=1e-6)


def test_the_example_of_shrout_and_fleiss():
    # Table 2 of Shrout and Fleiss (1979): six targets, four judges; ICC(1,1) = .17, with 0.1657 to four digits.
    rows = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    assert measured(rows)["ICC(1,1)"].value == pytest.approx(0.1657, abs=1e-4)


def test_intervals_of_scores_come_from_thirty_items_on_and_hold_the_value():
    random = np.random.default_rng(2)
    scores = (random.random((40, 1)) + random.random((40, 3)) / 4).tolist()
    for name in ("standard deviation within an item", "ICC(1,1)"):
        assert measured(scores[:29])[name].interval is None
        found = measured(scores)[name]
        assert found.interval[0] < found.value < found.interval[1]


@pytest.mark.parametrize("rows", [[], [["PASS"]], [["PASS", None], [None, "FAIL"]]])
def test_nothing_to_compare(rows):
    found = retest(Votes.from_rows(rows), "a")
    assert [one.value for one in found] == [None] * len(found)
    assert all(one.reason for one in found)


def test_a_repeated_juror_of_a_panel_is_found_and_shown():
    wavering = by_turns("wavering", *[True, True, False] * 4, *[True] * 9)
    panel = Ensemble([with_samples(wavering, 3), lambda case: True])
    votes = Votes.from_verdicts([panel.judge(str(number)) for number in range(7)])
    assert list(votes.repetitions) == ["wavering x3"]
    report = full_report(votes, draws=50)
    assert report.find("same answer again", "wavering x3").value == pytest.approx(3 / 7)
    assert "Asked again, wavering x3 gives the same answer on 42.9 % of the items." in str(report)


def test_a_judge_repeated_as_the_whole_jury_is_found_and_kept_with_a_choice_of_items():
    jury = with_samples(by_turns("one", *[True, False] * 6), 2)
    votes = Votes.from_verdicts([jury.judge(str(number)) for number in range(6)])
    assert list(votes.repetitions) == ["one x2"]
    taken = votes.take([0, 2])
    assert len(taken.repetitions["one x2"].items) == 2
    assert votes.panel(["one"]).repetitions == {}


def test_jurors_of_equal_names_and_different_models_are_not_one_juror_repeated():
    def panel(*models):
        return Ensemble([by_turns("c", Judgment("PASS", model=model)) for model in models], name="panel").judge("x")

    assert [one.critic for one in panel("m1", "m1").judgments] == ["c", "c-2"]
    assert is_repeated(panel("m1", "m1"))
    assert not is_repeated(panel("m1", "m2"))
    assert not is_repeated(panel(None, None))


def test_two_runs_are_matched_by_item_and_juror():
    def run(answers, jurors=("a", "b"), items=("1", "2", "3", "4")):
        return Votes.from_rows(answers, jurors=jurors, items=items)

    first = run([["PASS", "PASS"], ["FAIL", "PASS"], ["FAIL", "FAIL"], ["PASS", "FAIL"]])
    second = run([["FAIL", "FAIL"], ["FAIL", "FAIL"], ["PASS", "PASS"], ["PASS", "PASS"]],
                 jurors=("b", "a"), items=("3", "2", "1", "9"))  # fmt: skip
    found = {(one.subject, one.name): one for one in retest_runs(first, second)}
    assert found["a", "same answer again"].value == 1.0
    assert found["b", "same answer again"].value == pytest.approx(2 / 3)
    assert found["b", "same answer again"].n == 3
    with pytest.raises(ConfigurationError, match="share no item"):
        retest_runs(first, run([["PASS", "PASS"]], items=("99",)))
    with pytest.raises(ConfigurationError, match="share no juror"):
        retest_runs(first, run([["PASS", "PASS"]], jurors=("x", "y"), items=("1",)))


def test_kappa_of_two_runs_is_near_that_of_scikit_learn():
    random = np.random.default_rng(1)
    one = random.choice(["PASS", "FAIL"], 400)
    other = np.where(random.random(400) < 0.7, one, random.choice(["PASS", "FAIL"], 400))
    found = measured(np.column_stack([one, other]).tolist())["kappa between repetitions"].value
    assert found == pytest.approx(cohen_kappa_score(one, other), abs=0.01)


def test_the_jury_of_two_runs_is_compared_too():
    runs = [
        Votes.from_verdicts(
            [Ensemble({"a": lambda c, x=x: x, "b": lambda c: True}).judge(Case(answer=str(n), metadata={"item_id": n}))
             for n, x in enumerate(answers)]
        )
        for answers in ([True, False, True], [True, True, True])
    ]  # fmt: skip
    found = {one.subject: one for one in retest_runs(*runs) if one.name == "same answer again"}
    assert found["the jury"].value == pytest.approx(2 / 3)
    assert found["b"].value == 1.0
