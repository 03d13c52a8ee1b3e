"""Copies of one item among the rows of a batch; an item counts once and has one human label."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from hashlib import blake2b
from typing import TypeAlias, TypeVar

from jury_adapters.core.case import EMPTY_KEY
from jury_adapters.core.errors import InputError
from jury_adapters.core.formatting import counted, visible

T = TypeVar("T", bound=Hashable)

Identity: TypeAlias = tuple[str | None, str | None]
"""Hash of an item's content and its own id. Rows with the same identity are copies of one item."""

IDENTITY_BYTES = 15
"""Length of an identity in compact form."""


class ContradictingLabels(InputError):
    """Error for copies of one item that have different human labels.

    Args:
        item_id: the item's own id, or None.
        labels: the label of each copy that has one, with its position in the batch.
        others: the number of other items with different labels, as far as it is known.

    Attributes:
        item_id: the same.
        labels: the same.
        others: the same.
    """

    def __init__(self, item_id: str | None, labels: Sequence[tuple[int, object]], others: int = 0) -> None:
        self.item_id = item_id
        self.others = others
        self.labels = tuple(labels)
        super().__init__(self.describe([f"row {position + 1}" for position, _ in labels]))

    def describe(self, places: Sequence[str]) -> str:
        """Return the message with descriptions of the place of each copy, in the order of ``labels``."""
        said: dict[str, list[str]] = {}
        for (_, label), place in zip(self.labels, places, strict=True):
            said.setdefault(visible(str(label)), []).append(place)
        labels = " and ".join(f"{label} ({_few(found)})" for label, found in said.items())
        name = "one item" if self.item_id is None else f"item {visible(self.item_id)!r}"
        have = "has" if self.others == 1 else "have"
        more = f", and {counted(self.others, 'other item')} {have} several too" if self.others else ""
        return (
            f"{name} has the labels {labels}{more}; an item (the same content, and the same id or none) has one label: "
            "decide which is right, and remove the others"
        )


def identity_of(key: str | None, item_id: str | None) -> Identity | None:
    """Return the identity of an item; None if neither its content nor an id is known.

    Equal contents with different ids are different items: a question that two users asked counts twice.

    Args:
        key: the hash of the content (:attr:`Case.content_hash`), or None.
        item_id: the item's own id, or None.
    """
    content = None if key == EMPTY_KEY else key
    return None if content is None and item_id is None else (content, item_id)


def compact_identity(identity: Identity) -> bytes:
    """Return an identity in 15 bytes, for batches whose identities all stay in memory."""
    return blake2b(repr(identity).encode(errors="surrogatepass"), digest_size=IDENTITY_BYTES).digest()


def positions_by_item(identities: Sequence[Hashable | None]) -> list[list[int]]:
    """Return the positions of the copies of each item, by first position; a row without identity is its own item.

    >>> positions_by_item([(None, "a"), None, (None, "a"), None])
    [[0, 2], [1], [3]]
    """
    found: dict[object, list[int]] = {}
    for position, identity in enumerate(identities):
        found.setdefault(position if identity is None else identity, []).append(position)
    return list(found.values())


def one_label(item_id: str | None, labels: Sequence[tuple[int, T | None]]) -> T | None:
    """Return the common label of the copies of an item; None without any.

    Args:
        item_id: the item's own id, for the message.
        labels: the position of each copy in the batch and its label; None for no label.

    Raises:
        ContradictingLabels: the copies have different labels.
    """
    known = [(position, label) for position, label in labels if label is not None]
    if len({label for _, label in known}) > 1:
        raise ContradictingLabels(item_id, known)
    return known[0][1] if known else None


def merged_sentence(copies: int, what: str = "row") -> str:
    """Return the sentence about merged copies."""
    verb = "repeats an item and was" if copies == 1 else "repeat an item and were"
    return f"{counted(copies, what)} {verb} merged with its first {what}: an item counts once."


def refuse_other_content(rows: Iterable[tuple[int, str, str | None]]) -> None:
    """Refuse an id that rows of different content have, because labels and results are matched by id.

    Args:
        rows: line, id and hash of the content of each row that has an id.

    Raises:
        InputError: two rows have the same id and different content.
    """
    seen: dict[str, tuple[int, str | None]] = {}
    for line, item, key in rows:
        first, content = seen.setdefault(item, (line, key))
        if content != key:
            raise InputError(
                f"row {line}: item_id {item!r} is in row {first} too, with other content; give each item its own id"
            )


_SHOWN = 3


def _few(places: Sequence[str]) -> str:
    more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
    return ", ".join(places[:_SHOWN]) + more
