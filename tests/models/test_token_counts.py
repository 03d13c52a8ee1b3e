"""Token counts of vendors: what is believed, and what makes a usage unknown."""

import pytest

from jury_adapters import Usage
from jury_adapters.models.token_counts import MOST_TOKENS, UNKNOWN_USAGE, AbsurdCount, counted, token_count


@pytest.mark.parametrize(("stated", "count"), [(None, 0), (0, 0), (7, 7), (7.0, 7), (MOST_TOKENS, MOST_TOKENS)])
def test_a_plain_count_is_believed(stated, count):
    assert token_count(stated) == count


@pytest.mark.parametrize(
    "stated",
    [-1, 10**400, MOST_TOKENS + 1, float("nan"), float("inf"), -0.5, 1.5, True, "7", [7], {"tokens": 7}, 1e300],
)
def test_an_absurd_count_makes_the_usage_unknown(stated):
    with pytest.raises(AbsurdCount):
        token_count(stated)
    assert counted(lambda: Usage(input_tokens=token_count(stated), calls=1)) is UNKNOWN_USAGE


def test_a_usage_without_tokens_is_unknown_and_does_not_cost_nothing():
    assert counted(lambda: Usage(calls=1)) is UNKNOWN_USAGE
    assert not UNKNOWN_USAGE.cost_complete
    assert UNKNOWN_USAGE.calls == 1
