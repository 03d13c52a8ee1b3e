"""Settings of a batch, or of judging in the background, for the critics inside: store, budget, place in the window."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from os import PathLike
from typing import NamedTuple

from jury_adapters.core.budget import BUDGET, Budget
from jury_adapters.core.case import Case
from jury_adapters.core.case_slots import CASE_SLOT, BatchState, CaseSlot
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.journal import JOURNAL, Journal, open_journal
from jury_adapters.core.judge import Judge, judged
from jury_adapters.core.judgment import Judgment

# True while a judge of ours is asking a model, so that whoever watches an application's runs leaves ours alone.
JUDGING: ContextVar[bool] = ContextVar("jury_judging", default=False)


class Scope(NamedTuple):
    """Where the judgments of critics are recorded, what they may spend, and the batch they belong to.

    Attributes:
        journal: None leaves it to the surrounding scope.
        budget: None leaves it to the surrounding scope.
        batch: None outside a batch.
    """

    journal: Journal | None = None
    budget: Budget | None = None
    batch: BatchState | None = None

    @classmethod
    def of(
        cls,
        judge: Judge,
        store: Journal | str | PathLike[str] | None,
        budget: Budget | None,
        *,
        batch: BatchState | None = None,
    ) -> Scope:
        """Return the scope of a judge's work.

        Raises:
            ConfigurationError: a budget in dollars and a juror whose price is unknown, or not a Budget at all.
        """
        if budget is not None and not isinstance(budget, Budget):
            raise ConfigurationError(f"budget is a Budget(usd=..., tokens=..., calls=...), not {budget!r}")
        if budget is not None:
            budget.check(judge)
        return cls(open_journal(store), budget, batch)

    async def judged(self, judge: Judge, case: Case) -> Judgment:
        """Judge one case within this scope."""
        journal = JOURNAL.set(JOURNAL.get() if self.journal is None else self.journal)
        budget = BUDGET.set(BUDGET.get() if self.budget is None else self.budget)
        slot = CASE_SLOT.set(None if self.batch is None else CaseSlot(self.batch, _task()))
        try:
            return await judged(judge, case)
        finally:
            JOURNAL.reset(journal)
            BUDGET.reset(budget)
            CASE_SLOT.reset(slot)


@contextmanager
def judging() -> Iterator[None]:
    """Mark what runs inside as a judge's own work; see :data:`JUDGING`."""
    token = JUDGING.set(True)
    try:
        yield
    finally:
        JUDGING.reset(token)


def _task() -> asyncio.Task[object] | None:
    loop = asyncio._get_running_loop()  # with the loop given, `current_task` takes a quarter of the time
    return None if loop is None else asyncio.current_task(loop)
