"""Rows of a LangSmith experiment: the case of each run, and what the evaluators said about it.

This module does not import any framework.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeGuard

from jury_adapters.core.case import Case
from jury_adapters.core.errors import InputError
from jury_adapters.core.judgment import Judgment, broken
from jury_adapters.core.loose_values import field_of, text_of
from jury_adapters.core.runs import Run
from jury_adapters.core.usage import UNCOUNTED
from jury_adapters.core.values import JsonValue, freeze_mapping, plain_scalar
from jury_adapters.judges.external_results import EvaluatorResult, read_result
from jury_adapters.judges.raw_results import RawResults

EXAMPLE = "langsmith_example"
"""Entry of a case's metadata: the id of its LangSmith example, where the id of the case is another one."""
OWN_ID = "own_id"
"""Entry of a case's metadata: the id in the metadata of its example, where several examples have it."""


class EvaluatedRun(NamedTuple):
    """Row of an experiment.

    Attributes:
        case: the case of the run and its example, with the numbers of the metrics; None if it cannot be read.
        judgments: the judgments by the name of their evaluator.
        run: the run of the application.
    """

    case: Case | None
    judgments: dict[str, Judgment]
    run: Run


class ExperimentRows:
    """Reader of the rows of an experiment.

    An evaluator whose scores are numbers other than 0 and 1 is a metric, such as a latency, if another evaluator of the
    experiment says pass or fail. It gives no judgment; its numbers are in the metadata of the cases.

    The id of an item is that in the metadata of the example (``item_id`` or ``id``), unless two examples have the same
    one; without it, the id of the example. In an experiment with repetitions, each run of an example is an item of its
    own.

    Args:
        batch: the rows, and other results.
    """

    def __init__(self, batch: Iterable[object]) -> None:
        rows = [row for row in batch if is_experiment_row(row)]
        ids = Counter(_example_id(row.get("example")) for row in rows)
        self._repeated = any(times > 1 for example_id, times in ids.items() if example_id)
        own = {_example_id(row.get("example")): _own_id(row.get("example")) for row in rows}
        named = [own_id for own_id in own.values() if own_id is not None]
        self._are_own_unique = len(set(named)) == len(named)
        self._seen = Counter[str]()
        self._metrics = _metrics_in(rows)
        self._raw = self._raw_results(rows)

    def read(self, row: Mapping[str, Any]) -> EvaluatedRun:
        """Return the parts of a row."""
        run, example = row["run"], row.get("example")
        judgments: dict[str, Judgment] = {}
        numbers: dict[str, object] = {}
        for name, result in _named_results(row):
            if name in self._metrics:
                numbers[name] = plain_scalar(field_of(result, "score"))
            else:
                known = _judgment_in(result)
                judgments[name] = self._raw[name].judgment(result) if known is None else known
        case = self._case_of(run, example)
        if case is not None and numbers:
            case = case.model_copy(update={"metadata": {**numbers, **case.metadata}})
        return EvaluatedRun(case, judgments, _run_of(run))

    def _raw_results(self, rows: Iterable[Mapping[str, Any]]) -> dict[str, RawResults]:
        """Return the results that have no judgment, by the name of their evaluator."""
        by_name: dict[str, list[object]] = {}
        for row in rows:
            for name, result in _named_results(row):
                if name not in self._metrics and _judgment_in(result) is None:
                    by_name.setdefault(name, []).append(result)
        return {name: RawResults(results, name) for name, results in by_name.items()}

    def _case_of(self, run: object, example: object) -> Case | None:
        row: dict[str, object] = {
            "inputs": field_of(example, "inputs") or field_of(run, "inputs"),
            "outputs": field_of(run, "outputs"),
            "reference_outputs": field_of(example, "outputs"),
            "metadata": field_of(example, "metadata"),
        }
        example_id = _example_id(example)
        if not example_id:
            return _read(row)
        beside: dict[str, JsonValue] = {}
        name, own_id = example_id, _own_id(example)
        if own_id is not None:
            metadata = _metadata_of(example)
            row["metadata"] = {key: value for key, value in metadata.items() if key not in _OWN_IDS}
            if self._are_own_unique:
                name = own_id
            else:
                beside[OWN_ID] = own_id
        row["item_id"] = item_id = self._item_id(name)
        case = _read(row)
        if case is None and self._repeated:
            case = Case(metadata={"item_id": item_id})  # of a run that cannot be read
        if self._repeated or name != example_id:
            beside[EXAMPLE] = example_id
        return (
            case if case is None else case.model_copy(update={"metadata": freeze_mapping({**case.metadata, **beside})})
        )

    def _item_id(self, name: str) -> str:
        """Return the id of the next run of an example."""
        self._seen[name] += 1
        return name if self._seen[name] == 1 else f"{name} run {self._seen[name]}"


