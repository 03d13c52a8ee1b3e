"""Number of examples of property tests: few by default, all of them in the slow run."""

from __future__ import annotations

import os

from hypothesis import settings

SLOW = os.environ.get("JURY_TESTS") == "slow"
"""Whether this is the slow run, in which tests that have a small and a full size take the full one."""


def examples(count: int) -> settings:
    """Return the settings of a property test: ``count`` examples in the slow run, else a quarter, at least 15."""
    return settings(max_examples=count if SLOW else max(15, count // 4), deadline=None)
