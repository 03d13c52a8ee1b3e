"""Rows of an evaluation loop, judged: read, judged without a trace, and never an exception."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from langsmith import tracing_context
from langsmith.utils import tracing_is_enabled

from jury_adapters.core.budget import Budget
from jury_adapters.core.case import Case
from jury_adapters.core.context import changed_context, judging
from jury_adapters.core.field_names import columns_of
from jury_adapters.core.given import JudgeLike, judge_of
from jury_adapters.core.input_output import present
from jury_adapters.core.journal import StoreLike
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import Judgment, evolve
from jury_adapters.core.loose_values import field_of, texts_of
from jury_adapters.core.outcomes import run_failed
from jury_adapters.core.scope import Scope
from jury_adapters.langchain.fields import Fields


class RowJudge:
    """Judges what a run took, gave and should have given. Never raises for a row.

    Args:
        judge: a jury, another judge, or a function of a case.
        fields: where the fields of a case are.
        trace: whether LangSmith traces what the judge's LangChain models are asked.
        store: where judgments are kept.
        budget: what judging all rows may take.

    Raises:
        ConfigurationError: the judge, the store or the budget is not one.
    """

    __slots__ = ("_quiet", "fields", "judge")

    def __init__(
        self,
        judge: JudgeLike,
        fields: Fields,
        *,
        trace: bool = False,
        store: StoreLike | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.judge = judge_of(judge)
        self.fields = fields
        self._quiet = QuietJudging.of(self.judge, store, budget, trace=trace)

    def judged(
        self,
        inputs: object,
        outputs: object,
        reference_outputs: object = None,
        *,
        error: str | None = None,
        further: Mapping[str, object] | None = None,
    ) -> Judgment:
        """The judgment on one row.

        Args:
            inputs: what the run took.
            outputs: what it gave.
            reference_outputs: what it should have given.
            error: what the run ended with when it failed; it is FAIL then, and no judge is asked.
            further: what else the loop handed over; ``context`` and its like are the contexts, the rest is metadata.
        """
        case = self._case(inputs, outputs, reference_outputs, error, further)
        return case if isinstance(case, Judgment) else self._quiet.judged(self.judge, case)

    async def ajudged(
        self,
        inputs: object,
        outputs: object,
        reference_outputs: object = None,
        *,
        error: str | None = None,
        further: Mapping[str, object] | None = None,
    ) -> Judgment:
        """:meth:`judged` for asynchronous code."""
        case = self._case(inputs, outputs, reference_outputs, error, further)
        return case if isinstance(case, Judgment) else await self._quiet.ajudged(self.judge, case)

    def _case(
        self,
        inputs: object,
        outputs: object,
        reference: object,
        error: str | None,
        further: Mapping[str, object] | None,
    ) -> Case | Judgment:
        if error is not None:
            return run_failed(self.judge, error)
        try:
            if not further:
                return self.fields.case(inputs, outputs, reference)
            given = present(further)
            name = columns_of(given, ("contexts",)).of.get("contexts")
            contexts = None if name is None else texts_of(given.pop(name))
            case = self.fields.case(inputs, outputs, reference, metadata=given)
            return case if contexts is None else case.model_copy(update={"contexts": contexts})
        except Exception as unreadable:  # a function of the user's may raise anything
            return unreadable_row(self.judge, unreadable)


class RunParts(NamedTuple):
    """Parts of a LangSmith run and its example that make a row.

    Attributes:
        inputs: of the example; of the run where there is no example, or one without inputs.
        outputs: of the run.
        reference_outputs: of the example.
        error: the error of a run that failed, or None.
    """

    inputs: object = None
    outputs: object = None
    reference_outputs: object = None
    error: str | None = None

    @classmethod
    def of(cls, run: object, example: object) -> RunParts:
        """Read a run and its example; either may be None."""
        error = field_of(run, "error")
        return cls(
            field_of(example, "inputs") or field_of(run, "inputs"),
            field_of(run, "outputs"),
            field_of(example, "outputs"),
            error if isinstance(error, str) and error else None,
        )


class QuietJudging(NamedTuple):
    """Judging for evaluation loops: marked as a judge's own work, untraced unless ``trace``, within a scope.

    Attributes:
        scope: store and budget.
        trace: whether LangSmith traces what the judge's LangChain models are asked.
    """

    scope: Scope
    trace: bool

    @classmethod
    def of(cls, judge: Judge, store: StoreLike | None, budget: Budget | None, *, trace: bool) -> QuietJudging:
        """Make the judging of one evaluator.

        Raises:
            ConfigurationError: the store or the budget is not one, or the budget cannot be kept with this judge.
        """
        return cls(Scope.of(judge, store, budget), trace)

    def judged(self, judge: Judge, case: Case) -> Judgment:
        """Judge a case and wait for the judgment."""
        with quietly(self.trace), self.scope.applied():
            return judge.judge(case)

    async def ajudged(self, judge: Judge, case: Case) -> Judgment:
        """:meth:`judged` for asynchronous code."""
        with quietly(self.trace), self.scope.applied():
            return await judge.ajudge(case)


@contextmanager
def quietly(trace: bool) -> Iterator[None]:
    """Inside, what runs is a judge's own work, and is traced only when asked for.

    An experiment that uploads nothing still sends every LangChain run inside it to LangSmith, prompts included: its
    tracing is ``"local"``, which LangChain takes for on.
    """
    with judging():
        if trace:
            with changed_context(traced=True):
                yield
        elif not tracing_is_enabled():  # the usual case, and asking takes a tenth of the time
            yield
        else:
            with tracing_context(enabled=False):
                yield


def unreadable_row(judge: Judge, error: Exception) -> Judgment:
    """A row that makes no case: ERROR, with what is wrong with it."""
    failure = judge.failure(error)
    return evolve(failure, critic=judge.name, reasoning=f"nothing of the row could be judged: {failure.error}")
