"""Cases whose verdict changed in a second run, and the causes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from jury_adapters.core.case import Case
from jury_adapters.core.formatting import to_word
from jury_adapters.core.opinions import juror_names, opinions_of
from jury_adapters.core.verdict import outage_as_error
from jury_adapters.report.entries import Entry

FLIPS_SHOWN = 15
"""Number of changed cases that a comparison shows, in the terminal and in Markdown."""


@dataclass(frozen=True, slots=True)
class Change:
    """Juror whose opinion changed in the second run.

    Attributes:
        juror: the name of the juror.
        before: its opinion in the first run; None if it was not asked.
        after: its opinion in the second run; None if it was not asked.
        reasoning: its own reasoning in the second run, or in the first if it was not asked again.
    """

    juror: str
    before: str | None
    after: str | None
    reasoning: str


@dataclass(frozen=True, slots=True)
class Flip:
    """Case whose verdict changed.

    Attributes:
        where: the item's id, or its line.
        index: its position in the second run, from 0.
        before: the verdict of the first run.
        after: the verdict of the second run.
        changes: the jurors whose opinions changed.
        answer_changed: whether the judged content itself differs; None if that is unknown.
        changed: the fields of the case that differ (``"answer"``), if the texts of both runs are known.
        texts: the question and the answers, if they are known: ``"answer of b: ..."``.
    """

    where: str
    index: int
    before: str
    after: str
    changes: tuple[Change, ...]
    answer_changed: bool | None
    changed: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()

    @property
    def why(self) -> str:
        """Sentence about the cause of the flip."""
        causes = [f"{change.juror}: {change.before or 'not asked'} -> {change.after or 'not asked'}"
                for change in self.changes]  # fmt: skip
        if self.answer_changed:
            causes.insert(0, f"the {' and the '.join(self.changed) or 'question, contexts or answer'} changed")
        if not causes and "ERROR" in (self.before, self.after):
            return "the judge broke in one of the runs"
        return "; ".join(causes) or "every juror said what it said before; the rule that counts the votes differs"


class Said(NamedTuple):
    """Opinions on a case in the first run, without the rest of the verdict.

    Attributes:
        key: the hash of the content, or None.
        case: the case; None if its texts are unknown.
        verdict: the verdict.
        opinions: the opinion and the reasoning of each juror, by name.
    """

    key: str | None
    case: Case | None
    verdict: str
    opinions: Mapping[str, tuple[str, str]]


def said_in(entry: Entry) -> Said:
    """Return the opinions on a case."""
    opinions = dict(opinions_of(entry.judgment))
    names = juror_names(opinions)
    by_name = {names[path]: (to_word(vote), vote.reasoning) for path, vote in opinions.items()}
    return Said(entry.key, entry.case, to_word(outage_as_error(entry.judgment)), by_name)


def flip_of(before: Said, entry: Entry) -> Flip:
    """Return the change of one case from the first run to the second.

    Args:
        before: the opinions of the first run.
        entry: the case in the second run.
    """
    after = said_in(entry)
    silent = (None, "")
    changes = []
    for name in dict.fromkeys((*before.opinions, *after.opinions)):
        (old, reasoning), (new, newer) = before.opinions.get(name, silent), after.opinions.get(name, silent)
        if old != new:
            changes.append(Change(name, old, new, reasoning if new is None else newer))
    other = None if before.key is None or after.key is None else before.key != after.key
    return Flip(
        entry.where, entry.index, before.verdict, after.verdict, tuple(changes), other,
        _changed(before.case, after.case), tuple(_texts(before.case, after.case)),
    )  # fmt: skip


def _texts(before: Case | None, after: Case | None) -> Iterator[str]:
    """Yield the texts that show what was judged, each with its name."""
    known = after or before
    if known is None:
        return
    if known.question:
        yield f"question: {known.question}"
    answers = [None if case is None else case.answer for case in (before, after)]
    if answers[0] == answers[1]:
        yield from [f"answer: {answers[0]}"] if answers[0] else []
    else:
        yield from (f"answer of {name}: {text}" for name, text in zip("ab", answers, strict=True) if text)


def _changed(before: Case | None, after: Case | None) -> tuple[str, ...]:
    """Return the fields visible to a judge that differ."""
    if before is None or after is None:
        return ()
    fields = (name for name in Case.model_fields if name != "metadata")
    return tuple(name for name in fields if getattr(before, name) != getattr(after, name))
