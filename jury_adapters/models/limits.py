"""Limits on calls of a model: attempts, concurrency, rates, a deadline, and an end to asking a model that is down.

A vendor's limit need not be known. Calls in flight become fewer while it refuses many of them with 429 (additive
increase, multiplicative decrease, as in TCP), and a refused call waits as long as the vendor asks.
"""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from weakref import WeakKeyDictionary

from pydantic import PositiveFloat, PositiveInt

from jury_adapters.core.judgment import NO_USAGE, Usage
from jury_adapters.core.values import Frozen
from jury_adapters.models.base import NO_OPTIONS, ChatModel, ModelError, Options, Prompt, Reply, Schema
from jury_adapters.models.protocols import DEFAULT_MAX_TOKENS

Attempt = Callable[[], Awaitable[Reply]]

around_call: Callable[[ChatModel, Prompt, Options, Attempt], Awaitable[Reply]] | None = None
"""Hook for tracing: called for every call of a model, retries included, with the call that makes it."""

_log = logging.getLogger("jury_adapters.models")
_random = random.Random()  # our own, so that a seed of the application stays its own


class Limits(Frozen):
    """Limits on the calls of one model, shared by all critics that ask it with equal limits on one event loop.

    Attributes:
        attempts: attempts of one call, from 1. Refusals for the rate (429) do not count: they end by the deadline.
        max_concurrency: the most calls in flight.
        requests_per_minute: the most requests, None for no limit.
        tokens_per_minute: the most tokens, of prompts and replies together; None for no limit.
        deadline_s: seconds for one call with all its waiting and attempts.
        open_after: calls in a row that must fail before the model counts as down. Further calls then fail at once.
        cooldown_s: seconds after which one call probes whether it is back.

    >>> Limits(requests_per_minute=500).attempts
    6
    """

    attempts: PositiveInt = 6
    max_concurrency: PositiveInt = 64
    requests_per_minute: PositiveFloat | None = None
    tokens_per_minute: PositiveFloat | None = None
    deadline_s: PositiveFloat = 600.0
    open_after: PositiveInt = 5
    cooldown_s: PositiveFloat = 30.0


async def ask_model(
    model: ChatModel,
    prompt: Prompt,
    schema: Schema | None = None,
    options: Options = NO_OPTIONS,
    limits: Limits = Limits(),  # noqa: B008 - it is immutable
    *,
    pay: Callable[[Attempt], Awaitable[Reply]] | None = None,
) -> Reply:
    """Ask a model within limits, with retries.

    Args:
        model: the model. Its ``account``, if it has that attribute, tells models of one identity with other keys apart.
        prompt: the prompt.
        schema: a JSON schema of the answer.
        options: options of the answer.
        limits: the limits.
        pay: makes each attempt, when it is its turn, and may refuse it.

    Returns:
        the reply. Its usage includes the attempts before it that may be billed, whose cost is unknown.

    Raises:
        ModelError: the last error; its ``usage`` has the attempts that may be billed.
    """
    tokens = prompt.estimated_tokens + (options.max_tokens or DEFAULT_MAX_TOKENS)
    attempt = partial(model.complete, prompt, schema, options)
    call = partial(limiter_of(model, limits).call, attempt if pay is None else partial(pay, attempt), tokens)
    return await (call() if around_call is None else around_call(model, prompt, options, call))


def limiter_of(model: ChatModel, limits: Limits) -> "Limiter":
    """Return the running loop's limiter for a model."""
    known = _LIMITERS.setdefault(asyncio.get_running_loop(), {})
    key = (model.identity, getattr(model, "account", None) or id(model), limits)
    known[key] = found = known.pop(key, None) or Limiter(limits, model.name)  # the last one used is at the end
    if len(known) > 1000:  # models may be made for every request of a service
        del known[next(iter(known))]
    return found


_LIMITERS: "WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Hashable, Limiter]]" = WeakKeyDictionary()


