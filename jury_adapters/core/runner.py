"""The function that runs a judge on a case."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING

from jury_adapters.core import observing, portal
from jury_adapters.core.case import Case
from jury_adapters.core.judgment import Judgment, evolve
from jury_adapters.core.outcomes import to_judgment
from jury_adapters.core.values import clean_text

if TYPE_CHECKING:
    from jury_adapters.core.judge import Judge


async def run_judge(
    judge: Judge, case: Case, name: str = "", timeout: float | None = None, *, observed: bool = False
) -> Judgment:
    """Run one judge on one case, with its name, time limit and errors. Every judgment of this package is made here.

    An exception becomes an ERROR judgment, also a CancelledError when the task is not being cancelled. Real
    cancellation, KeyboardInterrupt and GeneratorExit are raised.

    Args:
        judge: the judge.
        case: the case.
        name: name of the judge in the judgment; the judge's own by default.
        timeout: limit in seconds, if it is shorter than the judge's own.
        observed: whether the observer has been called already.
    """
    if observing.observer is not None and not observed:
        work = partial(run_judge, judge, case, name, timeout, observed=True)
        return await observing.observer.judged(judge, case, name, work)
    limit = judge.timeout
    if timeout is not None and (limit is None or timeout < limit):
        limit = timeout
    started = perf_counter()
    depth = _DEPTH.get()
    _DEPTH.set(depth + 1)
    try:
        if depth >= _DEEPEST:
            raise RecursionError(f"judges call judges {_DEEPEST} deep; does one call itself?")
        outcome = await judge.assess(case) if limit is None else await judge.assess_within(limit, case)
        ready = isinstance(outcome, Judgment)
        judgment = outcome if isinstance(outcome, Judgment) else to_judgment(outcome)
    except (Exception, SystemExit, asyncio.CancelledError) as error:
        if isinstance(error, asyncio.CancelledError) and portal.is_cancelled():
            raise
        ready, judgment = False, judge.failure(error)
    finally:
        _DEPTH.set(depth)  # not by a token: a coroutine may be closed in another context
    name = clean_text(name or judge.name or judgment.critic)
    elapsed = perf_counter() - started
    if ready:  # somebody else may hold it too
        return evolve(judgment, critic=name, elapsed_s=elapsed)
    object.__setattr__(judgment, "critic", name)
    object.__setattr__(judgment, "elapsed_s", elapsed)
    return judgment


_DEEPEST = 100
_DEPTH: ContextVar[int] = ContextVar("jury_depth", default=0)  # of the judge at work among judges that call judges
