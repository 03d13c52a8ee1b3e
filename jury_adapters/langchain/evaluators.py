"""A jury as an evaluator: in LangSmith's evaluation loops, with and without its servers, and in direct calls."""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self
from uuid import UUID

from langsmith import trace
from langsmith.evaluation import EvaluationResult, EvaluationResults, RunEvaluator

from jury_adapters.core.arguments import check_texts, explains_wrong_calls
from jury_adapters.core.budget import Budget
from jury_adapters.core.cache import StoreLike
from jury_adapters.core.cascade import CascadedJury
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.evidence import EvidenceTools
from jury_adapters.core.fallbacks import without_fallbacks
from jury_adapters.core.field_map import FieldMapLike
from jury_adapters.core.judge import Judge
from jury_adapters.core.judge_like import JudgeLike
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.jury import Jury
from jury_adapters.core.opinions import asked_jurors
from jury_adapters.core.verdict import Verdict
from jury_adapters.core.verdict_facts import case_score
from jury_adapters.judges.turns import EachTurn
from jury_adapters.langchain.answer_guess import AnswerGuess
from jury_adapters.langchain.case_reader import CaseReader
from jury_adapters.langchain.criteria import Criteria, InnerJurors
from jury_adapters.langchain.evaluation_result import JuryEvaluationResult
from jury_adapters.langchain.evaluator_calls import EvaluatorResult, key_of, parts_of_call, result_of
from jury_adapters.langchain.results import comment_of, metadata_of, value_of
from jury_adapters.langchain.rows import RowJudge, RunParts
from jury_adapters.langchain.shared_keys import note_key, warn_of_shared_key
from jury_adapters.langchain.summaries import Kept

if TYPE_CHECKING:
    from langsmith.schemas import Example, Run


