"""Batches: order, bad rows, sources that raise or are slow, the window, concurrency, and what applies inside."""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Mapping
from contextvars import ContextVar, copy_context
from itertools import count, islice

import pytest
from fact_tables import each_row, run_by
from running import (
    EACH_ORDER,
    EACH_WAY,
    Gauge,
    Memory,
    all_ends,
    asynchronous,
    asynchronously,
    cases,
    in_threads,
    passes,
    synchronously,
    until,
)

from jury_adapters import Budget, Case, Check, ConfigurationError, Ensemble, Judge, Status, judge
from jury_adapters.core.context import context

PASS, FAIL, ERROR = Status.PASS, Status.FAIL, Status.ERROR


def questions(pairs):
    return [case.question for case, _ in pairs]


# Order


@EACH_WAY
def test_judgments_come_in_the_order_of_the_cases(many):
    rows = [{"question": str(n), "metadata": {"seconds": (9 - n) * 0.002}} for n in range(10)]
    found = list(many(judge(Gauge()), rows))
    assert questions(found) == [judgment.reasoning for _, judgment in found] == [str(n) for n in range(10)]


@EACH_WAY
def test_unordered_judgments_come_as_they_finish(many):
    release = threading.Event()

    async def the_first_waits(case):
        while case.question == "0" and not release.is_set():
            await asyncio.sleep(0.001)
        return True

    batch = many(judge(the_first_waits), ["0", "1", "2"], ordered=False)
    assert {next(batch)[0].question, next(batch)[0].question} == {"1", "2"}
    release.set()
    assert questions(batch) == ["0"]


@EACH_WAY
@EACH_ORDER
def test_every_case_comes_once_whatever_the_order(many, ordered):
    rows = [Case(question=str(n), metadata={"seconds": n * 7 % 5 * 0.001}) for n in range(60)]
    found = questions(many(judge(Gauge()), rows, ordered=ordered, max_concurrency=7))
    assert Counter(found) == Counter(map(str, range(60)))
    assert not ordered or found == sorted(found, key=int)


@EACH_WAY
@EACH_ORDER
def test_an_empty_source_gives_nothing(many, ordered):
    assert list(many(judge(passes), [], ordered=ordered)) == []


@EACH_WAY
def test_judgments_say_which_case_they_are_of(many):
    row = {"question": "q", "id": "r-1", "metadata": {"split": "dev"}, "generator": "gpt-4o"}
    ((case, judgment),) = many(judge(passes), [row])
    assert (case.id, case.question) == ("r-1", "q")
    assert (judgment.case_id, judgment.case_metadata, judgment.generator) == ("r-1", {"split": "dev"}, "gpt-4o")


def test_5000_cases_are_judged_in_one_batch():
    """And ``judge_many`` yields the judgments of ``judge_pairs``, with a bad row in its place."""

    class Even(Check):
        def check(self, case):
            return int(case.question) % 2 == 0

    async def collected():
        return [one.status async for one in Even().ajudge_many([{"bad": 1}, *map(str, range(5000))])]

    found = [one.status for one in Even().judge_many([{"bad": 1}, *map(str, range(5000))])]
    assert found == asyncio.run(collected()) == [ERROR, *[PASS, FAIL] * 2500]


# Bad rows


BAD_ROWS = [
    ({"unknown": 1}, None),
    ({"unknown": 1, "id": "r-7"}, "r-7"),
    ({"unknown": 1, "id": 7}, "7"),
    ({"unknown": 1, "id": ["r"]}, None),
    ({"question": "q", "query": "two names of one field", "id": "r-8"}, "r-8"),
    ({"question": 5}, None),
    ({}, None),
    (None, None),
    (5, None),
    (b"bytes", None),
    (["a list"], None),
]
"""Rows that make no case, with the id of the judgment."""


