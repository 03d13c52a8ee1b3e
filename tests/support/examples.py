"""Sizes of the slow run: more examples of property tests, the full size of large inputs, more kinds of batches."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pytest
from hypothesis import settings

SLOW = os.environ.get("JURY_TESTS") == "slow"
"""Whether this is the slow run, in which tests that have a small and a full size take the full one."""


def examples(count: int) -> settings:
    """Return the settings of a property test: ``count`` examples in the slow run, else a quarter, at least 15."""
    return settings(max_examples=count if SLOW else max(15, count // 4), deadline=None)


def only_first(values: Sequence[object]) -> list[object]:
    """Return the values as parameters of a test, of which all but the first have the marker `slow`."""
    first, *others = values
    return [first, *(pytest.param(other, marks=pytest.mark.slow) for other in others)]
