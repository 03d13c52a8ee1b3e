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


def summaries(prefix, answer, texts=40):
    return Report.from_results(
        Judged(at, Case(contexts=[f"minutes {at}"], answer=answer, metadata={"id": f"{prefix}{at}"}), Judgment("PASS"))
        for at in range(texts)
    )


def test_contexts_of_cases_without_a_question_are_counted_too():
    compared = summaries("may ", "short").compare(summaries("june ", "long", texts=30))
    assert not compared.paired
    assert compared.warnings == (
        "the contexts of 30 cases without a question are in both runs under different ids, so their cases are not "
        "compared as pairs; give both answers to the same contexts the same id.",
    )
    assert not summaries("may ", "short").compare(summaries("may ", "long")).warnings


@pytest.mark.parametrize("asked", ["once", "twice"])
def test_runs_of_the_same_questions_are_not_said_to_have_no_common_case(asked, tmp_path):
    """Without ids, results whose texts are not known show neither the questions nor equal answers."""
    questions = [f"{at // 2 if asked == 'twice' else at}?" for at in range(12)]
    for answer in ("one", "two"):
        judged = [(Case(question=question, answer=answer), Judgment("PASS", critic="tone")) for question in questions]
        Report.from_results(judged).write_results(
            tmp_path / f"{answer}.jsonl", cases=tmp_path / f"{answer}.cases.jsonl"
        )
    found = [Report.read(tmp_path / f"{name}.jsonl") for name in ("one", "two")]
    if asked == "twice":
        found = [
            Report.read(tmp_path / f"{name}.jsonl", cases=tmp_path / f"{name}.cases.jsonl") for name in ("one", "two")
        ]
    text = str(found[0].compare(found[1]))
    assert "No case is in both runs" not in text
    why = "questions repeat" if asked == "twice" else "not every question is known"
    assert (
        f"Cases cannot be paired: {why}, not every case has an id, and no case has equal content in both runs." in text
    )


def test_other_questions_without_ids_are_other_cases():
    runs = [
        Report.from_results([(Case(question=f"{name} {at // 2}?", answer="x"), Judgment("PASS")) for at in range(12)])
        for name in ("may", "june")
    ]
    assert "No case is in both runs" in str(runs[0].compare(runs[1]))
