"""Judging of the rows of an evaluation loop: reading a row, and judging it without a trace or an exception."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from langsmith import tracing_context
from langsmith.utils import tracing_is_enabled

from jury_adapters.core.budget import Budget
from jury_adapters.core.cache import StoreLike
from jury_adapters.core.case import Case
from jury_adapters.core.context import changed_context, judging
from jury_adapters.core.field_names import columns_of
from jury_adapters.core.input_output import present
from jury_adapters.core.judge import Judge
from jury_adapters.core.judge_like import JudgeLike, judge_of
from jury_adapters.core.judgment import Judgment, Status, evolve
from jury_adapters.core.loose_values import field_of, texts_of
from jury_adapters.core.return_values import run_failed, run_paused
from jury_adapters.core.scope import Scope
from jury_adapters.langchain.answer_guess import unread_answer
from jury_adapters.langchain.case_reader import CaseReader
from jury_adapters.langchain.returned_answers import note_on_last_calls


class RowJudge:
    """Judge of rows, each with the inputs, outputs and reference outputs of a run. Never raises for a row.

    Args:
        judge: a jury, another judge, or a function of a case.
        reader: the reader of the cases.
        trace: whether LangSmith traces the requests to the judge's LangChain models.
        store: where judgments are kept.
        budget: the budget for judging all rows.

    Raises:
        ConfigurationError: the judge, the store or the budget is invalid.
    """

    __slots__ = ("_quiet", "judge", "reader")

    def __init__(
        self,
        judge: JudgeLike,
        reader: CaseReader,
        *,
        trace: bool = False,
        store: StoreLike | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.judge = judge_of(judge)
        self.reader = reader
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
        """Return the judgment on one row.

        Args:
            inputs: the inputs of the run.
            outputs: its outputs.
            reference_outputs: the expected outputs.
            error: the error of a run that failed; the judgment is then FAIL, and no judge is asked.
            further: the other arguments from the loop; ``context`` and similar are the contexts, the rest is metadata.
        """
        case = self._case(inputs, outputs, reference_outputs, error, further)
        return case if isinstance(case, Judgment) else self._noted(case, outputs, self._quiet.judged(self.judge, case))

    async def ajudged(
        self,
        inputs: object,
        outputs: object,
        reference_outputs: object = None,
        *,
        error: str | None = None,
        further: Mapping[str, object] | None = None,
    ) -> Judgment:
        """Return the judgment on one row; see :meth:`judged`."""
        case = self._case(inputs, outputs, reference_outputs, error, further)
        if isinstance(case, Judgment):
            return case
        return self._noted(case, outputs, await self._quiet.ajudged(self.judge, case))

    def _noted(self, case: Case, outputs: object, judgment: Judgment) -> Judgment:
        """Return the judgment; without an opinion, or on FAIL without an answer, it says what the row lacked."""
        notes = ["" if judgment.status is Status.PASS else note_on_last_calls(case)]
        if judgment.status in (Status.ABSTAIN, Status.ERROR):
            notes += [
                "" if case.contexts else self.reader.evidence.unmatched(case.trajectory),
                "" if self.reader.is_mapped or case.answer is not None or case.candidates else unread_answer(outputs),
            ]
        said = "; ".join(text for text in (judgment.reasoning, *notes) if text)
        return evolve(judgment, reasoning=said) if any(notes) else judgment

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
        if self.reader.reads_answers and isinstance(outputs, Mapping) and outputs.get(_INTERRUPT):
            return run_paused(self.judge)
        try:
            if not further:
                return self.reader.case(inputs, outputs, reference)
            given = present(further)
            name = columns_of(given, ("contexts",)).of.get("contexts")
            contexts = None if name is None else texts_of(given.pop(name))
            case = self.reader.case(inputs, outputs, reference, metadata=given)
            return case if contexts is None else case.model_copy(update={"contexts": contexts})
        except Exception as unreadable:  # a function of the application may raise anything
            return unreadable_row(self.judge, unreadable)


_INTERRUPT = "__interrupt__"
"""Key in the state of a graph that called ``interrupt()`` and waits."""


class RunParts(NamedTuple):
    """Parts of a LangSmith run and its example that make a row.

    Attributes:
        inputs: the inputs of the example; those of the run if there is no example, or one without inputs.
        outputs: the outputs of the run.
        reference_outputs: the outputs of the example.
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
        scope: the store and the budget.
        trace: whether LangSmith traces the requests to the judge's LangChain models.
    """

    scope: Scope
    trace: bool

    @classmethod
    def of(cls, judge: Judge, store: StoreLike | None, budget: Budget | None, *, trace: bool) -> QuietJudging:
        """Create the judging of one evaluator.

        Raises:
            ConfigurationError: the store or the budget is invalid, or the budget cannot be kept with this judge.
        """
        return cls(Scope.of(judge, store, budget), trace)

    def judged(self, judge: Judge, case: Case) -> Judgment:
        """Judge a case and wait for the judgment."""
        with quietly(self.trace), self.scope.applied():
            return judge.judge(case)

    async def ajudged(self, judge: Judge, case: Case) -> Judgment:
        """Judge a case; see :meth:`judged`."""
        with quietly(self.trace), self.scope.applied():
            return await judge.ajudge(case)


@contextmanager
def quietly(trace: bool) -> Iterator[None]:
    """Mark runs in the block as a judge's own work, and trace them only if ``trace`` is set.

    An experiment that uploads nothing still sends every LangChain run inside it to LangSmith, prompts included: its
    tracing is ``"local"``, which LangChain treats as enabled.
    """
    with judging():
        if trace:
            with changed_context(traced=True):
                yield
        elif not tracing_is_enabled():  # the usual case; this check takes a tenth of the time
            yield
        else:
            with tracing_context(enabled=False):
                yield


def unreadable_row(judge: Judge, error: Exception) -> Judgment:
    """Return ERROR, with the reason, for a row that cannot be converted to a case."""
    failure = judge.failure(error)
    return evolve(failure, critic=judge.name, reasoning=f"nothing of the row could be judged: {failure.error}")
