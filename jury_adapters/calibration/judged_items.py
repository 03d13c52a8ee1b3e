"""Judgments with the facts about their items, and the votes that they make."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeVar

from jury_adapters.calibration.items import ItemVotes, with_meanings
from jury_adapters.calibration.repetitions import answers_by_place
from jury_adapters.calibration.slim_judgments import SlimJudgments
from jury_adapters.calibration.stated_numbers import is_jury, numbers_of
from jury_adapters.calibration.types import Answer, On, Raw
from jury_adapters.core.case import Case
from jury_adapters.core.case_groups import group_of_row, row_of_case
from jury_adapters.core.duplicates import Identity, identity_of
from jury_adapters.core.errors import ConfigurationError, unknown
from jury_adapters.core.human_labels import LabelMeanings, human_label
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.opinions import Path as Place
from jury_adapters.core.opinions import is_placeholder, juror_names, votes_in
from jury_adapters.core.tier_policies import is_screening_policy
from jury_adapters.core.verdict import SCORECARD, Verdict, is_pairwise_opinion

_BALLOTS: dict[str, Callable[[Judgment], Raw]] = {
    "label": lambda judgment: judgment.ballot,
    "status": lambda judgment: judgment.opinion,
    "score": lambda judgment: judgment.numeric_score,
}
_PAIR = 2
_NONE: dict[str, Any] = {}  # shared by the items without such facts
T = TypeVar("T")


class JudgedItems:
    """Judgments of a batch with the facts about their items, added one by one; texts and usage are not kept.

    Args:
        group: the entry of the case's metadata that identifies its group; empty for independent cases.
    """

    def __init__(self, group: str = "") -> None:
        self._group = group
        self._slim = SlimJudgments()
        self._items: list[_JudgedItem] = []

    def add(
        self,
        index: int,
        case: Case | None,
        judgment: Judgment,
        label: Raw = None,
        labels: Mapping[str, Raw] = MappingProxyType({}),
        *,
        own_label: bool = True,
    ) -> None:
        """Add one judgment.

        Args:
            index: its position in the batch.
            case: the case; None if its texts are unknown.
            judgment: the judgment.
            label: the human label.
            labels: the human labels by item id; they count before ``label``.
            own_label: whether the human label is that of the case.

        Raises:
            ConfigurationError: the case has no such group.
        """
        row = metadata_of(judgment) if case is None else row_of_case(case)
        own_id = _own_id(case, judgment)
        item = str(index) if own_id is None else own_id
        truth = row.get("gold") if own_label else labels.get(item) if labels else label
        identity = identity_of(None if case is None else case.content_hash, own_id)
        self.put(item, judgment, truth, row, identity=identity, place=f"verdict {index + 1}")

    def put(
        self,
        item: str,
        judgment: Judgment,
        truth: Raw,
        row: Mapping[str, Any],
        *,
        identity: Identity | None,
        place: str,
    ) -> None:
        """Add one judgment with what is known of its item.

        Args:
            item: the id of the item, or another name.
            judgment: the judgment.
            truth: the human label.
            row: the columns of the item, under our names; it is not kept.
            identity: the identity of the item, by which copies are found.
            place: the name of the row in messages.

        Raises:
            ConfigurationError: the item has no such group.
        """
        known = {**metadata_of(judgment), **row} if self._group else {}
        group = group_of_row(known, self._group, f"item {item}") if self._group else None
        facts = (group, generator_in(row), length_in(row), identity, place)
        self._items.append(_JudgedItem(item, self._slim.of(judgment), truth, *facts))

    def labels_used(self) -> Iterator[str | None]:
        """Yield the human labels of the items and the labels of their votes."""
        for one in self._items:
            yield human_label(one.gold)
            yield from (vote.label for _, vote in votes_in(one.judgment))

    def votes(
        self,
        on: On | None,
        *,
        screening_tiers: bool = False,
        labelled: bool = True,
        pass_labels: tuple[str, ...] = (),
    ) -> tuple[list[ItemVotes], tuple[str, ...]]:
        """Return one item per judgment, and the labels that mean PASS, as :func:`verdict_items` does."""
        items = self._items if labelled else [replace(one, gold=None) for one in self._items]
        return _items(items, on, self._slim, screening_tiers=screening_tiers, pass_labels=pass_labels)


def metadata_of(judgment: Judgment) -> Mapping[str, Any]:
    """Return the metadata of the case that a verdict holds: the label and the groups."""
    return judgment.case_metadata if isinstance(judgment, Verdict) else {}


def generator_in(row: Mapping[str, Any]) -> str | None:
    """Return the model that wrote the answer of a row, or None."""
    meta = row.get("meta")
    found = row.get("generator") or (meta.get("generator") if isinstance(meta, Mapping) else None)
    return str(found) if found else None


def length_in(row: Mapping[str, Any]) -> float | None:
    """Return the answer's length in characters; for a pair, the length of the first minus that of the second."""
    pair = row.get("answers") or row.get("candidates")
    if isinstance(pair, Sequence) and len(pair) == _PAIR and all(isinstance(text, str) for text in pair):
        return float(len(pair[0]) - len(pair[1]))
    answer = row.get("answer")
    return float(len(answer)) if isinstance(answer, str) else None