@EACH_WAY
@EACH_ORDER
def test_a_bad_row_is_an_error_in_its_place_and_the_others_are_judged(many, ordered):
    """Trap 14."""
    rows = [one for number, (bad, _) in enumerate(BAD_ROWS) for one in (str(number), bad)]
    right = [row for number, (_, name) in enumerate(BAD_ROWS) for row in ((str(number), PASS), (name, ERROR))]
    found = [
        (judgment.case_id if case is None else judgment.reasoning, judgment.status)
        for case, judgment in many(judge(Gauge()), rows, ordered=ordered)
    ]
    assert found == right if ordered else sorted(found, key=str) == sorted(right, key=str)


class Unreadable(Mapping):
    """Row that raises when it is read, as a lazy row of a damaged file does."""

    def __getitem__(self, name):
        raise OSError("the file is damaged")

    def __iter__(self):
        raise OSError("the file is damaged")

    def __len__(self):
        return 1


@EACH_WAY
def test_a_row_that_raises_when_it_is_read_is_a_bad_row(many):
    before, bad, after = (judgment for _, judgment in many(judge(passes), ["a", Unreadable(), "b"]))
    assert (before.status, bad.status, after.status) == (PASS, ERROR, PASS)
    assert "the file is damaged" in bad.error


def test_the_error_of_a_bad_row_names_the_field_and_not_the_value():
    (judgment,) = judge(passes).judge_many([{"question": "q", "colour": "secret value"}])
    assert "colour" in judgment.error
    assert "secret value" not in judgment.error


FRAME = type("Frame", (), {"columns": ["question"], "__iter__": lambda self: iter(self.columns)})()


@each_row("one", ["a question", Case(question="q"), {"question": "q"}, FRAME], ids=type)
@each_row("many", [synchronously, asynchronously])
def test_one_case_or_a_data_frame_is_not_taken_for_many_cases(many, one):
    with pytest.raises(ConfigurationError, match="many cases"):
        next(many(judge(passes), one))


# Sources that raise


class Breaking:
    """Iterator that raises after some rows."""

    def __init__(self, rows, error):
        self.rows, self.error = iter(rows), error

    def __iter__(self):
        return self

    def __next__(self):
        for row in self.rows:
            return row
        raise self.error

    def generator(self):
        yield from self


def kept(batch, found):
    found.extend(judgment.reasoning for _, judgment in batch)


@EACH_WAY
@EACH_ORDER
@pytest.mark.parametrize("source", [lambda one: one, Breaking.generator], ids=["iterator", "generator"])
def test_a_source_that_raises_does_so_after_all_that_is_in_flight_is_delivered(many, ordered, source):
    """Trap 14."""
    for number in (0, 1, 50):
        found = []
        batch = many(judge(Gauge()), source(Breaking(cases(number), OSError("disk gone"))), ordered=ordered)
        with pytest.raises(OSError, match="disk gone"):
            kept(batch, found)
        assert sorted(found, key=int) == [str(n) for n in range(number)]
        assert list(batch) == []


@EACH_WAY
def test_slow_cases_are_finished_before_the_error_of_the_source_is_raised(many):
    gauge, found = Gauge(), []
    with pytest.raises(OSError, match="disk gone"):
        kept(many(judge(gauge), Breaking(cases(6, 0.1), OSError("disk gone"))), found)
    assert len(found) == gauge.finished == 6


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_an_interrupt_of_the_source_cancels_what_is_in_flight(interrupt):
    gauge, found = Gauge(), []
    with pytest.raises(interrupt):
        kept(judge(gauge).judge_pairs(Breaking(cases(6, 60), interrupt())), found)
    assert all_ends(gauge)
    assert (found, gauge.finished) == ([], 0)


@run_by(asyncio.run)
async def test_a_source_that_raises_while_nothing_is_judged_raises_in_the_caller():
    async def source():
        yield "one"
        await asyncio.sleep(0.01)
        raise OSError("line gone")

    batch = judge(passes).ajudge_many(source())
    assert (await anext(batch)).passed
    with pytest.raises(OSError, match="line gone"):
        await anext(batch)
    assert asyncio.all_tasks() == {asyncio.current_task()}


# Slow sources


