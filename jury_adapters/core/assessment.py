"""Call a judge's ``assess`` method, which may be plain or asynchronous."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from jury_adapters.core import event_loop
from jury_adapters.core.held_loop import Named, report_held_loop, report_slow_in_batch

if TYPE_CHECKING:
    from jury_adapters.core.case import Case

T = TypeVar("T")


class AssessableJudge(Named, Protocol):
    """Part of the judge interface that the functions of this module use."""

    _is_plain: ClassVar[bool]

    @property
    def blocking(self) -> bool: ...

    def assess(self, case: Case) -> Any: ...


def assess_case(judge: AssessableJudge, case: Case) -> Coroutine[Any, Any, Any]:
    """Return a coroutine for the outcome of a judge's ``assess``; if ``assess`` is asynchronous, its own coroutine."""
    return _assess_plain(judge, case) if judge._is_plain else judge.assess(case)


async def _assess_plain(judge: AssessableJudge, case: Case) -> Any:
    outcome = await call_plain(judge, judge.assess, case)
    return await await_outcome(outcome) if isinstance(outcome, Awaitable) else outcome


async def call_plain(judge: AssessableJudge, function: Callable[[Case], T], case: Case) -> T:
    """Call a plain function of a judge, in a worker thread if the judge is blocking.

    If the function blocks an event loop, or other cases of a batch, for more than 50 ms, a warning is logged, once for
    each function.
    """
    if judge.blocking:
        return await event_loop.in_worker_thread(lambda: function(case))
    report = report_slow_in_batch if event_loop.runs_inline() else report_held_loop
    started = perf_counter()
    try:
        return function(case)
    finally:
        report(judge, function, perf_counter() - started)


async def await_outcome(outcome: Any) -> Any:
    """Return the outcome of a plain function, awaited if it is awaitable.

    For example, ``lambda case: ask(case, strict=True)`` is a plain function that may return a coroutine.
    """
    if not isinstance(outcome, Awaitable):
        return outcome
    return event_loop.run(_await, outcome) if event_loop.runs_inline() else await outcome


async def _await(outcome: Awaitable[Any]) -> Any:
    return await outcome
