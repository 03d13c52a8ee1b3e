"""Worker's part of shared limits: it gets several permits at a time, with which its calls start."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import socket
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Protocol, TypeVar
from uuid import uuid4
from weakref import WeakKeyDictionary

from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.judge import Judge
from jury_adapters.models.base import Named
from jury_adapters.models.limits import Limits
from jury_adapters.models.retries import Limited, Limiter
from jury_adapters.ray.rates import BEAT_S, FORGET_S, GAP_S, LEASE_S, PermitGrant, PermitRequest

T = TypeVar("T")

_log = logging.getLogger(__name__)

# A permit is used within half its lease; the other half is for the way of the call to the vendor.
_USABLE_S = LEASE_S / 2
_MOST_ASKED = 256  # permits per request
_RETRY_S = 0.5


class Source(Protocol):
    """Source of permits: a rate server in this or another process."""

    async def exchange(self, key: str, limits: Limits, worker: str, ask: PermitRequest) -> PermitGrant:
        """Visit the rate server that the key names; see :meth:`jury_adapters.ray.rates.RateServer.exchange`."""


class SharedLimiter(Limiter):
    """Limiter whose calls also wait for a permit and a slot from the limits of all workers together.

    Retries, the deadline, the circuit breaker and the adaptive rate are those of :class:`Limiter`; each worker adapts
    its own rate to the 429s that it receives. The first wait for a permit does not count towards the deadline, because
    at a low rate many workers may wait long without a failure.

    Args:
        limits: the model's limits.
        name: name of the model in the log.
        source: the source of permits.
        key: the name of the shared limits.
        shared: the limits that are shared; those of the model by default.
    """

    def __init__(self, limits: Limits, name: str, source: Source, key: str, shared: Limits | None = None) -> None:
        shared = shared or limits
        super().__init__(replace(limits, requests_per_minute=None, tokens_per_minute=None), name)
        # The model uses these limits to decide whether to estimate its tokens.
        self.limits = replace(
            limits, requests_per_minute=shared.requests_per_minute, tokens_per_minute=shared.tokens_per_minute
        )
        self._source = source
        self._key = key
        self._shared = shared
        self._shares: WeakKeyDictionary[asyncio.AbstractEventLoop, Share] = WeakKeyDictionary()

    async def call(self, attempt: Callable[[], Awaitable[T]], *, estimate: int = 0, spent: Callable[[T], int]) -> T:
        self.refuse_given_up()
        share = self._share()
        held: Permit | None = await share.permit(estimate)

        async def permitted() -> T:
            nonlocal held
            if held is None or not held.usable:  # for a retry, or after a long time between the permit and this point
                if held is not None:
                    held.end()
                held = await share.permit(estimate)
            permit, held = held, None
            return await permit.use(attempt, spent)

        try:
            return await super().call(permitted, estimate=estimate, spent=spent)
        finally:
            if held is not None:
                held.end()

    def _share(self) -> Share:
        """Return the share of the event loop, to which its waiting calls belong."""
        loop = asyncio.get_running_loop()
        share = self._shares.get(loop)
        if share is None:
            share = self._shares[loop] = Share(self._source, self._key, self._shared)
        return share


class Permit:
    """Permission for one call, with its slot. Either :meth:`use` it or :meth:`end` it."""

    __slots__ = ("_estimate", "_share", "_until")

    def __init__(self, share: Share, estimate: int, until: float) -> None:
        self._share = share
        self._estimate = estimate
        self._until = until

    @property
    def usable(self) -> bool:
        """Whether the call may still start."""
        return time.monotonic() < self._until

    async def use(self, attempt: Callable[[], Awaitable[T]], spent: Callable[[T], int]) -> T:
        """Make the call, and report its result to the share."""
        over = 0
        try:
            result = await attempt()
            over = spent(result) - self._estimate
            return result
        finally:
            self._share.ended(over)

    def end(self) -> None:
        """Release the slot without a call. The permit is lost."""
        self._share.ended(0)


class Share:
    """Share of one worker in the shared limits, on one event loop.

    A separate task visits the rate server while calls wait or are in flight: every quarter of a second, and sooner when
    a call cannot start. If the rate server does not answer (it is being restarted), calls wait until it does.
    """

    def __init__(self, source: Source, key: str, limits: Limits) -> None:
        self._source = source
        self._key = key
        self._limits = limits
        self._name = f"{socket.gethostname()}/{os.getpid()}/{uuid4().hex[:8]}"
        self._waiting: deque[tuple[int, asyncio.Future[Permit]]] = deque()
        self._grant = PermitGrant(0, 0, 0, BEAT_S)
        self._calls = self._tokens = 0  # unused part of the grant
        self._slots = self._in_flight = 0
        self._permits_until = self._slots_until = 0.0
        self._started = self._over = 0
        self._usual = 0  # tokens of the last call
        self._hurry = asyncio.Event()
        self._visits: asyncio.Task[None] | None = None

    async def permit(self, estimate: int) -> Permit:
        """Wait for permission to make a call."""
        self._usual = estimate
        if not self._waiting and self._can_start(estimate):
            return self._start(estimate)
        turn: asyncio.Future[Permit] = asyncio.get_running_loop().create_future()
        self._waiting.append((estimate, turn))
        self._hurry.set()
        self._keep_visiting()
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                turn.result().end()
            else:
                with suppress(ValueError):
                    self._waiting.remove((estimate, turn))
            raise

    def ended(self, over: int) -> None:
        """Release the slot of a call that has ended, or will not be made."""
        self._in_flight -= 1
        self._over += over
        self._start_waiting()

    def _can_start(self, estimate: int) -> bool:
        now = time.monotonic()
        if self._in_flight >= self._slots or now >= self._slots_until:
            return False
        if self._grant.calls is None:
            return True
        fits = self._grant.tokens is None or self._tokens >= estimate
        return self._calls > 0 and fits and now < self._permits_until

    def _start(self, estimate: int) -> Permit:
        self._in_flight += 1
        self._started += 1
        self._calls -= 1
        self._tokens -= estimate
        unlimited = self._grant.calls is None
        return Permit(self, estimate, self._slots_until if unlimited else self._permits_until)

    def _start_waiting(self) -> None:
        while self._waiting:
            estimate, turn = self._waiting[0]
            if turn.done():
                self._waiting.popleft()
            elif self._can_start(estimate):
                self._waiting.popleft()
                turn.set_result(self._start(estimate))
            else:
                self._hurry.set()
                return

    def _keep_visiting(self) -> None:
        if self._visits is None or self._visits.done():
            self._visits = asyncio.create_task(self._visit())

    async def _visit(self) -> None:
        """Visit the rate server while there is anything to report, and at the end to return unused permits."""
        while True:
            idle = not (self._waiting or self._in_flight)
            self._hurry.clear()
            ask, sent = self._ask(), time.monotonic()
            try:
                grant = await self._source.exchange(self._key, self._limits, self._name, ask)
            except Exception as error:  # after any failure, calls must not start without a permit
                _log.warning("the shared limits cannot be reached, calls wait: %s", type(error).__name__)
                self._keep_report(ask)
                await asyncio.sleep(_RETRY_S)
                continue
            self._take(grant, sent)
            if not (self._waiting or self._in_flight):
                if idle:
                    return
            else:
                await self._pause(grant.wait_s)

    async def _pause(self, wait_s: float) -> None:
        """Wait until the next visit: at least a moment, at most a beat; in between as soon as a call cannot start."""
        await asyncio.sleep(GAP_S)
        if self._waiting and self._slots > self._in_flight:  # they wait because of the rate
            await asyncio.sleep(min(BEAT_S, wait_s) - GAP_S)
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(BEAT_S - GAP_S):
                await self._hurry.wait()

    def _ask(self) -> PermitRequest:
        """Return the report on this worker. It returns the unused permits, which are then no longer ours."""
        unused_calls = unused_tokens = 0
        if self._grant.calls is not None:
            unused_calls, unused_tokens = max(0, self._calls), max(0, self._tokens)
            self._calls = self._tokens = 0
        waiting = [estimate for estimate, turn in self._waiting if not turn.done()][:_MOST_ASKED]
        soon = [self._usual] * min(self._started, _MOST_ASKED - len(waiting))
        ask = PermitRequest((*waiting, *soon), len(waiting), self._in_flight, unused_calls, unused_tokens, self._over)
        self._started = self._over = 0
        return ask

    def _keep_report(self, ask: PermitRequest) -> None:
        """Keep the report for the next visit. Unused permits that may have been lost stay lost."""
        self._over += ask.over

    def _take(self, grant: PermitGrant, sent: float) -> None:
        self._grant = grant
        self._calls, self._tokens = grant.calls or 0, grant.tokens or 0
        self._slots = grant.slots
        self._permits_until = sent + _USABLE_S
        self._slots_until = sent + FORGET_S / 2
        self._start_waiting()


def share_limits(judge: Judge, source: Source, limits: Mapping[str, Limits] | None = None) -> int:
    """Let all models of a judge, and of the judges in it, take their permits from a source.

    Args:
        judge: the judge; its models are changed in place.
        source: the source of permits.
        limits: limits to share instead of a model's own, by the model's name (``"openai:gpt-4o"``) or by its
            vendor (``"openai"``: all models of the vendor with the same key together).

    Returns:
        The number of models.

    Raises:
        ConfigurationError: ``limits`` has a name that is neither a model of the judge nor a vendor of one.
    """
    models = {id(model): model for model in _models(judge)}
    _check_names(limits or {}, [model.name for model in models.values()])
    for model in models.values():
        if isinstance(model.limiter, SharedLimiter):
            continue
        key, shared = _shared_by(model, limits or {})
        model.limiter = SharedLimiter(model.limiter.limits, model.name, source, key, shared)
    return len(models)


def _check_names(limits: Mapping[str, Limits], models: Sequence[str]) -> None:
    known = {name for model in models for name in (model, _vendor_of(model))}
    unknown = [name for name in limits if name not in known]
    if unknown:
        asked = f"it asks {', '.join(sorted(set(models)))}" if models else "it asks no model"
        raise ConfigurationError(
            f"limits= has {', '.join(map(plain_repr, unknown))}, which is neither a model of the jury nor the vendor "
            f"of one; {asked}"
        )


def _vendor_of(model: str) -> str:
    return model.partition(":")[0]


def _models(judge: Judge) -> Iterator[Limited[Named]]:
    model = getattr(judge, "model", None)
    if isinstance(model, Limited):
        yield model
    for member in judge.members:
        yield from _models(member)


def _shared_by(model: Limited[Named], limits: Mapping[str, Limits]) -> tuple[str, Limits]:
    """Return the name of the limits that a model shares on all machines, and these limits.

    The name contains the model or its vendor, with its key and address.
    """
    vendor = _vendor_of(model.name)
    own = model.limiter.limits
    whose, shared = model.name, own
    for name in (model.name, vendor):
        if name in limits:
            whose, shared = name, limits[name]
            break
    key = getattr(getattr(model.inner, "api", None), "key_identity", "")
    address = getattr(model.inner, "address", None) if whose != vendor else ""
    described = repr((whose, key, address, shared))
    return f"{whose} {hashlib.sha256(described.encode()).hexdigest()[:16]}", shared
