"""Tiers whose judges state no confidence, and so decide by full votes.

A judge that is not a jury, such as a check, need not state a confidence. Written as a jury of one, it would have the
confidence of its vote, which is 1. So if a tier states no confidence on any labelled case, each of its verdicts counts
with a confidence of 1. A tier that states some confidences says something by leaving one out: such a verdict never
decides.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from jury_adapters.core.formatting import visible
from jury_adapters.core.judgment import Judgment

OF_A_VOTE = 1.0
"""Confidence of a jury of one in its vote."""


def states_none(judgments: Sequence[Judgment]) -> bool:
    """Whether there are verdicts, and none of them has a confidence."""
    verdicts = [one for one in judgments if one.valid]
    return bool(verdicts) and all(one.confidence is None for one in verdicts)


def full_votes_sentence(tiers: Collection[str]) -> str:
    """Return a sentence about the tiers that state no confidence; empty without any.

    >>> full_votes_sentence(["checks"])
    "The tier 'checks' states no confidence, so each of its verdicts counts as the vote of a jury of one, with 1."
    """
    names = [f"'{visible(name)}'" for name in tiers]
    if not names:
        return ""
    *others, last = names
    who, state, its = ("tiers", "state", "their") if others else ("tier", "states", "its")
    listed = f"{', '.join(others)} and {last}" if others else last
    return (
        f"The {who} {listed} {state} no confidence, so each of {its} verdicts counts as the vote of a jury of one, "
        f"with {OF_A_VOTE:g}."
    )
