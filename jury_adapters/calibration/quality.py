"""Predictions, as codes, against human labels."""

from __future__ import annotations

from collections import Counter

from jury_adapters.calibration.types import MISSING, Ints
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.statistics import Score


def quality(predicted: Ints, gold: Ints) -> Score:
    """Compare predicted codes with the codes of human labels; items without a label are left out.

    Args:
        predicted: one code per item; -1 for no prediction, which counts as half right.
        gold: one code per item; -1 for no label.

    Raises:
        ConfigurationError: no item has a label.
    """
    labelled = gold != MISSING
    if not labelled.any():
        raise ConfigurationError("no item has a label by people to compare with (gold)")
    pairs = Counter(zip(gold[labelled].tolist(), predicted[labelled].tolist(), strict=True))
    score = Score()
    for (truth, said), times in pairs.items():
        score.pairs[truth, None if said == MISSING else said] += times
    return score


def balanced_accuracy(predicted: Ints, gold: Ints) -> float:
    """Return the balanced accuracy of predicted codes; see :func:`quality`."""
    found = quality(predicted, gold).balanced_accuracy
    assert found is not None  # quality() refuses items without labels
    return found
