"""Models that fail every call in the same way: no valid key, no quota left, no such model."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from jury_adapters.core.errors import ModelError
from jury_adapters.models.calls import shown_error


def is_persistent(error: ModelError) -> bool:
    """Return whether every further call to the model will fail in this way, whatever its prompt.

    This holds for a refused key, an exhausted quota, and a 404 about the model or the address. A 404 about a parameter
    of the request, or about a feature that a single case needs, concerns only that case.
    """
    if error.status == 404:
        return error.parameter in (None, "model") and _ABILITY not in error.message.lower()
    return error.kind in ("authentication", "quota_exhausted")


class PersistentFailures:
    """Consecutive persistent failures of one model. After a number of them, calls fail without a request.

    A success resets the count. Other failures neither increase nor reset it. Safe to use from several event loops and
    threads at once.

    Args:
        name: name of the model.
        most: number of consecutive failures after which calls are refused; None never refuses.
        cooldown_s: seconds after which one call is let through again; None lets none through.
        clock: monotonic time in seconds.
    """

    def __init__(
        self,
        name: str,
        most: int | None,
        cooldown_s: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._name = name
        self._most = most
        self._cooldown_s = cooldown_s
        self._clock = clock
        self._lock = threading.Lock()
        self._count = 0
        self._retry_at = 0.0
        self._last: ModelError | None = None  # set while calls are refused

    def check(self) -> None:
        """Refuse a call to a model after too many failures. After the cool-off, let one call through.

        Raises:
            ModelError: without a cool-off, the error of the last call again; with one, kind ``"circuit_open"``.
        """
        if self._last is None:
            return
        with self._lock:
            last, now = self._last, self._clock()
            if last is None:
                return
            if self._cooldown_s is None:
                raise ModelError(
                    f"{last.message}; {self._name} was not asked again, because {self._count} calls in a row ended so",
                    last.kind, status=last.status, request_id=last.request_id, parameter=last.parameter, sent=False,
                )  # fmt: skip
            if now < self._retry_at:
                left = self._retry_at - now
                raise ModelError(
                    f"{self._name} was not asked: {self._count} calls in a row were refused "
                    f"(last: {shown_error(last)}); it is tried again in {left:.0f} s",
                    "circuit_open", retry_after=left, sent=False,
                )  # fmt: skip
            self._retry_at = now + self._cooldown_s

    def add(self, error: ModelError) -> None:
        """Count a failure, if it is persistent."""
        if self._most is None or not error.sent or not is_persistent(error):
            return
        with self._lock:
            if self._cooldown_s is None and self._last is not None:  # calls that were in progress; keep one message
                return
            self._count += 1
            if self._count >= self._most:
                self._last = error
                self._retry_at = self._clock() + (self._cooldown_s or 0.0)

    def clear(self) -> None:
        """Record a success."""
        if self._count:
            with self._lock:
                self._count, self._last = 0, None


_ABILITY = "no endpoints found that support"  # OpenRouter's message, for example about images
