"""Counts of an application's runs by outcome, with the same names and meanings for every framework."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, TypeAlias

Outcome: TypeAlias = Literal[
    "judged", "dropped", "unsampled", "skipped", "broken", "cancelled", "abandoned", "unanswered", "paused",
    "handed_over", "evicted", "sink_errors",
]  # fmt: skip
"""Names of the cumulative counts."""


@dataclass(frozen=True, slots=True, repr=False)
class Counts:
    """Snapshot of the number of runs by outcome. Each finished run counts under one name.

    The repr shows the counts that are not zero.

    Attributes:
        judged: runs with a judgment that every sink received. A run that failed is judged FAIL.
        pending: runs that wait for their judgment, or are being judged.
        open: runs that have not ended yet.
        dropped: not judged, because ``max_pending`` others were waiting, or the handler was closed before they ended.
        unsampled: not judged, because ``sample=`` left them out.
        skipped: not judged, because ``select=`` left them out (nested runs are included), or because the answer is the
            refusal of a ``JuryGuardQueryEngine`` or of a ``JuryMiddleware``.
        broken: not judged, because the judge was interrupted, or a filter of the application or code of this package
            raised an exception. The exception is logged.
        cancelled: not judged, because the application cancelled or interrupted them.
        abandoned: not judged, because the application did not read their stream to the end.
        unanswered: not judged, because they ended without any output; an abandoned stream may look the same.
        paused: not judged, because they stopped to ask a user, or ended with tool calls that have no result yet.
        handed_over: not judged, because the agent handed over to another agent; the run around it has the answer.
        evicted: not judged, because more than ``max_open`` runs were open and the oldest were forgotten.
        sink_errors: calls of a sink that raised an exception. These are calls, not runs.
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
        """Number of runs that the application itself ended: cancelled runs and abandoned streams."""
        return self.cancelled + self.abandoned

    def __repr__(self) -> str:
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return f"Counts({', '.join(f'{name}={number}' for name, number in found.items() if number)})"
