"""Cases of a batch that may end before all of them are judged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, Generic, TypeVar

Item = TypeVar("Item")

READ_AHEAD: Final = 2
"""The most cases that have been read and not yet yielded, in multiples of the concurrency."""


class EndsEarly(Generic[Item]):
    """Iterator that ends as soon as the judgments on its earlier items suffice.

    A batch reads few of its cases ahead. Otherwise one case that waits for a retry would let many others be judged,
    which are not needed if its own judgment is the last one that was.
    """

    def __init__(self, items: Iterable[Item]) -> None:
        self._items = iter(items)

    def __iter__(self) -> Iterator[Item]:
        return self

    def __next__(self) -> Item:
        return next(self._items)
