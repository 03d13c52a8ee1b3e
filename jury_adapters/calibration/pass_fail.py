"""Votes and human labels as PASS and FAIL, where several labels mean PASS."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from jury_adapters.calibration.types import MISSING, Ints, Value
from jury_adapters.calibration.votes import Votes


def as_pass_fail(votes: Votes) -> Votes:
    """Return a batch in which several labels mean PASS with the labels FAIL and PASS, and any other batch unchanged.

    Args:
        votes: the batch; ``pass_labels`` are the labels that mean PASS, and PASS itself does.

    >>> grades = Votes.from_rows([[4, 5], [2, 4]], gold=[5, 1], pass_label=["4", "5"])
    >>> as_pass_fail(grades).codes.tolist(), as_pass_fail(grades).gold.tolist()
    ([[1, 1], [0, 1]], [1, 0])
    """
    passes = np.array([_word(label) in {"PASS", *votes.pass_labels} for label in votes.labels], dtype=np.int64)
    if votes.pass_code is not None or len(votes.pass_labels) < _SEVERAL or not passes.any():
        return votes

    def recoded(codes: Ints) -> Ints:
        return np.where(codes == MISSING, MISSING, passes[codes])

    return replace(
        votes, codes=recoded(votes.codes), gold=recoded(votes.gold), labels=("FAIL", "PASS"), pass_label="PASS"
    )


_SEVERAL = 2


def _word(label: Value) -> str:
    return label if isinstance(label, str) else f"{label:g}"
