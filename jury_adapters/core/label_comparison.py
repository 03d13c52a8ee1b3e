"""Comparison of verdicts and jurors with human labels, counted case by case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Mapping
from textwrap import fill

from jury_adapters.core.case import Case
from jury_adapters.core.duplicates import ContradictingLabels, identity_of
from jury_adapters.core.first_labels import FirstLabels
from jury_adapters.core.formatting import counted
from jury_adapters.core.forms import FormCounts
from jury_adapters.core.human_labels import (
    GOLD,
    LabelMeanings,
    UnclearLabels,
    check_vote_spelling,
    human_label,
    human_label_of,
    labels_in_words,
    listed_labels,
    tally,
)
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.label_opinions import Counts, LabelOpinions
from jury_adapters.core.label_reading import HOW_TO_NAME_THEM, Reading, describe_sample, read_labels
from jury_adapters.core.label_scores import FAIL, PASS, Kind, LabelScore, constant_score, table_lines, warn_of_constants
from jury_adapters.core.opinions import Path, juror_names
from jury_adapters.core.return_values import is_failed_run
from jury_adapters.core.statistics import Score
from jury_adapters.core.values import JsonValue
from jury_adapters.core.verdict import Verdict

_MOST_LABELS = 1000
_NO_LABELS = f"there are more than {_MOST_LABELS:,} different human labels, such as texts or measured numbers"
_THE_JURY = "the jury"
_PAIRWISE = frozenset({"A", "B", "tie"})


class LabelComparison:
    """Comparison of a jury and each of its jurors with human labels; verdicts are added one by one.

    Only cases with a human label count, and copies of one item count once. A run of the application that failed does
    not count, because no juror judged it. The judges of screening tiers and the criteria of a scorecard are not
    compared, because they answer another question than the human labels.

    Args:
        pass_labels: the human labels that mean PASS. Without them, the meaning is taken from judgments that have both a
            label and a status, and from the words pass, passed, true and yes, and fail, failed, false and no.
        column: the entry of a case's metadata that holds the human label.

    Attributes:
        pass_labels: the given labels that mean PASS.
        column: the same.
        known_labels: human labels of other cases of the file, which are accepted as PASS labels too.
        labels: the number of cases by human label.
        merged: number of labelled cases that repeat an item and are not counted again.
        failed_runs: number of labelled cases that are left out because the run of the application failed.
        contradicting: number of cases without a label here because reviewers contradict each other.
        selected: how the labelled cases were chosen (``"contested"``, ``"escalated"``), unless it was at random.
        picked: whether the labelled cases were picked by their labels, such as as many bad as good ones.

    >>> against = LabelComparison()
    >>> against.add(Case(answer="4", metadata={"gold": "pass"}), Judgment("PASS"))
    >>> against.add(Case(answer="5", metadata={"gold": "fail"}), Judgment("PASS"))
    >>> against.jury.false_passes.hits, against.jury.false_passes.n, against.jury.accuracy.share
    (1, 1, 0.5)
    """

    def __init__(self, pass_labels: Collection[str] = (), *, column: str = GOLD) -> None:
        self.pass_labels = listed_labels(pass_labels)
        self.column = column
        self.known_labels: Collection[str] = ()
        self.labels: Counter[str] = Counter()
        self.merged = self.failed_runs = self.contradicting = 0
        self.selected: Collection[str] = ()
        self.picked = False
        self._human: Counter[tuple[str, Hashable]] = Counter()  # number of cases by label and group
        self._counted = LabelOpinions()
        self._waiting: FormCounts[tuple[str | None, Hashable]] = FormCounts(self._counted.add)
        self._first = FirstLabels()
        self._contradiction = ""

    def add(
        self,
        case: Case | None,
        judgment: Judgment,
        where: str = "",
        group: Hashable = None,
        *,
        key: str | None = None,
    ) -> None:
        """Count one case.

        Args:
            case: the judged case; None if it is not known.
            judgment: the verdict.
            where: a description of the place of the case, for messages.
            group: the group of the case, such as its document; the intervals take groups into account. None for an
                independent case.
            key: the hash of the content of a case that is not known, by which copies are told from other items.
        """
        truth = human_label_of(case, judgment, self.column)
        copied = truth is not None and not self._is_new(*_names(case, judgment, key), truth, where)
        self.add_item(None if copied else truth, judgment, group)

    def forget_items(self) -> None:
        """Forget which items were counted, to free memory when all are; a copy that is added later is a new item."""
        self._first = FirstLabels()

    def add_item(self, label: object, judgment: Judgment, group: Hashable = None, *, times: int = 1) -> None:
        """Count one item that has no copies, or several items with the same label, verdict and group.

        Args:
            label: its human label, or None.
            judgment: the verdict.
            group: as for :meth:`add`.
            times: the number of items.
        """
        truth = human_label(label)
        counts = truth is not None and not is_failed_run(judgment)
        self._waiting.add(judgment, (truth if counts else None, group), times)
        if truth is not None and counts:
            self._count(truth, group, times)
        elif truth is not None:
            self.failed_runs += times

    def add_votes(self, truth: object, votes: Mapping[str, str | None], group: Hashable = None) -> None:
        """Count one item of recorded votes, which have no verdict.

        Args:
            truth: the human label.
            votes: the label of each juror; None for no vote.
            group: as for :meth:`add`.
        """
        label = human_label(truth)
        if label is None:
            return
        self._count(label, group)
        for name, vote in votes.items():
            status = Status(vote) if vote in (PASS, FAIL) else None
            said = None if vote is None else (status, None if status else vote)
            self._opinions.of_juror((name,))[label, said, group] += 1

    def beside(self, juries: Mapping[str, LabelComparison]) -> LabelComparison:
        """Return a comparison with several juries over the same cases as the rows of one table, without their jurors.

        Args:
            juries: the comparisons of the juries, by name.
        """
        found = LabelComparison(self.pass_labels, column=self.column)
        found.labels, found.merged = self.labels.copy(), self.merged
        found._counted.learned = self._opinions.learned
        found.failed_runs = self.failed_runs
        found._human, found.known_labels = self._human, self.known_labels
        found._counted.jurors = {(name,): one._opinions.jury for name, one in juries.items()}
        found._counted.given = [one._opinions.spoken for one in juries.values()]
        return found

    @property
    def cases(self) -> int:
        """Number of items with a human label."""
        return self.labels.total()

    @property
    def problem(self) -> str:
        """The reason why there are no figures, with the fix; empty if there are figures."""
        return self.reading().problem

    @property
    def unknown_pass_label(self) -> str:
        """The message about a PASS label that no labelled case has; empty if every PASS label occurs."""
        try:
            self._meanings()
        except UnclearLabels as error:
            return error.what
        return ""

    def only(self, jurors: Collection[str]) -> LabelComparison:
        """Return the comparison of only these jurors, without the jury.

        Args:
            jurors: the names of jurors; an ambiguous name needs the tiers around it: ``"tier / juror"``.
        """
        found = LabelComparison(self.pass_labels, column=self.column)
        found.labels, found.merged, found._human = self.labels.copy(), self.merged, self._human
        found.failed_runs = self.failed_runs
        found._counted.learned, found._contradiction = self._opinions.learned, self._contradiction
        found.known_labels = self.known_labels
        own = self._opinions.jurors
        names = juror_names(own)
        found._counted.jurors = {path: counts for path, counts in own.items() if names[path] in jurors}
        return found

    @property
    def pass_fail(self) -> bool:
        """Whether the human labels and the jury's opinions mean PASS and FAIL."""
        return self.reading().pass_fail

    @property
    def jury(self) -> LabelScore | None:
        """The figures of the verdicts; None without verdicts, and if there is a problem."""
        return next((row for row in self.rows if row.kind == "jury"), None)

    @property
    def jurors(self) -> tuple[LabelScore, ...]:
        """The figures of each juror, on the labelled cases about which it was asked."""
        return tuple(row for row in self.rows if row.kind == "juror")

    @property
    def constants(self) -> tuple[LabelScore, ...]:
        """The figures of constant answers.

        These are always PASS, and always FAIL if that is the more frequent human label; without PASS and FAIL labels
        it is always the most frequent label.
        """
        return tuple(row for row in self.rows if row.kind == "constant")

    @property
    def rows(self) -> tuple[LabelScore, ...]:
        """The jury, its jurors and the constant answers; empty if there is a problem or no label."""
        reading = self.reading()
        if reading.problem or not self.cases:
            return ()
        human: Counter[tuple[str, Hashable]] = Counter()
        for (label, group), times in self._human.items():
            human[reading.truth(label), group] += times
        said = self._opinions
        rows = [self._row(_THE_JURY, "jury", said.jury, reading)] if said.jury else []
        nested = len({path[-1] for path in said.jurors}) < len(said.jurors)
        for path, counts in said.jurors.items():
            within = path[:-1] if nested else ()
            rows.append(self._row(path[-1] or "(the jury itself)", "juror", counts, reading, within))
        answers = _answers(self.labels, reading)
        return (*rows, *(constant_score(answer, human, pass_fail=reading.pass_fail) for answer in answers))

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about misleading figures and about missing ones."""
        rows = self.rows
        if not rows:
            return ()
        found = list(warn_of_constants(rows))
        found.extend(describe_sample(self.contradicting, self.selected, self.reading(), failed_runs=self.failed_runs))
        if len(self.labels) == 1 and not self.pass_labels:
            found.append("All human labels are equal, so nothing shows whether the jury recognises other cases.")
        if len({row.score.cases for row in rows if row.kind == "juror"}) > 1:
            found.append(
                "Not every juror was asked about every case: a tier sees only what the tiers before it left open, "
                "early stopping asks some jurors only where others differ, and critics are not asked about empty "
                "answers. Compare jurors that were asked about the same cases."
            )
        if not self.pass_fail and not set(self.labels) <= _PAIRWISE:
            found.append(
                "Without labels that mean PASS there are no false passes and no false fails; if there are such labels, "
                f"{HOW_TO_NAME_THEM}."
            )
        return tuple(found)

    @property
    def headline(self) -> str:
        """The number of labelled cases, and the labels that mean PASS and FAIL."""
        text = counted(self.cases, "labelled case")
        if self.merged:
            text += f" ({counted(self.merged, 'copy', 'copies')} left out)"
        if self.problem:
            return text
        reading = self.reading()
        if not reading.pass_fail:
            return f"{text} ({tally(self.labels)})"
        sides = {
            side: {label: times for label, times in self.labels.items() if reading.truth(label) == side}
            for side in (PASS, FAIL)
        }
        passed, failed = (f"{sum(sides[side].values()):,}{labels_in_words(sides[side], side)}" for side in (PASS, FAIL))
        return f"{text}, of which human labels pass {passed} and fail {failed}"

    @property
    def legend(self) -> str:
        """The meaning of the columns, in a few short sentences."""
        groups = {group for counts in self._everyone() for _, _, group in counts} - {None}
        by_group = f", which take {counted(len(groups), 'group')} of cases into account" if groups else ""
        text = (
            "Decided: share of the labelled cases it was asked about. The other figures are of the decided cases, with "
            f"their 95 % intervals{by_group}. "
        )
        if not self.pass_fail:
            balanced = "Balanced: the mean of the shares that it gets right of each human label."
            return f"{text}{balanced} {_KAPPA} It has no interval with more than two labels."
        return (
            f"{text}Balanced: the mean of the shares that it gets right of the cases with a human PASS and of those "
            f"with a human FAIL; a constant answer has 50 %. {_KAPPA} False passes: cases with a human FAIL that the "
            "jury passes, as a share of the human FAILs. False fails: cases with a human PASS that the jury fails, as "
            "a share of the human PASSes."
        )

    def reading(self) -> Reading:
        """Return the way in which labels and opinions are compared, based on the cases so far."""
        if self._contradiction:
            return Reading(problem=self._contradiction)
        if len(self.labels) > _MOST_LABELS:
            return Reading(problem=_NO_LABELS)
        heard = self._opinions
        try:
            meanings = self._meanings()
            check_vote_spelling(heard.spoken, self.pass_labels)
        except UnclearLabels as error:
            return Reading(problem=f"{error.what}; {HOW_TO_NAME_THEM}")
        said = {said for _, said, _ in heard.jury if said}  # empty where the jury decided nothing, as in an outage
        said = said or {said for counts in heard.jurors.values() for _, said, _ in counts if said}
        return read_labels(self.labels, said, meanings, heard.spoken)

    def to_dict(self) -> dict[str, JsonValue] | None:
        """Return JSON values; None if no case has a human label."""
        if not self.cases:
            return None
        reading, jury = self.reading(), self.jury
        known = reading.pass_fail and not reading.problem
        return {
            "labelled_cases": self.cases,
            "merged": self.merged,
            "contradicting": self.contradicting,
            "labels": dict(self.labels),
            "pass_labels": [label for label in self.labels if known and reading.truth(label) == PASS],
            "problem": reading.problem or None,
            "notes": list(self.notes),
            "jury": None if jury is None else jury.to_dict(),
            "jurors": [row.to_dict() for row in self.jurors],
            "constants": [row.to_dict() for row in self.constants],
        }

    def __str__(self) -> str:
        """Return the comparison as plain text; empty if no case has a human label."""
        if not self.cases:
            return ""
        head = f"Against human labels: {self.headline}"
        if self.problem:
            return f"{head}\n{_wrapped(f'No figures: {self.problem}.')}"
        return "\n".join([head, *table_lines(self.rows), "", *map(_wrapped, (self.legend, *self.notes))])

    def __repr__(self) -> str:
        return f"LabelComparison({counted(self.cases, 'labelled case')})"

    def _count(self, label: str, group: Hashable, times: int = 1) -> None:
        known = label if label in self.labels or len(self.labels) <= _MOST_LABELS else ""
        self.labels[known] += times
        self._human[known, group] += times

    def _is_new(self, key: str | None, item_id: str | None, truth: str, where: str) -> bool:
        """Whether a labelled case is not a copy of an earlier one; a copy with another label becomes the problem."""
        identity = identity_of(key, item_id)
        known = None if identity is None else self._first.add(identity, truth, where)
        if known is None:
            return True
        self.merged += 1
        if known[0] != truth and not self._contradiction:
            self._contradiction = ContradictingLabels(item_id, [(0, known[0]), (1, truth)]).describe([known[1], where])
        return False

    def _row(self, name: str, kind: Kind, counts: Counts, reading: Reading, within: Path = ()) -> LabelScore:
        score, by_group = Score(), dict[Hashable, Score]()
        for (label, said, group), times in counts.items():
            pair = reading.truth(label), reading.opinion(said)
            score.pairs[pair] += times
            if group is not None:
                by_group.setdefault(group, Score()).pairs[pair] += times
        return LabelScore(name, kind, score, reading.pass_fail, within, tuple(by_group.values()))

    @property
    def _opinions(self) -> LabelOpinions:
        """The opinions in all cases so far."""
        self._waiting.hand_on()
        return self._counted

    def _everyone(self) -> tuple[Counts, ...]:
        return (self._opinions.jury, *self._opinions.jurors.values())

    def _meanings(self) -> LabelMeanings:
        used = {said[1] for counts in self._everyone() for _, said, _ in counts if said and said[1]}
        return LabelMeanings.from_learned(
            self._opinions.learned, self.pass_labels, self.labels, {*used, *self.known_labels}
        )


_KAPPA = "Kappa: agreement beyond chance; 0 is chance, 1 is perfect."
_WIDTH = 98


def _wrapped(text: str) -> str:
    return fill(text, _WIDTH, initial_indent="  ", subsequent_indent="  ", break_long_words=False)


def _names(case: Case | None, judgment: Judgment, key: str | None) -> tuple[str | None, str | None]:
    """Return the hash of a case's content and its own id, as far as they are known."""
    if case is not None:
        return case.content_hash, case.item_id
    return key, judgment.case_id if isinstance(judgment, Verdict) else None


def _answers(labels: Mapping[str, int], reading: Reading) -> list[str]:
    """Return the constant answers for the comparison."""
    human: Counter[str] = Counter()
    for label, times in labels.items():
        human[reading.truth(label)] += times
    if not reading.pass_fail:
        return [max(sorted(human), key=lambda label: human[label])]
    return [PASS, FAIL] if human[FAIL] > human[PASS] else [PASS]
