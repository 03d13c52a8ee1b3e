"""Opinions of a jury and its jurors beside human labels, counted by the form of the verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import TypeAlias

from jury_adapters.core.human_labels import Learned
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.label_reading import Opinion, said_by
from jury_adapters.core.opinions import Path, comparable_opinions_of
from jury_adapters.core.verdict import Verdict, is_pairwise_opinion
from jury_adapters.core.verdict_facts import outage_as_error

Counts: TypeAlias = "Counter[tuple[str, Opinion | None, Hashable]]"
"""Number of cases by human label, opinion (None without a decision) and group (None for an independent case)."""


class LabelOpinions:
    """Counts of the opinions beside human labels.

    Attributes:
        jury: those of the verdicts.
        jurors: those of each juror that answers the question of the verdict, by its path.
        learned: the meanings of labels, also of verdicts on cases without a human label.
        given: the ``spoken`` of other counts, for opinions of juries in the place of those of jurors.
    """

    def __init__(self) -> None:
        self.jury: Counts = Counter()
        self.jurors: dict[Path, Counts] = {}
        self.learned = Learned()
        self.given: list[Counter[str]] = []

    def add(self, judgment: Judgment, labelled: tuple[str | None, Hashable], times: int) -> None:
        """Count judgments of one form.

        Args:
            judgment: one of them.
            labelled: the human label of their cases, or None, and the group of the cases, or None.
            times: their number.
        """
        self.learned.add(judgment)
        truth, group = labelled
        if truth is None:
            return
        self.jury[truth, said_by(outage_as_error(judgment)), group] += times
        if not isinstance(judgment, Verdict) or is_pairwise_opinion(judgment):
            return
        for path, vote in comparable_opinions_of(judgment):
            self.of_juror(path)[truth, said_by(vote), group] += times

    def of_juror(self, path: Path) -> Counts:
        """Return the counts of one juror, which are empty at first."""
        return self.jurors.setdefault(path, Counter())

    @property
    def spoken(self) -> Counter[str]:
        """Number of opinions of jurors by label, of those without PASS or FAIL; of a single judge, its own opinions."""
        found = Counter[str]()
        for one in self.given:
            found |= one
        for counts in () if self.given else self.jurors.values() or (self.jury,):
            for (_, said, _), times in counts.items():
                if said is not None and said[0] is None and said[1] is not None:
                    found[said[1]] += times
        return found
