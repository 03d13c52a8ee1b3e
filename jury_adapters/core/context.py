"""State of a run that reaches every judge inside: one context variable carries all of it."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

from jury_adapters.core.budget import Budget
from jury_adapters.core.case_slots import CaseSlot
from jury_adapters.core.journal import Journal
from jury_adapters.core.runs import Run

if TYPE_CHECKING:
    from jury_adapters.core.case import Case


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
        traced: True where the calls of LangChain's models are runs in the application's traces.
    """

    journal: Journal | None = None
    budget: Budget | None = None
    slot: CaseSlot | None = None
    sample: str = "0"
    judging: bool = False
    run: Run | None = None
    traced: bool = False


class Call:
    """A judge at work on a case, and the context that applies to it.

    Attributes:
        context: settings and state for what the judge does.
        judge: the judge; None outside all judges.
        case: the case; None outside all judges.
        caller: the judge that has asked this one; None for the outermost.
        depth: number of judges at work inside each other, this one included.
    """

    __slots__ = ("caller", "case", "context", "depth", "judge")

    def __init__(self, context: RunContext, judge: object, case: Case | None, caller: Call | None, depth: int) -> None:
        self.context, self.judge, self.case, self.caller, self.depth = context, judge, case, caller, depth

    def changed(self, changes: dict[str, Any]) -> Call:
        """Return the same call with changed fields of its context."""
        return Call(self.context._replace(**changes), self.judge, self.case, self.caller, self.depth)


def run_context() -> RunContext:
    """Return the context of what is running."""
    return _CALL.get().context


def enter_call(judge: object, case: Case) -> Call:
    """Note that a judge begins to work on a case, and return its call."""
    caller = _CALL.get()
    call = Call(caller.context, judge, case, caller, caller.depth + 1)
    _CALL.set(call)
    return call


def leave_call(call: Call) -> None:
    """Note that the judge has ended its work; without effect where another call is at work, in another context."""
    now = _CALL.get()
    if now is call and call.caller is not None:
        _CALL.set(call.caller)
    elif call.caller is not None and now.caller is call.caller and now.judge is call.judge and now.case is call.case:
        # The context was changed for good inside.
        _CALL.set(call.caller.changed(now.context._asdict()))


class changed_context:  # noqa: N801  used like a function
    """Change fields of the context for the duration of a ``with`` block.

    Args:
        **changes: fields of :class:`RunContext` with their values inside the block.
    """

    __slots__ = ("_call", "_token")

    def __init__(self, **changes: Any) -> None:
        self._call = _CALL.get().changed(changes)

    def __enter__(self) -> None:
        self._token = _CALL.set(self._call)

    def __exit__(self, *_: object) -> None:
        _CALL.reset(self._token)


def change_context(**changes: Any) -> None:
    """Change fields of the context from here on; for a task or a thread that has a context of its own."""
    _CALL.set(_CALL.get().changed(changes))


def judging() -> changed_context:
    """Mark what runs inside as a judge's own work; see :attr:`RunContext.judging`."""
    return changed_context(judging=True)


_CALL: ContextVar[Call] = ContextVar("jury_call", default=Call(RunContext(), None, None, None, 0))  # noqa: B039  never changed
