"""Results of a session of ``jury review``: what was labelled, how far it agrees with the jury, and what to do next."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from jury_adapters.calibration.gold import FEWEST_LABELS
from jury_adapters.cli.label_file import Said
from jury_adapters.cli.review_selection import Selection
from jury_adapters.cli.reviewer_conflicts import describe_contradictions
from jury_adapters.core.duplicates import Identity
from jury_adapters.core.formatting import counted, percent, visible
from jury_adapters.core.statistics import wilson
from jury_adapters.core.values import JsonValue


@dataclass(frozen=True, slots=True)
class ReviewSummary:
    """Results of a review session.

    Attributes:
        file: the file of labels.
        by: the reviewer who labelled.
        labelled: the number of cases labelled in this session.
        total: the number of cases of these results that this reviewer has labelled in all.
        left: the number of selected cases that have no label of this reviewer yet.
        chosen: the selection of cases.
        said: the number of each label in ``total``.
        compared: the number of cases that both the reviewer and the jury decided.
        agreed: the number of these that they decided alike.
        unblinded: the number of compared cases in which the reviewer had seen the verdict first.
        settled: the number of cases in the file of labels with a final label, which calibration uses.
        split: the cases on which labellers contradict each other, with the label of each reviewer.
        reviewers: the number of cases that each reviewer labelled in the file of labels, by name.
        selected: the selections of cases in the file of labels other than ``"all"``.
    """

    file: Path
    by: str
    labelled: int
    total: int
    left: int
    chosen: Selection
    said: dict[str, int]
    compared: int
    agreed: int
    unblinded: int
    settled: int
    split: Mapping[Identity, Sequence[Said]] = field(default_factory=dict)
    reviewers: Mapping[str, int] = field(default_factory=dict)
    selected: Collection[str] = ()

    def to_dict(self) -> dict[str, JsonValue]:
        """Return all figures as JSON values."""
        interval: list[JsonValue] | None = [*wilson(self.agreed, self.compared)] if self.compared else None
        return {
            "labels": str(self.file),
            "by": self.by,
            "labelled": self.labelled,
            "labelled_in_all": self.total,
            "labelled_by_anybody": self.settled,
            "labels_by_reviewer": dict(self.reviewers),
            "contradicting": len(self.split),
            "left": self.left,
            "only": self.chosen.only,
            "sample": self.chosen.sample,
            "said": dict(self.said),
            "agreement_with_jury": {
                "n": self.compared,
                "agreed": self.agreed,
                "share": self.agreed / self.compared if self.compared else None,
                "interval": interval,
                "verdict_seen_before": self.unblinded,
            },
        }

    def __str__(self) -> str:
        said = ", ".join(f"{times:,} {visible(what)}" for what, times in self.said.items())
        lines = [
            f"{counted(self.labelled, 'case')} labelled by {visible(self.by)} now, {self.total:,} so far"
            + (f" ({said}); " if said else "; ")
            + f"{self.left:,} left of those to look at ({self.chosen})"
        ]
        if self.compared:
            low, high = wilson(self.agreed, self.compared)
            lines.append(
                f"agreement with the jury: {self.agreed:,} of {self.compared:,} that both decided, "
                f"{percent(self.agreed / self.compared)} (95 % interval {100 * low:.1f} to {100 * high:.1f} %)"
            )
            if self.chosen.only != "all":
                lines.append(f"these cases were chosen ({self.chosen.only}): on cases at random, expect another figure")
            if self.unblinded:
                given = counted(self.unblinded, "label was", "labels were")
                lines.append(f"of these {given} given with the verdict seen")
        else:
            lines.append("agreement with the jury: no case yet that both have decided")
        if self.total:
            lines.append(f"labels: {visible(str(self.file))}{self._of_reviewers()}; {self._next()}")
        if len(self.reviewers) > 1:
            lines.append(f"how far reviewers agree: jury report {visible(str(self.file))} --agreement")
        return "\n".join(lines)

    def _of_reviewers(self) -> str:
        """Return the number of labels of each reviewer in the file; empty if there are no more than are counted."""
        if sum(self.reviewers.values()) == self.total:
            return ""
        each = [f"{visible(who)} {times:,}" for who, times in islice(self.reviewers.items(), _MOST_REVIEWERS)]
        more = [f"{len(self.reviewers) - _MOST_REVIEWERS:,} more"] if len(self.reviewers) > _MOST_REVIEWERS else []
        return f" has {counted(sum(self.reviewers.values()), 'label')} ({', '.join([*each, *more])})"

    def _next(self) -> str:
        has = f"{counted(self.settled, 'case')} in it {'has' if self.settled == 1 else 'have'} a label; "
        if self.split:
            has += f"{describe_contradictions(self.split)}, {_UNTIL_SETTLED}; "
        if self.selected:
            return (
                f"{has}labels of {' and '.join(sorted(self.selected))} cases are not a fair sample: for jury "
                f"calibrate, label {FEWEST_LABELS} or more with --only all --labels OTHER.jsonl"
            )
        if self.settled < FEWEST_LABELS:
            return f"{has}jury calibrate needs {FEWEST_LABELS} or more, labelled with --only all"
        then = "settle these first, then" if self.split else "next"
        return f"{has}{then}: jury calibrate {visible(str(self.file))} --jury JURY"


_MOST_REVIEWERS = 4
_UNTIL_SETTLED = "left out of every figure and guarantee until one more reviewer settles it: --only all --by NAME"
