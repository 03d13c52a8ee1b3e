"""Opinions of several juries on the same labelled cases, which show whether one agrees more with human labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from jury_adapters.core.formatting import counted, visible
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.label_reading import Opinion, Reading, said_by
from jury_adapters.core.values import JsonValue
from jury_adapters.core.verdict_facts import outage_as_error
from jury_adapters.statistics.difference_sentences import better, p_value_in_words, why_no_difference
from jury_adapters.statistics.differences import PairedCounts, counts_by_group, interval_and_test

_SHOWN = {"a": "it agrees less often", "b": "it agrees more often", None: "no difference is shown"}


@dataclass(frozen=True, slots=True)
class AgreementDifference:
    """Difference of two juries' agreement with human labels, on the labelled cases that both decide.

    Attributes:
        one: the name of the first jury.
        other: that of the second jury, from whose agreement that of the first is subtracted.
        counts: the cases on which both agree with the label, only one of them, or neither.
        interval: the 95 % interval of the difference: Newcombe's for paired shares, or that of groups.
        p_value: that of the exact McNemar test, or of the test that flips the signs of whole groups.
        groups: number of groups; None for independent cases.
    """

    one: str
    other: str
    counts: PairedCounts
    interval: tuple[float, float]
    p_value: float
    groups: int | None = None

    @property
    def value(self) -> float:
        """The difference."""
        return (self.counts.b_only - self.counts.a_only) / self.counts.decided

    def to_dict(self) -> dict[str, JsonValue]:
        """Return JSON values."""
        which = better(self.interval, self.p_value)
        return {
            "jury": self.one,
            "cases": self.counts.decided,
            "difference": self.value,
            "interval": list(self.interval),
            "p_value": self.p_value,
            "groups": self.groups,
            "agrees_more": None if which is None else {"a": self.one, "b": self.other}[which],
        }

    def __str__(self) -> str:
        both, only_one, only_other = self.counts[:3]
        low, high = self.interval
        test = "exact McNemar test" if self.groups is None else f"sign-flip test of {counted(self.groups, 'group')}"
        why = why_no_difference(self.interval, self.p_value, "exact" if self.groups is None else "sign-flip")
        return (
            f"{visible(self.other)} agrees with human labels on {both + only_other:,} of the "
            f"{counted(self.counts.decided, 'labelled case')} that both decide, {visible(self.one)} on "
            f"{both + only_one:,}: {_SHOWN[better(self.interval, self.p_value)]} ({100 * self.value:+.1f} points, 95 % "
            f"interval {100 * low:+.1f} to {100 * high:+.1f}; {test}, {p_value_in_words(self.p_value)})."
            f"{f' {why}.' if why else ''}"
        )


class JointOpinions:
    """Counts of labelled cases by the opinions of all juries, so that two juries are compared case by case."""

    def __init__(self) -> None:
        self._seen: Counter[tuple[str, tuple[Opinion | None, ...], Hashable]] = Counter()

    def add(self, label: str, verdicts: Sequence[Judgment], group: Hashable = None) -> None:
        """Count a case.

        Args:
            label: its human label.
            verdicts: that of each jury, in the same order for all cases.
            group: its group; None for an independent case.
        """
        self._seen[label, tuple(said_by(outage_as_error(verdict)) for verdict in verdicts), group] += 1

    def difference(
        self, one: int, other: int, readings: Sequence[Reading], names: Sequence[str]
    ) -> AgreementDifference | None:
        """Return the difference of two juries' agreement; None if no labelled case is decided by both.

        Args:
            one: the position of the first jury.
            other: that of the second jury.
            readings: how the labels are compared with the opinions of each jury.
            names: the names of the juries.
        """
        pairs: list[tuple[bool | None, bool | None]] = []
        groups: list[Hashable] = []
        for (label, said, group), times in self._seen.items():
            pair = (_agrees(readings[one], label, said[one]), _agrees(readings[other], label, said[other]))
            pairs += [pair] * times
            groups += [group] * times
        counts = PairedCounts.of(pairs)
        if not counts.decided:
            return None
        by_group = counts_by_group(pairs, groups if any(group is not None for group in groups) else ())
        interval, p_value = interval_and_test(counts, by_group)
        return AgreementDifference(names[one], names[other], counts, interval, p_value, len(by_group) or None)


def _agrees(reading: Reading, label: str, said: Opinion | None) -> bool | None:
    opinion = reading.opinion(said)
    return None if opinion is None else opinion == reading.truth(label)
