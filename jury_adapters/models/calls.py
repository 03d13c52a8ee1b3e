"""Who watches the calls to models: the log at level DEBUG, and a tracer where there is one.

Both see a call as it goes out and as it comes back, never a key. With neither, a call costs one look at two variables.
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
    """What a model is asked.

    Attributes:
        operation: ``"chat"``, or ``"decide"`` for a decision model.
        model: the model itself, beneath its limits.
        prompt: what it is shown.
        options: how it shall answer.
    """

    operation: Literal["chat", "decide"]
    model: Named
    prompt: Prompt
    options: Options = Options()


class CallObserver(Protocol):
    """Sees every call to a model, with its tries."""

    def called(self, request: Request, attempt: Attempt[T], call: Callable[[Attempt[T]], Awaitable[T]]) -> Awaitable[T]:
        """Make a call, and hand out what came of it, unchanged.

        Args:
            request: what is asked.
            attempt: makes one request.
            call: makes the call within its limits, trying ``attempt`` as often as may help.
        """


observer: CallObserver | None = None


def watched() -> bool:
    """Whether anybody watches, so that calls go through :func:`made`."""
    return observer is not None or _log.isEnabledFor(logging.DEBUG)


async def made(request: Request, attempt: Attempt[T], call: Callable[[Attempt[T]], Awaitable[T]]) -> T:
    """Make a call that somebody watches; see :class:`CallObserver`."""
    tried = _logged(request.model.name, attempt) if _log.isEnabledFor(logging.DEBUG) else attempt
    return await call(tried) if observer is None else await observer.called(request, tried, call)


def usage_of(result: object) -> Usage:
    """What a call took: of a reply, or of the answers of a decision model."""
    if isinstance(result, Reply):
        return result.usage
    found = result[1] if isinstance(result, tuple) and len(result) == 2 else None
    return found if isinstance(found, Usage) else NO_USAGE


def _logged(name: str, attempt: Attempt[T]) -> Attempt[T]:
    """The attempt, with a line in the log each time that it is made."""
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
    """An error for the log: its kind, status and request, and not its message, which may quote what was asked."""
    if not isinstance(error, ModelError):
        return type(error).__name__
    status = f" (HTTP {error.status})" if error.status else ""
    return f"{error.kind}{status}{f', request {error.request_id}' if error.request_id else ''}"


def _ms_since(started: float) -> float:
    return 1000 * (perf_counter() - started)
