"""Token counts as a vendor states them."""

from __future__ import annotations

from collections.abc import Callable

from jury_adapters.core.usage import Usage

UNKNOWN_USAGE = Usage(calls=1, cost_complete=False)
"""Usage of a call for which the vendor stated no tokens, or an absurd number."""


class AbsurdCount(ValueError):
    """Token count that cannot be true. It never leaves this package."""


def token_count(value: object) -> int:
    """Return a token count; 0 if there is none.

    Raises:
        AbsurdCount: the count is negative, larger than :data:`MOST_TOKENS`, or not a whole number.
    """
    if value is None:
        return 0
    if isinstance(value, float) and 0 <= value <= MOST_TOKENS and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_TOKENS:
        raise AbsurdCount
    return value


def counted(read: Callable[[], Usage]) -> Usage:
    """Return the usage that ``read`` finds, or an unknown usage if a count is absurd or no tokens are stated at all.

    A reply with an unreadable usage is still a reply, and paid for.
    """
    try:
        usage = read()
    except AbsurdCount:
        return UNKNOWN_USAGE
    return usage if usage.input_tokens or usage.output_tokens else UNKNOWN_USAGE


MOST_TOKENS = 10**9
"""Largest plausible count; no model reads or writes a thousandth of it in one call."""
