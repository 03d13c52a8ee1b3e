"""Budget of a command, and the checks of ``--dry-run`` that a run makes when it begins to judge."""

from __future__ import annotations

from jury_adapters.cli.options import file_of_store
from jury_adapters.core.budget import Budget
from jury_adapters.core.errors import InputError
from jury_adapters.core.judge import Judge


def budget_of(max_usd: float | None, max_calls: int | None, max_tokens: int | None) -> Budget | None:
    """Return the budget of a command's options; None without a limit."""
    if (max_usd, max_calls, max_tokens) == (None, None, None):
        return None
    return Budget(max_usd=max_usd, max_calls=max_calls, max_tokens=max_tokens)


def check_scope(judge: Judge, store: str | None, budget: Budget | None) -> None:
    """Refuse a store and a budget that a run would refuse; a store that is not there yet is not made.

    Raises:
        ConfigurationError: the run would refuse one of them. A server is not asked.
    """
    if budget is not None:
        budget.check(judge)
    file = file_of_store(store)
    if store is not None:
        judge.check_store()
    if file is None:
        return
    if file.is_file() and file.stat().st_size:
        from jury_adapters.store.opening import existing_store

        existing_store(file).close()
    elif file.is_dir() or not file.parent.is_dir():
        raise InputError(f"the store {file} cannot be used: {'it is a folder' if file.is_dir() else 'no such folder'}")
