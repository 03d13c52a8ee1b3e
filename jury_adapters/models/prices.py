"""Prices of tokens, and the usage of a call.

A model that is in no table has an unknown price: its cost is None, never 0. Cached input counts at the full price, so
a cost is not too low.
"""

import re
from functools import cache
from math import isfinite
from typing import Any

from jury_adapters.core.judgment import Usage
from jury_adapters.core.values import ConfigurationError
from jury_adapters.models.vendors import VENDORS

PRICES_AS_OF = "2025-10"
PRICES: dict[str, tuple[float, float]] = {
    "openai:gpt-4o": (2.50, 10.00),
    "openai:gpt-4o-mini": (0.15, 0.60),
    "openai:gpt-4.1": (2.00, 8.00),
    "openai:gpt-4.1-mini": (0.40, 1.60),
    "openai:gpt-4.1-nano": (0.10, 0.40),
    "openai:gpt-5": (1.25, 10.00),
    "openai:gpt-5-mini": (0.25, 2.00),
    "openai:gpt-5-nano": (0.05, 0.40),
    "openai:o3": (2.00, 8.00),
    "openai:o4-mini": (1.10, 4.40),
    "anthropic:claude-opus-4-1": (15.00, 75.00),
    "anthropic:claude-sonnet-4": (3.00, 15.00),
    "anthropic:claude-sonnet-4-5": (3.00, 15.00),
    "anthropic:claude-haiku-4-5": (1.00, 5.00),
    "anthropic:claude-3-5-haiku": (0.80, 4.00),
    "gemini:gemini-2.5-pro": (1.25, 10.00),
    "gemini:gemini-2.5-flash": (0.30, 2.50),
    "gemini:gemini-2.5-flash-lite": (0.10, 0.40),
    "mistral:mistral-small": (0.10, 0.30),
    "mistral:mistral-large": (2.00, 6.00),
}
"""US dollars per million tokens of input and of output, from the vendors' price lists of :data:`PRICES_AS_OF`."""

SET: dict[str, tuple[float, float] | None] = {}
_OTHER_NAMES = {"google_genai": "gemini", "google_vertexai": "gemini", "mistralai": "mistral"}  # LangChain's
_DATED = re.compile(r"[-@](?:20\d{6}|20\d\d-\d\d-\d\d|latest|\d{4})$")


def set_price(model: str, *, input_per_million: float, output_per_million: float) -> None:
    """Set the price of a model, for this process.

    Args:
        model: ``"vendor:model"``, or the ``name`` of a model object.
        input_per_million: US dollars per million input tokens, from 0.
        output_per_million: US dollars per million output tokens, from 0.

    Raises:
        ConfigurationError: a price is negative, or the name has no vendor.

    >>> set_price("vllm:our-judge", input_per_million=0.2, output_per_million=0.4)
    >>> price("vllm:our-judge", 1_000_000, 500_000)
    0.4
    """
    if ":" not in model or not all(isfinite(one) and one >= 0 for one in (input_per_million, output_per_million)):
        raise ConfigurationError(
            f"a price is two numbers from 0 for 'vendor:model', not {input_per_million} and {output_per_million} "
            f"for {model!r}"
        )
    SET[model] = (input_per_million, output_per_million)


def price(model: str, input_tokens: int, output_tokens: int) -> float | None:
    """Return the cost of so many tokens in US dollars; None if the price is unknown.

    A price that was set comes first, then that of the package ``genai-prices`` if it is installed, then our own table.
    A name with a date has the price of the name without it, and a server of one's own costs nothing; one at the address
    of another machine may be that of a vendor, so its price is unknown.
    """
    each = SET[model] if model in SET else _listed(model)
    return None if each is None else (input_tokens * each[0] + output_tokens * each[1]) / 1e6


def usage_of(model: str, input_tokens: object, output_tokens: object, stated: object = None) -> Usage:
    """Return the usage of one call. Without plausible counts it is incomplete: a reply without them is still paid for.

    Args:
        model: ``"vendor:model"``.
        input_tokens: the count, as the vendor states it.
        output_tokens: likewise.
        stated: the cost in US dollars as the server states it, which counts for vendors that document it. A cost of 0
            does not: OpenRouter states it where another vendor bills the call.
    """
    given, taken = (
        count if type(count) is int and 0 <= count <= 10**9 else None for count in (input_tokens, output_tokens)
    )
    if given is None or taken is None or not given + taken:
        return Usage(calls=1, cost_complete=False)
    cost, vendor = price(model, given, taken), VENDORS.get(model.partition(":")[0])
    if vendor and vendor.states_cost and isinstance(stated, int | float) and 0 < stated <= 1e4:
        cost = float(stated)
    return Usage(calls=1, input_tokens=given, output_tokens=taken, cost_usd=cost or 0.0, cost_complete=cost is not None)


class Priced:
    """Base of our models: each has the price of its name."""

    name: str

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        """Return the cost of so many tokens in US dollars; None if the price is unknown."""
        return price(self.name, input_tokens, output_tokens)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


@cache
def _listed(model: str) -> tuple[float, float] | None:
    vendor, _, name = model.partition(":")
    vendor = _OTHER_NAMES.get(vendor, vendor)
    if vendor in VENDORS and VENDORS[vendor].key_variable is None:
        return 0.0, 0.0
    own = PRICES.get(f"{vendor}:{name}") or PRICES.get(f"{vendor}:{_DATED.sub('', name)}")
    return _of_package(vendor, name) or own


def _of_package(vendor: str, name: str) -> tuple[float, float] | None:
    """Return the price in genai-prices, if the package is installed and knows the model."""
    try:
        import genai_prices
    except ImportError:
        return None
    provider: Any = "google" if vendor == "gemini" else vendor
    usages = genai_prices.Usage(input_tokens=1000), genai_prices.Usage(output_tokens=1000)
    try:
        first, second = (genai_prices.calc_price(one, model_ref=name, provider_id=provider) for one in usages)
    except LookupError:
        return None
    return 1000 * float(first.total_price), 1000 * float(second.total_price)
