"""Sums of usage: the same as with ``+``, and possible for any amounts that a file may have."""

from __future__ import annotations

from functools import reduce
from operator import add
from sys import float_info

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_adapters import Usage
from jury_adapters.core.usage import NO_USAGE, UsageSum

COUNTS = st.integers(0, 10**6)
MADE = st.builds(
    Usage,
    input_tokens=COUNTS, output_tokens=COUNTS, cached_tokens=COUNTS, reasoning_tokens=COUNTS, calls=COUNTS,
    cost_usd=st.integers(0, 1000).map(float), cost_complete=st.booleans(),
)  # fmt: skip
USAGES = st.one_of(st.just(NO_USAGE), MADE, st.builds(lambda made, served: made + served.as_recorded(), MADE, MADE))


def summed(usages: list[Usage]) -> Usage:
    total = UsageSum()
    for usage in usages:
        total.add(usage)
    return total.usage


@given(st.lists(USAGES, max_size=6))
def test_a_sum_is_that_of_the_single_usages(usages: list[Usage]) -> None:
    assert summed(usages) == reduce(add, usages, NO_USAGE)
    assert summed(usages).total == reduce(add, (usage.total for usage in usages), NO_USAGE)


@given(USAGES)
def test_the_total_has_all_calls_and_nothing_on_record(usage: Usage) -> None:
    total = usage.total
    recorded = usage.recorded or NO_USAGE
    assert total.recorded is None
    assert total.calls == usage.calls + recorded.calls
    assert total.cost_complete == (usage.cost_complete and recorded.cost_complete)


def test_nothing_added_is_no_usage() -> None:
    assert summed([]) is NO_USAGE
    assert summed([NO_USAGE, NO_USAGE]) is NO_USAGE


@pytest.mark.parametrize("cost", [1e308, float_info.max])
def test_costs_beyond_the_highest_number_do_not_raise(cost: float) -> None:
    assert summed([Usage(calls=1, cost_usd=cost)] * 3) == Usage(calls=3, cost_usd=float_info.max)
