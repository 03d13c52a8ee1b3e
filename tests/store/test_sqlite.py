"""The store in an SQLite file: what only a file can suffer, and what is said of it."""

import asyncio
import logging
import random
import re
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from store_support import CASE, KEY, Asked, InFile, at_once, get, keys, passed, put, run_python

from jury_adapters.core.values import ConfigurationError
from jury_adapters.store import Store

PAGE = 4096


def test_processes_that_open_a_new_file_at_once_all_get_in(tmp_path: Path) -> None:
    """Forty times eight: `PRAGMA journal_mode=WAL` does not wait for the others, and 1 of 40 failed."""
    script = """
import multiprocessing
from pathlib import Path

def opens(start, problems):
    for number in range(40):
        start.wait()
        try:
            with Store(Path(sys.argv[1], f"{number}.db")) as store:
                put(store, (KEY._replace(sample=os.getpid()), passed()))
        except Exception as error:
            problems.put(f"{type(error).__name__}: {error}")

context = multiprocessing.get_context("fork")
start, problems = context.Barrier(8), context.SimpleQueue()
processes = [context.Process(target=opens, args=(start, problems)) for _ in range(8)]
for process in processes:
    process.start()
for process in processes:
    process.join()
while not problems.empty():
    print(problems.get())
print(*(Store(path).counts().total() for path in Path(sys.argv[1]).glob("*.db")))
"""
    assert run_python(script, tmp_path) == " ".join(["8"] * 40) + "\n"


