"""The common part of the stores in SQLite and PostgreSQL: tables, group commit, and a connection for each direction."""

import asyncio
import os
import threading
import time
import weakref
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any, Self, TypeVar

from pydantic import ValidationError
from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_random_exponential

from jury_adapters.core.case import Case
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.store import Key
from jury_adapters.core.text import visible
from jury_adapters.core.values import ConfigurationError, InputError, problems_of

Connection = Any
"""Connection of the DB-API, in the mode in which it begins no transaction by itself."""
Model = TypeVar("Model", Case, Judgment)

PATIENCE_S = 30.0
"""Seconds during which a locked file, or a server that does not answer, is tried again."""
GATHER_S = 0.01
"""Seconds that a commit waits for further judgments."""
_LARGEST_GROUP = 256  # SQLite refuses expressions with more than 1,000 terms
_VERSION = 1
_TABLES = (
    "CREATE TABLE jury_cases (case_key TEXT PRIMARY KEY, content TEXT NOT NULL)",
    """CREATE TABLE jury_judgments (
        case_key TEXT NOT NULL, judge TEXT NOT NULL, sample INTEGER NOT NULL, status TEXT NOT NULL, label TEXT NOT NULL,
        model TEXT NOT NULL, cost_usd DOUBLE PRECISION NOT NULL, stored_at DOUBLE PRECISION NOT NULL,
        judgment TEXT NOT NULL, PRIMARY KEY (case_key, judge, sample))""",
    "CREATE TABLE jury_store (version INTEGER NOT NULL)",
    f"INSERT INTO jury_store VALUES ({_VERSION})",
)
_INSERT_CASE = "INSERT INTO jury_cases VALUES (?, ?) ON CONFLICT DO NOTHING"
_INSERT = "INSERT INTO jury_judgments VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
_SELECT = "SELECT case_key, judge, sample, judgment FROM jury_judgments WHERE "
_SELECT_KEY = "(case_key = ? AND judge = ? AND sample = ?)"  # `IN (VALUES ...)` would not use the index of SQLite
# A hundred rows at a time, so that large cases need little memory.
_PAGE_OF_JUDGMENTS = """SELECT case_key, judge, sample, content, judgment FROM jury_judgments JOIN jury_cases
    USING (case_key) WHERE (case_key, judge, sample) > (?, ?, ?) ORDER BY case_key, judge, sample LIMIT 100"""


