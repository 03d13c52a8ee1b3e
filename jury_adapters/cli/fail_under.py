"""Gate of ``jury judge --fail-under``, and the early end of a run once it is decided."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import typer

from jury_adapters.cli.exit_codes import ExitCode
from jury_adapters.cli.streams import Messages
from jury_adapters.core.budget import Budget
from jury_adapters.core.case import Case
from jury_adapters.core.ending_early import EndsEarly
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.formatting import counted
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.results_file import Draw
from jury_adapters.core.sequential_gate import SequentialGate
from jury_adapters.core.tolerance import reaches
from jury_adapters.report.summary import Summary


class FailUnder:
    """Minimum pass rate with which a run succeeds.

    With ``stop_early``, all cases are read first and judged in random order, and no further case starts once the gate
    is decided; see :class:`~jury_adapters.core.sequential_gate.SequentialGate`. An exhausted budget ends the test,
    because its abstentions depend on the order of the cases. Then all cases are judged, as without ``stop_early``.
    Cases that broke, and those that the budget left undecided, count as failed.

    Args:
        share: the minimum pass rate, in 0..1; None for no gate.
        stop_early: whether the run ends when the gate is decided.
        seed: the seed of the random order; None for a random seed.

    Raises:
        BadParameter: an option is missing that another one needs.
    """

    def __init__(self, share: float | None, *, stop_early: bool = False, seed: int | None = None) -> None:
        if stop_early and share is None:
            raise typer.BadParameter("--stop-when-decided needs a gate to decide: give --fail-under, such as 0.9")
        if seed is not None and not stop_early:
            raise typer.BadParameter("--seed is of the random order that --stop-when-decided judges in; give both")
        self._share = share
        self._stop_early = stop_early
        self._seed = seed
        self._test: SequentialGate | None = None
        self._positions: list[int] = []
        self._ended = self._budget_spent = False

    def check_gates(self, gates: object) -> None:
        """Refuse a jury with gates of its own if the run may end early.

        Raises:
            ConfigurationError: every verdict has to meet them, so every case has to be judged.
        """
        if self._stop_early and gates:
            raise ConfigurationError(
                "every verdict has to meet the gates: of the jury file, so --stop-when-decided cannot leave cases out; "
                "remove one of the two"
            )

    def draw(self, cases: Iterable[Case]) -> Iterable[Case]:
        """Return the cases to judge: in their order, or all in random order until the gate is decided."""
        if not self._stop_early or self._share is None:
            return cases
        read = list(cases)
        self._test = SequentialGate(len(read), at_least=self._share, seed=self._seed)
        return EndsEarly(self._until_decided(read, self._test.draw(range(len(read)))))

    @property
    def drawn(self) -> Draw | None:
        """Random order; None if the cases are judged in their order."""
        if self._test is None:
            return None
        decision = self._test.decision
        return Draw(decision.at_least, decision.cases, decision.seed)

    def position(self, index: int) -> int:
        """Return the position in the file of the case that was drawn with this index, both from 0."""
        return self._positions[index] if self._test is not None else index

    def add(self, judgment: Judgment, budget: Budget | None, summary: Summary) -> None:
        """Add the next verdict, in the order of :meth:`draw`, and put the current decision into the summary."""
        if self._test is None:
            return
        self._budget_spent = self._budget_spent or (budget is not None and budget.refused > 0)
        self._ended = self._ended or judgment.status is None  # the gate cannot be checked, which is an error at the end
        if not self._ended and not self._budget_spent:
            self._test.add(judgment)
        summary.decision = self._test.decision

    def exit_code(self, summary: Summary, messages: Messages) -> ExitCode:
        """Return the exit code of the gate; for a run that ended early, the one of its decision."""
        if self._share is None:
            return ExitCode.OK
        if summary.labels:
            messages.error(
                "--fail-under needs PASS and FAIL, but some labels have no such meaning; give it with labels:"
            )
            return ExitCode.BAD_INPUT
        if summary.decision is not None and summary.cases_saved:
            if summary.decision.met:
                return ExitCode.OK
            messages.not_met(f"--fail-under: {summary.decision}")
            return ExitCode.NOT_MET
        if self._budget_spent:
            messages.info("the budget was spent before --fail-under was decided, so --stop-when-decided has no effect")
        return _below(self._share, summary, messages)

    def _until_decided(self, cases: list[Case], drawn: Iterable[int]) -> Iterator[Case]:
        for position in drawn:
            if self._ended:
                return
            self._positions.append(position)
            yield cases[position]


def _below(share: float, summary: Summary, messages: Messages) -> ExitCode:
    """Return the exit code of a run in which every case was judged."""
    rate = summary.pass_rate
    if rate is None:
        messages.not_met("nothing was decided, so --fail-under is not reached")
        return ExitCode.NOT_MET
    if not reaches(rate, share):
        messages.not_met(f"the pass rate, {rate:.3f}, is below --fail-under {share:g}")
        return ExitCode.NOT_MET
    left = summary.broken + summary.abstained_over_budget
    at_worst = summary.passed / (summary.decided + left)
    if not reaches(at_worst, share):
        messages.warn(
            f"{_undecided(summary)}; if {'it counts' if left == 1 else 'they count'} as failed, the pass rate is "
            f"{at_worst:.3f}, below --fail-under {share:g}"
        )
        return ExitCode.NOT_MET
    return ExitCode.OK


def _undecided(summary: Summary) -> str:
    """Return how many cases broke, and how many the budget left undecided."""
    of = f" of {summary.cases:,}"
    left = summary.abstained_over_budget
    broke = f"{counted(summary.broken, 'case')}{of} broke" if summary.broken else ""
    over = f"{counted(left, 'case')}{of} {'was' if left == 1 else 'were'} not decided, because the budget was spent"
    return " and ".join(filter(None, (broke, over if left else "")))
