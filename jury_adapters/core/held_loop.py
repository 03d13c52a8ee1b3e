"""Warnings about plain functions that block other work; each function is reported once."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Protocol

from jury_adapters.core import event_loop
from jury_adapters.core.context import run_context
from jury_adapters.core.judgment import Judgment

_log = logging.getLogger(__name__)


class Named(Protocol):
    """Part of the judge interface that holds the name and the members."""

    @property
    def name(self) -> str: ...

    @property
    def members(self) -> Sequence[object]: ...


def report_held_loop(judge: Named, function: object, seconds: float) -> None:
    """Log a warning if a function held an event loop for more than 50 ms.

    The checks of this package compute for milliseconds, and their users cannot change them. The time may be that of
    other threads, such as one that imports an SDK.
    """
    if seconds > _LONGEST_S and _is_users(function):
        code = getattr(function, "__code__", type(judge))  # report a function once, also if each case has a new judge
        _report(judge, code, f"held the event loop for {1000 * seconds:.0f} ms, and everything else on it waited")


def report_slow_in_batch(judge: Named, function: object, seconds: float) -> None:
    """Log a warning if a function took more than 50 ms for two cases of a batch without an event loop.

    Such a batch judges one case after the other. In worker threads a function that waits would judge several at once.
    A single slow call is no reason, because it may have loaded what the function needs.
    """
    if seconds > _LONGEST_S and _is_users(function) and (slot := run_context().slot) is not None:
        key = type(judge), judge.name
        if key in slot.batch.slow_judges:
            _report(judge, key, f"took {1000 * seconds:.0f} ms while the other cases of its batch waited", _IF_IT_WAITS)
        slot.batch.slow_judges.add(key)


def report_slow_members(judges: Sequence[Named], judgments: Sequence[Judgment]) -> None:
    """Log a warning if several members of a jury ran in sequence for more than 50 ms each.

    Without an event loop, a jury of plain functions calls them one after the other. In worker threads they would run
    concurrently.
    """
    if not event_loop.runs_inline() or not any((judgment.elapsed_s or 0.0) > _LONGEST_S for judgment in judgments):
        return
    taken = zip(judges, [judgment.elapsed_s or 0.0 for judgment in judgments], strict=True)
    slow = [(judge, seconds) for judge, seconds in taken if seconds > _LONGEST_S and not judge.members]
    for judge, seconds in slow if len(slow) > 1 else ():
        _report(judge, (type(judge), judge.name), f"took {1000 * seconds:.0f} ms while other jurors waited")


def _is_users(function: object) -> bool:
    return not str(getattr(function, "__module__", "")).startswith("jury_adapters.")


def _report(judge: Named, key: object, what: str, condition: str = "") -> None:
    if key in _REPORTED:
        return
    _REPORTED.add(key)
    name = judge.name or type(judge).__name__
    advice = "run it in a worker thread: @judge(blocking=True), or blocking = True in its class"
    _log.warning("the judge %r %s; %s%s", name, what, condition, advice)


_IF_IT_WAITS = "if it waits for something, "
_LONGEST_S = 0.05
_REPORTED: set[object] = set()
