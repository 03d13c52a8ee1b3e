"""The store in a file of SQLite: what only a file can suffer, and what is said of it."""

import asyncio
import os
import pickle
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from jury_adapters import ConfigurationError, InputError, Judgment, Status, Store
from jury_adapters.core.cache import CacheKey
from jury_adapters.store import SCHEMA_VERSION, open_store
from jury_adapters.store.sqlite import SELECT, SELECT_ONE, _look_at, prepare
from jury_adapters.testing import a_case, passed
from tests.support.stores import KEY, InFile, critic, keys, put


@pytest.fixture
def store(path):
    with Store(path) as opened:
        yield opened


@pytest.mark.slow
def test_many_processes_that_open_a_new_file_at_the_same_moment_all_get_in(tmp_path):
    script = """
import multiprocessing, sys
from pathlib import Path
from jury_adapters import Store

def opens(start, problems):
    for number in range(15):
        start.wait()
        try:
            Store(Path(sys.argv[1], f"{number}.db")).close()
        except Exception as error:
            problems.put(f"{type(error).__name__}: {error}")

context = multiprocessing.get_context("fork")
start, problems = context.Barrier(6), context.SimpleQueue()
processes = [context.Process(target=opens, args=(start, problems)) for _ in range(6)]
for process in processes:
    process.start()
for process in processes:
    process.join()
while not problems.empty():
    print(problems.get())
"""
    command = [sys.executable, "-c", script, str(tmp_path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("", "")
    for path in tmp_path.glob("*.db"):
        with Store(path) as store:
            assert store.count() == 0
    assert len(list(tmp_path.glob("*.db"))) == 15


def test_a_file_that_another_process_makes_a_store_between_two_reads_is_no_foreign_file(path):
    """SQLite itself calls the other process, at the very statement."""
    others = []

    def traced(statement):
        if "sqlite_master" in statement and not others:
            others.append(threading.Thread(target=lambda: Store(path).close()))
            others[0].start()
            others[0].join(1.0)  # it has ended by now, unless it waits for this connection

    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.set_trace_callback(traced)
        prepare(connection, path)
    assert len(others) == 1
    others[0].join()
    with Store(path) as store:
        assert store.count() == 0


def test_look_ups_use_the_index(path):
    Store(path).close()
    with closing(sqlite3.connect(path)) as connection:
        for query, parameters in ((SELECT, (*KEY[:1], 9)), (SELECT_ONE, KEY)):
            plan = connection.execute(f"EXPLAIN QUERY PLAN {query}", parameters).fetchall()
            assert "USING INDEX served" in plan[0][3]


@pytest.mark.slow
def test_a_full_disk_loses_no_judgment_and_damages_nothing(path):
    """In a process of its own, whose files may not grow beyond a limit."""
    script = f"""
import asyncio, resource, signal, sys
sys.dont_write_bytecode = True  # a file of bytecode that is cut off would break every later import
from jury_adapters import Store
from jury_adapters.core.cache import CacheKey, get_or_run
from jury_adapters.testing import a_case, passed
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = Store({str(path)!r})
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
async def one(number):
    async def ask():
        return passed(reasoning="x" * 5000)
    return await get_or_run(CacheKey(str(number), "c", "r", "0"), a_case(), store, ask)
async def main():
    return [await one(number) for number in range(60)]
judgments = asyncio.run(main())
kept = [j for j in judgments if "store_error" not in j.metadata]
assert all(j.passed for j in judgments)
assert 0 < len(kept) < 60, len(kept)
assert "what is recorded is kept" in judgments[-1].metadata["store_error"], judgments[-1].metadata
print(len(kept))
"""
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    with Store(path) as store:
        assert store.count() == int(done.stdout)


# Files that are no store, or not any more.


def test_a_newer_schema_is_refused_and_left_alone(path):
    Store(path).close()
    with closing(sqlite3.connect(path)) as newer:
        newer.execute(f"PRAGMA user_version={SCHEMA_VERSION + 1}")
    with pytest.raises(ConfigurationError, match=r"newer jury_adapters .*upgrade"):
        Store(path)
    assert InFile(path).sql("PRAGMA user_version") == [(SCHEMA_VERSION + 1,)]


@pytest.mark.parametrize("version", [0, 1, 7])
def test_the_sqlite_file_of_another_program_is_refused_and_not_touched(path, version):
    with closing(sqlite3.connect(path)) as foreign:
        foreign.executescript(f"CREATE TABLE photos (id); PRAGMA user_version={version}")
    before = path.read_bytes()
    with pytest.raises(ConfigurationError, match=r"no store of judgments; give another path"):
        Store(path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_file_that_is_no_database_is_refused_and_not_touched(path):
    path.write_text("question,answer\n" * 500)
    with pytest.raises(ConfigurationError, match=r"this is not an SQLite file; give another path"):
        Store(path)
    assert path.read_text() == "question,answer\n" * 500


def test_a_folder_that_is_missing_is_said(tmp_path):
    with pytest.raises(ConfigurationError, match=r"folder must exist and be writable"):
        Store(tmp_path / "missing" / "runs.db")


@pytest.mark.parametrize(("age_s", "said"), [(0, False), (60, True)], ids=["being made", "emptied"])
def test_an_empty_file_becomes_a_store_and_one_that_was_not_just_made_is_said(path, caplog, age_s, said):
    path.touch()
    os.utime(path, (time.time() - age_s,) * 2)
    with Store(path) as store:
        put(store, (KEY, passed()))
        assert store.get(KEY) == passed()
    assert ("if it was one before, restore a copy" in caplog.text) is said


@pytest.mark.slow
def test_a_file_that_may_not_be_written_is_refused_before_anything_is_paid_for():
    """In a process of its own, which gives up the right of root to write everything."""
    script = """
import os, sys
from jury_adapters import ConfigurationError, Store
os.chdir(sys.argv[1])
open("empty.db", "w").close()
Store("store.db").close()
for name in ("empty.db", "store.db"):
    os.chmod(name, 0o444)
if os.geteuid() == 0:
    os.setuid(65534)
for name in ("empty.db", "store.db"):
    try:
        Store(name)
    except ConfigurationError as error:
        print(error)
"""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        done = subprocess.run([sys.executable, "-c", script, folder], check=True, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert len(lines) == 2
    assert all("make the file and its folder writable" in line for line in lines)


def damage(path):
    content = bytearray(path.read_bytes())
    content[4096 : len(content)] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)


def test_a_file_that_was_damaged_while_closed_says_what_to_do(path):
    with Store(path) as store:
        put(store, *((key, passed(reasoning="x" * 500)) for key in keys(50)))
    damage(path)
    with pytest.raises(ConfigurationError, match=r"damaged; restore a copy"):
        Store(path)


def test_a_file_that_is_damaged_while_open_says_what_to_do(path):
    with Store(path) as store:
        put(store, *((key, passed(reasoning="x" * 500)) for key in keys(50)))
    with Store(path) as store:
        damage(path)
        with pytest.raises(InputError, match=r"damaged; restore a copy"):
            store.get(KEY)
        with pytest.raises(InputError, match=r"damaged; restore a copy"):
            list(store.entries())
        with pytest.raises(ConfigurationError, match=r"damaged; restore a copy"):
            store.check()
        (judgment,) = critic().judge_many([a_case()], store=store)
        assert judgment.status is Status.ERROR  # said before anything is paid for
        assert "damaged" in judgment.error


def test_a_check_of_a_file_that_is_none_any_more_says_what_to_do(path):
    with Store(path) as store:
        path.write_text("question,answer\n" * 500)
        with pytest.raises(ConfigurationError, match=r"this is not an SQLite file; give another path"):
            store.check()


# Its life.


def test_a_closed_store_is_not_checked(path):
    store = Store(path)
    store.check()
    store.close()
    with pytest.raises(ConfigurationError, match=r"is closed; open it again"):
        store.check()


def test_it_stays_the_same_file_when_the_process_goes_to_another_folder(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    with Store(path.name) as store:
        assert store.name == path.name  # in messages as it was given
        put(store, (KEY, passed()))
        elsewhere = path.with_name("elsewhere")
        elsewhere.mkdir()
        monkeypatch.chdir(elsewhere)
        assert store.get(KEY) == passed()
        assert len(list(store.entries())) == 1
        with pickle.loads(pickle.dumps(store)) as other:
            assert other.get(KEY) == passed()
        assert list(elsewhere.iterdir()) == []


def test_a_path_and_a_text_mean_the_same_file(path, tmp_path):
    first = open_store(path)
    assert open_store(str(path)) is first
    with open_store(tmp_path / "other.db") as other:
        assert other is not first
    first.close()


def test_a_writer_that_cannot_write_says_so_to_everyone_and_lives_on(path):
    store = Store(path)
    moved = path.with_name("moved.db")
    path.rename(moved)
    path.mkdir()  # nothing can be opened here any more

    async def many():
        async with asyncio.timeout(10):
            return await asyncio.gather(
                *(store.put(key, a_case(), passed()) for key in keys(3)), return_exceptions=True
            )

    assert [type(result) for result in asyncio.run(many())] == [InputError] * 3
    path.rmdir()
    moved.rename(path)
    put(store, (KEY, passed()))
    assert store.get(KEY) == passed()
    store.close()


def test_it_says_where_it_is(store, path):
    assert repr(store) == f"Store({str(path)!r})"


@pytest.mark.slow
def test_at_the_end_of_the_process_a_store_opened_by_its_path_is_one_file(tmp_path):
    script = """
from jury_adapters import Critic
from jury_adapters.testing import ScriptedModel
critic = Critic(ScriptedModel(["Answer: YES"] * 20), "faithfulness", name="truth")
rows = [{"question": "?", "answer": str(n), "contexts": ["c"]} for n in range(20)]
assert all(judgment.passed for judgment in critic.judge_many(rows, store="runs.db"))
"""
    subprocess.run([sys.executable, "-c", script], check=True, cwd=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["runs.db"]
    with Store(tmp_path / "runs.db") as store:
        assert store.count() == 20


def test_what_was_not_there_a_moment_ago_is_found_when_it_is_written(path):
    """One look into the file is kept for a moment, and not beyond a write of the same store."""
    with Store(path) as store:
        for number in range(20):
            key = KEY._replace(sample=str(number))
            assert store.get(key) is None
            put(store, (key, passed()))
            assert store.get(key) == passed()


def test_what_another_store_writes_is_found_a_moment_later(path):
    with Store(path) as store, Store(path) as other:
        assert store.get(KEY) is None
        put(other, (KEY, passed()))
        time.sleep(0.02)
        assert store.get(KEY) == passed()


def test_a_case_with_many_judgments_is_read_in_time_that_grows_with_them(path):
    def steps_of_reading(count, case):
        with Store(path) as store:
            keys = [CacheKey(case, str(number), "r", "0") for number in range(count)]
            put(store, *((key, Judgment("PASS")) for key in keys))
            steps = 0

            def step():
                nonlocal steps
                steps += 1

            store.get(CacheKey("other", "c", "r", "0"))
            store._reader.set_progress_handler(step, 20)  # called at every twentieth instruction of SQLite
            for key in keys:
                assert store.get(key) is not None
            store._reader.set_progress_handler(None, 1)
            return steps

    assert steps_of_reading(400, "many") < 8 * steps_of_reading(100, "fewer")  # 16 times where all are read each time


@pytest.mark.slow
def test_a_log_that_another_process_removes_at_this_moment_is_no_error(tmp_path: Path) -> None:
    path, log = tmp_path / "runs.db", tmp_path / "runs.db-wal"
    path.write_bytes(b"not empty")
    looked = threading.Event()

    def come_and_go() -> None:
        while not looked.is_set():
            log.write_bytes(b"a judgment")
            log.unlink()

    other = threading.Thread(target=come_and_go)
    other.start()
    try:
        for _ in range(20_000):
            _look_at(path)
    finally:
        looked.set()
        other.join()


@pytest.mark.parametrize("opened", [Store, open_store])
def test_a_store_in_memory_is_refused_and_no_file_has_its_name(opened, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError, match="a store is a file, not ':memory:'"):
        opened(":memory:")
    assert not list(tmp_path.iterdir())
