"""Runs of the application that failed: in the rate of all cases, and named beside rates that leave them out."""

import io

import pytest
from rich.console import Console

from jury_adapters import Case, Ensemble, Report, Scorecard, judge
from jury_adapters.core.return_values import is_failed_run, run_failed
from jury_adapters.core.scorecard import verdict_of_criteria
from jury_adapters.core.serial import judgment_from_dict, to_dict
from jury_adapters.report.terminal import print_summary

CARD = Scorecard({"digits": lambda case: case.answer.isdigit(), "brief": lambda case: len(case.answer) < 9}, name="q")
NOTE = "1 run of the application failed"


def results(jury):
    return [
        *((Case(question=text, answer=text), jury.judge(answer=text)) for text in ("24", "12")),
        (Case(question="c"), run_failed(jury, "RuntimeError: boom")),
    ]


def printed(report):
    console = Console(file=io.StringIO(), width=120)
    print_summary(console, report.figures.summary)
    return console.file.getvalue()


def test_rates_of_criteria_name_the_runs_that_no_criterion_judged(tmp_path):
    report = Report.from_results(results(CARD))
    summary = report.figures.summary
    assert (summary.passed, summary.decided, summary.failed_runs) == (2, 3, 1)
    assert [one["votes"] for one in summary.to_dict()["criteria"]] == [{"PASS": 2}, {"PASS": 2}]
    assert summary.to_dict()["failed_runs"] == 1
    assert str(summary) == f"3 cases: 2 of 3 decided passed (66.7 %), {NOTE}"
    headline, _, tables = report.to_markdown().partition("| criterion")
    assert f"1 failed · {NOTE}" in headline
    assert f"{NOTE}: FAIL in the rate of all cases" in tables
    assert f"1 ({NOTE}: not judged)" in printed(report)
    assert f"Criteria ({NOTE}: in no rate below)" in " ".join(printed(report).split())
    report.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert f"{NOTE}, and counts in the rate of all cases as FAIL, but in no rate of this table" in page
    assert "Of these, runs of the application that failed" in page


def test_a_report_without_failed_runs_says_nothing_of_them(tmp_path):
    report = Report.from_results(results(CARD)[:2])
    report.to_html(tmp_path / "page.html")
    for text in (report.to_markdown(), printed(report), (tmp_path / "page.html").read_text()):
        assert "of the application" not in text


def test_a_failed_run_is_no_vote_of_several_evaluators():
    first, second = judge(name="first")(lambda case: True), Ensemble({"a": lambda case: True}, name="second")
    judged = verdict_of_criteria({"first": first.judge(answer="24"), "second": second.judge(answer="24")})
    failed = verdict_of_criteria({one.name: run_failed(one, "boom") for one in (first, second)})
    summary = Report.from_results([(Case(answer="24"), judged), (Case(question="c"), failed)]).figures.summary
    assert (summary.passed, summary.decided, summary.failed_runs) == (1, 2, 1)
    assert {path[-1]: dict(one.votes) for path, one in summary.by_criterion.items()} == {
        "first": {"PASS": 1}, "second": {"PASS": 1},
    }  # fmt: skip
    assert {path[-1]: dict(one.votes) for path, one in summary.jurors.items()} == {
        "first": {"PASS": 1}, "a": {"PASS": 1},
    }  # fmt: skip


@pytest.mark.parametrize("jury", [CARD, Ensemble([lambda case: True]), judge(lambda case: True)], ids=type)
def test_a_failed_run_is_known_as_such_from_a_file(jury):
    failed = run_failed(jury, "boom")
    assert is_failed_run(failed)
    assert is_failed_run(judgment_from_dict(to_dict(failed)))
    assert not is_failed_run(jury.judge(answer="24"))
