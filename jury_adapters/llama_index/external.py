"""LlamaIndex evaluators as judges, for use in juries."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import partial
from typing import Unpack

from llama_index.core.evaluation import CorrectnessEvaluator, SemanticSimilarityEvaluator
from llama_index.core.evaluation.base import BaseEvaluator
from llama_index.core.llms import LLM

from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.judgment import Judgment
from jury_adapters.judges.external import Call, ExternalJudge, ExternalOptions, Said
from jury_adapters.judges.external_calls import Arguments, by_name, called, checked_arguments, own_name_of, takes
from jury_adapters.judges.external_results import EvaluatorResult, preference_between, read_result
from jury_adapters.models.llama_index_copies import CopiesPerLoop, has_connections

__all__ = ["from_evaluator"]


def from_evaluator(
    evaluator: BaseEvaluator, *, arguments: Arguments | None = None, **options: Unpack[ExternalOptions]
) -> ExternalJudge:
    """Return a LlamaIndex evaluator as a judge.

    The evaluator is called with those of ``query``, ``response``, ``contexts`` and ``reference`` that it takes. For a
    case with two ``candidates``, it also gets the second one as ``second_response``, and its label is ``A``, ``B`` or
    ``tie``. If such a case has an ``answer`` too, an evaluator that neither names that argument nor says in its result
    which response it prefers (``pairwise_source``) has judged the answer alone. Its own ``passing`` decides, and
    ``feedback`` is the reasoning; ``invalid_result`` is ABSTAIN, and an exception is ERROR.

    The evaluator sends its own requests, which are not tried again here: leave its LLM the retries that it has
    (``max_retries=``). An LLM with a client is copied for the event loop in which the judge runs, because connections
    cannot be shared with the loop of the application.

    Args:
        evaluator: any ``BaseEvaluator``.
        arguments: a function from a case to the arguments to call it with instead.
        **options: see :class:`jury_adapters.judges.external.ExternalOptions`. The default of ``scale`` is ``(1, 5)``
            for a ``CorrectnessEvaluator`` and ``(-1, 1)`` for a ``SemanticSimilarityEvaluator`` (a cosine).

    Raises:
        ConfigurationError: ``evaluator`` is not an evaluator, or an option is invalid.

    >>> from llama_index.core.evaluation import BaseEvaluator, EvaluationResult
    >>> class Short(BaseEvaluator):
    ...     def _get_prompts(self): return {}
    ...     def _update_prompts(self, prompts): return None
    ...     async def aevaluate(self, query=None, response=None, contexts=None, **kwargs):
    ...         return EvaluationResult(passing=len(response) < 10, feedback="at most 9 characters")
    >>> from_evaluator(Short()).judge(answer="Yes.").passed
    True
    """
    if not isinstance(evaluator, BaseEvaluator):
        raise ConfigurationError(f"from_evaluator takes a BaseEvaluator of LlamaIndex, not {plain_repr(evaluator)}")
    given = checked_arguments(arguments) or _arguments

    copies = _copies_of_llms(evaluator)

    async def ask(wanted: Mapping[str, object], *, compares: bool = True) -> Said:
        result = await called((await _for_this_loop(evaluator, copies)).aevaluate, **wanted)
        found = read_result(result)
        if "second_response" not in wanted or not isinstance(found, EvaluatorResult) or found.score is None:
            return found
        says = compares or getattr(result, "pairwise_source", None) is not None
        return preference_between(found, result) if says else found

    scale = next((scale for kind, scale in _SCALES.items() if isinstance(evaluator, kind)), None)
    if scale is not None:
        options = {"scale": scale, **options}
    comparing = "second_response" in takes(evaluator.aevaluate)[0]
    of_candidates = by_name(evaluator.aevaluate, given, ask)
    of_answer = by_name(evaluator.aevaluate, given, partial(ask, compares=comparing))

    def prepare(case: Case) -> Call | Judgment:
        return of_candidates(case) if case.answer is None else of_answer(case)

    return ExternalJudge(prepare, own_name_of(evaluator), own_threshold=_threshold_of(evaluator), **options)


_SCALES: dict[type[BaseEvaluator], tuple[float, float]] = {
    CorrectnessEvaluator: (1.0, 5.0),
    SemanticSimilarityEvaluator: (-1.0, 1.0),
}


def _threshold_of(evaluator: BaseEvaluator) -> object:
    """Return the score from which an evaluator of LlamaIndex passes; None if it has none."""
    thresholds = (getattr(evaluator, name, None) for name in ("_score_threshold", "_similarity_threshold"))
    return next((threshold for threshold in thresholds if threshold is not None), None)


def _copies_of_llms(evaluator: BaseEvaluator) -> dict[str, CopiesPerLoop]:
    """Return copies per event loop of the LLMs of an evaluator that have a client, by the attribute that holds them."""
    held = getattr(evaluator, "__dict__", {})
    return {
        name: CopiesPerLoop(value, retries=True)
        for name, value in held.items()
        if isinstance(value, LLM) and has_connections(value)
    }


async def _for_this_loop(evaluator: BaseEvaluator, copies: Mapping[str, CopiesPerLoop]) -> BaseEvaluator:
    """Return the evaluator with its LLMs for the running event loop; the user's own objects are not changed."""
    found = evaluator
    for name, llms in copies.items():
        if getattr(evaluator, name) is llms.llm:
            found = copy.copy(evaluator) if found is evaluator else found
            setattr(found, name, await llms.for_this_loop())
    return found


def _arguments(case: Case) -> dict[str, object]:
    first, second = case.candidates if len(case.candidates) == 2 else (case.answer, None)
    return {
        "query": case.question,
        "response": first,
        "contexts": list(case.contexts) or None,
        "reference": case.reference,
        "second_response": second,
    }
