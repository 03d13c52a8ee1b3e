"""The judges of workspace/coverage.py, and the report formats they read."""

import copy
import json
import os
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.judgment import Status
from jury_adapters.workspace.coverage import CoverageImproved, CoverageKept
from jury_adapters.workspace.coverage_reports import USUAL_PLACES, Coverage, read_coverage

PASS, FAIL, ABSTAIN, ERROR = Status.PASS, Status.FAIL, Status.ABSTAIN, Status.ERROR


def totals(covered, total, **more):
    return json.dumps({"meta": {}, "totals": {"covered_lines": covered, "num_statements": total, **more}}).encode()


COBERTURA = b"""<?xml version="1.0" ?>
<!DOCTYPE coverage SYSTEM 'http://cobertura.sourceforge.net/xml/coverage-04.dtd'>
<coverage lines-valid="10" lines-covered="8" line-rate="0.8" branches-covered="1" branches-valid="4"/>"""
PLAIN_COBERTURA = b"""<coverage line-rate="0.5"><packages><package><classes><class><methods><method><lines>
<line number="1" hits="1"/></lines></method></methods><lines><line number="1" hits="3"/><line number="2" hits="0"/>
</lines></class></classes></package></packages></coverage>"""
JACOCO = b"""<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<!DOCTYPE report PUBLIC "-//JACOCO//DTD Report 1.1//EN" "report.dtd"><report name="x">
<package name="p"><counter type="LINE" missed="90" covered="1"/></package>
<counter type="BRANCH" missed="3" covered="1"/><counter type="LINE" missed="2" covered="8"/></report>"""
LCOV = b"""TN:one
SF:a.js
DA:1,1
DA:2,0
BRDA:1,0,0,-
BRDA:1,0,1,2
LF:2
LH:1
end_of_record
TN:two
SF:a.js
DA:1,0
DA:2,5,checksum
end_of_record
SF:b.js
LF:8
LH:6
BRF:2
BRH:0
end_of_record
"""


@pytest.mark.parametrize(
    ("report", "line", "branch"),
    [
        (totals(8, 10, covered_branches=1, num_branches=4, percent_covered=64.3), Coverage(8, 10), Coverage(1, 4)),
        (totals(8, 10), Coverage(8, 10), None),
        (totals(0, 0), None, None),
        (COBERTURA, Coverage(8, 10), Coverage(1, 4)),
        (PLAIN_COBERTURA, Coverage(1, 2), None),
        (JACOCO, Coverage(8, 10), Coverage(1, 4)),
        (b'<report name="x"/>', None, None),
        (LCOV, Coverage(8, 10), Coverage(1, 4)),
        (b"TN:\nend_of_record\n", None, None),
    ],
)
def test_reports_are_counted(report, line, branch):
    assert read_coverage(report, "line") == line
    assert read_coverage(report, "branch") == branch


BAD = [
    b"",
    b"hello",
    b"{",
    b"{}",
    b"[1]",
    b'{"totals": {"covered_lines": true, "num_statements": 2}}',
    totals(3, 2),
    totals(-1, 2),
    totals(1.5, 2),
    b"<html/>",
    b"<coverage",
    b'<coverage lines-valid="many" lines-covered="1"/>',
    b'<coverage lines-valid="2"/>',
    b'<!DOCTYPE coverage [<!ENTITY a "1">]><coverage lines-valid="&a;" lines-covered="1"/>',
    b'<report><counter type="LINE" missed="-3" covered="1"/></report>',
    b"SF:a\nDA:1\n",
    b"SF:a\nLF:x\n",
    b"SF:a\nLF:1\nLH:9\n",
    b"\xff\xfe\x00",
    b'{"totals": ' + b"[" * 100_000,
]


