"""Scorecards inside a scorecard, such as that of one of several evaluators: their criteria are in every report."""

import json

import pytest

from jury_adapters import CascadedJury, Case, Ensemble, Judge, Scorecard, Tier, abstain
from jury_adapters.report import Report
from jury_adapters.report.counters import CriterionCount
from jury_adapters.report.juror_counts import with_criterion


def judge(name, said):
    """A judge that says P, F or A of the cases in their order, by the number in the question."""
    values = {"P": True, "F": False}
    return Judge.from_function(
        lambda case: values.get(said[int(case.question)], abstain("nothing to compare with")), name=name
    )


def panel(*said):
    return Ensemble({f"j{number}": judge(f"j{number}", one) for number, one in enumerate(said)})


def report_of(jury, cases):
    rows = [Case(question=str(number), answer="x", metadata={"id": f"q{number}"}) for number in range(cases)]
    return Report.from_results([(case, jury.judge(case)) for case in rows])


def desk(**criteria):
    return Scorecard({"desk": Scorecard(criteria), "calls": judge("calls", "PAA")})


def test_each_criterion_of_the_inner_scorecard_has_a_row_under_its_scorecard(tmp_path):
    report = report_of(desk(grounded=judge("g", "PFP"), brief=judge("b", "PPF")), 3)
    rows = {path: (count.votes["PASS"], count.pass_rate) for path, count in report.figures.summary.by_criterion.items()}
    assert list(rows) == [("desk",), ("desk", "grounded"), ("desk", "brief"), ("calls",)]
    assert rows["desk", "grounded"] == (2, pytest.approx(2 / 3))
    assert "| `desk / brief` | 66.7 % | 2 | 1 | 0 | 0 |" in report.to_markdown()
    assert "desk / grounded" in report.to_html()
    assert {"criterion:desk", "criterion:grounded", "criterion:brief", "criterion:calls"} <= report.to_rows()[0].keys()
    report.write_results(tmp_path / "r.jsonl")
    read = Report.read(tmp_path / "r.jsonl").figures.summary.to_dict()["criteria"]
    assert [(*one["in"], one["criterion"]) for one in read] == list(rows)
    assert json.dumps(read)


def test_scorecards_at_any_depth_and_in_tiers_are_found():
    inner = Scorecard({"a": judge("a", "P"), "deep": Scorecard({"b": judge("b", "F")})})
    jury = Scorecard({"outer": CascadedJury([Tier("t", inner)]), "c": judge("c", "P")})
    assert list(report_of(jury, 1).figures.summary.by_criterion) == [
        ("outer",), ("outer", "t", "a"), ("outer", "t", "deep"), ("outer", "t", "deep", "b"), ("c",),
    ]  # fmt: skip


def test_a_criterion_that_comes_later_stands_with_its_scorecard():
    criteria: dict[tuple[str, ...], CriterionCount] = {}
    for path in (("a",), ("b",), ("a", "x"), ("b", "t", "y"), ("a", "z"), ("c",), ("a", "x")):
        criteria = with_criterion(criteria, path)
    assert list(criteria) == [("a",), ("a", "x"), ("a", "z"), ("b",), ("b", "t", "y"), ("c",)]


def why(jury, cases=3):
    return {one.where: one.why for one in report_of(jury, cases).figures.summary.look_first.cases()}


def test_the_reason_for_review_names_what_left_the_case_undecided():
    reasons = why(desk(grounded=judge("g", "PPP"), correct=panel("PFP", "PPP", "PPP")))
    assert reasons["q1"] == "calls: ABSTAIN; desk (PASS): correct: FAIL: j0; PASS: j1, j2"


def test_the_reason_for_review_says_of_a_doubtful_criterion_how_it_was_decided():
    reasons = why(Scorecard({"correct": panel("PP", "PP", "FF"), "brief": judge("brief", "FP")}), 2)
    assert reasons["q0"] == "correct (PASS): PASS: j0, j1; FAIL: j2"
    assert reasons["q1"] == "correct: PASS: j0, j1; FAIL: j2"


def test_without_a_doubt_the_reason_is_that_of_the_scorecard():
    assert why(desk(grounded=judge("g", "PPP")))["q1"] == "ABSTAIN: calls (nothing to compare with); PASS: desk"
