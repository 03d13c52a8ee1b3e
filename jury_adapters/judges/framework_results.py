"""Results of evaluations as cases with judgments: of this package, LlamaIndex, LangSmith, and background runs.

Reports and votes read their results here. This module does not import any framework.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeGuard

from jury_adapters.core.batch_window import Judged, input_order
from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.judgment import Judgment, abstain, evolve
from jury_adapters.core.loose_values import text_of, texts_of
from jury_adapters.core.runs import JudgedRun, Run
from jury_adapters.core.scorecard import verdict_of_criteria
from jury_adapters.core.values import freeze_mapping
from jury_adapters.core.verdict import Verdict
from jury_adapters.judges.experiment_rows import ExperimentRows, is_experiment_row
from jury_adapters.judges.external_results import judgment_of_result


class LlamaIndexResult(Protocol):
    """Fields of LlamaIndex's ``EvaluationResult`` that are read."""

    @property
    def query(self) -> str | None: ...
    @property
    def response(self) -> str | None: ...
    @property
    def contexts(self) -> Sequence[str] | None: ...
    @property
    def passing(self) -> bool | None: ...
    @property
    def score(self) -> float | None: ...
    @property
    def feedback(self) -> str | None: ...
    @property
    def invalid_result(self) -> bool: ...


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
            results.
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
    for position in input_order(batch):
        item = batch[position]
        if isinstance(item, Judged) and isinstance(item.judgment, Judgment):
            index = item.index if item.index >= 0 else position
            found.append(EvaluatedCase(position, index, item.case, item.judgment))
        elif isinstance(item, JudgedRun):
            found.append(_of_judged_run(item, position))
        elif is_experiment_row(item):
            case, judgments, run = rows.read(item)
            judgment = _joined(judgments) if judgments else abstain("no evaluator returned a result")
            found.append(EvaluatedCase(position, position, case, judgment, run))
        else:
            found.append(EvaluatedCase(position, position, *_pair_in(item)))
    return found


def is_llama_index_result(item: object) -> TypeGuard[LlamaIndexResult]:
    """Whether an object has the fields of LlamaIndex's ``EvaluationResult``."""
    return not isinstance(item, Judgment) and all(hasattr(item, name) for name in _FIELDS)


def pair_of(result: LlamaIndexResult) -> Pair:
    """Return the case and the judgment of an evaluation result of LlamaIndex.

    A result of this package's evaluators has the verdict. For other results, ``passing`` means PASS or FAIL; if it is
    None, a score from 0.5 upwards means PASS. A score outside 0 to 1 stays in the metadata. An invalid result is
    ABSTAIN. The calls and the cost of another result are unknown, because it does not have them.
    """
    verdict = getattr(result, "verdict", None)
    return _case_of((result,)), verdict if isinstance(verdict, Judgment) else judgment_of_result(result)


def pairs_of_batch(results: Mapping[str, Iterable[object]]) -> Iterator[Pair]:
    """Yield the case and the judgment of each item that ``BatchEvalRunner`` evaluated.

    Args:
        results: the results of each evaluator by its name, in the order of the items. The judgments of several
            evaluators are the criteria of a scorecard that must all pass. Evaluators that compare two answers do not
            count in it.

    Raises:
        ConfigurationError: the evaluators have different numbers of results, or there are other objects among them.
    """
    for name, given in results.items():
        if not isinstance(given, Iterable) or isinstance(given, str | Mapping):
            what = type(given).__name__
            raise ConfigurationError(
                f"the results of {plain_repr(str(name))} are a list of EvaluationResults, not {what}"
            )
    by_name = {str(name): list(found) for name, found in results.items()}
    for name, found in by_name.items():
        for item in found:
            if not is_llama_index_result(item):
                raise ConfigurationError(
                    f"the results of {plain_repr(name)} are EvaluationResults, not {type(item).__name__}"
                    f"{_retrieval_hint(item)}"
                )
    numbers = {name: len(found) for name, found in by_name.items()}
    if len(set(numbers.values())) > 1:
        counts = ", ".join(f"{name!r} has {number}" for name, number in numbers.items())
        raise ConfigurationError(f"every evaluator has one result per item, in the same order; {counts}")
    preferences = {name for name, found in by_name.items() if any(map(_is_preference, found))}
    for of_item in zip(*by_name.values(), strict=True):
        judgments = {name: pair_of(result)[1] for name, result in zip(by_name, of_item, strict=True)}
        case, judgment = _case_of(of_item), _joined(judgments, preferences)
        if case is not None and isinstance(judgment, Verdict):
            judgment = evolve(judgment, case_id=case.item_id, case_metadata=case.metadata)
        yield case, judgment


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


def _pair_in(item: object) -> Pair:
    if is_llama_index_result(item):
        return pair_of(item)
    if isinstance(item, Judgment):
        return None, item
    if isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], Case | None) and _is_judgment(item[1]):
        return item
    raise ConfigurationError(
        "results are verdicts, what judge_pairs() yields, judged runs, EvaluationResults of LlamaIndex, or rows of a "
        f"LangSmith experiment; not {type(item).__name__}{_retrieval_hint(item)}"
    )


def _retrieval_hint(item: object) -> str:
    """Return what to do with a result of LlamaIndex's ``RetrieverEvaluator``; empty for other objects."""
    if not all(hasattr(item, name) for name in ("metric_dict", "retrieved_ids", "expected_ids")):
        return ""
    return (
        ", which has numbers and no verdict. Judge its case: Case(question=one.query, contexts=one.retrieved_texts, "
        "retrieved_ids=one.retrieved_ids, relevant_ids=one.expected_ids)"
    )


def _is_judgment(value: object) -> TypeGuard[Judgment]:
    return isinstance(value, Judgment)


def _is_preference(result: object) -> bool:
    """Whether an evaluation result says which of two answers is better, or should have done so."""
    return getattr(result, "pairwise_source", None) is not None or getattr(result, "comparison", False) is True


def _joined(judgments: Mapping[str, Judgment], preferences: Collection[str] = ()) -> Judgment:
    """Return the judgments of the evaluators of one item, by name, as one."""
    if len(judgments) > 1:
        return verdict_of_criteria(judgments, preferences)
    ((name, only),) = judgments.items()
    return only if only.critic else evolve(only, critic=name)


def _case_of(results: Sequence[Any]) -> Case | None:
    """Return the case of an item; each text, the id and each entry of metadata is from the first result that has it."""
    query = next((one.query for one in results if one.query is not None), None)
    response = next((one.response for one in results if one.response is not None), None)
    contexts = next((one.contexts for one in results if one.contexts), ())
    if query is None and response is None and not contexts:
        return None
    answer = None if response is None else text_of(response)
    item = next((found for one in results if (found := getattr(one, "item_id", None)) is not None), None)
    reference = next((found for one in results if (found := getattr(one, "reference", None)) is not None), None)
    metadata: dict[str, object] = {}
    for one in results:
        kept = getattr(one, "metadata", None)
        metadata = {**(kept if isinstance(kept, Mapping) else {}), **metadata}
    if item is not None and not {"item_id", "id"} & metadata.keys():
        metadata["item_id"] = str(item)
    return Case(
        question=None if query is None else text_of(query),
        answer=answer,
        contexts=texts_of(contexts),
        reference=None if reference is None else text_of(reference),
        metadata=freeze_mapping(metadata),
    )


_FIELDS = ("query", "response", "contexts", "passing", "score", "feedback", "invalid_result")
