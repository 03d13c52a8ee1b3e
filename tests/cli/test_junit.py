"""JUnit XML: what CI servers read."""

import json
from pathlib import Path
from xml.etree import ElementTree

from typer.testing import CliRunner

from jury_adapters import Judgment, Status
from jury_adapters.cli.app import app
from jury_adapters.cli.casefile import Place
from jury_adapters.cli.junit import JUnitReport

ROWS = [
    {"id": "good", "question": "q", "answer": "fine"},
    {"id": "bad <&\"'>", "question": "q", "answer": "far too long for this jury \x00\ud800 ]]>"},
    {"id": "nothing", "question": "q"},
]
JURY = "voting: majority\njurors:\n  - {check: length_between, maximum: 10}\n"


def run(folder: Path, *options: str):
    (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (folder / "jury.yaml").write_text("name: brief & polite\n" + JURY)
    arguments = ["judge", str(folder / "cases.jsonl"), "--jury", str(folder / "jury.yaml"), *options]
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
    assert "No such file or directory" in result.output
