"""What every store promises, in a file and in a database: what was paid for is kept, and not paid again."""

import asyncio
import json
import threading
import time
from pathlib import Path

import pytest
from fact_tables import run_by
from store_support import CASE, FULL, KEY, Asked, InFile, Place, at_once, get, keys, passed, put, rows, run_python

from jury_adapters.core.case import Case, Image, Message, Step
from jury_adapters.core.context import context, within
from jury_adapters.core.ensemble import Ensemble
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import Judgment, Status, abstain, broken
from jury_adapters.core.store import Key, get_or_ask
from jury_adapters.core.values import ConfigurationError, InputError
from jury_adapters.store import SqlStore, open_store

HOSTILE = {
    "nul": "\x00 a\x00b",
    "lone surrogates": "\ud800 \udfff",
    "emoji": "\U0001f600 é ü 中文 עברית",
    "controls": "\x1b[31m\r\n\t\x7f\u0085\u2028",
    "sql": "'); DROP TABLE jury_judgments; --",
    "placeholders": "? %s %(name)s :a $1 {0}",
    "json": '{"status": "PASS"}\\u0000\\',
    "long": "x" * 500_000,
    "empty": "",
}


# What is put in comes out.


@pytest.mark.parametrize(
    "judgment",
    [
        FULL,
        passed(),
        Judgment(status=Status.FAIL),
        Judgment(status=Status.LABEL, label="KEEP"),
        abstain("no contexts"),
        Judgment(status=Status.PASS, voting="majority", judgments=(FULL, passed("inside")), weights=(1.0, 2.0)),
    ],
    ids=["full", "pass", "fail", "label", "abstain", "jury"],
)
def test_a_judgment_comes_back_as_it_was(store: SqlStore, judgment: Judgment) -> None:
    put(store, (KEY, judgment))
    assert get(store) == judgment


def test_what_was_never_stored_is_none(store: SqlStore) -> None:
    assert get(store) is None
    assert (list(store.judgments()), store.counts()) == ([], {})


@run_by(asyncio.run)
async def test_it_is_durable_when_put_returns(store: SqlStore, place: Place) -> None:
    await store.put(KEY, CASE, passed())
    assert rows(place) == 1  # as another process sees it, with the store still open


def test_it_is_there_after_reopening(place: Place) -> None:
    with open_store(place.address) as store:
        put(store, (KEY, FULL))
    with open_store(place.address) as store:
        assert get(store) == FULL


@pytest.mark.parametrize(
    "other", [KEY._replace(case="other"), KEY._replace(judge="other"), KEY._replace(sample=1)], ids=Key._fields
)
def test_every_part_of_the_key_tells_judgments_apart(store: SqlStore, other: Key) -> None:
    put(store, (KEY, passed("one")), (other, passed("other")))
    assert [get(store, key) for key in (KEY, other)] == [passed("one"), passed("other")]


def test_the_first_judgment_under_a_key_stays(store: SqlStore) -> None:
    put(store, (KEY, passed("first")))
    put(store, (KEY, passed("second")))
    assert get(store) == passed("first")
    assert store.counts() == {"PASS": 1}


def test_an_error_is_refused(store: SqlStore, place: Place) -> None:
    with pytest.raises(ConfigurationError, match="an ERROR is not stored"):
        put(store, (KEY, broken("no")))
    assert rows(place) == 0


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_come_back_as_they_were(store: SqlStore, text: str) -> None:
    case = Case(question=text, answer=text, contexts=[text], steps=[Step(tool=text, arguments={"a": "\x00", "b": 1})])
    judgment = Judgment(status=Status.LABEL, label=text or "x", reasoning=text, model=text, critic=text)
    key = Key("k" + text.replace("\x00", "").encode("utf-8", "replace").decode()[:100], "?", 0)
    put(store, (key, judgment), case=case)
    assert get(store, key) == judgment
    assert list(store.judgments()) == [(key, case, judgment)]


def test_a_text_that_is_no_unicode_is_an_error_of_its_own_judgment_only(store: SqlStore) -> None:
    """Judgments replace lone surrogates; only a copy that is not checked can hold one."""
    odd = passed().model_copy(update={"reasoning": "\ud800"})
    found = at_once(2, lambda number: store.put(KEY._replace(sample=number), CASE, odd if number else passed()))
    assert found[0] is None
    assert isinstance(found[1], ValueError)
    assert get(store) == passed()