@dataclass(slots=True)
class _Call:
    """One call with its attempts.

    Attributes:
        attempt: sends the request once.
        tokens: the estimate of its tokens.
        ends_at: the loop's time at which it must have ended.
        failures: failed attempts other than refusals for the rate.
        billed: the usage of failed attempts that may be billed.
        error: the error of the last one.
        sent: whether one is under way.
        probes: whether it finds out if the model is back.
    """

    attempt: Attempt
    tokens: int
    ends_at: float
    failures: int = 0
    billed: Usage = NO_USAGE
    error: ModelError | None = None
    sent: bool = False
    probes: bool = False

    def failed(self, error: ModelError) -> None:
        """Note the error of an attempt."""
        self.failures += error.kind != "rate_limited"
        if self.sent and error.sent:
            self.billed += Usage(calls=1, cost_complete=False)
        self.error, self.sent, self.probes = error, False, False


class Limiter:
    """Limits of one model on one event loop. It asks a model that is down only to find out whether it is back.

    A model is down after ``open_after`` calls in a row have given up, for its server, the network or the account.

    Args:
        limits: the limits.
        name: the model's name, for messages.
    """

    def __init__(self, limits: Limits, name: str = "model") -> None:
        self._limits, self._name, self._slots = limits, name, Slots(limits.max_concurrency)
        self._in_a_row, self._probe_at, self._last = 0, 0.0, ""
        self._requests = Bucket(limits.requests_per_minute) if limits.requests_per_minute else None
        self._tokens = Bucket(limits.tokens_per_minute) if limits.tokens_per_minute else None

    async def call(self, attempt: Attempt, tokens: int = 0) -> Reply:
        """Make one call: attempts until one succeeds, all within the limits.

        Args:
            attempt: sends the request once.
            tokens: an estimate of its tokens, for ``tokens_per_minute``.

        Raises:
            ModelError: the error of the last attempt; ``down`` if it was not made because the model is down.
        """
        call = _Call(attempt, tokens, _now() + self._limits.deadline_s)
        try:
            async with asyncio.timeout_at(call.ends_at) as limit:
                reply = await self._made(call)
        except ModelError as error:
            failure = error
        except TimeoutError:
            if not limit.expired():
                raise
            failure = ModelError(
                f"{self._name}: no answer within the deadline of {self._limits.deadline_s:g} s"
                + (f"; last error: {call.error}" if call.error else ", waiting for its turn"),
                "timeout",
                sent=call.sent,
            )
            if call.sent or call.error:  # else it has only waited for its turn
                call.failed(failure)
        else:
            return reply if call.billed is NO_USAGE else replace(reply, usage=call.billed + reply.usage)
        if failure.kind not in ("refused", "down") and call.error is not None:
            self._in_a_row, self._last = self._in_a_row + 1, str(failure).removeprefix(f"{self._name}: ")
            self._probe_at = _now() + self._limits.cooldown_s
        failure.usage = call.billed
        raise failure

    async def _made(self, call: _Call) -> Reply:
        """Make attempts until one succeeds or another is useless. Between them it waits without a slot.

        A loop, because the machinery of tenacity would cost a tenth of the CPU of a panel that needs no retry.
        """
        attempt = 1
        while True:
            try:
                return await self._once(call)
            except ModelError as error:
                asked = error.retry_after
                if (
                    not error.transient
                    or call.failures >= self._limits.attempts
                    or (asked or 0.0) > call.ends_at - _now()
                ):
                    raise
            # A random time that grows; or what the vendor asks for, and a little more so that not all come at once.
            grown = _random.uniform(0.0, min(30.0, 0.5 * 2 ** min(attempt - 1, 10)))
            await asyncio.sleep(grown if asked is None else asked + min(grown, 0.1 * asked) * (attempt > 1))
            attempt += 1

    async def _once(self, call: _Call) -> Reply:
        """Make one attempt, when it is its turn."""
        call.sent = False
        self._check(call)
        for bucket, amount in ((self._requests, 1), (self._tokens, call.tokens)):
            if bucket is not None:
                await bucket.draw(amount)
        number, outcome, pause, started = await self._slots.take(), "cut off", 0.0, perf_counter()
        try:
            self._check(call)  # again, because the wait may have been long
            call.sent = True
            reply = await call.attempt()
            outcome = reply.finish
        except ModelError as error:
            outcome, pause = error.kind, min(30.0, error.retry_after or 0.0)
            call.failed(error)
            raise
        finally:
            self._slots.give(number, refused=outcome == "rate_limited", pause=pause)
            _log.debug("%s: %s after %.2f s", self._name, outcome, perf_counter() - started)
        self._in_a_row = 0
        if self._tokens is not None and (used := reply.usage.input_tokens + reply.usage.output_tokens):
            self._tokens.level += call.tokens - used
        return reply

    def _check(self, call: _Call) -> None:
        """Refuse a call while the model is down, but for one probe after each pause."""
        if self._in_a_row >= self._limits.open_after and not call.probes:
            if _now() < self._probe_at:
                message = f"{self._name}: not asked, because it counts as down; last error: {self._last}"
                raise ModelError(message, "down", sent=False)
            self._probe_at, call.probes = _now() + self._limits.cooldown_s, True


