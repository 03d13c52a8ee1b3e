"""Check of test coverage against a baseline, by the report that a coverage tool left in ``case.workspace``."""

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from jury_adapters.core.case import Case
from jury_adapters.core.judgment import Judgment, Status, abstain, broken
from jury_adapters.core.values import ROUNDING
from jury_adapters.judges.options import declared
from jury_adapters.workspace.diffs import parse_xml
from jury_adapters.workspace.folder import Folder, InnerPath, Missing, Unreadable, WorkspaceCheck

REPORTS = (
    "coverage.json",
    "coverage.xml",
    "coverage/cobertura-coverage.xml",
    "target/site/jacoco/jacoco.xml",
    "build/reports/jacoco/test/jacocoTestReport.xml",
)
"""Where tools write their reports."""
Metric = Literal["line", "branch"]


def _percent(value: float) -> float:
    if 0 < value <= 1:
        raise ValueError(f"{value:g} is read as percent, and may be meant as a fraction; write {100 * value:g}")
    return value


Percent = Annotated[float, Field(strict=True, ge=0, le=100, allow_inf_nan=False), AfterValidator(_percent)]


@declared
class Coverage(WorkspaceCheck):
    """Test coverage did not fall below the baseline, or rose by so many points.

    It reads the JSON and XML of coverage.py, other Cobertura XML, and JaCoCo's XML, and runs nothing. An agent can
    write a report by hand: let a command of your own write it, with ``Command([...]) & Coverage()``. It abstains if
    there is no report or no baseline, or if nothing is counted. A report that cannot be read is ERROR.

    Args:
        baseline: the coverage before, in percent, 0..100; None takes ``case.metadata["coverage_baseline"]``.
        min_gain: the percentage points to gain; 0 keeps the coverage, and -1 allows the loss of one point. A coverage
            of 100 is always enough.
        metric: ``line`` or ``branch``.
        report: the path of the report in the workspace; None looks where the tools write theirs.
        name: the name in verdicts.

    Raises:
        ConfigurationError: a number is out of range, a baseline may be meant as a fraction, or the path leads out.

    >>> Coverage(81.5).judge(workspace="/nowhere").status.value
    'ABSTAIN'
    """

    baseline: Percent | None = None
    min_gain: Annotated[float, Field(strict=True, ge=-100, le=100, allow_inf_nan=False)] = 0.0
    metric: Metric = "line"
    report: InnerPath | None = None

    def inspect(self, case: Case, folder: Folder) -> Judgment:
        before = _baseline(case) if self.baseline is None else self.baseline
        path = self._found(folder)
        try:
            covered, total = counts_in(folder.read_text(path), self.metric)
        except (Unreadable, ValueError, RecursionError) as error:
            return broken(f"the coverage report {path!r} cannot be read: {error}")
        if not total:
            return abstain(f"the coverage report {path!r} counts no {self.metric}")
        after = 100 * covered / total
        passed = after >= min(100.0, before + self.min_gain) - ROUNDING
        said = f"{self.metric} coverage was {before:.2f} % and is {after:.2f} %"
        said += "" if passed else f"; {before + self.min_gain:.2f} % is needed"
        status = Status.PASS if passed else Status.FAIL
        return Judgment(status=status, reasoning=said, metadata={"baseline": before, "coverage": after, "report": path})

    def _found(self, folder: Folder) -> str:
        for path in REPORTS if self.report is None else (self.report,):
            try:
                folder.find(path)
            except Unreadable:
                continue
            return path
        raise Missing(f"there is no coverage report at {self.report or ', '.join(REPORTS)}")


def counts_in(text: str, metric: Metric) -> tuple[int, int]:
    """Return how many lines or branches are covered, and how many there are, of a report.

    Raises:
        ValueError: it is not a report of a known format.
    """
    if text.lstrip().startswith("{"):
        report = json.loads(text)
        totals = report.get("totals")
        if not isinstance(totals, Mapping) or "covered_lines" not in totals:
            raise ValueError("it is JSON, but not of coverage.py: it has no totals.covered_lines")
        names = ("covered_lines", "num_statements") if metric == "line" else ("covered_branches", "num_branches")
        return _counts(*(totals.get(name, 0) for name in names))
    root = parse_xml(text)
    if root.tag == "report":  # JaCoCo
        counter = next((one for one in root.iterfind("counter") if one.get("type") == metric.upper()), None)
        covered, missed = (
            (0, 0) if counter is None else _counts(counter.get("covered"), counter.get("missed"), both=False)
        )
        return covered, covered + missed
    if root.tag != "coverage":
        raise ValueError(f"it is XML, but neither of coverage.py nor of JaCoCo: it begins with <{root.tag}>")
    kind = "lines" if metric == "line" else "branches"
    return _counts(root.get(f"{kind}-covered", "0"), root.get(f"{kind}-valid", "0"))


def _counts(covered: Any, total: Any, *, both: bool = True) -> tuple[int, int]:
    counts = [int(one) for one in (covered, total) if isinstance(one, int | str) and not isinstance(one, bool)]
    if len(counts) < 2 or min(counts) < 0 or (both and counts[0] > counts[1]):
        raise ValueError(f"{covered!r} of {total!r} are not counts")
    return counts[0], counts[1]


def _baseline(case: Case) -> float:
    value = case.metadata.get("coverage_baseline")
    if value is None:
        raise Missing("there is no baseline; give baseline=, or metadata['coverage_baseline']")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 100 or 0 < value <= 1:
        raise Missing(f"metadata['coverage_baseline'] is a percentage from 0 to 100, above 1, not {value!r}")
    return float(value)
