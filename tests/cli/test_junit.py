"""JUnit XML: what CI servers read."""

import json
from pathlib import Path
from xml.etree import ElementTree

from typer.testing import CliRunner

from jury_adapters import Judgment, Status
from jury_adapters.cli.app import app
from jury_adapters.cli.junit import JUnitReport
from jury_adapters.core.case_files import Place
from jury_adapters.core.gates import GateResult

ROWS = [
    {"id": "good", "question": "q", "answer": "fine"},
    {"id": "bad <&\"'>", "question": "q", "answer": "far too long for this jury \x00\ud800 ]]>"},
    {"id": "nothing", "question": "q"},
]
JURY = "voting: majority\njurors:\n  - {check: length_between, maximum: 10}\n"


def run(folder: Path, *options: str):
    (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (folder / "jury.yaml").write_text("name: brief & polite\n" + JURY)
    jury = [] if "--jury" in options else ["--jury", str(folder / "jury.yaml")]
    arguments = ["judge", str(folder / "cases.jsonl"), *jury, *options]
    return CliRunner().invoke(app, arguments, catch_exceptions=False)


def test_each_case_is_a_test_case(tmp_path):
    assert run(tmp_path, "--junit", str(tmp_path / "report.xml")).exit_code == 0
    suites = ElementTree.parse(tmp_path / "report.xml").getroot()
    (suite,) = suites
    assert suite.attrib | {"time": ""} == {
        "name": "brief & polite", "tests": "3", "failures": "1", "errors": "0", "skipped": "1", "time": "",
    }  # fmt: skip
    good, bad, nothing = suite
    assert [case.get("name") for case in suite] == ["good (line 1)", "bad <&\"'> (line 2)", "nothing (line 3)"]
    assert list(good) == []
    assert bad[0].tag == "failure"
    assert "LengthBetween" in bad[0].text
    assert nothing[0].tag == "skipped"


def test_an_error_is_an_error_and_a_label_without_a_meaning_is_none(tmp_path):
    with JUnitReport(tmp_path / "report.xml", suite="") as report:
        report.add(Place(1, None), Judgment(Status.ERROR, error="timeout", reasoning="no judgment within 1 s"))
        report.add(Place(2, None), Judgment(None, label="KEEP"))
    (suite,) = ElementTree.parse(tmp_path / "report.xml").getroot()
    assert (suite.get("name"), suite.get("errors"), suite.get("tests")) == ("jury", "1", "2")
    assert suite[0][0].get("message") == "no judgment within 1 s"
    assert list(suite[1]) == []


def test_a_report_that_cannot_be_written_is_said_before_anything_is_judged(tmp_path):
    result = run(tmp_path, "--junit", str(tmp_path / "no" / "report.xml"), "--out", str(tmp_path / "out.jsonl"))
    assert result.exit_code == 2
    assert "there is no such folder" in result.output


def test_rows_that_could_not_be_read_are_errors(tmp_path):
    cases = tmp_path / "torn.jsonl"
    cases.write_text('{\n{"id": "good", "answer": "fine"}\n[1]\n')
    (tmp_path / "report.xml").write_text("an old report")
    run(tmp_path)
    result = judged(cases, tmp_path)
    assert result.exit_code == 0
    (suite,) = ElementTree.parse(tmp_path / "report.xml").getroot()
    assert (suite.get("tests"), suite.get("errors"), suite.get("failures")) == ("3", "2", "0")
    assert sorted(case.get("name") for case in suite) == ["good (line 2)", "line 1", "line 3"]
    (first,) = suite[0]
    assert first.tag == "error"
    assert first.get("message").startswith("not read: not JSON")


def test_a_file_without_a_case_is_a_report_of_errors_and_a_missing_one_is_none(tmp_path):
    cases = tmp_path / "other.jsonl"
    cases.write_text('{"Frage": "?"}\n' * 60)
    run(tmp_path)
    assert judged(cases, tmp_path).exit_code == 2
    (suite,) = ElementTree.parse(tmp_path / "report.xml").getroot()
    assert (suite.get("tests"), suite.get("errors")) == ("60", "60")
    (tmp_path / "report.xml").unlink()
    assert judged(tmp_path / "missing.jsonl", tmp_path).exit_code == 2
    assert not (tmp_path / "report.xml").exists()
    (tmp_path / "report.xml").write_text("an old report")
    assert judged(tmp_path / "missing.jsonl", tmp_path).exit_code == 2
    assert (tmp_path / "report.xml").read_text() == "an old report"


def judged(cases: Path, folder: Path):
    options = ["--jury", str(folder / "jury.yaml"), "--junit", str(folder / "report.xml")]
    return CliRunner().invoke(app, ["judge", str(cases), *options], catch_exceptions=False)


def test_the_help_says_that_an_existing_report_is_replaced():
    told = CliRunner().invoke(app, ["judge", "--help"]).output.replace("│", " ")
    assert "Write the verdicts as JUnit XML, for CI servers; an existing file is replaced." in " ".join(told.split())


def test_a_verdict_that_misses_a_gate_is_a_failure_whatever_it_says(tmp_path):
    gates = "gates: {min_votes: 2, passed: true}\n"
    (tmp_path / "gated.yaml").write_text(gates + JURY)
    assert run(tmp_path, "--junit", str(tmp_path / "report.xml"), "--jury", str(tmp_path / "gated.yaml")).exit_code == 1
    (suite,) = ElementTree.parse(tmp_path / "report.xml").getroot()
    assert (suite.get("failures"), suite.get("skipped")) == ("3", "0")
    assert [case[0].tag for case in suite] == ["failure"] * 3
    assert suite[0][0].get("message") == "gate missed: min_votes=2: found 1"
    assert suite[0][0].text.startswith("gate missed: min_votes=2: found 1\nPASS")
    assert suite[2][0].get("message") == (
        "gate missed: passed=True: found ABSTAIN (no juror voted: there is no answer to check); "
        "gate missed: min_votes=2: found 0"
    )


def test_an_error_stays_an_error_and_names_the_gates(tmp_path):
    missed = GateResult("passed", "failed", "passed=True: found ERROR")
    with JUnitReport(tmp_path / "report.xml", suite="") as report:
        report.add(Place(1, None), Judgment(Status.ERROR, error="timeout"), [missed])
        report.add(Place(2, None), Judgment(None, label="KEEP"), [missed])
    (suite,) = ElementTree.parse(tmp_path / "report.xml").getroot()
    assert [case[0].tag for case in suite] == ["error", "failure"]
    assert "gate missed: passed=True: found ERROR" in suite[0][0].text
