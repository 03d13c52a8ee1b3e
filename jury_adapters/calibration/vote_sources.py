"""Sources of votes: verdicts, recorded rows, and results files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeVar

from jury_adapters.calibration.items import ItemVotes, plain, with_meanings
from jury_adapters.calibration.repetitions import answers_by_place
from jury_adapters.calibration.slim_judgments import SlimJudgments
from jury_adapters.calibration.stated_numbers import is_jury, numbers_of, recorded_numbers
from jury_adapters.calibration.types import Answer, Numbers, On, Raw
from jury_adapters.core.case import Case
from jury_adapters.core.case_groups import group_of_row, row_of_case
from jury_adapters.core.duplicates import ContradictingLabels, Identity, identity_of, one_label, refuse_other_content
from jury_adapters.core.errors import ConfigurationError, InputError, plain_repr, unknown
from jury_adapters.core.human_labels import LabelMeanings, human_label
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.opinions import Path as Place
from jury_adapters.core.opinions import is_pairwise_opinion, is_placeholder, juror_names, votes_in
from jury_adapters.core.results_file import pass_labels_named_in, read_results
from jury_adapters.core.row_files import read_whole_rows
from jury_adapters.core.tier_policies import is_screening_policy
from jury_adapters.core.verdict import SCORECARD, Verdict
from jury_adapters.judges.framework_results import FrameworkResults, evaluated_cases

_BALLOTS: dict[str, Callable[[Judgment], Raw]] = {
    "label": lambda judgment: judgment.ballot,
    "status": lambda judgment: judgment.opinion,
    "score": lambda judgment: judgment.numeric_score,
}
_PAIR = 2
_NONE: dict[str, Any] = {}  # shared by the items without such facts
T = TypeVar("T")


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


def verdict_items(
    verdicts: FrameworkResults,
    on: On | None,
    gold: Mapping[str, Raw] | Sequence[Raw],
    group: str,
    *,
    screening_tiers: bool = False,
    pass_labels: tuple[str, ...] = (),
) -> tuple[list[ItemVotes], tuple[str, ...]]:
    """Return one item per verdict, and the labels that mean PASS: as given, or as the jurors' judgments show.

    See :meth:`Votes.from_verdicts`.
    """
    batch = evaluated_cases(verdicts)
    by_id = gold if isinstance(gold, Mapping) else {}
    in_order = [] if isinstance(gold, Mapping) else list(gold)
    if in_order and len(in_order) != len(batch):
        raise ConfigurationError(f"gold has {len(in_order)} entries for {len(batch)} verdicts")
    collected = JudgedItems(group)
    for one in batch:
        truth = in_order[one.position] if in_order else None
        collected.add(one.index, one.case, one.judgment, truth, by_id, own_label=not (in_order or by_id))
    return collected.votes(on, screening_tiers=screening_tiers, pass_labels=pass_labels)


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
        row = _metadata(judgment) if case is None else row_of_case(case)
        own_id = _own_id(case, judgment)
        item = str(index) if own_id is None else own_id
        truth = row.get("gold") if own_label else labels.get(item) if labels else label
        identity = identity_of(None if case is None else case.content_hash, own_id)
        facts = _facts(item, judgment, row, self._group)
        self._items.append(_JudgedItem(item, self._slim.of(judgment), truth, *facts, identity, f"verdict {index + 1}"))

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


def recorded_items(
    source: str | Path | Iterable[Mapping[str, Any]],
    *,
    on: Literal["label", "score"] | None,
    column: str,
    group: str,
    abstain_labels: Collection[Raw],
    where: Callable[[Mapping[str, Any]], bool] | None,
) -> list[ItemVotes]:
    """Return one item per recorded row; see :meth:`Votes.from_recorded`."""
    if isinstance(abstain_labels, str):
        raise ConfigurationError(f"abstain_labels is a list of labels: [{plain_repr(abstain_labels)}]")
    if on not in (None, "label", "score"):
        raise ConfigurationError(unknown("on", on, ("label", "score")))
    rows = read_whole_rows(source) if isinstance(source, str | Path) else enumerate(source, start=1)
    file = f"{source}, line" if isinstance(source, str | Path) else "row"
    taken = [(line, row) for line, row in rows if where is None or where(row)]
    for line, row in taken:
        if not isinstance(row.get(column), Mapping) or row.get("item_id") is None:
            raise InputError(
                f"{file} {line}: a recorded row needs item_id and {column}, the votes by juror; of cases without "
                "votes, give what `jury judge --out` wrote"
            )
    votes = [vote for _, row in taken for vote in row[column].values() if isinstance(vote, Mapping)]
    key = on or ("label" if any(vote.get("label") is not None for vote in votes) or not votes else "score")
    abstaining = {plain(label) for label in abstain_labels}
    ids = Counter(str(row["item_id"]) for _, row in taken)
    repeated = [(line, str(row["item_id"]), _key(row)) for line, row in taken if ids[str(row["item_id"])] > 1]
    refuse_other_content(repeated)
    return [replace(_recorded(row, row[column], key, abstaining, group), place=f"{file} {line}") for line, row in taken]


def result_items(
    path: str | Path | FrameworkResults,
    on: On | None,
    gold: str | Path | Mapping[str, Raw] | Sequence[Raw] | None,
    group: str,
    *,
    cases: str | Path | None = None,
    screening_tiers: bool = False,
    pass_labels: tuple[str, ...] = (),
) -> tuple[list[ItemVotes], tuple[str, ...]]:
    """Return one item per line that ``jury judge --out`` wrote, and the labels that mean PASS, as for verdicts.

    See :meth:`Votes.from_results`.
    """
    if not isinstance(path, str | Path):
        if cases is not None or isinstance(gold, str | Path):
            raise ConfigurationError(
                "cases= and the file of gold= go with a file of results; for these results give gold={item_id: label}, "
                'or the labels in metadata["gold"] of their cases'
            )
        return verdict_items(path, on, gold or (), group, screening_tiers=screening_tiers, pass_labels=pass_labels)
    if isinstance(gold, Sequence) and not isinstance(gold, str):
        raise ConfigurationError("the labels of a file of results go by item id: gold={item_id: label}, or a file")
    source = gold if isinstance(gold, str | Path) else cases
    lines = {} if source is None else dict(read_whole_rows(source))
    rows = _by_id(lines, str(source))
    slim = SlimJudgments()
    items, with_id = [], []
    for result in read_results(path):
        if result.item_id is not None:
            with_id.append((result.at, result.item_id, result.key))
        at = f"result {result.at}" if result.line is None else f"line {result.line}"
        item = at if result.item_id is None else result.item_id
        at_line = {} if result.line is None else lines.get(result.line, {})
        row = at_line if result.item_id is None else rows.get(item, {})
        if source is None:
            row = _metadata(result.judgment)
        truth = gold.get(item) if isinstance(gold, Mapping) else row.get("gold")
        identity = identity_of(result.key, result.item_id)
        facts = _facts(item, result.judgment, _in_our_names(row), group)
        place = f"{path}, line {result.at}"
        items.append(_JudgedItem(item, slim.of(result.judgment), truth, *facts, identity, place))
    refuse_other_content(with_id)
    named = pass_labels or pass_labels_named_in(path, _labels_used(items))
    return _items(items, on, slim, screening_tiers=screening_tiers, pass_labels=named)


def _facts(
    item: str, judgment: Judgment, row: Mapping[str, Any], group: str
) -> tuple[object, str | None, float | None]:
    """Return the group, the generator and the length of an item, so that its row need not be kept."""
    known = {**_metadata(judgment), **row} if group else {}
    return group_of_row(known, group, f"item {item}") if group else None, _generator(row), _length(row)


def _labels_used(judged: Iterable[_JudgedItem]) -> Iterator[str | None]:
    for one in judged:
        yield human_label(one.gold)
        yield from (vote.label for _, vote in votes_in(one.judgment))


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


def _recorded(
    row: Mapping[str, Any], cast_votes: Mapping[str, Any], key: str, abstaining: set[Any], group: str
) -> ItemVotes:
    votes: dict[str, Raw] = {}
    models: dict[str, str | None] = {}
    orders: dict[str, tuple[Raw, Raw]] = {}
    numbers: dict[str, Numbers] = {}
    for name, vote in cast_votes.items():
        value = plain(vote.get(key) if isinstance(vote, Mapping) else vote)
        votes[name] = None if value in abstaining else value
        numbers[name] = recorded_numbers(vote, votes[name])
        if isinstance(vote, Mapping):
            models[name] = vote.get("model")
            if "label_order_ab" in vote and "label_order_ba" in vote:
                orders[name] = (vote["label_order_ab"], vote["label_order_ba"])
    item = str(row["item_id"])
    return ItemVotes(
        item,
        votes,
        gold=row.get("gold"),
        group=group_of_row(row, group, f"item {item}") if group else None,
        generator=_generator(row),
        length=_length(row),
        models=models,
        orders=orders,
        numbers=numbers,
        identity=identity_of(None, item),
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


def _metadata(judgment: Judgment) -> Mapping[str, Any]:
    """Return the metadata of the case that a verdict holds: the label and the groups."""
    return judgment.case_metadata if isinstance(judgment, Verdict) else {}


def _in_our_names(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row with the columns of its case added under the package's names."""
    try:
        return {**row, **row_of_case(Case.from_row(row))}
    except (ValueError, TypeError, RecursionError):  # the row is not a case
        return row


