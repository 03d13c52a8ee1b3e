"""Results of LlamaIndex's evaluators, and of this package's evaluators for LlamaIndex, as cases with judgments.

This module does not import LlamaIndex.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeGuard

from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.judgment import Judgment, evolve
from jury_adapters.core.loose_values import text_of, texts_of
from jury_adapters.core.scorecard import verdict_of_criteria
from jury_adapters.core.usage import UNCOUNTED
from jury_adapters.core.values import freeze_mapping
from jury_adapters.core.verdict import Verdict
from jury_adapters.judges.external_results import preference_between
from jury_adapters.judges.raw_results import RawResults, read_raw


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


def is_llama_index_result(item: object) -> TypeGuard[LlamaIndexResult]:
    """Whether an object has the fields of LlamaIndex's ``EvaluationResult``."""
    return not isinstance(item, Judgment) and all(hasattr(item, name) for name in _FIELDS)


class EvaluatorResults:
    """Reader of the results of one evaluator.

    A result of this package's evaluators has the verdict. For other results, ``passing`` means PASS or FAIL; if it is
    None, a score from 0.5 upwards means PASS. Scores count if they are from 0 to 1, see
    :class:`jury_adapters.judges.raw_results.RawResults`. A comparison of LlamaIndex has the label ``A``, ``B`` or
    ``tie``. An invalid result is ABSTAIN.

    Args:
        results: all results of the evaluator.
        name: its name; empty if it is not known.

    Attributes:
        compares: whether it says, at least once, which of two answers is better.
    """

    def __init__(self, results: Iterable[LlamaIndexResult], name: str = "") -> None:
        all_results = list(results)
        raw = [result for result in all_results if _verdict_in(result) is None]
        self.compares = any(map(_is_preference, all_results))
        self._compares_raw = any(map(_is_preference, raw))
        self._raw = RawResults([result for result in raw if not _is_preference(result)], name)

    def judgment(self, result: LlamaIndexResult) -> Judgment:
        """Return the judgment in one of the results."""
        verdict = _verdict_in(result)
        if verdict is not None:
            return verdict
        if not _is_preference(result):
            return self._raw.judgment(result)
        return evolve(preference_between(read_raw(result), result), usage=UNCOUNTED)

    def answer(self, result: LlamaIndexResult, *, certain: bool = False) -> str | None:
        """Return the answer that was judged, if the result has it.

        LlamaIndex's comparison returns the reply of its model as the response. An unreadable reply gives an invalid
        result, which does not say that it is one of a comparison.

        Args:
            result: the result.
            certain: whether to return None for a response that may be the reply of a model.
        """
        if _verdict_in(result) is None:
            may_compare = result.invalid_result and (certain or self._compares_raw)
            return None if may_compare or _is_preference(result) else result.response
        return result.response


def pair_of(result: LlamaIndexResult, reader: EvaluatorResults) -> tuple[Case | None, Judgment]:
    """Return the case and the judgment of one of the results of an evaluator."""
    return _case_of((result,), (reader.answer(result),)), reader.judgment(result)


def pairs_of_batch(results: Mapping[str, Iterable[object]]) -> Iterator[tuple[Case | None, Judgment]]:
    """Yield the case and the judgment of each item that ``BatchEvalRunner`` evaluated.

    Args:
        results: the results of each evaluator by its name, in the order of the items. The judgments of several
            evaluators are the criteria of a scorecard that must all pass. Evaluators that compare two answers do not
            count in it.

    Raises:
        ConfigurationError: the evaluators have different numbers of results, their results at one position are about
            different items, or there are other objects among them.
    """
    by_name = _checked(results)
    readers = {name: EvaluatorResults(found, name) for name, found in by_name.items()}
    preferences = {name for name, reader in readers.items() if reader.compares}
    for number, of_item in enumerate(zip(*by_name.values(), strict=True), start=1):
        one = {name: (reader, result) for (name, reader), result in zip(readers.items(), of_item, strict=True)}
        _check_same_item(number, one)
        judgments = {name: reader.judgment(result) for name, (reader, result) in one.items()}
        sure, all_of_them = (
            [reader.answer(result, certain=certain) for reader, result in one.values()] for certain in (True, False)
        )
        case, judgment = _case_of(of_item, sure + all_of_them), joined(judgments, preferences)
        if case is not None and isinstance(judgment, Verdict):
            judgment = evolve(judgment, case_id=case.item_id, case_metadata=case.metadata)
        yield case, judgment


