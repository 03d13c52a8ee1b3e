"""Rows of an evaluation loop, judged: read, judged without a trace, and never an exception."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from langsmith import tracing_context
from langsmith.utils import tracing_is_enabled

from jury_adapters.core.case import Case
from jury_adapters.core.given import JudgeLike, judge_of
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import Judgment, Status, evolve
from jury_adapters.core.scope import judging
from jury_adapters.core.secrets import without_keys
from jury_adapters.core.values import FrozenDict
from jury_adapters.langchain.fields import Fields
from jury_adapters.langchain.shapes import CONTEXTS, texts_of


class RowJudge:
    """Judges what a run took, gave and should have given. Never raises for a row.

    Args:
        judge: a jury, another judge, or a function of a case.
        fields: where the fields of a case are.
        trace: whether LangSmith may trace what the judge's models are asked.

    Raises:
        ConfigurationError: the judge is none.
    """

    __slots__ = ("_trace", "fields", "judge")

    def __init__(self, judge: JudgeLike, fields: Fields, *, trace: bool = False) -> None:
        self.judge = judge_of(judge)
        self.fields = fields
        self._trace = trace

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
        return case if isinstance(case, Judgment) else judge_quietly(self.judge, case, trace=self._trace)

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
        return case if isinstance(case, Judgment) else await ajudge_quietly(self.judge, case, trace=self._trace)

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
            given = {name: value for name, value in further.items() if value is not None}
            contexts = next((texts_of(given.pop(name)) for name in CONTEXTS if name in given), None)
            case = self.fields.case(inputs, outputs, reference, metadata=given)
            return case if contexts is None else case.model_copy(update={"contexts": contexts})
        except Exception as unreadable:  # a function of the user's may raise anything
            return unreadable_row(self.judge, unreadable)


def judge_quietly(judge: Judge, case: Case, *, trace: bool = False) -> Judgment:
    """Judge a case, marked as a judge's own work, and untraced unless ``trace``."""
    with quietly(trace):
        return judge.judge(case)


async def ajudge_quietly(judge: Judge, case: Case, *, trace: bool = False) -> Judgment:
    """:func:`judge_quietly` for asynchronous code."""
    with quietly(trace):
        return await judge.ajudge(case)


@contextmanager
def quietly(trace: bool) -> Iterator[None]:
    """Inside, what runs is a judge's own work, and is traced only when asked for.

    An experiment that uploads nothing still sends every LangChain run inside it to LangSmith, prompts included: its
    tracing is ``"local"``, which LangChain takes for on.
    """
    with judging():
        if trace or not tracing_is_enabled():  # the second is the usual case, and asking takes a tenth of the time
            yield
        else:
            with tracing_context(enabled=False):
                yield


def run_failed(judge: Judge, error: str) -> Judgment:
    """A run that failed is no case for the judge; it is FAIL, in the shape of the judge's own judgments."""
    error = without_keys(error)
    return evolve(
        judge.failure("run_failed"), status=Status.FAIL, score=0.0, error=None, critic=judge.name,
        reasoning=f"the run failed: {error}", metadata=FrozenDict({"run_error": error}),
    )  # fmt: skip


def unreadable_row(judge: Judge, error: Exception) -> Judgment:
    """A row that makes no case: ERROR, with what is wrong with it."""
    failure = judge.failure(error)
    return evolve(failure, critic=judge.name, reasoning=f"nothing of the row could be judged: {failure.error}")