def _id(row: Mapping[str, Any]) -> object:
    return row.get("item_id", row.get("id"))


def _generator(row: Mapping[str, Any]) -> str | None:
    meta = row.get("meta")
    found = row.get("generator") or (meta.get("generator") if isinstance(meta, Mapping) else None)
    return str(found) if found else None


def _length(row: Mapping[str, Any]) -> float | None:
    """Return the answer's length in characters; for a pair, the length of the first minus that of the second."""
    pair = row.get("answers") or row.get("candidates")
    if isinstance(pair, Sequence) and len(pair) == _PAIR and all(isinstance(text, str) for text in pair):
        return float(len(pair[0]) - len(pair[1]))
    answer = row.get("answer")
    return float(len(answer)) if isinstance(answer, str) else None


def _by_id(lines: Mapping[int, Mapping[str, Any]], file: str) -> dict[str, Mapping[str, Any]]:
    """Return the row of each id, with the common label of all rows of this id.

    Raises:
        InputError: rows of one id have different labels.
    """
    found: dict[str, list[tuple[int, Mapping[str, Any]]]] = {}
    for line, row in lines.items():
        if (own_id := _id(row)) is not None:
            found.setdefault(str(own_id), []).append((line, row))
    rows: dict[str, Mapping[str, Any]] = {}
    for item, copies in found.items():
        rows[item] = copies[0][1]
        if len(copies) > 1:
            try:
                label = one_label(item, [(line, plain(row.get("gold"))) for line, row in copies])
            except ContradictingLabels as error:
                raise InputError(f"{file}: {error.describe([f'line {line}' for line, _ in error.labels])}") from None
            rows[item] = {**copies[0][1], "gold": label}
    return rows


def _key(row: Mapping[str, Any]) -> str | None:
    """Return the hash of the content of a recorded row; None for a row that is not a case."""
    try:
        return Case.from_row(row).content_hash
    except (ValueError, TypeError, RecursionError):
        return None
