"""Rate limits that work across event loops and threads: concurrency, requests per minute, tokens per minute."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque

from jury_adapters.models.adaptive_rate import AdaptiveRate


class Waiting:
    """Switch for waits; ``jury_adapters.testing.no_waiting()`` turns them off."""

    enabled = True


class Slots:
    """Semaphore for calls of several event loops and threads, first come, first served."""

    def __init__(self, most: int) -> None:
        self._lock = threading.Lock()
        self._most = most
        self._taken = 0
        self._queue: deque[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = deque()

    def taken(self) -> bool:
        """Take a slot if one is free and no call waits for it, and return whether it was taken."""
        with self._lock:
            free = self._taken < self._most and not self._queue
            self._taken += free
            return free

    async def turn(self) -> None:
        """Wait for a slot behind all waiting calls. A slot may have become free since :meth:`taken` was called."""
        with self._lock:
            loop = asyncio.get_running_loop()
            turn: asyncio.Future[None] = loop.create_future()
            self._queue.append((loop, turn))
            self._wake()
        try:
            await turn
        except asyncio.CancelledError:
            with self._lock:
                if (loop, turn) in self._queue:
                    self._queue.remove((loop, turn))
                    raise
            self.release()  # the slot was already assigned to this call
            raise

    def release(self) -> None:
        with self._lock:
            self._taken -= 1
            self._wake()

    def _wake(self) -> None:
        while self._queue and self._taken < self._most:
            loop, turn = self._queue.popleft()
            self._taken += 1
            try:
                loop.call_soon_threadsafe(_give, turn)
            except RuntimeError:  # that loop has been closed
                self._taken -= 1


class Bucket:
    """Token bucket with credit: a call that takes more than is available waits until the amount is covered."""

    def __init__(self, per_minute: float) -> None:
        self._lock = threading.Lock()
        self._per_second = per_minute / 60
        # A small burst at the start, then the rate. A full minute's amount at once would double the first minute.
        self._most = max(1.0, self._per_second)
        self._level = self._most
        self._at = time.monotonic()

    async def drawn(self, amount: float) -> None:
        """Take ``amount`` out and wait until it is covered. A cancelled wait returns the amount.

        Otherwise, calls past their deadline would leave a debt, which would make all later calls miss theirs.
        """
        try:
            await sleep(self._reserve(amount))
        except asyncio.CancelledError:
            self.settle(-amount)
            raise

    def _reserve(self, amount: float) -> float:
        """Take the amount out, perhaps on credit, and return the seconds until it is covered."""
        with self._lock:
            now = time.monotonic()
            self._level = min(self._most, self._level + (now - self._at) * self._per_second)
            self._at = now
            self._level -= amount
            return max(0.0, -self._level / self._per_second)

    def settle(self, difference: float) -> None:
        """Correct an estimate by the difference to the actual amount."""
        with self._lock:
            self._level -= difference


async def paced(rate: AdaptiveRate) -> None:
    """Wait until a limited rate allows one more request."""
    ticket = rate.ticket()
    while (seconds := rate.delay(ticket)) > 0:
        await sleep(min(seconds, _LONGEST_NAP_S))
        if not Waiting.enabled:
            return


async def sleep(seconds: float) -> None:
    """Sleep, unless ``jury_adapters.testing.no_waiting()`` is in force."""
    if seconds > 0:
        await asyncio.sleep(seconds if Waiting.enabled else 0)


_LONGEST_NAP_S = 0.25  # the rate may rise during the wait


def _give(turn: asyncio.Future[None]) -> None:
    if not turn.done():
        turn.set_result(None)
