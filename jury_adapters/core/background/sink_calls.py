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
from itertools import count
from time import monotonic

from jury_adapters.core import event_loop
from jury_adapters.core.background.passing_threads import PassingThreads
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.functions import is_async, takes_one
from jury_adapters.core.runs import JudgedRun, Sink
from jury_adapters.core.secrets import without_keys

_log = logging.getLogger(__name__)
_THREADS = PassingThreads()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_THREADS.forget)


class SinkFailures:
    """Exceptions of one sink. The log has the traceback of the first; of the 2nd, 4th, 8th... it has one line.

    Args:
        counted: called for each exception.
    """

    __slots__ = ("_counted", "_numbers")

    def __init__(self, counted: Callable[[], None]) -> None:
        self._counted = counted
        self._numbers = count(1)

    def add(self, judged: JudgedRun, error: BaseException) -> None:
        """Count an exception, and log it if it is due."""
        self._counted()
        number = next(self._numbers)  # atomic, as threads and the event loop call it
        if number == 1:
            _log.error(
                "on_verdict raised for run %s (further exceptions of this sink are counted)", judged.run.id,
                exc_info=error,
            )  # fmt: skip
        elif number & (number - 1) == 0:
            why = without_keys(repr(error))
            _log.error("on_verdict raised %d times so far, now for run %s: %s", number, judged.run.id, why)


async def call_sink(sink: Sink, judged: Sequence[JudgedRun], failures: SinkFailures, patience: float) -> int:
    """Call a sink with judged runs in order, until a time limit.

    Args:
        sink: a plain or asynchronous function.
        judged: the runs.
        failures: counts the exceptions of the sink.
        patience: time in seconds after which no further run is started; the first run always is.

    Returns:
        The number of runs with which the sink was called.
    """
    until = monotonic() + patience
    if not is_async(sink):
        calls, answer = await _THREADS.run(_call_plain, sink, judged, failures, until)
        await _awaited(answer, judged[calls - 1], failures)
        return calls
    calls = 0
    for run in judged:
        await _awaited(_answer(sink, run, failures), run, failures)
        calls += 1
        if monotonic() >= until:
            break
    return calls


def sinks_of(given: Sink | Sequence[Sink] | None) -> tuple[Sink, ...]:
    """Return one sink, several sinks or None as a tuple of sinks.

    Raises:
        ConfigurationError: one of them is not a function, or cannot be called with one argument.
    """
    sinks = () if given is None else (given,) if callable(given) or not isinstance(given, Sequence) else tuple(given)
    for sink in sinks:
        if not callable(sink):
            raise ConfigurationError(f"on_verdict= takes a function, or several, not {type(sink).__name__}")
        if not takes_one(sink):
            raise ConfigurationError(
                "on_verdict= takes a function of one argument, a JudgedRun: lambda judged: print(judged.judgment)"
            )
    return sinks


def _call_plain(sink: Sink, judged: Sequence[JudgedRun], failures: SinkFailures, until: float) -> tuple[int, object]:
    """Call a plain sink in a thread until the time limit, or until it returns an awaitable."""
    calls, answer = 0, None
    for run in judged:
        answer = _answer(sink, run, failures)
        calls += 1
        if inspect.isawaitable(answer) or monotonic() >= until:  # awaitable: a lambda around an async function
            break
    return calls, answer


def _answer(sink: Sink, judged: JudgedRun, failures: SinkFailures) -> object:
    try:
        return sink(judged)
    except BaseException as error:  # the thread, the loop and the other sinks must continue
        failures.add(judged, error)
        return None


async def _awaited(answer: object, judged: JudgedRun, failures: SinkFailures) -> None:
    try:
        if inspect.isawaitable(answer):
            await answer
    except asyncio.CancelledError as error:
        if event_loop.is_cancelled():
            raise
        failures.add(judged, error)
    except GeneratorExit:
        raise
    except BaseException as error:
        failures.add(judged, error)
