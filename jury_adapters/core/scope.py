"""Scope: store and budget of a batch, of background judging or of an adapter, which apply to every juror."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from jury_adapters.core.budget import Budget
from jury_adapters.core.cache import JudgmentCache, StoreLike, open_cache
from jury_adapters.core.case import Case
from jury_adapters.core.case_slots import BatchState, CaseSlot
from jury_adapters.core.context import changed_context, run_context
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.runner import run_judge


class Scope(NamedTuple):
    """Store, budget and batch that apply to the critics of a judge.

    Attributes:
        cache: the store; None for that of the surrounding scope.
        budget: the budget; None for that of the surrounding scope.
        batch: the state of the batch; None outside a batch.
    """

    cache: JudgmentCache | None = None
    budget: Budget | None = None
    batch: BatchState | None = None

    @classmethod
    def of(
        cls, judge: Judge, store: StoreLike | None, budget: Budget | None, *, batch: BatchState | None = None
    ) -> Scope:
        """Return the scope for a judge, a store and a budget.

        Raises:
            ConfigurationError: the budget or the store is invalid, the budget is in dollars and the price of a juror is
                unknown, or a juror has no stable identity for the store; the message says how to correct it.
        """
        if budget is not None and not isinstance(budget, Budget):
            raise ConfigurationError(
                f"budget is a Budget(max_usd=..., max_calls=..., max_tokens=...), not {plain_repr(budget)}"
            )
        if budget is not None:
            budget.check(judge)
        if store is not None:
            judge.check_store()
        return cls(open_cache(store), budget, batch)

    async def run_judge(self, judge: Judge, case: Case) -> Judgment:
        """Judge one case within this scope."""
        with self.applied():
            return await run_judge(judge, case)

    def applied(self) -> changed_context:
        """Return a context manager that applies this scope to calls of ``judge()`` and ``ajudge()`` in its block."""
        around = run_context()
        return changed_context(
            cache=around.cache if self.cache is None else self.cache,
            budget=around.budget if self.budget is None else self.budget,
            slot=None if self.batch is None else CaseSlot(self.batch, _task()),
        )


def _task() -> asyncio.Task[object] | None:
    loop = asyncio._get_running_loop()  # `current_task` is four times as fast with the loop given
    return None if loop is None else asyncio.current_task(loop)
