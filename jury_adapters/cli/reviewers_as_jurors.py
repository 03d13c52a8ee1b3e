"""Labels of a file that ``jury review`` wrote, as recorded votes with the reviewers as jurors.

An item is an answer: labels of two systems in one file have the same ids and different contents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jury_adapters.cli.label_file import UNSURE, said_in, said_of
from jury_adapters.cli.reviewer_conflicts import latest
from jury_adapters.core.case_groups import group_of_row
from jury_adapters.core.duplicates import Identity
from jury_adapters.core.formatting import counted
from jury_adapters.core.row_files import read_rows
from jury_adapters.core.values import JsonValue

REVIEWED_ID = "review.item_id"
"""Field of a line that holds the id of its case; it groups the answers to one question."""

GROUP = "group"
"""Column of the group in the recorded votes."""


def votes_of_reviewers(file: Path, group: str) -> list[dict[str, Any]]:
    """Return one row of recorded votes for each answer; unsure is not a vote.

    Args:
        file: the file of labels.
        group: the field that identifies the group of a case; empty for independent cases.

    Raises:
        InputError: the file cannot be read, or a case has no such field.
    """
    votes: dict[Identity, dict[str, JsonValue]] = {}
    for (identity, by), said in latest(said_in(file)).items():
        votes.setdefault(identity, {})[by] = None if said.said == UNSURE else said.said
    groups = _groups(file, group) if group else {}
    answers = Counter(item_id for _, item_id in votes)
    rows = []
    for identity, cast in votes.items():
        grouped = {GROUP: groups[identity]} if group else {}
        rows.append({"item_id": _name(identity, answers), "votes": cast, **grouped})
    return rows


def ids_of_several_answers(file: Path) -> int:
    """Return the number of ids under which different answers are labelled, such as those of two systems.

    Raises:
        InputError: the file cannot be read.
    """
    identities = {said.identity for said in said_in(file)}
    answers = Counter(item_id for _, item_id in identities if item_id is not None)
    return sum(times > 1 for times in answers.values())


def describe_ids_of_several_answers(file: Path, ids: int) -> str:
    """Return the message that the answers under one id are separate items of one group."""
    have = "has" if ids == 1 else "have"
    return (
        f"{file}: {counted(ids, 'id')} {have} several labelled answers, such as those of two systems; each answer is "
        "an item, and the intervals take those of one id together; --group '' takes them as independent"
    )


def _name(identity: Identity, answers: Mapping[str | None, int]) -> str:
    key, item_id = identity
    if item_id is None:
        return f"content {key}"
    return item_id if answers[item_id] == 1 else f"{item_id} (content {key})"


def _groups(file: Path, group: str) -> dict[Identity, object]:
    """Return the group of each case; of a case without an id, its content stands for it."""
    found: dict[Identity, object] = {}
    for row in read_rows(file):
        said = None if row.values is None else said_of(row.values)
        if said is None or row.values is None:
            continue
        key, item_id = said.identity
        if group == REVIEWED_ID:
            found[said.identity] = f"content {key}" if item_id is None else item_id
        else:
            found[said.identity] = group_of_row(row.values, group, f"{file}, line {row.line}")
    return found
