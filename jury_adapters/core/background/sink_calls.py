"""Calls of sinks with judged runs: plain functions in a thread, asynchronous functions on the event loop.

Switching to a thread and back costs a busy application far more time than most sinks do. So one switch is used to call
a sink with many runs in sequence, as long as the sink is fast.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import os
from collections.abc import Callable, Sequence
from time import monotonic

from jury_adapters.core import event_loop
from jury_adapters.core.background.passing_threads import PassingThreads
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.functions import is_async
from jury_adapters.core.runs import JudgedRun, Sink

_log = logging.getLogger(__name__)
_THREADS = PassingThreads()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_THREADS.forget)


async def call_sink(sink: Sink, judged: Sequence[JudgedRun], raised: Callable[[], None], patience: float) -> int:
    """Call a sink with judged runs in order, until a time limit.

    Args:
        sink: a plain or asynchronous function. Its exceptions are logged.
        judged: the runs.
        raised: called for each exception of the sink.
        patience: time in seconds after which no further run is started; the first run always is.

    Returns:
        The number of runs with which the sink was called.
    """
    until = monotonic() + patience
    if not is_async(sink):
        calls, answer = await _THREADS.run(_call_plain, sink, judged, raised, until)
        await _awaited(answer, judged[calls - 1], raised)
        return calls
    calls = 0
    for run in judged:
        await _awaited(_answer(sink, run, raised), run, raised)
        calls += 1
        if monotonic() >= until:
            break
    return calls


def sinks_of(given: Sink | Sequence[Sink] | None) -> tuple[Sink, ...]:
    """Return one sink, several sinks or None as a tuple of sinks.

    Raises:
        ConfigurationError: one of them is not a function.
    """
    sinks = () if given is None else (given,) if callable(given) or not isinstance(given, Sequence) else tuple(given)
    for sink in sinks:
        if not callable(sink):
            raise ConfigurationError(f"on_verdict= takes a function, or several, not {type(sink).__name__}")
    return sinks


def _call_plain(
    sink: Sink, judged: Sequence[JudgedRun], raised: Callable[[], None], until: float
) -> tuple[int, object]:
    """Call a plain sink in a thread until the time limit, or until it returns an awaitable."""
    calls, answer = 0, None
    for run in judged:
        answer = _answer(sink, run, raised)
        calls += 1
        if inspect.isawaitable(answer) or monotonic() >= until:  # awaitable: a lambda around an async function
            break
    return calls, answer


def _answer(sink: Sink, judged: JudgedRun, raised: Callable[[], None]) -> object:
    try:
        return sink(judged)
    except BaseException as error:  # the thread, the loop and the other sinks must continue
        _failed(judged, error, raised)
        return None


async def _awaited(answer: object, judged: JudgedRun, raised: Callable[[], None]) -> None:
    try:
        if inspect.isawaitable(answer):
            await answer
    except asyncio.CancelledError as error:
        if event_loop.is_cancelled():
            raise
        _failed(judged, error, raised)
    except GeneratorExit:
        raise
    except BaseException as error:
        _failed(judged, error, raised)


def _failed(judged: JudgedRun, error: BaseException, raised: Callable[[], None]) -> None:
    raised()
    _log.error("on_verdict raised for run %s", judged.run.id, exc_info=error)
