"""The store in PostgreSQL: what only a server can do or suffer, and what is said of it; against a real one."""

import asyncio
import logging
import pickle
import threading
import time
import traceback

import pytest
from sqlalchemy import create_engine

from jury_adapters import ConfigurationError, InputError, Status
from jury_adapters.core.cache import get_or_run
from jury_adapters.store.postgres import PostgresStore
from jury_adapters.store.postgres_schema import MIGRATIONS, prepare
from jury_adapters.testing import a_case, passed
from tests.support.stores import FULL, KEY, critic, keys, put

pytestmark = pytest.mark.postgres


@pytest.fixture
def store(url):
    with PostgresStore(url) as opened:
        yield opened


def test_what_is_looked_for_at_once_is_asked_for_together(store):
    put(store, (KEY, FULL), *((key, passed()) for key in keys(50)))

    async def find():
        return await asyncio.gather(*(store.find(key) for key in (KEY, *keys(60))))

    assert asyncio.run(find()) == [FULL, *[passed()] * 50, *[None] * 10]


def test_a_closed_store_finds_nothing_and_says_so(url):
    store = PostgresStore(url)
    assert asyncio.run(store.find(KEY)) is None
    store.close()
    with pytest.raises(ConfigurationError, match=r"is closed; open it again"):
        asyncio.run(store.find(KEY))


def test_a_store_with_a_password_in_its_url_refuses_to_be_pickled(store, postgres):
    with pytest.raises(TypeError, match=r"set PGPASSWORD or ~/\.pgpass") as caught:
        pickle.dumps(store)
    assert postgres.password not in str(caught.value)


def test_look_ups_use_the_index(store, postgres, url):
    put(store, *((key, passed()) for key in keys(500)))
    plan = postgres.sql(
        "SET enable_seqscan = off",
        "EXPLAIN SELECT judgment FROM jury_judgments WHERE (case_key, critic, rubric, sample) IN "
        "(('a', 'b', 'c', 'd'), ('e', 'f', 'g', 'h')) AND status IS DISTINCT FROM 'ERROR'",
        database=url.rpartition("/")[2],
    )
    assert "jury_judgments_served" in plan


def test_a_reply_of_the_server_is_durable_even_where_it_is_set_up_otherwise(postgres, url):
    database = url.rpartition("/")[2]
    postgres.sql(f"ALTER DATABASE {database} SET synchronous_commit = off", database=database)
    with PostgresStore(url) as store:
        put(store, *((key, passed()) for key in keys(300)))
        postgres.kill()
        postgres.start()
        assert store.count() == 300


# A server that goes away.


def test_a_server_that_goes_away_for_long_costs_no_judgment_and_gets_it_when_it_is_back(postgres, url, caplog):
    async def ask():
        await asyncio.to_thread(postgres.kill)
        return passed(reasoning="paid for")

    with PostgresStore(url, timeout_s=1.0) as store:
        try:
            judgment = asyncio.run(get_or_run(KEY, a_case(), store, ask))
            assert judgment.passed
            assert "recorded when it is back" in judgment.metadata["store_error"]
            (unasked,) = critic().judge_many([a_case()], store=store)
            assert unasked.status is Status.ERROR  # said before anything is paid for: it may be in the store
        finally:
            postgres.start()
        until = time.monotonic() + 20
        while store.count() < 1:
            assert time.monotonic() < until
            time.sleep(0.05)
        assert store.get(KEY).reasoning == "paid for"
    assert "pa55word" not in caplog.text
    assert "is tried again" in caplog.text


def test_closing_while_the_server_is_away_says_what_is_lost_and_ends(postgres, url, caplog):
    store = PostgresStore(url, timeout_s=0.5)
    postgres.kill()
    try:
        with pytest.raises(InputError, match=r"recorded when it is back"):
            put(store, (KEY, passed()))
        with caplog.at_level(logging.ERROR):
            store.close()
    finally:
        postgres.start()
    assert "1 judgments could not be recorded" in caplog.text


# Databases that are no store, or not ours to write.


def test_a_newer_schema_is_refused_and_left_alone(postgres, url):
    PostgresStore(url).close()
    database = url.rpartition("/")[2]
    postgres.sql("UPDATE jury_store SET version = 99", database=database)
    with pytest.raises(ConfigurationError, match=r"newer jury_adapters \(schema 99\); upgrade"):
        PostgresStore(url)
    assert postgres.sql("SELECT version FROM jury_store", database=database) == "99"


