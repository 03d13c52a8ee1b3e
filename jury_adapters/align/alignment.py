"""Result of aligning a jury: what was tried, what the test of the best one showed, and the new jury."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from jury_adapters.core.formatting import counted, percent, visible
from jury_adapters.core.judge import Judge
from jury_adapters.core.usage import Usage
from jury_adapters.core.values import JsonValue
from jury_adapters.critic.rubric import Rubric


@dataclass(frozen=True, slots=True)
class CandidateResult:
    """Candidate and its balanced accuracy in cross-validation.

    Attributes:
        name: the change.
        accuracy: the balanced accuracy on cases that it did not learn from; None if the cases suggest no such change.
        failed: number of cases on which a juror failed, because of an outage or a spent budget.
    """

    name: str
    accuracy: float | None
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Alignment:
    """Result of aligning a jury. It prints as a report.

    Attributes:
        accepted: whether the test showed that the changed jury agrees more with the labels.
        jury: the changed jury if it was accepted, else the jury as it was.
        rubric: the rubric of ``jury``, with its history.
        chosen: the name of the change that was tested; empty if none was better in cross-validation.
        candidates: every change that was tried, the jury as it is first.
        p: one-sided p value of the exact paired test; 1 without a test.
        won: number of test cases that only the changed jury judged rightly.
        lost: number of test cases that only the jury as it was judged rightly.
        right_before: number of test cases that the jury as it was judged rightly.
        right_after: number of test cases that the changed jury judged rightly.
        interval_before: 95 % interval of the share of cases that the jury as it was judges rightly, by groups.
        interval_after: 95 % interval of the share of cases that the changed jury judges rightly, by groups.
        balanced_before: balanced accuracy of the jury as it was, on the test cases.
        balanced_after: balanced accuracy of the changed jury, on the test cases.
        searched: number of cases that the candidates were chosen with.
        tested: number of cases of the test, which were not looked at before.
        groups: number of independent groups of these cases; the p value and the intervals allow for them.
        level: the level of the test.
        labels: digest of all labelled cases.
        diff: the change as a unified diff of the rubric and of the threshold of the vote.
        threshold: the threshold of the vote that was tested; None if the change was one of the rubric.
        suggestions: advice about jurors, which is never applied.
        usage: the calls, tokens and costs.
    """

    accepted: bool
    jury: Judge
    rubric: Rubric
    chosen: str = ""
    candidates: tuple[CandidateResult, ...] = ()
    p: float = 1.0
    won: int = 0
    lost: int = 0
    right_before: int = 0
    right_after: int = 0
    interval_before: tuple[float, float] = (0.0, 1.0)
    interval_after: tuple[float, float] = (0.0, 1.0)
    balanced_before: float | None = None
    balanced_after: float | None = None
    searched: int = 0
    tested: int = 0
    groups: int = 0
    level: float = 0.01
    labels: str = ""
    diff: str = ""
    threshold: float | None = None
    suggestions: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)

    def to_dict(self) -> dict[str, JsonValue]:
        """Return everything but the jury as JSON values."""
        names = (
            "accepted", "chosen", "p", "won", "lost", "right_before", "right_after", "balanced_before",
            "balanced_after", "searched", "tested", "groups", "level", "labels", "diff", "threshold",
        )  # fmt: skip
        return {
            **{name: getattr(self, name) for name in names},
            "interval_before": list(self.interval_before),
            "interval_after": list(self.interval_after),
            "candidates": [
                {"name": one.name, "accuracy": one.accuracy, "failed": one.failed} for one in self.candidates
            ],
            "suggestions": list(self.suggestions),
            "calls": self.usage.calls,
            "cost_usd": self.usage.cost_usd,
        }

    def __str__(self) -> str:
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield f"Tried on {counted(self.searched, 'labelled case')}, {counted(len(self.candidates) - 1, 'candidate')}"
        for one in self.candidates:
            mark = "  <- tested" if one.name == self.chosen else ""
            failed = f", jurors failed on {one.failed} of {self.searched}" if one.failed else ""
            yield f"  {one.name:<26} balanced accuracy {percent(one.accuracy)}{failed}{mark}"
        yield ""
        if not self.chosen:
            yield "No candidate was better than the jury as it is; nothing was tested, and nothing changes."
        else:
            yield from self._test()
        for line in self.suggestions:
            yield f"- {visible(line)}"
        if self.diff:
            yield ""
            yield from (visible(line) for line in self.diff.splitlines())

    def _test(self) -> Iterator[str]:
        yield f"Tested once on {counted(self.tested, 'other case')}"
        for name, right, (low, high), share in (
            ("before", self.right_before, self.interval_before, self.balanced_before),
            ("after", self.right_after, self.interval_after, self.balanced_after),
        ):
            yield (
                f"  {name:<7} {right} of {self.tested} right (95 % interval {percent(low)} to {percent(high)}), "
                f"balanced accuracy {percent(share)}"
            )
        groups = "" if self.groups == self.tested else f", for the {self.groups} independent groups of these cases"
        yield f"  only after {self.won}, only before {self.lost}: p {self.p:.2g} (exact, one-sided{groups})"
        if self.accepted:
            yield f"Accepted at the level {self.level:g}."
        else:
            yield f"Not accepted at the level {self.level:g}: the labels do not show that it is better."
