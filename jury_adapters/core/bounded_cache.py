"""Thread-safe cache of bounded size."""

from __future__ import annotations

import threading
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class BoundedCache(Generic[K, V]):
    """Mapping that drops its oldest entry when it is full.

    Args:
        most: maximum number of entries.

    >>> cache = BoundedCache(2)
    >>> [cache.put(number, str(number)) for number in range(3)]
    ['0', '1', '2']
    >>> [cache.get(number) for number in range(3)]
    [None, '1', '2']
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._entries: dict[K, V] = {}
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        """Return the entry, or None."""
        return self._entries.get(key)

    def put(self, key: K, value: V) -> V:
        """Store an entry and return it."""
        with self._lock:
            while len(self._entries) >= self._most:
                del self._entries[next(iter(self._entries))]
            self._entries[key] = value
        return value

    def __contains__(self, key: K) -> bool:
        return key in self._entries
