"""Runs of an application that have no group, such as a request outside any conversation."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from jury_adapters.core.case_groups import group_of_case
from jury_adapters.core.errors import InputError
from jury_adapters.core.formatting import counted
from jury_adapters.core.judgment import evolve
from jury_adapters.core.values import freeze_mapping
from jury_adapters.core.verdict import Verdict
from jury_adapters.report.entries import Entry

_log = logging.getLogger(__name__)


def with_groups_of_lone_runs(entries: Sequence[Entry], group: str) -> Sequence[Entry]:
    """Return the entries, with the id of the run as the group of each run that has none; the log counts these.

    A run without a conversation is independent of all others. If no entry has the group, its name is probably wrong,
    and nothing is changed; nor is it if an entry without the group is not a run.

    Args:
        entries: the judged cases.
        group: the entry of the metadata that identifies the group of a case; empty for none.
    """
    lone = {position for position, entry in enumerate(entries) if group and not _has_group(entry, group)}
    if not lone or len(lone) == len(entries) or any(not _can_be_given(entries[position]) for position in lone):
        return entries
    _log.warning(
        "%s no %s, and %s of its own in the report", counted(len(lone), "run has", "runs have"), group,
        "is a group" if len(lone) == 1 else "each is a group",
    )  # fmt: skip
    return [_grouped(entry, group) if position in lone else entry for position, entry in enumerate(entries)]


def _has_group(entry: Entry, group: str) -> bool:
    try:
        group_of_case(entry.case, entry.judgment, group, entry.place)
    except InputError:
        return False
    return True


def _can_be_given(entry: Entry) -> bool:
    """Return whether the run has an id, and there is a case or verdict in whose metadata the id can be kept."""
    known = entry.case is not None or isinstance(entry.judgment, Verdict)
    return known and entry.run is not None and bool(entry.run.id)


def _grouped(entry: Entry, group: str) -> Entry:
    own = {group: "" if entry.run is None else entry.run.id}
    judgment, case = entry.judgment, entry.case
    if isinstance(judgment, Verdict):
        judgment = evolve(judgment, case_metadata=freeze_mapping({**judgment.case_metadata, **own}))
    if case is not None:
        case = case.model_copy(update={"metadata": freeze_mapping({**case.metadata, **own})})
    return replace(entry, judgment=judgment, case=case)
