"""Recorded runs of the application that failed: `jury judge` counts them, and `jury replay` keeps them FAIL."""

import json

import pytest
from typer.testing import CliRunner

from jury_adapters import Case, Ensemble, Report
from jury_adapters.checks import NotEmpty
from jury_adapters.cli.app import app
from jury_adapters.core.return_values import run_failed

DOCUMENT = "The ferry stopped running in 2018."
ROWS = [
    {"id": "good", "run_type": "chain", "inputs": {"question": "When?"},
     "outputs": {"answer": DOCUMENT, "context": [DOCUMENT]}, "error": None},
    {"id": "failed", "run_type": "chain", "inputs": {"question": "When?"}, "outputs": None,
     "error": "KeyError('CL-9')"},
]  # fmt: skip


def jury(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)], catch_exceptions=False)


@pytest.fixture
def recorded(tmp_path):
    path = tmp_path / "recorded.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def test_a_recorded_run_that_failed_is_counted_and_its_error_is_named(recorded, tmp_path):
    judged = jury("judge", recorded, "--json", "--out", tmp_path / "results.jsonl", "--junit", tmp_path / "junit.xml")
    assert judged.exit_code == 0, judged.output
    summary = json.loads(judged.stdout)
    assert (summary["cases"], summary["passed"], summary["failed"], summary["failed_runs"]) == (2, 1, 1, 1)
    last = json.loads((tmp_path / "results.jsonl").read_text().splitlines()[-1])
    assert (last["item_id"], last["verdict"]["status"]) == ("failed", "FAIL")
    assert last["verdict"]["reasoning"] == "the run failed: KeyError('CL-9')"
    assert "the run failed: KeyError(" in (tmp_path / "junit.xml").read_text()
    assert "1 run of the application failed: not judged" in jury("report", tmp_path / "results.jsonl").output
    assert jury("judge", recorded, "--fail-under", "0.6").exit_code == 1


def test_a_file_of_failed_runs_needs_no_answer(tmp_path):
    path = tmp_path / "failed.jsonl"
    path.write_text(json.dumps(ROWS[1]) + "\n")
    judged = jury("judge", path, "--map", "answer=outputs.reply")
    assert judged.exit_code == 0
    assert "1 run of the application failed" in judged.output
    assert "no row has an answer" not in judged.output


JURIES = {
    "with a check of the text": "name: one\njurors: {screen: {check: not_empty}, facts: {check: names_and_numbers}}\n",
    "without": "name: two\njurors: {facts: {check: names_and_numbers}}\n",
    "recorded": "name: three\njurors: {empty: {recorded: NotEmpty}}\n",
}


@pytest.mark.parametrize("text", JURIES.values(), ids=JURIES)
@pytest.mark.parametrize("live", [True, False], ids=["live", "recorded"])
def test_replay_keeps_a_failed_run_whatever_the_jury(text, live, recorded, tmp_path):
    results, yaml = tmp_path / "results.jsonl", tmp_path / "jury.yaml"
    if live:
        panel = Ensemble([NotEmpty()], name="panel")
        good, failed = (Case.from_row({**row, "error": None}) for row in ROWS)
        partial = Case(question="What?", answer="It is")  # what the run had written when it failed
        boom = [(case, run_failed(panel, "boom")) for case in (failed, partial)]
        Report.from_results([(good, panel.judge(good)), *boom]).write_results(results, cases=tmp_path / "cases.jsonl")
    else:
        yaml.write_text("name: panel\njurors: [{check: not_empty}]\n")
        assert jury("judge", recorded, "--jury", yaml, "--out", results).exit_code == 0
    yaml.write_text(text)
    told = jury("replay", results, "--jury", yaml, "--json")
    assert told.exit_code == 0, told.output
    (figures,) = json.loads(told.stdout)
    expected = 2 if live else 1
    assert figures["cases"] - figures["failed_runs"] == 1
    assert figures["failed_runs"] == expected
    assert figures["decided"] - figures["passed"] == expected
    assert "abstained" not in told.stderr
    printed = jury("replay", results, "--jury", yaml).output
    assert "of the application failed: FAIL in the rate of every jury, and judged by no juror" in printed


def test_replay_needs_no_texts_of_a_failed_run(recorded, tmp_path):
    results, yaml = tmp_path / "results.jsonl", tmp_path / "jury.yaml"
    yaml.write_text("name: panel\njurors: [{check: not_empty}]\n")
    recorded.write_text(json.dumps(ROWS[1]) + "\n" + json.dumps(ROWS[0]) + "\n")
    assert jury("judge", recorded, "--jury", yaml, "--out", results).exit_code == 0
    recorded.write_text(json.dumps(ROWS[0]) + "\n")
    told = jury("replay", results, "--jury", yaml, "--json")
    assert told.exit_code == 0, told.output
    assert json.loads(told.stdout)[0]["failed_runs"] == 1


def test_replay_warns_that_broken_votes_leave_only_the_failed_runs(tmp_path):
    def down(case):
        raise ConnectionError("no line")

    results, yaml = tmp_path / "results.jsonl", tmp_path / "jury.yaml"
    panel = Ensemble([down])
    cases = [Case(question=str(number), answer="It stopped.") for number in range(5)]
    judged = [
        (case, panel.judge(case) if number < 3 else run_failed(panel, "503")) for number, case in enumerate(cases)
    ]
    Report.from_results(judged).write_results(results, cases=tmp_path / "cases.jsonl")
    yaml.write_text("name: replayed\njurors: {down: {recorded: down}}\n")
    printed = " ".join(jury("replay", results, "--jury", yaml).output.split())
    warning = (
        "3 of 5 cases could not be decided because a judge broke. The 2 failed runs of the application count as FAIL "
        "without a judge, so the pass rate is probably too low: it would be 60.0 % if the 3 cases had passed."
    )
    assert f"Warning: of replayed, {warning}" in printed
    (figures,) = json.loads(jury("replay", results, "--jury", yaml, "--json").stdout)
    assert figures["pass_rate_warning"] == warning
