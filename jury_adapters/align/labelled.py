"""Cases with a human label, their groups, and their division into parts that are used for different things."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from jury_adapters.core.case import Case
from jury_adapters.core.case_groups import group_of_case
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.human_labels import GOLD, LabelMeanings, UnclearLabels, human_label
from jury_adapters.core.judgment import Status

FEWEST = 40
"""The least number of labelled cases: fewer cannot be divided into a part for the choice and one for the test."""


@dataclass(frozen=True, slots=True)
class LabelledCase:
    """Case with a human label.

    Attributes:
        case: the case, without its label and its review.
        passed: whether the label means PASS.
        reason: the reviewer's reason; empty without one.
        group: what the case belongs to; cases of one group are never divided.
    """

    case: Case
    passed: bool
    reason: str = ""
    group: str = ""


def labelled_cases(
    cases: Iterable[Case], *, pass_labels: Collection[str] = (), label_column: str = GOLD, group: str = ""
) -> tuple[LabelledCase, ...]:
    """Return the cases that have a label with a PASS or FAIL meaning; others are left out.

    A reviewer's reason is the note of ``jury review``, in the entry ``review`` of the metadata.

    Args:
        cases: cases with a human label in their metadata.
        pass_labels: the labels that mean PASS; by default PASS, pass, yes, true and the like.
        label_column: the entry of the metadata with the label.
        group: the field that identifies the group of a case, such as ``"document"``; empty if every case is
            independent. Cases with the same content are of one group in any case.

    Raises:
        ConfigurationError: too few cases have a label, or none of them means PASS, or FAIL.
        UnclearLabels: a label of ``pass_labels`` does not occur.
    """
    found = [(case, label) for case in cases if (label := human_label(case.metadata.get(label_column))) is not None]
    meanings = LabelMeanings.of((), pass_labels, [label for _, label in found])
    labelled = tuple(
        LabelledCase(_without_label(case, label_column), status is Status.PASS, _reason(case), _group(case, group))
        for case, label in found
        if (status := meanings.status_of(label)) is not None
    )
    if found and not labelled:
        seen = ", ".join(sorted({label for _, label in found})[:6])
        raise UnclearLabels(f"no human label has a PASS or FAIL meaning: {seen}")
    if len(labelled) < FEWEST:
        raise ConfigurationError(
            f"aligning takes {FEWEST} labelled cases or more, and better 200; {len(labelled)} have a label in "
            f"metadata[{label_column!r}] that means PASS or FAIL"
        )
    if len({one.passed for one in labelled}) < 2:
        raise ConfigurationError("aligning takes cases with both labels, PASS and FAIL; all labels mean the same")
    return with_same_group(labelled, lambda case: case.content_hash) if group else labelled


def with_same_group(cases: Sequence[LabelledCase], key: Callable[[Case], str]) -> tuple[LabelledCase, ...]:
    """Return the cases with one group for all that have the same key, and for all of their groups.

    The same case under two groups, or twice with another field that the jury does not see, would otherwise be learned
    from in one part and tested in another.
    """
    joined: dict[str, str] = {}

    def root(name: str) -> str:
        while joined.get(name, name) != name:
            name = joined[name]
        return name

    first: dict[str, str] = {}
    for one in cases:
        joined[root(one.group)] = root(first.setdefault(key(one.case), one.group))
    return tuple(replace(one, group=root(one.group)) for one in cases)


def divide(cases: Sequence[LabelledCase], shares: Sequence[float], seed: int) -> list[list[LabelledCase]]:
    """Return parts of the cases of about these shares, with whole groups, and each label in proportion."""
    groups: dict[str, list[LabelledCase]] = {}
    for one in cases:
        groups.setdefault(one.group, []).append(one)
    random = Random(f"divide|{seed}")
    parts: list[list[LabelledCase]] = [[] for _ in shares]
    by_label: dict[bool, list[list[LabelledCase]]] = {True: [], False: []}
    for members in groups.values():
        by_label[2 * sum(one.passed for one in members) >= len(members)].append(members)
    for found in by_label.values():
        random.shuffle(found)
        filled = [0.0] * len(shares)
        for members in found:  # to the part that is farthest behind its share
            place = min(range(len(shares)), key=lambda part: filled[part] / shares[part])
            parts[place] += members
            filled[place] += len(members)
    return parts


def digest_of(cases: Iterable[LabelledCase]) -> str:
    """Return a short hash of the labelled cases, whatever their order."""
    lines = sorted(f"{one.case.content_hash} {one.passed}" for one in cases)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def _without_label(case: Case, label_column: str) -> Case:
    """Return the case without its label and its review, which a rubric that shows the metadata would give away."""
    hidden = {label_column, GOLD, "review", "note"}
    return case.model_copy(
        update={"metadata": {key: value for key, value in case.metadata.items() if key not in hidden}}
    )


def _reason(case: Case) -> str:
    review = case.metadata.get("review")
    note = review.get("note") if isinstance(review, Mapping) else None
    return note.strip() if isinstance(note, str) else ""


def _group(case: Case, field: str) -> str:
    return str(group_of_case(case, None, field, "a labelled case")) if field else case.content_hash
