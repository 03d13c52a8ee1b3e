"""Slots of a batch window: one per case, released while the case only waits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

_Task: TypeAlias = asyncio.Task[Any]


class BatchState:
    """State of one batch.

    Attributes:
        failing_models: state of :mod:`jury_adapters.models.retries` on the consecutive final failures of each model, by
            any hashable key.
        idle_cases: number of cases in flight with an idle slot; changed on the event loop that judges the cases.
        on_idle: called on that event loop whenever a slot becomes idle.
        slow_judges: the judges whose function kept other cases waiting, by any hashable key; see
            :mod:`jury_adapters.core.held_loop`.
    """

    __slots__ = ("failing_models", "idle_cases", "on_idle", "slow_judges")

    def __init__(self) -> None:
        self.failing_models: dict[object, object] = {}
        self.idle_cases = 0
        self.on_idle: Callable[[], None] | None = None
        self.slow_judges: set[object] = set()


class CaseSlot:
    """Slot of one case in the window of a batch.

    The slot counts the tasks that work on the case: the task that judges it, or the tasks of its jurors if a jury asks
    several at once. A task does not count while it waits for a retry, and the slot is idle while no task counts. A task
    that a user's judge starts itself is not counted, but the task that awaits it is, so the case keeps its slot.

    Args:
        batch: state that all slots of one batch share.
        task: the task that judges the case; None if the case is judged without an event loop.

    Attributes:
        batch: see above.
        idle: True while all work on the case waits.
    """

    __slots__ = ("_working", "batch", "idle")

    def __init__(self, batch: BatchState, task: _Task | None) -> None:
        self.batch = batch
        self.idle = False
        self._working: set[_Task | None] = {task}

    def current_task(self) -> _Task | None:
        """Return the current task if this slot counts it."""
        if None in self._working:
            return None
        task = asyncio.current_task(asyncio.get_running_loop())
        return task if task in self._working else None

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Return a context manager that counts the current task as waiting for the duration of its block."""
        task = asyncio.current_task()
        if task not in self._working:
            yield
            return
        self.remove(task)
        try:
            yield
        finally:
            self.resume(task)

    def add(self, tasks: Iterable[_Task]) -> None:
        """Count further tasks, which a counted task has started."""
        self._working.update(tasks)

    def remove(self, task: _Task | None) -> None:
        """Stop counting a task that has ended, or that waits for a retry or for the tasks that it has added."""
        self._working.discard(task)
        if not self._working and not self.idle:
            self.idle = True
            self.batch.idle_cases += 1
            if self.batch.on_idle is not None:
                self.batch.on_idle()

    def resume(self, task: _Task | None, ended: Iterable[_Task] = ()) -> None:
        """Count a task again after it has waited, and stop counting those of its own tasks that have ended."""
        self._working.add(task)
        self._working.difference_update(ended)
        if self.idle:
            self.idle = False
            self.batch.idle_cases -= 1
