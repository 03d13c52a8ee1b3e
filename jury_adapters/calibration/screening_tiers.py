"""Guards: tiers that decide by rule and not by confidence, and the cases that they leave to the other tiers.

A tier that rejects on any FAIL, or accepts on all PASS, is a guard. Its other vote only means "not my case": an answer
that is not empty is not therefore a good one. So a guard has no confidence to calibrate, and its votes are not
compared with those of jurors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

from jury_adapters.core.batch import BatchOptions, stream
from jury_adapters.core.cascade import CascadedJury, Tier
from jury_adapters.core.case import Case
from jury_adapters.core.escalation import is_guard_policy
from jury_adapters.core.judge import Judge, PlainJudge
from jury_adapters.core.judgment import PASS_OR_FAIL, Judgment, abstain
from jury_adapters.core.verdict import Verdict


def guards_of(cascade: CascadedJury) -> tuple[Tier, ...]:
    """Return the guards at the start of a cascade, in order; there may be none."""
    first = next(place for place, tier in enumerate(cascade.tiers) if not is_guard(tier))  # the last tier is final
    return cascade.tiers[:first]


def is_guard(tier: Tier) -> bool:
    """Whether a tier decides by rule."""
    return is_guard_policy(tier.policy.kind)


@dataclass(frozen=True, slots=True)
class Guarded:
    """Results of guards on labelled cases.

    Attributes:
        reached: positions of the cases that they let through.
        decided: their judgments on the other cases, by position.
        cost: the total cost of the guards, US dollars.
    """

    reached: tuple[int, ...]
    decided: dict[int, Judgment]
    cost: float


def run_guards(guards: Sequence[Tier], cases: Sequence[Case], **options: Unpack[BatchOptions]) -> Guarded:
    """Run guards on cases as at the start of a cascade."""
    if not guards:
        return Guarded(tuple(range(len(cases))), {}, 0.0)
    alone = CascadedJury([*guards, Tier(_LetThrough.name, _LetThrough())])
    reached: list[int] = []
    decided: dict[int, Judgment] = {}
    cost = 0.0
    judges = {tier.name: tier.judge for tier in guards}
    for position, each in enumerate(stream(alone, cases, **options)):
        verdict = each.judgment
        if isinstance(verdict, Verdict) and verdict.stopped_at != _LetThrough.name:
            decided[position] = verdict
        else:
            reached.append(position)
        for tier in verdict.tiers if isinstance(verdict, Verdict) else ():
            if tier.name in judges:
                cost += cost_of(tier.judgment, judges[tier.name])
    return Guarded(tuple(reached), decided, cost)


def cost_of(judgment: Judgment, judge: Judge) -> float:
    """Return the cost of a judgment in US dollars; the judge's own estimate if the judgment has no calls."""
    usage = judgment.usage.total
    return usage.cost_usd if usage.calls else judge.cost


class _LetThrough(PlainJudge):
    """Placeholder for the tiers after the guards."""

    opinion_statuses = PASS_OR_FAIL
    name = "(let through)"

    def examine(self, case: Case) -> Judgment:
        return abstain("the guards let it through")
