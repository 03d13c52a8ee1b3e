"""Price of a call: the list prices of :data:`jury_adapters.vendors.VENDORS`, which a user can extend or override.

The table is a convenience as of a date, not a guarantee. A model that is not in it has an *unknown* price: its calls
cost ``None`` and make a sum incomplete, never 0.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import inf

from jury_adapters.core.errors import ConfigurationError, plain_repr
from jury_adapters.core.usage import Usage
from jury_adapters.vendors import VENDORS


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens.

    Attributes:
        input: uncached input.
        output: output, including hidden reasoning.
        cached: input read from the vendor's cache; the same as ``input`` when None.
    """

    input: float
    output: float
    cached: float | None = None

    def halved(self) -> Price:
        """Return half of the price."""
        return Price(self.input / 2, self.output / 2, None if self.cached is None else self.cached / 2)


PRICES: dict[str, Price] = {
    f"{name}:{model}": Price(*price) for name, vendor in VENDORS.items() for model, price in vendor.prices.items()
}
_MOST_USD = 1e6  # a vendor's statement of a higher cost of one call is ignored
_BATCH = "/batch"  # both vendors that have batches charge half the list price for them
_DATED = re.compile(r"[-@](?:20\d{6}|20\d\d-\d\d-\d\d|latest|\d{4})$")


def set_price(name: str, *, input: float, output: float, cached: float | None = None) -> None:  # noqa: A002
    """Set the price of a model, for this process.

    Args:
        name: ``"vendor:model"``; ``"vendor/batch:model"`` for its price in a batch, which is half by default.
        input: US dollars per million input tokens.
        output: US dollars per million output tokens.
        cached: US dollars per million cached input tokens; the same as ``input`` by default.

    Raises:
        ConfigurationError: a price is negative, or the name has no vendor.
    """
    if ":" not in name:
        raise ConfigurationError(f"a price belongs to 'vendor:model', not {plain_repr(name)}")
    if not all(0 <= price < inf for price in (input, output, cached or 0.0)):
        raise ConfigurationError(f"a price is a finite number from 0, not {input}, {output} or {cached}")
    PRICES[name] = Price(input, output, cached)


def price_of(vendor: str, model: str) -> Price | None:
    """Return the price of a model, or None if it is unknown. A dated name falls back to the undated one.

    An example of a dated name is ``gpt-4o-2024-08-06``. A server of the user's own costs nothing per token.
    ``"openai/batch"`` is the vendor ``"openai"`` asked in batches (see :func:`batch_vendor`). Its price is half the
    normal one, unless a separate price is set.
    """
    found = PRICES.get(f"{vendor}:{model}") or PRICES.get(f"{vendor}:{_DATED.sub('', model)}")
    if found is None and vendor.endswith(_BATCH):
        listed = price_of(vendor.removesuffix(_BATCH), model)
        return None if listed is None else listed.halved()
    return Price(0.0, 0.0) if found is None and _is_free(vendor) else found


def names_in_prices(name: str) -> tuple[str, ...]:
    """Return the names under which the price of a ``"vendor:model"`` is looked up, in a batch or not."""
    vendor, _, model = name.partition(":")
    vendors = (vendor.removesuffix(_BATCH), batch_vendor(vendor.removesuffix(_BATCH)))
    return tuple(f"{one}:{called}" for one in vendors for called in (model, _DATED.sub("", model)))


def _is_free(vendor: str) -> bool:
    """Return whether this is a server of the user's own, which accepts any key."""
    return vendor in VENDORS and VENDORS[vendor].key_variable is None


def batch_vendor(vendor: str) -> str:
    """Return the vendor name for the prices of batches."""
    return vendor + _BATCH


def cost_of(usage: Usage, vendor: str, model: str, stated: object = None) -> Usage:
    """Return the usage with its cost: as the vendor stated it, else by the table, else unknown."""
    if isinstance(stated, int | float) and not isinstance(stated, bool) and 0 <= stated <= _MOST_USD:
        return usage.at_cost(float(stated))
    price = price_of(vendor, model)
    if price is None:
        return usage.at_cost(None)
    cached = min(usage.cached_tokens, usage.input_tokens)
    dollars = (
        (usage.input_tokens - cached) * price.input
        + cached * (price.input if price.cached is None else price.cached)
        + usage.output_tokens * price.output
    ) / 1e6
    return usage.at_cost(dollars)
