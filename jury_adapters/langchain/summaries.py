"""Summaries of an experiment: pass rate, agreement and cost.

A summary evaluator gets runs and examples, but not the evaluators' results. Therefore, a
:class:`jury_adapters.langchain.JuryEvaluator` keeps the few facts that a summary needs, by run, and the functions here
look them up.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, Self, TypeAlias
from uuid import UUID

from langsmith.evaluation import EvaluationResult, EvaluationResults

from jury_adapters.core.agreement import krippendorff_alpha
from jury_adapters.core.early_stops import early_stops_note
from jury_adapters.core.errors import ConfigurationError, plain_repr, unknown
from jury_adapters.core.formatting import counted
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.opinions import Path, criteria_of, juror_names, opinions_of
from jury_adapters.core.outage_bias import MissingVotes, OutageBias
from jury_adapters.core.over_budget import is_over_budget, over_budget_note
from jury_adapters.core.unasked import asked_ballots
from jury_adapters.core.usage import NO_USAGE, Usage
from jury_adapters.core.verdict import Verdict

if TYPE_CHECKING:
    from langsmith.schemas import Example, Run

SummaryFunction: TypeAlias = "Callable[[Sequence[Run], Sequence[Example]], EvaluationResult | EvaluationResults]"
"""Function that ``summary_evaluators=`` accepts."""

_SumUp: TypeAlias = "Callable[[Sequence[Line]], tuple[float | None, str]]"

Metric: TypeAlias = Literal["pass_rate", "agreement", "cost_usd"]


class Line(NamedTuple):
    """Facts that are kept of one row's judgment.

    Attributes:
        status: the status; ERROR for a FAIL that only failed jurors caused.
        agreement: the agreement of the jurors.
        ballots: their votes.
        on: what they voted on.
        usage: what the row cost.
        missing: the jurors, criteria and tiers that broke, abstained or were not needed; all if the run failed.
        broke: the paths of the jurors that broke, at any depth.
        criteria: each criterion that has two votes or more: its path, the agreement of its jurors, and whether some
            were not asked, to save calls.
        over_budget: whether a juror was not asked because its call did not fit the budget.
        stopped_early: whether some jurors were not asked, to save calls.
        uncounted: the paths of the jurors whose calls are unknown, such as those that a time limit ended.
        unpriced: whether the cost of a counted call is unknown.
    """

    status: Status | None
    agreement: float | None
    ballots: tuple[str | float, ...]
    on: str
    usage: Usage
    missing: MissingVotes
    broke: tuple[Path, ...] = ()
    criteria: tuple[tuple[Path, float, bool], ...] = ()
    over_budget: bool = False
    stopped_early: bool = False
    uncounted: tuple[Path, ...] = ()
    unpriced: bool = False

    @classmethod
    def of(cls, judgment: Judgment) -> Self:
        """Return the line of a judgment."""
        uncounted, unpriced = _unknown_costs(judgment)
        kept = partial(
            cls, over_budget=is_over_budget(judgment), uncounted=uncounted, unpriced=unpriced,
        )  # fmt: skip
        missing = MissingVotes.of(judgment)
        if not isinstance(judgment, Verdict):
            return kept(judgment.status, None, (), "status", judgment.usage, missing)
        tally = judgment.tally
        status = Status.ERROR if judgment.failed_by_errors else judgment.status
        broke = tuple(path for path, juror in opinions_of(judgment) if juror.status is Status.ERROR)
        criteria = tuple(
            (path, one.agreement, one.partial)
            for path, one in criteria_of(judgment)
            if isinstance(one, Verdict) and one.agreement is not None
        )
        facts = (
            status,
            judgment.agreement,
            asked_ballots(tally, judgment.judgments),
            tally.on,
            judgment.usage,
            missing,
            broke,
            criteria,
        )
        return kept(*facts, stopped_early=judgment.partial)


def _unknown_costs(judgment: Judgment) -> tuple[tuple[Path, ...], bool]:
    """Return the paths of the jurors whose calls are unknown, and whether the cost of a counted call is."""
    if judgment.usage.cost_complete:
        return (), False
    incomplete = [(path, vote) for path, vote in opinions_of(judgment) if not vote.usage.cost_complete]
    incomplete = incomplete or [((judgment.critic or "the judge",), judgment)]
    uncounted = tuple(path for path, vote in incomplete if vote.usage.uncounted)
    return uncounted, len(uncounted) < len(incomplete)


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
        line = Line.of(judgment)
        with self._lock:
            self._lines[run_id] = line
            while len(self._lines) > self._most:
                self._lines.popitem(last=False)

    def of(self, runs: Iterable[Run]) -> list[Line]:
        """Return the lines of these runs that are still kept."""
        with self._lock:
            return [line for run in runs if (line := self._lines.get(run.id)) is not None]

    def has(self, run_id: UUID) -> bool:
        """Whether the line of a run is kept."""
        return run_id in self._lines

    def __len__(self) -> int:
        return len(self._lines)

    def __copy__(self) -> Kept:
        copied = Kept(self._most)
        with self._lock:
            copied._lines.update(self._lines)
        return copied


class KeepsLines(Protocol):
    """Evaluator with the attributes that summaries need, such as :class:`jury_adapters.langchain.JuryEvaluator`."""

    @property
    def key(self) -> str: ...

    @property
    def kept(self) -> Kept: ...


def summary(evaluator: KeepsLines, metric: Metric | None = None) -> SummaryFunction:
    """Return a summary of the rows that an evaluator judged, for ``summary_evaluators=``.

    Args:
        evaluator: a :class:`jury_adapters.langchain.JuryEvaluator` of the same experiment.
        metric: ``"pass_rate"``: the share of rows that passed, among those that passed or failed; the comment counts
            the rows on which the jury abstained or failed, and a row that is FAIL only because jurors failed counts as
            an error. The comment counts the runs of the application that failed, and the rows judged without a juror
            because of the budget. It names the jurors that broke, also on rows that the others decided, and warns if
            they bias the rate. ``"agreement"``: the mean agreement among the jurors, with Krippendorff's alpha in the
            comment; for a scorecard, the comment has the mean agreement by criterion. ``"cost_usd"``: the cost of
            judging the rows in US dollars, with calls and tokens in the comment. None: all three. The key of a result
            is ``<key>.<metric>``.

    Raises:
        ConfigurationError: the metric is unknown, or the evaluator keeps no judgments.
    """
    if metric is not None and (not isinstance(metric, str) or metric not in _METRICS):
        raise ConfigurationError(unknown("metric=", metric, _METRICS))
    if not isinstance(getattr(evaluator, "kept", None), Kept):
        raise ConfigurationError(f"summary() takes the JuryEvaluator that judges the rows, not {plain_repr(evaluator)}")

    # The parameters are positional and have these names because LangSmith rewrites any other signature.
    def summarize(runs: Sequence[Run], examples: Sequence[Example]) -> EvaluationResult | EvaluationResults:
        if metric is not None:
            return _summed_up(evaluator, metric, _METRICS[metric], runs)
        return {"results": [_summed_up(evaluator, name, sum_up, runs) for name, sum_up in _METRICS.items()]}

    summarize.__name__ = f"{evaluator.key}.{metric or 'summary'}"
    return summarize


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
    comment = f"{passed} of {decided} passed; {abstained:,} abstained, {counted(broken, 'error')}"
    neither = len(lines) - decided - abstained - broken
    if neither:
        comment += f", {neither} with a label that is neither"
    failed_runs = sum(line.missing.run_failed for line in lines)
    if failed_runs:
        comment += f"; {counted(failed_runs, 'run')} of the application failed"
    short = [line for line in lines if line.over_budget]
    if short:
        comment += f"; {over_budget_note(len(short), sum(line.status not in _UNDECIDED for line in short))}"
    comment += _broken_jurors(lines)
    bias = OutageBias()
    for line in lines:
        bias.add_votes(line.status, line.missing)
    if bias.warning:
        comment += f". {bias.warning}"
    return (passed / decided if decided else None), comment


def _broken_jurors(lines: Sequence[Line]) -> str:
    """Return which jurors broke on how many of the rows, also where the others decided; empty if none did."""
    said, more = _jurors_by_rows([line.broke for line in lines])
    named = [f"{name} broke on {rows}" for name, rows in said]
    named += [f"{counted(more, 'more juror', 'more jurors')} broke"] if more else []
    return "".join(f"; {one}" for one in named)


def _jurors_by_rows(paths: Sequence[Sequence[Path]]) -> tuple[list[tuple[str, str]], int]:
    """Return the most frequent jurors with the number of their rows in words, and the number of the other jurors.

    Args:
        paths: the paths of the jurors of each row.
    """
    times = Counter(path for row in paths for path in row)
    names = juror_names(times)
    said = [(names[path], f"{number} of {len(paths)} rows") for path, number in times.most_common(_MOST_NAMED)]
    return said, max(0, len(times) - _MOST_NAMED)


def _agreement(lines: Sequence[Line]) -> tuple[float | None, str]:
    rows = [line for line in lines if line.agreement is not None]  # the votes of a screening tier have none
    known = [line.agreement for line in rows if line.agreement is not None]
    by_criterion = _agreement_by_criterion(lines)
    if not known and by_criterion:
        return None, f"criteria are not votes on one question; mean agreement by criterion: {by_criterion}"
    comment = f"mean over {counted(len(known), 'row')} with two votes or more"
    modes = {line.on for line in rows if line.ballots}
    if len(modes) == 1:  # tiers of a cascade may vote on different things, which have no common alpha
        alpha = krippendorff_alpha(
            (line.ballots for line in rows), level="interval" if modes == {"score"} else "nominal"
        )
        value = f"{alpha.value:.3f}" if alpha.value is not None else f"undefined: {alpha.reason}"
        comment += f"; Krippendorff's alpha {value}"
    if stopped := sum(line.stopped_early for line in rows):
        comment += f"; {early_stops_note(stopped)}"
    return (sum(known) / len(known) if known else None), comment


def _agreement_by_criterion(lines: Sequence[Line]) -> str:
    found: dict[Path, list[float]] = {}
    stopped = Counter[Path]()
    for line in lines:
        for path, agreement, stopped_early in line.criteria:
            found.setdefault(path, []).append(agreement)
            stopped[path] += stopped_early
    names = juror_names(found)
    said = [f"{names[path]} {sum(each) / len(each):.3f} ({counted(len(each), 'row')})" for path, each in found.items()]
    early = early_stops_note(stopped.total())
    return ", ".join(said) + (f"; {early}" if early else "")


def _cost(lines: Sequence[Line]) -> tuple[float, str]:
    usage = sum((line.usage for line in lines), NO_USAGE)
    comment = f"{counted(usage.calls, 'call')}, {usage.input_tokens} input and {usage.output_tokens} output tokens"
    if not usage.cost_complete:
        said, more = _jurors_by_rows([line.uncounted for line in lines])
        reasons = [f"the calls of {name} are unknown on {rows}" for name, rows in said]
        reasons += [f"those of {counted(more, 'more juror', 'more jurors')} are unknown"] if more else []
        reasons += ["the cost of some calls is unknown"] if any(line.unpriced for line in lines) else []
        comment += f"; a lower bound, because {', and '.join(reasons)}"
    return usage.cost_usd, comment


_MOST_NAMED = 5
_UNDECIDED = (Status.ABSTAIN, Status.ERROR)
_METRICS: Mapping[str, _SumUp] = {"pass_rate": _pass_rate, "agreement": _agreement, "cost_usd": _cost}
