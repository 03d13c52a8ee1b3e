"""A FAIL that only broken jurors caused is no statement about the answer, and is in no pass rate."""

import json

import pytest
from support.vendor import Act, VendorServer
from typer.testing import CliRunner

from jury_adapters import Case, Ensemble, Scorecard
from jury_adapters.cli.app import app
from jury_adapters.report import Report
from jury_adapters.report.summary import Summary


def sound(case):
    return case.answer != "wrong"


def broken(case):
    raise ConnectionError("down")


JURY = Ensemble([sound, broken])
CASES = [Case(answer="right"), Case(answer="wrong")]


def test_the_verdict_says_so():
    by_outage, by_vote = JURY.judge_many(CASES)
    assert (by_outage.status, by_outage.failed_by_errors, by_outage.needs_review) == ("FAIL", True, True)
    assert (by_vote.status, by_vote.failed_by_errors) == ("FAIL", False)


def test_a_scorecard_says_so_when_all_its_failures_are_such():
    card = Scorecard({"sound": JURY, "fine": lambda case: True})
    assert [verdict.failed_by_errors for verdict in card.judge_many(CASES)] == [True, False]


def summary_of(jury):
    summary = Summary()
    for number, verdict in enumerate(jury.judge_many(CASES)):
        summary.add(CASES[number], verdict, str(number))
    return summary


@pytest.mark.slow
def test_summary_and_pages_count_it_apart():
    summary = summary_of(JURY)
    assert (summary.decided, summary.pass_rate, summary.failed_by_errors) == (1, 0.0, 1)
    assert summary.to_dict()["failed"] == 1
    report = Report.from_results(JURY.judge_many(CASES))
    assert "of 1 decided cases passed" in report.to_html()
    assert "Failed only because jurors broke" in report.to_html()
    assert "1 failed only because jurors broke" in report.to_markdown()


def test_the_command_line_counts_it_apart(tmp_path):
    (tmp_path / "rows.jsonl").write_text(json.dumps({"question": "q", "answer": "a", "contexts": ["c"]}))
    with VendorServer(lambda ask: Act(status=400, error={"message": "no"})) as server:
        (tmp_path / "jury.yaml").write_text(
            f"jurors: [{{check: not_empty}}, {{rubric: faithfulness, model: m, base_url: '{server.openai}'}}]"
        )
        result = CliRunner().invoke(
            app, ["judge", str(tmp_path / "rows.jsonl"), "--jury", str(tmp_path / "jury.yaml"), "--json"]
        )
    assert result.stdout, result.stderr
    found = json.loads(result.stdout)
    assert (found["failed"], found["failed_by_errors"], found["pass_rate"]) == (0, 1, None)
