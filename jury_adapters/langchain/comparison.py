"""Pairwise comparison of runs by a jury that sees both orders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeAlias
from uuid import UUID

from jury_adapters.core.budget import Budget
from jury_adapters.core.cache import StoreLike
from jury_adapters.core.case import Case
from jury_adapters.core.evidence import EvidenceTools
from jury_adapters.core.field_map import FieldMapLike
from jury_adapters.core.judge import Judge
from jury_adapters.core.judge_like import JudgeLike, judge_of
from jury_adapters.core.judgment import Judgment
from jury_adapters.critic.pairwise import PairwiseCritic
from jury_adapters.langchain.fields import Fields, Part
from jury_adapters.langchain.functions import key_of
from jury_adapters.langchain.results import value_of
from jury_adapters.langchain.rows import QuietJudging, unreadable_row

if TYPE_CHECKING:
    from langsmith.schemas import Example, Run

ComparisonFunction: TypeAlias = "Callable[[Sequence[Run], Example | None], dict[str, Any]]"

_POINTS = {"A": (1.0, 0.0), "B": (0.0, 1.0), "tie": (0.5, 0.5)}


def jury_comparison_evaluator(
    judge: JudgeLike,
    *,
    inputs: Part | None = None,
    outputs: Part | None = None,
    reference_outputs: Part | None = None,
    field_map: FieldMapLike | None = None,
    name: str | None = None,
    evidence_tools: EvidenceTools = None,
    trace: bool = False,
    store: StoreLike | None = None,
    budget: Budget | None = None,
) -> ComparisonFunction:
    """Return a comparative evaluator for ``evaluate((experiment_a, experiment_b), evaluators=[...])``.

    The better run gets 1.0 and the other 0.0; a tie gives 0.5 each. The judge is asked in both orders, and a preference
    that changes with the order is a tie; see :class:`PairwiseCritic`. With three or more runs, each is compared with
    each, and the score is the mean over its comparisons. If the judge abstained or failed, there is no score.

    Args:
        judge: a judge whose labels are ``A``, ``B`` and ``tie``, such as ``llm.pairwise(model)`` or a jury of them. It
            is asked in both orders even if it does not do so by itself.
        inputs: where the question is, if its shape is not recognized; see :class:`Fields`.
        outputs: where the answers are.
        reference_outputs: where the reference is.
        field_map: as in :meth:`jury_adapters.Case.from_row`, instead of the three arguments above; see :class:`Fields`.
        name: the function's name, and the key of its results; by default the judge's name.
        evidence_tools: the tools whose outputs are contexts: names, or a predicate of a step; by default all but those
            known to repeat what the model wrote. See :class:`jury_adapters.core.evidence.Evidence`.
        trace: whether LangSmith may trace the requests to the judge's models.
        store: a :class:`jury_adapters.Store`, or the path of one: judgments are kept in it, and those that it holds
            are served without a call.
        budget: a :class:`jury_adapters.Budget` for everything that this function judges; a juror whose call does not
            fit abstains with ``budget_exhausted``.

    Raises:
        ConfigurationError: ``judge`` is not a judge, its rubric has other labels, a path cannot be read,
            ``evidence_tools`` is neither names nor a predicate, the store or the budget is invalid, or a budget in
            dollars meets a juror whose price is unknown.

    >>> from langsmith.evaluation.evaluator import comparison_evaluator
    >>> compare = comparison_evaluator(jury_comparison_evaluator(judge))  # doctest: +SKIP
    >>> compare.compare_runs([run_a, run_b], example).scores  # offline; evaluate() needs the server  # doctest: +SKIP
    """
    fair = both_orders(judge)
    fields = Fields(
        inputs=inputs, outputs=outputs, reference_outputs=reference_outputs, field_map=field_map,
        evidence_tools=evidence_tools,
    )  # fmt: skip
    key = key_of(fair, name)
    quiet = QuietJudging.of(fair, store, budget, trace=trace)

    def judged(first: Run, second: Run, example: Example | None) -> Judgment:
        try:
            case = _case(fields, first, second, example)
        except Exception as error:  # a function of the application may raise anything
            return unreadable_row(fair, error)
        return quiet.judged(fair, case)

    # The parameters are positional and have these names because LangSmith rewrites any other signature.
    def compare(runs: Sequence[Run], example: Example | None) -> dict[str, Any]:
        return {"key": key, **_compared(runs, lambda first, second: judged(first, second, example))}

    compare.__name__ = compare.__qualname__ = key
    return compare


def both_orders(given: JudgeLike) -> Judge:
    """Return the judge, wrapped so that it looks at both orders if it does not do so already.

    Raises:
        ConfigurationError: ``given`` is not a judge, or its rubric has labels other than A, B and tie.
    """
    judge = judge_of(given)
    return judge if _swaps(judge) else PairwiseCritic(judge)


def _compared(runs: Sequence[Run], judged: Callable[[Run, Run], Judgment]) -> dict[str, Any]:
    """Return the mean score of each run over its comparisons, and a comment for each pair."""
    points: dict[UUID, list[float]] = {run.id: [] for run in runs}
    comments = []
    for (i, first), (j, second) in combinations(enumerate(runs), 2):
        judgment = judged(first, second)
        won = _POINTS.get(judgment.label or "") if judgment.status is None else None
        if won is not None:
            points[first.id].append(won[0])
            points[second.id].append(won[1])
        pair = f"A is run {i + 1}, B is run {j + 1}: " if len(runs) > 2 else ""
        error = "" if judgment.error is None or judgment.error in judgment.reasoning else f" ({judgment.error})"
        comments.append(f"{pair}{value_of(judgment)}: {judgment.reasoning}{error}")
    scores = {run: sum(won) / len(won) if won else None for run, won in points.items()}
    return {"scores": scores, "comment": "\n".join(comments)}


def _swaps(judge: Judge) -> bool:
    if isinstance(judge, PairwiseCritic):
        return judge.swap
    return bool(judge.members) and all(_swaps(member) for member in judge.members)


def _case(fields: Fields, first: Run, second: Run, example: Example | None) -> Case:
    asked, wanted = (first.inputs, None) if example is None else (example.inputs, example.outputs)
    cases = [fields.case(asked, run.outputs, wanted) for run in (first, second)]
    answers = [case.answer for case in cases]
    if None in answers:
        missing = " and ".join("AB"[i] for i, answer in enumerate(answers) if answer is None)
        raise ValueError(f"run {missing} has no answer to compare")
    return cases[0].model_copy(update={"answer": None, "trajectory": (), "candidates": answers})
