"""Comparison of human labels with opinions: as PASS and FAIL if both have such a meaning, else as labels."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from jury_adapters.core.formatting import counted, visible
from jury_adapters.core.human_labels import LabelMeanings, tally, unclear
from jury_adapters.core.judgment import Judgment, Status

HOW_TO_NAME_THEM = "name the labels that mean PASS: --pass-label LABEL (in Python pass_labels=['LABEL'])"
_MOST_NAMED = 6

Opinion: TypeAlias = tuple[Status | None, str | None]
"""Status and label of a judgment that is neither an abstention nor an error."""


def said_by(judgment: Judgment) -> Opinion | None:
    """Return the opinion of a judgment; None for an abstention or an error."""
    return (judgment.status, judgment.label) if judgment.valid else None


@dataclass(frozen=True, slots=True)
class Reading:
    """Conversion of human labels and opinions to values that can be compared.

    Attributes:
        meanings: the PASS or FAIL meaning of labels; None to compare labels unchanged.
        labels: the count of each human label.
        problem: the reason why they cannot be compared, with the fix; empty if they can.
        spoken: the labels that jurors give without PASS or FAIL. With listed PASS labels the others mean FAIL, also if
            no case has them as a human label.
    """

    meanings: LabelMeanings | None = None
    labels: Mapping[str, int] = field(default_factory=dict)
    problem: str = ""
    spoken: Mapping[str, int] = field(default_factory=dict)

    @property
    def pass_fail(self) -> bool:
        """Whether labels and opinions are compared as PASS and FAIL."""
        return self.meanings is not None

    def truth(self, label: str) -> str:
        """Return the value of a human label in the comparison."""
        return label if self.meanings is None else str(self.meanings.status_of(label))

    def opinion(self, said: Opinion | None) -> str | None:
        """Return the value of an opinion in the comparison; None without a decision."""
        if said is None:
            return None
        if self.meanings is None:
            return _word(said, self.labels)
        status = _status(said, self.meanings, {**self.spoken, **self.labels})
        return None if status is None else str(status)

    @property
    def other_words(self) -> Mapping[str, int]:
        """The count of each label of jurors that means FAIL although no labelled case has it."""
        if self.meanings is None or not self.meanings.only:
            return {}
        known = {*self.labels, *self.meanings.meaning}
        return {label: times for label, times in self.spoken.items() if label not in known}


def describe_sample(
    contradicting: int, selected: Collection[str], reading: Reading | None = None, *, failed_runs: int = 0
) -> Iterator[str]:
    """Yield a sentence for each reason why figures of the labelled cases may mislead.

    Args:
        contradicting: the number of cases that are left out because reviewers contradict each other.
        selected: how labelled cases were chosen, unless it was at random.
        reading: the way in which the labels are compared.
        failed_runs: the number of cases that are left out because the run of the application failed.
    """
    if failed_runs:
        yield (
            f"{counted(failed_runs, 'labelled case is', 'labelled cases are')} left out because the run of the "
            "application failed, so that no juror judged it."
        )
    yield from () if reading is None else _describe_other_labels(reading)
    if contradicting:
        yield (
            f"{counted(contradicting, 'case is', 'cases are')} left out because reviewers contradict each other, so "
            "the figures are of the cases on which they agree; one more reviewer settles the others."
        )
    if selected:
        yield (
            f"Labels of {' and '.join(map(visible, sorted(selected)))} cases are not a fair sample, so figures for all "
            "cases differ, and so does the share that human labels pass; for all cases label with: jury review --only "
            "all."
        )


def _describe_other_labels(reading: Reading) -> Iterator[str]:
    """Yield a sentence if all human labels, or several, mean FAIL only because others are listed as PASS."""
    if reading.problem or reading.meanings is None or not reading.meanings.only:
        return
    others = {label: times for label, times in reading.labels.items() if reading.truth(label) == str(Status.FAIL)}
    if others and len(others) == len(reading.labels):
        yield f"No labelled case has a label that means PASS; all mean FAIL ({tally(others)})."
    elif len(others) > 1:
        yield (
            f"All labels that are not said to mean PASS count as FAIL ({tally(others)}). To leave out a label that "
            "means neither, such as unclear, leave its cells empty."
        )
    if reading.other_words:
        yield (
            f"Votes with a label that is not said to mean PASS count as FAIL, also with one that no labelled case has "
            f"({tally(reading.other_words)})."
        )


def read_labels(
    labels: Mapping[str, int],
    opinions: Collection[Opinion],
    meanings: LabelMeanings,
    spoken: Mapping[str, int] | None = None,
) -> Reading:
    """Return the way in which human labels are compared with opinions.

    Args:
        labels: the count of each human label.
        opinions: the opinions of the jury, or without a jury those of the jurors.
        meanings: the PASS or FAIL meaning of labels, as far as it is known.
        spoken: the count of each label that jurors give without PASS or FAIL.
    """
    spoken = spoken or {}
    known = all(meanings.status_of(label) is not None for label in labels)
    if meanings.only or (known and all(_status(said, meanings, labels) is not None for said in opinions)):
        return Reading(meanings, labels, spoken=spoken)
    words = {word for said in opinions if (word := _word(said, labels)) is not None}
    if any(_status(said, meanings, labels) is not None for said in opinions) and not words <= set(labels):
        return Reading(problem=f"{unclear(labels)}; {HOW_TO_NAME_THEM}")
    if words and words.isdisjoint(labels) and len(words | set(labels)) > len(("PASS", "FAIL")):
        used = ", ".join(map(visible, sorted(words)[:_MOST_NAMED]))
        return Reading(problem=f"human labels are {tally(labels)}, and the jury gives others: {used}")
    return Reading(labels=labels)


def _word(said: Opinion, labels: Collection[str]) -> str | None:
    """Return an opinion in the words of the human labels: its own label, unless only its status is one of them."""
    status, label = said
    if label not in labels and status is not None and str(status) in labels:
        return str(status)
    return label if label is not None else None if status is None else str(status)


def _status(said: Opinion, meanings: LabelMeanings, labels: Collection[str]) -> Status | None:
    status, label = said
    if status is not None or label is None:
        return status
    # With listed PASS labels, a label that only verdicts have, such as that of a disagreement, does not mean FAIL.
    return meanings.status_of(label) if not meanings.only or label in labels or label in meanings.meaning else None
