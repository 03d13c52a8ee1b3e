"""Judgments that lack a juror because its call did not fit the budget."""

from __future__ import annotations

from collections.abc import Sequence

from jury_adapters.core.budget import BUDGET_EXHAUSTED
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.last_result import last_result


@last_result
def is_over_budget(judgment: Judgment) -> bool:
    """Return whether a juror was not asked about a case because its call did not fit the budget."""
    return _is_over_budget(judgment)


def over_budget_note(cases: int, decided: int) -> str:
    """Return words for the cases that were judged without every juror; empty without any.

    >>> over_budget_note(12, 11)
    '12 judged without every juror, because of the budget, and 11 of them decided'
    """
    if not cases:
        return ""
    return f"{cases:,} judged without every juror, because of the budget, and {decided:,} of them decided"


def _is_over_budget(judgment: Judgment) -> bool:
    tiers = getattr(judgment, "tiers", ())
    inside: Sequence[Judgment] = [tier.judgment for tier in tiers] if tiers else getattr(judgment, "judgments", ())
    return any(map(_is_over_budget, inside)) if inside else judgment.error == BUDGET_EXHAUSTED
