"""Budget, a limit on spending that is checked before each call."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from threading import Lock

from jury_adapters.core.judgment import NO_USAGE, Usage
from jury_adapters.core.values import ROUNDING, ConfigurationError, JuryError

_POLL_S = 0.02


class OverBudget(JuryError):
    """A call does not fit into the budget. Its judgment is an ERROR, so a larger budget judges the case again.

    Attributes:
        usage: attempts of the call before this one that may be billed.
    """

    usage: Usage = NO_USAGE


class Budget:
    """Limit on US dollars, tokens or calls, shared by all judges that are asked within it.

    Each call reserves its estimate, which is generous, and settles what it took; so only calls in flight that take more
    than their estimates can exceed the limit. A call that fits only without what others have reserved waits for them;
    one that does not fit at all is refused. A budget belongs to one process: a run that is started again may spend the
    limit again, but does not pay again for what a store holds.

    Args:
        max_usd: US dollars. A call whose price is unknown, or whose reply has no limit, is refused, because it could
            not be held to the limit.
        max_tokens: tokens, of prompts and replies together. A call whose reply has no limit is refused.
        max_calls: calls of models.

    Raises:
        ConfigurationError: there is no limit, or one is negative.

    >>> Budget(max_usd=1.0).spent.cost_usd
    0.0
    """

    def __init__(
        self, *, max_usd: float | None = None, max_tokens: int | None = None, max_calls: int | None = None
    ) -> None:
        limits = {"max_usd": max_usd, "max_tokens": max_tokens, "max_calls": max_calls}
        self.limits: dict[str, float] = {name: limit for name, limit in limits.items() if limit is not None}
        if not self.limits or not all(isinstance(limit, int | float) and limit >= 0 for limit in self.limits.values()):
            raise ConfigurationError(f"a budget has max_usd=, max_tokens= or max_calls=, from 0; not {limits}")
        self.spent = NO_USAGE
        self.refused = 0
        self._reserved: list[Usage] = []
        self._lock = Lock()

    @asynccontextmanager
    async def reserve(self, estimate: Usage, *, bounded: bool = True) -> AsyncIterator[list[Usage]]:
        """Hold an estimate for the block.

        The block appends what a call took to the list that it gets. If it appends nothing, or is cut off, the estimate
        counts as spent, because the vendor may bill it.

        Args:
            estimate: the largest usage of the call.
            bounded: whether the length of the reply has a limit.

        Raises:
            OverBudget: the estimate does not fit beside what is spent, or cannot be held to the limit.
        """
        while not self._granted(estimate, bounded):
            await asyncio.sleep(_POLL_S)
        took: list[Usage] = []
        try:
            yield took
        finally:
            with self._lock:
                self._reserved.remove(estimate)
                self.spent = sum(took or [estimate], self.spent)

    def _granted(self, estimate: Usage, bounded: bool) -> bool:
        with self._lock:
            unknown = "max_usd" in self.limits and not estimate.cost_complete
            endless = not bounded and ("max_tokens" in self.limits or ("max_usd" in self.limits and estimate.cost_usd))
            if endless or unknown or not self._fits(self.spent + estimate):
                self.refused += 1
                raise OverBudget(
                    "over budget: nothing limits the length of the reply, so no limit in US dollars or tokens can hold "
                    "the call; set max_tokens"
                    if endless
                    else "over budget: the price of the call is unknown, so no limit in US dollars can hold it"
                    if unknown
                    else f"over budget: {self.spent.calls} calls for ${self.spent.cost_usd:.4f} are spent of "
                    f"{self.limits}"
                )
            fits = self._fits(sum(self._reserved, self.spent) + estimate)
            if fits:
                self._reserved.append(estimate)
            return fits

    def _fits(self, usage: Usage) -> bool:
        amounts = {
            "max_usd": usage.cost_usd,
            "max_tokens": usage.input_tokens + usage.output_tokens,
            "max_calls": usage.calls,
        }
        return all(amounts[name] <= limit + ROUNDING for name, limit in self.limits.items())
