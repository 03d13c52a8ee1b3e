"""Results of evaluations as cases with judgments: of this package, LlamaIndex, LangSmith, and background runs.

Reports and votes read their results here. This module does not import any framework.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, TypeGuard

from jury_adapters.core.batch_window import Judged, input_order
from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.judgment import Judgment, abstain, evolve
from jury_adapters.core.runs import JudgedRun, Run
from jury_adapters.core.values import freeze_mapping
from jury_adapters.core.verdict import Verdict
from jury_adapters.judges.experiment_rows import ExperimentRows, is_experiment_row
from jury_adapters.judges.llama_index_results import (
    EvaluatorResults,
    LlamaIndexResult,
    is_llama_index_result,
    joined,
    pair_of,
    pairs_of_batch,
    retrieval_hint,
)

Pair: TypeAlias = tuple[Case | None, Judgment]
FrameworkResult: TypeAlias = "Judgment | Judged | JudgedRun | Pair | LlamaIndexResult | Mapping[str, Any]"
"""One result; the mapping is a row of a LangSmith experiment."""
FrameworkResults: TypeAlias = "Iterable[FrameworkResult] | Mapping[str, Iterable[LlamaIndexResult]]"
"""Results in order; or the results of LlamaIndex's ``BatchEvalRunner``, by the name of the evaluator."""


@dataclass(frozen=True, slots=True)
class EvaluatedCase:
    """Result of one case, whatever produced it.

    Attributes:
        position: its position among the results, from 0.
        index: its position in the batch that was judged; the position among the results if there was no batch.
        case: the case; None if its texts are unknown.
        judgment: the judgment.
        run: the run of the application that was judged; None if there was none, or if it is unknown.
    """

    position: int
    index: int
    case: Case | None
    judgment: Judgment
    run: Run | None = None


def evaluated_cases(results: FrameworkResults) -> list[EvaluatedCase]:
    """Return one case with its judgment per result, in the order of the input of a batch, else as given.

    Results are judgments; pairs of case and judgment; items of :func:`jury_adapters.stream`; runs that were judged in
    the background; ``EvaluationResult`` objects of LlamaIndex, or the dictionary of its ``BatchEvalRunner``; and rows
    of a LangSmith experiment. If several evaluators judged an item, their judgments are the criteria of a scorecard
    that must all pass.

    Raises:
        ConfigurationError: an item is none of these, or the evaluators of a dictionary have different numbers of
            results, or results about different items.
    """
    if isinstance(results, str | Path):
        raise ConfigurationError(f"these are results, not a file; Report.read({plain_repr(str(results))}) reads a file")
    if not isinstance(results, Iterable):
        hint = ""
        if hasattr(results, "__aiter__"):
            hint = "; collect them first: [row async for row in results]"
        raise ConfigurationError(f"results are a list or another iterable, not {type(results).__name__}{hint}")
    batch: list[object] = list(_items_of(results))
    found, rows = [], ExperimentRows(batch)
    raw = EvaluatorResults(filter(is_llama_index_result, batch))
    for position in input_order(batch):
        item = batch[position]
        if isinstance(item, Judged) and isinstance(item.judgment, Judgment):
            index = item.index if item.index >= 0 else position
            found.append(EvaluatedCase(position, index, item.case, item.judgment))
        elif isinstance(item, JudgedRun):
            found.append(_of_judged_run(item, position))
        elif is_experiment_row(item):
            case, judgments, run = rows.read(item)
            judgment = joined(judgments) if judgments else abstain("no evaluator returned a result")
            found.append(EvaluatedCase(position, position, case, judgment, run))
        else:
            found.append(EvaluatedCase(position, position, *_pair_in(item, raw)))
    return found


def _of_judged_run(judged: JudgedRun, position: int) -> EvaluatedCase:
    """Return a judged run, with what identifies the run in the metadata of its case and of its verdict."""
    case, judgment, known = judged.case, judged.judgment, judged.run.as_metadata()
    if case is not None:
        case = case.model_copy(update={"metadata": {**known, **case.metadata}})
    if isinstance(judgment, Verdict):
        judgment = evolve(judgment, case_metadata=freeze_mapping({**known, **judgment.case_metadata}))
    return EvaluatedCase(position, position, case, judgment, judged.run)


def _items_of(results: Iterable[object]) -> Iterable[object]:
    if not isinstance(results, Mapping):
        return results
    return [results] if is_experiment_row(results) else pairs_of_batch(results)


def _pair_in(item: object, raw: EvaluatorResults) -> Pair:
    if is_llama_index_result(item):
        return pair_of(item, raw)
    if isinstance(item, Judgment):
        return None, item
    if isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], Case | None) and _is_judgment(item[1]):
        return item
    raise ConfigurationError(
        "results are verdicts, what judge_pairs() yields, judged runs, EvaluationResults of LlamaIndex, or rows of a "
        f"LangSmith experiment; not {type(item).__name__}{retrieval_hint(item)}"
    )


def _is_judgment(value: object) -> TypeGuard[Judgment]:
    return isinstance(value, Judgment)
