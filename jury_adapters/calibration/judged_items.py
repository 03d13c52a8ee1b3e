"""Judgments with the facts about their items, and the votes that they make."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from math import isnan, nan
from sys import intern
from types import MappingProxyType
from typing import Any, NamedTuple

from jury_adapters.calibration.form_votes import FormVotes, votes_of_forms
from jury_adapters.calibration.items import NO_FAILED_RUNS, FailedRuns, ItemVotes, with_meanings
from jury_adapters.calibration.slim_judgments import SlimJudgments
from jury_adapters.calibration.types import Answer, On, Raw
from jury_adapters.core.answer_facts import AnswerFacts
from jury_adapters.core.case import Case
from jury_adapters.core.case_groups import group_of_row, row_of_case, without_case
from jury_adapters.core.duplicates import IDENTITY_BYTES, Identity, compact_identity, identity_of
from jury_adapters.core.errors import InputError
from jury_adapters.core.human_labels import LabelMeanings, human_label
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.opinions import votes_in
from jury_adapters.core.results_file import LabelsOfCase
from jury_adapters.core.return_values import is_failed_run
from jury_adapters.core.verdict import Verdict
from jury_adapters.core.verdict_facts import metadata_of_case

_NO_ANSWERS: dict[str, tuple[Answer, ...]] = {}  # shared by the items without repetitions


class _Facts(NamedTuple):
    """Facts about an item that most batches do not have; see :class:`ItemVotes`."""

    group: object = None
    generator: str | None = None


_NO_FACTS = _Facts()


class JudgedVotes(NamedTuple):
    """Votes of a batch of judgments.

    Attributes:
        items: one per judgment.
        pass_labels: the labels that mean PASS.
        failed_runs: the failed runs of the application, which are no items.
        known_labels: the labels that mean PASS according to the results; no item need have them.
    """

    items: list[ItemVotes]
    pass_labels: tuple[str, ...]
    failed_runs: FailedRuns
    known_labels: tuple[str, ...] = ()


class JudgedItems:
    """Judgments of a batch with the facts about their items, added one by one; texts and usage are not kept.

    Args:
        group: the entry of the case's metadata that identifies its group; empty for independent cases.
        source: the name of a row of the batch in messages, without its number.
    """

    def __init__(self, group: str = "", source: str = "verdict") -> None:
        self._group = group
        self._source = source
        self._slim = SlimJudgments()
        self._names: list[str] = []
        self._gold: list[Raw] = []
        self._identities = bytearray()  # one after the other; of an item without one, zeros
        self._has_id = bytearray()
        self._numbers = array("Q")
        self._lengths = array("d")  # NaN for unknown ones
        self._facts: dict[int, _Facts] = {}
        self._failed_runs = NO_FAILED_RUNS
        self._failed: set[bytes] = set()  # the identities of those that have one

    def add(
        self,
        index: int,
        case: Case | None,
        judgment: Judgment,
        label: Raw = None,
        labels: Mapping[str, Raw] = MappingProxyType({}),
        *,
        own_label: bool = True,
        answer: AnswerFacts | None = None,
    ) -> None:
        """Add one judgment.

        Args:
            index: its position in the batch.
            case: the case; None if its texts are unknown.
            judgment: the judgment.
            label: the human label.
            labels: the human labels by item id; they count before ``label``.
            own_label: whether the human label is that of the case.
            answer: facts about the answer; None for those that the case has.

        Raises:
            ConfigurationError: the case has no such group.
        """
        row = metadata_of_case(judgment) if case is None else row_of_case(case)
        own_id = _own_id(case, judgment)
        item = str(index) if own_id is None else own_id
        truth = row.get("gold") if own_label else labels.get(item) if labels else label
        identity = identity_of(None if case is None else case.content_hash, own_id)
        self.put(
            item, judgment, truth, row, identity=identity, number=index + 1, answer=answer, case_known=case is not None
        )

    def put(
        self,
        item: str,
        judgment: Judgment,
        truth: Raw,
        row: Mapping[str, Any],
        *,
        identity: Identity | None,
        number: int,
        answer: AnswerFacts | None = None,
        case_known: bool = True,
    ) -> None:
        """Add one judgment with what is known of its item; a run of the application that failed is only counted.

        No juror judged such a run, and its FAIL agrees with the human label by chance.

        Args:
            item: the id of the item, or another name.
            judgment: the judgment.
            truth: the human label.
            row: the columns of the item, under our names; it is not kept.
            identity: the identity of the item, by which copies are found.
            number: the number of the row in messages.
            answer: facts about the answer of the item; None for those of the row.
            case_known: whether the row has the fields of the case, and not only the metadata in its verdict.

        Raises:
            ConfigurationError: the item has no such group.
        """
        if is_failed_run(judgment):
            self._count_failed(None if identity is None else compact_identity(identity), truth)
            return
        known = {**metadata_of_case(judgment), **row} if self._group else {}
        try:
            group = group_of_row(known, self._group, f"item {item}") if self._group else None
        except InputError as error:
            raise error if case_known else without_case(error) from None
        generator, length = AnswerFacts.of_row(row) if answer is None else answer
        if (facts := _Facts(group, generator)) != _NO_FACTS:
            self._facts[len(self._names)] = facts
        self._lengths.append(nan if length is None else length)
        self._slim.add(judgment)
        self._names.append(item)
        self._gold.append(intern(truth) if truth.__class__ is str else truth)
        self._identities += bytes(IDENTITY_BYTES) if identity is None else compact_identity(identity)
        self._has_id.append(identity is not None and identity[1] is not None)
        self._numbers.append(number)

    def labels_used(self) -> Iterator[LabelsOfCase]:
        """Yield the human labels of the items, and the labels of their votes."""
        yield from ((human_label(label), ()) for label in self._gold)
        yield from ((None, (vote.label for _, vote in votes_in(form))) for form in self._slim.forms)

    def votes(
        self,
        on: On | None,
        *,
        screening_tiers: bool = False,
        labelled: bool = True,
        pass_labels: tuple[str, ...] = (),
    ) -> JudgedVotes:
        """Return one item per judgment, and the labels that mean PASS, as :func:`verdict_items` does."""
        forms = self._slim.forms
        cast = votes_of_forms(forms, on, screening_tiers=screening_tiers)
        items = [
            self._item(position, cast[self._slim.form(position)], labelled=labelled)
            for position in range(len(self._names))
        ]
        if pass_labels:
            return JudgedVotes(items, pass_labels, self._failed_runs)
        meanings = LabelMeanings.of((vote for form in forms for _, vote in votes_in(form)), ())
        return JudgedVotes(*with_meanings(items, meanings), self._failed_runs)

    def _count_failed(self, identity: bytes | None, truth: Raw) -> None:
        if identity is not None:
            if identity in self._failed:
                return
            self._failed.add(identity)
        number, labelled = self._failed_runs
        self._failed_runs = FailedRuns(number + 1, labelled + (human_label(truth) is not None))

    def _identity(self, position: int) -> bytes | None:
        found = bytes(self._identities[position * IDENTITY_BYTES : (position + 1) * IDENTITY_BYTES])
        return found if any(found) else None

    def _item(self, position: int, form: FormVotes, *, labelled: bool) -> ItemVotes:
        facts, length = self._facts.get(position, _NO_FACTS), self._lengths[position]
        gold = self._gold[position] if labelled else None
        name = self._names[position]
        numbers = self._slim.numbers(position, form.parts)
        return ItemVotes(
            name,
            form.votes_with(numbers),
            gold=gold,
            group=facts.group,
            generator=facts.generator,
            length=None if isnan(length) else length,
            models=form.models,
            orders=form.orders,
            verdict=form.form,
            jury=form.jury_with(numbers),
            numbers=numbers,
            repetitions=form.answers_with(numbers) if form.repeated else _NO_ANSWERS,
            identity=self._identity(position),
            own_id=name if self._has_id[position] else None,
            source=self._source,
            number=self._numbers[position],
            label=gold,
        )


def _own_id(case: Case | None, judgment: Judgment) -> str | None:
    if case is not None:
        return case.item_id
    return judgment.case_id if isinstance(judgment, Verdict) else None
