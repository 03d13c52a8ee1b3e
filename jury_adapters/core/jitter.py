"""Random numbers for waits and samples, from a generator of the package's own.

A program that seeds the ``random`` module relies on its sequence, which would change if threads of this package used
the same generator.
"""

from __future__ import annotations

import os
import random
from typing import Final

OWN: Final = random.Random()
"""Random generator that only this package uses; many threads may use it."""


def backoff(attempt: int, *, multiplier: float, longest: float) -> float:
    """Return the time in seconds to wait before the next attempt: exponential backoff with full jitter.

    Args:
        attempt: number of attempts so far, from 1.
        multiplier: longest wait after the first attempt, in seconds; it doubles with each further attempt.
        longest: maximum of all waits, in seconds.

    Source: M. Brooker (2015), *Exponential backoff and jitter*, AWS Architecture Blog.

    >>> 0 <= backoff(3, multiplier=0.5, longest=30) <= 2
    True
    """
    return OWN.uniform(0, min(longest, multiplier * 2 ** min(attempt - 1, _DOUBLINGS)))


if hasattr(os, "register_at_fork"):  # otherwise all workers forked from one process would draw the same numbers
    os.register_at_fork(after_in_child=OWN.seed)

_DOUBLINGS = 60  # beyond it, a float may overflow
