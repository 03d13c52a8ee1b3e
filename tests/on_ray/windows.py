"""Number of events within the busiest stretch of time."""

from __future__ import annotations

from collections.abc import Sequence


def most_within(times: Sequence[float], seconds: float) -> int:
    """The most events in any half-open stretch of so many seconds."""
    ordered = sorted(times)
    most = first = 0
    for last, moment in enumerate(ordered):
        while moment - ordered[first] >= seconds:
            first += 1
        most = max(most, last - first + 1)
    return most
