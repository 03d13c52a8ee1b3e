"""A jury in LangSmith's evaluation loops, with and without LangSmith's servers."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Self
from uuid import UUID

from langsmith import trace
from langsmith.evaluation import EvaluationResult, EvaluationResults, RunEvaluator

from jury_adapters.core.budget import Budget
from jury_adapters.core.cache import StoreLike
from jury_adapters.core.cascade import CascadedJury
from jury_adapters.core.evidence import EvidenceTools
from jury_adapters.core.field_map import FieldMapLike
from jury_adapters.core.judge import Judge
from jury_adapters.core.judge_like import JudgeLike
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.jury import Jury
from jury_adapters.core.stand_in import seated
from jury_adapters.core.verdict import Verdict
from jury_adapters.langchain.criteria import Criteria, InnerJurors
from jury_adapters.langchain.fields import Fields, Part
from jury_adapters.langchain.functions import key_of
from jury_adapters.langchain.results import comment_of, metadata_of, score_of, value_of
from jury_adapters.langchain.rows import RowJudge, RunParts
from jury_adapters.langchain.summaries import Kept, SummaryFunction, agreement_summary, cost_summary, pass_rate_summary

if TYPE_CHECKING:
    from langsmith.schemas import Example, Run


class JuryRunEvaluator(RunEvaluator):
    """A jury as an evaluator of runs, for ``langsmith.evaluate``, ``aevaluate`` and ``Client.evaluate``.

    One row gives one result for the verdict, one for each criterion of a scorecard in the jury, named
    ``<key>.<criterion>``, and with ``per_juror`` one for each juror, named ``<key>.<juror>``. Scorecards inside a
    criterion and jurors of panels inside the jury are included. A name that is not unique is prefixed with the names
    around it (``<key>.<criterion> / <juror>``). Each result has:

    - ``score``: 0..1; None if the jury abstained or failed, or is FAIL only because jurors failed.
    - ``value``: ``pass``, ``fail``, ``abstain``, ``error``, or a label that is none of these.
    - ``comment``: the reasons, with those of each juror.
    - ``metadata``: the status, the need for review with its reasons, votes, agreement, tokens, and cost.
    - ``evaluator_info``: the metadata and the judges; this is what LangSmith's server receives.

    Every row has the results of the criteria: 0.0 for a run that failed, and no score if the criterion was not asked or
    the jury failed.

    A run that failed is FAIL, and no juror is asked. No row raises. The jurors of one row are asked concurrently, which
    LangSmith does not do for the evaluators of one row; ``max_concurrency=`` of ``evaluate`` applies to rows.

    Args:
        jury: a jury, another judge, or a function of a case.
        inputs: where the question is, if its shape is not recognized; see :class:`Fields`.
        outputs: where the answer is.
        reference_outputs: where the reference is.
        field_map: as in :meth:`jury_adapters.Case.from_row`, instead of the three arguments above; see :class:`Fields`.
        key: the feedback key; by default the jury's name.
        per_juror: whether each juror that was asked gets a result of its own.
        evidence_tools: the tools whose outputs are contexts: names, or a predicate of a step; by default all but those
            known to repeat what the model wrote. See :class:`jury_adapters.core.evidence.Evidence`.
        trace: whether LangSmith traces the requests to the jury's LangChain models, as children of one run per row.
        store: a :class:`jury_adapters.Store`, or the path of one: judgments are kept in it, and those that it holds
            are served without a call.
        budget: a :class:`jury_adapters.Budget` for everything that this evaluator judges; a juror whose call does not
            fit abstains with ``budget_exhausted``.

    Raises:
        ConfigurationError: ``jury`` is not a judge, a path cannot be read, ``evidence_tools`` is neither names nor a
            predicate, the store or the budget is invalid, or a budget in dollars meets a juror whose price is unknown.

    >>> evaluator = JuryRunEvaluator(jury)  # doctest: +SKIP
    >>> offline_client().evaluate(target, data=examples(rows), evaluators=[evaluator],
    ...                           summary_evaluators=evaluator.summaries(), upload_results=False)  # doctest: +SKIP
    """

    def __init__(
        self,
        jury: JudgeLike,
        *,
        inputs: Part | None = None,
        outputs: Part | None = None,
        reference_outputs: Part | None = None,
        field_map: FieldMapLike | None = None,
        key: str | None = None,
        per_juror: bool = False,
        evidence_tools: EvidenceTools = None,
        trace: bool = False,
        store: StoreLike | None = None,
        budget: Budget | None = None,
    ) -> None:
        fields = Fields(
            inputs=inputs, outputs=outputs, reference_outputs=reference_outputs, field_map=field_map,
            evidence_tools=evidence_tools,
        )  # fmt: skip
        self._rows = RowJudge(jury, fields, trace=trace, store=store, budget=budget)
        self.jury = self._rows.judge
        self.key = key_of(self.jury, key)
        self.per_juror = per_juror
        self._criteria = Criteria(self.jury)
        own = (*_juror_names(self.jury), *self._criteria.names)
        self._inner = InnerJurors(self.jury, own) if per_juror else None
        self.trace = trace
        self.kept = Kept()

    @property
    def feedback_keys(self) -> list[str]:
        """Keys of all results: of the verdict, of every juror that may be asked, and of every criterion."""
        inner = () if self._inner is None else self._inner.names
        own = _juror_names(self.jury) if self.per_juror else ()
        names = dict.fromkeys([*own, *self._criteria.names, *inner])
        return [self.key, *(f"{self.key}.{name}" for name in names)]

    def summaries(self) -> list[SummaryFunction]:
        """Return the summaries of this evaluator's rows for ``summary_evaluators=``: agreement, pass rate and cost."""
        return [agreement_summary(self), pass_rate_summary(self), cost_summary(self)]

    def evaluate_run(
        self, run: Run, example: Example | None = None, evaluator_run_id: UUID | None = None
    ) -> EvaluationResult | EvaluationResults:
        """Judge one run without ever raising."""
        *parts, error = RunParts.of(run, example)
        if not self.trace:
            return self._results(run, self._rows.judged(*parts, error=error), None)
        with trace(self.key, inputs={"run_id": str(run.id)}, run_id=evaluator_run_id) as traced:
            judgment = self._rows.judged(*parts, error=error)
            traced.end(outputs={"score": score_of(judgment), "value": value_of(judgment)})
        return self._results(run, judgment, traced.id)

    async def aevaluate_run(
        self, run: Run, example: Example | None = None, evaluator_run_id: UUID | None = None
    ) -> EvaluationResult | EvaluationResults:
        """Judge one run; see :meth:`evaluate_run`."""
        *parts, error = RunParts.of(run, example)
        if not self.trace:
            return self._results(run, await self._rows.ajudged(*parts, error=error), None)
        async with trace(self.key, inputs={"run_id": str(run.id)}, run_id=evaluator_run_id) as traced:
            judgment = await self._rows.ajudged(*parts, error=error)
            traced.end(outputs={"score": score_of(judgment), "value": value_of(judgment)})
        return self._results(run, judgment, traced.id)

    def __deepcopy__(self, memo: object) -> Self:
        """Return a copy with the same judge, store and budget, which cannot be copied themselves."""
        copied = copy.copy(self)
        copied.kept = copy.copy(self.kept)
        return copied

    def _results(self, run: Run, judgment: Judgment, source: UUID | None) -> EvaluationResult | EvaluationResults:
        self.kept.keep(run.id, judgment)
        info: dict[str, object] = {"judge": self.jury.name or type(self.jury).__name__}
        if isinstance(judgment, Verdict):
            info |= {"voting": judgment.voting, "jurors": [juror.critic for juror in judgment.judgments]}
        whole = _result(self.key, judgment, info, source)
        jurors = judgment.by_name if self.per_juror and isinstance(judgment, Verdict) else None
        inner = {} if self._inner is None else self._inner.results(judgment)
        parts = {**(jurors or {}), **self._criteria.results(judgment), **inner}
        if jurors is None and not parts:
            return whole
        each = [
            _result(f"{self.key}.{name}", part, {"judge": name, "model": part.model}, source)
            for name, part in parts.items()
        ]
        return {"results": [whole, *each]}


def _result(key: str, judgment: Judgment, judges: dict[str, object], source: UUID | None) -> EvaluationResult:
    known = metadata_of(judgment)
    return EvaluationResult(
        key=key,
        score=score_of(judgment),
        value=value_of(judgment),
        comment=comment_of(judgment) or None,
        metadata=known,
        evaluator_info={**known, **judges},  # this field is uploaded; the metadata stay in the process
        source_run_id=source,
    )


def _juror_names(judge: Judge) -> tuple[str, ...]:
    judge = seated(judge)
    if not isinstance(judge, Jury):
        return ()
    if not isinstance(judge, CascadedJury):
        return judge.names
    tiers: Sequence[tuple[str, ...]] = [_juror_names(tier) or (tier.name,) for tier in judge.members]
    return tuple(dict.fromkeys(name for names in tiers for name in names))
