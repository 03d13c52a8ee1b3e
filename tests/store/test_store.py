"""The store: what was paid for once is on the disk, is served, and is never paid for again."""

import asyncio
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

from jury_adapters import Case, Check, ConfigurationError, Critic, Ensemble, InputError, Judgment, Status, Store, Usage
from jury_adapters.core.journal import JournalKey, once
from jury_adapters.store import SCHEMA_VERSION, Entry, open_store
from jury_adapters.store.sqlite import SELECT
from jury_adapters.testing import ScriptedModel, a_case, abstained, errored, failed, passed

KEY = JournalKey("case", "critic", "rubric", "0")
REPLY = '{"reasoning": "so it says", "answer": "YES"}'


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs.db"


@pytest.fixture
def store(path):
    with Store(path) as opened:
        yield opened


def put(store, *writes):
    """Put judgments, all at once; returns when all are durable."""

    async def run():
        await asyncio.gather(*(store.put(key, a_case(), judgment) for key, judgment in writes))

    asyncio.run(run())


def keys(count):
    return [KEY._replace(case_key=f"case {number}") for number in range(count)]


def rows(path, query="SELECT * FROM judgments"):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


def critic(*script, name="juror", **options):
    return Critic(name, ScriptedModel(list(script) or [REPLY], model=name), rubric="faithfulness", **options)


def calls(juror):
    return len(juror.model.inner.calls)


FULL = Judgment(
    Status.FAIL, score=0.25, label="NO", probabilities={"NO": 0.9, "YES": 0.1}, confidence=0.9,
    reasoning="ünsägbar \U0001f600",
    checks=(Check("claim", False, "why", "evidence", 0.1),), usage=Usage(100, 20, 64, 5, 1, 0.01, False),
    metadata={"a": [1, {"b": None}]}, critic="juror", model="m", family="f", elapsed_s=0.5,
)  # fmt: skip


# What is put in comes out.


@pytest.mark.parametrize(
    "judgment", [FULL, passed(), failed(), abstained(error="parse_fail"), Judgment(None, label="KEEP")]
)
def test_a_judgment_comes_back_as_it_was(store, judgment):
    put(store, (KEY, judgment))
    assert store.get(KEY) == judgment


def test_what_was_never_recorded_is_none(store):
    assert store.get(KEY) is None
    assert store.count() == 0
    assert list(store.entries()) == []


def test_it_is_durable_before_put_returns(store, path):
    put(store, (KEY, passed()))
    assert len(rows(path)) == 1  # as another process sees it, with the store still open


def test_it_is_served_after_reopening(path):
    with Store(path) as store:
        put(store, (KEY, FULL))
    with Store(path) as store:
        assert store.get(KEY) == FULL


@pytest.mark.parametrize("position", range(4))
def test_every_part_of_the_key_tells_judgments_apart(store, position):
    other = JournalKey(*("other" if at == position else part for at, part in enumerate(KEY)))
    put(store, (KEY, passed()), (other, failed()))
    assert store.get(KEY) == passed()
    assert store.get(other) == failed()


def test_the_first_judgment_under_a_key_stays(store):
    put(store, (KEY, passed()))
    put(store, (KEY, failed()))
    assert store.get(KEY) == passed()
    assert store.count() == 1


def test_errors_are_recorded_and_never_served(store, path):
    for _ in range(2):
        put(store, (KEY, errored()))
    assert store.get(KEY) is None
    assert store.count() == 0
    assert list(store.entries()) == []
    assert len(rows(path, "SELECT * FROM judgments WHERE status = 'ERROR'")) == 2
    put(store, (KEY, passed()))
    assert store.get(KEY) == passed()


def test_entries_come_in_the_order_of_recording_with_their_keys(store):
    written = [(key, passed(reasoning=key.case_key)) for key in keys(20)]
    for write in written:
        put(store, write)
    assert list(store.entries()) == [Entry(*write) for write in written]


def test_entries_can_be_read_while_others_read_and_write(store):
    put(store, *((key, passed()) for key in keys(20)))
    for number, entry in enumerate(store.entries()):
        put(store, (entry.key._replace(sample="1"), failed()))
        assert store.get(entry.key) == passed()
        assert number < 40
    assert store.count() == 40


def test_cases_are_kept_once_and_without_metadata(store, path):
    case = Case(question="q", answer="a", contexts=["c"], metadata={"secret": "hunter2"})

    async def twice():
        for sample in ("0", "1"):
            await store.put(JournalKey(case.key, "c", "r", sample), case, passed())

    asyncio.run(twice())
    assert dict(store.cases()) == {case.key: Case(question="q", answer="a", contexts=["c"])}
    assert all(b"hunter2" not in file.read_bytes() for file in path.parent.iterdir())