class Slots:
    """Places for calls in flight: at most ``most``, and fewer while the vendor refuses many of them.

    After so many answers as there are places, the share of refusals decides. Only calls that were sent since the last
    change count: one burst of refusals would otherwise cut the number ten times.
    """

    def __init__(self, most: int) -> None:
        self.allowed, self._most, self._places = float(most), most, most
        self._free = asyncio.Semaphore(most)
        self._sent = self._counted_from = self._answered = self._refused = self._held = 0

    async def take(self) -> int:
        """Wait for a place, first come, first served, and return the number of the call."""
        await self._free.acquire()
        while self._places > int(self.allowed):  # there are fewer by now: this one is gone
            self._places -= 1
            await self._free.acquire()
        self._sent += 1
        return self._sent

    def give(self, number: int, *, refused: bool, pause: float = 0.0) -> None:
        """Give the place of a call back, and say whether the vendor refused it for the rate.

        During the pause that a vendor asks for, nobody gets the place, if it is not the only one: the next call would
        be refused too, and so many refusals would say more than they mean.
        """
        if number > self._counted_from:
            self._answered += 1
            self._refused += refused
            if self._answered >= max(16, self.allowed):
                share = self._refused / self._answered
                # A few refusals at random change nothing, up to a tenth.
                self.allowed = (
                    max(1.0, self.allowed * (1 - share))
                    if share > 0.1
                    else min(float(self._most), self.allowed * 1.05 + 1)
                )
                self._answered, self._refused, self._counted_from = 0, 0, self._sent
        if refused and pause and self._held + 1 < self.allowed:
            self._held += 1
            asyncio.get_running_loop().call_later(pause, self._free_one, 1)
        else:
            self._free_one()

    def _free_one(self, held: int = 0) -> None:
        self._held -= held
        self._places -= 1
        while self._places < int(self.allowed):
            self._places += 1
            self._free.release()


class Bucket:
    """An amount per minute, of which a second's worth may be used at once. Calls draw on credit, and wait for it."""

    def __init__(self, per_minute: float) -> None:
        self._rate = per_minute / 60
        self.level = self._most = max(1.0, self._rate)
        self._at = _now()

    async def draw(self, amount: float) -> None:
        """Take an amount out, and wait until it is covered. A cancelled wait returns it."""
        now = _now()
        self.level, self._at = min(self._most, self.level + (now - self._at) * self._rate) - amount, now
        try:
            await asyncio.sleep(max(0.0, -self.level / self._rate))
        except asyncio.CancelledError:
            self.level += amount
            raise


def _now() -> float:
    return asyncio.get_running_loop().time()