def joined(judgments: Mapping[str, Judgment], preferences: Collection[str] = ()) -> Judgment:
    """Return the judgments of the evaluators of one item, by name, as one."""
    if len(judgments) > 1:
        return verdict_of_criteria(judgments, preferences)
    ((name, only),) = judgments.items()
    return only if only.critic else evolve(only, critic=name)


def retrieval_hint(item: object) -> str:
    """Return what to do with a result of LlamaIndex's ``RetrieverEvaluator``; empty for other objects."""
    if not all(hasattr(item, name) for name in ("metric_dict", "retrieved_ids", "expected_ids")):
        return ""
    return (
        ", which has numbers and no verdict. Judge its case: Case(question=one.query, contexts=one.retrieved_texts, "
        "retrieved_ids=one.retrieved_ids, relevant_ids=one.expected_ids)"
    )


def _checked(results: Mapping[str, Iterable[object]]) -> dict[str, list[LlamaIndexResult]]:
    """Return the results of each evaluator as a list.

    Raises:
        ConfigurationError: they are no lists of results, or have different lengths.
    """
    by_name: dict[str, list[LlamaIndexResult]] = {}
    for name, given in results.items():
        if not isinstance(given, Iterable) or isinstance(given, str | Mapping):
            what = type(given).__name__
            raise ConfigurationError(
                f"the results of {plain_repr(str(name))} are a list of EvaluationResults, not {what}"
            )
        by_name[str(name)] = found = []
        for item in given:
            if not is_llama_index_result(item):
                raise ConfigurationError(
                    f"the results of {plain_repr(str(name))} are EvaluationResults, not {type(item).__name__}"
                    f"{retrieval_hint(item)}"
                )
            found.append(item)
    numbers = {name: len(found) for name, found in by_name.items()}
    if len(set(numbers.values())) > 1:
        counts = ", ".join(f"{name!r} has {number}" for name, number in numbers.items())
        raise ConfigurationError(f"every evaluator has one result per item, in the same order; {counts}")
    return by_name


def _check_same_item(number: int, results: Mapping[str, tuple[EvaluatorResults, LlamaIndexResult]]) -> None:
    """Check that the results of all evaluators at one position are about one item.

    Raises:
        ConfigurationError: two of them have different ids, queries or responses.
    """
    ids: dict[str, str] = {}
    queries: dict[str, str] = {}
    answers: dict[str, str] = {}
    for name, (reader, result) in results.items():
        if (item := getattr(result, "item_id", None)) is not None:
            ids[name] = str(item)
        if query := _words(result.query):
            queries[name] = query
        if answer := _words(reader.answer(result, certain=True)):
            answers[name] = answer
    rule = "every evaluator has one result per item, in the same order"
    if found := _first_different(ids):
        one, other = found
        raise ConfigurationError(
            f"{rule}; result {number} of {plain_repr(other)} has the id {plain_repr(ids[other])}, and of "
            f"{plain_repr(one)} {plain_repr(ids[one])}"
        )
    for what, texts in (("queries", queries), ("responses", answers)):
        if found := _first_different(texts):
            one, other = map(plain_repr, found)
            raise ConfigurationError(f"{rule}; the {what} of result {number} of {one} and of {other} differ")


def _first_different(by_name: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the first name, and the first other one with another value; None if all values are equal."""
    first = next(iter(by_name), "")
    return next(((first, name) for name, value in by_name.items() if value != by_name[first]), None)


def _words(text: object) -> str:
    """Return a text without differences of white space; empty if there is none."""
    return " ".join((text_of(text) or "").split())


def _verdict_in(result: object) -> Judgment | None:
    verdict = getattr(result, "verdict", None)
    return verdict if isinstance(verdict, Judgment) else None


def _is_preference(result: object) -> bool:
    """Whether an evaluation result says which of two answers is better, or should have done so."""
    return getattr(result, "pairwise_source", None) is not None or getattr(result, "comparison", False) is True


def _case_of(results: Sequence[Any], answers: Sequence[str | None]) -> Case | None:
    """Return the case of an item; each text, the id and each entry of metadata is from the first result that has it.

    Args:
        results: the results of the evaluators.
        answers: the answers that they judged, None where a result does not have it; the first one counts.
    """
    query = next((one.query for one in results if one.query is not None), None)
    response = next((answer for answer in answers if answer is not None), None)
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
