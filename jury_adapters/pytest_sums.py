"""Figures of a run of pytest with juries: verdicts, agreement, calls, and what needs review."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jury_adapters.core.gates import GateResult
    from jury_adapters.core.judgment import Judgment


@dataclass(slots=True)
class SessionSums:
    """Figures so far, as plain values, so that a worker process can send them to the main one.

    Attributes:
        over_budget: the verdicts without a juror whose call did not fit the budget.
        decided_over_budget: the number of these that the other jurors decided.
        asked: how often each juror was asked, by its path.
        broke: how often it broke, also where the others decided; only jurors that did.
        errors: the first error of each juror that broke.
        crashed: the number of worker processes that crashed, whose figures are missing.
        not_measured: the tests in which a condition could not be measured, by the note of the condition's result.
    """

    counts: dict[str, int] = field(default_factory=dict)
    calls: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    cost_complete: bool = True
    over_budget: int = 0
    decided_over_budget: int = 0
    asked: dict[str, int] = field(default_factory=dict)
    broke: dict[str, int] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    agreements: list[float] = field(default_factory=list)
    for_a_person: list[str] = field(default_factory=list)
    crashed: int = 0
    not_measured: dict[str, list[str]] = field(default_factory=dict)

    def add(self, other: Mapping[str, Any]) -> None:
        """Add the figures of a judgment, or of a worker process."""
        for kept, more in ((self.counts, "counts"), (self.asked, "asked"), (self.broke, "broke")):
            for name, count in other[more].items():
                kept[name] = kept.get(name, 0) + count
        self.errors = {**other["errors"], **self.errors}
        self.calls += other["calls"]
        self.tokens += other["tokens"]
        self.cost_usd += other["cost_usd"]
        self.cost_complete &= other["cost_complete"]
        self.crashed += other["crashed"]
        self.over_budget += other["over_budget"]
        self.decided_over_budget += other["decided_over_budget"]
        self.agreements += other["agreements"]
        self.for_a_person += other["for_a_person"]
        for note, tests in other["not_measured"].items():
            self.not_measured.setdefault(note, []).extend(tests)

    def add_gates(self, node_id: str, results: Sequence[GateResult]) -> None:
        """Add the conditions that were skipped because they could not be measured on the verdict of a test."""
        for gate in results:
            if gate.result == "skipped":
                self.not_measured.setdefault(gate.note, []).append(node_id)

    def lines(self) -> Iterator[str]:
        """Yield the lines of the summary at the end of a run."""
        from jury_adapters.core.formatting import clip, counted, visible  # only for runs that use a jury
        from jury_adapters.core.over_budget import over_budget_note

        if self.counts:
            statuses = ", ".join(f"{count} {visible(status)}" for status, count in sorted(self.counts.items()))
            yield f"{counted(sum(self.counts.values()), 'verdict')}: {statuses}"
        if self.over_budget:
            yield over_budget_note(self.over_budget, self.decided_over_budget)
        for juror, times in sorted(self.broke.items(), key=lambda one: -one[1]):
            of = f"{times:,} of {counted(self.asked[juror], 'time')}"
            yield f"{clip(juror, 80) or 'a judge without a name'} broke {of}: {clip(self.errors[juror], 160)}"
        if self.agreements:
            mean = sum(self.agreements) / len(self.agreements)
            yield f"mean agreement {mean:.2f} over {counted(len(self.agreements), 'verdict')} of two or more jurors"
        for note, tests in self.not_measured.items():
            condition, _, found = note.partition(": ")
            on = f"{counted(len(tests), 'verdict')}, first in {tests[0]}"
            yield f"{condition} could not be measured on {on}: {found.removeprefix('undefined ').strip('()')}"
        if self.calls:
            unknown = "" if self.cost_complete else " or more (the cost of a call is unknown)"
            yield f"{counted(self.calls, 'model call')}, {self.tokens:,} tokens, ${self.cost_usd:.4f}{unknown}"
        if self.crashed:
            crashed = counted(self.crashed, "worker process", "worker processes")
            yield f"{crashed} crashed: what was judged there is missing"
        for node_id in dict.fromkeys(self.for_a_person):
            yield f"needs review: {node_id}"


def figures_of(node_id: str, judgment: Judgment) -> dict[str, Any]:
    """Return the figures of the judgment of a test, except for those of its calls."""
    from jury_adapters.core.budget import BUDGET_EXHAUSTED
    from jury_adapters.core.judgment import Status
    from jury_adapters.core.opinions import opinions_of
    from jury_adapters.core.over_budget import is_over_budget

    agreement, short = getattr(judgment, "agreement", None), is_over_budget(judgment)
    opinions = {" / ".join(path): one for path, one in opinions_of(judgment)} or {judgment.critic: judgment}
    broken = {name: one.error or one.reasoning for name, one in opinions.items() if one.status is Status.ERROR}
    return {
        "counts": {str(judgment.status or judgment.label): 1},
        "over_budget": int(short),
        "decided_over_budget": int(short and judgment.valid),
        "asked": {name: 1 for name, one in opinions.items() if one.error != BUDGET_EXHAUSTED},
        "broke": dict.fromkeys(broken, 1),
        "errors": broken,
        "agreements": [] if agreement is None else [agreement],
        "for_a_person": [node_id] if judgment.needs_review else [],
    }
