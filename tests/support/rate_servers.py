"""Servers that refuse requests by various rules, and a client that sends many through our limits, in virtual time."""

from __future__ import annotations

import asyncio
import random
from collections import Counter, deque
from dataclasses import dataclass
from typing import Protocol

from jury_adapters import Limits, ModelError
from jury_adapters.core.jitter import OWN
from jury_adapters.models.retries import Limiter
from jury_adapters.models.shared_rates import SharedRate

from .virtual_time import VirtualTimeLoop, run


class Rule(Protocol):
    def accepts(self, now: float) -> bool: ...


class FixedWindow:
    """At most so many requests in each second by the clock, which shows this phase when the batch begins."""

    def __init__(self, most: int, phase: float = 0.63) -> None:
        self.most, self.phase, self.second, self.count = most, phase, -1, 0

    def accepts(self, now: float) -> bool:
        second = int(now + self.phase)
        if second != self.second:
            self.second, self.count = second, 0
        self.count += 1
        return self.count <= self.most


class SlidingWindow:
    """At most so many accepted requests within any second."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.accepted: deque[float] = deque()

    def accepts(self, now: float) -> bool:
        while self.accepted and self.accepted[0] <= now - 1:
            self.accepted.popleft()
        if len(self.accepted) >= self.most:
            return False
        self.accepted.append(now)
        return True


class TokenBucket:
    """So many requests a second on average; those not used are saved for up to a second."""

    def __init__(self, most: int) -> None:
        self.most, self.level, self.at = most, float(most), 0.0

    def accepts(self, now: float) -> bool:
        self.level, self.at = min(self.most, self.level + (now - self.at) * self.most), now
        if self.level < 1:
            return False
        self.level -= 1
        return True


class AtRandom:
    """Refuses a share of the requests, whatever their rate."""

    def __init__(self, share: float) -> None:
        self.share, self.random = share, random.Random(7)

    def accepts(self, now: float) -> bool:
        return self.random.random() >= self.share


class PerMinute:
    """At most so many requests in each minute by the clock."""

    def __init__(self, most: int) -> None:
        self.most, self.minute, self.count = most, -1, 0

    def accepts(self, now: float) -> bool:
        if int(now / 60) != self.minute:
            self.minute, self.count = int(now / 60), 0
        self.count += 1
        return self.count <= self.most


@dataclass
class Run:
    """One batch.

    Attributes:
        seconds: how long it took.
        requests: time of each request, and whether it was accepted.
        failed: calls that gave up.
    """

    seconds: float
    requests: list[tuple[float, bool]]
    failed: int

    def seconds_above(self, most: int, phase: float = 0.0) -> int:
        """Count the seconds in which more requests than allowed were sent."""
        return sum(count > most for count in Counter(int(at + phase) for at, _ in self.requests).values())

    def share_refused(self, since: float = 0.0) -> float:
        answers = [accepted for at, accepted in self.requests if at >= since]
        return 1 - sum(answers) / len(answers) if answers else 0.0


def send(
    rule: Rule,
    count: int,
    *,
    latency: float = 0.05,
    retry_after: float | str | None = 1.0,
    in_flight: int = 64,
    adaptive: bool = True,
    models: int = 1,
) -> Run:
    """Send many calls, so many at once, through a limiter or a plain loop with the same retries.

    With several models, each call goes to all of them at the same time. They share the rule of the server, and their
    requests count together.
    """
    OWN.seed(1)
    loop = VirtualTimeLoop()
    begin = loop.time()
    shared = SharedRate(loop.time)
    limiters = [Limiter(Limits(max_concurrency=in_flight), f"{number}", loop.time, shared) for number in range(models)]
    requests: list[tuple[float, bool]] = []

    async def attempt() -> bool:
        now = loop.time() - begin
        accepted = rule.accepts(now)
        requests.append((now, accepted))
        await asyncio.sleep(latency * OWN.uniform(0.95, 1.05))
        if accepted:
            return True
        wait = 60 - now % 60 if retry_after == "minute" else retry_after
        raise ModelError("slow down", "rate_limited", status=429, retry_after=wait)  # type: ignore[arg-type]

    async def plain() -> bool:
        while True:
            try:
                return await attempt()
            except ModelError as error:
                await asyncio.sleep(error.retry_after or 0.5)

    async def worker(left: list[None], failed: list[ModelError]) -> None:
        while left:
            left.pop()
            calls = [limiter.call(attempt, spent=lambda _: 0) if adaptive else plain() for limiter in limiters]
            results = await asyncio.gather(*calls, return_exceptions=True)
            failed += [result for result in results if isinstance(result, ModelError)]

    async def main() -> Run:
        failed: list[ModelError] = []
        left = [None] * count
        await asyncio.gather(*(worker(left, failed) for _ in range(in_flight // models)))
        return Run(loop.time() - begin, requests, len(failed))

    return run(main(), loop)
