"""Coverage reports: coverage.py's JSON and XML (Cobertura), JaCoCo's XML, LCOV. Their entries are only counted."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias
from xml.etree.ElementTree import Element

from jury_adapters.core.errors import plain_repr
from jury_adapters.workspace.safe_xml import parse_xml

Metric: TypeAlias = Literal["line", "branch"]
METRICS = ("line", "branch")

USUAL_PLACES = (
    "coverage.json", "coverage.xml", "lcov.info", "coverage.lcov", "coverage/lcov.info",
    "coverage/cobertura-coverage.xml", "target/site/jacoco/jacoco.xml",
    "build/reports/jacoco/test/jacocoTestReport.xml",
)  # fmt: skip
"""Paths at which the tools write their reports, relative to the project."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """Coverage of a metric: the covered and the total count."""

    covered: int
    total: int

    def __post_init__(self) -> None:
        if not 0 <= self.covered <= self.total:
            raise ValueError(f"{self.covered} of {self.total} cannot be covered")

    @property
    def percent(self) -> float:
        return 100 * self.covered / self.total


def read_coverage(content: bytes, metric: Metric) -> Coverage | None:
    """Return the coverage in a report; its format is recognised by its content.

    Returns:
        The count, or None if the report counts nothing of this metric.

    Raises:
        ValueError: the content is not a report of a known format.
    """
    start = content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    try:
        if start == b"{":
            return _from_json(json.loads(content), metric)
        if start == b"<":
            return _from_xml(parse_xml(content), metric)
        return _from_lcov(content.decode(), metric)
    except RecursionError as error:
        raise ValueError(f"nested too deeply: {error}") from None
    except IndexError:
        raise ValueError("a line of the LCOV report has too few values") from None


def _from_json(report: object, metric: Metric) -> Coverage | None:
    totals = report.get("totals") if isinstance(report, Mapping) else None
    if not isinstance(totals, Mapping) or "covered_lines" not in totals:
        raise ValueError("JSON, but not of coverage.py: it has no totals.covered_lines")
    covered, total = ("covered_lines", "num_statements") if metric == "line" else ("covered_branches", "num_branches")
    return _coverage(totals.get(covered, 0), totals.get(total, 0))


def _from_xml(root: Element, metric: Metric) -> Coverage | None:
    if root.tag == "report":  # JaCoCo
        return _from_counter(root, metric)
    if root.tag != "coverage":
        raise ValueError(f"XML, but neither of coverage.py nor of JaCoCo: it starts with <{root.tag}>")
    covered, total = ("lines-covered", "lines-valid") if metric == "line" else ("branches-covered", "branches-valid")
    if total in root.attrib:
        return _coverage(root.get(covered), root.get(total))
    if metric == "branch":
        return None
    hits = [int(line.get("hits", 0)) for line in root.iterfind("packages/package/classes/class/lines/line")]
    return _coverage(sum(hit > 0 for hit in hits), len(hits))


def _from_counter(root: Element, metric: Metric) -> Coverage | None:
    counter = next((child for child in root.iterfind("counter") if child.get("type") == metric.upper()), None)
    if counter is None:
        return None
    covered = int(counter.get("covered", 0))
    return _coverage(covered, covered + int(counter.get("missed", 0)))


def _from_lcov(text: str, metric: Metric) -> Coverage | None:
    """Read LCOV. It repeats a file for each test that ran it; a line is covered if any of them hit it."""
    hits: defaultdict[tuple[str, str], bool] = defaultdict(bool)
    sums: dict[str, tuple[int, int]] = {}  # of files without single lines
    file, found, known = "", 0, False
    wanted, count, hit = ("DA", "LF", "LH") if metric == "line" else ("BRDA", "BRF", "BRH")
    for line in text.splitlines():
        key, _, value = line.strip().partition(":")
        known = known or key in ("SF", "TN")
        if key == "SF":
            file, found = value, 0
        elif key == wanted:
            parts = value.split(",")
            place, taken = (parts[0], parts[1]) if metric == "line" else (",".join(parts[:3]), parts[3])
            hits[file, place] |= taken != "-" and int(taken) > 0
        elif key == count:
            found = int(value)
        elif key == hit:
            sums[file] = (int(value), found)
    if not known:
        raise ValueError("neither JSON, nor XML, nor LCOV")
    single = {name for name, _ in hits}
    rest = [pair for name, pair in sums.items() if name not in single]
    return _coverage(sum(hits.values()) + sum(pair[0] for pair in rest), len(hits) + sum(pair[1] for pair in rest))


def _coverage(covered: object, total: object) -> Coverage | None:
    found = Coverage(_count(covered), _count(total))
    return found if found.total else None


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError(f"{plain_repr(value)} is not a count")
    return int(value)
