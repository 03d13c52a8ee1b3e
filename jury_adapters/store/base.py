"""What a store is, wherever it keeps its rows: :class:`Store` and :class:`PostgresStore` say only what differs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, Self

from jury_adapters.core.case import Case
from jury_adapters.core.journal import JournalKey
from jury_adapters.core.judgment import Judgment
from jury_adapters.store.entry import Entry, Write, case_of, judgment_of
from jury_adapters.store.grouping import Groups

GROUP_WITHIN_S = 0.02
"""How long a commit waits for more judgments, in seconds."""
PATIENCE_S = 30.0
"""How long whoever holds up the store is waited for, in seconds: another process, a server that is away."""


class BaseStore(ABC):
    """A journal of judgments; safe for many threads, event loops and processes at once.

    Args:
        name: what it is called in messages.

    Attributes:
        name: the same.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._where = f"the store {name}"
        self._writes: Groups[Write, None] = Groups(self._write, where=self._where, within_s=GROUP_WITHIN_S)

    @property
    def usable(self) -> bool:
        """Whether it is open, and this is the process that opened it."""
        return self._writes.usable

    @abstractmethod
    def get(self, key: JournalKey) -> Judgment | None:
        """The recorded judgment, or None. An ERROR is never served."""

    @abstractmethod
    async def put(self, key: JournalKey, case: Case, judgment: Judgment) -> None:
        """Record a judgment; returns when it is on the disk."""

    def entries(self, *, errors: bool = False) -> Iterator[Entry]:
        """Yield the recorded judgments that may be served, in the order of recording.

        Args:
            errors: whether to yield judgments with status ERROR too. There may be several under one key, and one that
                may be served beside them.

        Raises:
            ConfigurationError: the store is closed, or cannot be read; the message says what to do.
        """
        for *key, content in self._all_judgments(errors):
            yield Entry(JournalKey(*key), judgment_of(content, self._where))

    def cases(self) -> Iterator[tuple[str, Case]]:
        """Every case by its key, without its metadata.

        Raises:
            ConfigurationError: as in :meth:`entries`.
        """
        for key, content in self._all_cases():
            yield key, case_of(content, self._where)

    @abstractmethod
    def count(self) -> int:
        """How many judgments may be served."""

    @abstractmethod
    def close(self) -> None:
        """Write what is waiting and let go of the place. May be called twice."""

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
            errors: whether those with status ERROR, which are never served, are among them.
        """

    @abstractmethod
    def _all_cases(self) -> Iterable[Sequence[Any]]:
        """Key and text of all cases."""

    @abstractmethod
    def _write(self, group: list[Write]) -> Sequence[None]:
        """One commit for the group; in the writer's thread."""
