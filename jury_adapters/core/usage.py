"""Usage of judgments: tokens, calls and costs."""

from __future__ import annotations

from dataclasses import dataclass
from operator import add, attrgetter
from typing import Any

from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.values import LARGEST, is_amount, no_amount


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens, calls and costs; usages are added with ``+``.

    The fields count the usage of this run. ``recorded`` counts the usage of judgments from a store or from recorded
    votes, whose calls were made, and paid for, before. Such a judgment counts each time that it is served, so the sum
    is what the calls would have cost without the record. It may be more than what was paid.

    Attributes:
        input_tokens: all input tokens, including cached ones.
        output_tokens: all output tokens, including reasoning tokens.
        cached_tokens: the part of ``input_tokens`` that was read from the vendor's cache.
        reasoning_tokens: the part of ``output_tokens`` that was spent on hidden reasoning.
        calls: number of calls that models answered. A call counts once, however often it was tried.
        cost_usd: the sum of the *known* costs in US dollars.
        cost_complete: False if the price of any call is unknown, or a call was not answered in time and may still be
            billed, so that ``cost_usd`` is only a lower bound.
        recorded: the usage of judgments from a record; None if there are none.

    >>> served = Usage(calls=3, cost_usd=0.01).as_recorded()
    >>> served.calls, served.recorded.calls, (served + Usage(calls=1)).total.calls
    (0, 3, 4)
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    calls: int = 0
    cost_usd: float = 0.0
    cost_complete: bool = True
    recorded: Usage | None = None

    def __post_init__(self) -> None:
        given, written, cached, thought, calls, cost = amounts = _amounts_of(self)
        usual = (
            0 <= given <= LARGEST and 0 <= written <= LARGEST and 0 <= cached <= LARGEST and 0 <= thought <= LARGEST
            and 0 <= calls <= LARGEST and 0 <= cost <= LARGEST
        ) if _PLAIN.issuperset(map(type, amounts)) else False  # fmt: skip
        if not usual:
            for name, value in zip(_AMOUNTS, amounts, strict=True):
                if not is_amount(value):
                    raise no_amount(value, f"Usage.{name}")
        if self.recorded is not None and not isinstance(self.recorded, Usage):
            raise ConfigurationError(f"Usage.recorded is a Usage, not {type(self.recorded).__name__}")

    def __add__(self, other: Usage) -> Usage:
        if other is NO_USAGE:
            return self
        if self is NO_USAGE:
            return other
        return _added(self, other, _sum(self.recorded, other.recorded))

    @property
    def uncounted(self) -> bool:
        """Whether no call was counted although there may have been some, at an unknown cost; see :data:`UNCOUNTED`."""
        return not self.calls and not self.cost_complete

    @property
    def total(self) -> Usage:
        """The sum of the usage of this run and the recorded usage."""
        if self.recorded is None:
            return self
        recorded = self.recorded.total
        return recorded if _amounts_of(self) == _NOTHING and self.cost_complete else _added(self, recorded, None)

    def as_recorded(self) -> Usage:
        """Return the usage of the same judgment when it comes from a store: nothing new, and all of it recorded."""
        return self if self == NO_USAGE else _known(_NOTHING, True, self.total)

    def at_cost(self, cost_usd: float | None) -> Usage:
        """Return the same usage with this cost in US dollars; None for an unknown cost."""
        return Usage(
            self.input_tokens, self.output_tokens, self.cached_tokens, self.reasoning_tokens, self.calls,
            self.cost_usd if cost_usd is None else cost_usd, self.cost_complete and cost_usd is not None,
            self.recorded,
        )  # fmt: skip


def _known(amounts: tuple[Any, ...], complete: bool, recorded: Usage | None) -> Usage:
    """Return a usage whose numbers need no check, which is faster."""
    usage = object.__new__(Usage)
    for put, value in zip(_SETTERS, (*amounts, complete, recorded), strict=True):
        put(usage, value)
    return usage


def _added(first: Usage, second: Usage, recorded: Usage | None) -> Usage:
    return Usage(
        first.input_tokens + second.input_tokens,
        first.output_tokens + second.output_tokens,
        first.cached_tokens + second.cached_tokens,
        first.reasoning_tokens + second.reasoning_tokens,
        first.calls + second.calls,
        first.cost_usd + second.cost_usd,
        first.cost_complete and second.cost_complete,
        recorded,
    )


def _sum(first: Usage | None, second: Usage | None) -> Usage | None:
    if first is None or second is None:
        return second if first is None else first
    return first + second


_AMOUNTS = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens", "calls", "cost_usd")
_SETTERS = tuple(Usage.__dict__[name].__set__ for name in (*_AMOUNTS, "cost_complete", "recorded"))
_amounts_of = attrgetter(*_AMOUNTS)
_NOTHING = (0,) * len(_AMOUNTS)
_PLAIN = frozenset({int, float})
NO_USAGE = Usage()


class UsageSum:
    """Sum of the usage of many judgments; it is faster than ``+``, which makes a new usage each time.

    A cost that is too high for a float becomes the highest one, because amounts may come from a file.

    >>> total = UsageSum()
    >>> total.add(Usage(calls=1)); total.add(Usage(calls=2)); total.usage.calls
    3
    """

    __slots__ = ("_amounts", "_complete", "_recorded")

    def __init__(self) -> None:
        self._amounts: tuple[Any, ...] = _NOTHING
        self._complete = True
        self._recorded: UsageSum | None = None

    def add(self, usage: Usage) -> None:
        """Add the usage of one judgment."""
        if usage is NO_USAGE:
            return
        amounts = _amounts_of(usage)
        if amounts != _NOTHING:  # as they are if all is on record
            self._amounts = tuple(map(add, self._amounts, amounts))
        self._complete = self._complete and usage.cost_complete
        if usage.recorded is not None:
            if self._recorded is None:
                self._recorded = UsageSum()
            self._recorded.add(usage.recorded)

    @property
    def usage(self) -> Usage:
        """The sum of what was added so far."""
        if self._amounts is _NOTHING and self._recorded is None and self._complete:
            return NO_USAGE
        amounts = self._amounts
        if max(amounts) > LARGEST:
            amounts = tuple(min(amount, LARGEST) for amount in amounts)
        return _known(amounts, self._complete, None if self._recorded is None else self._recorded.usage)


UNCOUNTED = Usage(cost_complete=False)
"""Usage of a judgment whose calls are not known: another package made them, or an answer came too late."""
