"""Both kinds of store seen from outside, and what tests write into them."""

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from postgres_server import PostgresServer

from jury_adapters.core.case import Case
from jury_adapters.core.judgment import Finding, Judgment, Status, Usage
from jury_adapters.core.store import Key, Store, get_or_ask

_NAMES = """
import asyncio, os, sys
from jury_adapters.core.store import get_or_ask
from jury_adapters.core.values import ConfigurationError
from jury_adapters.store import ReadOnly, Store, open_store
from store_support import CASE, FULL, KEY, Asked, Key, get, keys, passed, put
"""
KEY = Key("case", "judge", 0)
CASE = Case(question="When?", answer="In 2018.", contexts=["It stopped in 2018."], metadata={"secret": "hunter2"})
FULL = Judgment(
    status=Status.FAIL,
    score=0.25,
    label="NO",
    confidence=0.9,
    reasoning="so it says",
    findings=(Finding(name="claim", passed=False, detail="why", evidence="evidence", score=0.1),),
    critic="juror",
    model="m",
    usage=Usage(calls=1, input_tokens=100, output_tokens=20, cost_usd=0.01, cost_complete=False),
    elapsed_s=0.5,
    metadata={"a": [1, {"b": None}]},
)


def passed(reasoning: str = "") -> Judgment:
    return Judgment(status=Status.PASS, reasoning=reasoning)


@dataclass(frozen=True)
class InFile:
    """Place of a store in an SQLite file."""

    address: str

    def sql(self, statement: str) -> list[tuple[Any, ...]]:
        """Return the rows that another program reads."""
        with closing(sqlite3.connect(self.address)) as connection, connection:
            return connection.execute(statement).fetchall()


@dataclass(frozen=True)
class InDatabase:
    """Place of a store in PostgreSQL."""

    address: str
    server: PostgresServer

    def sql(self, statement: str) -> list[tuple[Any, ...]]:
        """Return the rows that the superuser of the server reads, as texts."""
        found = self.server.sql(statement, database=self.address.rpartition("/")[2])
        return [tuple(row.split("|")) for row in found.splitlines()]


Place = InFile | InDatabase


def rows(place: Place) -> int:
    """Return the number of judgments that another program sees."""
    return int(place.sql("SELECT count(*) FROM jury_judgments")[0][0])


def put(store: Store, *writes: tuple[Key, Judgment], case: Case = CASE) -> None:
    """Put judgments, all at once."""

    async def run() -> None:
        await asyncio.gather(*(store.put(key, case, judgment) for key, judgment in writes))

    asyncio.run(run())


def get(store: Store, key: Key = KEY) -> Judgment | None:
    return asyncio.run(store.get(key))


def keys(count: int) -> Iterator[Key]:
    """Keys of so many cases."""
    return (Key(f"case {number:06}", "judge", 0) for number in range(count))


class Asked:
    """A model that is asked by way of the store, and counts how often."""

    def __init__(self, judgment: Judgment = passed("asked"), seconds: float = 0.0) -> None:  # noqa: B008
        self.judgment, self.seconds, self.calls = judgment, seconds, 0

    async def ask(self) -> Judgment:
        self.calls += 1
        await asyncio.sleep(self.seconds)
        return self.judgment

    async def __call__(self, store: Store, key: Key = KEY) -> Judgment:
        return await get_or_ask(store, key, CASE, self.ask)


def run_python(script: str, *arguments: object, stderr: str = "") -> str:
    """Run a script in a process of its own, with the names of this module; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", f"{_NAMES}\n{script}", *map(str, arguments)],
        check=False,
        capture_output=True,
        text=True,
        timeout=100,
        cwd=Path(__file__).parent,
    )
    assert (done.returncode, done.stderr) == (0, stderr), done.stderr
    return done.stdout


def at_once(count: int, work: Callable[[int], Awaitable[Any]]) -> list[Any]:
    """Return the results of work that is done so many times at once on one loop; exceptions are results too."""

    async def run() -> list[Any]:
        return await asyncio.gather(*map(work, range(count)), return_exceptions=True)

    return asyncio.run(run())
