"""Check for duplicate keys in JSON objects, which the :mod:`json` module does not report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class DuplicateKey(ValueError):
    """Error for a JSON object with a duplicate key, which parsers interpret differently."""


def unique_keys(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object for ``json.loads(..., object_pairs_hook=unique_keys)``.

    Raises:
        DuplicateKey: a key occurs twice.

    >>> unique_keys([("a", 1), ("a", 2)])
    Traceback (most recent call last):
    ...
    jury_adapters.core.strict_json.DuplicateKey: the key 'a' occurs twice in one object
    """
    value = dict(pairs)
    if len(value) < len(pairs):
        seen: set[str] = set()
        key = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise DuplicateKey(f"the key {key!r} occurs twice in one object")
    return value
