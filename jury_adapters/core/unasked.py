"""Opinions that no judge was asked for: those on empty answers, which a rubric decides by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jury_adapters.core.judgment import Judgment
from jury_adapters.core.tally import Tally

EMPTY_ANSWER = "empty_answer"
"""Entry of the metadata of a judgment on an empty answer, about which no model was asked."""


def is_unasked(judgment: Judgment) -> bool:
    """Whether an opinion is that of a rubric on an empty answer; that of a jury is if those of all its jurors are.

    Such opinions count in the verdict. They show nothing about the jurors, which would all agree.
    """
    metadata = judgment.metadata
    if metadata.get(EMPTY_ANSWER) is True and "rubric_fingerprint" in metadata:  # not an entry of a user's own judge
        return True
    inside = _parts_of(judgment)
    return bool(inside) and all(map(is_unasked, inside))


def asked_ballots(tally: Tally, judgments: Sequence[Judgment]) -> tuple[str | float, ...]:
    """Return the ballots cast by jurors that were asked.

    Args:
        tally: the tally of the vote.
        judgments: the judgments of the jurors.
    """
    unasked = [is_unasked(judgment) for judgment in judgments]
    if True not in unasked:
        return tally.valid_ballots
    if len(tally.ballots) != len(unasked):  # of a file that is not ours, or a rule that keeps no ballots
        return () if all(unasked) else tally.valid_ballots
    cast = (ballot for ballot, left in zip(tally.ballots, unasked, strict=True) if not left)
    return tuple(ballot for ballot in cast if ballot is not None)


def _parts_of(judgment: Judgment) -> list[Judgment]:
    """Return the judgments inside a verdict; only verdicts have any."""
    tiers: Any = getattr(judgment, "tiers", ())
    return [tier.judgment for tier in tiers] or list(getattr(judgment, "judgments", ()))
