"""Store in an SQLite file: no setup, for one machine."""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple

from jury_adapters.core.cache import CacheKey
from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError, InputError
from jury_adapters.core.judgment import Judgment
from jury_adapters.store.base import TIMEOUT_S, BaseStore
from jury_adapters.store.entry import Write, judgment_of

_log = logging.getLogger(__name__)

_CHECKED_BYTES = 64_000_000  # larger files are not checked when opened; this size takes a quarter of a second
_MOMENT_S = 0.005  # short, because other processes write too
_FEW = 50  # judgments of one case that are read at once
_BEING_MADE_S = 2.0  # another process may be creating a store in a file that has been empty for less than this
_APPLICATION_ID = 0x6A757279  # "jury": tells our SQLite files from others

# Statements that lead from each schema version to the next. A released step is never changed.
MIGRATIONS: Sequence[Sequence[str]] = (
    (
        """CREATE TABLE judgments (
            id INTEGER PRIMARY KEY,
            case_key TEXT NOT NULL,
            critic TEXT NOT NULL,
            rubric TEXT NOT NULL,
            sample TEXT NOT NULL,
            status TEXT,
            judgment TEXT NOT NULL,
            created_at REAL NOT NULL
        )""",
        # An ERROR is recorded and never returned, so there may be several. Of other judgments, the first one is kept.
        "CREATE UNIQUE INDEX served ON judgments (case_key, critic, rubric, sample) WHERE status IS NOT 'ERROR'",
        "CREATE TABLE cases (case_key TEXT PRIMARY KEY, content TEXT NOT NULL) WITHOUT ROWID",
    ),
)
SCHEMA_VERSION = len(MIGRATIONS)


class Store(BaseStore):
    """Store of judgments in an SQLite file; safe for many threads, event loops and processes at once.

    Args:
        path: the file; created if it is missing. It must not be on a network file system, because SQLite needs real
            locks. A file of up to 64 MB is checked for damage when it is opened; check larger ones with :meth:`check`.

    Raises:
        ConfigurationError: the file cannot be opened, is not a store, or was written by a newer version; the message
            says what to do.

    Attributes:
        path: the file; absolute, so that it does not depend on the working directory.
        name: the path as it was given, for messages.

    >>> with Store("runs.db") as store:  # doctest: +SKIP
    ...     verdicts = list(jury.judge_many(cases, store=store))
    """

    def __init__(self, path: str | Path) -> None:
        if isinstance(path, str) and "://" in path:
            raise ConfigurationError("Store(...) takes the path of a file; give a URL to store= or open_store(...)")
        if Path(path).name == ":memory:":
            raise ConfigurationError("a store is a file, not ':memory:'; give a path such as 'runs.db'")
        super().__init__(str(path))
        self.path = Path(path).absolute()
        self._writer: sqlite3.Connection | None = None
        self._reading = threading.Lock()
        self._reader: sqlite3.Connection | None = None
        self._groups_written = 0
        self._last_look = _Look("", {}, 0, 0.0)
        try:
            _look_at(self.path)
            with closing(_connect(self.path)) as connection:
                prepare(connection, self.path)
        except _PROBLEMS as error:
            raise ConfigurationError(_explained(self.path, error)) from error
        if self.path.stat().st_size <= _CHECKED_BYTES:
            self.check()

    def get(self, key: CacheKey) -> Judgment | None:
        """Return the recorded judgment, or None. An ERROR is never returned.

        Raises:
            ConfigurationError: the store is closed, or the file cannot be read; the message says what to do.
        """
        texts = self._texts_of_case(key.case_key)
        if texts is None:
            found = self._read(SELECT_ONE, key)
            text = found[0][0] if found else None
        else:
            text = texts.get(key[1:])
        return None if text is None else judgment_of(text, self._where)

    async def put(self, key: CacheKey, case: Case, judgment: Judgment) -> None:
        """Record a judgment. Returns when it is on disk.

        Raises:
            ConfigurationError: the disk or the file does not accept it; the message says what to do.
        """
        await self._writes.submit(Write.of(key, case, judgment))

    def count(self) -> int:
        """Return the number of judgments without ERRORs."""
        ((count,),) = self._read("SELECT count(*) FROM judgments WHERE status IS NOT 'ERROR'")
        return int(count)

    def check(self) -> None:
        """Check the whole file for damage. A damaged file might not find judgments that were paid for.

        Raises:
            ConfigurationError: the file is damaged, or the store is closed; the message says what to do.
        """
        self._writes.check_usable()
        try:
            with closing(_connect(self.path)) as connection:
                connection.text_factory = _lenient  # the report on a damaged text may contain the damaged bytes
                (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
        except _PROBLEMS as error:
            raise ConfigurationError(_explained(self.path, error)) from error
        if found != "ok":
            raise ConfigurationError(f"{self._where} cannot be used: {found.splitlines()[-1]}; {_DAMAGED}")

    def close(self) -> None:
        """Write pending judgments and close the file. May be called twice."""
        self._writes.close()
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()
        with self._reading:
            reader, self._reader = self._reader, None
            if reader is not None:
                reader.close()

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r})"

    def __reduce__(self) -> tuple[type[Store], tuple[Path]]:
        return (Store, (self.path,))

    def _texts_of_case(self, case_key: str) -> dict[tuple[str, ...], str] | None:
        """Return the texts of a case's judgments by the other parts of their keys; None if there are many.

        The jurors of a panel look up the same case at about the same moment. So one result is cached for a moment, or
        until this store writes. That a case has many judgments is remembered for longer.
        """
        look = self._last_look
        if look.case_key == case_key and look.texts is None:
            return None
        if look.case_key == case_key and look.writes == self._groups_written and time.monotonic() < look.until:
            self._writes.check_usable()
            return look.texts
        writes = self._groups_written
        rows = self._read(SELECT, (case_key, _FEW + 1))
        texts = {tuple(key): text for *key, text in rows} if len(rows) <= _FEW else None
        self._last_look = _Look(case_key, texts, writes, time.monotonic() + _MOMENT_S)
        return texts

    def _read(self, query: str, parameters: tuple[str | int, ...] = ()) -> list[tuple[str, ...]]:
        """Return all rows, over the connection that all threads share."""
        with self._reading:
            self._writes.check_usable()
            try:
                if self._reader is None:
                    self._reader = _connect(self.path)
                    weakref.finalize(self, self._reader.close)
                return self._reader.execute(query, parameters).fetchall()
            except _PROBLEMS as error:
                raise InputError(_explained(self.path, error)) from error

    def _all_judgments(self, errors: bool) -> Iterable[Sequence[str]]:
        return self._rows(f"{_SELECT_ALL} {'' if errors else _SERVED} ORDER BY id")

    def _all_cases(self) -> Iterable[Sequence[str]]:
        return self._rows("SELECT case_key, content FROM cases")

    def _rows(self, query: str) -> Iterator[tuple[str, ...]]:
        """Yield many rows over a separate connection, so that reads and writes continue."""
        self._writes.check_usable()
        try:
            with closing(_connect(self.path)) as connection:
                yield from connection.execute(query)
        except _PROBLEMS as error:
            raise InputError(_explained(self.path, error)) from error

    def _write(self, group: list[Write]) -> Sequence[None]:
        """Commit the group. Runs in the writer's thread."""
        try:
            if self._writer is None:
                self._writer = _connect(self.path)
            _commit(self._writer, group)
            self._groups_written += 1  # changed by this thread only
        except Exception as error:
            raise InputError(_explained(self.path, error)) from error
        return [None] * len(group)


