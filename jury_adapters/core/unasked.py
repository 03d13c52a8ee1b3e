"""Opinions that no judge was asked for: those on empty answers, which a rubric decides by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jury_adapters.core.last_result import last_result

if TYPE_CHECKING:
    from jury_adapters.core.judgment import Judgment
    from jury_adapters.core.verdict import Verdict

EMPTY_ANSWER = "empty_answer"
"""Entry of the metadata of a judgment on an empty answer, about which no model was asked."""


def is_unasked(judgment: Judgment) -> bool:
    """Whether an opinion is that of a rubric on an empty answer; that of a jury is if those of all its jurors are.

    Such opinions count in the verdict. They show nothing about the jurors, which would all agree.
    """
    if EMPTY_ANSWER in judgment.metadata:
        return True
    inside = _parts_of(judgment)
    return bool(inside) and all(map(is_unasked, inside))


@last_result
def asked_ballots(verdict: Verdict) -> tuple[str | float, ...]:
    """Return the ballots cast by jurors that were asked."""
    cast = verdict.tally.ballots
    unasked = [is_unasked(judgment) for judgment in verdict.judgments]
    if True not in unasked:
        return verdict.tally.valid_ballots
    if len(cast) != len(unasked):  # of a file that is not ours, or a rule that keeps no ballots
        return () if all(unasked) else verdict.tally.valid_ballots
    return tuple(ballot for ballot, left in zip(cast, unasked, strict=True) if not left and ballot is not None)


def _parts_of(judgment: Judgment) -> list[Judgment]:
    """Return the judgments inside a verdict; only verdicts have any."""
    tiers: Any = getattr(judgment, "tiers", ())
    return [tier.judgment for tier in tiers] or list(getattr(judgment, "judgments", ()))
