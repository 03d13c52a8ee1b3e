"""Types of votes, and of arrays of votes."""

from __future__ import annotations

from math import nan
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]
Value: TypeAlias = str | float
Raw: TypeAlias = object  # a vote before conversion: text, number, True/False, or None if there is none
On: TypeAlias = Literal["label", "status", "score"]

MISSING = -1
"""Code of a missing vote."""


class Numbers(NamedTuple):
    """Numbers that a judgment states in addition to its vote.

    Attributes:
        confidence: its own certainty, 0..1; NaN for none, and infinity for one that is not a number from 0 to 1.
        score: its rating in the units of its rubric, else its score; NaN for none.
    """

    confidence: float = nan
    score: float = nan


class Answer(NamedTuple):
    """One answer of a juror that was asked several times: its vote and its numbers."""

    vote: Raw
    numbers: Numbers


def counted(codes: Ints, labels: int) -> Ints:
    """Return a matrix of items x labels: the number of times that each label occurs in each row of codes."""
    wide = labels + 1  # the last column counts the missing votes
    cells = np.where(codes == MISSING, labels, codes) + np.arange(len(codes))[:, None] * wide
    counts = np.bincount(cells.ravel(), minlength=len(codes) * wide).reshape(-1, wide)
    return counts[:, :labels].astype(np.int64)
