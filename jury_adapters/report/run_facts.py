"""Facts about every case of a run that a comparison needs, so that the cases themselves need not stay in memory."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from sys import intern

from jury_adapters.core.case import EMPTY_KEY, Case
from jury_adapters.core.case_groups import group_of_case
from jury_adapters.core.errors import InputError
from jury_adapters.core.formatting import to_word
from jury_adapters.core.forms import FormCounts
from jury_adapters.core.human_labels import human_label_of
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.opinions import votes_in
from jury_adapters.core.outage_bias import OutageBias
from jury_adapters.core.results_file import LabelsOfCase
from jury_adapters.core.return_values import is_failed_run
from jury_adapters.core.values import JsonValue
from jury_adapters.core.verdict import Verdict, outage_as_error
from jury_adapters.report.answer_labels import AnswerLabels
from jury_adapters.report.entries import Entries, Entry
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
        metadata: the hashes of the metadata of cases without such content; 0 for the others.
        retrieved: the hashes of the ids of the retrieved documents; 0 without any.
        lines: the lines; -1 for unknown ones.
        index: the positions in the run.
        passed: True for PASS, False for FAIL, None for anything else, also for a FAIL that only jurors that broke
            caused.
        run_failed: whether the run of the application failed, so that no juror judged it.
        verdict: the verdicts as words; such a FAIL is an ERROR.
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
        for entry in entries:
            own_id = entry.item_id
            facts.item_id.append(None if own_id is None else intern(str(own_id)))  # often an id of the other run, too
            question = None if entry.case is None else entry.case.question
            facts.question.append(hash(question) if question else None)
            contexts = () if entry.case is None or question else entry.case.contexts
            facts.source.append(_hash_of(tuple(contexts)) if contexts else None)
            facts.key.append(entry.key if entry.key in (None, EMPTY_KEY) else hash(entry.key))
            facts._add_judged(entry)
            facts.lines.append(-1 if entry.line is None or abs(entry.line) >= _MOST_LINES else entry.line)
            facts.index.append(entry.index)
            waiting.add(entry.judgment, None)
            facts.labelled.append(human_label_of(entry.case, entry.judgment) is not None)
            facts.run_failed.append(is_failed_run(entry.judgment))
            judgment = outage_as_error(entry.judgment)
            facts.passed.append(_passed(judgment))
            facts.verdict.append(intern(to_word(judgment)))
            if group:
                facts.groups.append(_group(entry, group))
            if labels is not None:
                facts.labels.append(labels.positions(entry))
        waiting.hand_on()
        return facts

    def _add_form(self, judgment: Judgment, _: None, times: int) -> None:
        self.outage_bias.add(judgment, times)
        self.jury.add(judgment, times)

    def _add_judged(self, entry: Entry) -> None:
        metadata = judged_metadata(entry)
        known = entry.case is not None and has_content(entry.case)
        self.has_content.append(known)
        answer = None if entry.case is None else entry.case.answer
        self.answer.append(None if answer is None else hash(answer.strip()))
        self.metadata.append(0 if known or not metadata else _hash_of(metadata))
        retrieved = metadata.get("retrieved_ids")
        self.retrieved.append(0 if retrieved is None else _hash_of(retrieved))

    @property
    def line(self) -> Sequence[int | None]:
        """The lines; None for unknown ones."""
        return [None if line < 0 else line for line in self.lines] if -1 in self.lines else self.lines

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


def judged_metadata(entry: Entry) -> Mapping[str, JsonValue]:
    """Return the metadata of a case; from its verdict if the case itself is not known."""
    if entry.case is not None:
        return entry.case.metadata
    return entry.judgment.case_metadata if isinstance(entry.judgment, Verdict) else {}


def has_content(case: Case) -> bool:
    """Whether a case has an answer, passages, messages or anything else to judge outside its metadata."""
    return any(getattr(case, name) for name in _CONTENT)


_MOST_LINES = 1 << 62  # a file may claim any line
_CONTENT = ("answer", "contexts", "candidates", "messages", "trajectory", "attachments", "workspace")


def _hash_of(value: object) -> int:
    try:
        return hash(value)
    except TypeError:  # metadata of a case that was built without validation
        return hash(repr(value))


def _group(entry: Entry, group: str) -> Hashable | InputError:
    try:
        return group_of_case(entry.case, entry.judgment, group, entry.place)
    except InputError as error:
        return error.with_traceback(None)


def _passed(judgment: Judgment) -> bool | None:
    return judgment.passed if judgment.status in (Status.PASS, Status.FAIL) else None


def noting_juries(entries: Iterable[Entry], juries: set[str]) -> Iterator[Entry]:
    """Yield the entries, and add the name of each jury to a set."""
    for entry in entries:
        juries.add(entry.judgment.critic)
        yield entry


def labels_used(entries: Iterable[Entry]) -> Iterator[LabelsOfCase]:
    """Yield the human label of each case and the labels of its votes."""
    for entry in entries:
        yield human_label_of(entry.case, entry.judgment), (vote.label for _, vote in votes_in(entry.judgment))
