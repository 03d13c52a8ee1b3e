"""Facts about every case of a run that a comparison needs, so that the cases themselves need not stay in memory."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from math import nan
from sys import intern

from jury_adapters.core.case import EMPTY_KEY, Case
from jury_adapters.core.case_groups import group_in
from jury_adapters.core.errors import InputError
from jury_adapters.core.formatting import to_word
from jury_adapters.core.forms import FormCounts, votes_on_scores
from jury_adapters.core.human_labels import GOLD, human_label_in, human_label_of
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.opinions import votes_in
from jury_adapters.core.outage_bias import OutageBias
from jury_adapters.core.results_file import LabelsOfCase
from jury_adapters.core.return_values import is_failed_run
from jury_adapters.core.values import JsonValue
from jury_adapters.core.verdict_facts import outage_as_error
from jury_adapters.report.answer_labels import AnswerLabels
from jury_adapters.report.entries import Entries, Entry, Outline, outlines_of
from jury_adapters.report.figures import contest
from jury_adapters.report.jury_facts import JuryFacts


@dataclass
class RunFacts:
    """Facts about the cases of a run, each list in the order of the cases.

    Attributes:
        item_id: the ids.
        question: the hashes of the questions.
        source: the hashes of the contexts of cases without a question, such as summaries; None without any.
        key: the hashes of the contents, as numbers; EMPTY_KEY for an empty case, None for unknown content.
        answer: the hashes of the answers' texts; None without a known answer.
        has_content: whether the case is known to have anything to judge outside its metadata; see :func:`has_content`.
            Results without their texts say so by the length of the answer.
        metadata: the hashes of the metadata, without :data:`NOT_JUDGED`, of cases without such content; 0 for others.
        retrieved: the hashes of the ids of the retrieved documents; 0 without any.
        lines: the lines; -1 for unknown ones.
        index: the positions in the run.
        passed: True for PASS, False for FAIL, None for anything else, also for a FAIL that only jurors that broke
            caused.
        run_failed: whether the run of the application failed, so that no juror judged it.
        verdict: the verdicts as words; such a FAIL is an ERROR.
        contested: how contested the cases are; see :func:`jury_adapters.report.figures.contest`. NaN for votes on
            scores, for which it would take too long.
        groups: the groups, or the error of a case without one; empty if no groups were asked for.
        labels: the positions of the human labels of the answers; empty if there are no labels.
        labelled: whether the run itself holds a human label of the answer.
        outage_bias: the bias of the pass rate by judges that broke or abstained.
        jury: the voting rules and the jurors.
    """

    item_id: list[str | None] = field(default_factory=list)
    question: list[int | None] = field(default_factory=list)
    source: list[int | None] = field(default_factory=list)
    key: list[int | str | None] = field(default_factory=list)
    answer: list[int | None] = field(default_factory=list)
    has_content: bytearray = field(default_factory=bytearray)
    metadata: array[int] = field(default_factory=lambda: array("q"))
    retrieved: array[int] = field(default_factory=lambda: array("q"))
    lines: array[int] = field(default_factory=lambda: array("q"))
    index: array[int] = field(default_factory=lambda: array("q"))
    passed: list[bool | None] = field(default_factory=list)
    run_failed: bytearray = field(default_factory=bytearray)
    verdict: list[str] = field(default_factory=list)
    contested: array[float] = field(default_factory=lambda: array("d"))
    groups: list[Hashable | InputError] = field(default_factory=list)
    labels: list[Set[int]] = field(default_factory=list)
    labelled: bytearray = field(default_factory=bytearray)
    outage_bias: OutageBias = field(default_factory=OutageBias)
    jury: JuryFacts = field(default_factory=JuryFacts)

    @classmethod
    def of(cls, entries: Entries, *, group: str = "", labels: AnswerLabels | None = None) -> RunFacts:
        """Collect the facts about the cases of a run.

        Args:
            entries: the cases; they are read once.
            group: the field that identifies the group of a case; empty for independent cases.
            labels: the human labels of the answers, if there are any.
        """
        facts = cls()
        waiting = FormCounts(facts._add_form)
        for outline in outlines_of(entries):
            own_id = outline.item_id
            facts.item_id.append(None if own_id is None else intern(str(own_id)))  # often an id of the other run, too
            question = None if outline.case is None else outline.case.question
            facts.question.append(hash(question) if question else None)
            contexts = () if outline.case is None or question else outline.case.contexts
            facts.source.append(_hash_of(tuple(contexts)) if contexts else None)
            facts.key.append(outline.key if outline.key in (None, EMPTY_KEY) else hash(outline.key))
            facts._add_judged(outline)
            facts.lines.append(-1 if outline.line is None or abs(outline.line) >= _MOST_LINES else outline.line)
            facts.index.append(outline.position)
            waiting.add_form(outline.form, None)
            facts.labelled.append(human_label_in(outline.case, outline.metadata) is not None)
            run_failed, passed, word, contested = outline.form.result_of(_outcome)
            facts.run_failed.append(run_failed)
            facts.passed.append(passed)
            facts.verdict.append(word)
            facts.contested.append(contested)
            if group:
                facts.groups.append(_group(outline, group))
            if labels is not None:
                facts.labels.append(labels.positions(outline))
        waiting.hand_on()
        return facts

    def _add_form(self, judgment: Judgment, _: None, times: int) -> None:
        self.outage_bias.add(judgment, times)
        self.jury.add(judgment, times)

    def _add_judged(self, outline: Outline) -> None:
        metadata, case = judged_metadata(outline), outline.case
        known = bool(outline.answer and outline.answer.length) if case is None else has_content(case)
        self.has_content.append(known)
        answer = None if case is None else case.answer
        self.answer.append(None if answer is None else hash(answer.strip()))
        self.metadata.append(0 if known else _hash_of_judged(metadata))
        retrieved = metadata.get("retrieved_ids")
        self.retrieved.append(0 if retrieved is None else _hash_of(retrieved))

    @property
    def line(self) -> Sequence[int | None]:
        """The lines; None for unknown ones."""
        return [None if line < 0 else line for line in self.lines] if -1 in self.lines else self.lines

    @property
    def content(self) -> Sequence[Hashable]:
        """The contents, and in place of an empty one the metadata.

        That of a case without either equals no other, and is None if no case has anything.
        """
        if EMPTY_KEY not in self.key:
            return self.key
        known = zip(self.key, self.metadata, strict=True)
        names = [("metadata", metadata) if key == EMPTY_KEY else key for key, metadata in known]
        if set(names) == {_NO_METADATA}:
            return [None] * len(names)
        return [object() if name == _NO_METADATA else name for name in names]

    @property
    def copies(self) -> Sequence[Hashable]:
        """Name of each case that its copies share: the id where all cases have one, else the content if it is known.

        Empty if no case has a copy.
        """
        if None not in self.item_id:
            names: Sequence[Hashable] = self.item_id
        else:
            known = zip(self.key, self.index, strict=True)
            names = [("case", at) if key in (None, EMPTY_KEY) else key for key, at in known]
        return names if len(set(names)) < len(names) else ()

    def __len__(self) -> int:
        return len(self.index)


def judged_metadata(entry: Entry | Outline) -> Mapping[str, JsonValue]:
    """Return the metadata of a case; those that its verdict keeps if the case itself is not known."""
    return entry.metadata if entry.case is None else entry.case.metadata


def has_content(case: Case) -> bool:
    """Whether a case has an answer, passages, messages or anything else to judge outside its metadata."""
    return any(getattr(case, name) for name in _CONTENT)


NOT_JUDGED = frozenset({"id", "item_id", GOLD})
"""Entries of the metadata that say nothing of what was judged: systems share the ids, and people give the labels."""

_NO_METADATA = ("metadata", 0)
_MOST_LINES = 1 << 62  # a file may claim any line
_CONTENT = ("answer", "contexts", "candidates", "messages", "trajectory", "attachments", "workspace")


def _hash_of_judged(metadata: Mapping[str, JsonValue]) -> int:
    """Return the hash of metadata without what says nothing of the content; 0 if nothing is left."""
    judged = {name: value for name, value in metadata.items() if name not in NOT_JUDGED}
    return _hash_of(judged) if judged else 0


def _hash_of(value: object) -> int:
    return hash(_hashed_apart(value))


def _hashed_apart(value: object) -> Hashable:
    """Return a value that equals that of another if the two are equal, and of which -1 and -2 have different hashes."""
    if isinstance(value, str) or value is None:  # the most frequent values first
        return value
    if isinstance(value, int | float):  # equal numbers of both types have one text
        return "number", str(int(value) if value == value // 1 else value)
    if isinstance(value, list | tuple):
        return tuple(map(_hashed_apart, value))
    if isinstance(value, dict | Mapping):
        return frozenset([(name, _hashed_apart(item)) for name, item in value.items()])
    return repr(value)


def _group(outline: Outline, group: str) -> Hashable | InputError:
    try:
        return group_in(outline.case, outline.metadata, group, outline.place)
    except InputError as error:
        return error.with_traceback(None)


def _outcome(judgment: Judgment) -> tuple[bool, bool | None, str, float]:
    """Return ``run_failed``, ``passed``, ``verdict`` and ``contested`` of :class:`RunFacts`."""
    counted = outage_as_error(judgment)
    passed = counted.passed if counted.status in (Status.PASS, Status.FAIL) else None
    contested = nan if votes_on_scores(judgment) else contest(judgment)[0]
    return is_failed_run(judgment), passed, intern(to_word(counted)), contested


def noting_juries(entries: Iterable[Entry], juries: set[str]) -> Iterator[Entry]:
    """Yield the entries, and add the name of each jury to a set."""
    for entry in entries:
        juries.add(entry.judgment.critic)
        yield entry


def labels_used(entries: Iterable[Entry]) -> Iterator[LabelsOfCase]:
    """Yield the human label of each case and the labels of its votes."""
    for entry in entries:
        yield human_label_of(entry.case, entry.judgment), (vote.label for _, vote in votes_in(entry.judgment))
