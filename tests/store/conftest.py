"""A new store for each test: a file, or the empty database of the one PostgreSQL server of the tests' process."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from postgres_server import PostgresServer
from store_support import InDatabase, InFile, Place

from jury_adapters.store import SqlStore, open_store


@pytest.fixture(scope="session")
def server() -> Iterator[PostgresServer]:
    with PostgresServer() as running:
        running.database("juries")
        yield running


@pytest.fixture
def database(server: PostgresServer) -> InDatabase:
    server.sql("DROP TABLE IF EXISTS jury_store, jury_cases, jury_judgments", database="juries")
    return InDatabase(server.url("juries"), server)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


@pytest.fixture(params=["file", pytest.param("database", marks=pytest.mark.postgres)])
def place(request: pytest.FixtureRequest) -> Place:
    """Place of a store, in a file or a database; what both promise is tested with both."""
    if request.param == "file":
        return InFile(str(request.getfixturevalue("path")))
    found: InDatabase = request.getfixturevalue("database")
    return found


@pytest.fixture
def store(place: Place) -> Iterator[SqlStore]:
    with open_store(place.address) as opened:
        yield opened