def _read(row: Mapping[str, object]) -> Case | None:
    """Return the case of a row; None if it cannot be read, because the outputs of a run may be anything."""
    try:
        return Case.from_row({name: part for name, part in row.items() if part})
    except (InputError, ValueError, TypeError):
        return None


def is_experiment_row(item: object) -> TypeGuard[Mapping[str, Any]]:
    """Whether an object is a row of LangSmith's ``ExperimentResults``."""
    return isinstance(item, Mapping) and "run" in item and "evaluation_results" in item


def group_of_repeats(cases: Iterable[Case | None]) -> str:
    """Return the field that groups the runs of one example of LangSmith (``num_repetitions``); empty without repeats.

    Runs of one example are not independent of each other, so they must not count as that many cases.

    >>> group_of_repeats([Case(answer="a"), None])
    ''
    """
    known = [None if case is None else case.metadata.get(EXAMPLE) for case in cases]
    return EXAMPLE if None not in known and len(set(known)) < len(known) else ""


def _named_results(row: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield the results of a row by the name of their evaluator; of several with one name, the later get a number."""
    taken: set[str] = set()
    results = field_of(row["evaluation_results"], "results")
    for result in results if isinstance(results, list | tuple) else ():
        if not getattr(result, "is_part", False):  # the jurors and criteria of a verdict of ours are in the verdict
            name = key = text_of(field_of(result, "key")) or "evaluator"
            number = len(taken)
            while name in taken:
                number += 1
                name = f"{key} {number}"
            taken.add(name)
            yield name, result


def _metrics_in(rows: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """Return the names of the evaluators that give numbers, if another one says pass or fail; else none."""
    names: set[str] = set()
    metrics: set[str] = set()
    for row in rows:
        for name, result in _named_results(row):
            names.add(name)
            if _is_number(result):
                metrics.add(name)
    return frozenset(metrics) if metrics < names else frozenset()


def _is_number(result: object) -> bool:
    """Whether a result is a number that does not stand for pass or fail."""
    if isinstance(getattr(result, "verdict", None), Judgment):
        return False
    read = read_result(result)
    if not isinstance(read, EvaluatorResult) or read.passed is not None or read.label is not None:
        return False
    score = plain_scalar(read.score)
    return isinstance(score, int | float) and not isinstance(score, bool) and score not in (0, 1)


def _judgment_in(result: object) -> Judgment | None:
    """Return the verdict in a result of ours, or the error of an evaluator that raised; None for other results."""
    verdict = getattr(result, "verdict", None)
    if isinstance(verdict, Judgment):
        return verdict
    extra = field_of(result, "extra")
    if isinstance(extra, Mapping) and extra.get("error"):  # the evaluator raised
        return broken(text_of(field_of(result, "comment")) or "the evaluator failed", usage=UNCOUNTED)
    return None


def _example_id(example: object) -> str:
    return text_of(field_of(example, "id")) or ""


def _metadata_of(example: object) -> Mapping[str, object]:
    metadata = field_of(example, "metadata")
    return metadata if isinstance(metadata, Mapping) else {}


def _own_id(example: object) -> str | None:
    """Return the id that a data set of the user's own gave to an example, in its metadata."""
    given = map(_metadata_of(example).get, _OWN_IDS)
    return next((str(own_id) for own_id in given if isinstance(own_id, str | int) and str(own_id).strip()), None)


def _run_of(run: object) -> Run:
    error, metadata = field_of(run, "error"), field_of(run, "metadata")
    return Run(
        str(field_of(run, "id") or ""),
        kind=str(field_of(run, "run_type") or "chain"),
        name=str(field_of(run, "name") or ""),
        metadata=metadata if isinstance(metadata, Mapping) else {},
        error=error if isinstance(error, str) and error else None,
    )


_OWN_IDS = ("item_id", "id")  # in order of priority
