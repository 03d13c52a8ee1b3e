"""Both kinds of store seen from outside, and what tests write into them."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from jury_adapters import Critic, Judgment, Status, Store, Usage
from jury_adapters.core.cache import CacheKey
from jury_adapters.results import Finding
from jury_adapters.store import AnyStore
from jury_adapters.testing import ScriptedModel, a_case
from tests.support.postgres import PostgresServer

KEY = CacheKey("case", "critic", "rubric", "0")
REPLY = '{"reasoning": "so it says", "answer": "YES"}'
FULL = Judgment(
    Status.FAIL, score=0.25, label="NO", probabilities={"NO": 0.9, "YES": 0.1}, confidence=0.9,
    reasoning="ünsägbar \U0001f600 \x00 \ud800",
    findings=(Finding("claim", False, "why", "evidence", 0.1),), usage=Usage(100, 20, 64, 5, 1, 0.01, False),
    metadata={"a": [1, {"b": None}]}, critic="juror", model="m", family="f", elapsed_s=0.5,
)  # fmt: skip


@dataclass(frozen=True)
class InFile:
    """Place of a store in an SQLite file.

    Attributes:
        address: its path, as ``store=`` takes it.
    """

    address: Path

    def open(self) -> Store:
        """A store of the test's own, which :func:`open_store` does not know."""
        return Store(self.address)

    def without_password(self, monkeypatch: pytest.MonkeyPatch) -> InFile:
        """The same place: a file has no password."""
        return self

    def sql(self, statement: str) -> list[tuple[Any, ...]]:
        """Return the rows that another program reads; the tables are ``judgments`` and ``cases``."""
        with closing(sqlite3.connect(self.address)) as connection, connection:
            return connection.execute(statement).fetchall()


@dataclass(frozen=True)
class InDatabase:
    """Place of a store in PostgreSQL.

    Attributes:
        address: its URL, as ``store=`` takes it.
        server: the server.
    """

    address: str
    server: PostgresServer

    def without_password(self, monkeypatch: pytest.MonkeyPatch) -> InDatabase:
        """The same place, with the password in the environment and not in the URL."""
        monkeypatch.setenv("PGPASSWORD", self.server.password)
        return replace(self, address=self.address.replace(f":{self.server.password}@", "@"))

    def open(self) -> AnyStore:
        """A store of the test's own, which :func:`open_store` does not know."""
        from jury_adapters.store.postgres import PostgresStore

        return PostgresStore(self.address)

    @property
    def name(self) -> str:
        """The database's name."""
        return self.address.rpartition("/")[2]

    def sql(self, statement: str) -> list[tuple[Any, ...]]:
        """Return the rows that the server's owner reads; the tables are ``jury_judgments`` and ``jury_cases``."""
        return [tuple(row.split("|")) for row in self.server.sql(statement, database=self.name).splitlines()]


Place = InFile | InDatabase


def table(place: Place, name: str) -> str:
    """Return the name there of the table ``judgments`` or ``cases``."""
    return name if isinstance(place, InFile) else f"jury_{name}"


def rows(place: Place, condition: str = "true") -> int:
    """Return the number of rows of judgments that another program sees."""
    ((count,),) = place.sql(f"SELECT count(*) FROM {table(place, 'judgments')} WHERE {condition}")
    return int(count)


def put(store: AnyStore, *writes: tuple[CacheKey, Judgment]) -> None:
    """Put judgments, all at once; returns when all are durable."""

    async def run() -> None:
        await asyncio.gather(*(store.put(key, a_case(), judgment) for key, judgment in writes))

    asyncio.run(run())


def keys(count: int) -> Iterator[CacheKey]:
    """Keys of so many cases."""
    return (KEY._replace(case_key=f"case {number}") for number in range(count))


def critic(*script: str | Exception, name: str = "juror", **options: Any) -> Critic:
    """A critic that says what the script says, and by default YES."""
    return Critic(ScriptedModel(list(script) or [REPLY], model=name), "faithfulness", name=name, **options)


def calls(juror: Critic) -> int:
    """Return the number of requests to such a critic."""
    return len(juror.model.inner.calls)
