"""Pairwise comparison of runs by a jury that sees both orders."""

from __future__ import annotations

import copy
from collections.abc import Collection, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, Self
from uuid import UUID

from jury_adapters.core.arguments import check_texts, explains_wrong_calls
from jury_adapters.core.budget import Budget
from jury_adapters.core.cache import StoreLike
from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.evidence import EvidenceTools
from jury_adapters.core.field_map import FieldMapLike
from jury_adapters.core.judge_like import JudgeLike
from jury_adapters.core.judgment import Judgment, abstain
from jury_adapters.core.loose_values import field_of
from jury_adapters.core.secrets import without_keys
from jury_adapters.critic.pairwise import in_both_orders
from jury_adapters.langchain.case_reader import CaseReader
from jury_adapters.langchain.evaluator_calls import key_of
from jury_adapters.langchain.results import value_of
from jury_adapters.langchain.rows import QuietJudging, RunParts, unreadable_row

if TYPE_CHECKING:
    from langsmith.schemas import Example, Run

_POINTS = {"A": (1.0, 0.0), "B": (0.0, 1.0), "tie": (0.5, 0.5)}


class JuryPairwiseEvaluator:
    """A jury as a comparative evaluator for ``evaluate((experiment_a, experiment_b), evaluators=[...])``.

    The better run gets 1.0 and the other 0.0; a tie gives 0.5 each. The jury is asked in both orders, and a preference
    that changes with the order is a tie; see :class:`PairwiseCritic`. A run of the application that failed loses
    against one that did not, and the jury is not asked; if both failed, there is no score. With three or more runs,
    each is compared with each, and the score is the mean over its comparisons. If the jury abstained or failed, there
    is no score. Runs of different examples (``reference_example_id``), or of another example than the given one, are
    not compared: the result is an error without scores.

    Args:
        jury: a judge whose labels are ``A``, ``B`` and ``tie``, such as ``llm.pairwise(model)`` or a jury of them. It
            is asked in both orders even if it does not do so by itself.
        key: the key of the results; by default the jury's name.
        field_map: the fields of the case as paths from a row with ``inputs``, ``outputs`` and ``reference_outputs``,
            ``{"answer": "outputs.reply"}``, or a function from the row to the case; see
            :meth:`jury_adapters.Case.from_row`. Without it, the shapes are recognized.
        evidence_tools: the tools whose outputs are contexts: names, or a predicate of a step; by default all but those
            known to repeat what the model wrote. See :class:`jury_adapters.core.evidence.Evidence`.
        direct_tools: the names of the tools with ``return_direct=True``, whose result is the answer of a run that
            ended with it; see :func:`to_case`.
        trace: whether LangSmith may trace the requests to the jury's models.
        store: a :class:`jury_adapters.Store`, or the path of one: judgments are kept in it, and those that it holds
            are served without a call.
        budget: a :class:`jury_adapters.Budget` for everything that this evaluator judges; a juror whose call does not
            fit abstains with ``budget_exhausted``.

    Raises:
        ConfigurationError: ``jury`` is not a judge, the key is not a text, its rubric or those of all its critics have
            other labels, the field map is invalid, ``evidence_tools`` is neither names nor a predicate,
            ``direct_tools`` is not a list of names, the store or the budget is invalid, or a budget in dollars meets a
            juror whose price is unknown.

    >>> compare = JuryPairwiseEvaluator(llm.pairwise("openai:gpt-4o-mini"))  # doctest: +SKIP
    >>> compare([run_a, run_b], example)["scores"]  # offline; evaluate() needs the server  # doctest: +SKIP
    """

    @explains_wrong_calls(
        "JuryPairwiseEvaluator(jury, key='better')",
        {"feedback_key": "key"},
        order="the jury comes first, the rest by name",
        needs="a jury is missing",
    )
    def __init__(
        self,
        jury: JudgeLike,
        *,
        key: str | None = None,
        field_map: FieldMapLike | None = None,
        evidence_tools: EvidenceTools = None,
        direct_tools: Collection[str] = (),
        trace: bool = False,
        store: StoreLike | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.jury = in_both_orders(jury)
        check_texts(key=key)
        self.key = self.__name__ = key_of(self.jury, key)  # LangSmith looks for `__name__`
        self._reader = CaseReader(field_map, evidence_tools=evidence_tools, direct_tools=direct_tools)
        self._quiet = QuietJudging.of(self.jury, store, budget, trace=trace)

    # The parameters are positional and have these names because LangSmith rewrites any other signature.
    def __call__(self, runs: Sequence[Run], example: Example | None = None) -> dict[str, Any]:
        """Compare the runs of one example; the result has ``key``, ``scores`` by run id, and ``comment``."""
        cases = [self._case(first, second, example) for first, second in combinations(runs, 2)]
        judgments = [case if isinstance(case, Judgment) else self._quiet.judged(self.jury, case) for case in cases]
        return {"key": self.key, **_compared(runs, judgments)}

    async def acall(self, runs: Sequence[Run], example: Example | None = None) -> dict[str, Any]:
        """Compare the runs of one example; see :meth:`__call__`."""
        cases = [self._case(first, second, example) for first, second in combinations(runs, 2)]
        judgments = [
            case if isinstance(case, Judgment) else await self._quiet.ajudged(self.jury, case) for case in cases
        ]
        return {"key": self.key, **_compared(runs, judgments)}

    def __deepcopy__(self, memo: object) -> Self:
        """Return a copy with the same judge, store and budget, which cannot be copied themselves."""
        return copy.copy(self)

    def _case(self, first: Run, second: Run, example: Example | None) -> Case | Judgment:
        try:
            return _case(self._reader, first, second, example)
        except Exception as error:  # a function of the application may raise anything
            return unreadable_row(self.jury, error)


def _compared(runs: Sequence[Run], judgments: Sequence[Judgment]) -> dict[str, Any]:
    """Return the mean score of each run over its comparisons, and a comment for each pair."""
    points: dict[UUID, list[float]] = {run.id: [] for run in runs}
    comments = []
    pairs = combinations(enumerate(runs), 2)
    for ((i, first), (j, second)), judgment in zip(pairs, judgments, strict=True):
        won = _POINTS.get(judgment.label or "") if judgment.status is None else None
        if won is not None:
            points[first.id].append(won[0])
            points[second.id].append(won[1])
        pair = f"A is run {i + 1}, B is run {j + 1}: " if len(runs) > 2 else ""
        error = "" if judgment.error is None or judgment.error in judgment.reasoning else f" ({judgment.error})"
        comments.append(f"{pair}{value_of(judgment)}: {judgment.reasoning}{error}")
    if not judgments:
        there = "one run" if runs else "no run"
        comments.append(f"nothing to compare: there is {there} of this example, and a comparison needs two or more")
    scores = {run: sum(won) / len(won) if won else None for run, won in points.items()}
    return {"scores": scores, "comment": "\n".join(comments)}


def _case(reader: CaseReader, first: Run, second: Run, example: Example | None) -> Case | Judgment:
    """Return the case of two answers; or the judgment if a run failed, because the judge is not asked about it."""
    _check_same_example(first, second, example)
    errors = [RunParts.of(run, example).error for run in (first, second)]
    said = zip("AB", errors, strict=True)
    failed = "; ".join(f"run {name} failed: {without_keys(error)}" for name, error in said if error)
    if all(errors):
        return abstain(failed)
    if failed:
        return Judgment(None, label="B" if errors[0] else "A", reasoning=failed)
    asked, wanted = (first.inputs, None) if example is None else (example.inputs, example.outputs)
    cases = [reader.case(asked, run.outputs, wanted) for run in (first, second)]
    answers = [case.answer for case in cases]
    if None in answers:
        missing = " and ".join("AB"[i] for i, answer in enumerate(answers) if answer is None)
        raise ValueError(f"run {missing} has no answer to compare")
    return cases[0].model_copy(update={"answer": None, "trajectory": (), "candidates": answers})


def _check_same_example(first: Run, second: Run, example: Example | None) -> None:
    """Refuse runs of different examples, which a loop over two experiments pairs if it does not match them.

    Raises:
        ConfigurationError: two of the known ids differ.
    """
    known = {
        name: given
        for name, given in (
            ("run A", field_of(first, "reference_example_id")),
            ("run B", field_of(second, "reference_example_id")),
            ("the given example", field_of(example, "id")),
        )
        if given is not None
    }
    if len({str(given) for given in known.values()}) > 1:
        raise ConfigurationError(
            "these are not runs of one example, so they answer different questions (ids of the examples: "
            f"{', '.join(f'{name} {given}' for name, given in known.items())}). The rows of an experiment come in "
            "any order: match those of two experiments by row['example'].id"
        )