@EACH_ORDER
@run_by(asyncio.run)
async def test_a_slow_asynchronous_source_does_not_hold_up_what_is_judged(ordered):
    """Trap 14. This source makes its next case of the last judgment."""
    heard, found = asyncio.Event(), []

    async def source():
        yield "one"
        async with asyncio.timeout(30):  # which finds its task also across the yield
            await heard.wait()
            yield {"unknown": "field"}
            yield "two"

    async for judgment in judge(Gauge()).ajudge_many(source(), ordered=ordered):
        found.append(judgment.status)
        heard.set()
    assert sorted(found) == [ERROR, PASS, PASS]


@EACH_ORDER
def test_a_slow_synchronous_source_does_not_hold_up_what_is_judged(ordered):
    """Trap 14. Each row comes when the one before is judged; the window alone would let 60 be read."""
    judged, read = [], []

    async def notes(case):
        judged.append(case)
        return True

    def source():
        for number in range(60):
            assert until(lambda number=number: len(judged) >= number)
            time.sleep(0.005)
            read.append(number)
            yield str(number)

    ahead = [len(read) - n for n, _ in enumerate(judge(notes).judge_pairs(source(), ordered=ordered), start=1)]
    assert max(ahead) <= 20


@EACH_ORDER
@run_by(asyncio.run)
async def test_a_synchronous_source_does_not_hold_up_asynchronous_code(ordered):
    """The loop goes on between two rows: 60 fit into the window, but what is judged comes before the last is read."""

    read, lags = [], []
    async for _ in judge(Gauge()).ajudge_many((read.append(n) or str(n) for n in range(60)), ordered=ordered):
        lags.append(len(read) - len(lags))
    assert max(lags) <= 45


# The window


@EACH_WAY
@EACH_ORDER
@pytest.mark.parametrize("limit", [1, 3])
def test_an_endless_source_is_read_only_as_fast_as_it_is_judged(many, ordered, limit):
    read = []
    endless = (read.append(number) or str(number) for number in count())
    batch = many(judge(Gauge()), endless, ordered=ordered, max_concurrency=limit)
    ahead = [len(read) - taken for taken, _ in enumerate(islice(batch, 50), start=1)]
    batch.close()
    assert max(ahead) <= 4 * limit + 1


@EACH_ORDER
@run_by(asyncio.run)
async def test_a_slow_consumer_is_not_run_ahead_of(ordered):
    read, ahead = [], []
    endless = (read.append(number) or str(number) for number in count())
    batch = judge(Gauge()).ajudge_many(asynchronous(endless), max_concurrency=2, ordered=ordered)
    while len(ahead) < 12:
        await anext(batch)
        await asyncio.sleep(0.01)
        ahead.append(len(read) - len(ahead) - 1)
    await batch.aclose()
    assert max(ahead) <= 9


@EACH_WAY
def test_a_slow_case_holds_up_the_others_only_beyond_the_window(many):
    """Two at once make a window of eight: seven pass the slow first case, which then lets go."""
    finished = []

    async def the_first_waits(case):
        end = time.monotonic() + 30
        while case.question == "0" and len(finished) < 7 and time.monotonic() < end:
            await asyncio.sleep(0.001)
        finished.append(case.question)
        return True

    found = questions(many(judge(the_first_waits), map(str, range(30)), max_concurrency=2))
    assert found == [str(number) for number in range(30)]
    assert finished.index("0") == 7


def test_cases_are_read_in_the_thread_of_the_caller():
    """Trap 14."""
    readers = set()

    def rows():
        for number in range(20):
            readers.add(threading.current_thread())
            yield str(number)

    assert len(list(judge(passes).judge_many(rows()))) == 20
    assert readers == {threading.current_thread()}


def test_nothing_is_read_before_the_first_judgment_is_asked_for():
    read = []
    rows = (read.append(row) or row for row in "a")
    batches = judge(passes).judge_many(rows), judge(passes).ajudge_many(rows)
    assert read == []
    batches[0].close()


# Concurrency


@EACH_WAY
@pytest.mark.parametrize(("limit", "ordered"), [(1, True), (3, False), (8, True)])
def test_as_many_cases_are_judged_at_once_as_allowed_and_no_more(many, limit, ordered):
    gauge, together = Gauge(), threading.Barrier(limit)
    both = Ensemble([judge(gauge), judge(lambda case: together.wait(30) >= 0)])
    found = many(both, cases(3 * limit), ordered=ordered, max_concurrency=limit)
    assert {judgment.status for _, judgment in found} == {PASS}
    assert gauge.most <= limit


