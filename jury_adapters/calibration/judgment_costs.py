"""Costs of judgments in US dollars, as reported by their usage or declared by their judge."""

from __future__ import annotations

from collections.abc import Sequence

from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.usage import NO_USAGE
from jury_adapters.core.verdict import Verdict


def costs_of(judgments: Sequence[Judgment], judge: Judge) -> list[float]:
    """Return the cost of each judgment of a judge in US dollars, also of those that a store served.

    A judge that asks a model reports its usage, so a case on which it asks nothing costs nothing. A judge that reports
    no usage on any case, such as a function with ``cost=``, costs its :attr:`Judge.cost` each time.

    Args:
        judgments: the judgments of the judge on all cases.
        judge: the judge, whose jurors were all asked about every case.
    """
    members = judge.members
    verdicts = [each for each in judgments if isinstance(each, Verdict) and len(each.judgments) == len(members)]
    if members and len(verdicts) == len(judgments) and not any(verdict.tiers for verdict in verdicts):
        of_members = (
            costs_of([verdict.judgments[position] for verdict in verdicts], member)
            for position, member in enumerate(members)
        )
        return [sum(costs) for costs in zip(*of_members, strict=True)]
    used = [each.usage.total for each in judgments]
    reported = judge.requests_at_once > 0 or any(usage != NO_USAGE for usage in used)
    return [usage.cost_usd if reported else judge.cost for usage in used]
