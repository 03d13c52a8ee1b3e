"""Coverage of tests: reports as the tools write them, and baselines that mean what they say."""

import json
from pathlib import Path

import pytest

from jury_adapters import ConfigurationError
from jury_adapters.checks import Command, Coverage
from jury_adapters.workspace.coverage import counts_in

PY_JSON = json.dumps(
    {"totals": {"covered_lines": 80, "num_statements": 100, "covered_branches": 6, "num_branches": 12}}
)
PY_XML = """<?xml version="1.0" ?>
<!DOCTYPE coverage SYSTEM "http://cobertura.sourceforge.net/xml/coverage-04.dtd">
<coverage version="7.6" lines-valid="100" lines-covered="80" line-rate="0.8" branches-covered="6" branches-valid="12">
<packages/></coverage>"""
JACOCO = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<!DOCTYPE report PUBLIC "-//JACOCO//DTD Report 1.1//EN" "report.dtd">
<report name="x"><package name="p"><counter type="LINE" missed="9" covered="1"/></package>
<counter type="INSTRUCTION" missed="5" covered="5"/><counter type="BRANCH" missed="6" covered="6"/>
<counter type="LINE" missed="20" covered="80"/></report>"""


def test_reports_of_every_format_are_counted() -> None:
    assert [(counts_in(text, "line"), counts_in(text, "branch")) for text in (PY_JSON, PY_XML, JACOCO)] == [
        ((80, 100), (6, 12))
    ] * 3
    assert (
        counts_in(json.dumps({"totals": {"covered_lines": 1, "num_statements": 2}}), "branch"),
        counts_in("<report/>", "line"),
        counts_in("<coverage/>", "branch"),
    ) == ((0, 0), (0, 0), (0, 0))


BAD = [
    "", "text", "{", "[]", "{}", '{"totals": {}}', '{"totals": 3}',
    '{"totals": {"covered_lines": "x", "num_statements": 1}}',
    '{"totals": {"covered_lines": 5, "num_statements": 1}}', '{"totals": {"covered_lines": true, "num_statements": 1}}',
    '{"totals": {"covered_lines": 1.5, "num_statements": 2}}', '{"totals": {"covered_lines": -1, "num_statements": 1}}',
    "<other/>", "<report>", '<report><counter type="LINE" covered="x" missed="1"/></report>',
    '<report><counter type="LINE" covered="1"/></report>', '<coverage lines-covered="-5" lines-valid="10"/>',
    '<!DOCTYPE a [<!ENTITY b "c">]><report/>', "{" * 100_000, "<a>" * 10_000,
]  # fmt: skip


def test_a_report_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    for text in BAD:
        (tmp_path / "coverage.json").write_text(text)
        judgment = Coverage(50).judge(workspace=tmp_path)
        assert judgment.status == "ERROR", text[:40]
        assert judgment.error.startswith("the coverage report 'coverage.json' cannot be read: ")


# The coverage is 80 % of lines and 50 % of branches.
VERDICTS = [
    ({"baseline": 80}, "PASS"), ({"baseline": 80.1}, "FAIL"), ({"baseline": 0}, "PASS"),
    ({"baseline": 81, "min_gain": -1}, "PASS"), ({"baseline": 81.1, "min_gain": -1}, "FAIL"),
    ({"baseline": 75, "min_gain": 5}, "PASS"), ({"baseline": 75.1, "min_gain": 5}, "FAIL"),
    ({"baseline": 50, "metric": "branch"}, "PASS"), ({"baseline": 51, "metric": "branch"}, "FAIL"),
    ({"baseline": 80, "report": "coverage.json"}, "PASS"), ({"baseline": 80, "report": "other.xml"}, "ABSTAIN"),
]  # fmt: skip


def test_coverage_is_compared_with_the_baseline(tmp_path: Path) -> None:
    (tmp_path / "coverage.json").write_text(PY_JSON)
    for options, status in VERDICTS:
        judgment = Coverage(**options).judge(workspace=tmp_path)
        assert judgment.status == status, options
        if status != "ABSTAIN":
            before = options.pop("baseline")
            same = Coverage(**options).judge(workspace=tmp_path, metadata={"coverage_baseline": before})
            assert (same.status, same.reasoning) == (status, judgment.reasoning)
    assert judgment.reasoning == "there is no coverage report at other.xml"
    (tmp_path / "coverage.json").write_text('{"totals": {"covered_lines": 3, "num_statements": 3}}')
    assert Coverage(98, min_gain=5).judge(workspace=tmp_path).passed
    (tmp_path / "coverage.json").write_text('{"totals": {"covered_lines": 0, "num_statements": 0}}')
    assert Coverage(98).judge(workspace=tmp_path).status == "ABSTAIN"


def test_reports_are_found_where_tools_write_them_and_nowhere_else(tmp_path: Path) -> None:
    jacoco = tmp_path / "target" / "site" / "jacoco" / "jacoco.xml"
    jacoco.parent.mkdir(parents=True)
    jacoco.write_text(JACOCO)
    assert Coverage(80).judge(workspace=tmp_path).metadata["report"] == "target/site/jacoco/jacoco.xml"
    (tmp_path / "outside.json").write_text(PY_JSON)
    work = tmp_path / "work"
    work.mkdir()
    (work / "coverage.json").symlink_to(tmp_path / "outside.json")
    assert (Coverage(80).judge(workspace=work).status, Coverage(80).judge(answer="x").status) == ("ABSTAIN", "ABSTAIN")


def test_a_baseline_that_may_be_a_fraction_is_no_baseline(tmp_path: Path) -> None:
    """0.8 as percent would let every coverage pass."""
    (tmp_path / "coverage.json").write_text(PY_JSON)
    for baseline in (0.8, 1, "80", "80 %", True, -1, 101, [80], {"line": 80}):
        judgment = Coverage().judge(workspace=tmp_path, metadata={"coverage_baseline": baseline})
        assert judgment.status == "ABSTAIN", baseline
        assert "is a percentage from 0 to 100, above 1, not" in judgment.reasoning
    assert Coverage().judge(workspace=tmp_path).reasoning.startswith("there is no baseline")
    for options in ({"baseline": 0.8}, {"baseline": 1}, {"baseline": -1}, {"baseline": 101}, {"baseline": "80"},
                    {"min_gain": float("nan")}, {"min_gain": 101}, {"metric": "x"}, {"report": "../x"}):  # fmt: skip
        with pytest.raises(ConfigurationError):
            Coverage(**options)


def test_a_command_of_ones_own_writes_the_report_that_counts(tmp_path: Path) -> None:
    (tmp_path / "coverage.json").write_text(PY_JSON.replace("80", "100"))  # by the agent
    jury = Command(["sh", "-c", f"echo '{PY_JSON}' > coverage.json"]) & Coverage(90)
    assert jury.judge(workspace=tmp_path).status == "FAIL"
