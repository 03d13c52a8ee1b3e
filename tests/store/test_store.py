"""Promises of every store, in a file or a database: a judgment that was paid for is kept, and never paid for again."""

import asyncio
import pickle
import subprocess
import sys
import threading
import time

import pytest

from jury_adapters import Case, ConfigurationError, Ensemble, InputError, Judgment, Status
from jury_adapters.core.cache import CacheKey, get_or_run
from jury_adapters.store import Entry, existing_store, open_store
from jury_adapters.testing import a_case, abstained, errored, failed, passed
from tests.support.stores import FULL, KEY, REPLY, calls, critic, keys, put, rows, table


@pytest.fixture
def store(place):
    with place.open() as opened:
        yield opened


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


def test_it_is_durable_before_put_returns(store, place):
    put(store, (KEY, passed()))
    assert rows(place) == 1  # as another process sees it, with the store still open


def test_it_is_served_after_reopening(place):
    with place.open() as store:
        put(store, (KEY, FULL))
    with existing_store(place.address) as store:
        assert store.get(KEY) == FULL


@pytest.mark.parametrize("position", range(4))
def test_every_part_of_the_key_tells_judgments_apart(store, position):
    other = CacheKey(*("other" if at == position else part for at, part in enumerate(KEY)))
    put(store, (KEY, passed()), (other, failed()))
    assert store.get(KEY) == passed()
    assert store.get(other) == failed()


def test_the_first_judgment_under_a_key_stays(store):
    put(store, (KEY, passed()))
    put(store, (KEY, failed()))
    assert store.get(KEY) == passed()
    assert store.count() == 1


def test_errors_are_recorded_and_never_served(store, place):
    for _ in range(2):
        put(store, (KEY, errored()))
    assert (store.get(KEY), store.count(), list(store.entries())) == (None, 0, [])
    assert rows(place, "status = 'ERROR'") == 2
    put(store, (KEY, passed()))
    assert store.get(KEY) == passed()
    assert list(store.entries()) == [Entry(KEY, passed())]


def test_entries_include_errors_on_request(store):
    put(store, (KEY, errored()))
    put(store, (KEY, passed()))
    assert list(store.entries(errors=True)) == [Entry(KEY, errored()), Entry(KEY, passed())]


def test_entries_come_in_the_order_of_recording_with_their_keys(store):
    written = [(key, passed(reasoning=key.case_key)) for key in reversed(list(keys(20)))]
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


def test_cases_are_kept_once_and_without_metadata(store, place):
    case = Case(question="q", answer="a", contexts=["c"], metadata={"secret": "hunter2"})

    async def twice():
        for sample in ("0", "1"):
            await store.put(CacheKey(case.content_hash, "c", "r", sample), case, passed())

    asyncio.run(twice())
    assert dict(store.cases()) == {case.content_hash: Case(question="q", answer="a", contexts=["c"])}
    kept = [place.sql(f"SELECT * FROM {table(place, name)}") for name in ("cases", "judgments")]
    assert case.content_hash in str(kept)
    assert "hunter2" not in str(kept)


@pytest.mark.parametrize("content", ['{"question": ', '{"questoin": "q"}', "[]"])
def test_a_case_that_cannot_be_read_says_where_it_is_and_what_to_do(store, place, content):
    put(store, (KEY, passed()))
    place.sql(f"UPDATE {table(place, 'cases')} SET content = '{content}'")
    with pytest.raises(InputError, match=r"holds a case that cannot be read; it is damaged: restore a copy") as caught:
        list(store.cases())
    assert store.name in str(caught.value)


@pytest.mark.parametrize("content", ['{"status": ', '{"status": "MAYBE"}', "[]"])
def test_a_judgment_that_cannot_be_read_says_where_it_is_and_what_to_do(store, place, content):
    put(store, (KEY, passed()))
    place.sql(f"UPDATE {table(place, 'judgments')} SET judgment = '{content}'")
    for read in (lambda: store.get(KEY), lambda: list(store.entries())):
        with pytest.raises(InputError, match=r"holds a judgment that cannot be read; it is damaged: restore a copy"):
            read()


# In judging.


def test_critics_are_served_from_the_store_also_in_a_later_run(place):
    first, second = critic(), critic()
    paid = list(first.judge_many([a_case()] * 3, store=place.address))
    open_store(place.address).close()
    served = list(second.judge_many([a_case()], store=place.address))
    open_store(place.address).close()
    assert (calls(first), calls(second)) == (1, 0)
    assert served[0].reasoning == paid[0].reasoning == "so it says"
    assert "pa55word" not in repr(paid) + "".join(verdict.to_json() for verdict in paid)


