"""Budget, a limit on the spending of a batch that is checked before each call."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from jury_adapters.core import event_loop
from jury_adapters.core.arguments import explains_wrong_calls
from jury_adapters.core.description import model_of
from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.usage import NO_USAGE, Usage

# `error` of a judgment whose call was refused.
BUDGET_EXHAUSTED = "budget_exhausted"
_ROUNDING_USD = 1e-9  # sums of floats: ten calls at 0.1 fit a budget of 1.0


class Priced(Protocol):
    """Part of the judge interface that says whether the price is known."""

    @property
    def name(self) -> str: ...

    @property
    def priced(self) -> bool: ...

    @property
    def members(self) -> Sequence[Priced]: ...


class BudgetExhausted(Exception):
    """Error for a call that does not fit into the budget; its text reports the spending. Judges always catch it.

    Attributes:
        number: the number of calls that the budget has refused, including this one.
    """

    number: int = 0


class Budget:
    """Limit on the total spending of one or several batches.

    Each call reserves its estimate before it starts, and settles the actual usage after it. Estimates are generous:
    three characters per token, and the maximum output. A call is refused if its estimate does not fit into the
    remaining budget, and its judge then abstains with ``budget_exhausted``. If the estimate fits only without the
    reservations of other calls, the call waits until they settle. Calls start in the order in which they asked.

    A call that is cut off by a time limit after it was sent settles at its estimate, because the vendor may bill it.

    The limit is kept unless a call takes more than its estimate. The overshoot is at most that excess, summed over the
    calls in flight.

    Two kinds of calls are refused instead of waiting, because they would wait for themselves: a call made inside
    another call (a model function that itself asks a judge), and a call whose caller blocks an event loop on which
    calls of this budget are in flight (``judge()`` inside an asynchronous batch).

    Several event loops and threads may use a budget at once. Outside batches, which report it themselves, the log says
    for the 1st, 2nd, 4th, 8th... refused call that its juror abstains.

    Args:
        max_usd: limit in US dollars. Every juror must have a known price.
        max_tokens: limit on input and output tokens together.
        max_calls: limit on calls to models, also those that fail. A call counts once, however often it is tried.

    Raises:
        ConfigurationError: there is no limit, or a limit is negative.
    """

    @explains_wrong_calls(
        "Budget(max_usd=1.0)",
        {
            "usd": "max_usd",
            "dollars": "max_usd",
            "cost": "max_usd",
            "max_dollars": "max_usd",
            "max_cost": "max_usd",
            "calls": "max_calls",
            "tokens": "max_tokens",
        },
        order="a limit is given by name",
    )
    def __init__(
        self, *, max_usd: float | None = None, max_calls: int | None = None, max_tokens: int | None = None
    ) -> None:
        limits = {"max_usd": max_usd, "max_calls": max_calls, "max_tokens": max_tokens}
        if all(limit is None for limit in limits.values()):
            raise ConfigurationError(
                "a budget limits something: Budget(max_usd=1.0), Budget(max_tokens=...) or Budget(max_calls=...)"
            )
        for name, limit in limits.items():
            if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int | float) or not limit >= 0):
                raise ConfigurationError(f"Budget({name}=) is a number from 0, not {plain_repr(limit)}")
        self.max_usd = max_usd
        self.max_tokens = max_tokens
        self.max_calls = max_calls
        self._lock = threading.RLock()  # reentrant: garbage collection while it is held may settle a call
        self._spent = NO_USAGE
        self._reserved = NO_USAGE
        self._refused = 0
        self._open: set[Reservation] = set()
        self._queue: deque[Reservation] = deque()

    @property
    def spent(self) -> Usage:
        """Usage of the finished calls."""
        return self._spent

    @property
    def refused(self) -> int:
        """Number of calls that were refused."""
        return self._refused

    def reset(self) -> None:
        """Reset the spending to zero, so that the whole limit is available again, for example once a day.

        Calls in flight count towards what is spent after the reset.
        """
        with self._lock:
            self._spent, self._refused = NO_USAGE, 0
            self._advance()

    def check(self, judge: Priced) -> None:
        """Check that the costs of a judge can be kept within this budget.

        Raises:
            ConfigurationError: the limit is in dollars, and the price of a juror is unknown.
        """
        if self.max_usd is not None and not judge.priced:
            names = ", ".join(dict.fromkeys(judges_without_price(judge)))
            raise ConfigurationError(
                f"Budget(max_usd=) needs the price of every juror, and that of {names} is unknown: "
                "jury_adapters.models.set_price('vendor:model', input=..., output=...), --price in a command, cost= "
                "for an evaluator of another package, or limit tokens or calls instead"
            )

    async def reserve(self, estimate: Usage) -> Reservation:
        """Reserve the estimate of a call; wait for other calls to settle if necessary.

        Raises:
            BudgetExhausted: the estimate does not fit into the budget.
        """
        reservation = Reservation(estimate)
        with self._lock:
            stuck = self._waits_for_caller()
            if stuck or not self._queue or not self._fits(self._spent + estimate):
                self._decide(reservation, may_wait=not stuck)
            waits = reservation.pending
            if waits:
                self._queue.append(reservation)
        if waits:
            try:
                await reservation.turn
            except BaseException:  # cancelled
                self._withdraw(reservation)
                raise
        if reservation.refusal is not None:
            refused = BudgetExhausted(reservation.refusal)
            refused.number = reservation.number
            raise refused
        return reservation

    def settle(self, reservation: Reservation, actual: Usage) -> None:
        """Replace a reservation with the actual usage, or with the estimate if the server does not report the usage."""
        if actual.calls and not actual.cost_complete and not (actual.input_tokens or actual.output_tokens):
            actual = reservation.estimate
        with self._lock:
            self._spent = self._spent + actual
            self._release(reservation)
            self._advance()

    def _decide(self, reservation: Reservation, *, may_wait: bool = True) -> None:
        """Grant or refuse a reservation, or leave it pending while other calls may still settle."""
        estimate = reservation.estimate
        if self._fits(self._spent + self._reserved + estimate):
            reservation.granted = True
            self._reserved = self._reserved + estimate
            self._open.add(reservation)
        elif not self._fits(self._spent + estimate):
            reservation.refusal = self._refusal(estimate, NO_USAGE)
        elif not may_wait:
            reservation.refusal = self._refusal(estimate, self._reserved)
        if reservation.refusal is not None:
            self._refused += 1
            reservation.number = self._refused

    def _waits_for_caller(self) -> bool:
        """Whether calls that are in flight or waiting cannot settle before the caller has ended.

        One test is enough, because later calls wait behind the caller.
        """
        if _CALLING.get() is not None:
            return True
        blocked = event_loop.blocked_loops()
        return bool(blocked) and any(other.loop in blocked for other in (*self._open, *self._queue))

    def _fits(self, usage: Usage) -> bool:
        return (
            (self.max_usd is None or usage.cost_usd <= self.max_usd + _ROUNDING_USD)
            and (self.max_tokens is None or _tokens(usage) <= self.max_tokens)
            and (self.max_calls is None or usage.calls <= self.max_calls)
        )

    def _release(self, reservation: Reservation) -> None:
        self._open.discard(reservation)
        self._reserved = _less(self._reserved, reservation.estimate) if self._open else NO_USAGE

    def _advance(self) -> None:
        """Decide the waiting calls in their order."""
        while self._queue:
            first = self._queue[0]
            self._decide(first)
            if first.pending:
                return
            self._queue.popleft()
            try:
                first.loop.call_soon_threadsafe(first.wake)
            except RuntimeError:  # the event loop of the call is closed
                if first.granted:
                    self._release(first)

    def _withdraw(self, reservation: Reservation) -> None:
        """Withdraw a call that is waiting, or that was granted while its task was being cancelled."""
        with self._lock:
            if reservation.granted:
                self._release(reservation)
            elif reservation.pending:
                self._queue.remove(reservation)
            self._advance()

    def _refusal(self, estimate: Usage, reserved: Usage) -> str:
        spent, after = self._spent, self._spent + reserved + estimate
        if self.max_usd is not None and after.cost_usd > self.max_usd + _ROUNDING_USD:
            digits = 4 if self.max_usd >= 0.01 else 8
            costs = (spent.cost_usd, reserved.cost_usd, self.max_usd, estimate.cost_usd)
            taken, held, limit, wanted = (f"${cost:,.{digits}f}" for cost in costs)
        elif self.max_tokens is not None and _tokens(after) > self.max_tokens:
            tokens = (_tokens(spent), _tokens(reserved), self.max_tokens, _tokens(estimate))
            taken, held, limit, wanted = (f"{number:,}" for number in tokens)
            limit += " tokens"
        else:
            taken, held, limit, wanted = f"{spent.calls:,}", f"{reserved.calls:,}", f"{self.max_calls:,} calls", ""
        held = f" and {held} reserved" if reserved.calls else ""
        wanted = f", this call may take up to {wanted}" if wanted else ""
        return f"the budget does not allow another call: {taken} of {limit} spent{held}{wanted}"

    def __repr__(self) -> str:
        return f"Budget(max_usd={self.max_usd}, max_tokens={self.max_tokens}, max_calls={self.max_calls})"


class Reservation:
    """Reservation of the estimate of one call: granted, refused or pending. Create it on the call's event loop.

    Attributes:
        estimate: the most that the call may take.
        loop: the event loop.
        granted: True once the estimate is reserved.
        refusal: the reason of a refusal; None unless refused.
        number: the number of refusals until then, including this one; 0 unless refused.
        turn: future that is done when a reservation that had to wait is decided.
    """

    __slots__ = ("estimate", "granted", "loop", "number", "refusal", "turn")

    def __init__(self, estimate: Usage) -> None:
        self.estimate = estimate
        self.loop = asyncio.get_running_loop()
        self.granted = False
        self.refusal: str | None = None
        self.number = 0
        self.turn: asyncio.Future[None] = self.loop.create_future()

    @property
    def pending(self) -> bool:
        return not self.granted and self.refusal is None

    def wake(self) -> None:
        """Let the call continue; called on its event loop."""
        if not self.turn.done():
            self.turn.set_result(None)


class CallInProgress:
    """Call that holds a reservation.

    Attributes:
        cut_off: whether it was cancelled after its request had been sent, so that the vendor may bill the answer.
    """

    __slots__ = ("cut_off",)

    def __init__(self) -> None:
        self.cut_off = False


_CALLING: ContextVar[CallInProgress | None] = ContextVar("jury_budget_calling", default=None)


@contextmanager
def calling() -> Iterator[CallInProgress]:
    """Mark the block as a call that holds a reservation, so that calls inside it do not wait."""
    call = CallInProgress()
    token = _CALLING.set(call)
    try:
        yield call
    finally:
        _CALLING.reset(token)


def note_cut_off(*, sent: bool = True) -> None:
    """Note that the call in progress, if there is one, was cancelled.

    Args:
        sent: whether its request had been sent.
    """
    call = _CALLING.get()
    if sent and call is not None:
        call.cut_off = True


def _tokens(usage: Usage) -> int:
    return usage.input_tokens + usage.output_tokens


def _less(whole: Usage, part: Usage) -> Usage:
    return Usage(
        whole.input_tokens - part.input_tokens,
        whole.output_tokens - part.output_tokens,
        calls=whole.calls - part.calls,
        cost_usd=max(0.0, whole.cost_usd - part.cost_usd),
    )


def judges_without_price(judge: Priced) -> Iterator[str]:
    """Yield the judges inside a judge, or the judge itself, whose price is unknown: the name and the model of each."""
    inside = [member for member in judge.members if not member.priced]
    for member in inside:
        yield from judges_without_price(member)
    if not inside:
        model = model_of(judge)
        yield f"{plain_repr(judge.name)} ({model})" if model else plain_repr(judge.name)
