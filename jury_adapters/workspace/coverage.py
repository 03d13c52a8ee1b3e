"""Judges of test coverage: it was kept, or improved, compared with a baseline.

They read the report that a coverage tool left in ``case.workspace`` and run nothing. Run a command before them::

    Command(["pytest", "--cov", "--cov-report=json"]) & CoverageKept(baseline=81.5)

An agent can write a report by hand, so let your own command write it, into a clean workspace.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from math import isfinite

from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError, plain_repr, unknown
from jury_adapters.core.judgment import Finding, Judgment, abstain, broken
from jury_adapters.core.values import freeze_mapping
from jury_adapters.workspace.coverage_reports import METRICS, USUAL_PLACES, Metric, read_coverage
from jury_adapters.workspace.folder import Folder, Missing, Unreadable, WorkspaceJudge, inside, status_of

__all__ = ["CoverageImproved", "CoverageKept"]


@dataclass(frozen=True)
class _Compares(WorkspaceJudge):
    """Base class with the options of both judges: the report, the baseline, the floor."""

    _: KW_ONLY
    baseline: float | None = None
    floor: float | None = None
    metric: Metric = "line"
    report: str | None = None
    max_bytes: int = 50_000_000

    def __post_init__(self) -> None:
        kind = type(self).__name__
        _level(self.baseline, kind, "baseline")
        _level(self.floor, kind, "floor")
        if self.metric not in METRICS:
            raise ConfigurationError(unknown("metric", self.metric, METRICS))
        if self.report is not None:
            inside(self.report, kind)
        if not isinstance(self.max_bytes, int) or self.max_bytes < 1:
            raise ConfigurationError(f"max_bytes is a positive number of bytes, not {plain_repr(self.max_bytes)}")

    def inspect(self, case: Case, folder: Folder) -> Judgment:
        before = _baseline(case, self.metric) if self.baseline is None else self.baseline
        path = self._report(folder)
        try:
            coverage = read_coverage(folder.read(path, self.max_bytes), self.metric)
        except (Unreadable, ValueError) as error:
            return broken("unreadable_report", f"the coverage report {path!r} cannot be read: {error}")
        if coverage is None:
            return abstain(f"the coverage report {path!r} counts no {self.metric} coverage")
        return self._judgment(before, coverage.percent, path)

    @abstractmethod
    def compare(self, before: float, after: float) -> tuple[Finding, float]:
        """Return the check and the score."""

    def _judgment(self, before: float, after: float, path: str) -> Judgment:
        finding, score = self.compare(before, after)
        findings = [finding]
        if self.floor is not None:
            findings.append(Finding("coverage_floor", after >= self.floor - _EXACT, f"at least {self.floor:g} %"))
        passed = all(finding.passed for finding in findings)
        reasoning = f"{self.metric} coverage was {before:.2f} % and is {after:.2f} %"
        reasoning += "".join(f"; not {finding.detail}" for finding in findings if not finding.passed)
        metadata = freeze_mapping({"baseline": before, "coverage": after, "report": path})
        return Judgment(
            status_of(passed), score=score, reasoning=reasoning, findings=tuple(findings), metadata=metadata
        )

    def _report(self, folder: Folder) -> str:
        for place in USUAL_PLACES if self.report is None else (self.report,):
            if folder.has(place):
                return place
        named = f"{self.report!r}" if self.report else f"in any usual place: {', '.join(USUAL_PLACES)}"
        raise Missing(f"there is no coverage report {named}")


@dataclass(frozen=True)
class CoverageKept(_Compares):
    """Test coverage did not fall below the baseline.

    Reads coverage.py's JSON and XML, other Cobertura XML, JaCoCo's XML, and LCOV. The score is the new coverage divided
    by the old, at most 1. Abstains if there is no report or no baseline, or if nothing is counted. A report that cannot
    be read is ERROR.

    Args:
        baseline: coverage before, in percent (0..100); None (default) takes ``case.metadata["coverage_baseline"]``: a
            number, or one for each metric as in ``{"line": 81.5, "branch": 60}``.
        tolerance: percentage points that may be lost.
        floor: percent that must be reached, whatever the baseline; a separate check.
        metric: ``"line"`` (default) or ``"branch"``.
        report: the report's path in the workspace; None (default) looks where the tools write theirs.
        max_bytes: a larger report is not read.
        name: the check's name in verdicts.

    Raises:
        ConfigurationError: a percentage is outside 0..100 or may be meant as a fraction (up to 1), the metric is
            unknown, or the path leads out of the workspace.

    >>> CoverageKept(baseline=81.5).judge(workspace="/nowhere").status
    <Status.ABSTAIN: 'ABSTAIN'>
    """

    tolerance: float = 0.0
    name: str = "CoverageKept"

    def __post_init__(self) -> None:
        super().__post_init__()
        _percent(self.tolerance, "CoverageKept", "tolerance")

    def compare(self, before: float, after: float) -> tuple[Finding, float]:
        least = max(0.0, before - self.tolerance)
        finding = Finding("coverage_kept", after >= least - _EXACT, f"at least {least:.2f} %")
        return finding, min(1.0, after / before) if before else 1.0


@dataclass(frozen=True)
class CoverageImproved(_Compares):
    """Test coverage rose above the baseline, or has reached the ceiling.

    The score is the achieved share of the way from the baseline to the ceiling, 0 to 1. Reads and abstains as
    :class:`CoverageKept`.

    Args:
        baseline: coverage before, in percent; None (default) takes ``case.metadata["coverage_baseline"]``.
        by: percentage points to gain; any gain is enough by default.
        ceiling: percent from which no gain is required.
        floor: percent that must be reached, whatever the baseline; a separate check.
        metric: ``"line"`` (default) or ``"branch"``.
        report: the report's path in the workspace; None (default) looks where the tools write theirs.
        max_bytes: a larger report is not read.
        name: the check's name in verdicts.

    Raises:
        ConfigurationError: a percentage is outside 0..100 or may be meant as a fraction (up to 1), the floor is above
            the ceiling, the metric is unknown, or the path leads out of the workspace.

    >>> CoverageImproved(by=5, ceiling=95).judge(workspace="/nowhere").status
    <Status.ABSTAIN: 'ABSTAIN'>
    """

    by: float = 0.0
    ceiling: float = 100.0
    name: str = "CoverageImproved"

    def __post_init__(self) -> None:
        super().__post_init__()
        _percent(self.by, "CoverageImproved", "by")
        _level(self.ceiling, "CoverageImproved", "ceiling")
        if self.floor is not None and self.floor > self.ceiling:
            raise ConfigurationError(f"the floor, {self.floor:g}, lies above the ceiling, {self.ceiling:g}")

    def compare(self, before: float, after: float) -> tuple[Finding, float]:
        gained = after - before
        enough = gained > _EXACT and gained >= self.by - _EXACT
        wanted = f"{self.by:g} points more" if self.by else "any gain"
        way = self.ceiling - before
        arrived = after >= self.ceiling - _EXACT
        score = 1.0 if arrived else min(1.0, max(0.0, gained / way)) if way > 0 else 0.0
        return Finding("coverage_improved", enough or arrived, f"{wanted}, or {self.ceiling:g} %"), score


_EXACT = 1e-9  # percentages are quotients; equal counts must give equal coverage


def _level(value: float | None, judge: str, option: str) -> None:
    """Check a level of coverage, which may be meant as a fraction."""
    _percent(value, judge, option)
    if value is not None and 0 < value <= 1:
        raise ConfigurationError(
            f"{judge}: {option}={value:g}: percent or fraction? It is a percentage; for {100 * value:g} % write "
            f"{option}={100 * value:g}"
        )


def _percent(value: float | None, judge: str, option: str) -> None:
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 100):
        return
    raise ConfigurationError(f"{judge}: {option} is a percentage from 0 to 100, not {plain_repr(value)}")


def _baseline(case: Case, metric: Metric) -> float:
    value = case.metadata.get("coverage_baseline")
    if isinstance(value, Mapping):
        value = value.get(metric)
    if value is None:
        raise Missing(f"there is no baseline of {metric} coverage; give baseline=, or metadata['coverage_baseline']")
    with_sign = isinstance(value, str) and value.strip().endswith("%")
    if isinstance(value, str):  # from a CSV file
        try:
            value = float(value.strip().removesuffix("%"))
        except ValueError:
            value = None
    if isinstance(value, bool) or not isinstance(value, int | float) or not (isfinite(value) and 0 <= value <= 100):
        raise Missing(
            f"metadata['coverage_baseline'] is not a percentage: {plain_repr(case.metadata['coverage_baseline'])}"
        )
    if 0 < value <= 1 and not with_sign:
        problem = f"metadata['coverage_baseline'] is {value:g}: percent or fraction?"
        raise Missing(f"{problem} Write {100 * value:g}, or the text '{value:g} %'")
    return float(value)
