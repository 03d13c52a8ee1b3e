"""Pass rate by human labels, to be read beside the pass rate by the verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from jury_adapters.core.formatting import counted, percent
from jury_adapters.core.label_comparison import LabelComparison
from jury_adapters.core.label_scores import PASS

if TYPE_CHECKING:
    from jury_adapters.report.analysis import Analysis

HOW_TO_CORRECT = "`jury report --agreement` corrects the rate by the labels"
"""Pointer for reports that do not hold the corrected rate."""


class HumanRate(NamedTuple):
    """Numbers of labelled cases that human labels pass and that the jury passes.

    Attributes:
        people: number that human labels pass.
        jury: number that the jury passes.
        decided: number of labelled cases that the jury decided.
    """

    people: int
    jury: int
    decided: int

    @property
    def line(self) -> str:
        """The numbers in one line of a terminal, with the command that corrects the rate."""
        people, jury = percent(self.people / self.decided), percent(self.jury / self.decided)
        return (
            f"pass {self.people:,} of {self.decided:,} labelled ({people}), the jury {self.jury:,} ({jury}); jury "
            "report --agreement"
        )

    def __str__(self) -> str:
        return (
            f"of the {counted(self.decided, 'labelled case')} that it decided, the jury passes {self.jury:,} "
            f"({percent(self.jury / self.decided)}) and human labels pass {self.people:,} "
            f"({percent(self.people / self.decided)})"
        )


def human_rate(against: LabelComparison) -> HumanRate | None:
    """Return how many labelled cases the jury passes and how many human labels pass.

    The pass rate of a report is that of the verdicts, whatever the labels say. It is None if there are no labels that
    mean PASS or FAIL, or if both pass the same number.
    """
    jury = against.jury
    if jury is None or not jury.pass_fail:
        return None
    pairs = jury.score.decided_pairs
    by_jury = sum(times for (_, said), times in pairs.items() if said == PASS)
    by_people = sum(times for (truth, _), times in pairs.items() if truth == PASS)
    return None if by_jury == by_people else HumanRate(by_people, by_jury, jury.score.decided)


def corrected_rate(analysis: Analysis) -> str:
    """Return the pass rate that is corrected by human labels, or why there is none; empty if it was not measured."""
    rates = () if analysis.report is None else analysis.report.sections.get("Rates", ())
    return rates[0].sentence if rates else ""
