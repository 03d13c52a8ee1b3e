"""Number of examples of property tests: few by default, all of them in the long run."""

from __future__ import annotations

import os

from hypothesis import settings

LONG = os.environ.get("JURY_TESTS") == "long"
"""Whether this is the long run, which `.ci/run` makes beside the default one."""


def examples(count: int) -> settings:
    """Return the settings of a property test: ``count`` examples in the long run, else a quarter, at least 15."""
    return settings(max_examples=count if LONG else max(15, count // 4), deadline=None)
