"""Strictness that the :mod:`json` module lacks: an object that names a key twice is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class DuplicateKey(ValueError):
    """An object names a key twice; readers disagree about which of the values counts."""


def unique_keys(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object for ``json.loads(..., object_pairs_hook=unique_keys)``.

    Raises:
        DuplicateKey: a key is there twice.

    >>> unique_keys([("a", 1), ("a", 2)])
    Traceback (most recent call last):
    ...
    jury_adapters.core.strict_json.DuplicateKey: the key 'a' stands twice in one object
    """
    value = dict(pairs)
    if len(value) < len(pairs):
        seen: set[str] = set()
        key = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise DuplicateKey(f"the key {key!r} stands twice in one object")
    return value
