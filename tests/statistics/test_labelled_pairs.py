"""Labels of cases that the verdicts show to be no random sample correct no difference."""

import random

import pytest

from jury_adapters import Case, Judgment
from jury_adapters.core.batch import Judged
from jury_adapters.report import Report
from jury_adapters.statistics import compare

CHANCE = random.Random(11)
GOOD = [[CHANCE.random() < share for _ in range(240)] for share in (0.55, 0.7)]
SAID = [[int(good if CHANCE.random() < 0.85 else not good) for good in one] for one in GOOD]
A, B = SAID


def corrected(chosen, groups=()):
    """Return the difference, corrected by labels of both answers of the chosen cases."""
    chosen = set(chosen)
    labels = [[int(good) if at in chosen else None for at, good in enumerate(one)] for one in GOOD]
    return compare(A, B, labels_a=labels[0], labels_b=labels[1], groups=groups)


SELECTIONS = {
    "the verdicts differ": [at for at in range(240) if A[at] != B[at]],
    "the verdict of a is PASS": [at for at in range(240) if not A[at]],
    "the verdict of b is PASS": [at for at in range(240) if B[at]],
}


@pytest.mark.parametrize("fact", SELECTIONS)
def test_labels_of_cases_picked_by_their_verdicts_do_not_correct(fact):
    found = corrected(SELECTIONS[fact])
    assert (found.value, found.interval) == (None, None)
    assert found.reason.startswith(f"{fact} in ")
    assert "so the labelled cases are not a random sample" in found.reason


def test_labels_that_tell_the_wrong_direction_are_refused():
    """The labels of the first 30 say that b is as good; by its verdicts a passes all of these."""
    labels = [1] * 30 + [None] * 70
    found = compare([1] * 45 + [0] * 55, [1] * 65 + [0] * 35, labels_a=labels, labels_b=labels)
    assert found.value is None
    assert found.reason.startswith("the verdict of a is PASS in 30 of 30 cases with both labels, and in 15 of the 70 ")


def test_a_label_of_one_answer_does_not_hide_the_selection():
    some = SELECTIONS["the verdicts differ"]
    labels = [[int(good) if at in some else None for at, good in enumerate(one)] for one in GOOD]
    labels[0] = [int(good) for good in GOOD[0]]
    found = compare(A, B, labels_a=labels[0], labels_b=labels[1])
    assert found.reason.startswith("the verdicts differ in ")
    assert f"{240 - len(some)} cases have a label of one answer only" in found.warnings[0]


def test_the_reason_is_that_of_a_comparison_of_results():
    cases = [[{"id": f"q{at}", "answer": f"{system}: {at}."} for at in range(240)] for system in "ab"]
    before, after = (
        Report.from_results(
            [Judged(at, Case.from_row(row), Judgment("PASS" if said[at] else "FAIL")) for at, row in enumerate(rows)]
        )
        for rows, said in zip(cases, SAID, strict=True)
    )
    chosen = SELECTIONS["the verdict of b is PASS"]
    labels = [{**rows[at], "gold": good[at]} for rows, good in zip(cases, GOOD, strict=True) for at in chosen]
    assert before.compare(after, labels=labels).corrected.reason == corrected(chosen).reason


def test_whole_groups_may_be_labelled():
    """The cases of a group are alike, so those of three of twelve groups may differ much from the others."""
    order = sorted(range(240), key=lambda at: B[at])
    groups = [0] * 240
    for place, at in enumerate(order):
        groups[at] = place // 20
    chosen = [at for at in range(240) if groups[at] < 3]
    assert corrected(chosen, groups).value is not None
    assert corrected(chosen).value is None
    assert corrected(SELECTIONS["the verdicts differ"], groups).value is None


@pytest.mark.slow
def test_labels_of_random_cases_correct():
    refused = sum(corrected(random.Random(seed).sample(range(240), 60)).value is None for seed in range(300))
    assert refused <= 4  # 0.9 are expected at most, by three tests at 0.001
