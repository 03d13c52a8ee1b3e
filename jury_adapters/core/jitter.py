"""Chance of the package's own, for waits and samples.

A program that seeds the ``random`` module counts on its numbers. Threads of this package that drew from the same
generator would shift them.
"""

from __future__ import annotations

import os
import random
from typing import Final

OWN: Final = random.Random()
"""Generator that no other code draws from. It may be used by many threads."""


def backoff(attempt: int, *, multiplier: float, longest: float) -> float:
    """Return a wait in seconds before the next attempt: exponential, with full jitter.

    Args:
        attempt: number of attempts so far, from 1.
        multiplier: longest wait after the first attempt, in seconds; it doubles with each further one.
        longest: limit of all waits, in seconds.

    Source: M. Brooker (2015), *Exponential backoff and jitter*, AWS Architecture Blog.

    >>> 0 <= backoff(3, multiplier=0.5, longest=30) <= 2
    True
    """
    return OWN.uniform(0, min(longest, multiplier * 2 ** min(attempt - 1, _DOUBLINGS)))


if hasattr(os, "register_at_fork"):  # or all workers that were forked from one process would wait alike
    os.register_at_fork(after_in_child=OWN.seed)

_DOUBLINGS = 60  # beyond it, a float may overflow
