"""Threshold of a jury's vote that labelled cases suggest. The votes are counted again, and no model is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median_low
from typing import TypeAlias

from jury_adapters.align.changes import Change, Changed, Judged, balanced
from jury_adapters.align.labelled import LabelledCase
from jury_adapters.core.ensemble import Ensemble
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.scorecard import Scorecard
from jury_adapters.core.verdict import Verdict
from jury_adapters.critic.rubric import Rubric

GRID = tuple(step / 20 for step in range(1, 20))
"""Thresholds that are tried: 0.05, 0.10, ..., 0.95."""

Voting: TypeAlias = Ensemble | Scorecard


@dataclass(frozen=True)
class MoveVoteThreshold(Change):
    """Moves the threshold of the jury's own vote to where most labelled cases are judged rightly.

    The balanced accuracy decides. Of several best thresholds the middle one is taken, because it is the farthest from
    those that are worse. There is no change if no threshold of :data:`GRID` is better than the present one, if the vote
    has no threshold, or if votes are missing because the jury stops early.
    """

    async def applied_to(self, jury: Judge, rubric: Rubric, judged: Judged, seed: int) -> Changed | None:
        verdicts = [judgment for _, judgment in judged]
        incomplete = any(isinstance(verdict, Verdict) and verdict.partial for verdict in verdicts)
        if not isinstance(jury, Voting) or jury.threshold is None or incomplete:
            return None
        best = _best_threshold(jury, jury.threshold, verdicts, [one.passed for one, _ in judged])
        return None if best is None else Changed(jury.with_threshold(best), rubric, best)

    def like_applied_to(self, jury: Judge, rubric: Rubric, cases: Sequence[LabelledCase], seed: int) -> Judge | None:
        return None


def vote_threshold(jury: Judge) -> float | None:
    """Return the threshold of a jury's own vote; None if it has none."""
    return jury.threshold if isinstance(jury, Voting) else None


def recount(jury: Voting, verdicts: Sequence[Judgment]) -> list[Judgment]:
    """Return the verdicts of a jury on votes that were cast before; a judgment without votes stays as it is."""
    return [
        jury.aggregate(verdict.judgments) if isinstance(verdict, Verdict) and verdict.judgments else verdict
        for verdict in verdicts
    ]


def _best_threshold(jury: Voting, present: float, verdicts: Sequence[Judgment], labels: Sequence[bool]) -> float | None:
    """Return the threshold that is better than the present one and best; None if there is none."""

    def accuracy(threshold: float) -> float:
        counted = recount(jury.with_threshold(threshold), verdicts)
        return balanced((_passed(verdict), label) for verdict, label in zip(counted, labels, strict=True))

    found = {threshold: accuracy(threshold) for threshold in GRID}
    highest = max(found.values())
    if highest <= accuracy(present):
        return None
    return median_low(threshold for threshold, value in found.items() if value == highest)


def _passed(judgment: Judgment) -> bool | None:
    return judgment.status is Status.PASS if judgment.status in (Status.PASS, Status.FAIL) else None
