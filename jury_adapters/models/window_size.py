"""Size of a vendor's one-second window, inferred from the order of accepted and refused requests."""

from __future__ import annotations

from typing import NamedTuple

_SECOND = 1.0
_FEWEST = 8  # accepted requests in a row from which a window is inferred
_CLOSE = 3  # requests from one refusal to the next, so that both belong to the same full window
_ENOUGH = 4  # such refusals, before the window counts as full


class WindowSize:
    """Estimate of the number of requests that a vendor accepts within a second, from two full windows in a row.

    A vendor that counts requests per second accepts them in runs: once a window is full, it refuses all, and when the
    next window begins, it accepts all until that is full. A run of accepted requests that begins and ends with
    refusals, less than a second apart, is therefore one whole window, wherever the vendor's seconds begin. The
    requests accepted in one second of our own clock may belong to two windows, and be nearly twice as many.

    Random refusals, and those of a token bucket at a rate slightly too high, come one by one. So a run counts only if
    several refusals follow it closely.

    Attributes:
        requests: size of the last full window; None before the first.
    """

    __slots__ = ("_count", "_ended", "_first", "_last", "requests")

    def __init__(self) -> None:
        self.requests: int | None = None
        self._ended = _Refusal(0, float("-inf"))  # the last refusal of the previous window
        self._first = self._last = self._ended
        self._count = 0

    def refuse(self, number: int, at: float) -> bool:
        """Record a refusal, and return whether it has completed a full window.

        Args:
            number: number of the request, counted in the order of sending. Refusals may arrive in another order.
            at: time of sending, in seconds.
        """
        refusal = _Refusal(number, at)
        if number > self._last.number + _CLOSE:
            self._ended, self._first, self._last, self._count = self._last, refusal, refusal, 0
        elif number < self._ended.number:
            return False
        self._first, self._last = min(self._first, refusal), max(self._last, refusal)
        self._count += 1
        run = self._first.number - self._ended.number - 1
        if self._count != _ENOUGH or run < _FEWEST or self._first.at - self._ended.at >= _SECOND:
            return False
        self.requests = run
        return True

    def correct(self, goodput: float) -> float:
        """Return the size of the last full window if the goodput may be that of two windows, else the goodput."""
        if self.requests is not None and 0.45 * goodput <= self.requests < goodput:
            return float(self.requests)
        return goodput


class _Refusal(NamedTuple):
    number: int
    at: float
