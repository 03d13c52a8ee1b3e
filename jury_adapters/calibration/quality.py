"""How good predictions are, against what people said."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from jury_adapters.calibration.types import MISSING, Ints
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.statistics import cohen_kappa


@dataclass(frozen=True, slots=True)
class Quality:
    """Predictions against labels. An item without a prediction counts as half right.

    Where one label is rare, always predicting the other gives a high accuracy; the balanced accuracy is then 1/2.

    Attributes:
        n: labelled items.
        accuracy: the share predicted rightly.
        balanced_accuracy: the mean, over the labels that occur, of the share of their items predicted rightly.
        kappa: Cohen's kappa on the items with a prediction; None where chance alone would agree everywhere.
    """

    n: int
    accuracy: float
    balanced_accuracy: float
    kappa: float | None


def quality(predicted: Ints, gold: Ints) -> Quality:
    """Compare predicted codes with people's codes; items that nobody labelled are left out.

    Args:
        predicted: one code per item; -1 for no prediction.
        gold: one code per item; -1 for no label.

    Raises:
        ConfigurationError: no item has a label.
    """
    labelled = gold != MISSING
    if not labelled.any():
        raise ConfigurationError("no item has a label by people to compare with (gold)")
    predicted, gold = predicted[labelled], gold[labelled]
    right = np.where(predicted == MISSING, 0.5, predicted == gold)
    per_label = [float(right[gold == label].mean()) for label in np.unique(gold)]
    return Quality(len(gold), float(right.mean()), float(np.mean(per_label)), _kappa(predicted, gold))


def _kappa(predicted: Ints, gold: Ints) -> float | None:
    answered = predicted != MISSING
    return cohen_kappa(Counter(zip(predicted[answered].tolist(), gold[answered].tolist(), strict=True)))
