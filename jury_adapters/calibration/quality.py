"""Scores of predicted codes against human labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

from jury_adapters.calibration.types import MISSING, Ints
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.statistics import Score


class ScoreOfAll(Score):
    """Score that counts an abstention as half right, so that juries of different coverage compare by one number.

    Juries and thresholds are chosen by it. Accuracy, balanced accuracy and recall cover all cases; ``kappa`` covers the
    decided ones.
    """

    @property
    def accuracy(self) -> float | None:
        """Share of all cases that is right, with an abstention as half right; None without cases."""
        return (self.right + (self.cases - self.decided) / 2) / self.cases if self.cases else None

    def recall(self, truth: Hashable) -> float | None:
        """Return the share of cases with this human label that is right, with an abstention as half right."""
        total = sum(count for (label, _), count in self.pairs.items() if label == truth)
        return (self.pairs[truth, truth] + self.pairs[truth, None] / 2) / total if total else None


def quality(predicted: Ints, gold: Ints) -> ScoreOfAll:
    """Compare predicted codes with the codes of human labels; items without a label are left out.

    Args:
        predicted: one code per item; -1 for no prediction, which counts as half right.
        gold: one code per item; -1 for no label.

    Raises:
        ConfigurationError: no item has a label.
    """
    labelled = gold != MISSING
    if not labelled.any():
        raise ConfigurationError("no item has a human label to compare with (gold)")
    pairs = Counter(zip(gold[labelled].tolist(), predicted[labelled].tolist(), strict=True))
    score = ScoreOfAll()
    for (truth, said), times in pairs.items():
        score.pairs[truth, None if said == MISSING else said] += times
    return score


def balanced_accuracy(predicted: Ints, gold: Ints) -> float:
    """Return the balanced accuracy of predicted codes; see :func:`quality`."""
    found = quality(predicted, gold).balanced_accuracy
    assert found is not None  # quality() refuses items without labels
    return found
