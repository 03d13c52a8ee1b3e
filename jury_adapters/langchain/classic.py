"""Juries as evaluators of ``langchain_classic.evaluation``: for strings, pairs of strings, and trajectories.

This module needs ``langchain-classic``, which takes a second to import; no other module here loads it.
"""

# ruff: noqa: A002  LangChain calls the question `input`

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self, TypeAlias

from jury_adapters.core.arguments import check_texts, explains_wrong_calls
from jury_adapters.core.budget import Budget
from jury_adapters.core.cache import StoreLike
from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.field_names import columns_of
from jury_adapters.core.input_output import present
from jury_adapters.core.installation import needs_extra
from jury_adapters.core.judge import Judge
from jury_adapters.core.judge_like import JudgeLike, judge_of
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.jury import Jury
from jury_adapters.core.loose_values import steps_of, text_of, texts_of
from jury_adapters.core.verdict_facts import case_score
from jury_adapters.critic.asking import AskingJudge
from jury_adapters.critic.pairwise import in_both_orders
from jury_adapters.langchain.evaluator_calls import key_of
from jury_adapters.langchain.results import comment_of, metadata_of, value_of
from jury_adapters.langchain.rows import QuietJudging, unreadable_row

try:
    from langchain_classic.evaluation.schema import AgentTrajectoryEvaluator, PairwiseStringEvaluator, StringEvaluator
    from langchain_core.agents import AgentAction
except ImportError as missing:
    raise ConfigurationError(
        needs_extra("jury_adapters.langchain.classic", "langchain_classic", "classic")
    ) from missing

_Given: TypeAlias = Callable[[], Case]  # builds the case; an exception becomes an ERROR judgment


class _JuryEvaluator:
    """Base of the three evaluators: the jury, its name, and the fields that it requires.

    Args:
        jury: a jury, another judge, or a function of a case.
        name: ``evaluation_name``, which becomes the feedback key; by default the jury's name.
        requires_input: whether a call without ``input`` is refused; by default, whether a critic of the jury needs the
            question.
        requires_reference: the same for ``reference``.
        trace: whether LangSmith traces the requests to the jury's LangChain models.
        store: a :class:`jury_adapters.Store`, or the path of one: judgments are kept in it, and those that it holds
            are served without a call.
        budget: a :class:`jury_adapters.Budget` for everything that this evaluator judges; a juror whose call does not
            fit abstains with ``budget_exhausted``.

    Raises:
        ConfigurationError: ``jury`` is not a judge, the name is not a text, the store or the budget is invalid, or a
            budget in dollars meets a juror whose price is unknown.
    """

    @explains_wrong_calls(
        "JuryStringEvaluator(jury, name='faithful')",
        order="the jury comes first, the rest by name",
        needs="a jury is missing",
    )
    def __init__(
        self,
        jury: JudgeLike,
        *,
        name: str | None = None,
        requires_input: bool | None = None,
        requires_reference: bool | None = None,
        trace: bool = False,
        store: StoreLike | None = None,
        budget: Budget | None = None,
    ) -> None:
        check_texts(name=name)
        judge = judge_of(jury)
        self.jury = self._prepared(judge)
        self._name = key_of(judge, name)
        needs = _needs(judge)
        self._requires_input = "question" in needs if requires_input is None else requires_input
        self._requires_reference = "reference" in needs if requires_reference is None else requires_reference
        self._quiet = QuietJudging.of(self.jury, store, budget, trace=trace)

    @property
    def evaluation_name(self) -> str:
        return self._name

    @property
    def requires_input(self) -> bool:
        return self._requires_input

    @property
    def requires_reference(self) -> bool:
        return self._requires_reference

    # A field that is not required is still used: a jury reads every field of the case, so there is no warning.
    def _check_evaluation_args(self, reference: str | None = None, input_: str | None = None) -> None:
        for name, given, required in (
            ("input", input_, self._requires_input),
            ("reference", reference, self._requires_reference),
        ):
            if required and given is None:
                raise ValueError(f"{self._name}: this jury needs {name}=; it was not given")

    def __deepcopy__(self, memo: object) -> Self:
        """Return a copy with the same judge, store and budget, which cannot be copied themselves."""
        return copy.copy(self)

    def _prepared(self, jury: Judge) -> Judge:
        return jury

    def _judged(self, make: _Given) -> Judgment:
        case = self._case(make)
        return case if isinstance(case, Judgment) else self._quiet.judged(self.jury, case)

    async def _ajudged(self, make: _Given) -> Judgment:
        case = self._case(make)
        return case if isinstance(case, Judgment) else await self._quiet.ajudged(self.jury, case)

    def _case(self, make: _Given) -> Case | Judgment:
        try:
            return make()
        except Exception as unreadable:
            return unreadable_row(self.jury, unreadable)


