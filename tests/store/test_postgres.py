"""The store in PostgreSQL keeps the promises of the one in a file, against a real server."""

import asyncio
import logging
import os
import pickle
import subprocess
import sys
import threading
import time
import traceback

import pytest
from sqlalchemy import create_engine

from jury_adapters import Case, Check, ConfigurationError, Critic, Ensemble, InputError, Judgment, Status, Usage
from jury_adapters.core.journal import JournalKey, once
from jury_adapters.store import Entry, existing_store, open_store
from jury_adapters.store.postgres import PostgresStore
from jury_adapters.store.postgres_schema import MIGRATIONS, prepare
from jury_adapters.testing import ScriptedModel, a_case, abstained, errored, failed, passed

pytestmark = pytest.mark.postgres

KEY = JournalKey("case", "critic", "rubric", "0")
REPLY = '{"reasoning": "so it says", "answer": "YES"}'
FULL = Judgment(
    Status.FAIL, score=0.25, label="NO", probabilities={"NO": 0.9, "YES": 0.1}, confidence=0.9,
    reasoning="ünsägbar \U0001f600 \x00 \ud800",
    checks=(Check("claim", False, "why", "evidence", 0.1),), usage=Usage(100, 20, 64, 5, 1, 0.01, False),
    metadata={"a": [1, {"b": None}]}, critic="juror", model="m", family="f", elapsed_s=0.5,
)  # fmt: skip


@pytest.fixture
def store(url):
    with PostgresStore(url) as opened:
        yield opened


def put(store, *writes):
    async def run():
        await asyncio.gather(*(store.put(key, a_case(), judgment) for key, judgment in writes))

    asyncio.run(run())


def keys(count):
    return [KEY._replace(case_key=f"case {number}") for number in range(count)]


def critic(*script, name="juror", **options):
    return Critic(name, ScriptedModel(list(script) or [REPLY], model=name), rubric="faithfulness", **options)


def calls(juror):
    return len(juror.model.inner.calls)


# What is put in comes out.


@pytest.mark.parametrize(
    "judgment", [FULL, passed(), failed(), abstained(error="parse_fail"), Judgment(None, label="KEEP")]
)
def test_a_judgment_comes_back_as_it_was(store, judgment):
    put(store, (KEY, judgment))
    assert store.get(KEY) == judgment
    assert asyncio.run(store.find(KEY)) == judgment


def test_the_first_judgment_under_a_key_stays_and_every_part_of_the_key_counts(store):
    put(store, (KEY, passed()))
    others = [
        JournalKey(*("other" if at == position else part for at, part in enumerate(KEY))) for position in range(4)
    ]
    put(store, (KEY, failed()), *((other, failed()) for other in others))
    assert store.get(KEY) == passed()
    assert [store.get(other) for other in others] == [failed()] * 4
    assert store.count() == 5
    assert store.get(KEY._replace(critic="nobody")) is None


def test_errors_are_recorded_and_never_served(store, postgres, url):
    for _ in range(2):
        put(store, (KEY, errored()))
    assert (store.get(KEY), store.count(), list(store.entries())) == (None, 0, [])
    database = url.rpartition("/")[2]
    assert postgres.sql("SELECT count(*) FROM jury_judgments WHERE status = 'ERROR'", database=database) == "2"
    put(store, (KEY, passed()))
    assert store.get(KEY) == passed()


def test_entries_come_in_the_order_of_recording_and_cases_without_metadata(store, postgres, url):
    written = [(key, passed(reasoning=key.case_key)) for key in reversed(keys(5))]
    for write in written:
        put(store, write)
    assert list(store.entries()) == [Entry(*write) for write in written]
    case = Case(question="q", answer="a", metadata={"secret": "hunter2"})
    asyncio.run(store.put(KEY._replace(case_key="mine"), case, passed()))
    assert dict(store.cases())["mine"] == Case(question="q", answer="a")
    assert "hunter2" not in postgres.sql("SELECT * FROM jury_cases", database=url.rpartition("/")[2])


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


# In judging.


def test_critics_are_served_from_the_store_also_in_a_later_run(url):
    first, second = critic(), critic()
    paid = list(first.judge_many([a_case()] * 3, store=url))
    open_store(url).close()
    served = list(second.judge_many([a_case()], store=url))
    assert (calls(first), calls(second)) == (1, 0)
    assert served[0].reasoning == paid[0].reasoning == "so it says"
    assert "pa55word" not in repr(paid) + "".join(verdict.to_json() for verdict in paid)
    open_store(url).close()