class _Look(NamedTuple):
    """Judgments of a case, from one read of the file.

    Attributes:
        case_key: the case.
        texts: the texts of its judgments by the other parts of their keys; None if there are many.
        writes: number of groups that this store had written before.
        until: time until which the result is valid, by the monotonic clock.
    """

    case_key: str
    texts: dict[tuple[str, ...], str] | None
    writes: int
    until: float


def prepare(connection: sqlite3.Connection, path: Path, migrations: Sequence[Sequence[str]] = MIGRATIONS) -> None:
    """Make the file a store of this version. A file of another program is not changed.

    Args:
        connection: to the file.
        path: the file, for messages.
        migrations: the statements that lead from each version to the next; those of this package by default.

    Raises:
        ConfigurationError: the file belongs to another program, or has a newer version.
        sqlite3.Error: any other failure; the file is unchanged.
    """
    _check(connection, path, len(migrations))
    _use_write_ahead_log(connection)
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = _check(connection, path, len(migrations))  # another process may already have done it
        for step in migrations[version:]:
            for statement in step:
                connection.execute(statement)
        # Always written, so that a read-only file is refused now, instead of after the first judgment was paid for.
        connection.execute(f"PRAGMA application_id={_APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version={len(migrations)}")
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=TIMEOUT_S, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA synchronous=FULL")
    except BaseException:
        connection.close()
        raise
    return connection


def _look_at(path: Path) -> None:
    """Refuse a file that was emptied. SQLite would discard its log too, and start a new file.

    Raises:
        ConfigurationError: the file is empty, and its log is not.
    """
    log = path.with_name(f"{path.name}-wal")
    logged = _stat(log)  # read before the file's size: a new store writes the file first
    has_log = logged is not None and logged.st_size > 0
    found = _stat(path)
    if found is None or not S_ISREG(found.st_mode) or found.st_size:
        return
    if has_log:
        raise ConfigurationError(
            f"the store {path} was emptied: {log.name} beside it still has judgments; restore a copy of the file, or "
            "delete both to begin anew"
        )
    if time.time() - found.st_mtime > _BEING_MADE_S:
        _log.warning("%s is an empty file, and becomes a new store; if it was one before, restore a copy", path)