class JuryStringEvaluator(_JuryEvaluator, StringEvaluator):
    """A jury as a LangChain ``StringEvaluator``: from prediction, input and reference to score, value and reasoning.

    A call may also pass ``contexts=`` (or ``context=``, ``documents=``), as texts or documents.

    >>> evaluator = JuryStringEvaluator(jury)  # doctest: +SKIP
    >>> evaluator.evaluate_strings(prediction="4", input="2 + 2?")["value"]  # doctest: +SKIP
    'pass'
    """

    def _evaluate_strings(
        self,
        *,
        prediction: Any,
        reference: Any = None,
        input: Any = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        return _result(self._judged(_fields(kwargs, answer=prediction, reference=reference, question=input)))

    async def _aevaluate_strings(
        self,
        *,
        prediction: Any,
        reference: Any = None,
        input: Any = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        return _result(await self._ajudged(_fields(kwargs, answer=prediction, reference=reference, question=input)))


class JuryPairwiseStringEvaluator(_JuryEvaluator, PairwiseStringEvaluator):
    """A jury as a LangChain ``PairwiseStringEvaluator``, asked in both orders.

    ``value`` is ``A``, ``B`` or None for a tie; ``score`` is 1.0 if the first is better, 0.0 if the second is, 0.5
    for a tie. If the judge abstains or fails, ``score`` is None and ``value`` says so.

    >>> evaluator = JuryPairwiseStringEvaluator(llm.pairwise("openai:gpt-4o-mini"))  # doctest: +SKIP
    >>> evaluator.evaluate_string_pairs(prediction="4", prediction_b="5", input="2 + 2?")["value"]  # doctest: +SKIP
    'A'
    """

    def _evaluate_string_pairs(
        self, *, prediction: str, prediction_b: str, reference: str | None = None,
        input: str | None = None, **kwargs: Any,
    ) -> dict[str, Any]:  # fmt: skip
        return _preference(self._judged(_pair(kwargs, prediction, prediction_b, reference, input)))

    async def _aevaluate_string_pairs(
        self, *, prediction: str, prediction_b: str, reference: str | None = None,
        input: str | None = None, **kwargs: Any,
    ) -> dict[str, Any]:  # fmt: skip
        return _preference(await self._ajudged(_pair(kwargs, prediction, prediction_b, reference, input)))

    def _prepared(self, jury: Judge) -> Judge:
        return in_both_orders(jury)


class JuryTrajectoryEvaluator(_JuryEvaluator, AgentTrajectoryEvaluator):
    """A jury as a LangChain ``AgentTrajectoryEvaluator``: judges the steps of an agent and their result.

    ``agent_trajectory`` is a list of pairs of an ``AgentAction`` and its observation; messages are accepted too.
    """

    def __init__(self, jury: JudgeLike, *, requires_input: bool | None = True, **options: Any) -> None:
        super().__init__(jury, requires_input=requires_input, **options)

    def _evaluate_agent_trajectory(
        self, *, prediction: str, agent_trajectory: Sequence[tuple[AgentAction, str]],
        input: str, reference: str | None = None, **kwargs: Any,
    ) -> dict[str, Any]:  # fmt: skip
        return _result(self._judged(_agent(kwargs, prediction, agent_trajectory, input, reference)))

    async def _aevaluate_agent_trajectory(
        self, *, prediction: str, agent_trajectory: Sequence[tuple[AgentAction, str]],
        input: str, reference: str | None = None, **kwargs: Any,
    ) -> dict[str, Any]:  # fmt: skip
        return _result(await self._ajudged(_agent(kwargs, prediction, agent_trajectory, input, reference)))


def _fields(kwargs: Mapping[str, Any], *, answer: Any, reference: Any, question: Any) -> _Given:
    def case() -> Case:
        return Case(
            question=text_of(question, asked=True),
            answer=text_of(answer),
            reference=text_of(reference),
            contexts=_contexts(kwargs),
        )

    return case


def _pair(kwargs: Mapping[str, Any], first: Any, second: Any, reference: Any, question: Any) -> _Given:
    def case() -> Case:
        return Case(
            question=text_of(question, asked=True),
            candidates=(text_of(first), text_of(second)),
            reference=text_of(reference),
            contexts=_contexts(kwargs),
        )

    return case


def _agent(kwargs: Mapping[str, Any], answer: Any, steps: Any, question: Any, reference: Any) -> _Given:
    known = _fields(kwargs, answer=answer, reference=reference, question=question)
    return lambda: known().model_copy(update={"trajectory": steps_of(steps)})


def _contexts(kwargs: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the contexts in the arguments; callbacks, tags and metadata are ignored."""
    name = columns_of(present(kwargs), ("contexts",)).of.get("contexts")
    return () if name is None else texts_of(kwargs[name])


def _result(judgment: Judgment) -> dict[str, Any]:
    return {
        "score": case_score(judgment),
        "value": value_of(judgment),
        "reasoning": comment_of(judgment),
        "metadata": metadata_of(judgment),
    }


def _preference(judgment: Judgment) -> dict[str, Any]:
    result = _result(judgment)
    if judgment.status is None and judgment.label in _PREFERENCE:
        result["score"] = _PREFERENCE[judgment.label]
        result["value"] = None if judgment.label == "tie" else judgment.label
    return result


def _needs(judge: Judge) -> frozenset[str]:
    """Return the fields of a case that the judge requires: for a jury, those that any juror requires."""
    if isinstance(judge, AskingJudge):
        return frozenset(name for rubric in judge.rubrics for name in rubric.requires)
    each = [_needs(member) for member in judge.members]
    if isinstance(judge, Jury):
        return frozenset().union(*each)
    return frozenset.intersection(*each) if each else frozenset()  # a judge that chooses, such as CorrectnessByCase


_PREFERENCE = {"A": 1.0, "B": 0.0, "tie": 0.5}