def test_look_ups_use_the_index(path):
    Store(path).close()
    with closing(sqlite3.connect(path)) as connection:
        plan = connection.execute(f"EXPLAIN QUERY PLAN {SELECT}", KEY).fetchall()
    assert "USING INDEX served" in plan[0][3]


# In judging.


def test_critics_are_served_from_the_store_also_in_a_later_run(path):
    first, second = critic(), critic()
    with Store(path) as store:
        paid = list(first.judge_many([a_case()] * 3, store=store))
    served = list(second.judge_many([a_case()], store=path))
    open_store(path).close()
    assert (calls(first), calls(second)) == (1, 0)
    assert served[0].reasoning == paid[0].reasoning == "so it says"


def test_a_verdict_is_handed_out_only_when_its_judgments_are_durable(store, path):
    panel = Ensemble([critic(name="a"), critic(name="b")])
    for number, _ in enumerate(panel.judge_many([a_case(question=str(n)) for n in range(10)], store=store), start=1):
        assert len(rows(path)) >= 2 * number


def test_samples_of_a_repeated_critic_are_kept_apart(store):
    juror = critic(REPLY, REPLY.replace("YES", "NO"), REPLY, repeat=3)
    (verdict,) = juror.judge_many([a_case()], store=store)
    assert sorted(entry.key.sample for entry in store.entries()) == ["0", "0.1", "0.2"]
    again = critic(repeat=3)
    (served,) = again.judge_many([a_case()], store=store)
    assert calls(again) == 0
    assert [j.status for j in served.judgments] == [j.status for j in verdict.judgments]


def test_a_changed_question_model_or_rubric_is_asked_anew(store):
    list(critic().judge_many([a_case()], store=store))
    for juror in (
        critic(name="other"),
        critic(temperature=0.5),
        critic(threshold=0.9),
        critic(system_prompt="Be harsh."),
    ):
        list(juror.judge_many([a_case()], store=store))
        assert calls(juror) == 1
    renamed = Critic("renamed", ScriptedModel([REPLY], model="juror"), rubric="faithfulness")
    assert [j.critic for j in renamed.judge_many([a_case()], store=store)] == ["renamed"]
    assert calls(renamed) == 0


def test_an_error_is_asked_again_in_the_next_run(store):
    juror = critic(ValueError("broken"), REPLY)
    assert [j.status for j in juror.judge_many([a_case()], store=store)] == [Status.ERROR]
    assert [j.status for j in juror.judge_many([a_case()], store=store)] == [Status.PASS]


def test_a_critic_may_have_a_store_of_its_own(path):
    first, second = critic(store=path), critic(store=str(path))
    assert first.store is second.store
    first.judge(a_case())
    assert second.judge(a_case()).passed
    assert calls(second) == 0
    first.store.close()


def test_a_store_that_fails_while_judging_does_not_lose_the_judgment(store, path, caplog):
    assert store.get(KEY) is None
    with closing(sqlite3.connect(path)) as vandal:
        vandal.executescript("DROP TABLE cases")
    (judgment,) = critic().judge_many([a_case()], store=store)
    assert judgment.passed
    assert str(path) in judgment.metadata["store_error"]
    assert "could not be recorded" in caplog.text


def test_a_full_disk_loses_no_judgment_and_damages_nothing(path):
    """In a process of its own, whose files may not grow beyond a limit."""
    script = f"""
import asyncio, resource, signal
from jury_adapters import Store
from jury_adapters.core.journal import JournalKey, once
from jury_adapters.testing import a_case, passed
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = Store({str(path)!r})
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
async def one(number):
    async def ask():
        return passed(reasoning="x" * 5000)
    return await once(JournalKey(str(number), "c", "r", "0"), a_case(), store, ask)
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


# Many at once.


def test_what_comes_at_once_is_committed_together(store):
    started = time.monotonic()
    put(store, *((key, passed()) for key in keys(2000)))
    assert time.monotonic() - started < 5  # one commit each would take a disk's sync two thousand times
    assert store.count() == 2000


def test_many_threads_and_loops_share_one_store(store):
    problems = []

    def work(number):
        try:
            for key in keys(20):
                mine = key._replace(critic=f"thread {number}")
                put(store, (mine, passed(reasoning=str(number))))
                assert store.get(mine).reasoning == str(number)
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert store.count() == 320


def test_two_processes_write_to_one_file_that_neither_finds_ready(path):
    script = f"""
import asyncio
from jury_adapters import Store
from jury_adapters.core.journal import JournalKey
from jury_adapters.testing import a_case, passed
import sys
async def main():
    with Store({str(path)!r}) as store:
        for number in range(60):
            await store.put(JournalKey(str(number), sys.argv[1], "r", "0"), a_case(), passed())
            await store.put(JournalKey(str(number), "both", "r", "0"), a_case(), passed(reasoning=sys.argv[1]))
