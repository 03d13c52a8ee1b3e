"""JuryEvaluator, a jury in LangSmith's evaluation loops and in direct calls; JuryPairwiseEvaluator compares runs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from itertools import combinations
from typing import Any
from uuid import UUID

from langsmith import tracing_context
from langsmith.evaluation import EvaluationResult, EvaluationResults, RunEvaluator
from langsmith.schemas import Example
from langsmith.schemas import Run as TracedRun
from pydantic import Field

from jury_adapters.core import loop
from jury_adapters.core.asking import Asking
from jury_adapters.core.budget import Budget
from jury_adapters.core.cascade import CascadedJury
from jury_adapters.core.case import Case
from jury_adapters.core.combinators import Fallbacks
from jury_adapters.core.ensemble import Jury, Scorecard
from jury_adapters.core.judge import Judge, JudgeLike
from jury_adapters.core.judgment import Judgment, Status, abstain
from jury_adapters.core.store import Store
from jury_adapters.core.values import InputError, without_keys
from jury_adapters.critic.pairwise import in_both_orders
from jury_adapters.inputs.run import Run, default_case
from jury_adapters.langchain.callbacks import is_paused

_MOST_KEPT = 100_000
_SHARES = {"A": 1.0, "B": 0.0, "tie": 0.5}
"""What the first of two runs gets."""


class JuryEvaluationResult(EvaluationResult):
    """Result of LangSmith with the whole judgment, which stays in the process.

    Attributes:
        verdict: the judgment; None if the criterion or juror was not asked.
    """

    verdict: Judgment | None = Field(None, exclude=True, repr=False)


class JuryEvaluator(RunEvaluator):
    """Jury as an evaluator of runs in LangSmith's loops, and of rows in direct calls, as openevals makes them.

    Give it to ``Client.evaluate``, ``Client.aevaluate``, ``evaluate`` or ``aevaluate``, or call it with ``inputs=``,
    ``outputs=`` and ``reference_outputs=``; in asynchronous code ``await evaluator.acall(...)``. It never raises for a
    row: a run that failed is FAIL with the score 0.0, and a row that makes no case is ERROR without a score.

    A row gives one result under ``key``, one for each criterion of a scorecard in the jury under ``key.criterion``,
    and with ``per_juror`` one for each juror under ``key.juror``; names of juries inside are joined with dots. Every
    row has the same keys. A result has ``score`` (0..1, None without a decision), ``value`` (``pass``, ``fail``,
    ``abstain``, ``error``, ``not asked``, or a neutral label), ``comment`` (the tree of judgments), ``metadata``
    (status, agreement, review reasons, cost) and ``verdict``. A direct call returns ``key``, ``score``, ``comment`` and
    ``metadata``, as a list of these where there are several.

    The steps of an agent are those in its messages: what ran inside its tools is not seen, and what a tool returned
    counts as found also if the tool asked a model. ``case=partial(default_case, evidence=...)`` names the tools that
    find things; a :class:`JuryCallbackHandler` sees them all.

    Args:
        jury: the jury, or a function of a case.
        key: the feedback key; by default the name of the jury, or ``jury``.
        per_juror: whether each juror gets a result of its own.
        case: makes the case of a run.
        trace: whether LangSmith traces what the jury does. Even ``upload_results=False`` uploads the prompts of
            LangChain models that are traced.
        store: where judgments are kept.
        budget: the limit on spending.

    >>> evaluator = JuryEvaluator(lambda case: case.answer == case.reference, key="exact")
    >>> result = evaluator(inputs={"question": "2 + 2?"}, outputs={"answer": "4"}, reference_outputs={"answer": "4"})
    >>> result["key"], result["score"]
    ('exact', 1.0)
    """

    def __init__(
        self,
        jury: JudgeLike,
        *,
        key: str = "",
        per_juror: bool = False,
        case: Callable[[Run], Case] = default_case,
        trace: bool = False,
        store: Store | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.asking = Asking(jury, case, store, budget)
        self.key = self.__name__ = key or self.asking.judge.name or "jury"  # loops that take functions read __name__
        self.per_juror, self.trace = per_juror, trace
        self.statuses: dict[str, Status] = {}  # by the id of the run; for pass_rate, which gets runs only
        self._names = tuple(dict.fromkeys(_names(self.asking.judge, per_juror)))

    @property
    def feedback_keys(self) -> list[str]:
        """The keys of all results of a row."""
        return [self.key, *(f"{self.key}.{name}" for name in self._names)]

    def evaluate_run(
        self, run: TracedRun, example: Example | None = None, evaluator_run_id: UUID | None = None
    ) -> EvaluationResults:
        """Judge one run of LangSmith."""
        return self._results(run, loop.run(self._judged(_run_of(run, example))))

    async def aevaluate_run(
        self, run: TracedRun, example: Example | None = None, evaluator_run_id: UUID | None = None
    ) -> EvaluationResults:
        """Judge one run of LangSmith, for asynchronous code."""
        return self._results(run, await self._judged(_run_of(run, example)))

    def __call__(
        self,
        *,
        inputs: Any = None,
        outputs: Any = None,
        reference_outputs: Any = None,
        context: Any = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Any:
        """Judge one row.

        Args:
            inputs: what the application was given.
            outputs: what it returned.
            reference_outputs: what it should have returned.
            context: passages that the answer must rest on: texts or documents.
            metadata: further values for the prompt of a rubric.
        """
        return self._answered(loop.run(self._judged(_row(inputs, outputs, reference_outputs, context, metadata))))

    async def acall(
        self,
        *,
        inputs: Any = None,
        outputs: Any = None,
        reference_outputs: Any = None,
        context: Any = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Any:
        """Judge one row like a call, for asynchronous code."""
        return self._answered(await self._judged(_row(inputs, outputs, reference_outputs, context, metadata)))

    async def _judged(self, run: Run) -> Judgment:
        if run.error is None and is_paused(run.outputs):
            return abstain("the run waits for a person, and has no answer yet", critic=self.asking.judge.name)
        with nullcontext() if self.trace else tracing_context(enabled=False):
            return (await self.asking.ajudged(run)).judgment

    def _results(self, run: TracedRun, judgment: Judgment) -> EvaluationResults:
        self.statuses[str(run.id)] = judgment.status
        if len(self.statuses) > _MOST_KEPT:
            self.statuses.pop(next(iter(self.statuses)), None)
        parts = self._parts(judgment, bool(run.error)).items()
        return {
            "results": [
                JuryEvaluationResult(key=key, value=value_of(one), verdict=one, **facts_of(one)) for key, one in parts
            ]
        }

    def _answered(self, judgment: Judgment) -> Any:
        results = [{"key": key, **facts_of(one)} for key, one in self._parts(judgment, False).items()]
        return results if len(results) > 1 else results[0]

    def _parts(self, judgment: Judgment, failed: bool) -> dict[str, Judgment | None]:
        """Return the judgment of each key. That of a run that failed, or of a jury that broke, holds for all."""
        whole = judgment if failed or not judgment.decided else None
        found = parts_of(self.key, judgment, self.per_juror)
        return {key: found.get(key, whole) for key in dict.fromkeys([*self.feedback_keys, *found])}


class JuryPairwiseEvaluator:
    """Jury as a comparative evaluator, for ``evaluate((experiment_a, experiment_b), evaluators=[...])``.

    The jury sees a case with two ``candidates`` and says ``A``, ``B`` or ``tie``. It is asked in both orders, and a
    preference that changes with the order is a tie; see :class:`PairwiseCritic`. The better run gets 1.0 and the other
    0.0; a tie is 0.5 each. Of three or more runs, each is compared with each, and the score is the mean. A run that
    failed loses against one that did not, and the jury is not asked. Without a decision there is no score.

    Args:
        jury: a judge with the labels ``A``, ``B`` and ``tie``, or a function of a case.
        key: the feedback key; by default the name of the jury, or ``preference``.
        case: makes the case of a run.
        trace: whether LangSmith traces what the jury does.
        store: where judgments are kept.
        budget: the limit on spending.

    Raises:
        ConfigurationError: the jury declares other labels.

    >>> longer = JuryPairwiseEvaluator(lambda case: "A" if len(case.candidates[0]) > 2 else "B", key="longer")
    >>> longer.__name__
    'longer'
    """

    def __init__(
        self,
        jury: JudgeLike,
        *,
        key: str = "",
        case: Callable[[Run], Case] = default_case,
        trace: bool = False,
        store: Store | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.asking = Asking(in_both_orders(jury), self._pair, store, budget)
        self.key = self.__name__ = key or self.asking.judge.name or "preference"
        self.case, self.trace = case, trace

    def __call__(self, runs: Sequence[TracedRun], example: Example | None = None) -> dict[str, Any]:
        """Compare the runs of one example; the result has ``key``, ``scores`` by the id of the run, and ``comment``."""
        return loop.run(self.acall(runs, example))

    async def acall(self, runs: Sequence[TracedRun], example: Example | None = None) -> dict[str, Any]:
        """Compare the runs of one example, for asynchronous code."""
        points: dict[Any, list[float]] = {run.id: [] for run in runs}
        comments = []
        for (number, first), (other, second) in combinations(enumerate(runs, 1), 2):
            about = {first.reference_example_id, second.reference_example_id, example and example.id} - {None}
            label, why = "", "these are runs of different examples"
            if len(about) < 2:
                with nullcontext() if self.trace else tracing_context(enabled=False):
                    label, why = await self._compared(_run_of(first, example), _run_of(second, example))
            share = _SHARES.get(label)
            if share is not None:
                points[first.id].append(share)
                points[second.id].append(1 - share)
            comments.append(f"run {number} as A, run {other} as B: {label or 'no decision'}; {why}")
        scores = {run: sum(won) / len(won) if won else None for run, won in points.items()}
        return {"key": self.key, "scores": scores, "comment": "\n".join(comments) or "there is no second run"}

    async def _compared(self, first: Run, second: Run) -> tuple[str, str]:
        """Return the label of two runs, empty without a decision, and why."""
        errors = [without_keys(run.error) for run in (first, second) if run.error]
        if errors:
            label = "" if len(errors) == 2 else "B" if first.error else "A"
            return label, f"the run failed: {'; '.join(errors)}"
        judgment = (await self.asking.ajudged((first, second))).judgment
        label = "tie" if judgment.tied else judgment.label or ""
        return label, judgment.error or judgment.reasoning or "no reason was given"

    def _pair(self, runs: Sequence[Run]) -> Case:
        cases = [self.case(run) for run in runs]
        answers = [one.answer for one in cases]
        if None in answers:
            raise InputError("a run has no answer to compare")
        return cases[0].model_copy(update={"answer": None, "candidates": tuple(answers), "steps": ()})


def parts_of(key: str, judgment: Judgment, per_juror: bool) -> dict[str, Judgment]:
    """Return a judgment and those inside that have results of their own, by key."""
    return {key: judgment, **{f"{key}.{name}": one for name, one in _inside(judgment, per_juror)}}


def value_of(judgment: Judgment | None) -> str:
    """Return the outcome as one word: ``pass``, ``fail``, ``abstain``, ``error``, ``not asked`` or a neutral label."""
    if judgment is None:
        return "not asked"
    return str(judgment.label) if judgment.status is Status.LABEL else judgment.status.value.lower()


def facts_of(judgment: Judgment | None) -> dict[str, Any]:
    """Return score, comment and metadata of a result."""
    if judgment is None:
        return {"score": None, "comment": "not asked", "metadata": {"status": None}}
    metadata: dict[str, Any] = {
        "status": judgment.status.value,
        "error": judgment.error,
        "agreement": judgment.agreement,
        "review_reasons": list(judgment.review_reasons),
        "stopped_at": judgment.stopped_at,
        **judgment.usage.model_dump(mode="json", exclude_defaults=True),
    }
    known = {name: value for name, value in metadata.items() if value is not None}
    return {"score": judgment.number, "comment": str(judgment), "metadata": known}


def _names(judge: Judge, per_juror: bool, path: str = "") -> Iterator[str]:
    """Yield the names of criteria, and of jurors if asked for, that :func:`_inside` may find."""
    named = isinstance(judge, Scorecard) or (per_juror and isinstance(judge, Jury) and not isinstance(judge, Fallbacks))
    if named and isinstance(judge, Jury):
        for name, one in judge.judges.items():
            yield path + name
            yield from _names(one, per_juror, f"{path}{name}.")
    else:
        for one in judge.members:
            if per_juror and isinstance(judge, CascadedJury) and not one.members:
                yield path + one.name
            yield from _names(one, per_juror, path)


def _inside(judgment: Judgment, per_juror: bool, path: str = "") -> Iterator[tuple[str, Judgment]]:
    named = judgment.voting == "scorecard" or (per_juror and judgment.voting != "cascade")
    for one in judgment.judgments:
        if named or (per_juror and not one.judgments):
            yield path + one.critic, one
        yield from _inside(one, per_juror, f"{path}{one.critic}." if named else path)


def _run_of(run: TracedRun, example: Example | None) -> Run:
    """Return a run of LangSmith with the inputs, the expected outputs and the metadata of its example."""
    given, metadata = (run.inputs, None) if example is None else (example.inputs or run.inputs, example.metadata)
    return Run(
        id=str(run.id),
        name=run.name,
        inputs=given,
        outputs=run.outputs,
        reference=None if example is None else example.outputs,
        error=run.error,
        metadata=metadata or {},
    )


def _row(inputs: Any, outputs: Any, reference: Any, context: Any, metadata: Mapping[str, Any] | None) -> Run:
    documents = context if isinstance(context, list | tuple) else [context]
    return Run(
        inputs=inputs,
        outputs=outputs,
        reference=reference,
        documents=() if context is None else documents,
        metadata=metadata or {},
    )
