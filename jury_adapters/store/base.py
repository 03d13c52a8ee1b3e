"""Base class of stores. :class:`Store` and :class:`PostgresStore` implement only the differences."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, Self

from jury_adapters.core.cache import CacheKey
from jury_adapters.core.case import Case
from jury_adapters.core.judgment import Judgment
from jury_adapters.store.entry import Entry, Write, case_of, judgment_of
from jury_adapters.store.grouping import GroupCommitter

GROUP_WITHIN_S = 0.02
"""Seconds that a commit waits for more judgments."""
TIMEOUT_S = 30.0
"""Seconds to wait for another process that locks the store, or for a server that does not answer."""


class BaseStore(ABC):
    """Store of judgments; safe for many threads, event loops and processes at once.

    Args:
        name: its name in messages.

    Attributes:
        name: the same.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._where = f"the store {name}"
        self._writes: GroupCommitter[Write, None] = GroupCommitter(
            self._write, where=self._where, within_s=GROUP_WITHIN_S
        )

    @property
    def usable(self) -> bool:
        """Whether the store is open, and this process opened it."""
        return self._writes.usable

    @abstractmethod
    def get(self, key: CacheKey) -> Judgment | None:
        """Return the recorded judgment, or None. An ERROR is never returned."""

    @abstractmethod
    async def put(self, key: CacheKey, case: Case, judgment: Judgment) -> None:
        """Record a judgment. Returns when it is on disk."""

    def entries(self, *, errors: bool = False) -> Iterator[Entry]:
        """Yield the recorded judgments without ERRORs, in the order of recording.

        Args:
            errors: whether to yield judgments with status ERROR too. One key may have several, in addition to a
                judgment without an error.

        Raises:
            ConfigurationError: the store is closed, or cannot be read; the message says what to do.
        """
        for *key, content in self._all_judgments(errors):
            yield Entry(CacheKey(*key), judgment_of(content, self._where))

    def cases(self) -> Iterator[tuple[str, Case]]:
        """Yield every case with its key, without its metadata.

        Raises:
            ConfigurationError: as in :meth:`entries`.
        """
        for key, content in self._all_cases():
            yield key, case_of(content, self._where)

    @abstractmethod
    def count(self) -> int:
        """Return the number of judgments without ERRORs."""

    @abstractmethod
    def close(self) -> None:
        """Write pending judgments and close the file or the connection. May be called twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @abstractmethod
    def _all_judgments(self, errors: bool) -> Iterable[Sequence[Any]]:
        """Return the four parts of the key and the text of all judgments, in the order of recording.

        Args:
            errors: whether to include those with status ERROR, which are never returned for a key.
        """

    @abstractmethod
    def _all_cases(self) -> Iterable[Sequence[Any]]:
        """Return the key and the text of all cases."""

    @abstractmethod
    def _write(self, group: list[Write]) -> Sequence[None]:
        """Commit the group. Runs in the writer's thread."""