def test_a_verdict_is_handed_out_only_when_its_judgments_are_durable(store, place):
    panel = Ensemble([critic(name="a"), critic(name="b")])
    cases = [a_case(question=str(number)) for number in range(10)]
    with existing_store(place.address) as other:
        for number, _ in enumerate(panel.judge_many(cases, store=store), start=1):
            assert other.count() >= 2 * number


def test_samples_of_a_repeated_critic_are_kept_apart(store):
    juror = critic(REPLY, REPLY.replace("YES", "NO"), REPLY, samples=3)
    (verdict,) = juror.judge_many([a_case()], store=store)
    assert sorted(entry.key.sample for entry in store.entries()) == ["0", "0.1", "0.2"]
    again = critic(samples=3)
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
    renamed = critic(name="juror").named("renamed")
    assert [j.critic for j in renamed.judge_many([a_case()], store=store)] == ["renamed"]
    assert calls(renamed) == 0


def test_an_error_is_asked_again_in_the_next_run(store):
    juror = critic(ValueError("broken"), REPLY)
    assert [j.status for j in juror.judge_many([a_case()], store=store)] == [Status.ERROR]
    assert [j.status for j in juror.judge_many([a_case()], store=store)] == [Status.PASS]


def test_a_critic_may_have_a_store_of_its_own(place):
    first, second = critic(store=place.address), critic(store=place.address)
    assert first.store is second.store
    first.judge(a_case())
    assert second.judge(a_case()).passed
    assert calls(second) == 0
    first.store.close()


def test_a_store_that_fails_while_judging_does_not_lose_the_judgment(store, place, caplog):
    assert store.get(KEY) is None
    place.sql(f"DROP TABLE {table(place, 'cases')}")
    (judgment,) = critic().judge_many([a_case()], store=store)
    assert judgment.passed
    assert store.name in judgment.metadata["store_error"]
    assert "another program has changed" in judgment.metadata["store_error"]
    assert "could not be recorded" in caplog.text


def test_it_is_a_cache_of_judgments(store):
    async def ask():
        return passed(reasoning="asked")

    assert asyncio.run(get_or_run(KEY, a_case(), store, ask)).reasoning == "asked"
    assert store.get(KEY).reasoning == "asked"


# Many at once.


@pytest.mark.slow
def test_what_comes_at_once_is_committed_together(store):
    started = time.monotonic()
    put(store, *((key, passed()) for key in keys(2000)))
    assert time.monotonic() - started < 5  # one commit each would take a disk's sync two thousand times
    assert store.count() == 2000


