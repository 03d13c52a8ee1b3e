"""Estimate of what an alignment costs, before anything is sent."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from jury_adapters.align.aligning import (
    OPTIMISER_OPTIONS,
    Aligner,
    OptimiserLog,
    independent_cases,
    rubric_to_change,
    without_guarantee,
)
from jury_adapters.align.changes import ClarifyCriteria, criteria_request
from jury_adapters.align.labelled import LabelledCase
from jury_adapters.core.case import Case
from jury_adapters.core.cost_estimate import CostEstimate, CostEstimateRow
from jury_adapters.core.human_labels import GOLD
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.usage import Usage
from jury_adapters.critic.asking import with_price
from jury_adapters.critic.rubric import Rubric
from jury_adapters.models.base import Prompt, Turn
from jury_adapters.models.registry import ModelLike, estimated_tokens, resolve_model


def estimate_alignment(
    jury: Judge,
    cases: Iterable[Case | Mapping[str, object]],
    *,
    aligner: Aligner | None = None,
    pass_labels: Collection[str] = (),
    label_column: str = GOLD,
    group: str = "",
) -> CostEstimate:
    """Estimate the calls, tokens and dollars of an alignment, without sending anything.

    There is a row for the jury as it is, for each change that asks models, and for the test. The test is counted with
    the change that costs most, although it may be another one, or none.

    Args:
        jury: as in :func:`align`.
        cases: as in :func:`align`.
        aligner: as in :func:`align`.
        pass_labels: as in :func:`align`.
        label_column: as in :func:`align`.
        group: as in :func:`align`.

    Raises:
        ConfigurationError: as in :func:`align`.

    >>> from jury_adapters import Case, Critic, Rubric
    >>> jury = Critic("openai:gpt-4o-mini", Rubric.from_criteria("The answer is right."), api_key="sk-...")
    >>> labels = [Case(answer=str(n), metadata={"gold": "PASS" if n % 2 else "FAIL"}) for n in range(100)]
    >>> estimate_alignment(jury, labels).calls
    320
    """
    how = aligner or Aligner()
    rubric = rubric_to_change(jury, how.rubric)
    labelled = independent_cases(rubric, cases, pass_labels=pass_labels, label_column=label_column, group=group)
    plain = without_guarantee(jury)
    search, test = how.parts(labelled)
    changes = how.changes(OptimiserLog([], []))
    like = {change.name: change.like_applied_to(plain, rubric, search, how.seed) for change in changes}
    changed = {name: judge for name, judge in like.items() if judge is not None}
    rows = [_row("as it is", plain, search), *(_row(name, judge, search) for name, judge in changed.items())]
    if how.optimiser_model is not None:
        rows.append(_row_of_optimiser(how.optimiser_model, how.folds + 1, rubric, search))
    tests = [_row("the test, after", judge, test) for judge in (plain, *changed.values())]
    largest = max(tests, key=lambda row: (row.cost_usd, row.input_tokens))
    return CostEstimate((*rows, _row("the test, before", plain, test), largest), len(labelled), heading="step")


def _row(name: str, judge: Judge, cases: Sequence[LabelledCase]) -> CostEstimateRow:
    whole = judge.estimate_cost(one.case for one in cases)
    return CostEstimateRow(
        name, len(cases), whole.calls, whole.input_tokens, whole.output_tokens, whole.cost_usd, whole.cost_complete,
        whole.tokens_complete,
    )  # fmt: skip


def _row_of_optimiser(given: ModelLike, calls: int, rubric: Rubric, search: Sequence[LabelledCase]) -> CostEstimateRow:
    """Return the row of the optimiser model, which is shown the cases of each fold that were judged wrongly."""
    model = resolve_model(given)
    wrong = [(one, Judgment(Status.FAIL if one.passed else Status.PASS)) for one in search[: ClarifyCriteria.shown]]
    prompt = Prompt("", (Turn("user", criteria_request(rubric, wrong)),))
    total = estimated_tokens(prompt, OPTIMISER_OPTIONS, model.model)
    output = OPTIMISER_OPTIONS.max_tokens or 0
    usage = with_price(model, Usage(calls * (total - output), calls * output, calls=calls))
    return CostEstimateRow(
        "the optimiser model", 0, calls, usage.input_tokens, usage.output_tokens, usage.cost_usd, usage.cost_complete
    )