def test_an_older_schema_is_brought_up_and_keeps_everything(url):
    with PostgresStore(url) as store:
        put(store, *((key, passed(reasoning=key.case_key)) for key in keys(50)))
    later = (
        *MIGRATIONS,
        ("ALTER TABLE jury_judgments ADD COLUMN note TEXT", "CREATE INDEX n ON jury_judgments (note)"),
    )
    broken = (*later, ("CREATE TABLE half ()", "CREATE TABLE half ()"))
    engine = create_engine(url)
    with pytest.raises(Exception, match=r"half"), engine.begin() as connection:
        prepare(connection, "the store", migrations=broken)
    with engine.begin() as connection:  # nothing of the migration that failed is there
        assert connection.exec_driver_sql("SELECT version, to_regclass('half') FROM jury_store").one() == (1, None)
    for _ in range(2):
        with engine.begin() as connection:
            prepare(connection, "the store", migrations=later)
    with engine.begin() as connection:
        assert connection.exec_driver_sql("SELECT version FROM jury_store").scalar_one() == 2
        assert connection.exec_driver_sql("SELECT count(note), count(*) FROM jury_judgments").one() == (0, 50)
    engine.dispose()


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
def test_who_opens_it_at_once_where_transactions_are_isolated_more_makes_the_tables_once(postgres, url, isolation):
    database = url.rpartition("/")[2]
    postgres.sql(f"ALTER DATABASE {database} SET default_transaction_isolation = '{isolation}'", database=database)
    problems = []

    def opened():
        try:
            with PostgresStore(url) as store:
                put(store, *((key, passed()) for key in keys(20)))
        except Exception as error:
            problems.append(error)

    threads = [threading.Thread(target=opened) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    with PostgresStore(url) as store:
        assert store.count() == 20


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("CREATE TABLE jury_cases (id int)", r"tables of another program"),
        ("ALTER DATABASE {} SET default_transaction_read_only = on", r"takes no writes; is it a standby"),
        (
            "REVOKE ALL ON SCHEMA public FROM PUBLIC; ALTER DATABASE {} OWNER TO owner",
            r"as the owner|GRANT SELECT, INSERT",
        ),
    ],
)
def test_a_database_that_cannot_be_written_is_refused_before_anything_is_paid_for(postgres, url, change, said):
    database = url.rpartition("/")[2]
    for statement in change.format(database).split("; "):
        postgres.sql(statement, database=database)
    with pytest.raises(ConfigurationError, match=said) as caught:
        PostgresStore(url)
    assert "pa55word" not in "".join(traceback.format_exception(caught.value))


def test_a_user_who_may_write_and_not_make_tables_is_enough(postgres, url):
    PostgresStore(url).close()
    database = url.rpartition("/")[2]
    writer = url.replace("judge:", f"writer_{database}:")
    postgres.sql(f"CREATE ROLE writer_{database} LOGIN PASSWORD '{postgres.password}'", database=database)
    grant = f"GRANT SELECT ON jury_store, jury_judgments, jury_cases TO writer_{database}"
    postgres.sql(grant, database=database)
    with pytest.raises(
        ConfigurationError, match=r"may not write; as the owner: GRANT SELECT, INSERT ON jury_judgments"
    ):
        PostgresStore(writer)
    postgres.sql(grant.replace("SELECT ON jury_store,", "SELECT, INSERT ON"), database=database)
    with PostgresStore(writer) as store:
        put(store, (KEY, passed()))
        assert store.get(KEY) == passed()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("pa55word", "wrong"), r"password authentication failed.*see the user and the password"),
        (("test_", "nowhere_"), r"does not exist; make the database first: createdb"),
    ],
)
def test_a_server_that_does_not_let_us_in_says_what_to_do(url, change, said):
    with pytest.raises(ConfigurationError, match=said) as caught:
        PostgresStore(url.replace(*change))
    assert "s3cr3t" not in "".join(traceback.format_exception(caught.value))


# Its life.


def test_it_never_shows_its_password(store, url):
    assert "pa55word" not in repr(store) + store.name + str(vars(store)["_server"].engine)
    assert repr(store).startswith("PostgresStore('postgresql+psycopg://judge:***@127.0.0.1:")