def test_a_case_comes_back_whole_but_for_its_metadata(store: SqlStore, place: Place) -> None:
    case = Case(
        question="q",
        answer="a",
        contexts=["c"],
        reference="r",
        candidates=["x", "y"],
        messages=[Message(role="user", content="hi")],
        steps=[Step(tool="t", arguments={"k": [1]}, output="o")],
        images=[Image(data=b"\x00\xff", media_type="image/png")],
        workspace=Path("/work"),
        generator="gpt",
        id="7",
        metadata={"secret": "hunter2"},
    )
    put(store, (KEY, passed()), (KEY._replace(sample=1), passed()), case=case)
    found = [found for _, found, _ in store.judgments()]
    assert found == [case.model_copy(update={"metadata": {}})] * 2
    assert found[0].content_hash == case.content_hash
    assert len(place.sql("SELECT * FROM jury_cases")) == 1
    assert "hunter2" not in str(place.sql("SELECT * FROM jury_cases"))


def test_rows_have_columns_for_other_programs(store: SqlStore, place: Place) -> None:
    put(store, (KEY, FULL), (KEY._replace(sample=1), Judgment(status=Status.LABEL, label="a\x00b\n")))
    query = "SELECT status, label, model, cost_usd FROM jury_judgments ORDER BY sample"
    found = [(status, label, model, float(cost)) for status, label, model, cost in place.sql(query)]
    assert found == [("FAIL", "NO", "m", 0.01), ("LABEL", "a\\u0000b ", "", 0.0)]
    (stored_at,) = place.sql("SELECT min(stored_at) FROM jury_judgments")[0]
    assert abs(float(stored_at) - time.time()) < 60
    (text,) = place.sql("SELECT judgment FROM jury_judgments WHERE sample = 0")[0]
    assert Judgment.model_validate_json(text) == FULL
    assert json.loads(place.sql("SELECT content FROM jury_cases")[0][0])["question"] == "When?"


def test_counts_by_status(store: SqlStore) -> None:
    said = [passed(), passed(), FULL, abstain("no"), Judgment(status=Status.LABEL, label="A")]
    put(store, *zip(keys(5), said, strict=True))
    assert store.counts() == {"PASS": 2, "FAIL": 1, "ABSTAIN": 1, "LABEL": 1}


def test_judgments_come_in_the_order_of_their_keys_over_many_pages(store: SqlStore) -> None:
    written = [(key._replace(sample=sample), passed(key.case)) for key in keys(180) for sample in range(2)]
    put(store, *reversed(written))
    assert [(key, judgment) for key, _, judgment in store.judgments()] == written


def test_judgments_can_be_read_while_others_are_written(store: SqlStore) -> None:
    put(store, *((key, passed()) for key in keys(150)))
    for number, (key, _, _) in enumerate(store.judgments()):
        if number % 10 == 0:
            put(store, (key._replace(judge="before, in the order"), passed()))
    assert store.counts().total() == 165


def test_reading_takes_little_memory(store: SqlStore) -> None:
    """A page is read at a time: the first one does not wait for the others."""
    put(store, *((key, passed()) for key in keys(250)))
    next(iter(store.judgments()))
    queries: list[object] = []
    select, store._select = store._select, lambda *asked: queries.append(asked) or select(*asked)  # type: ignore
    reading = store.judgments()
    for _ in range(150):
        next(reading)
    assert len(queries) == 2


@pytest.mark.parametrize(
    ("table", "column", "content"),
    [
        ("jury_judgments", "judgment", '{"status": '),
        ("jury_judgments", "judgment", '{"status": "MAYBE"}'),
        ("jury_judgments", "judgment", '{"status": "PASS", "secret": "hunter2"}'),
        ("jury_cases", "content", '{"questoin": "hunter2"}'),
        ("jury_cases", "content", "[]"),
    ],
)
def test_a_damaged_row_is_said_in_one_sentence(
    store: SqlStore, place: Place, table: str, column: str, content: str
) -> None:
    put(store, (KEY, passed()))
    place.sql(f"UPDATE {table} SET {column} = '{content}'")
    with pytest.raises(InputError, match=r"^the store .* holds a damaged (Judgment|Case): ") as caught:
        list(store.judgments())
    assert store.name in str(caught.value)
    assert "hunter2" not in str(caught.value)
    if column == "judgment":
        with pytest.raises(InputError, match="holds a damaged Judgment"):
            get(store)


# Nothing is paid twice.


class Paid(Judge):
    """Judge that asks a model by way of the store of the batch."""

    def __init__(self, name: str, asked: Asked) -> None:
        self.name, self._asked = name, asked

    async def assess(self, case: Case) -> Judgment:
        key = Key(case.content_hash, self.fingerprint, context().sample)
        return await get_or_ask(context().store, key, case, self._asked.ask)


