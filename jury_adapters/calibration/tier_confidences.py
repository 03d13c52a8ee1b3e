"""Confidences of tiers as a calibration reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jury_adapters.calibration.full_votes import OF_A_VOTE, states_none
from jury_adapters.calibration.types import Floats
from jury_adapters.core.judgment import Judgment


@dataclass(frozen=True, slots=True)
class TierConfidences:
    """Confidences of tiers on labelled cases.

    Attributes:
        values: items x tiers, 0..1; -1 without an opinion, and without a confidence where the tier states some.
        full_votes: per tier, whether it states no confidence, so that each of its verdicts counts as a full vote.
        unstated: per tier, the number of verdicts that never decide, because they lack a confidence.
    """

    values: Floats
    full_votes: tuple[bool, ...]
    unstated: tuple[int, ...]

    @classmethod
    def of(cls, judged: Sequence[Sequence[Judgment]]) -> TierConfidences:
        """Read the confidences.

        Args:
            judged: for each tier, its judgments of the items.

        >>> from jury_adapters import Judgment, Status, abstain
        >>> TierConfidences.of([[Judgment(Status.PASS), abstain("unclear")]]).values.tolist()
        [[1.0], [-1.0]]
        """
        full_votes = tuple(states_none(judgments) for judgments in judged)
        values = [
            [_confidence(one, OF_A_VOTE if full else _NONE) for one in judgments]
            for judgments, full in zip(judged, full_votes, strict=True)
        ]
        unstated = [
            0 if full else sum(one.valid and one.confidence is None for one in judgments)
            for judgments, full in zip(judged, full_votes, strict=True)
        ]
        return cls(np.array(values, dtype=np.float64).T, full_votes, tuple(unstated))


def _confidence(judgment: Judgment, missing: float) -> float:
    """Return the confidence as the cascade reads it; -1 without an opinion, which is never accepted."""
    if not judgment.valid:
        return _NONE
    return missing if judgment.confidence is None else judgment.confidence


_NONE = -1.0
