"""Screening tiers: tiers that decide by rule and not by confidence, and the cases that they leave to the other tiers.

A tier that rejects on any FAIL, or accepts on all PASS, is a screening tier. Its other vote only means "not my case":
an answer that is not empty is not therefore a good one. So a screening tier has no confidence to calibrate, and its
votes are not compared with those of jurors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

from jury_adapters.calibration.judgment_costs import costs_of
from jury_adapters.core.batch import BatchOptions, stream
from jury_adapters.core.cascade import CascadedJury, Tier
from jury_adapters.core.case import Case
from jury_adapters.core.formatting import visible
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import PASS_OR_FAIL, Judgment, abstain
from jury_adapters.core.tier_policies import is_screening_policy
from jury_adapters.core.verdict import Verdict


def screening_tiers_of(cascade: CascadedJury) -> tuple[Tier, ...]:
    """Return the screening tiers at the start of a cascade, in order; there may be none."""
    # The last tier is final, so there is one.
    first = next(place for place, tier in enumerate(cascade.tiers) if not is_screening_tier(tier))
    return cascade.tiers[:first]


def is_screening_tier(tier: Tier) -> bool:
    """Whether a tier decides by rule."""
    return is_screening_policy(tier.policy.kind)


def name_screening_tiers(names: Sequence[str]) -> str:
    """Return screening tiers with their names as part of a sentence, on one line.

    >>> name_screening_tiers(["checks"]), name_screening_tiers(["checks", "flags"])
    ("the screening tier 'checks'", "the screening tiers 'checks' and 'flags'")
    """
    *others, last = (f"'{visible(name)}'" for name in names)
    return f"the screening tiers {', '.join(others)} and {last}" if others else f"the screening tier {last}"


@dataclass(frozen=True, slots=True)
class ScreeningResult:
    """Result of screening tiers on labelled cases.

    Attributes:
        reached: positions of the cases that they let through.
        decided: their judgments on the other cases, by position.
        cost: the total cost of the screening tiers, US dollars.
        verdicts: their verdict on each case; empty if there are no screening tiers.
    """

    reached: tuple[int, ...]
    decided: dict[int, Judgment]
    cost: float
    verdicts: tuple[Judgment, ...] = ()


def run_screening_tiers(
    screening_tiers: Sequence[Tier], cases: Sequence[Case], **options: Unpack[BatchOptions]
) -> ScreeningResult:
    """Run screening tiers on cases as at the start of a cascade."""
    if not screening_tiers:
        return ScreeningResult(tuple(range(len(cases))), {}, 0.0)
    alone = CascadedJury([*screening_tiers, Tier(_LetThrough.name, _LetThrough())])
    reached: list[int] = []
    decided: dict[int, Judgment] = {}
    verdicts: list[Judgment] = []
    of_tiers: dict[str, list[Judgment]] = {tier.name: [] for tier in screening_tiers}
    for position, each in enumerate(stream(alone, cases, **options)):
        verdict = each.judgment
        verdicts.append(verdict)
        if isinstance(verdict, Verdict) and verdict.stopped_at != _LetThrough.name:
            decided[position] = verdict
        else:
            reached.append(position)
        for tier in verdict.tiers if isinstance(verdict, Verdict) else ():
            if tier.name in of_tiers:
                of_tiers[tier.name].append(tier.judgment)
    cost = sum(sum(costs_of(of_tiers[tier.name], tier.judge)) for tier in screening_tiers)
    return ScreeningResult(tuple(reached), decided, cost, tuple(verdicts))


class _LetThrough(Judge):
    """Placeholder for the tiers after the screening tiers."""

    opinion_statuses = PASS_OR_FAIL
    name = "(let through)"

    def assess(self, case: Case) -> Judgment:
        return abstain("screening lets it through")
