"""Servers that refuse requests by various rules, and a client that sends many through our limits, in virtual time."""

import asyncio
import random
import selectors
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from jury_adapters.core.judgment import Usage
from jury_adapters.models import limits as module
from jury_adapters.models.base import ModelError, Reply
from jury_adapters.models.limits import Limiter, Limits

DONE = Reply("done", Usage(calls=1, input_tokens=10, output_tokens=5))


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """Event loop that runs hours of waiting in no time; its `time` is the only clock."""

    def __init__(self) -> None:
        self.now = 1000.0
        super().__init__(_Jumping(self))

    def time(self) -> float:
        return self.now


class _Jumping(selectors.DefaultSelector):
    def __init__(self, loop: VirtualTimeLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        if timeout is None:
            raise RuntimeError("nothing will ever happen: every task waits without a timer")
        self._loop.now += max(0.0, timeout)
        return super().select(0)


def run(main: Coroutine[Any, Any, Any]) -> Any:
    module._random.seed(1)
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(main)


def at_random(share: float) -> Callable[[float], bool]:
    """Refuse a share of the requests, whatever their rate."""
    chance = random.Random(7)
    return lambda now: chance.random() >= share


def window(most: int, seconds: float = 1.0, phase: float = 0.63) -> Callable[[float], bool]:
    """Accept so many requests in each second, or minute, by the clock."""
    state = [-1, 0]

    def accepts(now: float) -> bool:
        current = int(now / seconds + phase)
        if current != state[0]:
            state[:] = [current, 0]
        state[1] += 1
        return state[1] <= most

    return accepts


def sliding(most: int) -> Callable[[float], bool]:
    """Accept so many requests within any second."""
    accepted: deque[float] = deque()

    def accepts(now: float) -> bool:
        while accepted and accepted[0] <= now - 1:
            accepted.popleft()
        if len(accepted) >= most:
            return False
        accepted.append(now)
        return True

    return accepts


def bucket(most: int) -> Callable[[float], bool]:
    """Accept so many requests a second on average; those not used are saved for up to a second."""
    state = [float(most), 0.0]

    def accepts(now: float) -> bool:
        state[:] = [min(most, state[0] + (now - state[1]) * most), now]
        if state[0] < 1:
            return False
        state[0] -= 1
        return True

    return accepts


@dataclass
class Sent:
    """What came of a batch: its seconds, each request with its time and whether it was accepted, and lost calls."""

    seconds: float
    requests: list[tuple[float, bool]]
    lost: int

    def refused(self, since: float = 0.0) -> float:
        found = [accepted for at, accepted in self.requests if at >= since]
        return 1 - sum(found) / len(found) if found else 0.0


def send(
    accepts: Callable[[float], bool],
    count: int,
    *,
    latency: float = 0.2,
    asks_s: float | str | None = 1.0,
    in_flight: int = 64,
    models: int = 1,
    plain: bool = False,
    limits: Limits | None = None,
) -> Sent:
    """Send many calls, so many at once, through a limiter, or a plain loop that waits as the server asks.

    With several models, each call goes to all of them, and the server counts them together.
    """
    chance = random.Random(3)

    async def main() -> Sent:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        limiters = [Limiter(limits or Limits(max_concurrency=in_flight)) for _ in range(models)]
        requests: list[tuple[float, bool]] = []

        async def attempt() -> Reply:
            now = loop.time() - begun
            accepted = accepts(now)
            requests.append((now, accepted))
            await asyncio.sleep(latency * chance.uniform(0.95, 1.05))
            if accepted:
                return DONE
            wait = 60 - now % 60 if asks_s == "minute" else asks_s
            raise ModelError("slow down", "rate_limited", transient=True, retry_after=wait, sent=False)

        async def in_a_loop() -> Reply:
            while True:
                try:
                    return await attempt()
                except ModelError as error:
                    await asyncio.sleep(error.retry_after or 0.5)

        async def worker(left: list[None], lost: list[BaseException]) -> None:
            while left:
                left.pop()
                calls = [in_a_loop() if plain else limiter.call(attempt) for limiter in limiters]
                found = await asyncio.gather(*calls, return_exceptions=True)
                lost += [one for one in found if isinstance(one, BaseException)]

        lost: list[BaseException] = []
        left = [None] * count
        await asyncio.gather(*(worker(left, lost) for _ in range(in_flight // models)))
        return Sent(loop.time() - begun, requests, len(lost))

    return run(main())
