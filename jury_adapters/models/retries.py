"""Retries, rate limits and the deadline: one wrapper around the calls to all vendors."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Hashable, MutableMapping
from typing import Any, Generic, Self, TypeAlias, TypeVar
from weakref import WeakValueDictionary

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from jury_adapters.core.budget import note_cut_off
from jury_adapters.core.case_slots import CaseSlot
from jury_adapters.core.context import is_out_of_time, note_failed_attempt, run_context
from jury_adapters.core.deadlines import Deadline
from jury_adapters.core.errors import ModelError
from jury_adapters.core.jitter import backoff
from jury_adapters.core.preparation import Preparable
from jury_adapters.models.base import Named
from jury_adapters.models.calls import Attempt, shown_error
from jury_adapters.models.circuit_breaker import CircuitBreaker
from jury_adapters.models.limits import Limits
from jury_adapters.models.persistent_failures import PersistentFailures, is_persistent
from jury_adapters.models.rate_limits import Bucket, Slots, paced, sleep
from jury_adapters.models.shared_rates import SharedRate, shared_rate

T = TypeVar("T")

_log = logging.getLogger(__name__)


class _DeadlineOfCall(Deadline):
    """Time limit of one call with all its tries.

    Attributes:
        sent: whether a request has been sent; until then the call waits for the rate limit or a slot.
    """

    __slots__ = ("sent",)

    def __init__(self, seconds: float | None) -> None:
        super().__init__(seconds)
        self.sent = False


class Limiter:
    """Calls of one model within its limits, shared by all critics that use the same model with the same key.

    Safe to use from several event loops and threads at once.

    Args:
        limits: the limits on calls.
        name: name of the model in the log.
        clock: monotonic time in seconds.
        shared: request rate of the models with the same quota; None for a rate of its own.

    Attributes:
        breaker: circuit breaker of the model.
    """

    def __init__(
        self,
        limits: Limits,
        name: str = "a model",
        clock: Callable[[], float] = time.monotonic,
        shared: SharedRate | None = None,
    ) -> None:
        self.limits = limits
        self._name = name
        self._slots = Slots(limits.max_concurrency)
        self._rate = (shared or SharedRate(clock)).join(name)
        self._requests = Bucket(limits.requests_per_minute) if limits.requests_per_minute else None
        self._tokens = Bucket(limits.tokens_per_minute) if limits.tokens_per_minute else None
        self.breaker = CircuitBreaker(limits.open_after, limits.cooldown_s, name, clock)
        self._background = PersistentFailures(name, limits.open_after, limits.cooldown_s, clock)

    def call(self, attempt: Attempt[T], *, estimate: int = 0, spent: Callable[[T], int]) -> Coroutine[Any, Any, T]:
        """Make a call, with further attempts where they may help.

        Args:
            attempt: makes one request.
            estimate: the estimated number of tokens of the call.
            spent: returns the number of tokens of a result.

        Raises:
            ModelError: the last error, when no further attempt helps; kind ``"timeout"`` past the deadline,
                ``"circuit_open"`` while the model counts as down.
        """
        context = run_context()
        if context.slot is not None:
            return self._in_batch(context.slot, attempt, estimate, spent)
        if context.run is not None:
            return self._in_background(attempt, estimate, spent)
        return self._call(attempt, estimate, spent)

    def refuse_given_up(self) -> None:
        """Refuse a call to a model that its batch has given up.

        Raises:
            ModelError: the error because of which it was given up.
        """
        slot = run_context().slot
        failures = slot.batch.failing_models.get(self) if slot is not None else None
        if isinstance(failures, PersistentFailures):
            failures.check()

    async def _in_batch(self, slot: CaseSlot, attempt: Attempt[T], estimate: int, spent: Callable[[T], int]) -> T:
        failing = slot.batch.failing_models
        if failing:
            self.refuse_given_up()
        try:
            result = await self._call(attempt, estimate, spent)
        except ModelError as error:
            if is_persistent(error):
                failures = failing.setdefault(self, PersistentFailures(self._name, _MOST_IN_BATCH))
                assert isinstance(failures, PersistentFailures)
                failures.add(error)
            raise
        if failing:
            failing.pop(self, None)
        return result

    async def _in_background(self, attempt: Attempt[T], estimate: int, spent: Callable[[T], int]) -> T:
        self._background.check()
        try:
            result = await self._call(attempt, estimate, spent)
        except ModelError as error:
            self._background.add(error)
            raise
        self._background.clear()
        return result

    def _call(self, attempt: Attempt[T], estimate: int, spent: Callable[[T], int]) -> Coroutine[Any, Any, T]:
        if self.breaker.open:
            return self._probe(attempt, estimate, spent)
        return self._tried(self.limits.attempts, attempt, estimate, spent)

    async def _probe(self, attempt: Attempt[T], estimate: int, spent: Callable[[T], int]) -> T:
        """Ask a model that counts as down, with a single attempt, if a probe is due."""
        ticket = self.breaker.admit()
        try:
            return await self._tried(1 if ticket else self.limits.attempts, attempt, estimate, spent, ticket)
        finally:
            self.breaker.done(ticket)

    async def _tried(
        self, tries: int, attempt: Attempt[T], estimate: int, spent: Callable[[T], int], ticket: int = 0
    ) -> T:
        deadline, failed = _DeadlineOfCall(self.limits.deadline_s), list[ModelError]()
        try:
            with deadline:
                try:
                    return await self._once(attempt, estimate, spent, deadline, admitted=ticket > 0)
                except ModelError as error:
                    if not error.transient:
                        raise
                    if tries > 1:
                        failed.append(error)
                        return await self._again(failed, attempt, estimate, spent, deadline)
                    self.breaker.gave_up(error, ticket)
                    raise
        except TimeoutError:
            if not deadline.expired:  # the model's own timeout, not ours
                raise
            _log.info("%s: gave up after %g s, the deadline of one call", self._name, self.limits.deadline_s)
            last = f"; last error: {failed[-1].kind}: {failed[-1]}" if failed else ""
            told = f"no answer within the deadline of {self.limits.deadline_s:g} s{last}"
            late = ModelError(told, "timeout", sent=deadline.sent)
            if self.breaker.troubled:  # else the call has waited for the rate limit or for slots
                self.breaker.gave_up(late, ticket)
            raise late from None
        except asyncio.CancelledError:
            if self.breaker.troubled and is_out_of_time():
                self.breaker.gave_up(ModelError("no answer within the time limit of a judge", "timeout"), ticket)
            raise

    async def _once(
        self,
        attempt: Attempt[T],
        estimate: int,
        spent: Callable[[T], int],
        deadline: _DeadlineOfCall,
        *,
        admitted: bool = False,
    ) -> T:
        if self._requests is not None:
            await self._requests.drawn(1)
        if self._tokens is not None:
            await self._tokens.drawn(estimate)
        waited = not self._slots.taken()
        if waited:
            await self._slots.turn()
        rate, begun = self._rate.rate, False
        try:
            if rate.limit is not None:
                await _without_place(paced(rate))
                waited = True
            if waited:
                self._refuse_late(admitted)
            sent = rate.start()
            self._rate.sent += 1
            begun = deadline.sent = True
            result = await attempt()
        except ModelError as error:
            if error.kind == "rate_limited":
                self._rate.refused(rate, sent)
            self.breaker.saw(error)
            note_failed_attempt(error.kind, error)
            raise
        except asyncio.CancelledError:
            note_cut_off(sent=begun)
            if deadline.expired or is_out_of_time():
                self.breaker.failed()  # the wait was caused by the model
            raise
        finally:
            self._slots.release()
        if self.breaker.troubled:
            self.breaker.alive()
        if self._tokens is not None:
            self._tokens.settle(spent(result) - estimate)
        return result

    def _refuse_late(self, admitted: bool) -> None:
        """Refuse a call if its model was given up, or the circuit was opened, while the call waited."""
        self.refuse_given_up()
        if self.breaker.open and not admitted:
            self.breaker.refuse()

    async def _again(
        self,
        failed: list[ModelError],
        attempt: Attempt[T],
        estimate: int,
        spent: Callable[[T], int],
        deadline: _DeadlineOfCall,
    ) -> T:
        """Try again after a first failure, and add the further ones to it; a first success does not get here."""
        first = list(failed)

        async def next_try() -> T:
            if first:
                raise first.pop()
            try:
                return await self._once(attempt, estimate, spent, deadline, admitted=True)
            except ModelError as error:
                failed.append(error)
                raise

        retrying = AsyncRetrying(
            retry=retry_if_exception(lambda error: isinstance(error, ModelError) and error.transient),
            stop=stop_after_attempt(self.limits.attempts),
            wait=self._wait,
            sleep=_wait_for_retry,
            reraise=True,
        )
        try:
            return await retrying(next_try)
        except ModelError as error:
            if error.transient:
                _log.info("%s: gave up after %d attempts: %s", self._name, self.limits.attempts, shown_error(error))
                self.breaker.gave_up(error)
            raise

    def _wait(self, state: RetryCallState) -> float:
        """Return the wait: what the vendor asks for, or an exponential backoff with full jitter; both within our cap.

        After a 429, from the third attempt on, it is the longer of both. Otherwise a short Retry-After would use up all
        attempts before the rate has adapted to the vendor's limit.
        """
        error = state.outcome.exception() if state.outcome is not None else None
        if not isinstance(error, ModelError) or error.retry_after is None:
            wait = _backoff(state)
        elif error.kind == "rate_limited" and state.attempt_number > 2:
            wait = max(error.retry_after, min(_backoff(state), _LONGEST_GROWN_S))
        else:
            wait = max(error.retry_after, 0.0)
        return min(wait, self.limits.max_wait_s)


async def _wait_for_retry(seconds: float) -> None:
    await _without_place(sleep(seconds))


async def _without_place(wait: Awaitable[None]) -> None:
    """Wait without occupying the case's place in the batch."""
    slot = run_context().slot
    if slot is None:
        await wait
        return
    with slot.waiting():
        await wait


