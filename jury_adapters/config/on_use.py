"""Tables whose values are made on use, so that a jury file costs only what its own judges need."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

T = TypeVar("T")


class OnUse(Mapping[str, T]):
    """Read-only mapping that makes each value when it is first looked up.

    Args:
        makers: for each key, the function that makes its value.

    >>> table = OnUse({"one": lambda: print("making one") or 1})
    >>> list(table), table["one"], table["one"]
    making one
    (['one'], 1, 1)
    """

    def __init__(self, makers: Mapping[str, Callable[[], T]]) -> None:
        self._makers = makers
        self._made: dict[str, T] = {}

    def __getitem__(self, key: str) -> T:
        if key not in self._made:
            return self._made.setdefault(key, self._makers[key]())
        return self._made[key]

    def __contains__(self, key: object) -> bool:
        return key in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)
