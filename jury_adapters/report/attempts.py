"""Attempts at one answer that a jury sent back, of which a report counts the last one."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace

from jury_adapters.core.judgment import evolve
from jury_adapters.core.runs import Run
from jury_adapters.judges.framework_results import EvaluatedCase


def last_attempts(cases: Iterable[EvaluatedCase]) -> list[EvaluatedCase]:
    """Return the cases without the rejected attempts after which the application was asked again.

    An application that is asked twice because of a review gives one answer. The last attempt at it is the case; its
    judgment includes the usage of the attempts before it.

    Args:
        cases: the cases. Attempts are runs whose metadata count them (``attempt``, from 0); those at one answer have
            the same ``jury_turn`` in the metadata, or else the same id of the run.
    """
    kept: list[EvaluatedCase | None] = []
    latest: dict[Hashable, int] = {}
    for one in cases:
        answer, number = _attempt(one.run)
        if answer is None:
            kept.append(one)
            continue
        before = latest.get((answer, number - 1))
        rejected = None if before is None else kept[before]
        latest[answer, number] = len(kept)
        if before is None or rejected is None:
            kept.append(one)
            continue
        kept[before] = None
        usage = rejected.judgment.usage + one.judgment.usage
        kept.append(replace(one, judgment=evolve(one.judgment, usage=usage)))
    found = [one for one in kept if one is not None]
    return found if len(found) == len(kept) else [replace(one, index=index) for index, one in enumerate(found)]


def _attempt(run: Run | None) -> tuple[Hashable | None, int]:
    """Return what identifies the answer that a run is an attempt at, or None, and the number of the attempt."""
    number = None if run is None else run.metadata.get("attempt")
    if run is None or not isinstance(number, int) or isinstance(number, bool):
        return None, 0
    turn = run.metadata.get("jury_turn") or run.id
    return ((run.name, turn) if isinstance(turn, str) and turn else None), number