@EACH_WAY
def test_by_default_32_cases_are_judged_at_once(many):
    gauge = Gauge()
    assert len(list(many(judge(gauge), cases(70, 0.05)))) == 70
    assert gauge.most == 32


@each_row(
    ("name", "value", "error"),
    [
        ("concurrency", 3, TypeError),
        *(("max_concurrency", limit, ConfigurationError) for limit in (0, -1, True, 1.5, "4", float("inf"))),
        ("store", "runs.db", ConfigurationError),
        ("budget", 2, ConfigurationError),
    ],
)
@each_row("many", [Judge.judge_many, Judge.ajudge_pairs])
def test_a_misspelt_option_or_limit_is_refused_before_anything_is_read(many, name, value, error):
    """The limit of cases at once is a whole number from 1."""
    with pytest.raises(error, match=name):
        many(judge(passes), ["a"], **{name: value})


def test_two_batches_run_at_once_in_two_threads():
    """One case of each waits for one of the other."""
    together = threading.Barrier(2)
    meets = judge(lambda case: (together.wait(30) >= 0, case.question))

    def batch(name):
        return [one.reasoning for one in meets.judge_many([f"{name}{n}" for n in range(20)], max_concurrency=1)]

    found = in_threads(lambda: batch("a"), lambda: batch("b"))
    assert found == [[f"{name}{n}" for n in range(20)] for name in "ab"]


def test_a_batch_reads_its_cases_from_another_batch():
    longer = judge(lambda case: len(case.question) > 1)
    rows = (case for case, judgment in longer.judge_pairs(map(str, range(200))) if judgment.passed)
    assert questions(judge(Gauge()).judge_pairs(rows)) == [str(number) for number in range(10, 200)]


@run_by(asyncio.run)
async def test_synchronous_judging_works_while_a_loop_runs_as_in_a_notebook():
    jury = Ensemble([judge(Gauge()), passes])
    found = [jury.judge("q"), *jury.judge_many(["a", {"bad": 1}, "b"]), await jury.ajudge("q")]
    assert [judgment.status for judgment in found] == [PASS, PASS, ERROR, PASS, PASS]


# What applies inside

CALLER = ContextVar("caller", default="nobody")


class Seen(Judge):
    """Judge that notes what it sees of the caller."""

    def __init__(self):
        self._seen = []

    def note(self):
        here = context()
        self._seen.append((here.store, here.budget, here.judging, CALLER.get()))
        return True


class SeenOnTheLoop(Seen):
    async def assess(self, case):
        await asyncio.sleep(0)
        return self.note()


class SeenInAThread(Seen):
    def assess(self, case):
        return self.note()


class SeenInNestedThreads(Seen):
    def assess(self, case):
        return judge(lambda case: judge(lambda case: self.note()).judge(case).passed).judge(case).passed


@EACH_WAY
@pytest.mark.parametrize("kind", [SeenOnTheLoop, SeenInAThread, SeenInNestedThreads])
def test_store_budget_and_the_callers_context_reach_every_judge(many, kind):
    """Trap 15: also judges in threads, and what they ask themselves."""
    store, budget, seen = Memory(), Budget(max_calls=5), kind()

    def caller():
        CALLER.set("me")
        return list(many(Ensemble([seen, passes]), ["a", "b"], store=store, budget=budget))

    assert [judgment.status for _, judgment in copy_context().run(caller)] == [PASS, PASS]
    assert seen._seen == [(store, budget, False, "me")] * 2


def test_a_batch_inside_a_judge_has_the_store_and_the_budget_of_the_batch_around_it():
    store, budget, seen = Memory(), Budget(max_calls=5), SeenOnTheLoop()
    asks_many = judge(lambda case: len(list(seen.judge_many(["a", "b"]))) == 2)
    assert next(asks_many.judge_many(["q"], store=store, budget=budget)).passed
    assert seen._seen == [(store, budget, False, "nobody")] * 2
