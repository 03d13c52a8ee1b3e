"""Many processes and a server that is killed: none lost, none doubled. `postgres_table.py` does it at full size."""

import pytest

from tests.reliability.postgres_runs import a_jury, all_the_same, each_its_own
from tests.support.postgres import PostgresServer

pytestmark = pytest.mark.postgres


@pytest.fixture(scope="module")
def postgres():
    with PostgresServer(fsync=False) as server:
        yield server


def test_three_processes_write_while_the_server_is_killed(postgres):
    row = each_its_own(postgres, "own", 3, 1000, kills=1)
    assert row.good
    assert (row.kept, row.errors) == (2850, 150)


def test_three_processes_write_the_same_while_the_server_is_killed(postgres):
    row = all_the_same(postgres, "same", 3, 1000, kills=1)
    assert row.good
    assert (row.kept, row.errors) == (950, 150)


def test_a_jury_goes_on_when_the_server_is_killed_and_brought_back(postgres):
    row = a_jury(postgres, "jury", 300, kills=1)
    assert row.good
    assert row.kept == 900
