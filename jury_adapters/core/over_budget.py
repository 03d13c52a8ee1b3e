"""Judgments that lack a juror because its call did not fit the budget."""

from __future__ import annotations

from jury_adapters.core.budget import BUDGET_EXHAUSTED
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.opinions import votes_in


def is_over_budget(judgment: Judgment) -> bool:
    """Return whether a juror was not asked about a case because its call did not fit the budget."""
    return any(vote.error == BUDGET_EXHAUSTED for _, vote in votes_in(judgment))


def over_budget_note(cases: int, decided: int) -> str:
    """Return words for the cases that were judged without every juror; empty without any.

    >>> over_budget_note(12, 11)
    '12 judged without every juror, because of the budget, and 11 of them decided'
    """
    if not cases:
        return ""
    return f"{cases:,} judged without every juror, because of the budget, and {decided:,} of them decided"
