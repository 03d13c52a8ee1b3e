"""Limits shared by many workers: plain arithmetic, without clocks, threads or a network.

A :class:`RateServer` keeps the limits of a model. Workers visit it from time to time, report how many calls wait, and
get a few permits and slots. A *permit* allows one call to start; it is valid for a short time (its lease). A *slot*
allows one call to be in flight; a worker keeps its slots until its next visit. So calls need no round trip each, and
the permits and slots of a lost worker are not lost for long.

A rate is never exceeded, for this reason. Permits are drawn from a bucket that fills at ``rate`` and contains at most
``capacity``, so in any time T the rate server grants at most ``capacity + rate x T``. A permit is used within its lease
after the grant, so the calls that start in a minute were granted in that minute and one lease before. The rate is
chosen such that ``capacity + rate x (60 s + lease)`` is the limit. Every rate server begins with an empty bucket, so it
cannot exceed the limit even if it does not know the grants of an earlier rate server.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import floor, inf

from jury_adapters.models.limits import Limits

WINDOW_S = 60.0
LEASE_S = 2.0
"""Seconds after the grant within which the call with a permit may still reach the vendor."""
FORGET_S = 10.0
"""Seconds for which the slots of a silent worker are kept for it. It uses them for half as long."""
BEAT_S = 0.25
"""Seconds between the visits of a worker with calls in flight."""
GAP_S = 0.02
"""Minimum time between two visits of a worker, in seconds."""
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class PermitRequest:
    """Report and request of a worker on a visit.

    Attributes:
        estimates: the estimated tokens of each wanted permit: first those of the calls that wait, in their order, then
            those of calls expected soon.
        waiting: the number of calls that wait now.
        in_flight: the number of calls in flight.
        unused_calls: permits of the last grant that were not used and will not be.
        unused_tokens: their tokens.
        over: tokens that finished calls took beyond their estimates; negative if they took fewer.
    """

    estimates: tuple[int, ...] = ()
    waiting: int = 0
    in_flight: int = 0
    unused_calls: int = 0
    unused_tokens: int = 0
    over: int = 0


@dataclass(frozen=True, slots=True)
class PermitGrant:
    """Answer of the rate server to a visit.

    Attributes:
        calls: the number of calls that may start; None for no limit.
        tokens: the number of tokens that they may take together, by their estimates; None for no limit.
        slots: the number of calls that may be in flight; if there are more, none starts until there are fewer.
        wait_s: seconds after which another visit may help.
    """

    calls: int | None
    tokens: int | None
    slots: int
    wait_s: float


class Rate:
    """Amount per minute that is never exceeded, in any minute, although permits are used after they are granted.

    Args:
        per_minute: the limit.
        now: the time, in seconds of any monotonic clock.
        lease_s: seconds after :meth:`take` within which an amount may be used.
        whole: whether it counts whole items, one at a time (requests), or amounts (tokens).
    """

    def __init__(self, per_minute: float, now: float, *, lease_s: float = LEASE_S, whole: bool = False) -> None:
        self._limit = float(floor(per_minute)) if whole and per_minute >= 1 else per_minute
        self._span = WINDOW_S + lease_s
        self._slack = 1.0 if whole else 0.0  # of whole items, fewer than n + 1 are at most n
        self._capacity = max(self._limit / WINDOW_S, self._slack)
        self._level = 0.0
        self._at = now

    @property
    def per_second(self) -> float:
        """Average rate per second."""
        return (self._limit + self._slack - self._capacity) / self._span

    def level(self, now: float) -> float:
        """Return the available amount; it is negative if more was used than was taken."""
        self._level = min(self._capacity, self._level + max(0.0, now - self._at) * self.per_second)
        self._at = max(self._at, now)
        return self._level

    def take(self, amount: float, now: float) -> bool:
        """Take an amount, if it is available. One above half the limit is granted on credit when the bucket is full."""
        self._make_room(amount, now)
        if self.level(now) + _ROUNDING < min(amount, self._capacity):
            return False
        self._level -= amount
        return True

    def wait(self, amount: float, now: float) -> float:
        """Return the seconds until an amount is available, if no other worker takes it."""
        return max(0.0, min(amount, self._capacity) - self.level(now)) / self.per_second

    def give_back(self, amount: float, now: float) -> None:
        """Return an unused amount; a negative amount takes an additional usage."""
        self._level = min(self._capacity, self.level(now) + amount)

    def _make_room(self, amount: float, now: float) -> None:
        """Enlarge the bucket so that it can contain one such amount.

        That makes the rate slower. The surplus of the faster rate in the last span is removed, so that the limit holds
        for the minutes before and after too.
        """
        wider = min(amount, self._limit / 2) - self._capacity
        if wider > 0:
            self._level = self.level(now) - wider
            self._capacity += wider


@dataclass(slots=True)
class _Worker:
    """RateServer's data on a worker."""

    seen: float
    served: float = -inf  # time of its last permit
    wants: int = 0  # permits
    demand: int = 0  # slots
    holds: int = 0  # slots
    ask: PermitRequest = field(default_factory=PermitRequest)