@pytest.mark.slow
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

    threads = [threading.Thread(target=work, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert store.count() == 130


@pytest.mark.slow
def test_two_processes_open_and_write_at_once_what_neither_finds_ready(place):
    script = """
import asyncio, sys, threading
from jury_adapters.core.cache import CacheKey
from jury_adapters.store import Store, is_url, open_store
from jury_adapters.testing import a_case, passed

def opened():
    if not is_url(sys.argv[1]):
        return Store(sys.argv[1])
    from jury_adapters.store.postgres import PostgresStore
    return PostgresStore(sys.argv[1])

async def main():
    with opened() as store:
        for number in range(60):
            await store.put(CacheKey(str(number), sys.argv[2], "r", "0"), a_case(), passed())
            await store.put(CacheKey(str(number), "both", "r", "0"), a_case(), passed(reasoning=sys.argv[2]))

others = [threading.Thread(target=lambda: opened().close()) for _ in range(6)]
for thread in others:
    thread.start()
asyncio.run(main())
for thread in others:
    thread.join()
"""
    command = [sys.executable, "-c", script, str(place.address)]
    processes = [subprocess.Popen([*command, name], stderr=subprocess.PIPE) for name in ("one", "two")]
    assert [process.communicate(timeout=60)[1].decode() for process in processes] == ["", ""]
    with existing_store(place.address) as store:
        assert store.count() == 180


def test_a_cancelled_put_leaves_the_store_in_order(store):
    async def impatient():
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.001):
                await store.put(KEY, a_case(), passed())

    asyncio.run(impatient())
    put(store, (KEY._replace(sample="1"), passed()))
    assert store.get(KEY) == passed()  # it was on its way, and paid for


# Its life.


def test_there_must_be_a_store_to_read_from(place):
    with pytest.raises(InputError, match=r"there is no (such )?store"):
        existing_store(place.address)
    place.open().close()
    existing_store(place.address).close()


def test_a_store_is_opened_once_per_process(place):
    first = open_store(place.address)
    assert open_store(place.address) is first
    assert open_store(str(place.address)) is first
    assert open_store(first) is first
    first.close()
    again = open_store(place.address)
    assert again is not first
    assert again.get(KEY) is None
    again.close()


@pytest.mark.parametrize("nothing", [3, ["runs.db"], b"runs.db", object()])
def test_what_can_be_no_store_is_refused(nothing):
    with pytest.raises(ConfigurationError, match=r"a store is a path, a URL, or an open store; not "):
        open_store(nothing)


@pytest.mark.slow
def test_after_a_fork_it_is_opened_anew_and_closing_it_there_takes_nothing_from_the_parent(place):
    """In a process of its own: a fork beside the threads of the tests would be none of ours."""
    script = """
import asyncio, logging, os, sys
from jury_adapters import ConfigurationError
from jury_adapters.core.cache import CacheKey
from jury_adapters.store import open_store
from jury_adapters.testing import a_case, passed

logging.basicConfig()  # a connection that was lost on the way would be told of
keys = [CacheKey(str(number), "c", "r", "0") for number in range(2500)]

async def put_all():
    await asyncio.gather(*(store.put(key, a_case(), passed()) for key in keys))

store = open_store(sys.argv[1])
asyncio.run(put_all())
reading = store.entries()
next(reading)  # over a connection of its own
store.get(keys[0])  # over another, which then stands idle
child = os.fork()
if child == 0:
    try:
        store.get(keys[0])
    except ConfigurationError as error:
        assert "was opened before this process was forked" in str(error), error
        store.close()
        again = open_store(sys.argv[1])
        assert again is not store and again.get(keys[0]) == passed()
        again.close()
        os._exit(0)
    os._exit(1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert sum(1 for _ in reading) == len(keys) - 1
assert store.get(keys[0]) == passed()
"""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", script, str(place.address)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


USES = {
    "get": lambda store: store.get(KEY),
    "entries": lambda store: list(store.entries()),
    "cases": lambda store: list(store.cases()),
    "count": lambda store: store.count(),
    "put": lambda store: put(store, (KEY, passed())),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_closed_store_says_so(place, use):
    store = place.open()
    put(store, (KEY, passed()))
    store.close()
    store.close()
    with pytest.raises(ConfigurationError, match=r"is closed; open it again"):
        use(store)


def test_closing_writes_what_is_waiting(place):
    store = place.open()

    async def many():
        waiting = [asyncio.ensure_future(store.put(key, a_case(), passed())) for key in keys(600)]
        await asyncio.sleep(0)
        await asyncio.to_thread(store.close)
        await asyncio.gather(*waiting)

    asyncio.run(many())
    assert rows(place) == 600


def test_closing_twice_at_once_loses_nothing_and_both_wait_until_it_is_closed(place):
    store = place.open()

    async def many():
        waiting = [asyncio.ensure_future(store.put(key, a_case(), passed())) for key in keys(600)]
        await asyncio.sleep(0)
        await asyncio.gather(*(asyncio.to_thread(closed) for _ in range(4)))
        await asyncio.gather(*waiting)

    def closed():
        store.close()
        assert rows(place) == 600

    asyncio.run(many())


def test_nobody_waits_for_ever_on_a_store_that_is_being_closed(place):
    async def race():
        store = place.open()
        puts = [asyncio.ensure_future(store.put(KEY, a_case(), passed())) for _ in range(5)]
        closing_it = asyncio.ensure_future(asyncio.to_thread(store.close))
        async with asyncio.timeout(10):
            results = await asyncio.gather(*puts, closing_it, return_exceptions=True)
        assert all(result is None or isinstance(result, ConfigurationError) for result in results)

    for _ in range(10):
        asyncio.run(race())


def test_it_can_be_pickled_open_or_closed(place, monkeypatch):
    place = place.without_password(monkeypatch)
    with place.open() as store:
        put(store, (KEY, passed()))
        with pickle.loads(pickle.dumps(store)) as other:
            assert other.get(KEY) == passed()
            assert other.name == store.name
    with pickle.loads(pickle.dumps(store)) as other:
        assert other.get(KEY) == passed()
