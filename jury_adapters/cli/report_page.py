"""The HTML page of a report, and that of a run in progress."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jury_adapters.cli.labelled_reports import relabelled
from jury_adapters.cli.places import PAGE, check_place
from jury_adapters.core.batch import Judged
from jury_adapters.core.case_files import Place
from jury_adapters.core.errors import InputError
from jury_adapters.core.gates import GateResult
from jury_adapters.core.human_labels import GOLD, human_label_of
from jury_adapters.core.sequential_gate import GateDecision

if TYPE_CHECKING:
    from jury_adapters.report import Comparison, Entry, Report


class ReportPage:
    """Page of a run in progress, which collects the cases and is written at the end.

    Anything that would make the page impossible is detected before the first case is paid for.

    Args:
        path: the page; None to collect and write nothing.
        title: its heading.
        sources: files that it must not replace.
        force: whether it may replace a file that is not a report page.
        pass_labels: the human labels that mean PASS.
        group: the field that identifies the group of a case; empty for independent cases.
        label_column: the entry of a case's metadata that holds its human label.
        known_labels: human labels of other cases of the file, which are accepted as PASS labels too.

    Raises:
        ConfigurationError: the page would replace one of the sources or another file, or Jinja2 is missing.
    """

    def __init__(
        self,
        path: Path | None,
        *,
        title: str,
        sources: Sequence[Path | None],
        force: bool = False,
        pass_labels: Collection[str] = (),
        group: str = "",
        label_column: str = GOLD,
        known_labels: Collection[str] = (),
    ) -> None:
        self._path = path
        self._known_labels = known_labels
        self._pass_labels = pass_labels
        self._group = group
        self._label_column = label_column
        self._title = title
        self._entries: list[Entry] = []
        if path is not None:
            from jury_adapters.report import page  # noqa: F401  it needs Jinja2

            check_place(path, sources=sources, ours=PAGE, force=force)

    def add(self, judged: Judged, place: Place, unmet: Sequence[GateResult]) -> None:
        """Add one case with its verdict and the gates that it misses."""
        if self._path is not None:
            from jury_adapters.report.entries import entry_of

            notes = [gate.note for gate in unmet]
            self._entries.append(entry_of(judged, line=place.line, unit=place.unit, unmet=notes))

    def write(
        self,
        unreadable: int = 0,
        unread: Sequence[str] = (),
        decision: GateDecision | None = None,
        planned: int | None = None,
    ) -> None:
        """Write the page of the cases judged so far.

        Args:
            unreadable: the number of rows that could not be read, which the page shows.
            unread: the first of these rows, with the reasons.
            decision: that of a gate which may have ended the run early.
            planned: number of cases that the run was to judge; None if it is unknown.

        Raises:
            InputError: the page cannot be written.
        """
        if self._path is not None and self._entries:
            from jury_adapters.report import Report

            found = Report(
                self._entries,
                title=self._title,
                unread=unread,
                unreadable=unreadable,
                decision=decision,
                planned=planned,
                pass_labels=self._pass_labels,
                group=self._group,
            )
            if self._label_column != GOLD:
                entries = found.entries
                said = [human_label_of(entry.case, entry.judgment, self._label_column) for entry in entries]
                found = relabelled(found, said, self._pass_labels)
            found.label_comparison.known_labels = self._known_labels
            write_page(self._path, found)


def write_page(html: Path, found: Report, compared: Comparison | None = None) -> None:
    """Write the page of a report.

    Raises:
        InputError: it cannot be written.
    """
    try:
        found.write_html(html, compared=compared)
    except OSError as error:
        raise InputError(f"{html}: {error.strerror or error}") from error
