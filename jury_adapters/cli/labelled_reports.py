"""Reports with the human labels that the options of a command name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from jury_adapters.cli.case_columns import Columns, columns_of_case
from jury_adapters.cli.given_labels import GivenLabels
from jury_adapters.cli.labelled_cases import HumanLabels
from jury_adapters.cli.missing_labels import no_such_labels
from jury_adapters.cli.streams import Messages
from jury_adapters.core.errors import InputError
from jury_adapters.core.field_map import FieldMap
from jury_adapters.core.human_labels import GOLD, human_label_of
from jury_adapters.core.judgment import evolve
from jury_adapters.core.opinions import votes_in
from jury_adapters.core.results_file import cases_named_in, field_map_named_in, is_result, pass_labels_named_in
from jury_adapters.core.row_files import first_row
from jury_adapters.core.verdict import Verdict

if TYPE_CHECKING:
    from jury_adapters.report import Entry, Report


def labels_of_run(found: Report, column: str) -> list[str | None]:
    """Return the labels in a column of the cases of a run.

    Raises:
        InputError: no case has one.
    """
    said = [human_label_of(entry.case, entry.judgment, column) for entry in found.entries]
    if not any(label is not None for label in said):
        known = [entry.case.metadata for entry in found.entries if entry.case is not None]
        kept = [entry.metadata for entry in found.entries]
        raise InputError(no_such_labels(column, {str(name) for metadata in (*known, *kept) for name in metadata}))
    return said


def with_given_labels(
    found: Report,
    file: Path,
    people: HumanLabels,
    messages: Messages | None = None,
    *,
    compared: tuple[object, Callable[[], GivenLabels]] | None = None,
) -> Report:
    """Return a report with the human labels that the options of a command name.

    Args:
        found: the report.
        file: the results, or the store, that it was read from.
        people: the options. The labels that mean PASS are by default those that the results name, as far as in use.
        messages: prints the number of labels that belong to no case, and of cases with contradicting labels.
        compared: as for :meth:`GivenLabels.check`.

    Raises:
        InputError: no case of the report has a label.
    """
    labels = None
    if people.file is not None:
        labels = GivenLabels(people.file, people.column, people.field_map or field_map_of_run(file))
        said = labels_of_entries(labels, _entries_with_answers(found, file), file)
        labels.check(file, messages, compared=compared)
    elif people.column != GOLD:
        said = labels_of_run(found, people.column)
    else:
        return found
    from jury_adapters.critic.recorded import is_store

    votes = ((vote.label for _, vote in votes_in(entry.judgment)) for entry in found.entries)
    kept = () if is_store(file) else pass_labels_named_in(file, zip(said, votes, strict=True))
    changed = relabelled(found, said, people.pass_labels or kept)
    changed.label_comparison.known_labels = kept
    if labels is not None:
        changed.label_comparison.contradicting = len(labels.contradicting)
        changed.label_comparison.selected = labels.selected
    return changed


def _entries_with_answers(found: Report, file: Path) -> Sequence[Entry]:
    """Return the entries of a report, with the answers of the cases that the results name if it has no texts."""
    from jury_adapters.critic.recorded import is_store
    from jury_adapters.report.entries import results_of

    if is_store(file) or any(entry.case is not None for entry in found.entries):
        return found.entries
    source = cases_named_in(file)
    return found.entries if source is None else results_of(file, source)


def field_map_of_run(results: Path | str) -> FieldMap | None:
    """Return the field map with which a run was judged; None without one, and for a store or recorded votes.

    Raises:
        InputError: the results cannot be read.
    """
    from jury_adapters.critic.recorded import is_store

    return None if is_store(results) or not is_result(first_row(results)) else field_map_named_in(results)


def labels_of_entries(
    labels: GivenLabels, entries: Sequence[Entry], judged: Path | str | None = None
) -> list[str | None]:
    """Return the label of each judged case; None for a case without one.

    Args:
        labels: the labels.
        entries: the judged cases.
        judged: the file of the results, for messages; None for labels in the file of the cases itself, whose rows have
            the same lines.

    Raises:
        InputError: labels without an id cannot be matched with the cases.
    """
    if judged is not None:
        labels.match(((entry.line, _columns(entry)) for entry in entries), judged)
    return [
        labels.of(
            item_id=entry.item_id,
            line=entry.line,
            key=entry.key,
            answer=None if entry.case is None else entry.case.answer or "",
            columns=_columns(entry),
        )
        for entry in entries
    ]


def _columns(entry: Entry) -> Columns:
    if entry.case is not None:
        return columns_of_case(entry.case)
    return entry.metadata


def relabelled(found: Report, said: Sequence[str | None], pass_labels: Collection[str]) -> Report:
    """Return a report in which each case has the given human label, and no other."""
    entries = [_labelled(entry, label) for entry, label in zip(found.entries, said, strict=True)]
    return type(found)(
        entries, title=found.title, unread=found.unread, unreadable=found.unreadable, decision=found.decision,
        planned=found.planned, pass_labels=pass_labels, group=found.group,
    )  # fmt: skip


def _labelled(entry: Entry, label: str | None) -> Entry:
    """Return an entry with only this human label."""
    judgment, case = entry.judgment, entry.case
    if isinstance(judgment, Verdict):
        judgment = evolve(judgment, case_metadata={**judgment.case_metadata, GOLD: label})
    if case is not None:
        case = case.model_copy(update={"metadata": {**case.metadata, GOLD: label}})
    return replace(entry, judgment=judgment, case=case)
