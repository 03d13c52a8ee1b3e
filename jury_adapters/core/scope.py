"""Settings of a batch, of judging in the background, or of an adapter, which reach every juror inside."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from jury_adapters.core.budget import Budget
from jury_adapters.core.case import Case
from jury_adapters.core.case_slots import BatchState, CaseSlot
from jury_adapters.core.context import changed_context, run_context
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.journal import Journal, StoreLike, open_journal
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.runner import run_judge


class Scope(NamedTuple):
    """Store, budget and batch that apply to the critics inside.

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
        cls, judge: Judge, store: StoreLike | None, budget: Budget | None, *, batch: BatchState | None = None
    ) -> Scope:
        """Make the scope of a judge's work.

        Raises:
            ConfigurationError: a budget in dollars and a juror whose price is unknown, a budget or store that is not
                one, or a store and a juror that it cannot tell from others; the message says what to give.
        """
        if budget is not None and not isinstance(budget, Budget):
            raise ConfigurationError(f"budget is a Budget(usd=..., tokens=..., calls=...), not {budget!r}")
        if budget is not None:
            budget.check(judge)
        if store is not None:
            judge.check_store()
        return cls(open_journal(store), budget, batch)

    async def run_judge(self, judge: Judge, case: Case) -> Judgment:
        """Judge one case within this scope."""
        with self.applied():
            return await run_judge(judge, case)

    def applied(self) -> changed_context:
        """Apply this scope to every judgment that is made inside, by ``judge()`` as well as by ``await ajudge()``."""
        around = run_context()
        return changed_context(
            journal=around.journal if self.journal is None else self.journal,
            budget=around.budget if self.budget is None else self.budget,
            slot=None if self.batch is None else CaseSlot(self.batch, _task()),
        )


def _task() -> asyncio.Task[object] | None:
    loop = asyncio._get_running_loop()  # with the loop given, `current_task` takes a quarter of the time
    return None if loop is None else asyncio.current_task(loop)
