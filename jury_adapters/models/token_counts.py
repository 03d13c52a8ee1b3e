"""Token counts as a vendor states them."""

from __future__ import annotations

from typing import Any


def plain_int(value: Any) -> int:
    """A token count as the vendor gave it, 0 when it is missing or no number."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