class RateServer:
    """Fair distribution of the limits of one model among workers.

    Args:
        limits: requests per minute, tokens per minute and calls in flight, for all workers together.
        now: the time, in seconds.
        lease_s: seconds after a grant within which its permits may be used.
        forget_s: seconds without a visit after which a worker loses its slots.
        restarted: whether there was another rate server before, whose slots workers still use. New slots are granted
            after these workers have visited or are forgotten.
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
        self._quiet_until = now + forget_s / 2 if restarted else now  # workers stop automatically at half of it
        self._workers: dict[str, _Worker] = {}

    def exchange(self, name: str, ask: PermitRequest, now: float) -> PermitGrant:
        """Take back a worker's unused permits, record its report, and grant its share."""
        self._forget(now)
        worker = self._workers.setdefault(name, _Worker(now))
        worker.seen, worker.ask = now, ask
        worker.wants, worker.demand = len(ask.estimates), ask.in_flight + ask.waiting
        self._hear(ask, now, in_time=now - worker.served <= self._lease_s)
        slots = self._slots(name, now)
        worker.holds = max(slots, ask.in_flight)
        if self._requests is None and self._tokens is None:
            return PermitGrant(None, None, slots, BEAT_S)
        most = max(0, slots - ask.in_flight) + max(0, len(ask.estimates) - ask.waiting)
        granted = self._permits(name, ask.estimates[:most], now)
        worker.wants -= len(granted)
        if granted:
            worker.served = now
        tokens = None if self._tokens is None else sum(granted)
        return PermitGrant(len(granted), tokens, slots, self._wait(ask.estimates[len(granted) :], now))

    def _hear(self, ask: PermitRequest, now: float, *, in_time: bool) -> None:
        """Record a worker's report. Permits returned after their lease are lost: their minute has begun to refill."""
        if self._requests is not None and in_time:
            self._requests.give_back(ask.unused_calls, now)
        if self._tokens is not None:
            self._tokens.give_back((ask.unused_tokens if in_time else 0) - ask.over, now)

    def _slots(self, name: str, now: float) -> int:
        """Return the new number of slots of a worker: its fair share, as far as other workers do not still have it."""
        worker = self._workers[name]
        if now < self._quiet_until:
            return worker.ask.in_flight
        others = sum(other.holds for key, other in self._workers.items() if key != name)
        share = fair_shares(self._most, {key: one.demand for key, one in self._workers.items()}, turn=int(now))
        return max(0, min(share[name], self._most - others))

    def _permits(self, name: str, estimates: tuple[int, ...], now: float) -> list[int]:
        """Return the estimates of the calls that may start: as many as the worker's share of the available amount."""
        wanting = [key for key, one in self._workers.items() if one.wants]
        if not estimates or not wanting:
            return []
        there = self._possible(estimates, now)
        if there < len(wanting):  # too few for each worker, so those that have waited longest come first
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
        """Return the number of calls like these that could start now, on any worker."""
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
            # With many other workers, a little longer: permits accumulate in the meantime, and visits are saved.
            wanting = sum(one.wants > 0 for one in self._workers.values())
            waits += [self._requests.wait(1, now), min(BEAT_S / 2, wanting / self._requests.per_second)]
        if self._tokens is not None:
            waits.append(self._tokens.wait(left[0], now))
        return max(GAP_S, *waits)

    def _forget(self, now: float) -> None:
        """Forget the wants of a worker without visits after four beats, and its slots after ``forget_s``."""
        for name, worker in list(self._workers.items()):
            if now - worker.seen > self._forget_s:
                del self._workers[name]
            elif now - worker.seen > 4 * BEAT_S:
                worker.wants = 0


def fair_shares(total: int, demands: dict[str, int], turn: int = 0) -> dict[str, int]:
    """Divide whole items by max-min fairness. Shares differ only by demand and by the indivisible rest.

    Args:
        total: the number of items.
        demands: the number that each worker wants.
        turn: the indivisible rest goes to the workers in rotation, by this number.

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