def _stat(path: Path) -> os.stat_result | None:
    """Return the status of a file; None if there is none. Another process may remove the log at any moment."""
    try:
        return path.stat()
    except OSError:
        return None


def _lenient(text: bytes) -> str:
    return text.decode(errors="replace")


def _check(connection: sqlite3.Connection, path: Path, known: int) -> int:
    """Return the schema version of the file; 0 if it is new.

    Raises:
        ConfigurationError: the file belongs to another program, or has a newer version.
    """
    alone = not connection.in_transaction
    if alone:  # read all at one moment, because another process may be creating the store
        connection.execute("BEGIN")
    try:
        version: int = connection.execute("PRAGMA user_version").fetchone()[0]
        owner: int = connection.execute("PRAGMA application_id").fetchone()[0]
        tables: int = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    finally:
        if alone:
            connection.execute("ROLLBACK")
    if owner != _APPLICATION_ID and (owner or version or tables):
        raise ConfigurationError(f"{path} is an SQLite file, but no store of judgments; give another path")
    if version > known:
        raise ConfigurationError(f"{path} was written by a newer jury_adapters (schema {version}); upgrade the package")
    return version


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Switch to WAL. SQLite does not wait here for other processes that do the same, so this function does."""
    until = time.monotonic() + TIMEOUT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.01)


def _commit(connection: sqlite3.Connection, group: list[Write]) -> None:
    rows = [(*write.key, write.status, write.judgment, write.created_at) for write in group]
    try:
        connection.execute("BEGIN IMMEDIATE")
        _insert(connection, _INSERT_CASE, list({write.key.case_key: write.case for write in group}.items()))
        _insert(connection, _INSERT, rows)
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def _insert(connection: sqlite3.Connection, statement: str, rows: Sequence[Sequence[object]]) -> None:
    """Insert many rows with few statements, because Python may switch threads between two statements."""
    begin = 0
    for size in _ROWS_AT_ONCE:
        while len(rows) - begin >= size:
            chunk = rows[begin : begin + size]
            places = f"({', '.join('?' * len(chunk[0]))})"
            values = [value for row in chunk for value in row]
            connection.execute(f"{statement} VALUES {', '.join([places] * size)}", values)
            begin += size


def _explained(path: Path, error: Exception) -> str:
    text = str(error)
    if isinstance(error, UnicodeDecodeError) or "Could not decode" in text:
        text = "a text in it is malformed"  # without SQLite's message, which quotes the judged text
    if path.is_dir():
        return f"the store {path} cannot be used: this is a folder; give the path of a file, such as {path / 'runs.db'}"
    advice = {
        "unable to open": "the folder must exist and be writable",
        "readonly": "make the file and its folder writable, or give another path",
        "full": "the disk is full; make room and run again, what is recorded is kept",
        "locked": "another process holds the file for long; close it or give another path",
        "disk I/O": "see whether the disk is full or failing; what is recorded is kept",
        "no such table": "another program has changed the file; restore a copy, or give another path",
        "malformed": _DAMAGED,
        "not a database": "this is not an SQLite file; give another path",
    }
    hint = next((hint for sign, hint in advice.items() if sign in text), "see the message of SQLite")
    return f"the store {path} cannot be used: {text}; {hint}"


_PROBLEMS = (sqlite3.Error, UnicodeDecodeError)  # the latter is raised when SQLite quotes from a damaged file
_DAMAGED = "the file is damaged; restore a copy, or save what is readable with: sqlite3 FILE .recover | sqlite3 NEW"
SELECT = """
SELECT critic, rubric, sample, judgment FROM judgments WHERE case_key = ? AND status IS NOT 'ERROR' LIMIT ?
"""
SELECT_ONE = """
SELECT judgment FROM judgments
WHERE case_key = ? AND critic = ? AND rubric = ? AND sample = ? AND status IS NOT 'ERROR'
"""
_SELECT_ALL = "SELECT case_key, critic, rubric, sample, judgment FROM judgments"
_SERVED = "WHERE status IS NOT 'ERROR'"
_INSERT = """
INSERT OR IGNORE INTO judgments (case_key, critic, rubric, sample, status, judgment, created_at)
"""
_INSERT_CASE = "INSERT OR IGNORE INTO cases (case_key, content)"
_ROWS_AT_ONCE = (64, 16, 4, 1)  # few sizes, so that SQLite does not compile each statement again
