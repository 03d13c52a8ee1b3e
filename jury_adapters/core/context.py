"""State of a run that reaches every judge inside: one context variable carries all of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

from jury_adapters.core.budget import Budget
from jury_adapters.core.case_slots import CaseSlot
from jury_adapters.core.journal import Journal
from jury_adapters.core.runs import Run

if TYPE_CHECKING:
    from jury_adapters.core.case import Case


class Call(NamedTuple):
    """A judge at work on a case, and the one that has called it.

    Attributes:
        judge: the judge.
        case: the case.
        caller: the judge that has asked this one; None for the outermost.
        depth: number of judges at work inside each other, this one included.
    """

    judge: object
    case: Case
    caller: Call | None
    depth: int


class RunContext(NamedTuple):
    """Settings and state that a batch, an adapter, a jury or a juror sets for what runs inside.

    Attributes:
        journal: where critics that have no store of their own keep their judgments.
        budget: what calls to models are counted against.
        slot: the place of the case in the window of its batch; None outside a batch.
        sample: which of several asks of the same judge this is: ``"0"``, and ``"0.1"``, ``"0.2"`` for repeated ones.
        judging: True while a judge of ours is asking a model, so that what observes an application's runs leaves ours
            alone.
        run: the run of an application that is being judged in the background.
        call: the judge at work.
    """

    journal: Journal | None = None
    budget: Budget | None = None
    slot: CaseSlot | None = None
    sample: str = "0"
    judging: bool = False
    run: Run | None = None
    call: Call | None = None


def run_context() -> RunContext:
    """Return the context of what is running."""
    return _CONTEXT.get()


@contextmanager
def changed_context(**changes: Any) -> Iterator[None]:
    """Change fields of the context for the duration of the block."""
    token = _CONTEXT.set(_CONTEXT.get()._replace(**changes))
    try:
        yield
    finally:
        _CONTEXT.reset(token)


def change_context(**changes: Any) -> None:
    """Change fields of the context from here on; for a task or a thread that has a context of its own."""
    _CONTEXT.set(_CONTEXT.get()._replace(**changes))


def judging() -> AbstractContextManager[None]:
    """Mark what runs inside as a judge's own work; see :attr:`RunContext.judging`."""
    return changed_context(judging=True)


_CONTEXT: ContextVar[RunContext] = ContextVar("jury_run_context", default=RunContext())  # noqa: B039  it is immutable