class SqlStore(ABC):
    """Store of judgments in an SQL database, for any number of event loops, threads and processes at once.

    Other programs may read the tables ``jury_judgments`` and ``jury_cases``. The metadata of cases are not stored. In a
    forked process the store opens connections of its own. It is closed at the end of the process.

    Attributes:
        name: the name in messages, without a password.
    """

    _errors: tuple[type[Exception], ...]
    _placeholder = "?"
    _begin: tuple[str, ...]
    _list_tables: str

    def __init__(self, name: str, connect: Callable[[], Connection]) -> None:
        self.name = name
        self._retrying = Retrying(
            retry=retry_if_exception(self._is_transient),
            stop=stop_after_delay(PATIENCE_S),
            wait=wait_random_exponential(0.02, max=1),
            reraise=True,
        )
        self._reads = Lane(name, connect, self._find)
        self._writes = Lane(name, connect, self._commit, GATHER_S)
        self._write(self._prepare)
        self._attempt(self._writes, self._check)
        self._closing = [weakref.finalize(self, lane.close) for lane in (self._reads, self._writes)]

    async def get(self, key: Key) -> Judgment | None:
        """Return the judgment with this key; None if there is none.

        Raises:
            ConfigurationError: the store is closed or cannot be read.
            InputError: the stored judgment is damaged.
        """
        text = await self._reads.answer(key)
        return None if text is None else self._read(Judgment, text)

    async def put(self, key: Key, case: Case, judgment: Judgment) -> None:
        """Keep a judgment; it is durable when this returns. If there is one with this key already, that one stays.

        Raises:
            ConfigurationError: the judgment is an ERROR, or the store is closed or cannot be written.
        """
        if judgment.status is Status.ERROR:
            raise ConfigurationError("an ERROR is not stored, so that the case is judged again")
        columns = (
            judgment.status.value,
            visible(judgment.label or ""),
            visible(judgment.model or ""),
            judgment.usage.cost_usd,
            time.time(),
            judgment.model_dump_json(exclude_defaults=True),
        )
        await self._writes.answer((key, case.model_dump_json(exclude_defaults=True, exclude={"metadata"}), columns))

    def judgments(self) -> Iterator[tuple[Key, Case, Judgment]]:
        """Yield all judgments with their keys and cases, in the order of the keys: those of a case come together.

        Cases have no metadata. Rows are read a page at a time, so others may write meanwhile.

        Raises:
            ConfigurationError: the store is closed or cannot be read.
            InputError: a judgment or a case is damaged.
        """
        last = Key("", "", -1)
        while rows := self._reads.submit(self._select, _PAGE_OF_JUDGMENTS, *last).result():
            for *key, content, text in rows:
                last = Key(*key)
                yield last, self._read(Case, content), self._read(Judgment, text)

    def counts(self) -> Counter[str]:
        """Return the numbers of judgments by status.

        Raises:
            ConfigurationError: the store is closed or cannot be read.
        """
        counted = self._reads.submit(self._select, "SELECT status, count(*) FROM jury_judgments GROUP BY status")
        return Counter(dict(counted.result()))

    def close(self) -> None:
        """Finish what is being stored, and close the connections. It may be called twice."""
        for close in self._closing:
            close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    @abstractmethod
    def _check(self, connection: Connection) -> None:
        """Set up the database, and refuse one that cannot be used."""

    @abstractmethod
    def _is_transient(self, error: BaseException) -> bool:
        """Return whether the same may succeed later."""

    def _prepare(self, cursor: Any) -> None:
        """Make the tables if they are missing, and find out now whether they can be written."""
        names = {name for (name,) in cursor.execute(self._list_tables).fetchall()}
        if names and "jury_store" not in names:
            raise ConfigurationError(f"{self.name} has other tables: it is not a store of jury_adapters 1.0")
        for statement in () if names else _TABLES:
            cursor.execute(statement)
        (version,) = cursor.execute("SELECT version FROM jury_store").fetchone()
        if version != _VERSION:
            raise ConfigurationError(f"the store {self.name} has version {version}; this package reads {_VERSION}")
        for table in ("jury_cases", "jury_judgments"):
            cursor.execute(f"INSERT INTO {table} SELECT * FROM {table} WHERE 1 = 0")

    def _commit(self, rows: list[tuple[Key, str, tuple[str | float, ...]]]) -> Sequence[None]:
        """Store rows together, in the order of the keys: otherwise two processes could block each other."""
        in_order = sorted(rows)
        cases = {key.case: content for key, content, _ in in_order}

        def insert(cursor: Any) -> None:
            cursor.executemany(self._sql(_INSERT_CASE), [*cases.items()])
            cursor.executemany(self._sql(_INSERT), [(*key, *columns) for key, _, columns in in_order])

        self._write(insert)
        return [None] * len(rows)

    def _write(self, work: Callable[[Any], None]) -> None:
        """Do the work in a transaction. If it fails, the connection is closed, which takes the transaction back."""

        def within(connection: Connection) -> None:
            cursor = connection.cursor()
            for statement in self._begin:
                cursor.execute(statement)
            work(cursor)
            cursor.execute("COMMIT")

        self._attempt(self._writes, within)

    def _find(self, keys: list[Key]) -> Sequence[str | None]:
        asked = dict.fromkeys(keys)
        query = _SELECT + " OR ".join([_SELECT_KEY] * len(asked))
        found = {Key(*key): text for *key, text in self._select(query, *[part for key in asked for part in key])}
        return [found.get(key) for key in keys]

    def _select(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        return list(
            self._attempt(
                self._reads, lambda connection: connection.cursor().execute(self._sql(query), values).fetchall()
            )
        )

    def _sql(self, statement: str) -> str:
        return statement.replace("?", self._placeholder)

    def _attempt(self, lane: "Lane", work: Callable[[Connection], Any]) -> Any:
        """Use the connection of a lane; while the database is locked or away, again and again."""
        try:
            return self._retrying(lane.use, work)
        except self._errors as error:
            raise ConfigurationError(f"the store {self.name} cannot be used: {' '.join(str(error).split())}") from None

    def _read(self, model: type[Model], text: str) -> Model:
        try:
            return model.model_validate_json(text)
        except ValidationError as error:
            raise InputError(f"the store {self.name} holds a damaged {model.__name__}: {problems_of(error)}") from None


class Lane:
    """Connection with a thread, in which the work of many callers is done together.

    What comes while a group is under way makes up the next one. The end of the process waits for what is under way.

    Args:
        name: the name of the store, for messages.
        connect: opens a connection.
        work: takes items and returns an answer to each.
        gather_s: seconds that the first item of a group waits for others.
    """

    def __init__(
        self,
        name: str,
        connect: Callable[[], Connection],
        work: Callable[[list[Any]], Sequence[Any]],
        gather_s: float = 0.0,
    ) -> None:
        self._name, self._connect, self._work, self._gather_s = name, connect, work, gather_s
        self.renew()
        _LANES.add(self)

    def renew(self) -> None:
        """Begin anew without a connection, also in a forked child: what is under way is done by its parent."""
        self._connection, self._executor = None, ThreadPoolExecutor(1, "jury-store")
        self._lock, self._items, self.in_use = threading.Lock(), list[Any](), threading.Lock()

    def submit(self, work: Callable[..., Any], *args: Any) -> "Future[Any]":
        """Have the work done in the thread of this lane.

        Raises:
            ConfigurationError: the store is closed.
        """
        try:
            return self._executor.submit(work, *args)
        except RuntimeError:
            raise ConfigurationError(f"the store {self._name} is closed; open it again") from None

    async def answer(self, item: Any) -> Any:
        """Return the answer to an item. If the caller is cancelled, the work is done all the same."""
        with self._lock:
            if not 0 < len(self._items) < _LARGEST_GROUP:
                self._items = []
                self._group = self.submit(self._answers, self._items)
            self._items.append(item)
            place, group = len(self._items) - 1, self._group
        return (await asyncio.shield(asyncio.wrap_future(group)))[place]

    def _answers(self, items: list[Any]) -> Sequence[Any]:
        time.sleep(self._gather_s)
        with self._lock:
            self._items = [] if items is self._items else self._items
        return self._work(items)

    def use(self, work: Callable[[Connection], Any]) -> Any:
        """Return what the work returns for the connection, which is replaced after an error."""
        with self.in_use:
            try:
                self._connection = self._connection or self._connect()
                return work(self._connection)
            except BaseException:
                self._disconnect()
                raise

    def close(self) -> None:
        """Finish what is under way, and close the connection for good."""
        self._executor.shutdown()
        self._disconnect()

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


_LANES: "weakref.WeakSet[Lane]" = weakref.WeakSet()
_HELD = ExitStack()


def _before_fork() -> None:
    """Wait until no connection is in use: a child in which SQLite's own locks are held could not use it."""
    for lane in tuple(_LANES):
        _HELD.enter_context(lane.in_use)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_HELD.close,
        after_in_child=lambda: [_HELD.pop_all(), *map(Lane.renew, tuple(_LANES))],
    )
