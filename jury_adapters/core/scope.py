"""What a batch, or judging in the background, tells the critics inside it: where to record, what may be spent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from os import PathLike
from typing import NamedTuple

from jury_adapters.core.budget import BUDGET, Budget
from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.journal import JOURNAL, Journal, open_journal
from jury_adapters.core.judge import Judge, judged
from jury_adapters.core.judgment import Judgment

# True while a judge of ours is asking a model, so that whoever watches an application's runs leaves ours alone.
JUDGING: ContextVar[bool] = ContextVar("jury_judging", default=False)


class Scope(NamedTuple):
    """Where the judgments of critics are recorded, and what they may spend; None leaves it to what is around."""

    journal: Journal | None = None
    budget: Budget | None = None

    @classmethod
    def of(cls, judge: Judge, store: Journal | str | PathLike[str] | None, budget: Budget | None) -> Scope:
        """The scope of a judge's work.

        Raises:
            ConfigurationError: a budget in dollars and a juror whose price is unknown, no Budget at all, or a store
                and a juror that it cannot tell from others.
        """
        if budget is not None and not isinstance(budget, Budget):
            raise ConfigurationError(f"budget is a Budget(usd=..., tokens=..., calls=...), not {budget!r}")
        if budget is not None:
            budget.check(judge)
        if store is not None:
            judge.check_store()
        return cls(open_journal(store), budget)

    async def judged(self, judge: Judge, case: Case) -> Judgment:
        """Judge one case within this scope."""
        journal = JOURNAL.set(JOURNAL.get() if self.journal is None else self.journal)
        budget = BUDGET.set(BUDGET.get() if self.budget is None else self.budget)
        try:
            return await judged(judge, case)
        finally:
            JOURNAL.reset(journal)
            BUDGET.reset(budget)


@contextmanager
def judging() -> Iterator[None]:
    """Mark what runs inside as a judge's own work; see :data:`JUDGING`."""
    token = JUDGING.set(True)
    try:
        yield
    finally:
        JUDGING.reset(token)