class JuryEvaluator(RunEvaluator):
    """A jury as an evaluator: of runs in LangSmith's loops, and of rows in direct calls, as openevals makes them.

    Give it to ``evaluate``, ``aevaluate`` or ``Client.evaluate``. Or call it with ``inputs=``, ``outputs=`` and
    ``reference_outputs=`` of any shape, in asynchronous code with ``await evaluator.acall(...)``. In a call, a further
    argument ``context=`` (or ``documents=`` and similar) gives the contexts, and all others go to the case's metadata,
    where a rubric's variables are looked up. An argument with another name for a missing part (``input=``, ``answer=``)
    is refused.

    One row gives one result for the verdict, one for each criterion of a scorecard in the jury, named
    ``<key>.<criterion>``, and with ``per_juror`` one for each juror, named ``<key>.<juror>``. Scorecards inside a
    criterion and jurors of panels inside the jury are included. A name that is not unique is prefixed with the names
    around it (``<key>.<criterion> / <juror>``). Each result has:

    - ``score``: 0..1; None if the jury abstained or failed, is FAIL only because jurors failed, or is a scorecard
      with an undecided criterion.
    - ``value``: ``pass``, ``fail``, ``abstain``, ``error``, or a label that is none of these; not in direct calls.
    - ``comment``: the reasons, with those of each juror.
    - ``metadata``: the status, the need for review with its reasons, votes, agreement, tokens, and cost.
    - ``evaluator_info``: the metadata and the judges, which LangSmith's server receives; not in direct calls.
    - ``verdict``: the whole judgment, which a report reads and no server receives; not in direct calls.

    Every row has the results of the criteria: 0.0 for a run that failed, and no score if the criterion was not asked or
    the jury failed.

    A run that failed is FAIL, and no juror is asked. No row raises. The jurors of one row are asked concurrently, which
    LangSmith does not do for the evaluators of one row; ``max_concurrency=`` of ``evaluate`` applies to rows.

    Args:
        jury: a jury, another judge, or a function of a case.
        key: the feedback key; by default the jury's name, or ``"jury"``. Give evaluators of one experiment keys of
            their own if their juries have no names.
        per_juror: whether each juror that was asked gets a result of its own, in every tier of a cascade.
        field_map: the fields of the case as paths from a row with ``inputs``, ``outputs`` and ``reference_outputs``,
            ``{"answer": "outputs.reply"}``, or a function from the row to the case; see
            :meth:`jury_adapters.Case.from_row`. Without it, the shapes are recognized.
        whole_thread: whether the steps of all turns are one trajectory, for judges of trajectories. Leave it out for
            other judges of conversations, such as :class:`EachTurn` and the rubric ``resolution``: the case then has
            the steps of the last turn, and the turns before it as messages.
        evidence_tools: the tools whose outputs are contexts: names, or a predicate of a step; by default all but those
            known to repeat what the model wrote. See :class:`jury_adapters.core.evidence.Evidence`.
        direct_tools: the names of the tools with ``return_direct=True``, whose result is the answer of a run that
            ended with it; see :func:`to_case`.
        trace: whether LangSmith traces the requests to the jury's LangChain models, as children of one run per row.
        store: a :class:`jury_adapters.Store`, or the path of one: judgments are kept in it, and those that it holds
            are served without a call.
        budget: a :class:`jury_adapters.Budget` for everything that this evaluator judges; a juror whose call does not
            fit abstains with ``budget_exhausted``.

    Raises:
        ConfigurationError: ``jury`` is not a judge, the key is not a text, the field map is invalid, ``whole_thread``
            is given for an :class:`EachTurn`, ``evidence_tools`` is neither names nor a predicate, ``direct_tools`` is
            not a list of names, the store or the budget is invalid, or a budget in dollars meets a juror whose price is
            unknown.

    >>> from jury_adapters.checks import Equals
    >>> evaluate = JuryEvaluator(Equals(), key="exact")
    >>> result = evaluate(inputs={"q": "2 + 2?"}, outputs={"a": "4"}, reference_outputs={"a": "4"})
    >>> result["key"], result["score"]
    ('exact', 1.0)
    >>> client.evaluate(target, data="questions", evaluators=[evaluate],
    ...                 summary_evaluators=[summary(evaluate)])  # doctest: +SKIP
    """

    @explains_wrong_calls(
        "JuryEvaluator(jury, key='faithful')",
        {"feedback_key": "key"},
        order="the jury comes first, the rest by name",
    )
    def __init__(
        self,
        jury: JudgeLike,
        *,
        key: str | None = None,
        per_juror: bool = False,
        field_map: FieldMapLike | None = None,
        whole_thread: bool = False,
        evidence_tools: EvidenceTools = None,
        direct_tools: Collection[str] = (),
        trace: bool = False,
        store: StoreLike | None = None,
        budget: Budget | None = None,
    ) -> None:
        reader = CaseReader(
            field_map, whole_thread=whole_thread, evidence_tools=evidence_tools, direct_tools=direct_tools
        )
        self._rows = RowJudge(jury, reader, trace=trace, store=store, budget=budget)
        self._guess = AnswerGuess(is_mapped=reader.is_mapped)
        self.jury = self._rows.judge
        if whole_thread:
            _refuse_turns(self.jury)
        check_texts(key=key)
        self.key = self.__name__ = key_of(self.jury, key)  # loops that take functions look for `__name__`
        self.per_juror = per_juror
        self._criteria = Criteria(self.jury)
        own = (*_juror_names(self.jury), *self._criteria.names)
        self._inner = InnerJurors(self.jury, own) if per_juror else None
        self.trace = trace
        self.kept = Kept()
        note_key(self)

    def __call__(
        self, *, inputs: Any = None, outputs: Any = None, reference_outputs: Any = None,
        run: Any = None, example: Any = None, **kwargs: Any,
    ) -> EvaluatorResult:  # fmt: skip
        """Judge one row, in the format of openevals; a run and its example fill the parts that are not given.

        Raises:
            ConfigurationError: a further argument was meant as a part that is missing.
        """
        *parts, error = self._parts_of_call(RunParts(inputs, outputs, reference_outputs), run, example, kwargs)
        judgment = self._rows.judged(*parts, error=error, further=kwargs)
        return result_of(self.key, judgment, self._inside(judgment))

    async def acall(
        self, *, inputs: Any = None, outputs: Any = None, reference_outputs: Any = None,
        run: Any = None, example: Any = None, **kwargs: Any,
    ) -> EvaluatorResult:  # fmt: skip
        """Judge one row; see :meth:`__call__`."""
        *parts, error = self._parts_of_call(RunParts(inputs, outputs, reference_outputs), run, example, kwargs)
        judgment = await self._rows.ajudged(*parts, error=error, further=kwargs)
        return result_of(self.key, judgment, self._inside(judgment))

    @property
    def feedback_keys(self) -> list[str]:
        """Keys of all results: of the verdict, of every juror that may be asked, and of every criterion."""
        inner = () if self._inner is None else self._inner.names
        own = _juror_names(self.jury) if self.per_juror else ()
        names = dict.fromkeys([*own, *self._criteria.names, *inner])
        return [self.key, *(f"{self.key}.{name}" for name in names)]

    def evaluate_run(
        self, run: Run, example: Example | None = None, evaluator_run_id: UUID | None = None
    ) -> EvaluationResult | EvaluationResults:
        """Judge one run without ever raising."""
        *parts, error = self._parts(RunParts.of(run, example))
        if not self.trace:
            return self._results(run, self._rows.judged(*parts, error=error), None)
        with trace(self.key, inputs={"run_id": str(run.id)}, run_id=evaluator_run_id) as traced:
            judgment = self._rows.judged(*parts, error=error)
            traced.end(outputs={"score": case_score(judgment), "value": value_of(judgment)})
        return self._results(run, judgment, traced.id)

    async def aevaluate_run(
        self, run: Run, example: Example | None = None, evaluator_run_id: UUID | None = None
    ) -> EvaluationResult | EvaluationResults:
        """Judge one run; see :meth:`evaluate_run`."""
        *parts, error = self._parts(RunParts.of(run, example))
        if not self.trace:
            return self._results(run, await self._rows.ajudged(*parts, error=error), None)
        async with trace(self.key, inputs={"run_id": str(run.id)}, run_id=evaluator_run_id) as traced:
            judgment = await self._rows.ajudged(*parts, error=error)
            traced.end(outputs={"score": case_score(judgment), "value": value_of(judgment)})
        return self._results(run, judgment, traced.id)

    def __deepcopy__(self, memo: object) -> Self:
        """Return a copy with the same judge, store and budget, which cannot be copied themselves."""
        copied = copy.copy(self)
        copied.kept = copy.copy(self.kept)
        return copied

    def _parts_of_call(self, given: RunParts, run: object, example: object, further: Mapping[str, object]) -> RunParts:
        return self._parts(parts_of_call(given, run, example, further))

    def _parts(self, parts: RunParts) -> RunParts:
        self._guess.tell(parts.inputs, parts.outputs, self.key)
        return parts

    def _inside(self, judgment: Judgment) -> dict[str, Judgment]:
        """Return the judgments of jurors and criteria that have results of their own."""
        jurors = asked_jurors(judgment) if self.per_juror else {}
        inner = {} if self._inner is None else self._inner.results(judgment)
        return {**jurors, **self._criteria.results(judgment), **inner}

    def _results(self, run: Run, judgment: Judgment, source: UUID | None) -> EvaluationResult | EvaluationResults:
        warn_of_shared_key(self, run.id)
        self.kept.keep(run.id, judgment)
        info: dict[str, object] = {"judge": self.jury.name or type(self.jury).__name__}
        if isinstance(judgment, Verdict):
            info |= {"voting": judgment.voting, "jurors": [juror.critic for juror in judgment.judgments]}
        whole = _result(self.key, judgment, info, source, is_part=False)
        parts = self._inside(judgment)
        if not parts and not (self.per_juror and isinstance(judgment, Verdict)):
            return whole
        each = [
            _result(f"{self.key}.{name}", part, {"judge": name, "model": part.model}, source, is_part=True)
            for name, part in parts.items()
        ]
        return {"results": [whole, *each]}


