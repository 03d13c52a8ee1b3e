"""Any judge as a metric of LlamaIndex's ``RetrieverEvaluator``."""

from __future__ import annotations

from math import nan
from typing import Any, Final

from llama_index.core.evaluation.retrieval.metrics_base import BaseRetrievalMetric, RetrievalMetricResult
from pydantic import PrivateAttr

from jury_adapters.core.arguments import explains_wrong_calls
from jury_adapters.core.budget import Budget
from jury_adapters.core.cache import StoreLike
from jury_adapters.core.case import Case
from jury_adapters.core.context import judging
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.judge import Judge
from jury_adapters.core.judge_like import JudgeLike, judge_of
from jury_adapters.core.scope import Scope
from jury_adapters.core.unmet_fields import unmet_fields
from jury_adapters.critic.arguments import checked_name

_NOT_OF_RETRIEVALS: Final = ("answer", "reference", "candidates", "trajectory", "messages")


class JuryRetrievalMetric(BaseRetrievalMetric):
    """Metric of a ``RetrieverEvaluator`` that asks a judge about what the retriever returned.

    The judge sees a case with the query as the question, the retrieved texts as contexts, and the retrieved and
    expected ids and texts in its metadata, where :class:`jury_adapters.checks.RetrievalMeasure` looks for them.

    The score of the result is the score of the judgment, or 1 and 0 for PASS and FAIL without a score. Without an
    opinion it is NaN, so that a mean does not count a retrieval without a judgment as bad. The metadata of
    the result has the status, the reasoning and the cost.

    Args:
        judge: the judge, such as ``Critic(model, "context_relevance")``, ``EachPassage(...)`` or
            ``RetrievalMeasure("recall", k=5)``.
        name: the name of the metric in results; by default the judge's name. A lambda has none.
        store: a :class:`jury_adapters.Store`, or the path of one, that keeps the judgments.
        budget: a :class:`jury_adapters.Budget` for everything that this metric judges.

    Raises:
        ConfigurationError: an argument is invalid, neither the judge nor the metric has a name, or every judge in a
            jury needs a field that a retrieval does not have, such as an answer: every score would be NaN.

    >>> from jury_adapters.checks import RetrievalMeasure
    >>> metric = JuryRetrievalMetric(RetrievalMeasure("recall"))
    >>> metric.compute("When?", expected_ids=["a", "b"], retrieved_ids=["a"]).score
    0.5
    """

    _judge: Judge = PrivateAttr()
    _name: str = PrivateAttr()
    _scope: Scope = PrivateAttr()

    @explains_wrong_calls(
        "JuryRetrievalMetric(judge, name='passages')",
        order="the judge comes first, the rest by name",
        needs="a judge is missing",
    )
    def __init__(
        self, judge: JudgeLike, *, name: str = "", store: StoreLike | None = None, budget: Budget | None = None
    ) -> None:
        super().__init__()
        self._judge = judge_of(judge)
        if missing := unmet_fields(self._judge, _NOT_OF_RETRIEVALS):
            raise ConfigurationError(
                f"the judge needs {', '.join(missing)}, which a retrieval does not have, so it judges none. "
                'Critic(model, "context_relevance") judges what was retrieved'
            )
        self._name = checked_name(name) or self._judge.name
        if not self._name.strip():  # metrics without a name would replace each other in the results
            raise ConfigurationError("the metric needs a name, since its judge has none: give name='...'")
        self._scope = Scope.of(self._judge, store, budget)

    @property
    def metric_name(self) -> str:  # type: ignore[override]  # LlamaIndex has one name per class; here it is per judge
        """The name of the metric in the results of a ``RetrieverEvaluator``."""
        return self._name

    def compute(
        self,
        query: str | None = None,
        expected_ids: list[str] | None = None,
        retrieved_ids: list[str] | None = None,
        expected_texts: list[str] | None = None,
        retrieved_texts: list[str] | None = None,
        **kwargs: Any,
    ) -> RetrievalMetricResult:
        """Judge one retrieval and return its score; see the class. Further arguments are ignored, as in LlamaIndex."""
        known = {"relevant_ids": expected_ids, "retrieved_ids": retrieved_ids, "relevant_contexts": expected_texts}
        case = Case(
            question=query or "",
            contexts=tuple(retrieved_texts or ()),
            metadata={name: list(values) for name, values in known.items() if values is not None},
        )
        with judging(), self._scope.applied():
            judgment = self._judge.judge(case)
        score = judgment.numeric_score
        return RetrievalMetricResult(
            score=nan if score is None else score,
            metadata={
                "status": None if judgment.status is None else judgment.status.value,
                "reasoning": judgment.error or judgment.reasoning,
                "cost_usd": judgment.usage.cost_usd,
            },
        )
