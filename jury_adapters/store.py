"""The journal of judgments: what was paid for once is never paid for twice.

One SQLite file, one row per judgment. It is the cache (a judgment found here is served), the record to resume from
after a crash, and the ballots to replay under other voting rules. A judgment is durable before its verdict is handed
out.
"""

from __future__ import annotations

import asyncio
import json
import queue
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError, InputError
from jury_adapters.core.journal import JournalKey
from jury_adapters.core.judgment import Judgment, Status

SCHEMA_VERSION = 1

_GROUP_WITHIN_S = 0.02
_LARGEST_GROUP = 512

_MIGRATIONS = {
    0: """
    CREATE TABLE judgments (
        id INTEGER PRIMARY KEY,
        case_key TEXT NOT NULL,
        critic TEXT NOT NULL,
        rubric TEXT NOT NULL,
        sample TEXT NOT NULL,
        status TEXT,
        judgment TEXT NOT NULL,
        created_at REAL NOT NULL
    );
    -- An ERROR is recorded and never served, so there may be several. Of all else the first one stays.
    CREATE UNIQUE INDEX served ON judgments (case_key, critic, rubric, sample) WHERE status IS NOT 'ERROR';
    CREATE TABLE cases (case_key TEXT PRIMARY KEY, content TEXT NOT NULL) WITHOUT ROWID;
    """,
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One recorded judgment with the key under which it stands."""

    key: JournalKey
    judgment: Judgment


class Store:
    """A journal in an SQLite file; safe for many threads, event loops and processes at once.

    Args:
        path: the file; made when it is missing.

    Raises:
        ConfigurationError: the file cannot be opened, is no store, or was written by a newer version; the message says
            what to do.

    >>> with Store("runs.db") as store:  # doctest: +SKIP
    ...     verdicts = list(jury.judge_many(cases, store=store))
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._local = threading.local()
        self._inbox: queue.SimpleQueue[_Write | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._writer: threading.Thread | None = None
        self._closed = False
        try:
            with closing(_connect(self.path)) as connection:
                _migrate(connection, self.path)
        except sqlite3.Error as error:
            raise ConfigurationError(_explained(self.path, error)) from error

    def get(self, key: JournalKey) -> Judgment | None:
        """The recorded judgment, or None. An ERROR is never served."""
        row = self._reader().execute(_SELECT, key).fetchone()
        return None if row is None else Judgment.from_json(row[0])

    async def put(self, key: JournalKey, case: Case, judgment: Judgment) -> None:
        """Record a judgment; returns when it is on the disk.

        Raises:
            ConfigurationError: the disk or the file does not take it; the message says what to do.
        """
        loop = asyncio.get_running_loop()
        durable: asyncio.Future[None] = loop.create_future()
        content = json.dumps(case.model_dump(mode="json", exclude_defaults=True, exclude={"metadata"}))
        self._start_writer()
        self._inbox.put(_Write(key, content, judgment.to_json(), judgment.status, loop, durable))
        await durable

    def entries(self) -> Iterator[Entry]:
        """Every recorded judgment that may be served, in the order of recording."""
        for *key, content in self._reader().execute(_SELECT_ALL):
            yield Entry(JournalKey(*key), Judgment.from_json(content))

    def cases(self) -> Iterator[tuple[str, Case]]:
        """Every case by its key."""
        for key, content in self._reader().execute("SELECT case_key, content FROM cases"):
            yield key, Case(**json.loads(content))

    def count(self) -> int:
        """How many judgments may be served."""
        found: int = self._reader().execute("SELECT count(*) FROM judgments WHERE status IS NOT 'ERROR'").fetchone()[0]
        return found

    def close(self) -> None:
        """Write what is waiting and let go of the file."""
        with self._lock:
            self._closed = True
            writer, self._writer = self._writer, None
        if writer is not None:
            self._inbox.put(None)
            writer.join()
        reader = getattr(self._local, "connection", None)
        if reader is not None:
            reader.close()
            self._local.connection = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r})"

    def __reduce__(self) -> tuple[type[Store], tuple[Path]]:
        return (Store, (self.path,))

    def _reader(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = _connect(self.path)
        return connection

    def _start_writer(self) -> None:
        with self._lock:
            if self._closed:
                raise ConfigurationError(f"the store {self.path} is closed; open it again with Store(...)")
            if self._writer is None:
                self._writer = threading.Thread(target=self._write, name="jury-store", daemon=True)
                self._writer.start()

    def _write(self) -> None:
        """The one writer: groups what comes within 20 ms into one commit, then tells everyone in it."""
        with closing(_connect(self.path)) as connection:
            while (first := self._inbox.get()) is not None:
                group, last = self._group(first)
                error = _commit(connection, group, self.path)
                for write in group:
                    with suppress(RuntimeError):  # the loop that asked may be gone
                        write.loop.call_soon_threadsafe(_settle, write.durable, error)
                if last:
                    return

    def _group(self, first: _Write) -> tuple[list[_Write], bool]:
        group = [first]
        until = time.monotonic() + _GROUP_WITHIN_S
        while len(group) < _LARGEST_GROUP:
            try:
                write = self._inbox.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                return group, False
            if write is None:
                return group, True
            group.append(write)
        return group, False


def open_store(store: Store | str | Path) -> Store:
    """A store, or the store in a file; one per file and process."""
    if isinstance(store, Store):
        return store
    path = Path(store).absolute()
    with _LOCK:
        found = _OPEN.get(path)
        if found is None or found._closed:
            found = _OPEN[path] = Store(path)
        return found


@dataclass(frozen=True, slots=True)
class _Write:
    key: JournalKey
    case: str
    judgment: str
    status: Status | None
    loop: asyncio.AbstractEventLoop
    durable: asyncio.Future[None]


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=30, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    return connection


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute("BEGIN IMMEDIATE")
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        connection.execute("ROLLBACK")
        raise ConfigurationError(f"{path} was written by a newer jury_adapters (schema {version}); upgrade the package")
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if version == 0 and tables:
        connection.execute("ROLLBACK")
        raise ConfigurationError(f"{path} is an SQLite file, but no store of judgments; give another path")
    for step in range(version, SCHEMA_VERSION):
        for statement in _MIGRATIONS[step].split(";"):
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
    connection.execute("COMMIT")


def _commit(connection: sqlite3.Connection, group: list[_Write], path: Path) -> Exception | None:
    now = time.time()
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(_INSERT_CASE, [(write.key.case_key, write.case) for write in group])
        connection.executemany(_INSERT, [(*write.key, write.status, write.judgment, now) for write in group])
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        return InputError(_explained(path, error))
    return None


def _settle(durable: asyncio.Future[None], error: Exception | None) -> None:
    if durable.done():
        return
    if error is None:
        durable.set_result(None)
    else:
        durable.set_exception(error)


def _explained(path: Path, error: sqlite3.Error) -> str:
    text = str(error)
    advice = {
        "unable to open": "the folder must exist and be writable",
        "readonly": "make the file and its folder writable, or give another path",
        "full": "the disk is full; make room and run again, what is recorded is kept",
        "locked": "another process holds the file for long; close it or give another path",
        "malformed": "the file is damaged; restore a copy, or save what is readable with: sqlite3 FILE .recover",
        "not a database": "this is no SQLite file; give another path",
    }
    hint = next((hint for sign, hint in advice.items() if sign in text), "see the message of SQLite")
    return f"the store {path} cannot be used: {text}; {hint}"


_SELECT = """
SELECT judgment FROM judgments
WHERE case_key = ? AND critic = ? AND rubric = ? AND sample = ? AND status IS NOT 'ERROR'
"""
_SELECT_ALL = """
SELECT case_key, critic, rubric, sample, judgment FROM judgments WHERE status IS NOT 'ERROR' ORDER BY id
"""
_INSERT = """
INSERT OR IGNORE INTO judgments (case_key, critic, rubric, sample, status, judgment, created_at)
VALUES (?, ?, ?, ?, ?, ?, ?)
"""
_INSERT_CASE = "INSERT OR IGNORE INTO cases (case_key, content) VALUES (?, ?)"
_LOCK = threading.Lock()
_OPEN: dict[Path, Store] = {}
