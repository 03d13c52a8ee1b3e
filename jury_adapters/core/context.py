"""State of a run that applies to every nested judge, kept in one context variable."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

from jury_adapters.core.budget import Budget
from jury_adapters.core.cache import JudgmentCache
from jury_adapters.core.case_slots import CaseSlot
from jury_adapters.core.runs import Run

if TYPE_CHECKING:
    from asyncio import Timeout

    from jury_adapters.core.case import Case


class TimeLimit:
    """Time limit of a judge that is running, and what failed within it.

    Attributes:
        timeout: the limit itself.
        last_error: the kind and the message of the last failed attempt of a model; empty if none failed.
    """

    __slots__ = ("last_error", "timeout")

    def __init__(self, timeout: Timeout) -> None:
        self.timeout = timeout
        self.last_error = ""


class RunContext(NamedTuple):
    """Settings and state that a batch, an adapter, a jury or a juror sets for the judges that it runs.

    Attributes:
        cache: the store of critics that have no store of their own.
        budget: the budget to which calls to models are charged.
        slot: the slot of the case in the window of its batch; None outside a batch.
        sample: number of the sample if the same judge is asked several times: ``"0"``, then ``"0.1"``, ``"0.2"``.
        judging: True while a judge of this package asks a model, so that collectors of an application's runs ignore the
            call.
        run: the run of an application that is being judged in the background.
        traced: True if calls of LangChain models are runs in the application's traces.
        time_limits: the time limits of the judges that are running, the outermost first.
    """

    cache: JudgmentCache | None = None
    budget: Budget | None = None
    slot: CaseSlot | None = None
    sample: str = "0"
    judging: bool = False
    run: Run | None = None
    traced: bool = False
    time_limits: tuple[TimeLimit, ...] = ()


class Call:
    """Running call of a judge for a case, with the context that applies to it.

    Attributes:
        context: settings and state of the call.
        judge: the judge; None outside all judges.
        case: the case; None outside all judges.
        caller: the call of the judge that asked this one; None outside all judges.
        depth: number of nested calls, including this one.
    """

    __slots__ = ("caller", "case", "context", "depth", "judge")

    def __init__(self, context: RunContext, judge: object, case: Case | None, caller: Call | None, depth: int) -> None:
        self.context, self.judge, self.case, self.caller, self.depth = context, judge, case, caller, depth

    def changed(self, changes: dict[str, Any]) -> Call:
        """Return the same call with changed fields of its context."""
        return Call(self.context._replace(**changes), self.judge, self.case, self.caller, self.depth)


def run_context() -> RunContext:
    """Return the context of the current call."""
    return _CALL.get().context


def is_out_of_time() -> bool:
    """Whether the time limit of a judge that is running has expired, so that its calls are being cancelled."""
    return any(limit.timeout.expired() for limit in run_context().time_limits)


def note_failed_attempt(kind: str, error: object) -> None:
    """Record in the time limits of the judges that are running that an attempt of a model failed."""
    for limit in run_context().time_limits:
        limit.last_error = f"{kind}: {error}"


def enter_call(judge: object, case: Case) -> Call:
    """Record that a judge starts on a case, and return its call."""
    caller = _CALL.get()
    call = Call(caller.context, judge, case, caller, caller.depth + 1)
    _CALL.set(call)
    return call


def leave_call(call: Call) -> None:
    """Record that the judge has finished; without effect in another context, in which another call is current."""
    now = _CALL.get()
    if now is call and call.caller is not None:
        _CALL.set(call.caller)
    elif call.caller is not None and now.caller is call.caller and now.judge is call.judge and now.case is call.case:
        # change_context() was called inside; keep its changes.
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
    """Change fields of the context permanently; for a task or a thread that has its own context."""
    _CALL.set(_CALL.get().changed(changes))


def judging() -> changed_context:
    """Return a context manager that marks its block as the work of a judge; see :attr:`RunContext.judging`."""
    return changed_context(judging=True)


_CALL: ContextVar[Call] = ContextVar("jury_call", default=Call(RunContext(), None, None, None, 0))  # noqa: B039  never changed
