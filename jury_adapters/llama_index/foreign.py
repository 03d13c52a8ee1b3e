"""Evaluators of LlamaIndex as judges, so that panels can mix them with ours."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Unpack

from llama_index.core.evaluation import CorrectnessEvaluator, SemanticSimilarityEvaluator
from llama_index.core.evaluation.base import BaseEvaluator, EvaluationResult

from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.judgment import Judgment, abstain
from jury_adapters.judges.foreign import Call, Finding, ForeignJudge, ForeignOptions
from jury_adapters.judges.foreign_calls import Arguments, checked_arguments, fitting, lacking, own_name_of

__all__ = ["from_evaluator"]


def from_evaluator(
    evaluator: BaseEvaluator, *, arguments: Arguments | None = None, **options: Unpack[ForeignOptions]
) -> ForeignJudge:
    """An evaluator of LlamaIndex as a judge.

    It is asked with ``query``, ``response``, ``contexts`` and ``reference``, as far as it takes them. Of a case with
    two ``candidates`` it gets the second as ``second_response`` too, and its label is ``A``, ``B`` or ``tie``. Its own
    ``passing`` decides, ``feedback`` is the reasoning; ``invalid_result`` is ABSTAIN, an exception ERROR.

    Args:
        evaluator: any ``BaseEvaluator``.
        arguments: what to ask it with in place of these: a function of a case.
        **options: see :class:`jury_adapters.judges.foreign.ForeignOptions`. ``scale`` is ``(1, 5)`` for a
            ``CorrectnessEvaluator`` and ``(-1, 1)`` for a ``SemanticSimilarityEvaluator`` (a cosine) when it is left
            out.

    Raises:
        ConfigurationError: it is no evaluator, or an option is wrong.

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
        raise ConfigurationError(f"from_evaluator takes a BaseEvaluator of LlamaIndex, not {evaluator!r}")
    given = checked_arguments(arguments) or _arguments

    def prepare(case: Case) -> Call | Judgment:
        wanted = given(case)
        missing = lacking(evaluator.aevaluate, wanted)
        if missing is not None:
            return abstain(f"the evaluator needs {missing!r}, which the case does not have")
        wanted = fitting(evaluator.aevaluate, wanted)
        return Call(wanted, partial(ask, wanted))

    async def ask(wanted: Mapping[str, object]) -> Finding | Judgment:
        result = await evaluator.aevaluate(**wanted)  # type: ignore[arg-type]  # as its signature says
        if result.invalid_result:
            return abstain(result.invalid_reason or result.feedback or "the result is invalid")
        if "second_response" in wanted:
            return _preference(result)
        return Finding(score=result.score, passed=result.passing, reason=result.feedback or "")

    scale = next((scale for kind, scale in _SCALES.items() if isinstance(evaluator, kind)), None)
    if scale is not None:
        options = {"scale": scale, **options}
    return ForeignJudge(prepare, own_name_of(evaluator), **options)


_SCALES: dict[type[BaseEvaluator], tuple[float, float]] = {
    CorrectnessEvaluator: (1.0, 5.0),
    SemanticSimilarityEvaluator: (-1.0, 1.0),
}


def _arguments(case: Case) -> dict[str, object]:
    first, second = case.candidates if len(case.candidates) == 2 else (case.answer, None)
    return {
        "query": case.question,
        "response": first,
        "contexts": list(case.contexts) or None,
        "reference": case.reference,
        "second_response": second,
    }


def _preference(result: EvaluationResult) -> Judgment:
    """Which of two is better. Of a flipped comparison the score speaks of the other one."""
    score = result.score
    if score is None:
        return abstain(result.feedback or "no preference")
    source = getattr(result.pairwise_source, "value", result.pairwise_source)
    if source == "flipped":
        score = 1.0 - score
    label = "tie" if source == "neither" or score == 0.5 else "A" if score > 0.5 else "B"
    return Judgment(None, label=label, reasoning=result.feedback or "")
