"""JUnit XML of the verdicts, for CI servers: one test case per case."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from shutil import copyfileobj
from types import TracebackType
from typing import IO, Self

from jury_adapters.core.case_files import Place
from jury_adapters.core.errors import InputError
from jury_adapters.core.gates import GateResult
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.sequential_gate import GateDecision
from jury_adapters.core.whole_file import whole_file
from jury_adapters.core.xml_text import xml_attribute, xml_text

_ELEMENTS = {Status.FAIL: "failure", Status.ERROR: "error", Status.ABSTAIN: "skipped"}
_IN_MEMORY = 1 << 20


class JUnitReport:
    """JUnit report that is written when it is closed, also if the run was stopped.

    FAIL is a failure, ERROR an error, ABSTAIN a skipped test; any other verdict is a passed test. A verdict that
    misses a gate of its jury is a failure, unless it is already an error. A row that could not be read is an error.

    Args:
        path: the file; None to write nothing. An existing file is replaced, as CI servers expect, as soon as there is
            anything to report.
        suite: the name of the jury.

    Raises:
        InputError: the file cannot be written.
    """

    def __init__(self, path: Path | None, *, suite: str) -> None:
        self._path = path
        self._suite = suite or "jury"
        self._counts = dict.fromkeys(("tests", "failure", "error", "skipped"), 0)
        self._seconds = 0.0
        self._properties = ""
        self._cases: IO[bytes] | None = None
        self._new = False

    def __enter__(self) -> Self:
        if self._path is not None:
            try:
                self._new = not self._path.exists()
                self._path.touch()  # fails before anything is paid for if the report cannot be written
            except OSError as error:
                raise InputError(f"{self._path}: {error.strerror or error}") from error
            # In a temporary file, since the counts come first in the report.
            self._cases = tempfile.SpooledTemporaryFile(_IN_MEMORY)
        return self

    def add(self, place: Place, judgment: Judgment, unmet: Sequence[GateResult] = ()) -> None:
        """Add one verdict, and the gates that it misses."""
        if self._cases is None:
            return
        seconds = judgment.elapsed_s or 0.0
        element = _ELEMENTS.get(judgment.status) if judgment.status is not None else None
        missed = [f"gate missed: {gate.note}" for gate in unmet]
        if missed and element != "error":
            element = "failure"
        inner = ""
        if element is not None:
            said = judgment.reasoning or judgment.error or str(judgment.status or judgment.label)
            message = xml_attribute("; ".join(missed) or said)
            text = xml_text("\n".join([*missed, str(judgment)]))
            inner = f"<{element} message={message}>{text}</{element}>"
        self._add(str(place), seconds, element, inner)

    def add_unread(self, line: int, problem: str) -> None:
        """Add a row that could not be read."""
        self._add(f"line {line}", 0.0, "error", f"<error message={xml_attribute(f'not read: {problem}')}/>")

    def add_decision(self, decision: GateDecision | None) -> None:
        """Add the decision of a gate that may end the run early; it becomes properties of the suite."""
        if decision is None:
            return
        values = {
            "fail-under": f"{decision.at_least:g}",
            "decision": str(decision),
            "cases in the file": f"{decision.cases}",
            "seed": f"{decision.seed}",
        }
        properties = (
            f"<property name={xml_attribute(name)} value={xml_attribute(text)}/>" for name, text in values.items()
        )
        self._properties = f"    <properties>{''.join(properties)}</properties>\n"

    def _add(self, name: str, seconds: float, element: str | None, inner: str) -> None:
        if self._cases is None:
            return
        self._counts["tests"] += 1
        if element is not None:
            self._counts[element] += 1
        self._seconds += seconds
        named = f"name={xml_attribute(name)} classname={xml_attribute(self._suite)}"
        self._cases.write(f'    <testcase {named} time="{seconds:.3f}">{inner}</testcase>\n'.encode())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._path is not None and self._cases is not None:
            with self._cases as cases:
                if self._counts["tests"] or kind is None:
                    self._write(self._path, cases)
                elif self._new:
                    self._path.unlink(missing_ok=True)  # no case was judged, so there is nothing to report

    def _write(self, path: Path, cases: IO[bytes]) -> None:
        counts = self._counts
        summed = (
            f'tests="{counts["tests"]}" failures="{counts["failure"]}" errors="{counts["error"]}" '
            f'skipped="{counts["skipped"]}" time="{self._seconds:.3f}"'
        )
        cases.seek(0)
        try:
            with whole_file(path) as file:
                file.write(b'<?xml version="1.0" encoding="utf-8"?>\n')
                suite = f"<testsuites {summed}>\n  <testsuite name={xml_attribute(self._suite)} {summed}>\n"
                file.write((suite + self._properties).encode())
                copyfileobj(cases, file)
                file.write(b"  </testsuite>\n</testsuites>\n")
        except OSError as error:
            raise InputError(f"{path}: {error.strerror or error}") from error
