"""JuryStringEvaluator, a jury as an evaluator of ``langchain_classic.evaluation``, which takes a second to import."""

from typing import Any

from langchain_classic.evaluation.schema import StringEvaluator

from jury_adapters.core import loop
from jury_adapters.core.asking import Asking
from jury_adapters.core.budget import Budget
from jury_adapters.core.judge import JudgeLike
from jury_adapters.core.store import Store
from jury_adapters.langchain.evaluator import facts_of, value_of
from jury_adapters.langchain.runnable import asked_apart


class JuryStringEvaluator(StringEvaluator):
    """Jury as a ``StringEvaluator``: ``evaluate_strings(prediction=, input=, reference=)``, and ``contexts=``.

    The result has ``score`` (0..1, None without a decision), ``value`` (``pass``, ``fail``, ``abstain``, ``error`` or
    a neutral label) and ``reasoning``. It never raises for a row.

    Args:
        jury: the jury, or a function of a case.
        name: the evaluation name; by default that of the jury, or ``jury``.
        store: where judgments are kept.
        budget: the limit on spending.

    >>> JuryStringEvaluator(lambda case: case.answer == "4").evaluate_strings(prediction="4")["value"]
    'pass'
    """

    def __init__(
        self, jury: JudgeLike, *, name: str = "", store: Store | None = None, budget: Budget | None = None
    ) -> None:
        self.asking = Asking(jury, store=store, budget=budget)
        self._name = name or self.asking.judge.name or "jury"

    @property
    def evaluation_name(self) -> str:
        """The feedback key."""
        return self._name

    def _check_evaluation_args(self, reference: str | None = None, input_: str | None = None) -> None:
        """Take what is given: a jury reads every field of a case, and abstains where it needs another."""

    def _evaluate_strings(self, *, prediction: Any, reference: Any = None, input: Any = None, **further: Any) -> Any:  # noqa: A002
        return loop.run(self._aevaluate_strings(prediction=prediction, reference=reference, input=input, **further))

    async def _aevaluate_strings(
        self,
        *,
        prediction: Any,
        reference: Any = None,
        input: Any = None,  # noqa: A002
        **further: Any,
    ) -> Any:
        contexts = further.get("contexts", further.get("context"))
        fields = {"question": input, "answer": prediction, "reference": reference, "contexts": contexts}
        judgment = (await asked_apart(self.asking, fields)).judgment
        facts = facts_of(judgment)
        return {"score": facts["score"], "value": value_of(judgment), "reasoning": facts["comment"]}
