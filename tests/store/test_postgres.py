"""The store in PostgreSQL, against a real server: what only a server can do or suffer, and what is said of it."""

import asyncio
import threading
import time
import traceback

import pytest
from postgres_server import PASSWORD, PostgresServer
from store_support import CASE, KEY, Asked, InDatabase, at_once, get, keys, passed, put, run_python

from jury_adapters.core.store import Key
from jury_adapters.core.values import ConfigurationError
from jury_adapters.store import open_store
from jury_adapters.store.postgres import PostgresStore

pytestmark = pytest.mark.postgres


def test_look_ups_use_the_index(database: InDatabase) -> None:
    with PostgresStore(database.address) as store:
        put(store, *((key, passed()) for key in keys(50)))
    plan = database.server.sql(
        "SET enable_seqscan = off; EXPLAIN SELECT judgment FROM jury_judgments WHERE "
        "(case_key = 'a' AND judge = 'b' AND sample = 0) OR (case_key = 'c' AND judge = 'd' AND sample = 0)",
        database="juries",
    )
    assert "jury_judgments_pkey" in plan
    assert "Seq Scan" not in plan


def test_its_name_and_its_texts_have_no_password(database: InDatabase, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("DEBUG"), PostgresStore(database.address) as store:
        put(store, (KEY, passed()))
        assert repr(store) == f"PostgresStore('postgresql://127.0.0.1:{database.server.port}/juries')"
    assert PASSWORD not in caplog.text


@pytest.mark.parametrize(
    ("change", "said"),
    [((PASSWORD, "wrong"), "password authentication failed"), (("/juries", "/nowhere"), "does not exist")],
)
def test_a_server_that_refuses_the_connection_is_said_at_once(
    database: InDatabase, change: tuple[str, str], said: str
) -> None:
    started = time.monotonic()
    with pytest.raises(ConfigurationError, match=rf"^the store postgresql://.* cannot be used: .*{said}") as caught:
        open_store(database.address.replace(*change))
    assert time.monotonic() - started < 10
    assert PASSWORD not in "".join(traceback.format_exception(caught.value))


def test_the_password_may_be_in_the_environment(database: InDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    with open_store(database.address.replace(f":{PASSWORD}", "")) as store:
        put(store, (KEY, passed()))
        assert get(store) == passed()


def test_settings_in_the_url_replace_ours(database: InDatabase) -> None:
    with open_store(f"{database.address}?application_name=jury&connect_timeout=7") as store:
        (name,) = store._writes._connection.execute("SHOW application_name").fetchone()
        assert name == "jury"
        assert store._writes._connection.info.get_parameters()["connect_timeout"] == "7"


def test_a_commit_is_durable_even_where_the_server_is_set_up_otherwise(server: PostgresServer) -> None:
    url = server.database("careless")
    server.sql("ALTER DATABASE careless SET synchronous_commit = off", database="careless")
    with PostgresStore(url) as store:
        put(store, *((key, passed()) for key in keys(300)))
        server.kill()
        server.start()
        assert store.counts() == {"PASS": 300}


# A server that goes away.


def test_a_server_that_comes_back_is_waited_for(database: InDatabase) -> None:
    async def main() -> None:
        await asyncio.to_thread(database.server.kill)
        waiting = [asyncio.ensure_future(asked(store, key)) for key in keys(5)]
        await asyncio.sleep(0.2)
        assert not any(one.done() for one in waiting)
        await asyncio.to_thread(database.server.start)
        for one in waiting:
            assert (await one).metadata == {}

    asked = Asked()
    with PostgresStore(database.address) as store:
        asyncio.run(main())
        assert store.counts() == {"PASS": 5}


def test_a_server_that_stays_away_costs_no_judgment(database: InDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    class Killing(Asked):
        async def ask(self):  # type: ignore[no-untyped-def]
            await asyncio.to_thread(database.server.kill)
            return await super().ask()

    with PostgresStore(database.address) as store:
        monkeypatch.setattr(store._retrying, "stop", lambda state: state.attempt_number >= 3)
        try:
            judgment = asyncio.run(Killing()(store))
            assert judgment.passed
            assert judgment.metadata["store_error"].startswith("ConfigurationError: the store postgresql://127.0.0.1")
            assert PASSWORD not in judgment.metadata["store_error"]
            unasked = Asked()
            with pytest.raises(ConfigurationError, match="cannot be used"):
                asyncio.run(unasked(store))
            assert unasked.calls == 0  # the judgment may be in the store
        finally:
            database.server.start()
        put(store, (KEY, passed()))
        assert get(store) == passed()


@pytest.mark.parametrize("killed", [False, True])
def test_many_processes_write_the_same_keys(database: InDatabase, killed: bool) -> None:
    """Rows in the order of their keys: otherwise the processes deadlock. What was acknowledged survives a kill."""
    script = """
import random
order = [*keys(300)]
random.Random(sys.argv[2]).shuffle(order)
async def main():
    with open_store(sys.argv[1]) as store:
        waiting = iter(order)
        async def worker():
            for key in waiting:
                await store.put(key, CASE, passed(key.case))
                os.write(1, f"{key.case}\\n".encode())
        await asyncio.gather(*(worker() for _ in range(30)))
asyncio.run(main())
"""
    PostgresStore(database.address).close()
    told: list[str] = []
    threads = [
        threading.Thread(target=lambda name=name: told.append(run_python(script, database.address, name)))
        for name in ("one", "two", "three")
    ]
    for thread in threads:
        thread.start()
    if killed:
        time.sleep(1.5)
        database.server.kill()
        database.server.start()
    for thread in threads:
        thread.join()
    assert [len(one.splitlines()) for one in told] == [300] * 3
    if not killed:  # a server that is killed loses its statistics
        assert database.sql("SELECT sum(deadlocks) FROM pg_stat_database") == [("0",)]
    with PostgresStore(database.address) as store:
        assert [(key, judgment.reasoning) for key, _, judgment in store.judgments()] == [
            (key, key.case) for key in keys(300)
        ]


# Databases that are not a store, or not ours to write.


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
def test_threads_that_open_a_new_store_at_once_make_its_tables_once(server: PostgresServer, isolation: str) -> None:
    name = f"new_{isolation.replace(' ', '_')}"
    url = server.database(name)
    server.sql(f"ALTER DATABASE {name} SET default_transaction_isolation = '{isolation}'", database=name)
    problems: list[BaseException] = []

    def opens() -> None:
        try:
            with PostgresStore(url) as store:
                put(store, *((key, passed()) for key in keys(20)))
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=opens) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    with PostgresStore(url) as store:
        assert store.counts() == {"PASS": 20}


@pytest.mark.parametrize(
    ("name", "options", "change", "said"),
    [
        ("other", "", "CREATE TABLE jury_cases (id int)", "has other tables: it is not a store"),
        (
            "standby",
            "",
            "ALTER DATABASE standby SET default_transaction_read_only = on",
            "cannot be used: cannot execute CREATE TABLE in a read-only transaction",
        ),
        (
            "owned",
            "",
            "REVOKE ALL ON SCHEMA public FROM PUBLIC; ALTER DATABASE owned OWNER TO owner",
            "cannot be used: (permission denied|no schema has been selected)",
        ),
        ("latin", "ENCODING 'LATIN1' TEMPLATE template0", "SELECT 1", "has the encoding LATIN1; a store needs UTF8"),
    ],
)
def test_a_database_that_cannot_be_a_store_is_refused_before_anything_is_paid(
    server: PostgresServer, name: str, options: str, change: str, said: str
) -> None:
    url = server.database(name, options)
    for statement in change.split("; "):
        server.sql(statement, database=name)
    with pytest.raises(ConfigurationError, match=said) as caught:
        PostgresStore(url)
    assert PASSWORD not in "".join(traceback.format_exception(caught.value))


def test_a_newer_version_is_refused(database: InDatabase) -> None:
    PostgresStore(database.address).close()
    database.sql("UPDATE jury_store SET version = 99")
    with pytest.raises(ConfigurationError, match=r"has version 99; this package reads 1$"):
        PostgresStore(database.address)


def test_other_tables_may_be_in_the_database(database: InDatabase) -> None:
    database.sql("CREATE TABLE IF NOT EXISTS photos (id int)")
    with PostgresStore(database.address) as store:
        put(store, (KEY, passed()))


def test_a_user_who_may_write_and_not_make_tables_is_enough(database: InDatabase) -> None:
    PostgresStore(database.address).close()
    database.sql(f"CREATE ROLE writer LOGIN PASSWORD '{PASSWORD}'")
    url = database.address.replace("judge:", "writer:")
    grant = "GRANT {} ON jury_store, jury_cases, jury_judgments TO writer"
    database.sql(grant.format("SELECT"))
    with pytest.raises(ConfigurationError, match="permission denied for table jury_cases"):
        PostgresStore(url)
    database.sql(grant.format("INSERT"))
    with PostgresStore(url) as store:
        put(store, (KEY, passed()))
        assert get(store) == passed()


def test_keys_and_columns_without_nul_take_any_text(database: InDatabase) -> None:
    with PostgresStore(database.address) as store:
        found = at_once(3, lambda number: store.put(Key("c", "j\x00", number), CASE, passed()))
        assert [type(one) for one in found] == [
            ConfigurationError
        ] * 3  # a hash has no NUL; the sentence names the store
