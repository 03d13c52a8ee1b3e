"""Groups of requests that were sent at about one time, for the share of 429 responses among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(slots=True, eq=False)
class Cohort:
    """Requests sent within one interval, about a second long.

    A request belongs to the cohort in which it was sent, whenever its answer arrives. So slow replies and fast refusals
    are compared with each other, and answers to requests sent at an earlier rate do not count against the current one.

    Attributes:
        since: start time of the interval.
        until: end time of the interval.
        sent: number of requests sent.
        refused: number of them answered with 429.
        due: time from which nearly all refusals have arrived.
        settling: whether the rate was cut just before, so that the cohort is not evaluated.
        first_refused: lowest number of a request that was refused.
        last_refused: highest number of a request that was refused.
    """

    since: float
    until: float
    sent: int = 0
    refused: int = 0
    due: float = 0.0
    settling: bool = False
    first_refused: int = 0
    last_refused: int = 0

    def refuse(self, number: int) -> None:
        """Count a 429 to the request with this number."""
        self.first_refused = min(self.first_refused, number) if self.refused else number
        self.last_refused = max(self.last_refused, number)
        self.refused += 1

    @property
    def span(self) -> int:
        """Number of requests from the first refused one to the last."""
        return self.last_refused - self.first_refused + 1


class Sent(NamedTuple):
    """Request with its cohort, its number among all requests, and the time at which it was sent."""

    cohort: Cohort
    number: int
    at: float
