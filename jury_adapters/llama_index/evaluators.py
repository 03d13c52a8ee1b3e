"""Any judge as a LlamaIndex evaluator."""

from __future__ import annotations

import asyncio
import copy
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Any, Self

from llama_index.core.base.llms.base import BaseLLM
from llama_index.core.evaluation.base import BaseEvaluator
from llama_index.core.prompts.mixin import PromptDictType
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle

from jury_adapters.core.arguments import explains_wrong_calls
from jury_adapters.core.budget import Budget
from jury_adapters.core.cache import StoreLike
from jury_adapters.core.case import Case
from jury_adapters.core.context import judging
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.evidence import Evidence, EvidenceTools
from jury_adapters.core.field_names import FIELD_NAMES, PARTS, columns_of, pair_in
from jury_adapters.core.judge import Judge
from jury_adapters.core.judge_like import JudgeLike, judge_of
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.loose_values import is_list_of_texts, texts_of
from jury_adapters.core.scope import Scope
from jury_adapters.core.values import JsonValue, freeze, is_missing, shown
from jury_adapters.llama_index.attempts import outcome_of
from jury_adapters.llama_index.compared_answers import may_compare, must_compare
from jury_adapters.llama_index.misspelt_arguments import refuse_misspelt
from jury_adapters.llama_index.passed_on import passed_on
from jury_adapters.llama_index.prompts import TemplateLike, prompts_of, with_prompts
from jury_adapters.llama_index.response_images import asked_with, images_at, images_of, node_images
from jury_adapters.llama_index.responses import atext_of, contexts_of, node_texts, steps_of, text_of, tool_outputs
from jury_adapters.llama_index.results import JuryEvaluationResult, refused, result_of