asyncio.run(main())
"""
    processes = [
        subprocess.Popen([sys.executable, "-c", script, name], stderr=subprocess.PIPE) for name in ("one", "two")
    ]
    for process in processes:
        _, stderr = process.communicate(timeout=60)
        assert process.returncode == 0, stderr.decode()
    with Store(path) as store:
        assert store.count() == 180


def test_a_file_is_opened_once_per_process(path, tmp_path):
    first = open_store(path)
    assert open_store(str(path)) is first
    assert open_store(first) is first
    assert open_store(tmp_path / "other.db") is not first
    first.close()
    again = open_store(path)
    assert again is not first
    assert again.get(KEY) is None
    again.close()


def test_a_cancelled_put_leaves_the_store_in_order(store):
    async def impatient():
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.001):
                await store.put(KEY, a_case(), passed())

    asyncio.run(impatient())
    put(store, (KEY._replace(sample="1"), passed()))
    assert store.get(KEY) == passed()  # it was on its way, and paid for


# Files that are no store, or not any more.


def test_a_newer_schema_is_refused_and_left_alone(path):
    Store(path).close()
    with closing(sqlite3.connect(path)) as newer:
        newer.execute(f"PRAGMA user_version={SCHEMA_VERSION + 1}")
    with pytest.raises(ConfigurationError, match=r"newer jury_adapters .*upgrade"):
        Store(path)
    assert rows(path, "PRAGMA user_version") == [(SCHEMA_VERSION + 1,)]


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
    with pytest.raises(ConfigurationError, match=r"this is no SQLite file; give another path"):
        Store(path)
    assert path.read_text() == "question,answer\n" * 500


def test_a_folder_that_is_missing_is_said(tmp_path):
    with pytest.raises(ConfigurationError, match=r"folder must exist and be writable"):
        Store(tmp_path / "missing" / "runs.db")


def test_an_empty_file_becomes_a_store(path):
    path.touch()
    with Store(path) as store:
        put(store, (KEY, passed()))
        assert store.get(KEY) == passed()


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


# Its life.


@pytest.mark.parametrize("use", [
    lambda store: store.get(KEY), lambda store: list(store.entries()), lambda store: list(store.cases()),
    lambda store: store.count(), lambda store: put(store, (KEY, passed())),
])  # fmt: skip
def test_a_closed_store_says_so(path, use):
    store = Store(path)
    put(store, (KEY, passed()))
    store.close()
    store.close()
    with pytest.raises(ConfigurationError, match=r"is closed; open it again"):
        use(store)


def test_closing_writes_what_is_waiting(path):
    store = Store(path)

    async def many():
        waiting = [asyncio.ensure_future(store.put(key, a_case(), passed())) for key in keys(600)]
        await asyncio.sleep(0)
        await asyncio.to_thread(store.close)
        await asyncio.gather(*waiting)

    asyncio.run(many())
    assert len(rows(path)) == 600


def test_nobody_waits_for_ever_on_a_store_that_is_being_closed(path):
    async def race():
        store = Store(path)
        puts = [asyncio.ensure_future(store.put(keys(1)[0], a_case(), passed())) for _ in range(5)]
        closing_it = asyncio.ensure_future(asyncio.to_thread(store.close))
        async with asyncio.timeout(10):
            results = await asyncio.gather(*puts, closing_it, return_exceptions=True)
        assert all(result is None or isinstance(result, ConfigurationError) for result in results)

    for _ in range(20):
        asyncio.run(race())


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


def test_it_can_be_pickled_open_or_closed(store):
    put(store, (KEY, passed()))
    with pickle.loads(pickle.dumps(store)) as other:
        assert other.get(KEY) == passed()
        assert other.path == store.path


def test_it_says_where_it_is(store, path):
    assert repr(store) == f"Store({str(path)!r})"


def test_it_is_a_journal_for_whoever_asks(store):
    async def ask():
        return passed(reasoning="asked")

    assert asyncio.run(once(KEY, a_case(), store, ask)).reasoning == "asked"
    assert store.get(KEY).reasoning == "asked"


def test_at_the_end_of_the_process_a_store_opened_by_its_path_is_one_file(tmp_path):
    script = """
from jury_adapters import Critic
from jury_adapters.testing import ScriptedModel
critic = Critic("truth", ScriptedModel(["Answer: YES"] * 20), rubric="faithfulness")
rows = [{"question": "?", "answer": str(n), "contexts": ["c"]} for n in range(20)]
assert all(judgment.passed for judgment in critic.judge_many(rows, store="runs.db"))
"""
    subprocess.run([sys.executable, "-c", script], check=True, cwd=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["runs.db"]
    with Store(tmp_path / "runs.db") as store:
        assert store.count() == 20
