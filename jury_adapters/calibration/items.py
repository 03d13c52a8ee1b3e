"""Votes of single items, before they are put on a common scale."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, isfinite
from typing import Any, NamedTuple

import numpy as np

from jury_adapters.calibration.types import Answer, Numbers, Raw, Value
from jury_adapters.core.duplicates import ContradictingLabels, one_label
from jury_adapters.core.errors import ConfigurationError, InputError, plain_repr, unknown
from jury_adapters.core.human_labels import (
    LabelMeanings,
    check_pass_labels,
    check_vote_spelling,
    human_label,
    listed_labels,
)
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.label_comparison import LabelComparison

DECIMAL = re.compile(r"[-+]?[0-9]{1,15}(?:\.[0-9]{1,15})?")
"""Text that is a number, such as a grade in a CSV file."""


class FailedRuns(NamedTuple):
    """Numbers of failed runs of the application, which no juror judged; copies of one count once.

    Attributes:
        number: all of them.
        labelled: those with a human label.
    """

    number: int = 0
    labelled: int = 0


NO_FAILED_RUNS = FailedRuns()


@dataclass(frozen=True, slots=True)
class ItemVotes:
    """One item as it is read: the votes by juror, the facts about the item, and the jury's verdict if there is one.

    ``jury`` is the vote of that verdict. ``numbers`` are the confidence and the score of each juror, and under None
    those of the verdict. ``repetitions`` are the answers of each juror that was asked several times. ``identity``
    identifies copies of one item, and ``own_id`` is its id if it has one. ``source`` and ``number`` name the row in
    messages. Items may share their votes, models, orders and verdict.
    """

    item: str
    votes: Mapping[str, Raw]
    gold: Raw = None
    group: Hashable = None
    generator: str | None = None
    length: float | None = None
    models: Mapping[str, str | None] = field(default_factory=dict)
    orders: Mapping[str, tuple[Raw, Raw]] = field(default_factory=dict)
    verdict: Judgment | None = None
    jury: Raw = None
    numbers: Mapping[Any, Numbers] = field(default_factory=dict)
    repetitions: Mapping[str, tuple[Answer, ...]] = field(default_factory=dict)
    identity: Hashable | None = None
    own_id: str | None = None
    source: str = ""
    number: int = 0
    label: Raw = None  # the human label in its original words

    @property
    def place(self) -> str:
        """Name of the row in messages."""
        return f"{self.source} {self.number}"

    def as_jurors(self, juror: str) -> ItemVotes:
        """Return the answers of a juror that was asked several times as the votes of an item, one per repetition."""
        answers = {f"repetition {n}": answer for n, answer in enumerate(self.repetitions.get(juror, ()), start=1)}
        votes = {name: answer.vote for name, answer in answers.items()}
        numbers = {name: answer.numbers for name, answer in answers.items()}
        return ItemVotes(self.item, votes, group=self.group, numbers=numbers)


def names_of_jurors(items: Sequence[ItemVotes], jurors: tuple[str, ...] = (), *, sort: bool = False) -> tuple[str, ...]:
    """Return the names of the jurors of a batch.

    Args:
        items: the votes.
        jurors: the jurors to take, in this order; by default all, in the order of their first vote.
        sort: whether to sort all by name.

    Raises:
        ConfigurationError: one of ``jurors`` has no vote, or is named twice.
    """
    names = tuple(dict.fromkeys(name for cast in different_votes(items) for name in cast))
    absent = next((name for name in jurors if name not in names), None)
    if absent is not None and items:
        raise ConfigurationError(unknown("juror", absent, names))
    if len(set(jurors)) != len(jurors):
        raise ConfigurationError("every juror needs a name of its own")
    return jurors or (tuple(sorted(names)) if sort else names)


def selected_jurors(items: Sequence[ItemVotes], jurors: Sequence[str]) -> tuple[str, ...]:
    """Return those of the jurors that were not asked about every item on which a juror was asked."""
    asked = [cast.keys() for cast in different_votes(items) if cast]
    return tuple(name for name in jurors if not all(name in names for names in asked))


def one_per_item(items: Sequence[ItemVotes]) -> list[ItemVotes]:
    """Return the first row of each item, with the label that any of its copies has.

    Raises:
        InputError: copies of an item have different labels, or copies of an item with an id have different votes. A
            jury that judged the same content twice, without an id, may vote differently; the first row counts then.
    """
    known = [item.identity for item in items if item.identity is not None]
    if len(set(known)) == len(known):
        return list(items)
    first_of: dict[Hashable, int] = {}
    copies_of: dict[int, list[int]] = {}
    for position, item in enumerate(items):
        first = position if item.identity is None else first_of.setdefault(item.identity, position)
        if first != position:
            copies_of.setdefault(first, [first]).append(position)
    copies = {position for positions in copies_of.values() for position in positions[1:]}
    return [
        _merged(items, copies_of[position]) if position in copies_of else item
        for position, item in enumerate(items)
        if position not in copies
    ]


def different_votes(items: Iterable[ItemVotes]) -> Collection[Mapping[str, Raw]]:
    """Return the votes of the items, those that several items share only once, in the order of the items."""
    return {id(item.votes): item.votes for item in items}.values()


def _merged(items: Sequence[ItemVotes], positions: Sequence[int]) -> ItemVotes:
    """Return the first of the copies of an item at these positions, with the label that any of them has."""
    first, copies = items[positions[0]], [items[position] for position in positions]
    other = next((copy for copy in copies if not _same_votes(copy, first)), None)
    if other is not None and first.own_id is not None:
        raise InputError(
            f"{other.place}: item_id {first.own_id!r} is in {first.place} too, with other votes; keep one of the two"
        )
    try:
        gold = one_label(first.own_id, [(at, plain(copy.gold)) for at, copy in zip(positions, copies, strict=True)])
    except ContradictingLabels as error:
        raise InputError(error.describe([items[position].place for position, _ in error.labels])) from None
    return replace(first, gold=gold)


def plain(vote: Raw) -> Value | None:
    """Return a vote as text or number; None if it is missing (None, NaN).

    Raises:
        ConfigurationError: the value cannot be a vote, such as a list.
    """
    if vote is None:
        return None
    if isinstance(vote, bool | np.bool_):
        return "PASS" if vote else "FAIL"
    if isinstance(vote, str):
        return str(vote)  # a Status is a subclass of str
    if isinstance(vote, int | float | np.integer | np.floating):
        try:
            number = float(vote)
        except OverflowError:  # an integer of hundreds of digits
            number = inf
        if number != number:  # noqa: PLR0124  only NaN differs from itself
            return None
        if isfinite(number):
            return number
    raise ConfigurationError(f"a vote is a label or a finite number, not {plain_repr(vote)}")


def _same_votes(one: ItemVotes, other: ItemVotes) -> bool:
    return {name: plain(vote) for name, vote in one.votes.items()} == {
        name: plain(vote) for name, vote in other.votes.items()
    }


def with_meanings(items: list[ItemVotes], meanings: LabelMeanings) -> tuple[list[ItemVotes], tuple[str, ...]]:
    """Return the items with gold labels in the jurors' words, and the label that means PASS; none if several do.

    Args:
        items: the items.
        meanings: the labels that mean PASS and FAIL, as the jurors' own judgments show it.
    """
    votes = {vote for cast in different_votes(items) for vote in map(plain, cast.values()) if vote is not None}
    if votes <= {"PASS", "FAIL"}:
        return [_with_gold(item, _in_status(item.gold, meanings)) for item in items], ()
    passing = tuple(label for label, status in meanings.meaning.items() if status is Status.PASS and label in votes)
    return items, passing if len(passing) == 1 else ()


def _with_gold(item: ItemVotes, gold: Raw) -> ItemVotes:
    """Return an item with another label, or the item itself if it has this text as its label."""
    same = gold is item.gold or (isinstance(item.gold, str) and gold == item.gold)
    return item if same else replace(item, gold=gold)


def _in_status(gold: Raw, meanings: LabelMeanings) -> Raw:
    label = human_label(plain(gold))
    return gold if label is None else meanings.status_of(label) or gold


def in_jurors_words(
    items: list[ItemVotes], pass_labels: Collection[str], known_labels: Collection[str] = ()
) -> tuple[list[ItemVotes], str | None]:
    """Translate human labels to PASS and FAIL if jurors vote PASS and FAIL and the labels are other words.

    Args:
        items: the items.
        pass_labels: the human labels that mean PASS.
        known_labels: those of them that no item need have.

    Returns:
        The items, and the label that means PASS; None if there is none, or if there are several that jurors vote.
    """
    votes = {vote for cast in different_votes(items) for vote in map(plain, cast.values()) if vote is not None}
    said = Counter(label for item in items if (label := human_label(plain(item.gold))) is not None)
    words = {word for vote in votes if (word := human_label(vote)) is not None}
    check_pass_labels(said, pass_labels, {"PASS", *words, *known_labels})
    check_vote_spelling(words, pass_labels)
    if not pass_labels or set(pass_labels) == {"PASS"} or not votes or not votes <= {"PASS", "FAIL"}:
        used = [label for label in pass_labels if len(pass_labels) == 1 or label in votes]
        return items, used[0] if len(used) == 1 else None
    truths = [None if (label := human_label(plain(item.gold))) is None else label in pass_labels for item in items]
    return [replace(item, gold=truth) for item, truth in zip(items, truths, strict=True)], "PASS"


def with_grades(items: list[ItemVotes]) -> list[ItemVotes]:
    """Return the items with their human labels as numbers if all votes and all labels are numbers.

    Labels of a CSV file and of ``--label-column`` are texts.
    """
    if any(isinstance(vote, str) for cast in different_votes(items) for vote in cast.values()):
        return items
    said = {item.gold for item in items if isinstance(item.gold, str)}
    if not said or not all(map(DECIMAL.fullmatch, said)):
        return items
    return [replace(item, gold=float(item.gold)) if isinstance(item.gold, str) else item for item in items]


def build_label_comparison(
    items: Sequence[ItemVotes],
    names: Sequence[str],
    pass_labels: Collection[str],
    rows: Sequence[ItemVotes],
    *,
    failed_runs: FailedRuns,
    known_labels: Collection[str] = (),
) -> LabelComparison:
    """Compare the verdicts with human labels; for items without a verdict, the votes.

    Args:
        items: the items, each once.
        names: the jurors.
        pass_labels: the human labels that mean PASS.
        rows: the rows of these items, copies included.
        failed_runs: the failed runs of the application, which are no items.
        known_labels: the PASS labels that no item need have.
    """
    against = LabelComparison(pass_labels)
    against.known_labels = known_labels
    verdicts = {id(item.verdict): item.verdict for item in items if item.verdict is not None}
    alike: Counter[tuple[str | None, int, Hashable]] = Counter()  # items that count alike
    for item in items:
        if item.verdict is not None:
            alike[human_label(_label(item)), id(item.verdict), item.group] += 1
        else:
            votes = {name: human_label(plain(item.votes.get(name))) for name in names}
            against.add_votes(_label(item), votes, item.group)
    for (label, verdict, group), times in alike.items():
        against.add_item(label, verdicts[verdict], group, times=times)
    against.merged = sum(human_label(_label(row)) is not None for row in rows) - against.cases
    against.failed_runs = failed_runs.labelled
    return against


def listed(pass_label: str | Collection[str] | None) -> tuple[str, ...]:
    """Return the labels that mean PASS as a tuple; empty for None."""
    several = isinstance(pass_label, Iterable) and not isinstance(pass_label, str)
    return () if pass_label is None else listed_labels(pass_label if several else [pass_label])


def _label(item: ItemVotes) -> Raw:
    return item.gold if item.label is None else item.label