class JuryEvaluator(BaseEvaluator):
    """LlamaIndex evaluator that wraps any judge: a critic, a jury, a cascade, or a plain function of a case.

    It can be used wherever LlamaIndex takes an evaluator: ``BatchEvalRunner``, ``RetryQueryEngine``,
    ``EvalQueryEngineTool``. It never raises for an item: an item that cannot be judged gives a result with
    ``invalid_result=True`` and the reason, so that one bad item does not cost a batch. In addition to the usual
    arguments, ``reference=``, ``second_response=`` and ``generator=`` (the name of the model that wrote the answer)
    belong to the case; all other arguments from a runner go into the case's metadata. A misspelt one (``refrence=``)
    makes the result invalid. ``second_response=`` makes two candidates of a case for a judge that may compare them: a
    pairwise critic, a function, a judge of your own. The response is also the ``answer`` of the case, so checks and
    other critics judge it alone, and so does a function that does not read the candidates.

    The synchronous methods work in scripts, in threads and inside a running event loop.

    Args:
        jury: the judge, or a function that takes a :class:`jury_adapters.Case`.
        store: a :class:`jury_adapters.Store`, or the path of one: judgments are kept in it, and those that it holds
            are served without a call.
        budget: a :class:`jury_adapters.Budget` for everything that this evaluator judges; a juror whose call does not
            fit abstains with ``budget_exhausted``.
        evidence_tools: the tools of an agent whose outputs are contexts: names, or a predicate of a step; by default
            all but those known to repeat what the model wrote. See :class:`jury_adapters.core.evidence.Evidence`.

    Attributes:
        jury: the judge. ``evaluator.jury.estimate_cost(rows)`` estimates what a batch will cost.

    Raises:
        ConfigurationError: ``jury`` is not a judge, the store or the budget is invalid, ``evidence_tools`` is neither
            names nor a predicate, or a budget in dollars meets a juror whose price is unknown.

    >>> from jury_adapters.checks import NotEmpty
    >>> JuryEvaluator(NotEmpty()).evaluate(query="2 + 2?", response="4").passing
    True
    """

    @explains_wrong_calls(
        "JuryEvaluator(jury)", order="the jury comes first, the rest by name", needs="a jury is missing"
    )
    def __init__(
        self,
        jury: JudgeLike,
        *,
        store: StoreLike | None = None,
        budget: Budget | None = None,
        evidence_tools: EvidenceTools = None,
    ) -> None:
        self.jury: Judge = ready_judge(jury)
        self._scope = Scope.of(self.jury, store, budget)
        self.evidence = Evidence(evidence_tools)

    def evaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        **kwargs: Any,
    ) -> JuryEvaluationResult:
        """Judge one answer and wait for the result.

        Args:
            query: the question.
            response: the answer.
            contexts: the passages that the answer should rest on.
            **kwargs: ``image_paths`` and ``image_urls`` are images that belong to the contexts, as for LlamaIndex's
                multi-modal evaluators; ``reference``, ``second_response``, ``generator`` and other columns of a row
                have the names that :meth:`jury_adapters.Case.from_row` knows; ``id`` is the id of the item in results
                and reports; ``sleep_time_in_seconds`` waits first. Others go into the case's metadata.
        """
        time.sleep(_pause(kwargs))
        try:
            answer = _plain(response)
            other = _plain(self._second(kwargs))
            case = _case(query, answer, other, contexts, kwargs, only_compared=self._prefers)
        except Exception as error:
            return refused(self.jury, error, query, response, kwargs, comparison=self._prefers)
        return result_of(self.judged(case), case, _echoed(case, contexts), comparison=self._prefers)

    async def aevaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        **kwargs: Any,
    ) -> JuryEvaluationResult:
        """Judge one answer; see :meth:`evaluate`."""
        pause = _pause(kwargs)
        if pause:
            await asyncio.sleep(pause)
        try:
            answer = await _aplain(response)
            other = await _aplain(self._second(kwargs))
            case = _case(query, answer, other, contexts, kwargs, only_compared=self._prefers)
        except Exception as error:
            return refused(self.jury, error, query, response, kwargs, comparison=self._prefers)
        return result_of(await self.ajudged(case), case, _echoed(case, contexts), comparison=self._prefers)

    # LlamaIndex declares a Response here, but passes any object that its engines return.
    def evaluate_response(
        self, query: str | None = None, response: object | None = None, **kwargs: Any
    ) -> JuryEvaluationResult:
        """Judge a response of an engine, a chat engine or an agent, with the contexts that its writer saw.

        A stream is read to its end and restored, so that the user can still read it.

        Args:
            query: the question.
            response: any response class of LlamaIndex, a text, or None.
            **kwargs: as for :meth:`evaluate`; ``contexts=`` replaces those of the response.
        """
        try:
            text, material = text_of(response), self._material(response, kwargs)
        except Exception as error:
            return refused(self.jury, error, query, response, kwargs, comparison=self._prefers)
        return self.evaluate(query=query, response=text, **material)

    async def aevaluate_response(
        self, query: str | None = None, response: object | None = None, **kwargs: Any
    ) -> JuryEvaluationResult:
        """Judge a response of an engine; see :meth:`evaluate_response`."""
        try:
            text, material = await atext_of(response), self._material(response, kwargs)
        except Exception as error:
            return refused(self.jury, error, query, response, kwargs, comparison=self._prefers)
        return await self.aevaluate(query=query, response=text, **material)

    def judged(self, case: Case) -> Judgment:
        """Judge a complete case with this evaluator's store and budget, and wait for the judgment."""
        with judging(), self._scope.applied():
            unfit = self._unfit(case)
            return self.jury.judge(case) if unfit is None else unfit

    async def ajudged(self, case: Case) -> Judgment:
        """Judge a complete case; see :meth:`judged`."""
        with judging(), self._scope.applied():
            unfit = self._unfit(case)
            return await self.jury.ajudge(case) if unfit is None else unfit

    @property
    def _compares(self) -> bool:
        """Whether the judge may compare two responses; if not, it judges the response alone."""
        return may_compare(self.jury)

    @property
    def _prefers(self) -> bool:
        """Whether every result says which of two responses is better, or should have done so."""
        return must_compare(self.jury)

    def _second(self, kwargs: dict[str, Any]) -> object:
        """Remove the second response of a runner from its arguments; return it if this evaluator compares two."""
        second = kwargs.pop("second_response", None)
        return second if self._compares else None

    def _unfit(self, case: Case) -> Judgment | None:
        """Return the judgment on a case that lacks an argument of this evaluator; None if it has all."""
        return None

    def _material(self, response: object, kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return the fields of a response other than its text; arguments of the caller take precedence."""
        given = {name: value for name, value in kwargs.items() if value is not None}
        images = () if {"attachments", "images"} & given.keys() else images_of(response, evidence=self.evidence)
        if "contexts" in given:
            images = tuple(image for image in images if image.role != "context")
        return {
            "contexts": contexts_of(response, evidence_tools=self.evidence),
            "trajectory": steps_of(response),
            **({"attachments": images} if images else {}),
            **_guard_outcome(response),
            **given,
        }

    def _get_prompts(self) -> PromptDictType:
        return dict(prompts_of(self.jury))

    def _update_prompts(self, prompts_dict: Mapping[str, TemplateLike]) -> None:
        self.jury = with_prompts(self.jury, prompts_dict)

    def __deepcopy__(self, memo: object) -> Self:
        """Return a copy with the same judge, store and budget, which cannot be copied themselves."""
        return copy.copy(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.jury.name or type(self.jury).__name__!r})"


def ready_judge(jury: JudgeLike) -> Judge:
    """Return a judge, or a function as one.

    Raises:
        ConfigurationError: the argument is neither.
    """
    if isinstance(jury, BaseLLM):
        raise ConfigurationError(
            f"JuryEvaluator wraps a judge: a Critic, an Ensemble, a function of a case; not {type(jury).__name__}. "
            "For an LLM take JuryFaithfulnessEvaluator(llm=...) or another ready one."
        )
    return judge_of(jury)


def _pause(kwargs: dict[str, Any]) -> float:
    """Return the seconds to wait first, an argument of all LlamaIndex evaluators against rate limits."""
    seconds = kwargs.pop("sleep_time_in_seconds", 0)
    return seconds if isinstance(seconds, int | float) and seconds > 0 else 0


def _case(
    query: object, answer: object, other: object, contexts: object, kwargs: Mapping[str, Any], *, only_compared: bool
) -> Case:
    """Return the case of an item. Runners pass every keyword to every evaluator, so none is refused.

    With a second response, the two are the candidates. They are nothing else if they are ``only_compared``; otherwise
    the response is also the answer, which parts of the jury may judge by itself.
    """
    row: dict[str, Any] = {}
    details: dict[str, JsonValue] = {}
    given = {name: value for name, value in kwargs.items() if value is not None}
    images = (
        *node_images(asked_with(query), "question"),
        *node_images(contexts if isinstance(contexts, Sequence) and not isinstance(contexts, str) else ()),
        *images_at(given.pop("image_paths", None), given.pop("image_urls", None)),
    )
    fields = {name: field for field, name in columns_of(given, FIELD_NAMES).of.items()}
    as_they_are = (*PARTS, *(pair_in(given) or ()))
    for name, value in given.items():
        if name in as_they_are or _fits(fields.get(name, ""), value):
            row[name] = _value(fields.get(name, ""), value)
        else:
            details[name] = _kept(value)
    parts = {"question": query, "answer": answer, "second_response": other, "contexts": contexts}
    refuse_misspelt(details, {*given, *fields.values(), *(name for name, part in parts.items() if part is not None)})
    if query is not None:
        row["question"] = query.query_str if isinstance(query, QueryBundle) else _plain(query)
    if other is not None and answer is not None:
        row["candidates"] = (answer, other)
    if answer is not None and not (only_compared and "candidates" in row):
        row["answer"] = answer
    if contexts is not None:
        row["contexts"] = _contexts(contexts)
    case = Case.from_row({**row, "metadata": {**row.get("metadata", {}), **details}})
    return case.model_copy(update={"attachments": (*case.attachments, *images)}) if images else case


def _guard_outcome(response: object) -> dict[str, Any]:
    """Return the outcome of the guard that an answer came through, as an entry of the case's metadata.

    A chat engine that passes on the answer of a guarded engine has it among its sources.
    """
    sources = [output for output, _ in tool_outputs(response) if passed_on(response, output)]
    outcomes = map(outcome_of, (response, *(output.raw_output for output in sources)))
    return next(({"guard": outcome} for outcome in outcomes if outcome is not None), {})


def _fits(field: str, value: object) -> bool:
    """Whether a keyword is a field of the case, according to its name and its type."""
    return bool(field) and isinstance(value, _TYPES.get(field, object))


def _value(field: str, value: object) -> object:
    if field in ("question", "answer", "reference"):
        return _plain(value)
    return _contexts(value) if field == "contexts" else value


def _plain(value: object) -> object:
    """Return the text of a LlamaIndex answer; values that a row may hold are returned as they are."""
    return value if isinstance(value, Mapping | list) else text_of(value)


async def _aplain(value: object) -> object:
    return value if isinstance(value, Mapping | list) else await atext_of(value)


def _contexts(given: object) -> tuple[str, ...]:
    """Return contexts as texts; nodes with the text that the generator saw."""
    if given is None:
        return ()
    if isinstance(given, str | Mapping):
        return texts_of(given)
    if not isinstance(given, Sequence | set | frozenset):
        raise ConfigurationError(f"contexts are a list of texts, not {type(given).__name__}")
    if all(isinstance(item, str) for item in given):
        return tuple(given)
    texts: list[str] = []
    for item in given:
        if isinstance(item, str | Mapping) or is_missing(item) or is_list_of_texts(item):
            texts += texts_of(item if isinstance(item, Mapping) else [item])
            continue
        if not isinstance(item, BaseNode | NodeWithScore) and not node_images((item,)):
            raise ConfigurationError(f"contexts are texts or nodes; one is {type(item).__name__}")
        texts += node_texts((item,))
    return tuple(texts)


def _echoed(case: Case, contexts: object) -> list[str] | None:
    return list(case.contexts) or (None if contexts is None else [])


def _kept(value: object) -> JsonValue:
    try:
        return freeze(value)
    except ConfigurationError:  # a value that contains itself, or is nested too deeply
        return shown(value)


_TYPES: Mapping[str, type | UnionType] = {
    "messages": list | tuple,
    "trajectory": list | tuple,
    "workspace": str | Path,
    "generator": str,
    "metadata": Mapping,
}