class ObjectId(int):
    """Id of an object, as a part of a model's identity. It is valid while the object lives, and may then be reused."""

    @classmethod
    def of(cls, thing: object | None) -> ObjectId | None:
        """Return the id of an object, or None for None."""
        return None if thing is None else cls(id(thing))


M_co = TypeVar("M_co", bound=Named, covariant=True)


class Limited(Generic[M_co]):
    """Model with a limiter for all its calls.

    Attributes:
        inner: the model itself.
        limiter: shared by all models that have the same name, identity (if they have one) and limits.
    """

    def __init__(self, model: M_co, limits: Limits) -> None:
        self.inner = model
        identity = getattr(model, "identity", None)
        parts = identity if isinstance(identity, tuple) else ()
        passing = identity is None or any(isinstance(part, ObjectId) for part in parts)
        shared = _LIMITERS_OF_OBJECTS if passing else _LIMITERS
        key = (model.name, id(model) if identity is None else identity, limits)
        with _LOCK:
            limiter = shared.get(key)
            if limiter is None:
                quota = getattr(model, "quota", None)
                limiter = shared[key] = Limiter(limits, model.name, shared=shared_rate(quota))
        self.limiter = limiter

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def model(self) -> str:
        return self.inner.model

    @property
    def preparable(self) -> Preparable | None:
        return getattr(self.inner, "preparable", None)

    def __repr__(self) -> str:
        return repr(self.inner)

    def __reduce__(self) -> tuple[type[Self], tuple[M_co, Limits]]:
        return (type(self), (self.inner, self.limiter.limits))


_Limiters: TypeAlias = MutableMapping[tuple[str, Hashable, Limits], Limiter]
_LONGEST_GROWN_S = 8.0  # in addition to what the vendor asks for
_MOST_IN_BATCH = 3  # persistent failures in a row, after which a batch gives up a model
_LOCK = threading.Lock()
_LIMITERS: _Limiters = {}
# Entries by object id are removed with the object: another object may get its id, without its failures.
_LIMITERS_OF_OBJECTS: _Limiters = WeakValueDictionary()


def _backoff(state: RetryCallState) -> float:
    return backoff(state.attempt_number, multiplier=0.5, longest=30)
