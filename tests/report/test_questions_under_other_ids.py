"""Comparisons of runs that give one question different ids."""

import pytest

from jury_adapters import Case, Judgment
from jury_adapters.core.batch import Judged
from jury_adapters.report import Report


def report(*cases):
    """Return a report of cases, each given by its id and its question."""
    return Report.from_results(
        Judged(at, Case(question=question, answer="x", metadata={"id": name}), Judgment("PASS"))
        for at, (name, question) in enumerate(cases)
    )


def test_questions_under_other_ids_are_counted_first():
    """The pairs that are left are a selection, such as the cases whose labels did not change."""
    compared = report(*[(f"v1-{at}" if at < 11 else f"{at}", f"question {at}") for at in range(30)]).compare(
        report(*[(f"v2-{at}" if at < 11 else f"{at}", f"question {at}") for at in range(30)])
    )
    assert (compared.paired, compared.only_before, compared.only_after) == (19, 11, 11)
    assert str(compared).splitlines()[2] == (
        "Warning: 11 questions are in both runs under different ids, so their cases are left out; give both answers "
        "to a question the same id."
    )


def test_one_question_under_another_id_beside_pairs():
    compared = report(("1", "When?"), ("2", "Where?")).compare(report(("1", "When?"), ("II", "Where?")))
    assert compared.warnings[0].startswith("1 question is in both runs under different ids, so their cases are left")


def test_independent_samples_of_the_same_questions_say_so():
    compared = report(("1", "When?"), ("2", "Where?")).compare(report(("I", "When?"), ("II", "Where?")))
    assert not compared.paired
    assert compared.warnings == (
        "2 questions are in both runs under different ids, so their cases are not compared as pairs; give both answers "
        "to a question the same id.",
    )


@pytest.mark.parametrize(
    "other",
    [
        pytest.param([("1", "When?"), ("2", "Where?"), ("3", "Who?")], id="the same ids"),
        pytest.param([("1", "When?"), ("4", "How?"), ("5", "Why?")], id="other questions"),
        pytest.param([("1", "When?"), ("4", "When?"), ("5", "When?")], id="a question that is asked of every document"),
    ],
)
def test_nothing_is_said_of_other_cases(other):
    assert not report(("1", "When?"), ("2", "Where?"), ("3", "Who?")).compare(report(*other)).warnings
