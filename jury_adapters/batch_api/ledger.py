"""Record on disk of the batches that were sent and of their results, so that no request is sent and paid for twice."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self, TextIO

from jury_adapters.core.errors import ConfigurationError, InputError
from jury_adapters.core.file_lock import FileInUse, lock_file

_FILE = "batches.db"
_LOCK_FILE = "batches.lock"
_VERSION = 1
_TABLES = """
CREATE TABLE batches (
    token TEXT PRIMARY KEY,   -- our own name for it, made before the vendor has one
    queue TEXT NOT NULL,       -- whose requests: model and server
    state TEXT NOT NULL,      -- sending, waiting, done
    batch_id TEXT,            -- the vendor's name for it
    newest_before TEXT,       -- the vendor's newest batch before it
    sent_at REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE requests (
    queue TEXT NOT NULL,
    custom_id TEXT NOT NULL,
    token TEXT NOT NULL,      -- the batch it went out with last
    answer TEXT,              -- JSON, as a direct request would have got it; NULL while it is out
    PRIMARY KEY (queue, custom_id)
) WITHOUT ROWID;
CREATE INDEX by_batch ON requests (token);
"""


class Sent(NamedTuple):
    """Batch that was sent, or was about to be.

    Attributes:
        token: our own name for it.
        state: ``"sending"`` until the vendor's id is known, ``"waiting"`` until its results are here, then ``"done"``.
        batch_id: the vendor's id.
        newest_before: the vendor's newest batch before it.
        sent_at: the time of sending, in seconds since the epoch.
        custom_ids: the ids of its requests.
    """

    token: str
    state: str
    batch_id: str | None
    newest_before: str | None
    sent_at: float
    custom_ids: frozenset[str]


@dataclass(frozen=True, slots=True)
class Known:
    """Recorded request: the batch that contains it, and its answer, if that has arrived."""

    token: str
    answer: Mapping[str, Any] | None


class Ledger:
    """Record of a folder; open in one process at a time.

    All changes are on disk when a method returns. The record contains the answers, and the ids (hashes) of the
    requests, but never the requests. Only the owner may read it.

    Args:
        folder: the folder; created if it is missing.

    Raises:
        ConfigurationError: another process uses this folder, or the folder cannot be used.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with self._explained():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = _locked(folder / _LOCK_FILE, folder)
            try:
                self._connection = _opened(folder / _FILE)
            except BaseException:
                self._lock.close()
                raise

    def known(self, queue: str, custom_id: str) -> Known | None:
        """Return a request that was sent before, or None."""
        with self._explained():
            row = self._connection.execute(
                "SELECT token, answer FROM requests WHERE queue = ? AND custom_id = ?", (queue, custom_id)
            ).fetchone()
        return None if row is None else Known(row[0], None if row[1] is None else json.loads(row[1]))

    def sent(self, token: str) -> Sent:
        """Return a batch by our own name."""
        with self._explained():
            row: tuple[str, str, str | None, str | None, float] = self._connection.execute(
                "SELECT token, state, batch_id, newest_before, sent_at FROM batches WHERE token = ?", (token,)
            ).fetchone()
            ids = self._connection.execute("SELECT custom_id FROM requests WHERE token = ?", (token,)).fetchall()
        return Sent(*row, frozenset(custom_id for (custom_id,) in ids))

    def batch_ids(self) -> frozenset[str]:
        """Return the vendors' ids of all batches of this folder."""
        with self._explained():
            rows = self._connection.execute("SELECT batch_id FROM batches WHERE batch_id IS NOT NULL").fetchall()
        return frozenset(batch_id for (batch_id,) in rows)

    def sending(self, token: str, queue: str, custom_ids: Collection[str], newest_before: str | None) -> Sent:
        """Record that a batch is about to be sent."""
        now = time.time()
        with self._changing() as connection:
            connection.execute(
                "INSERT INTO batches VALUES (?, ?, 'sending', NULL, ?, ?)", (token, queue, newest_before, now)
            )
            connection.executemany(
                "INSERT OR REPLACE INTO requests VALUES (?, ?, ?, NULL)", ((queue, one, token) for one in custom_ids)
            )
        return Sent(token, "sending", None, newest_before, now, frozenset(custom_ids))

    def waiting(self, token: str, batch_id: str) -> None:
        """Record the vendor's id of a batch."""
        with self._changing() as connection:
            connection.execute("UPDATE batches SET state = 'waiting', batch_id = ? WHERE token = ?", (batch_id, token))

    def done(self, token: str, queue: str, answers: Mapping[str, Mapping[str, Any]]) -> None:
        """Record the answers of a batch that ended. Its unanswered requests may be sent again."""
        rows = ((json.dumps(answer), queue, custom_id, token) for custom_id, answer in answers.items())
        with self._changing() as connection:
            connection.executemany(
                "UPDATE requests SET answer = ? WHERE queue = ? AND custom_id = ? AND token = ?", rows
            )
            connection.execute("DELETE FROM requests WHERE token = ? AND answer IS NULL", (token,))
            connection.execute("UPDATE batches SET state = 'done' WHERE token = ?", (token,))

    def forget(self, token: str) -> None:
        """Forget a batch that was never created. Its requests may be sent again."""
        with self._changing() as connection:
            connection.execute("DELETE FROM requests WHERE token = ? AND answer IS NULL", (token,))
            connection.execute("DELETE FROM batches WHERE token = ?", (token,))

    def close(self) -> None:
        """Release the folder."""
        self._connection.close()
        self._lock.close()

    def abandon(self) -> None:
        """Release the folder in a forked child. The parent keeps its lock."""
        self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        """Run the body in one transaction."""
        with self._explained():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise InputError(
                f"the folder of batches {self._folder} cannot be used: {error}; see that it exists, that it is yours, "
                "and that the disk has room"
            ) from error


def _locked(path: Path, folder: Path) -> TextIO:
    """Lock a folder as long as the returned file is open. The system releases the lock when a process is killed."""
    file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+")
    try:
        locked = lock_file(file.fileno())
    except FileInUse:
        holder = file.read().strip() or "?"
        file.close()
        raise ConfigurationError(
            f"process {holder} works with the folder of batches {folder}; give each process a folder of its own, or "
            "wait until the other is done"
        ) from None
    if not locked:
        file.close()
        raise OSError(errno.ENOLCK, "its file system has no locks")
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    return file


def _opened(path: Path) -> sqlite3.Connection:
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))  # SQLite gives its other files the same mode
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > _VERSION:
            raise ConfigurationError(f"{path} was written by a newer jury_adapters; upgrade the package")
        if version == 0:
            connection.executescript(f"BEGIN; {_TABLES} PRAGMA user_version={_VERSION}; COMMIT;")
    except BaseException:
        connection.close()
        raise
    return connection