@pytest.mark.parametrize("report", BAD)
def test_what_is_no_report_is_an_error(tmp_path, report):
    with pytest.raises(ValueError):  # noqa: PT011  the wordings are those of many parsers
        read_coverage(report, "line")
    (tmp_path / "r").write_bytes(report)
    judgment = CoverageKept(baseline=50, report="r").judge(workspace=tmp_path)
    assert (judgment.status, judgment.error) == (ERROR, "unreadable_report")


@given(st.binary() | st.text().map(lambda text: b"SF:a\n" + text.encode("utf-8", "replace")))
def test_no_report_breaks_the_reader(report):
    try:
        found = read_coverage(report, "line")
    except ValueError:
        return
    assert found is None or 0 <= found.percent <= 100


def judged(judge, folder, covered, **metadata):
    (folder / "coverage.json").write_bytes(totals(covered, 100))
    return judge.judge(workspace=folder, metadata=metadata)


@pytest.mark.parametrize(
    ("judge", "covered", "status", "score"),
    [
        (CoverageKept(baseline=80), 80, PASS, 1.0),
        (CoverageKept(baseline=80), 90, PASS, 1.0),
        (CoverageKept(baseline=80), 60, FAIL, 0.75),
        (CoverageKept(baseline=80, tolerance=20), 60, PASS, 0.75),
        (CoverageKept(baseline=0), 0, PASS, 1.0),
        (CoverageKept(baseline=40, floor=50), 45, FAIL, 1.0),
        (CoverageImproved(baseline=80), 80, FAIL, 0.0),
        (CoverageImproved(baseline=80), 85, PASS, 0.25),
        (CoverageImproved(baseline=80), 60, FAIL, 0.0),
        (CoverageImproved(baseline=80, by=10), 85, FAIL, 0.25),
        (CoverageImproved(baseline=80, by=10), 90, PASS, 0.5),
        (CoverageImproved(baseline=80, ceiling=85), 86, PASS, 1.0),
        (CoverageImproved(baseline=90, ceiling=85), 88, PASS, 1.0),
        (CoverageImproved(baseline=90, ceiling=85), 84, FAIL, 0.0),
        (CoverageImproved(baseline=100), 100, PASS, 1.0),
        (CoverageImproved(baseline=10, floor=50), 40, FAIL, 1 / 3),
    ],
)
def test_coverage_against_a_baseline(tmp_path, judge, covered, status, score):
    judgment = judged(judge, tmp_path, covered)
    assert (judgment.status, judgment.score) == (status, pytest.approx(score))
    assert judgment.metadata == {"baseline": judge.baseline, "coverage": covered, "report": "coverage.json"}


def test_the_reasons_say_what_was_asked_for(tmp_path):
    assert judged(CoverageKept(baseline=80, floor=70), tmp_path, 60).reasoning == (
        "line coverage was 80.00 % and is 60.00 %; not at least 80.00 %; not at least 70 %"
    )
    assert judged(CoverageImproved(baseline=80, by=5), tmp_path, 81).reasoning.endswith("not 5 points more, or 100 %")


@pytest.mark.parametrize("baseline", [80, 80.0, "80", "80 %", {"line": 80, "branch": 10}])
def test_the_baseline_may_come_with_the_case(tmp_path, baseline):
    assert judged(CoverageKept(), tmp_path, 80, coverage_baseline=baseline).status is PASS
    assert judged(CoverageKept(), tmp_path, 79, coverage_baseline=baseline).status is FAIL


@pytest.mark.parametrize("baseline", [None, "high", True, 101, -1, [80], {"branch": 80}, "nan"])
@pytest.mark.parametrize("kind", [CoverageKept, CoverageImproved])
def test_without_a_usable_baseline_it_abstains(tmp_path, kind, baseline):
    judgment = judged(kind(), tmp_path, 80, coverage_baseline=baseline)
    assert judgment.status is ABSTAIN
    assert "baseline" in judgment.reasoning


