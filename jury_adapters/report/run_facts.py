"""Facts about every case of a run that a comparison needs, so that the cases themselves need not stay in memory."""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set
from dataclasses import dataclass, field
from sys import intern

from jury_adapters.core.case_groups import group_of_case
from jury_adapters.core.errors import InputError
from jury_adapters.core.formatting import to_word
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.outage_bias import OutageBias
from jury_adapters.core.verdict import outage_as_error
from jury_adapters.report.answer_labels import AnswerLabels
from jury_adapters.report.entries import Entries, Entry


@dataclass
class RunFacts:
    """Facts about the cases of a run, each list in the order of the cases.

    Attributes:
        item_id: the ids.
        question: the hashes of the questions.
        key: the hashes of the content.
        line: the lines.
        index: the positions in the run.
        passed: True for PASS, False for FAIL, None for anything else, also for a FAIL that only jurors that broke
            caused.
        verdict: the verdicts as words; such a FAIL is an ERROR.
        groups: the groups, or the error of a case without one; empty if no groups were asked for.
        labels: the positions of the human labels of the answers; empty if there are no labels.
        outage_bias: the bias of the pass rate by judges that broke.
    """

    item_id: list[str | None] = field(default_factory=list)
    question: list[int | None] = field(default_factory=list)
    key: list[str | None] = field(default_factory=list)
    line: list[int | None] = field(default_factory=list)
    index: list[int] = field(default_factory=list)
    passed: list[bool | None] = field(default_factory=list)
    verdict: list[str] = field(default_factory=list)
    groups: list[Hashable | InputError] = field(default_factory=list)
    labels: list[Set[int]] = field(default_factory=list)
    outage_bias: OutageBias = field(default_factory=OutageBias)

    @classmethod
    def of(cls, entries: Entries, *, group: str = "", labels: AnswerLabels | None = None) -> RunFacts:
        """Collect the facts about the cases of a run.

        Args:
            entries: the cases; they are read once.
            group: the field that identifies the group of a case; empty for independent cases.
            labels: the human labels of the answers, if there are any.
        """
        facts = cls()
        for entry in entries:
            facts.item_id.append(entry.item_id)
            question = None if entry.case is None else entry.case.question
            facts.question.append(hash(question) if question else None)
            facts.key.append(entry.key)
            facts.line.append(entry.line)
            facts.index.append(entry.index)
            facts.outage_bias.add(entry.judgment)
            judgment = outage_as_error(entry.judgment)
            facts.passed.append(_passed(judgment))
            facts.verdict.append(intern(to_word(judgment)))
            if group:
                facts.groups.append(_group(entry, group))
            if labels is not None:
                facts.labels.append(labels.positions(entry))
        return facts

    def __len__(self) -> int:
        return len(self.index)


def matched(before: RunFacts, after: RunFacts) -> list[tuple[int, int]]:
    """Return the positions of the cases that are in both runs, in the order of the second; each case is used once."""
    old, new = _names(before, after)
    waiting: dict[object, list[int]] = {}
    for position in reversed(range(len(before))):
        waiting.setdefault(old[position], []).append(position)
    return [(waiting[name].pop(), position) for position, name in enumerate(new) if waiting.get(name)]


def _names(before: RunFacts, after: RunFacts) -> tuple[Sequence[object], Sequence[object]]:
    """Return the values that match cases of both runs.

    They are ids if every case has one, else questions if every case has its own, else contents, lines or indexes.
    Questions come before contents, because two systems that answer a question differently have different contents.
    """
    asked = before.question, after.question
    once = all(len(set(questions)) == len(questions) for questions in asked)
    names = ("item_id", *(("question",) if once else ()), "key", "line")
    known = ((getattr(before, name), getattr(after, name)) for name in names)
    return next(
        ((old, new) for old, new in known if None not in old and None not in new),
        (before.index, after.index),
    )


def _group(entry: Entry, group: str) -> Hashable | InputError:
    try:
        return group_of_case(entry.case, entry.judgment, group, entry.place)
    except InputError as error:
        return error.with_traceback(None)


def _passed(judgment: Judgment) -> bool | None:
    return judgment.passed if judgment.status in (Status.PASS, Status.FAIL) else None
