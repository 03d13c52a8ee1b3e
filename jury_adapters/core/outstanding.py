"""Count of calls without a known caller, which stops a judge that calls itself in new threads."""

from __future__ import annotations

import os
import threading


class Outstanding:
    """Number of running calls of judges, by judge object and case object.

    The context of a call normally contains the judge that made it. A new thread and a task with an empty context have
    no such context, and a judge that calls itself there looks like an independent call. So the number of independent
    calls of one judge for one case object is limited. The limit is far above normal concurrent use of one case object.
    """

    def __init__(self) -> None:
        self._counts: dict[tuple[int, int], int] = {}
        self._lock = threading.RLock()  # reentrant, because a finaliser may judge while its thread holds it

    def add(self, judge: object, case: object, weight: int = 1) -> int:
        """Add a call, and return the number of running calls."""
        key = (id(judge), id(case))  # both exist as long as the call
        with self._lock:
            count = self._counts[key] = self._counts.get(key, 0) + weight
        return count

    def remove(self, judge: object, case: object, weight: int = 1) -> None:
        """Remove a call that has ended."""
        key = (id(judge), id(case))
        with self._lock:
            left = self._counts.get(key, 0) - weight
            if left > 0:
                self._counts[key] = left
            else:
                self._counts.pop(key, None)


MOST_OUTSTANDING = 10_000  # maximum number of independent calls of one judge for one case object
WAITING_THREAD = 19  # weight of a waiting thread in addition to its call, so that 500 threads reach the limit
OUTSTANDING = Outstanding()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=OUTSTANDING.__init__)  # type: ignore[misc]
