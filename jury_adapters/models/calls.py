"""Observation of the calls to models: by the log at level DEBUG, and by a tracer if there is one.

Both see a call before and after it is made, but never a key. Without them, a call costs two look-ups of variables.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import count
from time import perf_counter
from typing import Literal, Protocol, TypeAlias, TypeVar

from jury_adapters.core.errors import ModelError
from jury_adapters.core.usage import NO_USAGE, Usage
from jury_adapters.models.base import Named, Options, Prompt, Reply

T = TypeVar("T")
Attempt: TypeAlias = Callable[[], Awaitable[T]]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Request:
    """Request to a model.

    Attributes:
        operation: ``"chat"``, or ``"decide"`` for a decision model.
        model: the model itself, beneath its limits.
        prompt: the prompt.
        options: options for the answer.
    """

    operation: Literal["chat", "decide"]
    model: Named
    prompt: Prompt
    options: Options = Options()


class CallObserver(Protocol):
    """Observer of every call to a model, with its attempts."""

    def called(self, request: Request, attempt: Attempt[T], call: Callable[[Attempt[T]], Awaitable[T]]) -> Awaitable[T]:
        """Make a call and return its result unchanged.

        Args:
            request: the request.
            attempt: makes one request.
            call: makes the call within its limits, with as many of ``attempt`` as may help.
        """


observer: CallObserver | None = None


def watched() -> bool:
    """Return whether there is an observer, so that calls go through :func:`made`."""
    return observer is not None or _log.isEnabledFor(logging.DEBUG)


async def made(request: Request, attempt: Attempt[T], call: Callable[[Attempt[T]], Awaitable[T]]) -> T:
    """Make an observed call; see :class:`CallObserver`."""
    tried = _logged(request.model.name, attempt) if _log.isEnabledFor(logging.DEBUG) else attempt
    return await call(tried) if observer is None else await observer.called(request, tried, call)


def usage_of(result: object) -> Usage:
    """Return the usage of a call, from a reply or from the answers of a decision model."""
    if isinstance(result, Reply):
        return result.usage
    found = result[1] if isinstance(result, tuple) and len(result) == 2 else None
    return found if isinstance(found, Usage) else NO_USAGE


def _logged(name: str, attempt: Attempt[T]) -> Attempt[T]:
    """Return the attempt with a line in the log for each time that it is made."""
    numbers = count(1)

    async def logged() -> T:
        number, started = next(numbers), perf_counter()
        try:
            result = await attempt()
        except BaseException as error:
            _log.debug("%s attempt %d: %s, %.0f ms", name, number, shown_error(error), _ms_since(started))
            raise
        took = usage_of(result)
        _log.debug(
            "%s attempt %d: ok, %.0f ms, %d tokens in, %d out",
            name, number, _ms_since(started), took.input_tokens, took.output_tokens,
        )  # fmt: skip
        return result

    return logged


def shown_error(error: BaseException) -> str:
    """Return an error's kind, status and request id for the log, without its message, which may quote the prompt."""
    if not isinstance(error, ModelError):
        return type(error).__name__
    status = f" (HTTP {error.status})" if error.status else ""
    return f"{error.kind}{status}{f', request {error.request_id}' if error.request_id else ''}"


def _ms_since(started: float) -> float:
    return 1000 * (perf_counter() - started)
