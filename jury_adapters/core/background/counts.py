"""Counts of an application's runs by outcome; the same names with the same meaning in every framework."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, TypeAlias

Outcome: TypeAlias = Literal[
    "judged", "dropped", "unsampled", "skipped", "broken", "cancelled", "abandoned", "unanswered", "paused",
    "handed_over", "evicted", "sink_errors",
]  # fmt: skip
"""Names of the counts that only grow."""


@dataclass(frozen=True, slots=True, repr=False)
class Counts:
    """Number of runs by outcome, as a snapshot. Each run that ended counts under one name.

    The repr shows the counts that are not zero.

    Attributes:
        judged: have a judgment that every sink received. A run that failed is judged FAIL.
        pending: wait for their judgment, or are being judged.
        open: are under way.
        dropped: not judged: ``max_pending`` others were waiting, or the handler was closed before they ended.
        unsampled: not judged: left out by ``sample=``.
        skipped: not judged: left out by ``engines=`` or ``runs=``, with all that ran inside.
        broken: not judged: the judge was interrupted, a filter of the application raised, or our own code did; logged.
        cancelled: not judged: cancelled or interrupted by the application.
        abandoned: not judged: streams that the application did not read to the end.
        unanswered: not judged: ended without any output; an abandoned stream may look like that, too.
        paused: not judged: stopped to ask a person, or ended with tool calls that have no result yet.
        handed_over: not judged: agents that handed over to another agent; the run around them has the answer.
        evicted: not judged: forgotten because more than ``max_open`` runs were under way.
        sink_errors: calls of a sink that raised. These are calls, not runs.
    """

    judged: int = 0
    pending: int = 0
    open: int = 0
    dropped: int = 0
    unsampled: int = 0
    skipped: int = 0
    broken: int = 0
    cancelled: int = 0
    abandoned: int = 0
    unanswered: int = 0
    paused: int = 0
    handed_over: int = 0
    evicted: int = 0
    sink_errors: int = 0

    @property
    def aborted(self) -> int:
        """Number of runs that the application itself ended: those cancelled, and the streams abandoned."""
        return self.cancelled + self.abandoned

    def __repr__(self) -> str:
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return f"Counts({', '.join(f'{name}={number}' for name, number in found.items() if number)})"
