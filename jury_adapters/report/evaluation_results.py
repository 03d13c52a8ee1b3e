"""LlamaIndex's evaluation results as cases with judgments; this module does not import LlamaIndex."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, TypeGuard

from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.judgment import Judgment, Status, abstain
from jury_adapters.core.loose_values import text_of, texts_of
from jury_adapters.core.scorecard import verdict_of_criteria
from jury_adapters.core.usage import NO_USAGE
from jury_adapters.core.values import freeze_mapping, plain_scalar
from jury_adapters.judges.external_results import EvaluatorResult, Scale, read_result


class LlamaIndexResult(Protocol):
    """Fields of LlamaIndex's ``EvaluationResult`` that a report reads."""

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


def is_llama_index_result(item: object) -> TypeGuard[LlamaIndexResult]:
    """Whether an object has the fields of LlamaIndex's ``EvaluationResult``."""
    return not isinstance(item, Judgment) and all(hasattr(item, name) for name in _FIELDS)


def pair_of(result: LlamaIndexResult) -> Pair:
    """Return the case and the judgment of an evaluation result of LlamaIndex.

    A result of this package's evaluators has the verdict. For other results, ``passing`` means PASS or FAIL; if it is
    None, a score from 0.5 upwards means PASS. A score outside 0 to 1 stays in the metadata. An invalid result is
    ABSTAIN.
    """
    verdict = getattr(result, "verdict", None)
    return _case_of((result,)), verdict if isinstance(verdict, Judgment) else _judgment_of(result)


def pairs_of_batch(results: Mapping[str, Iterable[object]]) -> Iterator[Pair]:
    """Yield the case and the judgment of each item that ``BatchEvalRunner`` evaluated.

    Args:
        results: the results of each evaluator by its name, in the order of the items. The judgments of several
            evaluators are the criteria of a scorecard that must all pass.

    Raises:
        ConfigurationError: the evaluators have different numbers of results, or there are other objects among them.
    """
    by_name = {str(name): list(found) for name, found in results.items()}
    for name, found in by_name.items():
        for item in found:
            if not is_llama_index_result(item):
                raise ConfigurationError(
                    f"the results of {plain_repr(name)} are EvaluationResults, not {type(item).__name__}"
                )
    numbers = {name: len(found) for name, found in by_name.items()}
    if len(set(numbers.values())) > 1:
        counts = ", ".join(f"{name!r} has {number}" for name, number in numbers.items())
        raise ConfigurationError(f"every evaluator has one result per item, in the same order; {counts}")
    for of_item in zip(*by_name.values(), strict=True):
        judgments = {name: pair_of(result)[1] for name, result in zip(by_name, of_item, strict=True)}
        only = next(iter(judgments.values()))
        yield _case_of(of_item), only if len(judgments) == 1 else verdict_of_criteria(judgments)


def _case_of(results: Sequence[Any]) -> Case | None:
    """Return the case of an item; each text is from the first result that has it."""
    query = next((one.query for one in results if one.query is not None), None)
    response = next((one.response for one in results if one.response is not None), None)
    contexts = next((one.contexts for one in results if one.contexts), ())
    if query is None and response is None and not contexts:
        return None
    answer = None if response is None else text_of(response)
    return Case(question=None if query is None else text_of(query), answer=answer, contexts=texts_of(contexts))


def _judgment_of(result: Any) -> Judgment:
    read = read_result(result)
    assert isinstance(read, EvaluatorResult)
    score = plain_scalar(read.score)
    if not isinstance(score, int | float) or not (score < 0 or score > 1):
        return _SCALE.judgment(read, NO_USAGE)
    details = freeze_mapping({"score": score})
    if read.passed is None:
        return abstain(f"the score {score!r} is outside 0 to 1, and there is no passing", metadata=details)
    status = Status.PASS if read.passed else Status.FAIL
    return Judgment(status, reasoning=read.reason, metadata=details)


_FIELDS = ("query", "response", "contexts", "passing", "score", "feedback", "invalid_result")
_SCALE = Scale((0.0, 1.0), None, frozenset())
