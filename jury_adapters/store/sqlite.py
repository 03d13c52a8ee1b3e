"""Store in an SQLite file: no setup, for one machine."""

import sqlite3
from functools import partial
from os import PathLike
from pathlib import Path

from jury_adapters.core.values import ConfigurationError
from jury_adapters.store.sql import Connection, SqlStore

_CHECKED_BYTES = 64_000_000  # the check of a larger file would take longer than a quarter of a second
_TRANSIENT = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)


class Store(SqlStore):
    """Store of judgments in an SQLite file, for any number of event loops, threads and processes of one machine.

    A judgment is on the disk when :meth:`put` returns (write-ahead log, ``synchronous=FULL``). A file of up to 64 MB is
    checked for damage when it is opened.

    Args:
        path: the file, on a local disk; it is made if it is missing.

    Raises:
        ConfigurationError: the file cannot be opened or written, is damaged, or is not a store.

    Attributes:
        path: the file, as an absolute path.

    >>> import asyncio, tempfile
    >>> from jury_adapters.core.case import Case
    >>> from jury_adapters.core.judgment import Judgment
    >>> from jury_adapters.core.store import Key
    >>> folder = tempfile.TemporaryDirectory()
    >>> with Store(f"{folder.name}/runs.db") as store:
    ...     asyncio.run(store.put(Key("case", "judge", 0), Case(answer="Yes."), Judgment(status="PASS")))
    ...     store.counts()
    Counter({'PASS': 1})
    >>> folder.cleanup()
    """

    _errors = (sqlite3.Error, UnicodeDecodeError)
    _begin = ("PRAGMA synchronous=FULL", "BEGIN IMMEDIATE")
    _list_tables = "SELECT name FROM sqlite_master"

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path).absolute()
        if "://" in str(path) or self.path.name == ":memory:":
            raise ConfigurationError(
                "a store is kept in a file, so give its path, not ':memory:'; for a URL there is open_store(url)"
            )
        super().__init__(str(path), partial(_connect, self.path))

    def _check(self, connection: Connection) -> None:
        connection.execute("PRAGMA journal_mode=WAL")
        large = self.path.stat().st_size > _CHECKED_BYTES
        if not large and connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
            raise ConfigurationError(f"the store {self.name} is damaged; restore a copy of the file")

    def _is_transient(self, error: BaseException) -> bool:
        # Where several processes make a new file, SQLite does not wait for the change to the write-ahead log by itself.
        return isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorcode", 0) & 0xFF in _TRANSIENT


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=5, isolation_level=None, check_same_thread=False)
    connection.text_factory = bytes.decode  # the error of the default quotes a damaged text
    return connection
