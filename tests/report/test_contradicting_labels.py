"""Answers with several human labels, in comparisons that labels correct."""

import random

import pytest

from jury_adapters import Case, Judgment
from jury_adapters.core.batch import Judged
from jury_adapters.report import Report

CASES = 200
GRADES = {True: (4, 5), False: (1, 2, 3)}


def answers(better):
    """Answers of one system with their truth; six in ten are those of both systems."""
    chance = random.Random(1)
    for at in range(CASES):
        both, truth = chance.random() < 0.6, chance.random() < 0.7
        mine = truth if both else chance.random() < (0.9 if better else 0.5)
        yield at, f"answer {at}" if both else f"answer {at} of {'b' if better else 'a'}", mine


def systems():
    return [list(answers(False)), list(answers(True))]


def report(system):
    """A run whose jury passes every answer."""
    cases = [Case(question=f"{at}?", answer=text, metadata={"item_id": f"q{at}"}) for at, text, _ in system]
    return Report.from_results([Judged(at, case, Judgment("PASS")) for at, case in enumerate(cases)])


def graded(system, seed, *, wrong=0.0):
    """Labels of a reviewer: a random grade with the meaning of the truth, sometimes with the other meaning."""
    chance = random.Random(seed)
    for at, text, truth in system:
        meant = truth if chance.random() >= wrong else not truth
        yield {"item_id": f"q{at}", "question": f"{at}?", "answer": text, "gold": chance.choice(GRADES[meant])}


def compared(labels):
    a, b = systems()
    return report(a).compare(report(b), labels=labels, pass_labels=["4", "5"])


def true_difference():
    a, b = systems()
    return (sum(truth for *_, truth in b) - sum(truth for *_, truth in a)) / CASES


def test_grades_with_one_meaning_do_not_contradict_each_other():
    a, b = systems()
    found = compared([*graded(a, 1), *graded(b, 2)])
    assert not any("contradict" in warning for warning in found.warnings)
    assert f"human labels of {CASES} cases" in found.corrected.sentence
    assert found.corrected.value == pytest.approx(true_difference())


def test_a_few_contradicting_labels_widen_the_interval_to_any_label_of_them():
    a, b = systems()
    labels = [*graded(a, 1), *graded(b, 2)]
    split = [one for one in a if one[1].endswith("of a")][:4]
    others = [{**row, "gold": GRADES[not truth][0]} for row, (*_, truth) in zip(graded(split, 3), split, strict=True)]
    without = compared([row for row in labels if row["item_id"] not in {row["item_id"] for row in others}])
    found = compared([*labels, *others])
    assert found.corrected.value == without.corrected.value
    (low, high), (least, most) = found.corrected.interval, without.corrected.interval
    assert low < least
    assert high > most
    assert high - low == pytest.approx(most - least + 4 / CASES, abs=1e-9)  # the other label of each is known
    assert f"{100 * low:.1f} to {100 * high:.1f}" in found.corrected.sentence
    assert any("4 cases of which both answers were labelled; the interval allows" in one for one in found.remarks)
    assert found.corrected.details["labelled_once"] == 0
    assert not any("a label of one answer only" in one for one in found.remarks)


def test_many_contradicting_labels_correct_no_difference():
    a, b = systems()
    found = compared([*graded(a, 1), *graded(b, 2), *graded(b, 4, wrong=0.25)])
    assert found.corrected.value is None
    assert "contradict each other on" in found.corrected.reason
    assert "let one more reviewer settle them" in found.corrected.reason
    assert found.sentence.startswith("b passes as many cases as a")  # by the verdicts alone


def test_contradicting_labels_of_answers_of_both_systems_make_no_difference():
    a, b = systems()
    shared = [one for one in a if not one[1].endswith("of a")]
    found = compared([*graded(a, 1), *graded(b, 2), *graded(shared, 3, wrong=0.3)])
    assert any("human labels that contradict each other" in warning for warning in found.warnings)
    assert f"human labels of {CASES} cases" in found.corrected.sentence
    assert found.corrected.value == pytest.approx(true_difference())


def test_contradicting_labels_of_an_answer_of_one_system_leave_its_case_out():
    a, b = systems()
    at, text, truth = next(one for one in a if one[1].endswith("of a"))
    other = {"item_id": f"q{at}", "question": f"{at}?", "answer": text, "gold": GRADES[not truth][0]}
    found = compared([*graded(a, 1), *graded(b, 2), other])
    assert f"human labels of {CASES - 1} cases" in found.corrected.sentence
    assert found.unmatched_labels == 0
    assert any("1 answer has human labels that contradict each other" in warning for warning in found.warnings)


def test_labels_that_all_contradict_each_other_belong_to_an_answer_all_the_same():
    a, _ = systems()
    at, text, _ = next(one for one in a if one[1].endswith("of a"))
    row = {"item_id": f"q{at}", "question": f"{at}?", "answer": text}
    found = compared([{**row, "gold": 5}, {**row, "gold": 1}, *({**row, "gold": grade} for grade in (4, 2))])
    assert found.corrected.value is None
    assert "labels of both answers, 2 at least, and there are 0" in found.corrected.reason
    assert any("1 answer has human labels that contradict each other" in warning for warning in found.warnings)


def test_where_labels_of_every_case_contradict_each_other_that_is_the_reason():
    a, b = systems()
    found = compared([*graded(a, 1), *graded(a, 2, wrong=1.0), *graded(b, 3), *graded(b, 4, wrong=1.0)])
    own = sum(text.endswith("of a") for _, text, _ in a)
    assert f"contradict each other on {own}" in found.corrected.reason
