"""Labelled cases: each item once, with its human label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from jury_adapters.core.case import Case
from jury_adapters.core.duplicates import ContradictingLabels, identity_of, positions_by_item
from jury_adapters.core.human_labels import human_label
from jury_adapters.core.judge import CaseLike

FEWEST_LABELS = 30
"""Smallest number of labelled cases for a guarantee; fewer say little about future cases, whatever a test says."""


@dataclass(frozen=True, slots=True)
class LabelledCases:
    """Cases with the human label of each.

    Attributes:
        cases: the cases, each item once.
        truths: the label of each.
        merged: number of labelled cases that repeat an item and were merged with the first.
    """

    cases: list[Case]
    truths: list[str]
    merged: int


def labels_in(labelled: Iterable[CaseLike | tuple[CaseLike, str | bool]]) -> Iterator[tuple[int, Case, str]]:
    """Yield the position, the case and the label of each labelled case, copies included; see :func:`gold_of`."""
    for place, entry in enumerate(labelled):
        given, gold = entry if isinstance(entry, tuple) else (entry, None)
        case = Case.from_row(given) if isinstance(given, Mapping) else Case.of(given, {})
        said = human_label(case.metadata.get("gold") if gold is None else gold)
        if said is not None:
            yield place, case, said


def gold_of(labelled: Iterable[CaseLike | tuple[CaseLike, str | bool]]) -> LabelledCases:
    """Return the labelled cases; cases without a label are left out, and an item that is given twice counts once.

    Copies of an item have the same content and the same id (or both lack an id); see
    :func:`jury_adapters.core.duplicates.identity_of`.

    Args:
        labelled: cases with ``metadata["gold"]``, rows with a column ``gold``, or pairs ``(case, gold)``. True and
            False are PASS and FAIL.

    Raises:
        ContradictingLabels: copies of an item have different labels. Without such items, the batch would be easier
            than future ones.
    """
    cases: list[Case] = []
    truths: list[str] = []
    places: list[int] = []
    for place, case, said in labels_in(labelled):
        cases.append(case)
        truths.append(said)
        places.append(place)
    items = positions_by_item([identity_of(case.content_hash, case.item_id) for case in cases])
    several = [copies for copies in items if len({truths[copy] for copy in copies}) > 1]
    if several:
        raise ContradictingLabels(
            cases[several[0][0]].item_id, [(places[at], truths[at]) for at in several[0]], others=len(several) - 1
        )
    firsts = [copies[0] for copies in items]
    return LabelledCases([cases[at] for at in firsts], [truths[at] for at in firsts], len(cases) - len(items))