@dataclass(frozen=True, slots=True)
class _JudgedItem:
    """Judgment with the facts about its item; see :class:`ItemVotes`."""

    item: str
    judgment: Judgment
    gold: Raw
    group: object
    generator: str | None
    length: float | None
    identity: Identity | None
    place: str


def _items(
    judged: Sequence[_JudgedItem],
    on: On | None,
    slim: SlimJudgments,
    *,
    screening_tiers: bool,
    pass_labels: tuple[str, ...],
) -> tuple[list[ItemVotes], tuple[str, ...]]:
    ballot = _ballot(on, [one.judgment for one in judged])

    def opinions(one: _JudgedItem) -> dict[Place, Judgment]:
        return _opinions(one.judgment, screening_tiers=screening_tiers)

    # Both are found twice, because those of all cases together take much memory.
    places = dict.fromkeys(path for one in judged for path in opinions(one))
    repeated = dict.fromkeys(path for one in judged for path in answers_by_place(one.judgment, ballot))
    names = juror_names(places)
    names |= juror_names(path for path in repeated if path not in names)
    items = [
        _item(one, _named(opinions(one), names), _named(answers_by_place(one.judgment, ballot), names), ballot, slim)
        for one in judged
    ]
    if items and not any(item.votes for item in items):
        raise ConfigurationError(
            "only screening tiers judged these cases, and to let a case through is not an opinion of it; to compare "
            "their judges all the same, name them as jurors (in Python: screening_tiers=True)"
        )
    if pass_labels:
        return items, pass_labels
    votes = (vote for one in judged for _, vote in votes_in(one.judgment))
    return with_meanings(items, LabelMeanings.of(votes, ()))


def _named(found: Mapping[Place, T], names: Mapping[Place, str]) -> dict[str, T]:
    return {names[path]: one for path, one in found.items()}


def _item(
    judged: _JudgedItem,
    opinions: Mapping[str, Judgment],
    repetitions: dict[str, tuple[Answer, ...]],
    ballot: Callable[[Judgment], Raw],
    slim: SlimJudgments,
) -> ItemVotes:
    orders = {name: pair for name, opinion in opinions.items() if (pair := _both_orders(opinion)) is not None}
    return ItemVotes(
        judged.item,
        slim.mapping({name: ballot(opinion) for name, opinion in opinions.items()}),
        gold=judged.gold,
        group=judged.group,
        generator=judged.generator,
        length=judged.length,
        models=slim.mapping({name: opinion.model for name, opinion in opinions.items()}),
        orders=orders or _NONE,
        verdict=judged.judgment,
        jury=ballot(judged.judgment) if is_jury(judged.judgment) else None,
        numbers=slim.mapping({name: numbers_of(opinion) for name, opinion in opinions.items()}),
        repetitions=repetitions or _NONE,
        identity=judged.identity,
        place=judged.place,
        label=judged.gold,
    )


def _ballot(on: On | None, judgments: Sequence[Judgment]) -> Callable[[Judgment], Raw]:
    """Return a function that reads a judgment's vote: by ``on``, or as the jury itself counted it."""
    if on is not None:
        if on not in _BALLOTS:
            raise ConfigurationError(unknown("on", on, _BALLOTS))
        return _BALLOTS[on]
    counted = {judgment.tally.on for judgment in judgments if isinstance(judgment, Verdict) and judgment.tally.eligible}
    if len(counted) > 1:
        raise ConfigurationError(f"these verdicts were voted on {' and on '.join(sorted(counted))}; say which with on=")
    return _BALLOTS[counted.pop() if counted else "label"]


def _opinions(judgment: Judgment, *, screening_tiers: bool, path: Place = ()) -> dict[Place, Judgment]:
    """Return the opinions in one verdict by place; for a cascade, those of every tier that ran.

    A nested jury is one voter here, because it had one vote. A scorecard is also one voter: its criteria ask different
    questions, so their agreement means nothing. Screening tiers are included only on request.
    """
    if not isinstance(judgment, Verdict) or is_pairwise_opinion(judgment) or judgment.voting == SCORECARD:
        return {(*path, judgment.critic or "judge"): judgment}
    found: dict[Place, Judgment] = {}
    for tier in judgment.tiers:
        if (screening_tiers or not is_screening_policy(tier.policy)) and not is_placeholder(tier):
            found.update(_opinions(tier.judgment, screening_tiers=screening_tiers, path=(*path, tier.name)))
    if judgment.tiers:
        return found
    return {(*path, juror.critic): juror for juror in judgment.judgments} or {
        (*path, judgment.critic or "judge"): judgment
    }


def _both_orders(judgment: Judgment) -> tuple[Raw, Raw] | None:
    """Return the labels of a pairwise judge with A first and with B first."""
    if not isinstance(judgment, Verdict) or judgment.metadata.get("position_consistent") is None:
        return None
    if len(judgment.judgments) != _PAIR:  # the contents of a file are not trusted
        return None
    first, second = judgment.judgments
    return first.label, second.label


def _own_id(case: Case | None, judgment: Judgment) -> str | None:
    if case is not None:
        return case.item_id
    return judgment.case_id if isinstance(judgment, Verdict) else None
