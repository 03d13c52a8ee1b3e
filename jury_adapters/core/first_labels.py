"""First label and place of each labelled item of a batch, by which copies of an item are found."""

from __future__ import annotations

from array import array
from sys import intern

from jury_adapters.core.duplicates import Identity, compact_identity


class FirstLabels:
    """Labels and places of items by identity, in little memory, because those of all items are kept.

    >>> labels = FirstLabels()
    >>> labels.add((None, "a"), "good", "line 1"), labels.add((None, "a"), "bad", "line 2")
    (None, ('good', 'line 1'))
    """

    def __init__(self) -> None:
        self._positions: dict[bytes, int] = {}
        self._labels: list[str] = []
        self._places = bytearray()  # one after the other
        self._ends = array("Q", [0])

    def add(self, identity: Identity, label: str, place: str) -> tuple[str, str] | None:
        """Add the label of an item, and its place, unless the item is known.

        Returns:
            The first label of a known item, and its place; None for a new item.
        """
        new = len(self._labels)
        known = self._positions.setdefault(compact_identity(identity), new)
        if known < new:
            place_of_first = self._places[self._ends[known] : self._ends[known + 1]]
            return self._labels[known], place_of_first.decode(errors="surrogatepass")
        self._labels.append(intern(str(label)))
        self._places += place.encode(errors="surrogatepass")
        self._ends.append(len(self._places))
        return None
