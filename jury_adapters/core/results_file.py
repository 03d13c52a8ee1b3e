"""Results file: one JSON line per verdict, written by ``jury judge --out`` and read by all other commands."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

from jury_adapters.core.answer_facts import AnswerFacts
from jury_adapters.core.errors import ConfigurationError, InputError
from jury_adapters.core.field_map import FieldMap
from jury_adapters.core.human_labels import GOLD, human_label
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.last_row import last_row
from jury_adapters.core.opinions import ABSTAINED
from jury_adapters.core.row_files import first_row, read_lines, read_whole_rows
from jury_adapters.core.rows import Row
from jury_adapters.core.run_errors import RUN_ERROR
from jury_adapters.core.serial import judgment_from_dict
from jury_adapters.core.values import JsonValue

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Draw:
    """Random order of a run that ends when a gate is decided.

    Attributes:
        at_least: the gate: the minimum pass rate, 0..1.
        cases: number of cases in the whole file.
        seed: seed of the order.
    """

    at_least: float
    cases: int
    seed: int


@dataclass(frozen=True, slots=True)
class Result:
    """One line of a results file.

    Attributes:
        judgment: the verdict.
        at: the line in the results file, from 1; 0 before it is written.
        line: the line of the case in its own file, from 1, or None.
        item_id: the item's own id, or None.
        key: the hash of the case's content, or None.
        cases: the file of the cases, relative to the folder of the results; empty if unknown.
        field_map: the paths of fields in the rows of the cases, as given by ``--map``.
        unmet: a sentence for each gate of the jury that the verdict misses; None if the jury has no gates.
        draw: the gate, the number of cases in the whole file and the seed of the order of the lines, for a run that may
            end early; None for other runs.
        pass_labels: the human labels that mean PASS, as given by ``--pass-label``.
        group: the field that identifies the group of a case, as given by ``--group``; empty for independent cases.
        label_column: the column of the human labels, as given by ``--label-column``; empty for ``gold``.
        planned: number of cases that the run was to judge; None if it is unknown. It is exact in the last result of a
            run that ended; results of a run that was stopped have fewer.
        answer: the length of the answer and the model that wrote it; None if they are unknown.
    """

    judgment: Judgment
    at: int = 0
    line: int | None = None
    item_id: str | None = None
    key: str | None = None
    cases: str = ""
    unmet: tuple[str, ...] | None = None
    field_map: Mapping[str, str] = field(default_factory=dict)
    draw: Draw | None = None
    pass_labels: tuple[str, ...] = ()
    group: str = ""
    label_column: str = ""
    planned: int | None = None
    answer: AnswerFacts | None = None

    @property
    def unit(self) -> str:
        """The unit of ``line``: a line, or an item of a JSON list."""
        return unit_of(self.cases)

    def to_row(self) -> dict[str, JsonValue]:
        """Return the JSON object to write; :func:`read_results` reads it back."""
        row: dict[str, JsonValue] = {
            "line": self.line,
            "item_id": self.item_id,
            "key": self.key,
            "cases": self.cases,
            "verdict": self.judgment.to_dict(),
        }
        if self.pass_labels:
            row["pass_labels"] = list(self.pass_labels)
        if self.group:
            row["group"] = self.group
        if self.label_column:
            row["label_column"] = self.label_column
        if self.field_map:
            row["field_map"] = dict(self.field_map)
        if self.draw is not None:
            row["draw"] = asdict(self.draw)
        if self.planned is not None:
            row["planned"] = self.planned
        if self.answer is not None:
            row[_LENGTH] = self.answer.length
            row |= {} if self.answer.generator is None else {_GENERATOR: self.answer.generator}
        return row if self.unmet is None else {**row, "unmet": list(self.unmet)}


def read_results(path: str | Path, positions: Container[int] | None = None) -> Iterator[Result]:
    """Yield the results of a file in order. The file is not trusted, so every value is checked.

    Args:
        path: the file.
        positions: the results to yield, by their position from 0; by default all. Other results are not checked.

    Raises:
        InputError: a line is not a result; the message names the line.
    """
    for position, (at, values) in enumerate(read_whole_rows(path, positions)):
        if positions is not None and position not in positions:
            continue
        unmet = values.get("unmet")
        yield Result(
            read_verdict(path, at, values, judgment_from_dict),
            at,
            *case_of(values),
            tuple(map(str, unmet)) if isinstance(unmet, list) else None,
            _paths(values),
            _draw(values),
            _pass_labels(values),
            _text(values, "group"),
            _text(values, "label_column"),
            _planned(values),
            answer_of(values),
        )


def judgments_of_each_kind(path: str | Path) -> Iterator[Judgment]:
    """Yield one judgment for each set of jurors that a file has, which is much faster than to read all.

    Judgments of one kind have the same jurors, juries and tiers, with the same names. The others are not checked.

    Raises:
        InputError: as in :func:`read_results`.
    """
    seen: set[object] = set()
    for at, values in read_whole_rows(path):
        try:
            kind = _kind(values.get("verdict"))
            known = kind in seen
            seen.add(kind)
        except (AttributeError, TypeError, RecursionError):  # reading it raises the error for the user
            known = False
        if not known:
            yield read_verdict(path, at, values, judgment_from_dict)


def _kind(verdict: Any) -> object:
    """Return the structure of a judgment and the names in it, of which the paths of its opinions are made."""
    metadata = verdict.get("metadata", ())
    return (
        verdict.get("kind"),
        verdict.get("critic"),
        verdict.get("critic") == ABSTAINED and (verdict.get("status"), verdict.get("model") is None),
        "position_consistent" in metadata,
        RUN_ERROR in metadata,
        tuple([_kind(judgment) for judgment in verdict.get("judgments", ())]),
        tuple([(tier.get("name"), _kind(tier.get("judgment"))) for tier in verdict.get("tiers", ())]),
    )


def may_have_juries_inside(path: str | Path) -> bool:
    """Return whether a verdict of a results file may have tiers, or juries as jurors.

    The file is not parsed, which is much faster. A name that is written with JSON escapes is not found.

    Raises:
        InputError: as in :func:`read_results`.
    """
    lines = False
    for line in read_lines(path):
        if b'"tiers"' in line or line.count(b'"judgments"') > 1:
            return True
        lines = True
    return not lines  # another kind of file


def is_result(row: Row | None) -> bool:
    """Whether a row is a line of a results file, and not recorded votes."""
    return row is not None and row.values is not None and "verdict" in row.values and "votes" not in row.values


def cases_named_in(results: Path) -> Path | None:
    """Return the file of cases that a results file names, if it still exists.

    Raises:
        InputError: the results cannot be read.
    """
    first = first_row(results)
    name = first.values.get("cases") if first is not None and first.values is not None else None
    source = results.parent / name if isinstance(name, str) else None
    return source if source is not None and source.is_file() else None


def field_map_named_in(results: str | Path) -> FieldMap | None:
    """Return the field map with which the cases of a results file were judged; None without one.

    Raises:
        InputError: the results cannot be read, or their field map is invalid.
    """
    first = first_row(results)
    paths = _paths(first.values) if first is not None and first.values is not None else {}
    try:
        return FieldMap(paths) if paths else None
    except ConfigurationError as error:
        raise InputError(f"{results}, line 1: {error}") from error


LabelsOfCase: TypeAlias = tuple[str | None, Iterable[str | None]]
"""Human label of a case, or None, and the labels of its votes."""


def pass_labels_named_in(results: str | Path, used: Iterable[LabelsOfCase]) -> tuple[str, ...]:
    """Return the human labels that mean PASS according to a results file; empty if it names none.

    Args:
        results: the file.
        used: the labels of the current cases. PASS labels that are not among them are left out, because the cases may
            have been relabelled since they were judged. If none is in use, the labels may all mean FAIL: PASS labels
            stay if all human labels are ones that the cases had when they were judged. It is iterated only if the
            file names PASS labels.

    Raises:
        InputError: the results cannot be read.
    """
    first = first_row(results)
    named = _pass_labels(first.values) if first is not None and first.values is not None else ()
    if not named:
        return ()
    people: set[str] = set()
    votes: set[str | None] = set()
    for label, of_votes in used:
        people.update(() if label is None else (label,))
        votes.update(of_votes)
    in_use = tuple(label for label in named if label in people or label in votes)
    return in_use or (named if people and people.issubset(_labels_of_run(results)) else ())


def _labels_of_run(results: str | Path) -> Iterator[str]:
    """Yield the human labels that the cases of a results file had when they were judged."""
    column = label_column_named_in(results) or GOLD
    for _, values in read_whole_rows(results):
        verdict = values.get("verdict")
        metadata = verdict.get("case_metadata") if isinstance(verdict, Mapping) else None
        label = human_label(metadata.get(column)) if isinstance(metadata, Mapping) else None
        if label is not None:
            yield label


def group_named_in(results: str | Path) -> str:
    """Return the field that groups the cases according to a results file; empty if it names none.

    Raises:
        InputError: the results cannot be read.
    """
    return _named_in(results, "group")


def label_column_named_in(results: str | Path) -> str:
    """Return the column of the human labels according to a results file; empty if it names none.

    Raises:
        InputError: the results cannot be read.
    """
    return _named_in(results, "label_column")


def planned_in(results: str | Path) -> int | None:
    """Return the number of cases that the run of a results file was to judge; None if it is unknown.

    Raises:
        InputError: the results cannot be read.
    """
    first = first_row(results)
    if first is None or not is_result(first) or _planned(first.values or {}) is None:
        return None
    return _planned(last_row(results) or {})


def keeps_answer_facts(results: str | Path) -> bool:
    """Return whether the results hold the lengths of the answers, as those with known cases do.

    Raises:
        InputError: the results cannot be read.
    """
    first = first_row(results)
    return first is not None and _LENGTH in (first.values or {})


def case_of(values: Mapping[str, object]) -> tuple[int | None, str | None, str | None, str]:
    """Return what a line says of its case: ``line``, ``item_id``, ``key`` and ``cases`` of :class:`Result`."""
    line, item, key, cases = (values.get(name) for name in ("line", "item_id", "key", "cases"))
    return (
        line if isinstance(line, int) and not isinstance(line, bool) else None,
        None if item is None else str(item),
        key if isinstance(key, str) else None,
        cases if isinstance(cases, str) else "",
    )


def answer_of(values: Mapping[str, object]) -> AnswerFacts | None:
    """Return what a line says of its answer: ``answer`` of :class:`Result`."""
    if _LENGTH not in values:
        return None
    length = values[_LENGTH]
    known = isinstance(length, int) and not isinstance(length, bool) and abs(length) < _ABSURD
    return AnswerFacts(_text(values, _GENERATOR) or None, cast(int, length) if known else None)


def unit_of(cases: str) -> str:
    """Return the unit of the lines of a file of cases: lines, or items of a JSON list."""
    return "item" if cases.lower().removesuffix(".gz").endswith(".json") else "line"


def read_verdict(
    path: str | Path, line: int, values: Mapping[str, object], read: Callable[[Mapping[str, Any]], T]
) -> T:
    """Read the verdict in the columns of a line with a function for its JSON values.

    Raises:
        InputError: there is no verdict, or it is not valid; the message names the line.
    """
    verdict = values.get("verdict")
    if not isinstance(verdict, Mapping):
        bare = "status" in values and not values.keys().isdisjoint(("kind", "critic"))
        hint = f". It is a verdict alone, as verdict.to_json() writes: {_FROM_PYTHON}" if bare else ""
        raise InputError(f"{path}, line {line}: not a line that jury judge --out wrote: it has no verdict{hint}")
    try:
        return read(verdict)
    except InputError as error:
        raise InputError(f"{path}, line {line}: {error}") from error


def _named_in(results: str | Path, name: str) -> str:
    first = first_row(results)
    return _text(first.values, name) if first is not None and first.values is not None and is_result(first) else ""


def _text(values: Mapping[str, object], name: str) -> str:
    found = values.get(name)
    return found if isinstance(found, str) else ""


def _pass_labels(values: Mapping[str, object]) -> tuple[str, ...]:
    found = values.get("pass_labels")
    return tuple(map(str, found)) if isinstance(found, list) else ()


def _paths(values: Mapping[str, object]) -> Mapping[str, str]:
    found = values.get("field_map")
    if not isinstance(found, Mapping):
        return {}
    return {str(field): path for field, path in found.items() if isinstance(path, str)}


_FROM_PYTHON = (
    "in Python, Report.from_results(...).write_results('results.jsonl', cases='cases.jsonl') writes a file that the "
    "commands read"
)
_LENGTH, _GENERATOR = "answer_length", "generator"
_ABSURD = 2**53  # more cases than any file has


def _draw(values: Mapping[str, object]) -> Draw | None:
    found = values.get("draw")
    if not isinstance(found, Mapping):
        return None
    at_least, cases, seed = (found.get(name) for name in ("at_least", "cases", "seed"))
    if not isinstance(at_least, float | int) or not isinstance(cases, int) or not isinstance(seed, int):
        return None
    return Draw(at_least, cases, seed) if cases < _ABSURD else None


def _planned(values: Mapping[str, object]) -> int | None:
    found = values.get("planned")
    return found if isinstance(found, int) and not isinstance(found, bool) and 0 < found < _ABSURD else None
