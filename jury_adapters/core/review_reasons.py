"""Reasons why a judgment or a verdict needs human review."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, TypeAlias

ReviewReason: TypeAlias = Literal["abstained", "error", "low_agreement", "broken_tier", "errors_decided", "over_budget"]

DOUBTFUL: Final[frozenset[ReviewReason]] = frozenset({"low_agreement", "broken_tier", "errors_decided"})
"""The reasons that say that jurors were split or that something broke."""

NO_DECISION: Final[tuple[ReviewReason, ...]] = ("abstained", "error")
"""The reasons that say only that nothing was decided."""


def reasons_for_review(
    status: str | None,
    *,
    low_agreement: bool,
    broken_tier: bool,
    errors_decided: bool,
    over_budget: bool,
    of_criteria: Iterable[ReviewReason] = (),
) -> tuple[ReviewReason, ...]:
    """Return the reasons why a verdict needs human review, each once; empty if it does not.

    Args:
        status: the status of the verdict.
        low_agreement: whether the band of the agreement is low.
        broken_tier: whether a tier of a cascade broke.
        errors_decided: whether jurors that broke changed the outcome.
        over_budget: whether the verdict was decided without a juror whose call did not fit the budget.
        of_criteria: the reasons of the criteria of a scorecard; a missing decision on a criterion is not a reason.

    >>> reasons_for_review(
    ...     "ABSTAIN", low_agreement=True, broken_tier=False, errors_decided=False, over_budget=False
    ... )
    ('abstained', 'low_agreement')
    """
    found: dict[ReviewReason, None] = dict.fromkeys(no_decision_reasons(status))
    if low_agreement:
        found["low_agreement"] = None
    if broken_tier:
        found["broken_tier"] = None
    if errors_decided:
        found["errors_decided"] = None
    if over_budget:
        found["over_budget"] = None
    return tuple(found | dict.fromkeys(reason for reason in of_criteria if reason not in NO_DECISION))


def no_decision_reasons(status: str | None) -> tuple[ReviewReason, ...]:
    """Return the reason for review of a judgment that decided nothing; nothing for any other status."""
    if status == "ABSTAIN":
        return ("abstained",)
    return ("error",) if status == "ERROR" else ()
