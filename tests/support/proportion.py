"""Check that work takes time in proportion to its input, by two inputs that are measured in one run."""

from __future__ import annotations

import time
from collections.abc import Callable

TRIES = 3
"""Number of tries, of which one must succeed: another process may disturb a measurement."""


def assert_proportional(
    work: Callable[[int], object], size: int, *, factor: int = 10, clock: Callable[[], float] = time.thread_time
) -> None:
    """Do work of a size and of `factor` times it, which may take three times as long as proportion allows.

    Quadratic work takes `factor` times as long as that. The clock is by default the processor time of this thread.
    """
    work(size // 2 + 1)  # makes what is made once
    found = []
    for attempt in range(TRIES):
        small = size + attempt * size // 10  # another one each time, so that no cache answers
        found.append(_seconds(work, small * factor, clock) / max(_seconds(work, small, clock), 1e-6))
        if found[-1] < 3 * factor:
            return
    raise AssertionError(f"{factor} times the input takes {', '.join(f'{times:.0f}' for times in found)} times as long")


def _seconds(work: Callable[[int], object], size: int, clock: Callable[[], float]) -> float:
    started = clock()
    work(size)
    return clock() - started
