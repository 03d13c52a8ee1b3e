"""Cases whose verdict changed in a second run, and the causes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from sys import intern
from typing import NamedTuple

from jury_adapters.core.case import Case
from jury_adapters.core.formatting import to_word
from jury_adapters.core.forms import votes_on_scores
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.opinions import juror_names, opinions_of
from jury_adapters.core.return_values import is_failed_run
from jury_adapters.core.values import JsonValue
from jury_adapters.core.verdict import Verdict
from jury_adapters.core.verdict_facts import outage_as_error
from jury_adapters.report.entries import Entries, Entry, entries_at
from jury_adapters.report.figures import contest
from jury_adapters.report.run_facts import NOT_JUDGED, RunFacts, has_content, judged_metadata

FLIPS_SHOWN = 15
"""Number of changed cases that a comparison shows, in the terminal and in Markdown."""


@dataclass(frozen=True, slots=True)
class Change:
    """Juror whose opinion changed in the second run.

    Attributes:
        juror: the name of the juror.
        before: its opinion in the first run, with its score, label or confidence in parentheses where these made the
            difference; None if it was not asked.
        after: its opinion in the second run, in the same way; None if it was not asked.
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
        failed_runs: for each run of the application that failed, its name and the error: ``"b: the run failed: ..."``.
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
    failed_runs: tuple[str, ...] = ()

    @property
    def why(self) -> str:
        """Sentence about the cause of the flip."""
        if self.failed_runs:
            return "; ".join(self.failed_runs)
        causes = [f"{change.juror}: {change.before or 'not asked'} -> {change.after or 'not asked'}"
                for change in self.changes]  # fmt: skip
        if self.answer_changed:
            causes.insert(0, f"the {' and the '.join(self.changed) or 'question, contexts or answer'} changed")
        if not causes and "ERROR" in (self.before, self.after):
            return "the judge broke in one of the runs"
        return "; ".join(causes) or "every juror said what it said before; the rule that counts the votes differs"


def by_urgency(
    before: RunFacts, after: RunFacts, pairs: Iterable[tuple[int, int]], run: Entries
) -> list[tuple[int, int]]:
    """Return the pairs of which the verdict changed: first those between PASS and FAIL, the most contested first.

    Args:
        before: the first run.
        after: the second run.
        pairs: the positions of the pairs in both runs.
        run: the entries of the second run, from which is read how contested votes on scores are.
    """
    changed = [(a, b) for a, b in pairs if before.verdict[a] != after.verdict[b]]
    unknown = sorted(b for _, b in changed if isnan(after.contested[b]))
    contested = {b: contest(entry.judgment)[0] for b, entry in zip(unknown, entries_at(run, unknown), strict=True)}

    def urgency(pair: tuple[int, int]) -> tuple[bool, float]:
        a, b = pair
        known = contested[b] if b in contested else after.contested[b]
        return {before.verdict[a], after.verdict[b]} != {"PASS", "FAIL"}, -known

    return sorted(changed, key=urgency)


def flips_of(before: Entries, after: Entries, changed: Sequence[tuple[int, int]]) -> tuple[Flip, ...]:
    """Return the changed cases with these positions in both runs, in the given order."""
    order = sorted(range(len(changed)), key=lambda place: changed[place][1])  # that of the second run, for reading
    said = _said_at(before, [changed[place][0] for place in order])
    entries = entries_at(after, [changed[place][1] for place in order])
    flips = {place: flip_of(old, entry) for place, old, entry in zip(order, said, entries, strict=True)}
    return tuple(flips[place] for place in range(len(changed)))


class Opinion(NamedTuple):
    """Opinion of a juror.

    Attributes:
        word: the opinion as a word.
        reasoning: its reasoning.
        juror: the model and the hash of the rubric, which identify the juror.
        values: its score, its label and its confidence, which may be counted instead of the word.
    """

    word: str
    reasoning: str
    juror: tuple[str | None, object]
    values: tuple[float | None, str | None, float | None] = (None, None, None)

    def with_values(self, names: Collection[str]) -> str:
        """Return the word, with those of the values that have these names and are known."""
        known = [(name, value) for name, value in zip(_VALUES, self.values, strict=True) if name in names]
        said = [f"{name} {value}" for name, value in known if value is not None]
        return f"{self.word} ({', '.join(said)})" if said else self.word


class Said(NamedTuple):
    """Opinions on a case in the first run, without the rest of the verdict.

    Attributes:
        key: the hash of the content, or None.
        case: the case; None if its texts are unknown.
        metadata: the metadata of the case, as far as it is known.
        verdict: the verdict.
        opinions: the opinion of each juror, by name; that of a judge without jurors under its own name; none if the run
            of the application failed.
        run_failed: the reason why the run of the application failed; empty if it did not.
        on_scores: whether scores were counted, also in a jury or tier inside.
    """

    key: str | None
    case: Case | None
    metadata: Mapping[str, JsonValue]
    verdict: str
    opinions: Mapping[str, Opinion]
    run_failed: str = ""
    on_scores: bool = False


