"""The journal of judgments: what was paid for once is never paid for twice.

One SQLite file, one row per judgment. It is the cache (a judgment found here is served), the record to resume from
after a crash, and the ballots to replay under other voting rules. A judgment is durable before its verdict is handed
out.
"""

from __future__ import annotations

import asyncio
import json
import os
import queue
import sqlite3
import threading
import time
import weakref
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
_PATIENCE_S = 30.0  # how long another process may hold the file
_APPLICATION_ID = 0x6A757279  # "jury": by this SQLite files of others are told from ours

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
        self._inbox: queue.SimpleQueue[_Write | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._reading = threading.Lock()
        self._reader: sqlite3.Connection | None = None
        self._writer: threading.Thread | None = None
        self._process = os.getpid()
        self._closed = False
        try:
            with closing(_connect(self.path)) as connection:
                _prepare(connection, self.path)
        except sqlite3.Error as error:
            raise ConfigurationError(_explained(self.path, error)) from error

    def get(self, key: JournalKey) -> Judgment | None:
        """The recorded judgment, or None. An ERROR is never served.

        Raises:
            ConfigurationError: the store is closed, or the file cannot be read; the message says what to do.
        """
        row = self._row(_SELECT, key)
        return None if row is None else Judgment.from_json(row[0])

    async def put(self, key: JournalKey, case: Case, judgment: Judgment) -> None:
        """Record a judgment; returns when it is on the disk.

        Raises:
            ConfigurationError: the disk or the file does not take it; the message says what to do.
        """
        loop = asyncio.get_running_loop()
        durable: asyncio.Future[None] = loop.create_future()
        content = json.dumps(case.model_dump(mode="json", exclude_defaults=True, exclude={"metadata"}))
        write = _Write(key, content, judgment.to_json(), judgment.status, loop, durable)
        with self._lock:  # nothing may slip in behind the word that ends the writer
            self._start_writer()
            self._inbox.put(write)
        await durable

    def entries(self) -> Iterator[Entry]:
        """Every recorded judgment that may be served, in the order of recording."""
        for *key, content in self._rows(_SELECT_ALL):
            yield Entry(JournalKey(*key), Judgment.from_json(content))

    def cases(self) -> Iterator[tuple[str, Case]]:
        """Every case by its key."""
        for key, content in self._rows("SELECT case_key, content FROM cases"):
            yield key, Case(**json.loads(content))

    def count(self) -> int:
        """How many judgments may be served."""
        row = self._row("SELECT count(*) FROM judgments WHERE status IS NOT 'ERROR'")
        return int(row[0]) if row is not None else 0

    def close(self) -> None:
        """Write what is waiting and let go of the file. May be called twice."""
        with self._lock:
            self._closed = True
            writer, self._writer = self._writer, None
            if writer is not None and writer.is_alive():
                self._inbox.put(None)
        if writer is not None and writer.is_alive():
            writer.join()
        with self._reading:
            reader, self._reader = self._reader, None
            if reader is not None:
                reader.close()

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

    def _row(self, query: str, parameters: tuple[str, ...] = ()) -> tuple[str, ...] | None:
        """One row, over the connection that all threads share."""
        with self._reading:
            self._check_open()
            try:
                if self._reader is None:
                    self._reader = _connect(self.path)
                    weakref.finalize(self, self._reader.close)
                row: tuple[str, ...] | None = self._reader.execute(query, parameters).fetchone()
            except sqlite3.Error as error:
                raise InputError(_explained(self.path, error)) from error
            return row

    def _rows(self, query: str) -> Iterator[tuple[str, ...]]:
        """Many rows, over a connection of their own: others read and write on meanwhile."""
        self._check_open()
        try:
            with closing(_connect(self.path)) as connection:
                yield from connection.execute(query)
        except sqlite3.Error as error:
            raise InputError(_explained(self.path, error)) from error

    def _check_open(self) -> None:
        if self._closed:
            raise ConfigurationError(f"the store {self.path} is closed; open it again with Store(...)")
        if self._process != os.getpid():
            raise ConfigurationError(
                f"the store {self.path} was opened before this process was forked; open it here with Store(...)"
            )

    def _start_writer(self) -> None:
        self._check_open()
        if self._writer is None:
            self._writer = threading.Thread(target=self._write, name="jury-store", daemon=True)
            self._writer.start()

    def _write(self) -> None:
        """The one writer: groups what comes within 20 ms into one commit, then tells everyone in it.

        Whatever goes wrong is told to those who wait; the writer itself lives on, or they would wait for ever.
        """
        connection: sqlite3.Connection | None = None
        last = False
        while not last and (first := self._inbox.get()) is not None:
            group, last = self._group(first)
            error: Exception | None = None
            try:
                if connection is None:
                    connection = _connect(self.path)
                _commit(connection, group)
            except Exception as problem:
                error = InputError(_explained(self.path, problem))
            for write in group:
                with suppress(RuntimeError):  # the loop that asked may be gone
                    write.loop.call_soon_threadsafe(_settle, write.durable, error)
        if connection is not None:
            connection.close()

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
        if found is None or found._closed or found._process != os.getpid():
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
    connection = sqlite3.connect(path, timeout=_PATIENCE_S, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA synchronous=FULL")
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Make the file a store of this version. A file that is somebody else's is left as it is."""
    _check(connection, path)
    _use_write_ahead_log(connection)
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = _check(connection, path)  # another process may have been faster
        for step in range(version, SCHEMA_VERSION):
            for statement in _MIGRATIONS[step].split(";"):
                connection.execute(statement)
        # Written every time: a file that takes nothing is refused now, and not after the first judgment was paid for.
        connection.execute(f"PRAGMA application_id={_APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def _check(connection: sqlite3.Connection, path: Path) -> int:
    """The schema version of the file; 0 when it is new.

    Raises:
        ConfigurationError: it is not ours, or newer than we know.
    """
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    owner: int = connection.execute("PRAGMA application_id").fetchone()[0]
    tables: int = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if owner != _APPLICATION_ID and (owner or version or tables):
        raise ConfigurationError(f"{path} is an SQLite file, but no store of judgments; give another path")
    if version > SCHEMA_VERSION:
        raise ConfigurationError(f"{path} was written by a newer jury_adapters (schema {version}); upgrade the package")
    return version


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Switch to WAL. SQLite does not wait here for other processes that do the same, so we do."""
    until = time.monotonic() + _PATIENCE_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.01)


def _commit(connection: sqlite3.Connection, group: list[_Write]) -> None:
    now = time.time()
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(_INSERT_CASE, [(write.key.case_key, write.case) for write in group])
        connection.executemany(_INSERT, [(*write.key, write.status, write.judgment, now) for write in group])
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def _settle(durable: asyncio.Future[None], error: Exception | None) -> None:
    if durable.done():
        return
    if error is None:
        durable.set_result(None)
    else:
        durable.set_exception(error)


def _explained(path: Path, error: Exception) -> str:
    text = str(error)
    advice = {
        "unable to open": "the folder must exist and be writable",
        "readonly": "make the file and its folder writable, or give another path",
        "full": "the disk is full; make room and run again, what is recorded is kept",
        "locked": "another process holds the file for long; close it or give another path",
        "disk I/O": "see whether the disk is full or failing; what is recorded is kept",
        "no such table": "another program has changed the file; restore a copy, or give another path",
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
