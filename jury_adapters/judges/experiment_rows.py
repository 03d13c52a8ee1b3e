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
from jury_adapters.core.values import plain_scalar
from jury_adapters.judges.external_results import EvaluatorResult, judgment_of_result, read_result

REPEATED_EXAMPLE = "langsmith_example"
"""Entry of a case's metadata: the id of its example, in a LangSmith experiment that ran an example several times."""


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
    experiment says pass or fail. It gives no judgment; its numbers are in the metadata of the cases. In an experiment
    with repetitions, each run of an example is an item of its own.

    Args:
        batch: the rows, and other results.
    """

    def __init__(self, batch: Iterable[object]) -> None:
        rows = [row for row in batch if is_experiment_row(row)]
        ids = Counter(_example_id(row.get("example")) for row in rows)
        self._repeated = any(times > 1 for own_id, times in ids.items() if own_id)
        self._seen = Counter[str]()
        self._metrics = _metrics_in(rows)

    def read(self, row: Mapping[str, Any]) -> EvaluatedRun:
        """Return the parts of a row."""
        run, example = row["run"], row.get("example")
        judgments: dict[str, Judgment] = {}
        numbers: dict[str, object] = {}
        for name, result in _named_results(row):
            if name in self._metrics:
                numbers[name] = plain_scalar(field_of(result, "score"))
            else:
                judgments[name] = _judgment_in(result)
        case = self._case_of(run, example)
        if case is not None and numbers:
            case = case.model_copy(update={"metadata": {**numbers, **case.metadata}})
        return EvaluatedRun(case, judgments, _run_of(run))

    def _case_of(self, run: object, example: object) -> Case | None:
        row: dict[str, object] = {
            "inputs": field_of(example, "inputs") or field_of(run, "inputs"),
            "outputs": field_of(run, "outputs"),
            "reference_outputs": field_of(example, "outputs"),
            "metadata": field_of(example, "metadata"),
        }
        own_id = _example_id(example)
        if own_id:
            row["item_id"] = self._item_id(own_id)
        try:
            case = Case.from_row({name: part for name, part in row.items() if part})
        except (InputError, ValueError, TypeError):  # the outputs of a run may be anything
            case = None
        return self._with_example(case, own_id, str(row["item_id"])) if own_id else case

    def _item_id(self, own_id: str) -> str:
        """Return the id of the next run of an example."""
        self._seen[own_id] += 1
        return own_id if self._seen[own_id] == 1 else f"{own_id} run {self._seen[own_id]}"

    def _with_example(self, case: Case | None, own_id: str, item_id: str) -> Case | None:
        """Return a case with its example, by which repeated runs are grouped; unchanged without repetitions."""
        if not self._repeated:
            return case
        case = case or Case(metadata={"item_id": item_id})  # of a run that cannot be read
        return case.model_copy(update={"metadata": {**case.metadata, REPEATED_EXAMPLE: own_id}})


def is_experiment_row(item: object) -> TypeGuard[Mapping[str, Any]]:
    """Whether an object is a row of LangSmith's ``ExperimentResults``."""
    return isinstance(item, Mapping) and "run" in item and "evaluation_results" in item


def group_of_repeats(cases: Iterable[Case | None]) -> str:
    """Return the field that groups the runs of one example of LangSmith (``num_repetitions``); empty without repeats.

    Runs of one example are not independent of each other, so they must not count as that many cases.

    >>> group_of_repeats([Case(answer="a"), None])
    ''
    """
    known = [case is not None and REPEATED_EXAMPLE in case.metadata for case in cases]
    return REPEATED_EXAMPLE if known and all(known) else ""


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


def _judgment_in(result: object) -> Judgment:
    verdict = getattr(result, "verdict", None)
    if isinstance(verdict, Judgment):
        return verdict
    extra = field_of(result, "extra")
    if isinstance(extra, Mapping) and extra.get("error"):  # the evaluator raised
        return broken(text_of(field_of(result, "comment")) or "the evaluator failed", usage=UNCOUNTED)
    return judgment_of_result(result)


def _example_id(example: object) -> str:
    return text_of(field_of(example, "id")) or ""


def _run_of(run: object) -> Run:
    error, metadata = field_of(run, "error"), field_of(run, "metadata")
    return Run(
        str(field_of(run, "id") or ""),
        kind=str(field_of(run, "run_type") or "chain"),
        name=str(field_of(run, "name") or ""),
        metadata=metadata if isinstance(metadata, Mapping) else {},
        error=error if isinstance(error, str) and error else None,
    )