def _result(
    key: str, judgment: Judgment, judges: dict[str, object], source: UUID | None, *, is_part: bool
) -> EvaluationResult:
    known = metadata_of(judgment)
    result = JuryEvaluationResult(
        key=key,
        score=case_score(judgment),
        value=value_of(judgment),
        comment=comment_of(judgment) or None,
        metadata=known,
        evaluator_info={**known, **judges},  # this field is uploaded; the metadata stay in the process
        source_run_id=source,
    )
    return result.keep(judgment, is_part=is_part)


def _refuse_turns(judge: Judge) -> None:
    """Raise if a judge of turns is in a jury that gets all turns as one trajectory, which has one turn only."""
    if isinstance(judge, EachTurn):
        raise ConfigurationError(
            "whole_thread=True makes one trajectory of all turns, for judges of trajectories, so EachTurn would see one"
            " turn: leave out whole_thread, and EachTurn judges every turn; give judges of trajectories an evaluator of"
            " their own"
        )
    for member in judge.members:
        _refuse_turns(member)


def _juror_names(judge: Judge) -> tuple[str, ...]:
    judge = without_fallbacks(judge)
    if not isinstance(judge, Jury):
        return ()
    if not isinstance(judge, CascadedJury):
        return judge.names
    tiers: Sequence[tuple[str, ...]] = [_juror_names(tier) or (tier.name,) for tier in judge.members]
    return tuple(dict.fromkeys(name for names in tiers for name in names))
