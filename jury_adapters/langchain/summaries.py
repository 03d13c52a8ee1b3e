"""Summaries of an experiment: pass rate, agreement and cost.

A summary evaluator gets runs and examples, but not the evaluators' results. Therefore, a :class:`JuryRunEvaluator`
keeps the few facts that a summary needs, by run, and the functions here look them up.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias
from uuid import UUID

from langsmith.evaluation import EvaluationResult, EvaluationResults

from jury_adapters.core.agreement import krippendorff_alpha
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.tally import Ballot
from jury_adapters.core.usage import NO_USAGE, Usage
from jury_adapters.core.verdict import Verdict, failed_by_errors

if TYPE_CHECKING:
    from langsmith.schemas import Example, Run

SummaryFunction: TypeAlias = "Callable[[Sequence[Run], Sequence[Example]], EvaluationResult | EvaluationResults]"
"""Function that ``summary_evaluators=`` accepts."""

_SumUp: TypeAlias = "Callable[[Sequence[Line]], tuple[float | None, str]]"
_PASS_RATE, _AGREEMENT, _COST = "pass_rate", "agreement", "cost_usd"


class Line(NamedTuple):
    """Facts that are kept of one row's judgment."""

    status: Status | None
    agreement: float | None
    ballots: tuple[Ballot, ...]
    on: str
    usage: Usage


class Kept:
    """Lines of the rows judged last, by run; the oldest are dropped first.

    Args:
        most: the maximum number of lines, at about 500 bytes each.
    """

    def __init__(self, most: int = 100_000) -> None:
        self._most = most
        self._lines: OrderedDict[UUID, Line] = OrderedDict()
        self._lock = Lock()

    def keep(self, run_id: UUID, judgment: Judgment) -> None:
        """Keep a judgment's line."""
        if isinstance(judgment, Verdict):
            tally = judgment.tally
            status = Status.ERROR if failed_by_errors(judgment) else judgment.status
            line = Line(status, judgment.agreement, tally.ballots, tally.on, judgment.usage)
        else:
            line = Line(judgment.status, None, (), "status", judgment.usage)
        with self._lock:
            self._lines[run_id] = line
            while len(self._lines) > self._most:
                self._lines.popitem(last=False)

    def of(self, runs: Iterable[Run]) -> list[Line]:
        """Return the lines of these runs that are still kept."""
        with self._lock:
            return [line for run in runs if (line := self._lines.get(run.id)) is not None]

    def __len__(self) -> int:
        return len(self._lines)

    def __copy__(self) -> Kept:
        copied = Kept(self._most)
        with self._lock:
            copied._lines.update(self._lines)
        return copied


class KeepsLines(Protocol):
    """Evaluator with the attributes that summaries need, such as :class:`jury_adapters.langchain.JuryRunEvaluator`."""

    @property
    def key(self) -> str: ...

    @property
    def kept(self) -> Kept: ...


def pass_rate_summary(evaluator: KeepsLines) -> SummaryFunction:
    """Return a summary of the share of rows that passed, among those that passed or failed: ``<key>.pass_rate``.

    The comment counts the rows on which the jury abstained or failed; they are not part of the rate. A row that is FAIL
    only because jurors failed counts as an error.
    """
    return _summary(evaluator, _PASS_RATE, _pass_rate)


def agreement_summary(evaluator: KeepsLines) -> SummaryFunction:
    """Return a summary of the mean agreement among the jurors, ``<key>.agreement``.

    The comment has Krippendorff's alpha over the rows.
    """
    return _summary(evaluator, _AGREEMENT, _agreement)


def cost_summary(evaluator: KeepsLines) -> SummaryFunction:
    """Return a summary of the cost of judging the rows, in US dollars: ``<key>.cost_usd``.

    The comment has the numbers of calls and tokens.
    """
    return _summary(evaluator, _COST, _cost)


def jury_summary(evaluator: KeepsLines) -> SummaryFunction:
    """Return one summary function for pass rate, agreement and cost, which gives three results."""
    each = ((_PASS_RATE, _pass_rate), (_AGREEMENT, _agreement), (_COST, _cost))

    def summary(runs: Sequence[Run], examples: Sequence[Example]) -> EvaluationResults:
        return {"results": [_summed_up(evaluator, name, sum_up, runs) for name, sum_up in each]}

    summary.__name__ = f"{evaluator.key}.summary"
    return summary


def _summary(evaluator: KeepsLines, name: str, sum_up: _SumUp) -> SummaryFunction:
    # The parameters are positional and have these names because LangSmith rewrites any other signature.
    def summary(runs: Sequence[Run], examples: Sequence[Example]) -> EvaluationResult:
        return _summed_up(evaluator, name, sum_up, runs)

    summary.__name__ = f"{evaluator.key}.{name}"
    return summary


def _summed_up(evaluator: KeepsLines, name: str, sum_up: _SumUp, runs: Sequence[Run]) -> EvaluationResult:
    lines = evaluator.kept.of(runs)
    score, comment = sum_up(lines)
    missing = len(runs) - len(lines)
    if missing:
        comment += f"; {missing} of {len(runs)} rows were not judged by this evaluator, or are forgotten"
    return EvaluationResult(key=f"{evaluator.key}.{name}", score=score, comment=comment)


def _pass_rate(lines: Sequence[Line]) -> tuple[float | None, str]:
    passed, failed, abstained, broken = (
        sum(line.status is status for line in lines)
        for status in (Status.PASS, Status.FAIL, Status.ABSTAIN, Status.ERROR)
    )
    decided = passed + failed
    comment = f"{passed} of {decided} passed; {abstained} abstained, {broken} errors"
    neither = len(lines) - decided - abstained - broken
    if neither:
        comment += f", {neither} with a label that is neither"
    return (passed / decided if decided else None), comment


def _agreement(lines: Sequence[Line]) -> tuple[float | None, str]:
    known = [line.agreement for line in lines if line.agreement is not None]
    comment = f"mean over {len(known)} rows with two votes or more"
    modes = {line.on for line in lines if line.ballots}
    if len(modes) == 1:  # tiers of a cascade may vote on different things, which have no common alpha
        alpha = krippendorff_alpha(
            (line.ballots for line in lines), level="interval" if modes == {"score"} else "nominal"
        )
        told = f"{alpha.value:.3f}" if alpha.value is not None else f"undefined: {alpha.reason}"
        comment += f"; Krippendorff's alpha {told}"
    return (sum(known) / len(known) if known else None), comment


def _cost(lines: Sequence[Line]) -> tuple[float, str]:
    usage = sum((line.usage for line in lines), NO_USAGE)
    comment = f"{usage.calls} calls, {usage.input_tokens} input and {usage.output_tokens} output tokens"
    if not usage.cost_complete:
        comment += "; a lower bound, because the price of some calls is unknown"
    return usage.cost_usd, comment
