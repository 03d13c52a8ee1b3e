"""Circuit breaker: a model that is down is not asked for a while, instead of being asked by every call in turn."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import NoReturn

from jury_adapters.core.errors import ModelError
from jury_adapters.models.calls import shown_error

_log = logging.getLogger(__name__)


class CircuitBreaker:
    """State that decides whether one model may be asked, shared by all calls to it, from all threads and event loops.

    The circuit *opens*, and calls fail at once with :class:`ModelError` kind ``"circuit_open"``, when both hold:

    - ``open_after`` calls in a row have given up: all their attempts are spent, or their deadline or the time
      limit of their judge is past;
    - there has been no sign of life for ``cooldown_s`` seconds, from the first of those failures on.

    A *failure* is one that may be temporary: ``"server"``, ``"timeout"``, ``"connection"``, ``"broken_body"``. Any
    other result is a *sign of life*, and restarts the count: an answer, and also a refusal, a 4xx or a 429. A vendor
    that answers 429 is up; a lower request rate is the remedy for it. So retries alone bridge any outage shorter than
    ``cooldown_s``, and a burst of calls that fail together does not open the circuit.

    While it is open, calls in progress keep their attempts, and the first sign of life closes the circuit. Calls that
    wait for a slot fail. After ``cooldown_s`` one call goes through as a *probe*, with a single attempt. A sign of life
    closes the circuit; another failure opens it again, for twice as long each time, up to :data:`LONGEST_S`.

    Args:
        open_after: number of calls in a row; None never opens.
        cooldown_s: seconds.
        name: name of the model in the log.
        clock: monotonic time in seconds.

    Attributes:
        open: whether calls have to use :meth:`admit` first.
        troubled: whether a request failed since the last sign of life. Both are read without the lock, so
            that a call of a healthy model costs only two look-ups.
    """

    __slots__ = (
        "_clock", "_cooldown_s", "_gave_up", "_lock", "_name", "_open_after", "_pause_s", "_probe", "_retry_at",
        "_since", "_tickets", "_why", "open", "troubled",
    )  # fmt: skip

    def __init__(
        self, open_after: int | None, cooldown_s: float, name: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._open_after = open_after
        self._cooldown_s = cooldown_s
        self._name = name
        self._clock = clock
        self._lock = threading.Lock()
        self._tickets = self._gave_up = self._probe = 0
        self._since = self._retry_at = 0.0
        self._pause_s = cooldown_s
        self._why = ""
        self.open = self.troubled = False

    def admit(self) -> int:
        """Let one probe through when it is due. Call it only while the circuit is open.

        Returns:
            A ticket for :meth:`done`.

        Raises:
            ModelError: kind ``"circuit_open"``, with ``retry_after``.
        """
        with self._lock:
            if not self.open:  # it was closed in the meantime
                return 0
            if self._probe or self._clock() < self._retry_at:
                self._refuse()
            self._tickets += 1
            self._probe = self._tickets
            return self._probe

    def done(self, ticket: int) -> None:
        """End a probe. If it had no result, for example because it was cancelled, the next call is a probe."""
        with self._lock:
            if self._probe == ticket:
                self._probe = 0

    def refuse(self) -> None:
        """Refuse a call that was admitted while the circuit was closed, and then had to wait.

        Raises:
            ModelError: kind ``"circuit_open"``.
        """
        with self._lock:
            if self.open:
                self._refuse()

    def alive(self) -> None:
        """Record an answer of the model, even a refusal. Earlier failures are discarded, and the circuit closes."""
        with self._lock:
            was_open, for_s = self.open, self._clock() - self._since
            self._forget()
        if was_open:
            _log.info("%s: circuit closed, the model answers again after %.0f s", self._name, for_s)

    def saw(self, error: ModelError) -> None:
        """Record the error of one attempt."""
        if error.kind in _FAILURES:
            self.failed()
        elif self.troubled and error.kind != "circuit_open":
            self.alive()

    def failed(self) -> None:
        """Record a failure that may be temporary."""
        if self.troubled or self._open_after is None:
            return
        with self._lock:
            if not self.troubled:
                self.troubled, self._since = True, self._clock()

    def gave_up(self, error: ModelError, ticket: int = 0) -> None:
        """Record that a call has no attempts or no time left. With a ticket, the call was a probe."""
        if self._open_after is None or error.kind not in _FAILURES:
            return
        with self._lock:
            if not self.troubled:  # another call has had an answer since
                return
            now = self._clock()
            self._gave_up += 1
            self._why = shown_error(error)
            if ticket and ticket == self._probe:
                self._pause_s = min(2 * self._pause_s, max(LONGEST_S, self._cooldown_s))
            elif self.open or self._gave_up < self._open_after or now - self._since < self._cooldown_s:
                return
            self.open, self._probe, self._retry_at = True, 0, now + self._pause_s
            said = (self._name, self._gave_up, now - self._since, self._why, self._pause_s)
        _log.warning(
            "%s: circuit open: %d calls in a row gave up and nothing was answered for %.0f s (last: %s); calls now "
            "fail at once, and one is let through in %g s", *said,
        )  # fmt: skip

    def _refuse(self) -> NoReturn:
        left = max(0.0, self._retry_at - self._clock())
        raise ModelError(
            f"{self._name} was not asked: {self._gave_up} calls in a row gave up (last: {self._why}); it is tried "
            f"again in {left:.0f} s",
            "circuit_open",
            retry_after=left,
            sent=False,
        )

    def _forget(self) -> None:
        self.open = self.troubled = False
        self._gave_up = self._probe = 0
        self._pause_s = self._cooldown_s


LONGEST_S = 600.0
"""Longest pause between two probes, in seconds."""

_FAILURES = frozenset({"server", "timeout", "connection", "broken_body"})
