"""Human labels on the command line: their meaning, and those of `jury review`."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from jury_adapters.cli.exit_codes import ExitCode
from jury_adapters.cli.labels import gold_of
from jury_adapters.cli.streams import News
from jury_adapters.core.against_people import AgainstPeople
from jury_adapters.core.case_files import STDIN, CaseFile
from jury_adapters.core.errors import InputError
from jury_adapters.core.field_map import FieldMap
from jury_adapters.core.human_labels import GOLD, UnclearLabels, check_pass_labels, human_label
from jury_adapters.core.judgment import evolve
from jury_adapters.core.verdict import Verdict

if TYPE_CHECKING:
    from jury_adapters.report import Entry, Report

NAME_PASS_LABELS = "name those that mean PASS: --pass-label LABEL"


def check_labels_of(
    cases: Path, pass_labels: Collection[str], *, limit: int | None = None, field_map: FieldMap | None = None
) -> None:
    """Refuse a ``--pass-label`` that no labelled case of a file has; standard input is not read.

    Raises:
        InputError: there is such a label; the message lists the human labels of the file.
    """
    if not pass_labels or cases == STDIN:
        return
    file = CaseFile(cases, lambda _: None, limit=limit, field_map=field_map)
    labels = (human_label(case.metadata.get(GOLD)) for case in file)
    try:
        check_pass_labels([label for label in labels if label is not None], pass_labels)
    except UnclearLabels as error:
        raise InputError(f"{cases}: {error.what}; {NAME_PASS_LABELS}") from None


def check_pass_labels_of(against: AgainstPeople, file: Path | str) -> None:
    """Refuse a ``--pass-label`` that no labelled case of a run has.

    Raises:
        InputError: there is such a label.
    """
    if against.unknown_pass_label:
        raise InputError(f"{file}: {against.unknown_pass_label}; {NAME_PASS_LABELS}")


def report_pass_labels(against: AgainstPeople, file: Path | str, news: News) -> ExitCode:
    """Report a ``--pass-label`` that no case of a run has, and return the exit code for it."""
    if not against.pass_labels:
        return ExitCode.OK
    if not against.cases:
        news.tell(f"{file}: no case has a human label (column {against.column}), so --pass-label has no effect")
    if not against.unknown_pass_label:
        return ExitCode.OK
    news.error(f"{file}: {against.unknown_pass_label}; {NAME_PASS_LABELS}")
    return ExitCode.BAD_INPUT


def with_review_labels(found: Report, cases: Path, pass_labels: Collection[str]) -> Report:
    """Return a report with the final labels of `jury review`, if the cases are a file that it wrote.

    Args:
        found: the report.
        cases: the file of cases; for any other kind of file, the report is unchanged.
        pass_labels: the labels that mean PASS, as given; those of the results belong to other labels.

    Raises:
        InputError: no case of the report has one of the labels.
    """
    labels = gold_of(cases)
    if labels is None:
        return found
    names = [f"line {entry.line}" if entry.item_id is None else entry.item_id for entry in found.entries]
    if not any(name in labels for name in names):
        raise InputError(f"{cases}: none of its labels is of a case of this run")
    entries = [_labelled(entry, labels.get(name)) for entry, name in zip(found.entries, names, strict=True)]
    return type(found)(
        entries, title=found.title, unread=found.unread, unreadable=found.unreadable, pass_labels=pass_labels
    )


def _labelled(entry: Entry, label: str | None) -> Entry:
    """Return an entry with only this human label."""
    judgment, case = entry.judgment, entry.case
    if isinstance(judgment, Verdict):
        judgment = evolve(judgment, case_metadata={**judgment.case_metadata, GOLD: label})
    if case is not None:
        case = case.model_copy(update={"metadata": {**case.metadata, GOLD: label}})
    return replace(entry, judgment=judgment, case=case)