def test_a_run_is_served_from_the_store_the_next_time(place: Place) -> None:
    cases = [Case(answer=str(number)) for number in range(20)]
    asked = Asked(FULL.model_copy(update={"label": None, "score": None}))
    jury = Ensemble([Paid("a", asked), Paid("b", asked)])
    for number in range(2):
        with open_store(place.address) as store:
            verdicts = list(jury.judge_many(cases, store=store))
        assert [verdict.status for verdict in verdicts] == [Status.FAIL] * 20
        assert asked.calls == 40
        assert verdicts[0].usage.calls == (2, 0)[number]
        assert verdicts[0].usage.recorded_calls == (0, 2)[number]


def test_a_verdict_is_returned_only_when_its_judgments_are_durable(store: SqlStore, place: Place) -> None:
    jury = Ensemble([Paid("a", Asked()), Paid("b", Asked())])
    cases = [Case(answer=str(number)) for number in range(10)]
    for number, _ in enumerate(jury.judge_many(cases, store=store), start=1):
        assert rows(place) >= 2 * number


def test_equal_questions_at_once_are_asked_once(store: SqlStore) -> None:
    asked = Asked(seconds=0.05)
    found = at_once(50, lambda _: asked(store))
    assert asked.calls == 1
    assert {judgment.reasoning for judgment in found} == {"asked"}
    assert store.counts() == {"PASS": 1}


def test_an_error_is_asked_again(store: SqlStore) -> None:
    failing = Asked(broken("down"))
    assert [asyncio.run(failing(store)).status for _ in range(2)] == [Status.ERROR] * 2
    assert failing.calls == 2
    assert asyncio.run(Asked()(store)).status is Status.PASS


def test_samples_are_kept_apart(store: SqlStore) -> None:
    async def ask(sample: int) -> Judgment:
        with within(sample=sample):
            return await Paid("a", Asked(passed(str(sample)))).ajudge(CASE)

    with within(store=store):
        assert [judgment.reasoning for judgment in at_once(3, ask)] == ["0", "1", "2"]
        assert [judgment.reasoning for judgment in at_once(3, ask)] == ["0", "1", "2"]
    assert sorted(key.sample for key, _, _ in store.judgments()) == [0, 1, 2]


def test_a_judgment_that_cannot_be_stored_is_returned_all_the_same(
    store: SqlStore, place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    put(store, (KEY, passed()))
    place.sql("DROP TABLE jury_cases")
    judgment = asyncio.run(Asked()(store, KEY._replace(sample=1)))
    assert judgment.passed
    assert judgment.metadata["store_error"].startswith(f"ConfigurationError: the store {store.name} cannot be used: ")
    assert "a judgment could not be stored" in caplog.text


# Many at once.


def test_what_comes_at_once_is_committed_together(store: SqlStore) -> None:
    commits: list[int] = []
    commit = store._writes._work
    store._writes._work = lambda items: commits.append(len(items)) or commit(items)  # type: ignore
    put(store, *((key, passed()) for key in keys(2000)))
    assert store.counts() == {"PASS": 2000}
    assert len(commits) <= 20


def test_what_is_looked_for_at_once_is_read_together(store: SqlStore) -> None:
    put(store, (KEY, FULL), *((key, passed(key.case)) for key in keys(600)))
    asked = [KEY, *keys(700), KEY]
    found = at_once(len(asked), lambda number: store.get(asked[number]))
    assert found == [FULL, *(passed(key.case) for key in keys(600)), *[None] * 100, FULL]


def test_many_threads_and_loops_share_one_store(store: SqlStore) -> None:
    problems: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for key in keys(10):
                mine = key._replace(judge=f"thread {number}")
                put(store, (mine, passed(str(number))), (key, passed()))
                assert get(store, mine) == passed(str(number))
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert store.counts() == {"PASS": 130}


def test_a_cancelled_put_is_stored_all_the_same(store: SqlStore) -> None:
    async def impatient() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.0001):
                await store.put(KEY, CASE, passed())

    asyncio.run(impatient())
    put(store, (KEY._replace(sample=1), passed()))
    assert get(store) == passed()  # it was paid for


def test_a_put_that_is_cancelled_while_it_waits_takes_no_other_with_it(store: SqlStore) -> None:
    async def main() -> None:
        store._writes.submit(time.sleep, 0.1)
        puts = [asyncio.ensure_future(store.put(key, CASE, passed())) for key in keys(3)]
        await asyncio.sleep(0)
        puts[0].cancel()
        assert await asyncio.gather(*puts[1:]) == [None, None]

    asyncio.run(main())
    assert store.counts() == {"PASS": 3}


