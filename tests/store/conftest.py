"""A new store for each test: a file, or a database of the one real PostgreSQL server of the tests' process."""

import itertools

import pytest

from tests.support.postgres import PostgresServer
from tests.support.stores import InDatabase, InFile

_numbers = itertools.count()


@pytest.fixture(scope="session")
def postgres():
    with PostgresServer(fsync=False) as server:
        yield server


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs.db"


@pytest.fixture
def url(postgres):
    return postgres.database(f"test_{next(_numbers)}")


@pytest.fixture(params=["file", pytest.param("database", marks=pytest.mark.postgres)])
def place(request):
    """Place of a store, in a file or a database; tests of promises of both kinds use it, and run with both."""
    if request.param == "file":
        return InFile(request.getfixturevalue("path"))
    return InDatabase(request.getfixturevalue("url"), request.getfixturevalue("postgres"))
