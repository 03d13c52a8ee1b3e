"""Groups of unequal size: a calibration counts each of them once, which may hide the errors of large groups."""

from __future__ import annotations

from collections.abc import Sequence
from logging import getLogger

import numpy as np

from jury_adapters.calibration.types import Bools
from jury_adapters.core.formatting import percent
from jury_adapters.core.tolerance import exceeds


def warn_of_large_groups(wrong: Bools, sizes: Sequence[int], allowed: float) -> None:
    """Log a warning if the decided cases disagree too often once each counts for all labelled cases of its group.

    Args:
        wrong: per decided case, whether it disagrees with its human label; one case of each group.
        sizes: per decided case, the number of labelled cases in its group.
        allowed: the share of disagreement that the guarantee allows, 0..1.
    """
    sentence = sentence_on_large_groups(wrong, sizes, allowed)
    if sentence:
        _log.warning("calibrating: %s", sentence)


def sentence_on_large_groups(wrong: Bools, sizes: Sequence[int], allowed: float) -> str:
    """Return the sentence of :func:`warn_of_large_groups`, which has the same arguments; empty if all is well.

    >>> sentence_on_large_groups(np.array([False] * 9 + [True]), [1] * 9 + [6], 0.2).partition(",")[0]
    'the guarantee counts each group once'
    """
    if not len(wrong):
        return ""
    share = float(np.average(wrong, weights=np.asarray(sizes, dtype=np.float64)))
    if not exceeds(share, allowed):
        return ""
    return (
        "the guarantee counts each group once, whatever its size. If each counts with the number of its labelled "
        f"cases, {percent(share)} of the decided cases disagree with human labels, and the guarantee allows "
        f"{percent(allowed)}: it is likely not to hold for the share of all cases, because large groups are judged "
        "worse"
    )


_log = getLogger(__name__)
