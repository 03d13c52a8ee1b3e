"""Votes as a matrix: the votes of jurors on items, with the facts about both that the analyses need."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import nan
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np

from jury_adapters.calibration.items import (
    NO_FAILED_RUNS,
    FailedRuns,
    ItemVotes,
    build_label_comparison,
    in_jurors_words,
    listed,
    names_of_jurors,
    one_per_item,
    selected_jurors,
    with_grades,
)
from jury_adapters.calibration.judged_items import JudgedVotes
from jury_adapters.calibration.stated_numbers import Stated, stated_by
from jury_adapters.calibration.types import MISSING, Bools, Floats, Ints, On, Raw, Value, counted
from jury_adapters.calibration.vote_scale import (
    Scale,
    codes_by_order,
    gold_codes,
    group_numbers,
    passed_by_jury,
    vote_codes,
)
from jury_adapters.calibration.vote_sources import recorded_items, result_items, row_items, verdict_items
from jury_adapters.core.errors import ConfigurationError, unknown
from jury_adapters.core.label_comparison import LabelComparison
from jury_adapters.core.opinions import has_selected_jurors
from jury_adapters.judges.framework_results import FrameworkResults

T = TypeVar("T")
PassLabel: TypeAlias = str | Collection[str] | None
"""Label that means PASS, or several."""


@dataclass(frozen=True, eq=False, slots=True)
class Votes:
    """Votes as items x jurors. Immutable; a missing vote (an abstention, an error) is :data:`MISSING`.

    Build it with :meth:`from_rows`, :meth:`from_verdicts`, :meth:`from_recorded` or :meth:`from_results`.

    Attributes:
        codes: items x jurors; each entry is a position in ``labels``, or -1 for no vote.
        labels: the values of votes: all words, or all numbers in ascending order.
        jurors: the jurors' names, one per column.
        items: the items' ids, one per row.
        gold: per item, the human label, as a position in ``labels``; -1 if there is none. Numbers that are not on the
            jurors' scale (such as means of ratings) are not labels: then it is -1 everywhere.
        groups: per item, a number from 0; items of one group are not independent (the same document or question),
            so they are resampled and split together. Each item is its own group if no groups were given.
        ordered: whether the order of ``labels`` has a meaning: numbers, or words in a given order.
        pass_label: the label that means PASS, or None if labels have no such meaning.
        pass_labels: the human labels that mean PASS, as they were given.
        label_comparison: the comparison of the jury and its jurors with human labels; not kept by :meth:`take`. See
            :attr:`AgreementReport.label_comparison`.
        generators: per item, the model that wrote the answer, or None.
        lengths: per item, the length of the answer in characters (for a pair: the first's minus the second's); NaN
            if it is unknown.
        models: per juror, the model behind it, or None.
        orders: for pairwise votes asked in both orders, 2 x items x jurors: the codes with A shown first and with B
            shown first, both in terms of A and B; None if there are no such votes.
        verdicts: per item, whether the jury's own verdict passes it: 1 or 0, and -1 if it does neither (abstained,
            or a label without such a meaning). Empty if there are only votes, and for a panel of other jurors.
        selected: the jurors that judged only cases that others had not decided: those of later tiers of a cascade, and
            those that early stopping did not ask about every case.
        merged: the number of rows that repeat an item and were merged with its first row: an item counts once. Copies
            have the same content and the same id (or both lack an id).
        failed_runs: the number of failed runs of the application, which no juror judged; they are no items. Not kept by
            :meth:`take`.
        contradicting: the number of labelled items that have no label here because reviewers contradict each other. Set
            it with ``dataclasses.replace`` if you left such items out; the true pass rate needs it. Not kept by
            :meth:`take`.
        stated: the confidences and scores of the judgments, and the human labels that are numbers.
        repetitions: per juror that was asked the same question several times, its answers: the same items, one column
            per repetition.

    >>> votes = Votes.from_rows([["PASS", "PASS"], ["PASS", "FAIL"], ["FAIL", None]], jurors=["a", "b"])
    >>> votes.codes.tolist(), votes.labels
    ([[1, 1], [1, 0], [0, -1]], ('FAIL', 'PASS'))
    """

    codes: Ints
    labels: tuple[Value, ...]
    jurors: tuple[str, ...]
    items: tuple[str, ...]
    gold: Ints
    groups: Ints
    ordered: bool = False
    pass_label: str | None = None
    pass_labels: tuple[str, ...] = ()
    label_comparison: LabelComparison | None = None
    generators: tuple[str | None, ...] = ()
    lengths: Floats = field(default_factory=lambda: np.empty(0))
    models: tuple[str | None, ...] = ()
    orders: Ints | None = None
    verdicts: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    selected: tuple[str, ...] = ()
    merged: int = 0
    failed_runs: int = 0
    contradicting: int = 0
    stated: Stated = field(default_factory=Stated)
    repetitions: Mapping[str, Votes] = field(default_factory=dict)

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[Sequence[Raw]],
        *,
        jurors: Sequence[str] = (),
        items: Sequence[str] = (),
        gold: Sequence[Raw] = (),
        groups: Sequence[object] = (),
        labels: Sequence[Value] = (),
        pass_label: PassLabel = None,
    ) -> Votes:
        """Read votes from plain lists: one row per item, one entry per juror; None and NaN are missing votes.

        Args:
            rows: the votes; labels, numbers, or True / False (read as ``PASS`` / ``FAIL``).
            jurors: the jurors' names; ``juror 1``, ``juror 2``... by default.
            items: the items' ids; ``"0"``, ``"1"``... by default. Rows with the same id are copies of one item; without
                ids every row is an item.
            gold: the human label of each item; None if there is none.
            groups: the group of each item.
            labels: the whole scale in its order; by default the values that occur, sorted. Only with it are words an
                ordinal scale.
            pass_label: the label that means PASS, or several; ``PASS`` if that is one of the labels. If jurors vote
                PASS and FAIL, human labels: all other human labels then mean FAIL.

        Raises:
            ConfigurationError: rows have unequal lengths, or names, gold or groups do not match the votes.
            InputError: rows with the same id have different votes or different gold labels.
        """
        collected, names = row_items(rows, jurors, items, gold=gold, groups=groups)
        return assemble(collected, jurors=names, labels=labels, pass_label=pass_label)

    @classmethod
    def from_verdicts(
        cls,
        verdicts: FrameworkResults,
        *,
        on: On | None = None,
        gold: Mapping[str, Raw] | Sequence[Raw] = (),
        group: str = "",
        screening_tiers: bool = False,
        labels: Sequence[Value] = (),
        pass_label: PassLabel = None,
    ) -> Votes:
        """Read votes from verdicts of juries, or from any other results that :class:`~jury_adapters.Report` reads.

        Every juror that was asked is a column, also those of earlier tiers of a cascade. The judges of screening tiers
        are not: an answer that is not empty need not be good, so their PASS is not a vote that jurors could agree with.

        Args:
            verdicts: a batch of one jury; see :meth:`jury_adapters.Report.from_results`. Results that include the case
                also have its id (``metadata["item_id"]``), gold (``metadata["gold"]``), generator and answer.
            on: the part of a judgment that is its vote: ``"label"``, ``"status"`` or ``"score"``; else the jury's own.
            gold: the human labels, by item id or in the order of the verdicts.
            group: the entry of the case's metadata that identifies its group (``"meta.program"``); by default the
                example, if LangSmith ran examples several times (``num_repetitions``).
            screening_tiers: whether the judges of screening tiers (``reject_on_any_fail``, ``accept_on_all_pass``) are
                columns too.
            labels: as in :meth:`from_rows`.
            pass_label: as in :meth:`from_rows`; by default what the judgments show, if they have both a label and a
                status.

        Raises:
            ConfigurationError: only screening tiers judged these cases, or their votes cannot be read as one batch.
            UnclearLabels: no case has one of the given pass labels.
            InputError: copies of an item have different gold labels, or different votes under one id.
        """
        found = verdict_items(
            verdicts, on, gold, group, screening_tiers=screening_tiers, pass_labels=listed(pass_label)
        )
        return _assemble_judged(found, labels)

    @classmethod
    def from_recorded(
        cls,
        source: str | Path | Iterable[Mapping[str, Any]],
        *,
        jurors: Sequence[str] = (),
        on: Literal["label", "score"] | None = None,
        column: str = "votes",
        group: str = "",
        abstain_labels: Collection[Raw] = (),
        where: Callable[[Mapping[str, Any]], bool] | None = None,
        labels: Sequence[Value] = (),
        pass_label: PassLabel = None,
    ) -> Votes:
        """Read votes from recorded rows: ``{"item_id", "votes": {juror: {"label"...}}, "gold"?, "answer"?, "meta"?}``.

        Args:
            source: a file of rows (JSON lines, gzipped or not), or the rows.
            jurors: the jurors to take, in this order; by default all of them, sorted by name.
            on: take the ``"label"`` or the ``"score"`` of a vote; by default labels if there are any.
            column: the column of the votes; ``"human_votes"`` for human votes, which are plain values.
            group: the entry that identifies the group of a row, such as ``"meta.program"``.
            abstain_labels: labels that are not votes, such as the ``tie`` of two orders that disagree.
            where: a predicate of the rows to take.
            labels: as in :meth:`from_rows`.
            pass_label: as in :meth:`from_rows`.

        Raises:
            InputError: a row cannot be read, or two rows of one id have different votes, content or gold labels;
                the message names it.
        """
        found = recorded_items(source, on=on, column=column, group=group, abstain_labels=abstain_labels, where=where)
        return assemble(found, jurors=tuple(jurors), labels=labels, pass_label=pass_label, sort_jurors=True)

    @classmethod
    def from_results(
        cls,
        results: str | Path | FrameworkResults,
        *,
        on: On | None = None,
        gold: str | Path | Mapping[str, Raw] | Sequence[Raw] | None = None,
        cases: str | Path | None = None,
        group: str | None = None,
        screening_tiers: bool = False,
        labels: Sequence[Value] = (),
        pass_label: PassLabel = None,
    ) -> Votes:
        """Read votes from the file that ``jury judge --out`` wrote, or from results as :meth:`from_verdicts` does.

        Args:
            results: the file, or the results.
            on: as in :meth:`from_verdicts`.
            gold: the human labels, by item id or in the order of the results; or the file of the cases, which has
                them in its column ``gold`` (and also has answers, generators and groups). By default the metadata of
                the cases that the verdicts hold. For results in memory, as in :meth:`from_verdicts`.
            cases: the file that was judged, for labels (where ``gold`` gives none) and groups.
            group: as in :meth:`from_recorded`; ``""`` for none. By default that of ``jury judge --group``, with a
                logged warning where it is not found. If it is not in the results, it is read from the file of the
                cases, by default the one that the results name.
            screening_tiers: as in :meth:`from_verdicts`.
            labels: as in :meth:`from_rows`.
            pass_label: as in :meth:`from_verdicts`; by default what the results name (``jury judge --pass-label``),
                unless the labels in use are different ones.

        Raises:
            InputError: a line is not a result; two results of one item have different votes; an id by which labels
                are found has different contents; or an item has two different gold labels. The message names the
                lines.
        """
        found = result_items(
            results, on, gold, group, cases=cases, screening_tiers=screening_tiers, pass_labels=listed(pass_label)
        )
        return _assemble_judged(found, labels)

    @property
    def answered(self) -> Bools:
        """Mask of items x jurors: True where there is a vote."""
        mask: Bools = self.codes != MISSING
        return mask

    @property
    def numeric(self) -> bool:
        """Whether votes are numbers."""
        return bool(self.labels) and not isinstance(self.labels[0], str)

    @property
    def scale(self) -> Floats:
        """Labels as numbers.

        Raises:
            ConfigurationError: the labels are words.
        """
        if self.labels and not self.numeric:
            raise ConfigurationError("this needs votes that are numbers, not labels")
        return np.array(self.labels, dtype=np.float64)

    @property
    def pass_code(self) -> int | None:
        """Position of the PASS label in ``labels``; None if there is none."""
        return self.labels.index(self.pass_label) if self.pass_label in self.labels else None

    @property
    def has_gold(self) -> bool:
        """Whether any item has a human label."""
        return bool((self.gold != MISSING).any())

    @property
    def grouped(self) -> bool:
        """Whether any two items are in the same group."""
        return len(np.unique(self.groups)) < len(self.items)

    def counts(self) -> Ints:
        """Return items x labels: the number of jurors that voted each label."""
        return counted(self.codes, len(self.labels))

    def take(self, rows: Ints | Bools | Sequence[int]) -> Votes:
        """Return only these items, by position or by mask."""
        index = np.arange(len(self.items))[np.asarray(rows)]
        return replace(
            self,
            label_comparison=None,
            failed_runs=0,
            contradicting=0,
            codes=self.codes[index],
            items=_picked(self.items, index),
            gold=self.gold[index],
            groups=self.groups[index],
            generators=_picked(self.generators, index),
            lengths=self.lengths[index],
            orders=None if self.orders is None else self.orders[:, index],
            verdicts=self.verdicts[index] if len(self.verdicts) else self.verdicts,
            stated=self.stated.take(index),
            repetitions={name: votes.take(index) for name, votes in self.repetitions.items()},
        )

    def panel(self, jurors: Sequence[str]) -> Votes:
        """Return only these jurors, in this order.

        Raises:
            ConfigurationError: a juror has no votes here.
        """
        for name in jurors:
            if name not in self.jurors:
                raise ConfigurationError(unknown("juror", name, self.jurors))
        index = np.array([self.jurors.index(name) for name in jurors], dtype=np.int64)
        whole = set(jurors) == set(self.jurors)
        return replace(
            self,
            label_comparison=None if self.label_comparison is None else self.label_comparison.only(jurors),
            codes=self.codes[:, index],
            jurors=tuple(jurors),
            models=_picked(self.models, index),
            selected=tuple(name for name in jurors if name in self.selected),
            orders=None if self.orders is None else self.orders[:, :, index],
            verdicts=self.verdicts if whole else self.verdicts[:0],
            stated=self.stated.panel(jurors, whole=whole),
            repetitions={name: votes for name, votes in self.repetitions.items() if whole or name in jurors},
        )

    @property
    def labelled(self) -> int:
        """Number of items with a human label, also one that no juror can vote, such as a grade on another scale."""
        graded = ~np.isnan(self.stated.ratings) if len(self.stated.ratings) else False
        return int(((self.gold != MISSING) | graded).sum())

    def __repr__(self) -> str:
        return f"Votes({len(self.items)} items x {len(self.jurors)} jurors, {self.labelled} with a human label)"


def _assemble_judged(found: JudgedVotes, labels: Sequence[Value]) -> Votes:
    return assemble(
        found.items, labels=labels, pass_label=found.pass_labels, failed_runs=found.failed_runs,
        known_labels=found.known_labels,
    )  # fmt: skip


def assemble(
    items: Iterable[ItemVotes],
    *,
    jurors: tuple[str, ...] = (),
    labels: Sequence[Value] = (),
    pass_label: PassLabel = None,
    sort_jurors: bool = False,
    failed_runs: FailedRuns = NO_FAILED_RUNS,
    known_labels: Collection[str] = (),
) -> Votes:
    """Build the matrix of the items that were read, with jurors in the order of their first vote by default."""
    rows, pass_labels = list(items), listed(pass_label)
    unique = one_per_item(rows)
    found, pass_label = in_jurors_words(with_grades(unique), pass_labels, known_labels)
    names = names_of_jurors(found, jurors, sort=sort_jurors)
    scale = Scale(found, names, labels, listed=bool(pass_labels))
    if pass_label is None and "PASS" in scale.labels:
        pass_label = "PASS"
    if pass_label is not None and pass_label not in scale.labels and found:
        raise ConfigurationError(unknown("pass_label", pass_label, map(str, scale.labels)))
    models = {name: model for item in found for name, model in item.models.items() if model}
    verdicts = {id(item.verdict): item.verdict for item in found if item.verdict is not None}  # many share one
    return Votes(
        codes=vote_codes(found, names, scale),
        labels=scale.labels,
        jurors=names,
        items=tuple(item.item for item in found),
        gold=gold_codes(found, scale),
        groups=group_numbers(found),
        ordered=bool(labels) or not any(isinstance(label, str) for label in scale.labels),
        pass_label=pass_label,
        pass_labels=pass_labels,
        label_comparison=build_label_comparison(
            unique, names, pass_labels, rows, failed_runs=failed_runs, known_labels=known_labels
        ),
        generators=tuple(item.generator for item in found),
        lengths=np.fromiter((nan if item.length is None else item.length for item in found), np.float64, len(found)),
        models=tuple(models.get(name) for name in names),
        selected=selected_jurors(found, names) if any(map(has_selected_jurors, verdicts.values())) else (),
        orders=codes_by_order(found, names, scale),
        verdicts=passed_by_jury(found, pass_labels if pass_label is None else (pass_label,)),
        merged=len(rows) - len(found),
        failed_runs=failed_runs.number,
        stated=stated_by(found, names, scale),
        repetitions=_repetitions(found),
    )


def _picked(values: tuple[T, ...], index: Ints) -> tuple[T, ...]:
    return tuple(values[position] for position in index.tolist()) if values else ()


def _repetitions(items: Sequence[ItemVotes]) -> dict[str, Votes]:
    """Return the answers of each juror that was asked several times, as votes with one column per repetition."""
    jurors = dict.fromkeys(name for item in items for name in item.repetitions)
    return {name: assemble([item.as_jurors(name) for item in items]) for name in jurors}
