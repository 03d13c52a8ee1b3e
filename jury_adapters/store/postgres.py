"""Store in a PostgreSQL database, for many machines. Needs the extra ``postgres``."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_delay

from jury_adapters.core.cache import CacheKey
from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError, InputError
from jury_adapters.core.installation import needs_extra
from jury_adapters.core.jitter import backoff
from jury_adapters.core.judgment import Judgment
from jury_adapters.store.base import TIMEOUT_S, BaseStore
from jury_adapters.store.entry import Write, judgment_of
from jury_adapters.store.grouping import GroupCommitter

try:
    from sqlalchemy import Connection, Select, bindparam, func, select, text, tuple_
    from sqlalchemy.dialects.postgresql import insert
    from sqlalchemy.exc import SQLAlchemyError
except ImportError as missing:
    raise ConfigurationError(needs_extra("a store in PostgreSQL", "SQLAlchemy", "postgres")) from missing

from jury_adapters.store.postgres_connection import Server
from jury_adapters.store.postgres_errors import transient
from jury_adapters.store.postgres_schema import CASES, JUDGMENTS, prepare

_log = logging.getLogger(__name__)
_Result = TypeVar("_Result")


class PostgresStore(BaseStore):
    """Store of judgments in a PostgreSQL database; safe for many machines, processes, threads and event loops at once.

    If the server fails during a run, the store waits for it. A judgment that has waited for ``timeout_s`` is returned
    with ``store_error`` in its metadata. It stays in memory and is recorded once the server is back.

    Args:
        url: ``postgresql+psycopg://user@host/database``. Put the password into ``PGPASSWORD`` or ``~/.pgpass``: a store
            with a password in its URL refuses to be pickled.
        make: whether to create missing tables.
        timeout_s: seconds to wait for a server that does not answer, also in :meth:`close`.

    Raises:
        ConfigurationError: SQLAlchemy or psycopg is missing, the URL is invalid, the server refuses the connection, or
            the database was written by a newer version; the message says what to do.
        InputError: there is no store, and ``make`` is False.

    Attributes:
        name: the URL without its secret parts, for messages.

    >>> with PostgresStore("postgresql+psycopg://me@db.local/juries") as store:  # doctest: +SKIP
    ...     verdicts = list(jury.judge_many(cases, store=store))
    """

    def __init__(self, url: str, *, make: bool = True, timeout_s: float = TIMEOUT_S) -> None:
        self._url = url
        self._timeout_s = timeout_s
        self._server = Server(url)
        super().__init__(self._server.shown)
        self._reads: GroupCommitter[CacheKey, str | None] = GroupCommitter(self._read, where=self._where, within_s=0.0)
        self._last_trouble = ""
        self._give_up_at: float | None = None
        try:
            with self._server.engine.begin() as connection:
                prepare(connection, self._where, make=make)
        except SQLAlchemyError as error:
            self._server.engine.dispose()
            raise ConfigurationError(self._explained(error)) from None
        except BaseException:
            self._server.engine.dispose()
            raise

    def get(self, key: CacheKey) -> Judgment | None:
        """Return the recorded judgment, or None. An ERROR is never returned. Inside an event loop use :meth:`find`.

        Raises:
            ConfigurationError: the store is closed, or the server does not answer; the message says what to do.
        """
        self._reads.check_usable()
        (found,) = self._read([key])
        return None if found is None else judgment_of(found, self._where)

    async def find(self, key: CacheKey) -> Judgment | None:
        """Return the result of :meth:`get` without blocking the event loop. Simultaneous look-ups share a query."""
        found = await self._answered(self._reads.submit(key), "nothing was paid for; run again when it is back")
        return None if found is None else judgment_of(found, self._where)

    async def put(self, key: CacheKey, case: Case, judgment: Judgment) -> None:
        """Record a judgment. Returns when the server has it on disk.

        Raises:
            ConfigurationError: the server does not accept it; the message says what to do. If the server only does not
                answer, the judgment is recorded later, once it does.
        """
        writing = self._writes.submit(Write.of(key, case, judgment))
        await self._answered(writing, "the judgment waits in memory and is recorded when it is back")

    def count(self) -> int:
        """Return the number of judgments without ERRORs."""
        with self._connected() as connection:
            return connection.execute(select(func.count()).select_from(JUDGMENTS).where(_SERVED)).scalar_one()

    def close(self) -> None:
        """Write pending judgments and close the connections. May be called twice.

        A server that does not answer is waited for up to the store's ``timeout_s``. Judgments that it has not accepted
        by then are lost, and the log reports their number. In a forked process, this closes nothing that the parent
        uses.
        """
        if self._writes.forked:
            self._server.engine.dispose(close=False)
            return
        self._give_up_at = time.monotonic() + self._timeout_s
        self._reads.close(self._timeout_s)
        if not self._writes.close(2 * (self._timeout_s + _LONGEST_PAUSE_S)):  # a pause may have begun just now
            _log.error("%s does not answer; judgments that were waiting for it are not recorded", self._where)
        self._server.engine.dispose()

    def __repr__(self) -> str:
        return f"PostgresStore({self.name!r})"

    def __reduce__(self) -> tuple[Callable[..., PostgresStore], tuple[str, float]]:
        if self._server.has_password:
            raise TypeError(
                "a PostgreSQL store with a password in its URL is not pickled, so that the password cannot leak; set "
                "PGPASSWORD or ~/.pgpass where the store is used, and leave the password out of the URL"
            )
        return (_reopened, (self._url, self._timeout_s))

    async def _answered(self, waiting: asyncio.Future[_Result], hope: str) -> _Result:
        try:
            async with asyncio.timeout(self._timeout_s):
                return await waiting
        except TimeoutError:
            trouble = self._last_trouble or "the server does not answer"
            raise InputError(f"{self._where} cannot be used: {trouble}; {hope}") from None

    def _read(self, group: Sequence[CacheKey]) -> list[str | None]:
        """Return the texts of judgments, selected by one statement."""

        def ask() -> dict[CacheKey, str]:
            with self._server.engine.connect() as connection:
                rows = connection.execute(_SELECT, {"keys": [tuple(key) for key in group]})
                return {CacheKey(*key): content for *key, content in rows}

        found = self._retried(ask, stop_after_delay(self._timeout_s))
        return [found.get(key) for key in group]

    def _write(self, group: list[Write]) -> list[None]:
        """Commit the group, retrying until the server accepts it or the store closes. Runs in the writer's thread."""
        # In the order of the keys, because otherwise two processes that write the same ones would block each other.
        writes = sorted(group, key=lambda write: write.key)
        cases = {write.key.case_key: write.case for write in writes}

        def commit() -> None:
            with self._server.engine.begin() as connection:
                connection.execute(_DURABLE)
                connection.execute(_INSERT_CASES, [{"case_key": key, "content": text} for key, text in cases.items()])
                connection.execute(_INSERT_JUDGMENTS, [_row(write) for write in writes])

        try:
            self._retried(commit, self._closed_for_long)
        except InputError:
            _log.exception("%d judgments could not be recorded", len(group))
            raise
        return [None] * len(group)

    def _closed_for_long(self, state: RetryCallState) -> bool:
        del state
        return self._give_up_at is not None and time.monotonic() > self._give_up_at

    def _retried(self, work: Callable[[], _Result], stop: Callable[[RetryCallState], bool]) -> _Result:
        """Return the result of the work, retried with increasing waits while the server is unavailable.

        Raises:
            InputError: the work failed permanently.
        """
        retrying = Retrying(
            retry=retry_if_exception(transient), stop=stop, before_sleep=self._note, reraise=True,
            wait=lambda state: backoff(state.attempt_number, multiplier=0.05, longest=_LONGEST_PAUSE_S),
        )  # fmt: skip
        try:
            return retrying(work)
        except SQLAlchemyError as error:
            raise InputError(self._explained(error)) from None

    def _note(self, state: RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome is not None else None
        if isinstance(error, Exception):
            self._last_trouble = self._server.message_of(error)
            if state.attempt_number == 1:
                _log.warning("%s does not answer, and is tried again: %s", self._where, self._last_trouble)

    def _all_judgments(self, errors: bool) -> Iterable[Sequence[Any]]:
        every = select(*_KEY, JUDGMENTS.c.judgment).order_by(JUDGMENTS.c.id)
        return self._rows(every if errors else every.where(_SERVED))

    def _all_cases(self) -> Iterable[Sequence[Any]]:
        return self._rows(select(CASES.c.case_key, CASES.c.content))

    def _rows(self, query: Select[*tuple[Any, ...]]) -> Iterator[Sequence[Any]]:
        """Yield many rows, a thousand at a time, over a separate connection, so that reads and writes continue."""
        with self._connected() as connection, connection.execution_options(yield_per=1000).execute(query) as rows:
            yield from rows

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        """Open a connection that works. Connections from before a failure of the server are replaced."""
        self._reads.check_usable()

        def connect() -> Connection:
            connection = self._server.engine.connect()
            try:
                connection.execute(select(1))
            except BaseException:
                connection.close()
                raise
            return connection

        with self._retried(connect, stop_after_delay(self._timeout_s)) as connection:
            try:
                yield connection
            except SQLAlchemyError as error:
                raise InputError(self._explained(error)) from None

    def _explained(self, error: Exception) -> str:
        return f"{self._where} cannot be used: {self._server.message_of(error)}; {self._server.advice(error)}"


def _row(write: Write) -> dict[str, str | float | None]:
    columns = {"status": write.status, "judgment": write.judgment, "created_at": write.created_at}
    return write.key._asdict() | columns


def _reopened(url: str, timeout_s: float) -> PostgresStore:
    return PostgresStore(url, timeout_s=timeout_s)


_LONGEST_PAUSE_S = 1.0  # between two attempts
_KEY = (JUDGMENTS.c.case_key, JUDGMENTS.c.critic, JUDGMENTS.c.rubric, JUDGMENTS.c.sample)
_SERVED = text("status IS DISTINCT FROM 'ERROR'")  # as in the index, because otherwise the server would not use it
_SELECT = select(*_KEY, JUDGMENTS.c.judgment).where(tuple_(*_KEY).in_(bindparam("keys", expanding=True)), _SERVED)
_INSERT_CASES = insert(CASES).on_conflict_do_nothing()
_INSERT_JUDGMENTS = insert(JUDGMENTS).on_conflict_do_nothing()
# A server may be configured to confirm a commit before it is on disk. This store overrides that.
_DURABLE = text(
    "SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'"
)
