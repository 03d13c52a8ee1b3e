"""Count of calls whose context names no caller, so that a judge that calls itself in new threads is stopped."""

from __future__ import annotations

import os
import threading


class Outstanding:
    """Calls of judges that are under way, counted by judge object and case object.

    A call normally knows the judge that made it, by its context. A new thread and a task with an empty context have
    none, and a judge that calls itself there looks like an independent call. So independent calls of one judge for one
    case object are limited. The limit is far above what honest concurrent use of one case object reaches.
    """

    def __init__(self) -> None:
        self._counts: dict[tuple[int, int], int] = {}
        self._lock = threading.RLock()  # a finaliser may judge while its thread holds it

    def add(self, judge: object, case: object, weight: int = 1) -> int:
        """Count a call, and return how many are under way."""
        key = (id(judge), id(case))  # both live as long as the call
        with self._lock:
            count = self._counts[key] = self._counts.get(key, 0) + weight
        return count

    def remove(self, judge: object, case: object, weight: int = 1) -> None:
        """Count a call no longer."""
        key = (id(judge), id(case))
        with self._lock:
            left = self._counts.get(key, 0) - weight
            if left > 0:
                self._counts[key] = left
            else:
                self._counts.pop(key, None)


MOST_OUTSTANDING = 10_000  # independent calls of one judge for one case object
WAITING_THREAD = 19  # beside the call itself: threads are scarce, and 500 that wait reach the limit
OUTSTANDING = Outstanding()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=OUTSTANDING.__init__)  # type: ignore[misc]
