"""Prices: known, overridden, dated, free, or honestly unknown."""

import pytest

from jury_adapters import ConfigurationError, Usage
from jury_adapters.models import set_price
from jury_adapters.models.prices import PRICES, Price, cost_of, price_of

USED = Usage(1_000_000, 1_000_000, cached_tokens=500_000, calls=1)


def test_cached_input_costs_its_own_price():
    assert cost_of(USED, "openai", "gpt-4o").cost_usd == pytest.approx(1.25 + 0.625 + 10)


@pytest.mark.parametrize("name", ["gpt-4o-2024-08-06", "gpt-4o-20240806", "gpt-4o-latest"])
def test_a_dated_name_has_the_price_of_the_undated_one(name):
    assert price_of("openai", name) == PRICES["openai:gpt-4o"]


def test_an_unknown_model_has_no_price_and_a_local_one_costs_nothing():
    unknown = cost_of(USED, "openai", "gpt-99")
    assert (price_of("openai", "gpt-99"), unknown.cost_usd, unknown.cost_complete) == (None, 0.0, False)
    assert price_of("ollama", "anything") == Price(0.0, 0.0)


@pytest.mark.parametrize("stated", [float("inf"), float("nan"), -1.0])
def test_a_stated_cost_that_is_none_is_not_believed(stated):
    assert not cost_of(USED, "nobody", "m", stated).cost_complete


@pytest.mark.parametrize(
    ("name", "prices"),
    [("gpt-4o", (1, 1)), ("openai:x", (-1, 1)), ("openai:x", (1, -1)), ("openai:x", (float("nan"), 1))],
)
def test_a_price_that_makes_no_sense_is_refused(name, prices):
    with pytest.raises(ConfigurationError):
        set_price(name, input=prices[0], output=prices[1])
    assert "openai:x" not in PRICES
