"""A limit on what a batch may spend, kept before each call and not after the bill."""

from __future__ import annotations

import threading
from contextvars import ContextVar
from typing import TYPE_CHECKING

from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.judgment import NO_USAGE, Usage

if TYPE_CHECKING:
    from jury_adapters.core.judge import Judge

# What a judgment that was not asked for says in `error`.
BUDGET_EXHAUSTED = "budget_exhausted"
_ROUNDING_USD = 1e-9  # sums of floats: ten calls at 0.1 fit a budget of 1.0


class Budget:
    """What a batch may spend, in all.

    Each call reserves its estimate before it starts and settles after it; a call whose estimate does not fit is not
    made, and its judge abstains with ``budget_exhausted``. Estimates are generous (three characters a token, and all
    the output that is allowed), so the limit is kept unless a call takes more than its estimate: the overshoot is at
    most that excess, summed over the calls in flight.

    Args:
        usd: US dollars. Every juror must have a known price.
        tokens: input and output tokens together.
        calls: requests to models.

    Raises:
        ConfigurationError: no limit at all, or a negative one.
    """

    def __init__(self, *, usd: float | None = None, tokens: int | None = None, calls: int | None = None) -> None:
        limits = {"usd": usd, "tokens": tokens, "calls": calls}
        if all(limit is None for limit in limits.values()):
            raise ConfigurationError(
                "a budget limits something: Budget(usd=1.0), Budget(tokens=...) or Budget(calls=...)"
            )
        for name, limit in limits.items():
            if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int | float) or not limit >= 0):
                raise ConfigurationError(f"Budget({name}=) is a number from 0, not {limit!r}")
        self.usd = usd
        self.tokens = tokens
        self.calls = calls
        self._lock = threading.Lock()
        self._spent = NO_USAGE
        self._reserved = NO_USAGE
        self._refused = 0

    @property
    def spent(self) -> Usage:
        """What the finished calls took."""
        return self._spent

    @property
    def refused(self) -> int:
        """How many calls were not made for want of budget."""
        return self._refused

    def check(self, judge: Judge) -> None:
        """Refuse a judge whose costs cannot be kept within this budget.

        Raises:
            ConfigurationError: a limit in dollars, and a juror whose price is unknown.
        """
        if self.usd is not None and not judge.priced:
            raise ConfigurationError(
                "Budget(usd=) needs the price of every juror: set_price('vendor:model', input=..., output=...), "
                "cost= for an evaluator of another package, or limit tokens or calls instead"
            )

    def reserve(self, estimate: Usage) -> bool:
        """Set the estimate of a call aside; False when it does not fit."""
        with self._lock:
            after = self._spent + self._reserved + estimate
            fits = (
                (self.usd is None or after.cost_usd <= self.usd + _ROUNDING_USD)
                and (self.tokens is None or after.input_tokens + after.output_tokens <= self.tokens)
                and (self.calls is None or after.calls <= self.calls)
            )
            if fits:
                self._reserved = self._reserved + estimate
            else:
                self._refused += 1
            return fits

    def settle(self, estimate: Usage, actual: Usage) -> None:
        """Replace an estimate by what the call took. A server that does not say what it took, took the estimate."""
        if actual.calls and not actual.cost_complete and not (actual.input_tokens or actual.output_tokens):
            actual = estimate
        with self._lock:
            self._reserved = _less(self._reserved, estimate)
            self._spent = self._spent + actual

    def __repr__(self) -> str:
        return f"Budget(usd={self.usd}, tokens={self.tokens}, calls={self.calls})"


BUDGET: ContextVar[Budget | None] = ContextVar("jury_budget", default=None)


def _less(whole: Usage, part: Usage) -> Usage:
    return Usage(
        whole.input_tokens - part.input_tokens,
        whole.output_tokens - part.output_tokens,
        calls=whole.calls - part.calls,
        cost_usd=max(0.0, whole.cost_usd - part.cost_usd),
    )
