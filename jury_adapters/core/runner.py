"""Execution of a judge on a case: name, time limit, errors and nesting."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from functools import partial
from time import perf_counter
from typing import Protocol

from jury_adapters.core import event_loop, instrumentation
from jury_adapters.core.assessment import AssessableJudge, assess_case
from jury_adapters.core.case import Case
from jury_adapters.core.context import Call, enter_call, leave_call
from jury_adapters.core.judgment import Judgment, evolve
from jury_adapters.core.outstanding import MOST_OUTSTANDING, OUTSTANDING
from jury_adapters.core.preparation import prepare_models
from jury_adapters.core.return_values import run_failed, to_judgment
from jury_adapters.core.values import clean_text, shown
from jury_adapters.core.verdict import Verdict


class Runnable(AssessableJudge, Protocol):
    """Part of the judge interface that :func:`run_judge` uses; :class:`jury_adapters.Judge` describes the members."""

    @property
    def timeout(self) -> float | None: ...

    @property
    def inline(self) -> bool: ...

    async def assess_within(self, seconds: float, case: Case) -> object: ...

    def failure(self, error: BaseException | str, reasoning: str = "") -> Judgment: ...


async def run_judge(
    judge: Runnable, case: Case, name: str = "", timeout: float | None = None, *, observed: bool = False
) -> Judgment:
    """Run one judge on one case and return its judgment, with name and duration.

    Every judgment of this package passes through this function. An exception becomes an ERROR judgment, also a
    CancelledError if the task is not being cancelled, and a panic of a library in Rust. Real cancellation,
    KeyboardInterrupt and other exceptions that are not an ``Exception`` are raised. A case of a run that failed is
    FAIL, and the judge is not asked.

    Args:
        judge: the judge.
        case: the case.
        name: name of the judge in the judgment; the judge's own name by default.
        timeout: time limit in seconds; the shorter of this and the judge's own limit applies.
        observed: whether the observer has been called already.
    """
    if instrumentation.observer is not None and not observed:
        work = partial(run_judge, judge, case, name, timeout, observed=True)
        return await instrumentation.observer.judged(judge, case, name, work)
    limit = judge.timeout
    if timeout is not None and (limit is None or timeout < limit):
        limit = timeout
    started = perf_counter()
    call = enter_call(judge, case)
    outermost = call.depth == 1
    count = OUTSTANDING.add(judge, case) if outermost else 0
    try:
        _check_nesting(call, count)
        if (outermost or limit is not None) and not judge.inline:
            await prepare_models(judge)  # before the time limits of the judge and of its members begin
        outcome = await _assess(judge, case, limit) if case.run_error is None else run_failed(judge, case.run_error)
        if isinstance(outcome, Judgment):
            ready, judgment = True, outcome
        else:
            ready, judgment = False, to_judgment(outcome)
    except BaseException as error:
        if not _is_failure(error):
            raise
        ready, judgment = False, judge.failure(error)
    finally:
        if outermost:
            OUTSTANDING.remove(judge, case)
        leave_call(call)
    name = clean_text(shown(name or judge.name or judgment.critic))
    elapsed = perf_counter() - started
    if isinstance(judgment, Verdict) and not _is_inside_jury(call):
        return evolve(judgment, critic=name, elapsed_s=elapsed, case_id=case.item_id, case_metadata=case.metadata)
    if ready:  # copy it, because the judge may have kept a reference
        return evolve(judgment, critic=name, elapsed_s=elapsed)
    object.__setattr__(judgment, "critic", name)
    object.__setattr__(judgment, "elapsed_s", elapsed)
    return judgment


def _assess(judge: Runnable, case: Case, limit: float | None) -> Awaitable[object]:
    return assess_case(judge, case) if limit is None else judge.assess_within(limit, case)


def _is_failure(error: BaseException) -> bool:
    """Whether an exception is a failure of the judge, and not the end of the process, a test or the work around it.

    Libraries in Rust, such as tokenizers, raise PyO3's PanicException for their own defects, often on certain texts
    only. It is not an ``Exception``.
    """
    if isinstance(error, asyncio.CancelledError):
        return not event_loop.is_cancelled()
    if isinstance(error, BaseExceptionGroup) and not isinstance(error, Exception):  # of an asyncio.TaskGroup, say
        return all(map(_is_failure, error.exceptions))
    return isinstance(error, Exception | SystemExit) or type(error).__name__ == "PanicException"


def _is_inside_jury(call: Call) -> bool:
    """Whether a jury has asked this judge, so that its verdict is part of another one, which has the case's id."""
    return call.caller is not None and bool(getattr(call.caller.judge, "members", ()))


def _check_nesting(call: Call, outstanding: int) -> None:
    """Check that judges do not call each other without end.

    A judge that calls itself twice at a time would make 2**depth calls, so calls for the same case have a lower limit
    than other nested calls. A call from a new thread, or from a task with an empty context, does not know its caller;
    the number of such calls is limited.

    Args:
        call: the call.
        outstanding: number of unfinished calls of this judge for this case that have no known caller.

    Raises:
        RecursionError: a limit is exceeded.
    """
    if outstanding > MOST_OUTSTANDING:
        raise RecursionError("too many calls of a judge for one case are under way; does it call itself?")
    if call.depth > _DEEPEST:
        raise RecursionError(f"judges call judges {_DEEPEST} deep; does one call itself?")
    again, caller = 0, call.caller
    while caller is not None:
        again += caller.judge is call.judge and caller.case is call.case
        caller = caller.caller
    if again >= _MOST_AGAIN:
        raise RecursionError("a judge calls itself for the same case again and again")


_DEEPEST = 100
_MOST_AGAIN = 5  # calls of a judge within itself, for one case
