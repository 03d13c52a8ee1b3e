"""Stores of judgments, so that nothing is paid twice and a jury can be replayed without asking.

:class:`Store` is an SQLite file, and :class:`jury_adapters.store.postgres.PostgresStore` a PostgreSQL database.
"""

import re
from dataclasses import dataclass
from os import PathLike, fspath
from typing import ClassVar

from jury_adapters.core.case import Case
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.store import Key
from jury_adapters.core.store import Store as AnyStore
from jury_adapters.core.values import ConfigurationError
from jury_adapters.store.sql import SqlStore
from jury_adapters.store.sqlite import Store

__all__ = ["ReadOnly", "SqlStore", "Store", "open_store"]


def open_store(place: str | PathLike[str]) -> SqlStore:
    """Open the store at a path or a URL.

    Args:
        place: the path of an SQLite file, the same as ``sqlite:///path``, or ``postgresql://user@host/database``.

    Raises:
        ConfigurationError: it is another kind of URL, or the store cannot be opened; see :class:`Store`.

    >>> open_store("mysql://me@host/runs")
    Traceback (most recent call last):
        ...
    jury_adapters.core.values.ConfigurationError: a store is a path, sqlite:///path or postgresql://... not mysql:
    """
    text = fspath(place)
    scheme = re.match(r"[a-z][a-z0-9+.-]+:(?=/)", text)  # one slash is left of a URL that was made a Path
    if scheme is None or text.startswith("sqlite:///"):
        return Store(text.removeprefix("sqlite:///"))
    if text.startswith("postgresql://"):
        from jury_adapters.store.postgres import PostgresStore

        return PostgresStore(text)
    raise ConfigurationError(f"a store is a path, sqlite:///path or postgresql://user@host/database; not {scheme[0]}")


@dataclass(frozen=True)
class ReadOnly:
    """Store that is only read, for replays: the same jury asks no model, and what is not stored is ABSTAIN.

    Attributes:
        store: the store with the judgments.
        read_only: True; a critic then does not ask its model.

    Example::

        verdicts = jury.judge_many(cases, store=ReadOnly(Store("runs.db")))
    """

    store: AnyStore
    read_only: ClassVar[bool] = True

    async def get(self, key: Key) -> Judgment | None:
        """Return the judgment with this key; None if there is none."""
        return await self.store.get(key)

    async def put(self, key: Key, case: Case, judgment: Judgment) -> None:
        """Refuse to keep a judgment.

        Raises:
            ConfigurationError: always.
        """
        raise ConfigurationError("a ReadOnly store keeps no judgments")
