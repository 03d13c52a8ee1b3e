"""How much work a function does, counted in place of timed: the count is the same on every machine."""

import sys
from collections.abc import Callable


def calls_of(work: Callable[[], object]) -> int:
    """Return how many functions, built-in ones included, are called while it works."""
    count = 0

    def called(frame: object, event: str, function: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count
