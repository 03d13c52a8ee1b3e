"""One set of limits for many workers: plain arithmetic, without clocks, threads or a network.

A :class:`Keeper` holds what a model allows. Workers come now and then, say how many calls wait, and take away a few
permits and slots. A *permit* lets one call start; it is good for a short while (its lease). A *slot* lets one call be
in flight; a worker keeps its slots until it comes again. So a call is not a round trip, and nothing that a lost worker
held is lost for long.

Why a rate is never exceeded. Permits are drawn from a bucket that fills at ``rate`` and holds ``capacity`` at most, so
in any time T it hands out at most ``capacity + rate x T``. A permit is used within its lease of being handed out, so
what starts in a minute was handed out in that minute and one lease before. The rate is chosen such that
``capacity + rate x (60 s + lease)`` is the limit. A keeper that begins with an empty bucket, as every one does, cannot
break this by having forgotten what another handed out before it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import floor, inf

from jury_adapters.models.retries import Limits

WINDOW_S = 60.0
LEASE_S = 2.0
"""How long after it was handed out a permit may still reach the vendor."""
FORGET_S = 10.0
"""How long the slots of a worker that is not heard of are kept for it. It uses them for half as long."""
BEAT_S = 0.25
"""How often a worker comes that has calls in flight."""
GAP_S = 0.02
"""The shortest time between two visits of a worker."""
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Ask:
    """What a worker says when it comes.

    Attributes:
        estimates: the tokens each wanted permit will probably take: first those of the calls that wait, in their
            order, then those of calls expected soon.
        waiting: how many calls wait now.
        in_flight: how many calls are in flight.
        unused_calls: permits of the last grant that were not used and will not be.
        unused_tokens: their tokens.
        over: tokens that finished calls took beyond their estimates; below zero where they took fewer.
    """

    estimates: tuple[int, ...] = ()
    waiting: int = 0
    in_flight: int = 0
    unused_calls: int = 0
    unused_tokens: int = 0
    over: int = 0


@dataclass(frozen=True, slots=True)
class Grant:
    """What it gets.

    Attributes:
        calls: how many calls may start; None for as many as there are.
        tokens: how many tokens they may take together, by their estimates; None for no limit.
        slots: how many calls may be in flight; where there are more, none starts until there are fewer.
        wait_s: in how many seconds coming again may help.
    """

    calls: int | None
    tokens: int | None
    slots: int
    wait_s: float


class Rate:
    """An amount per minute that is never exceeded, in any minute, although permits are used after they are given.

    Args:
        per_minute: the limit.
        now: the time, in seconds of any clock that does not go back.
        lease_s: how long after :meth:`take` an amount may be used.
        whole: whether what is taken are whole things, one at a time (requests), or amounts (tokens).
    """

    def __init__(self, per_minute: float, now: float, *, lease_s: float = LEASE_S, whole: bool = False) -> None:
        self._limit = float(floor(per_minute)) if whole and per_minute >= 1 else per_minute
        self._span = WINDOW_S + lease_s
        self._slack = 1.0 if whole else 0.0  # of whole things, fewer than n + 1 are at most n
        self._capacity = max(self._limit / WINDOW_S, self._slack)
        self._level = 0.0
        self._at = now

    @property
    def per_second(self) -> float:
        """The pace that is kept up."""
        return (self._limit + self._slack - self._capacity) / self._span

    def level(self, now: float) -> float:
        """How much can be taken now; below zero when more was used than was taken."""
        self._level = min(self._capacity, self._level + max(0.0, now - self._at) * self.per_second)
        self._at = max(self._at, now)
        return self._level

    def take(self, amount: float, now: float) -> bool:
        """Take an amount, if it is there. One above half the limit is given when the bucket is full, on credit."""
        self._make_room(amount, now)
        if self.level(now) + _ROUNDING < min(amount, self._capacity):
            return False
        self._level -= amount
        return True

    def wait(self, amount: float, now: float) -> float:
        """In how many seconds an amount will be there, if nobody else takes it."""
        return max(0.0, min(amount, self._capacity) - self.level(now)) / self.per_second

    def give_back(self, amount: float, now: float) -> None:
        """Return what was taken and not used; a negative amount takes what was used beyond."""
        self._level = min(self._capacity, self.level(now) + amount)

    def _make_room(self, amount: float, now: float) -> None:
        """Let the bucket hold one such amount.

        That makes the pace slower. What the faster pace has brought within the last span is taken out again, so that
        the limit holds for the minutes before and after too.
        """
        wider = min(amount, self._limit / 2) - self._capacity
        if wider > 0:
            self._level = self.level(now) - wider
            self._capacity += wider


@dataclass(slots=True)
class _Worker:
    """What the keeper knows of a worker."""

    seen: float
    served: float = -inf  # when it last got a permit
    wants: int = 0  # permits
    demand: int = 0  # slots
    holds: int = 0  # slots
    ask: Ask = field(default_factory=Ask)


class Keeper:
    """Shares the limits of one model among workers, fairly.

    Args:
        limits: requests per minute, tokens per minute and calls in flight, for all workers together.
        now: the time, in seconds.
        lease_s: how long after a grant its permits may be used.
        forget_s: a worker that has not come for so long has lost its slots.
        restarted: whether another keeper was there before, whose slots are still held by somebody. New ones are given
            out once those have come by or are forgotten.
    """

    def __init__(
        self,
        limits: Limits,
        now: float,
        *,
        lease_s: float = LEASE_S,
        forget_s: float = FORGET_S,
        restarted: bool = False,
    ) -> None:
        def rate(per_minute: float | None, whole: bool) -> Rate | None:
            return Rate(per_minute, now, lease_s=lease_s, whole=whole) if per_minute else None

        self._requests = rate(limits.requests_per_minute, True)
        self._tokens = rate(limits.tokens_per_minute, False)
        self._most = limits.max_concurrency
        self._forget_s = forget_s
        self._lease_s = lease_s
        self._quiet_until = now + forget_s / 2 if restarted else now  # workers stop by themselves at half of it
        self._workers: dict[str, _Worker] = {}

    def exchange(self, name: str, ask: Ask, now: float) -> Grant:
        """Take back what a worker did not use, hear how it went, and give it what is its turn."""
        self._forget(now)
        worker = self._workers.setdefault(name, _Worker(now))
        worker.seen, worker.ask = now, ask
        worker.wants, worker.demand = len(ask.estimates), ask.in_flight + ask.waiting
        self._hear(ask, now, in_time=now - worker.served <= self._lease_s)
        slots = self._slots(name, now)
        worker.holds = max(slots, ask.in_flight)
        if self._requests is None and self._tokens is None:
            return Grant(None, None, slots, BEAT_S)
        most = max(0, slots - ask.in_flight) + max(0, len(ask.estimates) - ask.waiting)
        granted = self._permits(name, ask.estimates[:most], now)
        worker.wants -= len(granted)
        if granted:
            worker.served = now
        tokens = None if self._tokens is None else sum(granted)
        return Grant(len(granted), tokens, slots, self._wait(ask.estimates[len(granted) :], now))

    def _hear(self, ask: Ask, now: float, *, in_time: bool) -> None:
        """What a worker reports. A permit that comes back after its lease is lost: its minute has begun to refill."""
        if self._requests is not None and in_time:
            self._requests.give_back(ask.unused_calls, now)
        if self._tokens is not None:
            self._tokens.give_back((ask.unused_tokens if in_time else 0) - ask.over, now)

    def _slots(self, name: str, now: float) -> int:
        """How many slots a worker has from now on: its fair share, as far as the others have not got it still."""
        worker = self._workers[name]
        if now < self._quiet_until:
            return worker.ask.in_flight
        others = sum(other.holds for key, other in self._workers.items() if key != name)
        share = fair_shares(self._most, {key: one.demand for key, one in self._workers.items()}, turn=int(now))
        return max(0, min(share[name], self._most - others))

    def _permits(self, name: str, estimates: tuple[int, ...], now: float) -> list[int]:
        """The calls that may start, by their estimates: as many as is the worker's share of what there is."""
        wanting = [key for key, one in self._workers.items() if one.wants]
        if not estimates or not wanting:
            return []
        there = self._possible(estimates, now)
        if there < len(wanting):  # not one for each: those who have waited longest come first
            first = sorted(wanting, key=lambda key: self._workers[key].served)[: max(there, 1)]
            if name not in first:
                return []
            share = 1
        else:
            share = there // len(wanting)
        granted: list[int] = []
        for estimate in estimates[:share]:
            if self._requests is not None and not self._requests.take(1, now):
                break
            if self._tokens is not None and not self._tokens.take(estimate, now):
                if self._requests is not None:
                    self._requests.give_back(1, now)
                break
            granted.append(estimate)
        return granted

    def _possible(self, estimates: tuple[int, ...], now: float) -> int:
        """How many calls like these could start now, whoever makes them."""
        levels = []
        if self._requests is not None:
            levels.append(self._requests.level(now) + _ROUNDING)
        if self._tokens is not None:
            levels.append(self._tokens.level(now) / max(1.0, sum(estimates) / len(estimates)))
        return max(0, int(min(levels)))

    def _wait(self, left: tuple[int, ...], now: float) -> float:
        if not left:
            return BEAT_S
        waits = [0.0]
        if self._requests is not None:
            # With many others there, a little longer: what comes meanwhile is kept, and visits are saved.
            wanting = sum(one.wants > 0 for one in self._workers.values())
            waits += [self._requests.wait(1, now), min(BEAT_S / 2, wanting / self._requests.per_second)]
        if self._tokens is not None:
            waits.append(self._tokens.wait(left[0], now))
        return max(GAP_S, *waits)

    def _forget(self, now: float) -> None:
        """A worker that does not come wants nothing after four beats, and has no slots after ``forget_s``."""
        for name, worker in list(self._workers.items()):
            if now - worker.seen > self._forget_s:
                del self._workers[name]
            elif now - worker.seen > 4 * BEAT_S:
                worker.wants = 0


def fair_shares(total: int, demands: dict[str, int], turn: int = 0) -> dict[str, int]:
    """Divide whole things so that nobody could have more without another having less who has fewer.

    Args:
        total: how many there are.
        demands: how many each wants.
        turn: who gets what cannot be divided goes round with it.

    >>> fair_shares(10, {"a": 2, "b": 9, "c": 9})
    {'a': 2, 'b': 4, 'c': 4}
    """
    shares = dict.fromkeys(demands, 0)
    left = total
    unmet = sorted(name for name, demand in demands.items() if demand > 0)
    while unmet and (each := left // len(unmet)):
        for name in unmet:
            given = min(demands[name] - shares[name], each)
            shares[name] += given
            left -= given
        unmet = [name for name in unmet if shares[name] < demands[name]]
    for position in range(left if unmet else 0):
        shares[unmet[(position + turn) % len(unmet)]] += 1
    return shares
