"""Entries of a report: one per judged case, from verdicts, from a results file, or from a store."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TypeAlias, TypeVar

from jury_adapters.core.answer_facts import AnswerFacts
from jury_adapters.core.batch import Judged
from jury_adapters.core.case import Case
from jury_adapters.core.case_groups import group_of_case
from jury_adapters.core.errors import ConfigurationError, InputError
from jury_adapters.core.file_prints import FilePrint
from jury_adapters.core.forms import Form, form_of
from jury_adapters.core.human_labels import GOLD, with_label_of
from jury_adapters.core.judged_file import JudgedFile
from jury_adapters.core.judgment import Judgment, evolve
from jury_adapters.core.result_forms import read_forms
from jury_adapters.core.results_file import (
    Draw,
    Result,
    group_named_in,
    label_column_named_in,
    read_results,
)
from jury_adapters.core.runs import Run
from jury_adapters.core.sequential_gate import GateDecision, SequentialGate
from jury_adapters.core.values import JsonValue
from jury_adapters.core.verdict import Verdict
from jury_adapters.core.verdict_facts import metadata_of_case
from jury_adapters.critic.recorded import recorded_jury
from jury_adapters.critic.recording import Recording
from jury_adapters.judges.framework_results import FrameworkResults, evaluated_cases
from jury_adapters.report.attempts import last_attempts
from jury_adapters.report.thumbnails import with_small_images

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Entry:
    """One judged case.

    Attributes:
        index: its position in the run, from 0.
        judgment: the judgment on it; nearly always a Verdict.
        case: the case; None if its texts are unknown.
        item_id: the item's own id, or None.
        line: its line in the file of cases, from 1, or None.
        key: the case's content hash, or None.
        unmet: a sentence per gate of the jury that the verdict misses.
        unit: the unit of ``line``: lines, or items of a JSON list.
        run: the run of the application that was judged, if it is known.
        answer: the length of the answer and the model that wrote it, of a result whose texts are unknown.
    """

    index: int
    judgment: Judgment
    case: Case | None = None
    item_id: str | None = None
    line: int | None = None
    key: str | None = None
    unmet: tuple[str, ...] = ()
    unit: str = "line"
    run: Run | None = None
    answer: AnswerFacts | None = None

    @property
    def metadata(self) -> Mapping[str, JsonValue]:
        """The metadata of the case that the judgment keeps."""
        return metadata_of_case(self.judgment)

    @property
    def where(self) -> str:
        """Name by which a reader can find the case: its id, else its line, else its position."""
        return _where(self, self.index)

    @property
    def place(self) -> str:
        """Name of the case, with both the id and the line if they are known."""
        return _place(self, self.index)


class Outline(NamedTuple):
    """One judged case in a comparison: an entry with the form of its judgment alone.

    Attributes:
        position: its position in the run, from 0. Attributes that are not described here are those of :class:`Entry`.
        form: the form of the judgment.
        metadata: the metadata of the case that the judgment keeps.
    """

    position: int
    form: Form
    metadata: Mapping[str, JsonValue]
    case: Case | None
    item_id: str | None
    line: int | None
    key: str | None
    unit: str = "line"
    answer: AnswerFacts | None = None

    @property
    def place(self) -> str:
        """Name of the case, with both the id and the line if they are known."""
        return _place(self, self.position)


def _where(entry: Entry | Outline, position: int) -> str:
    if entry.item_id is not None:
        return entry.item_id
    return f"{entry.unit} {entry.line}" if entry.line is not None else f"case {position + 1}"


def _place(entry: Entry | Outline, position: int) -> str:
    where = _where(entry, position)
    return where if None in (entry.item_id, entry.line) else f"{where} ({entry.unit} {entry.line})"


def entries_of(results: FrameworkResults) -> list[Entry]:
    """Return one entry per result, in the order of the input; see :func:`evaluated_cases`.

    A verdict without its case has the id of the case, and no texts. The attempts at one answer, which a jury sent
    back, are one entry.
    """
    cases = last_attempts(evaluated_cases(results))
    return [replace(entry_of(Judged(one.index, one.case, one.judgment)), run=one.run) for one in cases]


def entry_of(judged: Judged, *, line: int | None = None, unit: str = "line", unmet: Iterable[str] = ()) -> Entry:
    """Return the entry of one case of a batch.

    Args:
        judged: the case with its judgment.
        line: its line in its file.
        unit: the unit of ``line``.
        unmet: the gates that it misses.
    """
    case, judgment = judged.case, judged.judgment
    item = case.item_id if case is not None else judgment.case_id if isinstance(judgment, Verdict) else None
    key = None if case is None else case.content_hash
    kept = None if case is None else with_small_images(case)
    return Entry(judged.index, judgment, kept, item, line, key, tuple(unmet), unit)


def results_of(path: str | Path, cases: str | Path | None = None) -> list[Entry]:
    """Return the entries of a file that ``jury judge --out`` wrote.

    Args:
        path: the file.
        cases: the file that was judged, for questions, contexts and answers; without it there are only verdicts. It
            is read with the field map of the results. A case is found by the key of its content; rows that have
            changed since then have no texts.

    Raises:
        InputError: a line is not a result; the message names it.
    """
    return list(FileEntries(path, cases))


class FileEntries:
    """Entries of a file that ``jury judge --out`` wrote, read anew at each iteration, so that they take no memory.

    Later iterations end where the first complete one did, even if rows were appended to the file since then. A file
    that was replaced since then is refused, because its rows are not those that were counted.

    Args:
        path: the file.
        cases: as for :func:`results_of`; the texts of the cases are kept in memory.

    Attributes:
        path: the file.
        cases: the file that was judged; None without it.

    Raises:
        InputError: a line is not a result, and the message names it; or the file was replaced between two iterations.
            An iteration raises it.
    """

    def __init__(self, path: str | Path, cases: str | Path | None = None) -> None:
        self.path = path
        self.cases = cases
        self._texts: JudgedFile | None = None
        if cases is not None:
            column = label_column_named_in(path) or GOLD
            self._texts = JudgedFile(path, cases, lambda case: with_label_of(with_small_images(case), column))
        self._length: int | None = None
        self._print: FilePrint | None = None

    def __iter__(self) -> Iterator[Entry]:
        for index, result in self._each(read_results(self.path)):
            yield self._entry(index, result)

    def outlines(self) -> Iterator[Outline]:
        """Yield the outlines of the entries, which is faster than to iterate."""
        for index, (form, metadata, line, item_id, key, unit, answer) in self._each(read_forms(self.path)):
            case = None if self._texts is None else self._texts.of(key, line)
            yield Outline(index, form, metadata, case, item_id, line, key, unit, answer if case is None else None)

    def at(self, positions: Collection[int]) -> Iterator[Entry]:
        """Yield the entries at these positions, from 0, in the order of the file. Other rows are hardly read."""
        wanted = sorted(set(positions))
        self._check()
        for index, result in zip(wanted, read_results(self.path, set(wanted)), strict=False):
            yield self._entry(index, result)

    def _each(self, results: Iterator[T]) -> Iterator[tuple[int, T]]:
        self._check()
        found = self._print
        if found is None:
            with suppress(OSError):  # reading it says why it cannot be read
                found = FilePrint(self.path)
        index = -1
        for index, result in enumerate(islice(results, self._length)):
            yield index, result
        self._length, self._print = index + 1, found

    def _check(self) -> None:
        if self._print is not None:
            with suppress(OSError):
                self._print.check()

    def __len__(self) -> int:
        if self._length is None:
            deque(self, maxlen=0)
        return self._length or 0

    def _entry(self, index: int, result: Result) -> Entry:
        case = None if self._texts is None else self._texts.of(result.key, result.line)
        unmet = result.unmet or ()
        return Entry(
            index, result.judgment, case, result.item_id, result.line, result.key, unmet, result.unit,
            answer=result.answer if case is None else None,
        )  # fmt: skip


Entries: TypeAlias = Sequence[Entry] | FileEntries
"""Entries of a run, in memory or in a file."""


def entries_at(entries: Entries, positions: Collection[int]) -> Iterator[Entry]:
    """Yield the entries at these positions, from 0, in their order."""
    if isinstance(entries, FileEntries):
        return entries.at(positions)
    return (entries[position] for position in sorted(set(positions)))


def outlines_of(entries: Entries) -> Iterator[Outline]:
    """Yield the outlines of entries, in their order."""
    if isinstance(entries, FileEntries):
        yield from entries.outlines()
        return
    for entry in entries:
        form, metadata = form_of(entry.judgment), entry.metadata
        yield Outline(
            entry.index, form, metadata, entry.case, entry.item_id, entry.line, entry.key, entry.unit, entry.answer
        )


def known_group(path: str | Path, entries: Entries) -> str:
    """Return the field that groups the cases according to a results file; empty if cases lack the field.

    Args:
        path: the file.
        entries: its entries; only the first is examined if the texts of the cases are not known.

    Raises:
        InputError: a line is not a result; the message names it.
    """
    group = group_named_in(path)
    try:
        texts_known = not isinstance(entries, FileEntries) or entries.cases is not None
        for entry in (entries if texts_known else entries_at(entries, [0])) if group else ():
            group_of_case(entry.case, entry.judgment, group, entry.place)
    except InputError:
        return ""
    return group


def decision_of(path: str | Path) -> GateDecision | None:
    """Return the decision of a run that may have ended early, from its results file; None for other runs.

    The verdicts are added again, in the order of the file. The result is also None for a file that was changed since
    then, such as one that was merged from several.

    Raises:
        InputError: a line is not a result; the message names it.
    """
    gate: SequentialGate | None = None
    first: Draw | None = None
    for result in read_results(path):
        draw = result.draw
        if draw is None or draw != (first := first or draw):
            return None
        try:
            gate = gate or SequentialGate(draw.cases, at_least=draw.at_least, seed=draw.seed)
            gate.add(result.judgment)
        except ConfigurationError:
            return None
    return None if gate is None else gate.decision


def recorded_of(path: str | Path) -> list[Entry]:
    """Return the entries of a store: per case, a new majority vote over the judgments of its critics.

    A store keeps the judgments of critics, but no verdicts.

    Raises:
        InputError: there is no such store, or it holds no judgments.
    """
    recording = Recording.read(path)
    votes: dict[str, dict[str, Judgment]] = {}
    for case_key, name, judgment in recording.first_asks():
        votes.setdefault(case_key, {}).setdefault(name, evolve(judgment, critic=name))
    if not votes:
        raise InputError(f"{path}: the store holds no judgments")
    jury = recorded_jury(path)
    return [
        Entry(index, jury.aggregate([cast[name] for name in sorted(cast)]), recording.cases.get(key), key=key)
        for index, (key, cast) in enumerate(votes.items())
    ]
