"""JuryEvaluator, a jury as an evaluator of LlamaIndex, and its result."""

import asyncio
from collections.abc import Sequence
from typing import Any

from llama_index.core.evaluation.base import BaseEvaluator, EvaluationResult
from pydantic import Field

from jury_adapters.core import loop
from jury_adapters.core.asking import Asking
from jury_adapters.core.budget import Budget
from jury_adapters.core.case import Case
from jury_adapters.core.judge import JudgeLike
from jury_adapters.core.judgment import Judgment, Status, broken
from jury_adapters.core.store import Store
from jury_adapters.inputs.run import default_case, texts_of
from jury_adapters.llama_index.reading import complete, run_of

_SHARES = {"A": 1.0, "tie": 0.5, "B": 0.0}
"""The score of the first of two responses."""
_FIELDS = ("reference", "generator", "id")
_REMEDY = "give the text of the answer: evaluate(query=..., response=..., contexts=[...])"


class JuryEvaluationResult(EvaluationResult):
    """Result of LlamaIndex with the whole judgment.

    ``passing`` is True for PASS and False for FAIL, ``score`` is in 0..1, and ``feedback`` is never empty. An
    abstention or an error is ``invalid_result`` with the reason, without ``passing`` and ``score``. In a comparison,
    ``score`` is 1.0 if the response is better, 0.0 if the second one is, and 0.5 for a tie, whose ``passing`` is None.

    Attributes:
        verdict: the judgment.
    """

    verdict: Judgment | None = Field(None, repr=False)


class JuryEvaluator(BaseEvaluator):
    """Jury in every place where LlamaIndex takes an evaluator.

    It never raises for an item: ``BatchEvalRunner`` repeats what raises, and then gives up the whole batch. A streamed
    response is read, and can still be read afterwards. Contexts are the source nodes with the metadata that the writer
    saw. Further arguments of ``evaluate``, such as ``tone=``, are the metadata of the case, which rubrics with
    ``variables`` show; ``reference=``, ``generator=``, ``id=`` and, for a jury that compares, ``second_response=`` are
    fields of it.

    The steps of an agent are those that its response tells; of an agent with a structured response, that is the answer.
    What a tool returned counts as found also if the tool asked a model; :class:`JurySpanHandler` sees that.

    Args:
        jury: the jury, or a function of a case.
        store: where judgments are kept.
        budget: the limit on spending.

    >>> evaluator = JuryEvaluator(lambda case: case.answer == case.reference)
    >>> evaluator.evaluate(query="2 + 2?", response="4", reference="4").passing
    True
    """

    def __init__(self, jury: JudgeLike, *, store: Store | None = None, budget: Budget | None = None) -> None:
        self.asking = Asking(jury, store=store, budget=budget)

    def evaluate(
        self, query: Any = None, response: Any = None, contexts: Sequence[Any] | None = None, **kwargs: Any
    ) -> JuryEvaluationResult:
        """Judge a query and a response, a text or that of an engine, an agent or a workflow; also in a notebook."""
        return loop.run(self._result(query, response, contexts, kwargs, waiting=asyncio._get_running_loop()))

    async def aevaluate(
        self, query: Any = None, response: Any = None, contexts: Sequence[Any] | None = None, **kwargs: Any
    ) -> JuryEvaluationResult:
        """Judge a query and a response like :meth:`evaluate`, for asynchronous code."""
        return await self._result(query, response, contexts, kwargs)

    evaluate_response = evaluate
    aevaluate_response = aevaluate

    async def _result(
        self, query: Any, response: Any, contexts: Any, given: dict[str, Any], *, waiting: Any = None
    ) -> JuryEvaluationResult:
        await asyncio.sleep(given.pop("sleep_time_in_seconds", 0))
        case = Case(question=query if isinstance(query, str) else None)
        try:
            case = self._case(query, await complete(response, waiting), contexts, given)
        except Exception as error:
            judgment = broken(error, critic=self.asking.judge.name)
        else:
            judgment = (await self.asking.ajudged(case)).judgment
        return result_of(judgment, case)

    def _case(self, query: Any, response: Any, contexts: Any, given: dict[str, Any]) -> Case:
        read = default_case(run_of(query, response), remedy=_REMEDY)
        fields = {name: given.pop(name) for name in _FIELDS if given.get(name) is not None}
        second = given.pop("second_response", None)
        if second is not None and {"A", "B"} <= {*(self.asking.judge.labels or ())}:
            other = default_case(run_of(query, second), remedy=_REMEDY)
            fields |= {"candidates": (read.answer, other.answer), "answer": None}
        if contexts is not None:
            fields["contexts"] = texts_of([contexts] if isinstance(contexts, str) else [*contexts])
        return Case.of(read, {**fields, "metadata": {**read.metadata, **given}})

    def _get_prompts(self) -> dict[str, Any]:
        return {}

    def _update_prompts(self, prompts_dict: Any) -> None:
        """Do nothing: the words for the model are in the rubric of the critic."""


def result_of(judgment: Judgment, case: Case) -> JuryEvaluationResult:
    """Return a judgment as the result of LlamaIndex."""
    won = _SHARES.get(judgment.label or "") if judgment.status is Status.LABEL and case.candidates else None
    passing = judgment.passed if won is None else {1.0: True, 0.0: False}.get(won)
    said = feedback_of(judgment)
    return JuryEvaluationResult(
        query=case.question,
        response=case.answer or next(iter(case.candidates), ""),  # a retry engine refuses None
        contexts=[*case.contexts] or None,
        passing=passing,
        score=judgment.number if won is None else won,
        feedback=said,
        pairwise_source=None if won is None else "neither" if won == 0.5 else "original",
        invalid_result=not judgment.decided,
        invalid_reason=None if judgment.decided else said,
        verdict=judgment,
    )


def feedback_of(judgment: Judgment) -> str:
    """Return the reasons in words: those of the judgment, and of the jurors that voted for its outcome."""
    head = ": ".join(dict.fromkeys(filter(None, (judgment.error, judgment.reasoning)))) or str(judgment.ballot)
    told = [
        f"{one.critic}: {one.error or one.reasoning}"
        for one in judgment.jurors()
        if (one.error or one.reasoning) and (one.status is judgment.status or not judgment.decided)
    ]
    return "\n".join([head, *(line for line in dict.fromkeys(told) if line.partition(": ")[2] not in head)])
