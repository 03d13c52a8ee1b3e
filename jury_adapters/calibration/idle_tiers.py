"""Tiers of a calibrated cascade that are asked and decide nothing."""

from __future__ import annotations

from collections.abc import Mapping

from jury_adapters.core.formatting import percent, visible
from jury_adapters.core.tolerance import exceeds


def idle_sentence(thresholds: Mapping[str, float | None], shares: Mapping[str, float]) -> str:
    """Return a sentence about the tiers that are asked and decided none of the labelled cases; empty without any.

    Args:
        thresholds: the threshold of each tier, in order; None for a tier that is not asked.
        shares: the share of the labelled cases that each tier decides.

    >>> idle_sentence({"cheap": 0.67, "all": 0.67}, {"cheap": 0.8, "all": 0.0}).split(". ")[0]
    "The tier 'all' decided no labelled case, and is asked about 20.0 % of them"
    """
    left, idle = 1.0, {}
    for name, threshold in thresholds.items():
        if threshold is not None and not shares.get(name) and exceeds(left, 0.0):
            idle[name] = left
        left -= shares.get(name, 0.0)
    return " ".join(
        f"The tier '{visible(name)}' decided no labelled case, and is asked about {percent(share)} of them. Without it "
        "the jury would save these calls; if you remove it, calibrate again."
        for name, share in idle.items()
    )