def test_a_verdict_is_handed_out_only_when_its_judgments_are_durable(store, url):
    panel = Ensemble([critic(name="a"), critic(name="b")])
    with existing_store(url) as other:
        for number, _ in enumerate(
            panel.judge_many([a_case(question=str(n)) for n in range(10)], store=store), start=1
        ):
            assert other.count() >= 2 * number


def test_a_server_that_goes_away_for_long_costs_no_judgment_and_gets_it_when_it_is_back(postgres, url, caplog):
    async def ask():
        await asyncio.to_thread(postgres.kill)
        return passed(reasoning="paid for")

    with PostgresStore(url, patience_s=1.0) as store:
        try:
            judgment = asyncio.run(once(KEY, a_case(), store, ask))
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
    store = PostgresStore(url, patience_s=0.5)
    postgres.kill()
    try:
        with pytest.raises(InputError, match=r"recorded when it is back"):
            put(store, (KEY, passed()))
        with caplog.at_level(logging.ERROR):
            store.close()
    finally:
        postgres.start()
    assert "1 judgments could not be recorded" in caplog.text


def test_a_database_that_somebody_has_changed_is_said(store, postgres, url):
    postgres.sql("DROP TABLE jury_cases", database=url.rpartition("/")[2])
    (judgment,) = critic().judge_many([a_case()], store=store)
    assert judgment.passed
    assert "restore a copy, or give another database" in judgment.metadata["store_error"]


# Many at once.


def test_many_threads_and_loops_share_one_store(store):
    problems = []

    def work(number):
        try:
            for key in keys(10):
                mine = key._replace(critic=f"thread {number}")
                put(store, (mine, passed(reasoning=str(number))), (key, passed()))
                assert store.get(mine).reasoning == str(number)
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert store.count() == 90


def test_many_who_find_no_tables_make_them_once(url):
    script = """
import sys, threading
from jury_adapters.store.postgres import PostgresStore
threads = [threading.Thread(target=lambda: PostgresStore(sys.argv[1]).close()) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""
    started = [subprocess.Popen([sys.executable, "-c", script, url], stderr=subprocess.PIPE) for _ in range(2)]
    assert [process.communicate(timeout=60)[1].decode() for process in started] == ["", ""]


# Databases that are no store, or not ours to write.


def test_there_must_be_a_store_to_read_from(url):
    with pytest.raises(InputError, match=r"there is no store in this database"):
        existing_store(url)
    PostgresStore(url).close()
    existing_store(url).close()


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


@pytest.mark.parametrize("use", [
    lambda store: store.get(KEY), lambda store: list(store.entries()), lambda store: list(store.cases()),
    lambda store: store.count(), lambda store: put(store, (KEY, passed())), lambda store: asyncio.run(store.find(KEY)),
])  # fmt: skip
def test_a_closed_store_says_so(url, use):
    store = PostgresStore(url)
    put(store, (KEY, passed()))
    store.close()
    store.close()
    with pytest.raises(ConfigurationError, match=r"is closed; open it again"):
        use(store)


def test_closing_writes_what_is_waiting(url):
    store = PostgresStore(url)

    async def many():
        waiting = [asyncio.ensure_future(store.put(key, a_case(), passed())) for key in keys(600)]
        await asyncio.sleep(0)
        await asyncio.to_thread(store.close)
        await asyncio.gather(*waiting)

    asyncio.run(many())
    with existing_store(url) as again:
        assert again.count() == 600


def test_a_url_is_opened_once_per_process_and_again_after_a_fork(url):
    first = open_store(url)
    assert open_store(url) is first
    assert open_store(first) is first
    put(first, (KEY, passed()))
    child = os.fork()
    if child == 0:
        try:
            first.get(KEY)
        except ConfigurationError as error:
            os._exit(0 if "before this process was forked" in str(error) else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert first.get(KEY) == passed()
    first.close()
    assert open_store(url) is not first
    open_store(url).close()


def test_it_can_be_pickled(store):
    put(store, (KEY, passed()))
    with pickle.loads(pickle.dumps(store)) as other:
        assert other.get(KEY) == passed()
