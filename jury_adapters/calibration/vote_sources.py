"""Sources of votes: verdicts, recorded rows, and results files."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

from jury_adapters.calibration.items import ItemVotes, plain
from jury_adapters.calibration.judged_items import JudgedItems, JudgedVotes
from jury_adapters.calibration.stated_numbers import recorded_numbers
from jury_adapters.calibration.types import Numbers, On, Raw
from jury_adapters.core.answer_facts import AnswerFacts
from jury_adapters.core.case import Case, item_id_in
from jury_adapters.core.case_groups import group_of_row, row_of_case
from jury_adapters.core.duplicates import ContradictingLabels, identity_of, one_label, refuse_other_content
from jury_adapters.core.errors import ConfigurationError, InputError, plain_repr, unknown
from jury_adapters.core.field_names import holds_no_field
from jury_adapters.core.formatting import visible
from jury_adapters.core.human_labels import no_opinion
from jury_adapters.core.judged_file import JudgedFile, cases_for_group
from jury_adapters.core.results_file import (
    field_map_named_in,
    group_named_in,
    label_column_named_in,
    pass_labels_named_in,
    read_results,
)
from jury_adapters.core.row_files import read_whole_rows
from jury_adapters.core.verdict_facts import metadata_of_case
from jury_adapters.judges.experiment_rows import group_of_repeats
from jury_adapters.judges.framework_results import FrameworkResults, evaluated_cases

_OfFile: TypeAlias = tuple[JudgedItems, tuple[str, ...]]
_log = logging.getLogger(__name__)


def row_items(
    rows: Iterable[Sequence[Raw]],
    jurors: Sequence[str],
    items: Sequence[str],
    *,
    gold: Sequence[Raw],
    groups: Sequence[object],
) -> tuple[list[ItemVotes], tuple[str, ...]]:
    """Return one item per plain list of votes, and the names of the jurors; see :meth:`Votes.from_rows`."""
    table = [list(row) for row in rows]
    width = max(map(len, table), default=0)
    if any(len(row) != width for row in table):
        raise ConfigurationError("every row needs one entry per juror; use None where a juror did not vote")
    names = tuple(jurors) or tuple(f"juror {number}" for number in range(1, width + 1))
    if len(names) != width and table:
        raise ConfigurationError(f"there are {width} votes per item, but {len(names)} names of jurors")
    for what, given in (("items", items), ("gold", gold), ("groups", groups)):
        if given and len(given) != len(table):
            raise ConfigurationError(f"{what} has {len(given)} entries for {len(table)} items")
    collected = [
        ItemVotes(
            str(items[row]) if items else str(row),
            {name: None if no_opinion(vote) else vote for name, vote in zip(names, cast, strict=True)},
            gold=gold[row] if gold else None,
            group=groups[row] if groups else None,
            identity=(None, str(items[row])) if items else None,
            own_id=str(items[row]) if items else None,
            source="row",
            number=row + 1,
        )
        for row, cast in enumerate(table)
    ]
    return collected, names


def verdict_items(
    verdicts: FrameworkResults,
    on: On | None,
    gold: Mapping[str, Raw] | Sequence[Raw],
    group: str,
    *,
    screening_tiers: bool = False,
    pass_labels: tuple[str, ...] = (),
) -> JudgedVotes:
    """Return one item per verdict, and the labels that mean PASS: as given, or as the jurors' judgments show.

    See :meth:`Votes.from_verdicts`.
    """
    batch = evaluated_cases(verdicts)
    by_id = gold if isinstance(gold, Mapping) else {}
    in_order = [] if isinstance(gold, Mapping) else list(gold)
    if in_order and len(in_order) != len(batch):
        raise ConfigurationError(f"gold has {len(in_order)} entries for {len(batch)} verdicts")
    collected = JudgedItems(group or group_of_repeats(one.case for one in batch))
    for one in batch:
        truth = in_order[one.position] if in_order else None
        collected.add(one.index, one.case, one.judgment, truth, by_id, own_label=not (in_order or by_id))
    return collected.votes(on, screening_tiers=screening_tiers, pass_labels=pass_labels)


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
    named = any(recorded_label(vote) is not None for vote in votes)
    key = on or ("label" if named or not votes else "score")
    abstaining = {plain(label) for label in abstain_labels}
    ids = Counter(str(row["item_id"]) for _, row in taken)
    repeated = [(line, str(row["item_id"]), _key(row)) for line, row in taken if ids[str(row["item_id"])] > 1]
    refuse_other_content(repeated)
    return [
        replace(_recorded(row, row[column], key, abstaining, group), source=file, number=line) for line, row in taken
    ]


def recorded_label(vote: Mapping[str, Any]) -> Raw:
    """Return the label of a recorded vote: its own, else PASS or FAIL if that is its status."""
    label, status = vote.get("label"), vote.get("status")
    return str(status) if label is None and status in ("PASS", "FAIL") else label


def result_items(
    path: str | Path | FrameworkResults,
    on: On | None,
    gold: str | Path | Mapping[str, Raw] | Sequence[Raw] | None,
    group: str | None,
    *,
    cases: str | Path | None = None,
    screening_tiers: bool = False,
    pass_labels: tuple[str, ...] = (),
) -> JudgedVotes:
    """Return one item per line that ``jury judge --out`` wrote, and the labels that mean PASS, as for verdicts.

    See :meth:`Votes.from_results`.
    """
    if not isinstance(path, str | Path):
        if cases is not None or isinstance(gold, str | Path):
            raise ConfigurationError(
                "cases= and the file of gold= go with a file of results; for these results give gold={item_id: label}, "
                'or the labels in metadata["gold"] of their cases'
            )
        return verdict_items(
            path, on, gold or (), group or "", screening_tiers=screening_tiers, pass_labels=pass_labels
        )
    read = partial(_items_of_file, path, gold, cases=cases)
    collected, kept_labels = read(group=group) if group is not None else _grouped_as_the_run(path, read)
    found = collected.votes(on, screening_tiers=screening_tiers, pass_labels=pass_labels or kept_labels)
    return found._replace(known_labels=kept_labels)


def _grouped_as_the_run(path: str | Path, read: Callable[..., _OfFile]) -> _OfFile:
    """Return the items of results in the groups of the run, or as independent ones, with a warning, if these lack it.

    Raises:
        InputError: the results cannot be read without groups, either.
    """
    group = group_named_in(path)
    if not group:
        return read(group="")
    try:
        return read(group=group)
    except InputError as error:
        alone = read(group="")
        _log.warning(
            "%s: the run was grouped by %s, but its items count as independent here: %s", path, visible(group), error
        )
        return alone


def _items_of_file(
    path: str | Path,
    gold: str | Path | Mapping[str, Raw] | Sequence[Raw] | None,
    *,
    cases: str | Path | None,
    group: str,
) -> _OfFile:
    """Return the items of a results file, and the labels that mean PASS according to it."""
    in_order = gold if isinstance(gold, Sequence) and not isinstance(gold, str) else None
    source = gold if isinstance(gold, str | Path) else cases
    lines = {} if source is None else dict(_rows_as_judged(source, path))
    if lines and (column := label_column_named_in(path)):
        lines = {line: {**row, "gold": row.get(column)} for line, row in lines.items()}
    rows = _by_id(lines, str(source))
    judged = _file_for_group(path, group) if source is None else None
    collected = JudgedItems(group, f"{path}, line")
    by_id = source is not None or isinstance(gold, Mapping)
    with_id = []
    results = 0
    for result in read_results(path):
        results += 1
        if by_id and result.item_id is not None:
            with_id.append((result.at, result.item_id, result.key))
        at = f"result {result.at}" if result.line is None else f"line {result.line}"
        item = at if result.item_id is None else result.item_id
        at_line = {} if result.line is None else lines.get(result.line, {})
        row = at_line if result.item_id is None else rows.get(item, {})
        case = None if judged is None else judged.of(result.key, result.line)
        if source is None:
            row = metadata_of_case(result.judgment)
            row = row if case is None else {**row_of_case(case), "gold": row.get("gold")}
        truth = gold.get(item) if isinstance(gold, Mapping) else row.get("gold")
        if in_order is not None:
            truth = in_order[results - 1] if results <= len(in_order) else None
        collected.put(
            item, result.judgment, truth, row if not group and holds_no_field(row) else _in_our_names(row),
            identity=identity_of(result.key, result.item_id), number=result.at,
            answer=result.answer, case_known=case is not None or (source is not None and bool(row)),
        )  # fmt: skip
    if in_order is not None and len(in_order) != results:
        raise ConfigurationError(f"gold has {len(in_order)} entries for {results} results")
    if by_id:
        refuse_other_content(with_id)
    return collected, pass_labels_named_in(path, collected.labels_used())


def _file_for_group(results: str | Path, group: str) -> JudgedFile | None:
    """Return the file that was judged, if the groups of the cases are in it and not in the results."""
    cases = cases_for_group(results, group)
    return None if cases is None else JudgedFile(results, cases, lambda case: case)


def _recorded(
    row: Mapping[str, Any], cast_votes: Mapping[str, Any], key: str, abstaining: set[Any], group: str
) -> ItemVotes:
    votes: dict[str, Raw] = {}
    models: dict[str, str | None] = {}
    orders: dict[str, tuple[Raw, Raw]] = {}
    numbers: dict[str, Numbers] = {}
    for name, vote in cast_votes.items():
        if isinstance(vote, Mapping):
            value = plain(recorded_label(vote) if key == "label" else vote.get(key))
        else:
            value = plain(vote)
        votes[name] = None if value in abstaining or no_opinion(value) else value
        numbers[name] = recorded_numbers(vote, votes[name])
        if isinstance(vote, Mapping):
            models[name] = vote.get("model")
            if "label_order_ab" in vote and "label_order_ba" in vote:
                orders[name] = (vote["label_order_ab"], vote["label_order_ba"])
    item, answer = str(row["item_id"]), AnswerFacts.of_row(row)
    return ItemVotes(
        item,
        votes,
        gold=row.get("gold"),
        group=group_of_row(row, group, f"item {item}") if group else None,
        generator=answer.generator,
        length=answer.length,
        models=models,
        orders=orders,
        numbers=numbers,
        identity=identity_of(None, item),
        own_id=item,
    )


def _rows_as_judged(source: str | Path, results: str | Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the line and the columns of each row of a file, with those that the results map under our names."""
    field_map = field_map_named_in(results)
    for line, row in read_whole_rows(source):
        yield line, row if field_map is None else field_map.known_in(row).apply(row)


def _in_our_names(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row with the columns of its case added under the package's names."""
    try:
        return {**row, **row_of_case(Case.from_row(row))}
    except (ValueError, TypeError, RecursionError):  # the row is not a case
        return row


def _by_id(lines: Mapping[int, Mapping[str, Any]], file: str) -> dict[str, Mapping[str, Any]]:
    """Return the row of each id, with the common label of all rows of this id.

    Raises:
        InputError: rows of one id have different labels.
    """
    found: dict[str, list[tuple[int, Mapping[str, Any]]]] = {}
    for line, row in lines.items():
        if (own_id := item_id_in(row)) is not None:
            found.setdefault(own_id, []).append((line, row))
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
