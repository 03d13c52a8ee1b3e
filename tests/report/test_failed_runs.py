"""Runs of the application that failed: in the rate of all cases, and named beside rates that leave them out."""

import io

import pytest
from rich.console import Console
from typer.testing import CliRunner

from jury_adapters import Case, Ensemble, Report, Scorecard, judge
from jury_adapters.calibration import Votes
from jury_adapters.cli.app import app
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


@pytest.mark.slow
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


def compared(first, second):
    return Report.from_results(first, title="one").compare(Report.from_results(second, title="two"))


def pairs(jury, texts, failed=()):
    cases = [Case(question=f"q{i}", answer=text, item_id=str(i)) for i, text in enumerate(texts)]
    return [(c, run_failed(jury, "boom") if i in failed else jury.judge(c)) for i, c in enumerate(cases)]


PANEL = Ensemble({"a": lambda case: "no" not in case.answer, "b": lambda case: "no" not in case.answer}, name="panel")


def test_a_comparison_names_the_runs_that_failed_and_gives_the_rates_without_them():
    texts = ["yes"] * 6 + ["no"] * 2
    found = compared(pairs(PANEL, texts), pairs(PANEL, texts, failed=[0, 1]))
    (warning,) = [one for one in found.remarks if "the application failed" in one]
    assert warning == (
        "Warning: the application failed in 2 runs of b, which count as FAIL although no juror judged them. "
        "Without them, a passes 66.7 % and b 66.7 % of the 6 cases decided in both."
    )
    assert {flip.why for flip in found.flips} == {"b: the run failed: boom"}
    assert {change.juror for flip in found.flips for change in flip.changes} == {"a", "b"}
    assert warning in str(found)
    back = compared(pairs(PANEL, texts, failed=[0, 1]), pairs(PANEL, texts))
    assert {flip.why for flip in back.flips} == {"a: the run failed: boom"}
    assert not any(
        "the application failed" in one for one in compared(pairs(PANEL, texts), pairs(PANEL, texts)).remarks
    )


def test_failed_runs_of_cases_that_are_left_out_are_not_said_to_count():
    texts = ["yes"] * 6 + ["no"] * 2
    found = compared(pairs(PANEL, texts, failed=[1, 7]), pairs(PANEL, texts[:6]))
    (warning,) = [one for one in found.remarks if "the application failed" in one]
    assert warning.startswith("Warning: the application failed in 1 run of a, which count")
    assert not any(
        "failed in" in one for one in compared(pairs(PANEL, texts, failed=[7]), pairs(PANEL, texts[:6])).remarks
    )
    others = [(case.model_copy(update={"metadata": {"id": "x"}}), verdict) for case, verdict in pairs(PANEL, ["no"])]
    apart = compared(pairs(PANEL, texts, failed=[1, 7]), others)
    assert any("the application failed in 2 runs of a" in one for one in apart.remarks)


def labelled(verdicts):
    return [
        (Case(**{**dict(case), "metadata": {**case.metadata, "gold": gold}}), judgment)
        for (case, judgment), gold in verdicts
    ]


def test_a_failed_run_is_not_a_right_fail_of_the_jury():
    yes = Ensemble({"a": lambda case: True, "b": lambda case: True}, name="yes")
    judged = pairs(yes, [f"answer {i}" for i in range(20)])
    failed = pairs(yes, [f"none {i}" for i in range(8)], failed=range(8))
    failed = [(Case(question=case.question, item_id=f"f{case.item_id}"), judgment) for case, judgment in failed]
    results = labelled([*zip(judged, ["PASS", "FAIL"] * 10, strict=True), *((one, "FAIL") for one in failed)])
    against = Report.from_results(results).figures.summary.label_comparison
    assert (against.cases, against.failed_runs) == (20, 8)
    assert against.jury.accuracy.share == 0.5
    assert (against.jury.false_passes.hits, against.jury.false_passes.n) == (10, 10)
    assert any(
        "8 labelled cases are left out because the run of the application failed" in one for one in against.notes
    )
    votes = Votes.from_results(results)
    assert (len(votes.items), votes.jurors) == (20, ("a", "b"))


def test_a_reviewer_is_not_asked_about_a_run_that_failed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Report.from_results(results(CARD)).write_results("r.jsonl", cases="cases.jsonl")
    said = CliRunner().invoke(app, ["review", "r.jsonl", "--only", "all", "--by", "ann"], input="pass\npass\npass\n")
    assert f"{NOTE} and left nothing to label" in said.output
    assert "2 cases labelled by ann now" in said.output
