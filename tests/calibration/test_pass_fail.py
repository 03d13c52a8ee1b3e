"""Pass rates of batches in which several labels mean PASS."""

import random

import pytest

from jury_adapters.calibration import Votes, agreement_report, true_pass_rate

GRADES = {"great": "PASS", "good": "PASS", "poor": "FAIL", "awful": "FAIL"}


def batch(meant=None, **options):
    """Votes of three jurors on 120 answers, of which 50 have a label; in grades, or in what the grades mean."""
    chance, rows, gold = random.Random(3), [], []
    for at in range(120):
        truth = chance.choice(list(GRADES))
        votes = [truth if chance.random() < 0.7 else chance.choice([*GRADES, None]) for _ in range(3)]
        rows.append([GRADES.get(vote) if meant else vote for vote in votes])
        gold.append(None if at >= 50 else GRADES[truth] if meant else truth)
    return Votes.from_rows(rows, gold=gold, **options)


def test_several_labels_that_mean_pass_have_the_rate_of_the_votes_that_they_mean():
    graded, plain = batch(pass_label=["great", "good"]), batch(meant=True)
    found, expected = true_pass_rate(graded), true_pass_rate(plain)
    assert found.value == pytest.approx(expected.value)
    assert found.interval == pytest.approx(expected.interval)
    assert found.sentence == expected.sentence
    one = graded.jurors[0]
    assert true_pass_rate(graded, juror=one).value == pytest.approx(true_pass_rate(plain, juror=one).value)


def test_the_report_has_the_rate_for_grades_too():
    rows = [[5, 4], [4, 4], [2, 1], [3, 5], [1, 2], [4, 5]] * 10
    report = agreement_report(Votes.from_rows(rows, gold=[5, 4, 1, 3, 2, 4] * 10, pass_label=["4", "5"]))
    (rate,) = report.sections["Rates"]
    assert rate.value == pytest.approx(0.5)
    assert any(line.startswith("Human labels would pass about 50.0 %") for line in report.in_short)


def test_no_label_that_means_pass_still_has_no_rate():
    assert "Rates" not in agreement_report(batch()).sections


def test_a_grade_that_only_people_give_does_not_take_the_rate_away():
    votes = Votes.from_rows([[5, 4], [4, 4], [2, 3], [5, 5]] * 15, gold=[5, 4, 1, 3] * 15, pass_label=["4", "5"])
    found = true_pass_rate(votes)
    assert found.value == pytest.approx(0.5)
    assert found.details["labelled"] == 60


def test_a_grade_that_only_jurors_give_may_mean_pass():
    votes = Votes.from_rows([[5, 4], [2, 2]] * 20, gold=[5, 2] * 20, pass_label=["4", "5"])
    assert true_pass_rate(votes).value == pytest.approx(0.5)