def said_in(entry: Entry) -> Said:
    """Return the opinions on a case."""
    failed = is_failed_run(entry.judgment)
    opinions = dict(opinions_of(entry.judgment)) or ({} if failed else {(entry.judgment.critic,): entry.judgment})
    names = juror_names(opinions)
    by_name = {
        names[path]: Opinion(
            to_word(vote), vote.reasoning, (vote.model, vote.metadata.get("rubric_fingerprint")),
            (vote.score, vote.label, vote.confidence),
        )
        for path, vote in opinions.items()
        if names[path]
    }  # fmt: skip
    verdict, why = to_word(outage_as_error(entry.judgment)), entry.judgment.reasoning if failed else ""
    return Said(entry.key, entry.case, judged_metadata(entry), verdict, by_name, why, _counts_scores(entry.judgment))


def flip_of(before: Said, entry: Entry) -> Flip:
    """Return the change of one case from the first run to the second.

    Args:
        before: the opinions of the first run.
        entry: the case in the second run.
    """
    after = said_in(entry)
    renamed = _renamed(before.opinions, after.opinions)
    opinions = {renamed.get(name, name): opinion for name, opinion in before.opinions.items()}
    counted = _VALUES[:1] if before.on_scores or after.on_scores else ()
    changes = _changes(opinions, after.opinions, counted) or _changes(opinions, after.opinions, _VALUES)
    other = None if before.key is None or after.key is None else before.key != after.key
    entries = () if other else tuple(_changed_entries(before, after))
    return Flip(
        intern(entry.where), entry.index, before.verdict, after.verdict, changes, True if entries else other,
        entries or _changed(before.case, after.case), tuple(_texts(before.case, after.case)),
        tuple(f"{run}: {one.run_failed}" for run, one in zip("ab", (before, after), strict=True) if one.run_failed),
    )  # fmt: skip


def _changes(before: Mapping[str, Opinion], after: Mapping[str, Opinion], counted: Sequence[str]) -> tuple[Change, ...]:
    """Return the jurors whose opinions changed, in the word or in one of the values with these names."""
    changes = []
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name), after.get(name)
        if old is None or new is None:
            changes.append(Change(name, old and old.word, new and new.word, (new or old or _NOTHING).reasoning))
            continue
        values = zip(_VALUES, old.values, new.values, strict=True)
        other = [value for value, of_old, of_new in values if value in counted and of_old != of_new]
        if old.word != new.word or other:
            changes.append(Change(name, old.with_values(other), new.with_values(other), new.reasoning))
    return tuple(changes)


def _counts_scores(judgment: Judgment) -> bool:
    if not isinstance(judgment, Verdict):
        return False
    inside = (*judgment.judgments, *(tier.judgment for tier in judgment.tiers))
    return votes_on_scores(judgment) or any(map(_counts_scores, inside))


def _said_at(run: Entries, places: Sequence[int]) -> Iterator[Said]:
    """Yield the opinions on the cases at these places, in their order; those read too early are kept in memory."""
    read = zip(sorted(places), entries_at(run, places), strict=True)
    early: dict[int, Said] = {}
    for place in places:
        while place not in early:
            at, entry = next(read)
            early[at] = said_in(entry)
        yield early.pop(place)


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


def _renamed(before: Mapping[str, Opinion], after: Mapping[str, Opinion]) -> dict[str, str]:
    """Return the second name of each juror that has another name in each run, as a single judge has in a panel.

    Such a juror is the only one of its model and rubric in both runs.
    """
    names = {}
    for name, opinion in before.items():
        same = [other for other, said in after.items() if said.juror == opinion.juror]
        alone = sum(said.juror == opinion.juror for said in before.values()) == 1 == len(same)
        if alone and opinion.juror[0] is not None and name not in after and same[0] not in before:
            names[name] = same[0]
    return names


def _changed_entries(before: Said, after: Said) -> Iterator[str]:
    """Yield the entries of the metadata that differ and were judged; for other content, those of a retriever only."""
    alone = before.case is not None and after.case is not None and not has_content(before.case)
    for name in dict.fromkeys((*before.metadata, *after.metadata)):
        counts = name == "retrieved_ids" or (alone and name not in NOT_JUDGED)
        if counts and before.metadata.get(name) != after.metadata.get(name):
            yield name


_VALUES = ("score", "label", "confidence")
_NOTHING = Opinion("", "", (None, None))


def _changed(before: Case | None, after: Case | None) -> tuple[str, ...]:
    """Return the fields visible to a judge that differ."""
    if before is None or after is None:
        return ()
    fields = (name for name in Case.model_fields if name != "metadata")
    return tuple(name for name in fields if getattr(before, name) != getattr(after, name))