def test_a_locked_file_is_waited_for(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with Store(path) as store, closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")

        async def main() -> None:
            waiting = asyncio.ensure_future(store.put(KEY, CASE, passed()))
            await asyncio.sleep(0.1)
            assert not waiting.done()
            assert await store.get(KEY) is None  # reading does not wait
            other.execute("COMMIT")
            await waiting

        asyncio.run(main())
        assert get(store) == passed()


def test_a_file_that_stays_locked_is_given_up(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(path)
    monkeypatch.setattr(store._retrying, "stop", lambda state: state.attempt_number >= 3)
    connection = store._writes._connection
    connection.execute("PRAGMA busy_timeout=10")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        connect = store._writes._connect
        store._writes._connect = lambda: quick(connect())
        with pytest.raises(ConfigurationError, match="cannot be used: database is locked"):
            put(store, (KEY, passed()))
        assert store._writes._connection is not connection  # replaced after each error
    put(store, (KEY, passed()))
    assert get(store) == passed()
    store.close()


def quick(connection: sqlite3.Connection) -> sqlite3.Connection:
    connection.execute("PRAGMA busy_timeout=10")
    return connection


@pytest.mark.parametrize("query", ["_find", "_PAGE_OF_JUDGMENTS"])
def test_look_ups_use_the_index(path: Path, query: str) -> None:
    with Store(path) as store:
        put(store, *((key, passed()) for key in keys(3)))
        seen: list[str] = []
        store._reads._connection = None
        connect = store._reads._connect
        store._reads._connect = lambda: traced(connect(), seen)
        at_once(3, lambda number: store.get([*keys(3)][number]))
        list(store.judgments())
    with closing(sqlite3.connect(path)) as connection:
        chosen = [one for one in seen if ("content" in one) == (query != "_find")]
        plans = [str(connection.execute(f"EXPLAIN QUERY PLAN {one}").fetchall()) for one in chosen]
    assert plans
    assert not [plan for plan in plans if "SCAN" in plan]


def traced(connection: sqlite3.Connection, seen: list[str]) -> sqlite3.Connection:
    connection.set_trace_callback(seen.append)
    return connection


def test_commits_are_synchronous(path: Path) -> None:
    with Store(path) as store:
        put(store, (KEY, passed()))
        assert store._writes._connection.execute("PRAGMA synchronous").fetchone() == (2,)
        assert store._writes._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_fork_waits_until_no_connection_is_in_use(path: Path) -> None:
    """SQLite holds locks of its own meanwhile, for which the child would wait for ever."""
    script = """
import time
store = Store(sys.argv[1])
put(store, (KEY, passed()))
long = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) SELECT max(i) FROM n"
def work(connection):
    time.sleep(0.3)
    return connection.execute(long).fetchone()[0]
at_work = [lane.submit(lane.use, work) for lane in (store._reads, store._writes)]
time.sleep(0.1)
child = os.fork()
if child == 0:
    put(store, (KEY._replace(sample=1), passed()))
    assert get(store) == passed()
    sys.exit(0)
finished = time.monotonic()
print([one.result() for one in at_work], time.monotonic() - finished < 0.1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), store.counts()["PASS"])
"""
    assert run_python(script, path) == "[300000, 300000] True\n0 2\n"


# A full disk, and a power cut.


def test_a_full_disk_loses_no_judgment_and_damages_nothing(path: Path) -> None:
    """In a process of its own, whose files may not grow beyond a limit."""
    script = """
import logging, resource, signal
logging.disable()
sys.dont_write_bytecode = True  # a file of bytecode that is cut off would break every later import
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = Store(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
async def main():
    return [await Asked(passed("x" * 5000))(store, key) for key in keys(60)]
judgments = asyncio.run(main())
kept = [one for one in judgments if "store_error" not in one.metadata]
assert all(one.passed for one in judgments)
assert 0 < len(kept) < 60, len(kept)
print(len(kept), judgments[-1].metadata["store_error"], sep="\\n")
"""
    kept, said = run_python(script, path).splitlines()
    assert re.fullmatch(
        rf"ConfigurationError: the store {path} cannot be used: (database or disk is full|disk I/O error)", said
    )
    with Store(path) as store:
        assert store.counts() == {"PASS": int(kept)}
        asked = [Asked() for _ in range(60)]
        at_once(60, lambda number: asked[number](store, [*keys(60)][number]))
        assert sum(one.calls for one in asked) == 60 - int(kept)


def test_a_log_that_is_torn_anywhere_keeps_the_commits_before(path: Path) -> None:
    """A power cut: the log ends, or has other bytes, from any place on."""
    log, ends, dice = path.with_name("runs.db-wal"), [], random.Random(7)
    with Store(path) as store:
        for key in keys(5):
            put(store, (key, passed(key.case * 100)))
            ends.append(log.stat().st_size)
        whole = {name: path.with_name(name).read_bytes() for name in ("runs.db", "runs.db-wal")}
    for cut in (dice.randrange(len(whole["runs.db-wal"])) for _ in range(12)):
        for rest in (b"", dice.randbytes(len(whole["runs.db-wal"]) - cut)):
            for one in path.parent.iterdir():
                one.unlink()
            path.write_bytes(whole["runs.db"])
            log.write_bytes(whole["runs.db-wal"][:cut] + rest)
            with Store(path) as store:
                assert store.counts().total() == sum(end <= cut for end in ends)


# Files that are not a store, or not any more.


def make_foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as foreign:
        foreign.executescript("CREATE TABLE photos (id); PRAGMA user_version=7")


def make_old(path: Path) -> None:
    with closing(sqlite3.connect(path)) as old:
        old.executescript(
            "CREATE TABLE judgments (id); CREATE TABLE cases (case_key); PRAGMA application_id=1786081145"
        )


def make_newer(path: Path) -> None:
    Store(path).close()
    with closing(sqlite3.connect(path)) as newer, newer:
        newer.execute("UPDATE jury_store SET version = 2")


WRONG_FILES: dict[str, tuple[Callable[[Path], object], str]] = {
    "foreign": (make_foreign, "PATH has other tables: it is not a store of jury_adapters 1.0"),
    "of 0.2": (make_old, "PATH has other tables: it is not a store of jury_adapters 1.0"),
    "newer": (make_newer, "the store PATH has version 2; this package reads 1"),
    "text": (
        lambda path: path.write_text("question,answer\n" * 500),
        "the store PATH cannot be used: file is not a database",
    ),
    "folder": (lambda path: path.mkdir(), "the store PATH cannot be used: unable to open database file"),
}


@pytest.mark.parametrize(("make", "said"), WRONG_FILES.values(), ids=WRONG_FILES)
def test_a_wrong_file_is_refused_in_one_sentence_and_not_touched(
    path: Path, make: Callable[[Path], object], said: str
) -> None:
    make(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(ConfigurationError) as caught:
        Store(path)
    assert str(caught.value) == said.replace("PATH", str(path))
    assert [*path.parent.iterdir()] == [path]
    assert before is None or path.read_bytes() == before


@pytest.mark.parametrize("path", ["", "missing/runs.db", "."], indirect=False)
def test_a_path_that_cannot_be_a_file_is_refused(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError, match=rf"^the store {re.escape(path)} cannot be used: unable to open"):
        Store(path)
    assert not [*tmp_path.iterdir()]


def test_an_empty_file_becomes_a_store(path: Path) -> None:
    path.touch()
    with Store(path) as store:
        put(store, (KEY, passed()))
        assert get(store) == passed()


def test_a_file_that_may_not_be_written_is_refused_before_anything_is_paid() -> None:
    """In a process of its own, which gives up the right of root to write everything."""
    script = """
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
        said = run_python(script, folder).splitlines()
    readonly = "the store {} cannot be used: attempt to write a readonly database"
    assert said == [readonly.format("empty.db"), readonly.format("store.db")]


def filled(path: Path, count: int = 120) -> bytes:
    with Store(path) as store:
        put(store, *((key, passed(f"{key.case} " + "because of this " * 40)) for key in keys(count)))
    return path.read_bytes()


@pytest.mark.parametrize("size", [8, 64, PAGE])
def test_damage_is_said_and_nothing_is_served_wrong_or_paid_again(path: Path, size: int) -> None:
    """Random bytes in each page of the file in turn."""
    good, dice, wanted = filled(path), random.Random(size), [*keys(120)]
    said: list[str] = []
    served = 0
    for page in range(0, len(good) // PAGE, 3):
        at = page * PAGE + (dice.randrange(PAGE - size) if size < PAGE else 0)
        path.write_bytes(good[:at] + dice.randbytes(size) + good[at + size :])
        try:
            with Store(path) as store:
                found = at_once(120, lambda number, store=store: store.get(wanted[number]))
        except ConfigurationError as error:
            said.append(str(error))
            continue
        for key, one in zip(wanted, found, strict=True):
            if isinstance(one, ConfigurationError):
                said.append(str(one))
            else:
                assert one.reasoning.startswith(key.case)
                served += 1
    assert said
    assert all(str(path) in one and "because" not in one for one in said)
    assert served or size == PAGE


def test_damage_of_the_index_is_refused_since_it_would_hide_what_is_paid(path: Path) -> None:
    good, text = filled(path), b"case 000050judge"
    places = [found.start() for found in re.finditer(text, good) if good[found.end() :][:4] != b"PASS"]
    assert places
    for place in places:
        path.write_bytes(good[:place] + b"case 0000Z0" + good[place + 11 :])
        with pytest.raises(ConfigurationError, match=rf"^the store {path} is damaged; restore a copy of the file$"):
            Store(path)


def test_a_file_that_is_cut_short_is_refused(path: Path) -> None:
    good = filled(path)
    for cut in range(PAGE, len(good), len(good) // 7 // PAGE * PAGE):
        path.write_bytes(good[:cut])
        with pytest.raises(ConfigurationError, match=rf"^the store {path} (is damaged|cannot be used)"):
            Store(path)


def test_a_file_that_is_damaged_while_open_is_said_before_anything_is_paid(path: Path) -> None:
    filled(path)
    with Store(path) as store:
        content = bytearray(path.read_bytes())
        content[PAGE:] = b"\xff" * (len(content) - PAGE)
        path.write_bytes(content)
        asked = Asked()
        with pytest.raises(ConfigurationError, match=rf"^the store {path} cannot be used: database disk image is mal"):
            asyncio.run(asked(store, next(keys(1))))
        assert asked.calls == 0


def test_a_text_that_is_not_unicode_is_not_quoted(path: Path) -> None:
    with Store(path) as store:
        put(store, (KEY, passed()))
        InFile(str(path)).sql("UPDATE jury_judgments SET judgment = CAST(x'7365637265742cff' AS TEXT)")
        with pytest.raises(ConfigurationError, match="codec can't decode byte") as caught:
            get(store)
    assert "secret" not in str(caught.value)


# Its life.


def test_a_writer_that_fails_says_so_to_everyone_and_goes_on(path: Path) -> None:
    with Store(path) as store:
        put(store, (KEY, passed()))
        store._writes._connect = lambda: sqlite3.connect(path / "missing")
        store._writes._disconnect()
        found = at_once(3, lambda number: store.put(KEY._replace(sample=number), CASE, passed()))
        assert [type(one) for one in found] == [ConfigurationError] * 3
        del store._writes._connect
        store._writes._connect = lambda: sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        put(store, (KEY._replace(sample=5), passed()))
        assert store.counts() == {"PASS": 2}


def test_it_stays_the_same_file_when_the_process_changes_its_folder(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with Store("runs.db") as store:
        assert (store.name, store.path, repr(store)) == ("runs.db", path, "Store('runs.db')")
        monkeypatch.chdir(tmp_path / "elsewhere")
        put(store, (KEY, passed()))
        assert get(store) == passed()
    assert not [*(tmp_path / "elsewhere").iterdir()]


def test_another_store_of_the_same_file_sees_what_is_written(path: Path) -> None:
    with Store(path) as store, Store(path) as other:
        assert get(store) is None
        put(other, (KEY, passed()))
        assert get(store) == passed()


def test_a_refused_file_leaves_nothing_open(path: Path) -> None:
    make_foreign(path)
    before = open_files()
    for _ in range(5):
        with pytest.raises(ConfigurationError):
            Store(path)
    assert open_files() <= before


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_it_logs_nothing(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "jury_adapters"), Store(path) as store:
        put(store, (KEY, passed()))
        assert get(store) == passed()
    assert not [record for record in caplog.records if record.name.startswith("jury_adapters")]