def test_a_loop_that_ends_before_its_judgments_are_stored_loses_none(
    store: SqlStore, caplog: pytest.LogCaptureFixture
) -> None:
    async def leave() -> None:
        left = [asyncio.ensure_future(store.put(key, CASE, passed())) for key in keys(5)]
        await asyncio.sleep(0)
        assert not any(one.done() for one in left)

    asyncio.run(leave())
    put(store, (KEY, passed()))
    assert store.counts() == {"PASS": 6}
    assert caplog.text == ""


def test_processes_open_and_write_at_once_what_neither_finds_ready(place: Place) -> None:
    script = """
import threading
async def main():
    with open_store(sys.argv[1]) as store:
        for key in keys(40):
            await store.put(key._replace(judge=sys.argv[2]), CASE, passed())
            await store.put(key._replace(judge="both"), CASE, passed(sys.argv[2]))
others = [threading.Thread(target=lambda: open_store(sys.argv[1]).close()) for _ in range(4)]
for thread in others:
    thread.start()
asyncio.run(main())
for thread in others:
    thread.join()
"""
    problems: list[BaseException] = []

    def run(name: str) -> None:
        try:
            assert run_python(script, place.address, name) == ""
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=run, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    with open_store(place.address) as store:
        assert store.counts() == {"PASS": 120}


# Its life.


def test_a_fork_has_connections_of_its_own_and_takes_none_from_the_parent(place: Place) -> None:
    """In a process of its own: a fork beside the threads of the tests would be none of ours."""
    script = """
import logging, threading
logging.basicConfig()
store = open_store(sys.argv[1])
put(store, *((key, passed()) for key in keys(300)))
assert get(store, KEY) is None
busy = [threading.Thread(target=lambda: put(store, *((key._replace(sample=1), passed()) for key in keys(300))))]
busy[0].start()
reading = store.judgments()
next(reading)
child = os.fork()
if child == 0:
    code = 1
    try:
        assert get(store, KEY._replace(case="case 000000")) == passed()
        put(store, (KEY, FULL))
        assert get(store) == FULL
        store.close()
        code = 0
    finally:
        sys.stdout.flush()
        sys.exit(code)
busy[0].join()
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert sum(1 for _ in reading) >= 300
assert get(store) == FULL
put(store, (KEY._replace(sample=5), passed()))
store.close()
print(open_store(sys.argv[1]).counts().total())
"""
    assert run_python(script, place.address) == "602\n"


USES = {
    "get": get,
    "put": lambda store: put(store, (KEY, passed())),
    "judgments": lambda store: list(store.judgments()),
    "counts": lambda store: store.counts(),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_closed_store_says_so(place: Place, use: object) -> None:
    store = open_store(place.address)
    put(store, (KEY, passed()))
    store.close()
    store.close()
    with pytest.raises(ConfigurationError, match=r"^the store .* is closed; open it again$"):
        use(store)  # type: ignore[operator]


def test_closing_finishes_what_is_being_stored(place: Place) -> None:
    store = open_store(place.address)

    async def many() -> None:
        waiting = [asyncio.ensure_future(store.put(key, CASE, passed())) for key in keys(600)]
        await asyncio.sleep(0)
        await asyncio.gather(*(asyncio.to_thread(store.close) for _ in range(3)))
        await asyncio.gather(*waiting)

    asyncio.run(many())
    assert rows(place) == 600


def test_nothing_waits_for_ever_on_a_store_that_is_being_closed(place: Place) -> None:
    async def race() -> None:
        store = open_store(place.address)
        puts = [asyncio.ensure_future(store.put(KEY, CASE, passed())) for _ in range(5)]
        closing = asyncio.ensure_future(asyncio.to_thread(store.close))
        async with asyncio.timeout(10):
            results = await asyncio.gather(*puts, closing, return_exceptions=True)
        assert all(result is None or isinstance(result, ConfigurationError) for result in results)

    for _ in range(5):
        asyncio.run(race())


def test_the_end_of_the_process_loses_nothing_and_closes_the_store(place: Place) -> None:
    script = """
store = open_store(sys.argv[1])
async def main():
    for key in keys(50):
        asyncio.ensure_future(store.put(key, CASE, passed()))
    await asyncio.sleep(0)
asyncio.run(main())
"""
    assert run_python(script, place.address) == ""
    assert rows(place) == 50
    if isinstance(place, InFile):
        path = Path(place.address)
        assert [*path.parent.iterdir()] == [path]  # without a log beside it, so easy to copy
