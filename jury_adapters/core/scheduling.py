"""Schedules: ask all jurors at once, one after the other, or only until the vote is settled."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, get_args

from jury_adapters.core.case import Case
from jury_adapters.core.case_slots import CaseSlot
from jury_adapters.core.cleanup import cancel_and_wait
from jury_adapters.core.context import changed_context, run_context
from jury_adapters.core.errors import ConfigurationError, unknown
from jury_adapters.core.event_loop import CapturedException, run_and_capture, unwrap
from jury_adapters.core.held_loop import report_slow_members
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import Judgment, OpinionStatuses
from jury_adapters.core.runner import run_judge
from jury_adapters.core.voting.base import Votes, VotingStrategy, Weights, all_alike
from jury_adapters.core.voting.required import with_required

Schedule = Literal["parallel", "early_stop", "sequential"]
_SCHEDULES = get_args(Schedule)

# Each test of whether a vote is settled counts all votes, so a large panel is tested at most about 100 times.
_TESTS_PER_PANEL = 100


def checked_schedule(schedule: Schedule) -> Schedule:
    """Return a schedule unchanged.

    Raises:
        ConfigurationError: its name is unknown.
    """
    if schedule not in _SCHEDULES:
        raise ConfigurationError(unknown("schedule", schedule, _SCHEDULES))
    return schedule


@dataclass(frozen=True, slots=True)
class Juror:
    """Juror of a jury: a judge with its name, its time limit in seconds, and the number of its sample."""

    judge: Judge
    name: str
    timeout: float | None
    sample: int = 0

    def ask(self, case: Case) -> Coroutine[Any, Any, Judgment]:
        return run_judge(self.judge, case, self.name, self.timeout) if not self.sample else self._ask_again(case)

    async def _ask_again(self, case: Case) -> Judgment:
        """Ask the judge as a further sample, whose judgment is stored separately from that of the first sample."""
        level = "+" * self.judge.repeat_levels  # keeps this sample apart from one of a jury inside
        with changed_context(sample=f"{run_context().sample}.{self.sample}{level}"):
            return await run_judge(self.judge, case, self.name, self.timeout)

    @property
    def inline(self) -> bool:
        return self.judge.inline and self.timeout is None and self.judge.timeout is None


class StopRule(Protocol):
    """Rule that decides when the votes of the remaining jurors no longer matter."""

    def settled(self, votes: Votes) -> bool:
        """Whether the missing votes (None) can no longer change the outcome."""

    def min_remaining(self, votes: Votes, order: Sequence[int]) -> int:
        """Return the smallest number of jurors in ``order``, none of which has voted, that could settle the vote."""


@dataclass(frozen=True, slots=True)
class UntilDecided:
    """Rule that stops as soon as the missing votes can change neither the status nor the label of the verdict.

    A verdict after an early stop has the same status and label as the verdict of all jurors, whatever the jurors that
    were not asked would have voted. Score, confidence, agreement, tally, reasoning, warnings, reasons for review, usage
    and the list of judgments describe only the jurors that were asked, and may differ. So a rule, a weighted scorecard
    or a tier policy that reads more of a nested jury than its status and label asks all jurors of that jury; see
    :meth:`jury_adapters.core.judge.Judge.asking_everyone`.

    Attributes:
        required: positions of jurors without which the vote is never settled.
        opinions: the statuses that the opinion of each juror may have.
    """

    strategy: VotingStrategy
    weights: Weights
    required: tuple[int, ...]
    opinions: tuple[OpinionStatuses, ...]
    _first_wave: dict[int, int] = field(default_factory=dict, compare=False, repr=False)

    def settled(self, votes: Votes) -> bool:
        if any(votes[position] is None for position in self.required):
            return False
        return self._is_decided(votes)

    def min_remaining(self, votes: Votes, order: Sequence[int]) -> int:
        if not self.strategy.supports_early_stop:
            return len(order)
        if len(order) < len(votes):
            return max(self._search(votes, order), self._with_all_required(order))
        if len(votes) not in self._first_wave:  # the same for every case, because no vote is known yet
            self._first_wave[len(votes)] = self._search(votes, order)
        return max(self._first_wave[len(votes)], self._with_all_required(order))

    def _with_all_required(self, order: Sequence[int]) -> int:
        """Return the number of jurors in ``order`` up to and including the last required one."""
        return max((place for place, position in enumerate(order, start=1) if position in self.required), default=0)

    def _search(self, votes: Votes, order: Sequence[int]) -> int:
        low, high = 1, len(order)
        while low < high:  # if k votes could settle the outcome, so could k + 1
            middle = (low + high) // 2
            if self._could_settle(votes, order[:middle]):
                high = middle
            else:
                low = middle + 1
        return low

    def _could_settle(self, votes: Votes, next_ones: Sequence[int]) -> bool:
        return any(map(self._is_decided, self.strategy.hypothetical_votes(votes, next_ones)))

    def _is_decided(self, votes: Votes) -> bool:
        """Whether the missing votes can no longer change status or label, required jurors taken into account."""
        if not self.required or None not in votes:
            return self.strategy.settled(votes, self.weights, self.opinions)
        if not self.strategy.supports_early_stop:
            return False
        return all_alike(
            (final.status, final.label)
            for filled, result in self.strategy.possible_results(votes, self.weights, self.opinions)
            for final in [with_required(result, filled, self.required, self.strategy.errors)]
        )


async def ask_all(jurors: Sequence[Juror], case: Case) -> list[Judgment]:
    """Ask all jurors at once and return their judgments in juror order."""
    if all(juror.inline for juror in jurors):
        votes = [await juror.ask(case) for juror in jurors]
        report_slow_members([juror.judge for juror in jurors], votes)
        return votes
    slot, parent = _slot_of_current_task()
    tasks = [asyncio.create_task(run_and_capture(juror.ask, case)) for juror in jurors]
    if slot is not None:
        slot.add(tasks)
        slot.remove(parent)
    try:
        await _all_or_interrupted(tasks, slot)
        interrupted = [task for task in tasks if task.done() and _is_interrupted(task)]
        return [unwrap(task.result()) for task in interrupted or tasks]
    finally:
        try:
            await cancel_and_wait(tasks)
        finally:
            if slot is not None:
                slot.resume(parent, tasks)


async def ask_at_most(jurors: Sequence[Juror], case: Case, at_once: int) -> list[Judgment]:
    """Ask all jurors, at most this many at once, and return their judgments in juror order."""
    if len(jurors) <= at_once or all(juror.inline for juror in jurors):
        return await ask_all(jurors, case)
    votes = await ask_until_settled(jurors, case, _AtOnce(at_once))
    return [vote for vote in votes if vote is not None]


async def ask_in_turn(jurors: Sequence[Juror], case: Case) -> list[Judgment]:
    """Ask the jurors one after the other and return their judgments."""
    return [await juror.ask(case) for juror in jurors]


async def ask_until_settled(
    jurors: Sequence[Juror], case: Case, rule: StopRule, *, first: Sequence[int] = ()
) -> list[Judgment | None]:
    """Ask the fewest jurors that could settle the outcome, cheapest first, and more only while it is open.

    The jurors at the positions ``first`` come before all others. Jurors that are still running when the outcome is
    settled are cancelled. The result has None for each juror that was not asked or was cancelled.
    """
    votes: list[Judgment | None] = [None] * len(jurors)
    waiting = sorted(range(len(jurors)), key=lambda position: (position not in first, jurors[position].judge.cost))
    running: dict[asyncio.Task[Judgment | CapturedException], int] = {}
    stride = max(1, len(jurors) // _TESTS_PER_PANEL)
    slot, parent = _slot_of_current_task()
    try:
        while True:
            # Jurors that are running count towards the needed votes, so start only the difference.
            needed = rule.min_remaining(votes, [*running.values(), *waiting]) - len(running) if waiting else 0
            wave, waiting = waiting[: max(needed, 0)], waiting[max(needed, 0) :]
            for position in wave:
                if jurors[position].inline:
                    votes[position] = await jurors[position].ask(case)
                    continue
                task = asyncio.create_task(run_and_capture(jurors[position].ask, case))
                running[task] = position
                if slot is not None:
                    slot.add((task,))
            await _collect(running, votes, min(stride, len(running)), slot)
            if rule.settled(votes):
                return votes
    finally:
        try:
            await cancel_and_wait(running)
        finally:
            if slot is not None:
                slot.resume(parent, running)


@dataclass(frozen=True, slots=True)
class _AtOnce:
    """Rule that asks all jurors, a limited number at once."""

    number: int

    def settled(self, votes: Votes) -> bool:
        return None not in votes

    def min_remaining(self, votes: Votes, order: Sequence[int]) -> int:
        return min(self.number, len(order))


def _slot_of_current_task() -> tuple[CaseSlot, asyncio.Task[Any]] | tuple[None, None]:
    """Return the slot of the case in its batch and the current task, if the slot tracks that task."""
    slot = run_context().slot
    task = None if slot is None else slot.current_task()
    return (None, None) if slot is None or task is None else (slot, task)


async def _collect(
    running: dict[asyncio.Task[Judgment | CapturedException], int],
    votes: list[Judgment | None],
    at_least: int,
    slot: CaseSlot | None,
) -> None:
    """Wait until at least this many running jurors have finished, and store the votes of all that have."""
    while at_least > 0:
        done: set[asyncio.Task[Judgment | CapturedException]] = set()
        if slot is not None:
            slot.remove(asyncio.current_task())
        try:
            done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if slot is not None:
                slot.resume(asyncio.current_task(), done)
        at_least -= len(done)
        for task in done:
            votes[running.pop(task)] = unwrap(task.result())


async def _all_or_interrupted(
    tasks: Sequence[asyncio.Task[Judgment | CapturedException]], slot: CaseSlot | None
) -> None:
    """Wait until all tasks are done, or until one is cancelled or ends with an interrupt such as Ctrl-C."""
    over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    left = len(tasks)

    def count(task: asyncio.Task[Judgment | CapturedException]) -> None:
        nonlocal left
        left -= 1
        if slot is not None and left:  # the last one counts until the waiting task continues
            slot.remove(task)
        if not over.done() and (left == 0 or _is_interrupted(task)):
            over.set_result(None)

    for task in tasks:
        task.add_done_callback(count)
    await over


def _is_interrupted(task: asyncio.Task[Judgment | CapturedException]) -> bool:
    return task.cancelled() or isinstance(task.result(), CapturedException)
