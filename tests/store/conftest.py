"""One real PostgreSQL server for the tests of a process, a new database for each test."""

import itertools

import pytest

from tests.support.postgres import PostgresServer

_numbers = itertools.count()


@pytest.fixture(scope="session")
def postgres():
    with PostgresServer(fsync=False) as server:
        yield server


@pytest.fixture
def url(postgres):
    return postgres.database(f"test_{next(_numbers)}")