@pytest.mark.parametrize("judge", [CoverageKept(baseline=80), CoverageImproved(baseline=80)])
def test_without_a_report_or_a_workspace_it_abstains(tmp_path, judge):
    assert judge.judge(question="?").reasoning == "there is no workspace"
    assert judge.judge(workspace="/no/such").status is ABSTAIN
    assert "no coverage report in any usual place" in judge.judge(workspace=tmp_path).reasoning
    (tmp_path / "coverage.json").write_bytes(totals(0, 0))
    assert "counts no line coverage" in judge.judge(workspace=tmp_path).reasoning


@pytest.mark.parametrize("place", USUAL_PLACES)
def test_reports_are_found_where_the_tools_write_them(tmp_path, place):
    (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / place).write_bytes(LCOV)
    assert CoverageKept(baseline=80).judge(workspace=tmp_path).metadata["report"] == place


def test_reports_that_lead_out_hang_or_never_end_are_not_read(tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "coverage.json").write_bytes(totals(100, 100))
    (work / "coverage.json").symlink_to("../coverage.json")
    os.mkfifo(work / "coverage.xml")
    assert CoverageKept(baseline=80).judge(workspace=work).status is ABSTAIN
    with (work / "lcov.info").open("wb") as file:
        file.truncate(1 << 40)
    judgment = CoverageKept(baseline=80).judge(workspace=work)
    assert (judgment.status, judgment.error) == (ERROR, "unreadable_report")


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: CoverageKept(baseline=101), "baseline is a percentage"),
        (lambda: CoverageKept(tolerance=-1), "tolerance is a percentage"),
        (lambda: CoverageKept(baseline=0.8), "baseline=0.8: percent or fraction.*write baseline=80"),
        (lambda: CoverageKept(baseline=1), "percent or fraction"),
        (lambda: CoverageKept(floor=0.5), "floor=0.5: percent or fraction"),
        (lambda: CoverageImproved(ceiling=0.9), "ceiling=0.9: percent or fraction"),
        (lambda: CoverageKept(floor=True), "floor is a percentage"),
        (lambda: CoverageKept(metric="lines"), "Did you mean 'line'"),
        (lambda: CoverageKept(report="../x"), "leads out"),
        (lambda: CoverageKept(max_bytes=0), "max_bytes"),
        (lambda: CoverageImproved(by=float("nan")), "by is a percentage"),
        (lambda: CoverageImproved(floor=90, ceiling=80), "above the ceiling"),
    ],
)
def test_wrong_construction_is_said_at_once(make, says):
    with pytest.raises(ConfigurationError, match=says):
        make()


@pytest.mark.parametrize("judge", [CoverageKept(baseline=80), CoverageImproved()])
def test_judges_can_be_sent_and_compared(judge):
    for twin in (pickle.loads(pickle.dumps(judge)), copy.deepcopy(judge)):
        assert twin == judge
        assert hash(twin) == hash(judge)


def test_a_baseline_of_a_case_that_may_be_a_fraction_abstains(tmp_path):
    judgment = judged(CoverageKept(), tmp_path, 80, coverage_baseline=0.8)
    assert (judgment.status, "percent or fraction" in judgment.reasoning) == (ABSTAIN, True)
    assert judged(CoverageKept(), tmp_path, 80, coverage_baseline="0.8 %").status is PASS


@pytest.mark.parametrize(
    ("line", "status", "said"),
    [
        ("DA:2,-5", "FAIL", "is 50.00 %"), ("DA:2,00", "FAIL", "is 50.00 %"), ("DA:2,7", "PASS", "is 100.00 %"),
        ("DA:2,many", "ERROR", "'many'"), ("DA:2", "ERROR", "a line of the LCOV report has too few values"),
    ],
)  # fmt: skip
def test_only_lines_of_lcov_with_a_positive_count_are_covered(tmp_path, line, status, said):
    (tmp_path / "lcov.info").write_text(f"SF:a.c\nDA:1,1\n{line}\nend_of_record\n")
    judgment = CoverageKept(baseline=80).judge(question="?", workspace=tmp_path)
    assert judgment.status == status
    assert said in judgment.reasoning
