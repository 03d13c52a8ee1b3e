"""judge_many: in order or not, bounded, lazy, and nothing left behind when it is closed."""

import asyncio
import itertools
import threading
import time
import tracemalloc

import pytest
from support.garbage import collect_garbage
from support.proportion import assert_proportional
from support.vendor import Act

from jury_adapters import (
    CascadedJury,
    Case,
    ConfigurationError,
    Critic,
    Ensemble,
    PairwiseCritic,
    Status,
    Tier,
    Verdict,
    judge,
)
from jury_adapters.core import event_loop
from jury_adapters.core.batch import Judged, astream, stream
from jury_adapters.core.concurrency import default_concurrency
from jury_adapters.decision import DecisionCritic
from jury_adapters.judges.llm import correctness
from jury_adapters.testing import ScriptedModel
from jury_adapters.voting import all_of


class Gauge:
    """An asynchronous judge that knows how often it runs at once; a case's metadata says for how long."""

    def __init__(self):
        self.now = self.most = self.started = self.finished = self.cancelled = 0

    async def __call__(self, case):
        self.now += 1
        self.started += 1
        self.most = max(self.most, self.now)
        try:
            await asyncio.sleep(case.metadata.get("seconds", 0.001))
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.now -= 1
        self.finished += 1
        return True, case.question


plain = judge(lambda case: (True, case.question))


async def _waits(case):
    await asyncio.sleep(0)
    return True, case.question


waiting = judge(_waits)
BOTH = pytest.mark.parametrize("maker", [plain, waiting], ids=["plain", "async"])


def cases(count, **metadata):
    return [Case(question=str(i), metadata=metadata) for i in range(count)]


def collected(judge_, rows, **options):
    """The same batch through the asynchronous interface."""

    async def main():
        return [judgment async for judgment in judge_.ajudge_many(rows, **options)]

    return asyncio.run(main())


def settles(condition, seconds=60.0):
    deadline = time.perf_counter() + seconds
    while not condition() and time.perf_counter() < deadline:
        time.sleep(0.005)
    return condition()


def tasks_on_the_portal():
    async def others():
        return len(asyncio.all_tasks()) - 1

    return event_loop.run(others)


@BOTH
def test_judgments_come_in_the_order_of_the_cases(maker):
    wanted = [str(i) for i in range(200)]
    assert [j.reasoning for j in maker.judge_many(wanted)] == wanted
    assert [j.reasoning for j in collected(maker, wanted)] == wanted


@BOTH
def test_unordered_all_come_exactly_once(maker):
    wanted = sorted(str(i) for i in range(200))
    assert sorted(j.reasoning for j in maker.judge_many(wanted, ordered=False)) == wanted
    assert sorted(j.reasoning for j in collected(maker, wanted, ordered=False)) == wanted


def slow_first():
    return [Case(question=str(i), metadata={"seconds": 0.3 if i == 0 else 0.001}) for i in range(6)]


@pytest.mark.parametrize("ask", [lambda j, c, **o: list(j.judge_many(c, **o)), collected], ids=["sync", "async"])
def test_a_slow_case_holds_up_the_order_and_nothing_else(ask):
    assert [j.reasoning for j in ask(judge(Gauge()), slow_first(), ordered=True)] == list("012345")
    found = [j.reasoning for j in ask(judge(Gauge()), slow_first(), ordered=False)]
    assert found[-1] == "0"
    assert sorted(found) == list("012345")


@pytest.mark.parametrize("limit", [1, 3, 8])
@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("ask", [lambda j, c, **o: list(j.judge_many(c, **o)), collected], ids=["sync", "async"])
def test_as_many_are_in_flight_as_allowed_and_never_more(ask, ordered, limit):
    gauge = Gauge()
    assert len(ask(judge(gauge), cases(40), max_concurrency=limit, ordered=ordered)) == 40
    assert gauge.most == limit


@pytest.mark.parametrize("limit", [0, -1, 1.5, True, "4"])
def test_the_limit_is_a_whole_number_from_1(limit):
    with pytest.raises(ConfigurationError, match="max_concurrency"):
        list(plain.judge_many(["a"], max_concurrency=limit))
    with pytest.raises(ConfigurationError, match="max_concurrency"):
        collected(plain, ["a"], max_concurrency=limit)


def test_unknown_options_are_refused_before_anything_is_judged():
    asked = []
    with pytest.raises(ConfigurationError, match="concurrency"):
        list(judge(lambda case: asked.append(1) or True).judge_many(["a"], concurrency=4))
    assert asked == []


def counted(rows, taken):
    for row in rows:
        taken.append(row)
        yield row


@BOTH
def test_cases_are_read_only_as_fast_as_they_are_judged(maker):
    taken = []
    endless = counted(map(str, itertools.count()), taken)
    found = list(itertools.islice(maker.judge_many(endless, max_concurrency=4), 10))
    assert [j.reasoning for j in found] == [str(i) for i in range(10)]
    assert len(taken) <= 10 + 4 * 4


def test_a_plain_judge_reads_one_case_at_a_time():
    taken = []
    batch = plain.judge_many(counted(map(str, itertools.count()), taken))
    assert taken == []
    next(batch)
    assert taken == ["0"]


@pytest.mark.slow
@pytest.mark.parametrize("ordered", [True, False])
def test_a_slow_head_lets_the_others_run_ahead_only_to_a_bound(ordered):
    gauge, taken = Gauge(), []
    rows = counted([Case(question="head", metadata={"seconds": 0.5}), *cases(500)], taken)
    batch = judge(gauge).judge_many(rows, max_concurrency=4, ordered=ordered)
    first = next(batch)
    assert first.reasoning == ("head" if ordered else "0")
    assert len(taken) <= 16 * 4 + 1
    assert len(list(batch)) == 500
    assert gauge.finished == 501


@pytest.mark.parametrize("ask", [lambda j, c, **o: list(j.judge_many(c, **o)), collected], ids=["sync", "async"])
def test_a_batch_goes_on_when_the_last_case_of_a_full_window_was_its_head(ask):
    """All others have run ahead as far as they may, and nothing is in flight when the head has ended."""
    gauge = Gauge()
    rows = [Case(question="head", metadata={"seconds": 0.5}), *cases(100)]
    found = []
    thread = threading.Thread(target=lambda: found.extend(ask(judge(gauge), rows, max_concurrency=4)), daemon=True)
    thread.start()
    thread.join(30)
    assert len(found) == 101


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_cases():
    def peak(count):
        collect_garbage()
        tracemalloc.start()
        for _ in waiting.judge_many(("x" * 5000 + str(i) for i in range(count)), max_concurrency=4):
            pass
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return top

    peak(50)
    most = peak(100) + 1_000_000
    # 500 cases more are 2.5 MB of text alone. A table of the interpreter may double in one of the runs, by megabytes.
    assert any(peak(600) < most for _ in range(3))


BAD = [None, 5, {"quest": 1}, {"question": 5}, {"question": "q", "metadata": 5}, {1: 2}, ["a"], b"x", {}, float("nan")]


class Grumpy:
    def __str__(self):
        raise RuntimeError("no")


CYCLE = {}
CYCLE["self"] = CYCLE


@BOTH
@pytest.mark.parametrize(
    "bad", [*BAD, {"question": "q", "metadata": CYCLE}, {Grumpy(): 1}], ids=lambda bad: repr(type(bad))
)
def test_a_bad_row_is_an_error_and_the_others_are_judged(maker, bad):
    for found in (list(maker.judge_many(["a", bad, "b"])), collected(maker, ["a", bad, "b"])):
        assert [j.status for j in found] == ["PASS", "ERROR", "PASS"]
        assert found[1].reasoning.startswith("this row is not a case")
        assert [found[0].reasoning, found[2].reasoning] == ["a", "b"]


def test_a_bad_row_is_told_in_our_words_and_not_in_pydantics():
    told = [judgment.reasoning for judgment in plain.judge_many([{"answr": "b"}, {"answer": 3, "contexts": [1]}])]
    assert told[0].startswith("this row is not a case: unknown field 'answr'. Did you mean 'answer'? Known: ")
    assert told[1].startswith(
        "this row is not a case: answer: expected text, not int; Case.from_row() converts loose rows"
    )
    assert "; contexts.0: expected text, not int" in told[1]
    assert not any(word in text for text in told for word in ("pydantic", "validation error", "input_value"))


@BOTH
@pytest.mark.parametrize("one", [{"answer": "a"}, "question", b"x", Case(answer="a")], ids=lambda one: repr(type(one)))
def test_one_case_is_not_taken_for_many(maker, one):
    for ask in (lambda: list(maker.judge_many(one)), lambda: collected(maker, one)):
        with pytest.raises(ConfigurationError, match=r"for one use judge\(\)"):
            ask()


def test_a_bad_row_has_no_case_and_its_place():
    rows = ["a", {"quest": 1}, "b"]
    items = list(stream(plain, rows))
    assert [(item.index, item.case and item.case.question) for item in items] == [(0, "a"), (1, None), (2, "b")]
    assert all(isinstance(item, Judged) for item in items)

    async def main():
        return [item async for item in astream(waiting, rows)]

    assert [(item.index, item.case and item.case.question) for item in asyncio.run(main())] == [
        (0, "a"),
        (1, None),
        (2, "b"),
    ]


@BOTH
@pytest.mark.parametrize("ordered", [True, False])
def test_progress_counts_every_case_once(maker, ordered):
    for run in (lambda **o: list(maker.judge_many(["a", {"bad": 1}, "b", "c"], **o)),
                lambda **o: collected(maker, ["a", {"bad": 1}, "b", "c"], **o)):  # fmt: skip
        counts = []
        assert len(run(progress=counts.append, ordered=ordered)) == 4
        assert counts == [1, 2, 3, 4]


def test_nothing_to_judge_gives_nothing():
    for rows in ([], iter(()), ()):
        assert list(waiting.judge_many(rows)) == []
    assert collected(waiting, []) == []


def kept(batch, delivered):
    """Take what the batch hands out into the list, so that it is there whatever happens later."""
    for judgment in batch:
        delivered += [judgment]


def interrupt_at(n):
    def progress(done):
        if done == n:
            raise KeyboardInterrupt

    return progress


@pytest.mark.parametrize("ordered", [True, False])
def test_ctrl_c_cancels_what_is_in_flight_keeps_what_was_delivered_and_leaves_no_task(ordered):
    gauge = Gauge()
    rows = [Case(question=str(i), metadata={"seconds": 0.001 if i < 5 else 30}) for i in range(40)]
    batch = judge(gauge).judge_many(rows, max_concurrency=8, ordered=ordered, progress=interrupt_at(4))
    delivered = []
    with pytest.raises(KeyboardInterrupt):
        kept(batch, delivered)
    assert len(delivered) <= 4
    assert all(judgment.passed for judgment in delivered)
    assert settles(lambda: gauge.now == 0 and tasks_on_the_portal() == 0)
    assert gauge.started == gauge.finished + gauge.cancelled <= 4 + 8 + 4
    assert waiting.judge("afterwards").passed


def test_ctrl_c_in_asynchronous_code_waits_until_what_was_in_flight_is_cancelled():
    gauge = Gauge()

    async def main():
        rows = [Case(question=str(i), metadata={"seconds": 0.001 if i < 3 else 30}) for i in range(20)]
        try:
            async for _ in judge(gauge).ajudge_many(rows, max_concurrency=5, progress=interrupt_at(2)):
                pass
        except KeyboardInterrupt:
            return len(asyncio.all_tasks())

    assert asyncio.run(main()) == 1
    assert gauge.now == 0
    assert gauge.cancelled > 0


@pytest.mark.parametrize("error", [KeyboardInterrupt, GeneratorExit])
def test_an_interrupt_of_a_judge_ends_the_batch_and_cancels_the_rest(error):
    gauge = Gauge()

    async def breaks(case):
        if case.question == "2":
            await asyncio.sleep(0.01)
            raise error
        return await gauge(case)

    rows = cases(20, seconds=60)
    with pytest.raises((error, RuntimeError)):  # a generator turns GeneratorExit of its body into the end or an error
        list(judge(breaks).judge_many(rows, max_concurrency=4))
    assert gauge.finished == 0
    assert settles(lambda: gauge.now == 0 and tasks_on_the_portal() == 0)


def test_closing_early_cancels_what_is_in_flight():
    gauge = Gauge()
    rows = [Case(question=str(i), metadata={"seconds": 0.001 if i == 0 else 30}) for i in range(100)]
    batch = judge(gauge).judge_many(rows, max_concurrency=4)
    assert next(batch).reasoning == "0"
    batch.close()
    assert settles(lambda: gauge.now == 0 and tasks_on_the_portal() == 0)
    assert gauge.started <= 6


def test_breaking_out_of_an_asynchronous_batch_cancels_what_is_in_flight_and_warns_of_nothing(recwarn):
    gauge = Gauge()

    async def main():
        rows = [Case(question=str(i), metadata={"seconds": 0.001 if i == 0 else 30}) for i in range(100)]
        batch = judge(gauge).ajudge_many(rows, max_concurrency=4)
        assert (await anext(batch)).reasoning == "0"
        await batch.aclose()
        return len(asyncio.all_tasks())

    assert asyncio.run(main()) == 1
    assert gauge.now == 0
    collect_garbage()
    assert [str(warning.message) for warning in recwarn] == []


@pytest.mark.parametrize("ordered", [True, False])
def test_closing_before_anything_has_started_warns_of_nothing(recwarn, ordered):
    async def main():
        batch = astream(waiting, [{"bad": 1}, "a", "b"], ordered=ordered)
        assert (await anext(batch)).judgment.status is Status.ERROR
        await batch.aclose()

    asyncio.run(main())
    batch = waiting.judge_many([{"bad": 1}, "a", "b"], ordered=ordered)
    next(batch)
    batch.close()
    assert settles(lambda: tasks_on_the_portal() == 0)
    collect_garbage()
    assert [str(warning.message) for warning in recwarn] == []


class Breaking:
    """A source that raises after some rows; as an iterator, a generator, or asynchronous."""

    def __init__(self, count, error, **metadata):
        self._rows = iter(cases(count, **metadata))
        self._error = error

    def __iter__(self):
        return self

    def __next__(self):
        for row in self._rows:
            return row
        raise self._error

    def generator(self):
        yield from self

    async def asynchronous(self):
        for row in self:
            await asyncio.sleep(0)
            yield row


SOURCES = [lambda source: source, Breaking.generator, Breaking.asynchronous]


def drain(maker, rows, found, **options):
    """Judge all rows of any source into the list."""
    if not hasattr(rows, "__aiter__"):
        kept(maker.judge_many(rows, **options), found)
        return
    adrain(maker, rows, found, **options)


def adrain(maker, rows, found, **options):
    async def main():
        async for judgment in maker.ajudge_many(rows, **options):
            found.append(judgment)

    asyncio.run(main())


@BOTH
@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("how", [drain, adrain], ids=["sync", "async"])
@pytest.mark.parametrize("source", SOURCES, ids=["iterator", "generator", "asynchronous"])
def test_a_source_that_raises_does_so_after_all_cases_in_flight_are_delivered(maker, ordered, how, source):
    found = []
    with pytest.raises(OSError, match="disk gone"):
        how(maker, source(Breaking(50, OSError("disk gone"))), found, max_concurrency=16, ordered=ordered)
    assert sorted(int(judgment.reasoning) for judgment in found) == list(range(50))
    if ordered:
        assert [judgment.reasoning for judgment in found] == [str(number) for number in range(50)]
    assert settles(lambda: tasks_on_the_portal() == 0)


@pytest.mark.parametrize("how", [drain, adrain], ids=["sync", "async"])
@pytest.mark.parametrize("source", SOURCES, ids=["iterator", "generator", "asynchronous"])
def test_slow_cases_are_finished_before_the_source_s_error_is_raised(how, source):
    gauge, found = Gauge(), []
    with pytest.raises(OSError, match="disk gone"):
        how(judge(gauge), source(Breaking(6, OSError("disk gone"), seconds=0.2)), found, max_concurrency=8)
    assert len(found) == gauge.finished == 6
    assert gauge.cancelled == 0


@pytest.mark.parametrize("how", [drain, adrain], ids=["sync", "async"])
@pytest.mark.parametrize("source", SOURCES, ids=["iterator", "generator", "asynchronous"])
def test_an_interrupt_of_the_source_cancels_what_is_in_flight_at_once(how, source):
    gauge, found = Gauge(), []
    with pytest.raises(KeyboardInterrupt):
        how(judge(gauge), source(Breaking(6, KeyboardInterrupt(), seconds=60)), found, max_concurrency=8)
    assert found == []
    assert settles(lambda: gauge.now == 0 and tasks_on_the_portal() == 0)
    assert gauge.finished == 0


@pytest.mark.parametrize("how", [drain, adrain], ids=["sync", "async"])
def test_a_cancelled_error_of_the_source_itself_is_an_error_like_any_other(how):
    found = []
    with pytest.raises(asyncio.CancelledError):
        how(waiting, Breaking(5, asyncio.CancelledError("mine")), found, max_concurrency=8)
    assert len(found) == 5


def test_a_consumer_that_is_cancelled_does_not_wait_for_the_cases_in_flight():
    gauge = Gauge()

    async def main():
        async def consume():
            async for _ in judge(gauge).ajudge_many(Breaking(4, OSError("disk gone"), seconds=60)):
                pass

        task = asyncio.create_task(consume())
        while gauge.now < 4:
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert (gauge.finished, gauge.cancelled) == (0, 4)


@BOTH
@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("how", [drain, adrain], ids=["sync", "async"])
def test_a_callback_that_raises_is_logged_once_and_the_batch_goes_on(maker, ordered, how, caplog):
    counts, found = [], []

    def progress(done):
        counts.append(done)
        raise ValueError("secret of case 7")

    def on_error(item):
        raise LookupError("secret of case 8")

    rows = ["a", {"bad": 1}, "b", {"bad": 2}, "c"]
    how(maker, rows, found, ordered=ordered, progress=progress, on_error=on_error)
    assert len(found) == 5
    assert counts == [1, 2, 3, 4, 5]
    warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert sorted(warnings) == [
        "the on_error callback of the batch raised LookupError; the batch goes on",
        "the progress callback of the batch raised ValueError; the batch goes on",
    ]
    assert "secret" not in caplog.text


def models(count, **options):
    return [Critic(ScriptedModel("YES", model=f"m{n}"), "safety", name=f"c{n}", **options) for n in range(count)]


@judge
async def service(case):
    await asyncio.sleep(0)
    return True


(one, two, three), check = models(3), plain
DEFAULTS = {
    "critic": (one, 64),
    "panel of three": (Ensemble([one, two, three]), 22),
    "panel with a check": (Ensemble([one, two, three, check]), 22),
    "early stopping": (Ensemble([one, two, three], schedule="early_stop"), 22),
    "sequential": (Ensemble([one, two, three], schedule="sequential"), 64),
    "repeated": (models(1, samples=5)[0], 13),
    "panel of a hundred": (Ensemble(models(100)), 1),
    "fallback": (one.with_fallbacks([two]), 64),
    "chain": (all_of(check, one, two), 64),
    "cascade": (
        CascadedJury(
            [
                Tier("check", check, "reject_on_any_fail"),
                Tier("first", one, "accept_on_all_pass"),
                Tier("panel", Ensemble([one, two, three]), "final"),
            ]
        ),
        22,
    ),
    "pairwise": (PairwiseCritic(one.with_rubric("pairwise")), 32),
    "by case": (correctness(ScriptedModel("YES")), 64),
    "one request for three rubrics": (
        DecisionCritic("openai:d", ["safety", "conciseness", "faithfulness"], name="d", api_key="k"),
        64,
    ),
    "check": (check, 16),
    "a user's service": (service, 16),
    "a function in a thread": (judge(name="slow", timeout=5)(lambda case: True), 16),
    "panel with a user's service": (Ensemble([one, service]), 16),
    "large panel with a user's service": (Ensemble([*models(20), service]), 4),
}


@pytest.mark.parametrize("kind", DEFAULTS)
def test_by_default_as_many_cases_are_in_flight_as_keep_64_requests_busy(kind):
    maker, wanted = DEFAULTS[kind]
    assert default_concurrency(maker) == wanted


@pytest.mark.slow
@pytest.mark.parametrize("ask", [lambda j, c, **o: list(j.judge_many(c, **o)), collected], ids=["sync", "async"])
@pytest.mark.parametrize("options", [{}, {"max_concurrency": None}], ids=["left out", "None"])
def test_the_default_is_what_a_batch_keeps(server, ask, options):
    server.plan = lambda ask: Act(delay=0.1)
    critic = Critic("openai:m", "safety", name="c", base_url=server.openai, api_key="k", samples=8)
    assert len(ask(critic, [Case(answer=str(number)) for number in range(12)], **options)) == 12
    assert 32 < server.most_in_flight <= 64
    gauge = Gauge()
    ask(judge(gauge), cases(60), **options)
    assert gauge.most == 16


def test_asynchronous_iterables_are_read_lazily_and_closed():
    state = {"read": 0, "closed": False}

    async def endless():
        try:
            for i in itertools.count():
                state["read"] += 1
                yield str(i)
                await asyncio.sleep(0)
        finally:
            state["closed"] = True

    async def main():
        found = []
        batch = waiting.ajudge_many(endless(), max_concurrency=3)
        async for judgment in batch:
            found.append(judgment.reasoning)
            if len(found) == 7:
                break
        await batch.aclose()
        return found

    assert asyncio.run(main()) == list("0123456")
    assert state["read"] <= 7 + 3 * 4
    assert state["closed"]


@pytest.mark.parametrize("ordered", [True, False])
def test_a_judgment_is_handed_out_while_the_next_row_is_still_to_come(ordered):
    """A live stream, or a source that makes its next case of the last verdict."""

    async def main():
        heard = asyncio.Event()

        async def source():
            yield "one"
            async with asyncio.timeout(10):  # which finds its task also across the yield
                await heard.wait()
                yield {"unknown": "field"}
                yield "two"

        found = []
        async for judgment in waiting.ajudge_many(source(), ordered=ordered):
            found.append(judgment.status)
            heard.set()
        return found

    assert asyncio.run(main()) == [Status.PASS, Status.ERROR, Status.PASS]


def test_a_source_that_breaks_while_nothing_is_judged_raises_in_the_caller():
    async def source():
        yield "one"
        await asyncio.sleep(0.01)
        raise OSError("line gone")

    async def main():
        batch = waiting.ajudge_many(source())
        assert (await anext(batch)).passed
        with pytest.raises(OSError, match="line gone"):
            await anext(batch)
        return asyncio.all_tasks() == {asyncio.current_task()}

    assert asyncio.run(main())


def test_closing_cancels_a_source_that_waits():
    closed = []

    async def source():
        try:
            yield "one"
            await asyncio.sleep(30)
        finally:
            closed.append(True)

    async def main():
        batch = waiting.ajudge_many(source())
        await anext(batch)
        await batch.aclose()
        return list(closed), asyncio.all_tasks() == {asyncio.current_task()}

    assert asyncio.run(main()) == ([True], True)


def test_cases_are_read_in_the_callers_thread():
    readers = set()

    def rows():
        for i in range(20):
            readers.add(threading.current_thread())
            yield str(i)

    list(waiting.judge_many(rows()))
    assert readers == {threading.current_thread()}


@pytest.mark.slow
@BOTH
def test_many_cases_take_time_in_proportion(maker):
    jury = Ensemble([maker, plain, plain])

    def judged(count):
        assert sum(verdict.passed for verdict in jury.judge_many(map(str, range(count)))) == count

    assert_proportional(judged, 150, clock=time.process_time)  # the work is done in this thread and another one


def test_a_jury_gives_verdicts_also_for_its_own_failures():
    jury = Ensemble([plain, waiting], voting=lambda judgments: 1 / 0)
    found = list(jury.judge_many(["a", "b"]))
    assert [type(verdict) for verdict in found] == [Verdict, Verdict]
    assert {verdict.status for verdict in found} == {Status.ERROR}
    assert len(found[0].judgments) == 2


def test_time_limits_hold_in_a_batch():
    found = list(judge(Gauge()).with_timeout(0.02).judge_many(cases(8, seconds=30), max_concurrency=8))
    assert [j.error for j in found] == ["timeout"] * 8


def test_errors_are_told_as_they_come_and_the_batch_goes_on():
    def fragile(case):
        if case.answer == "bad":
            raise ValueError("broken")
        return True

    told = []
    rows = [{"answer": "good"}, {"answer": "bad"}, {"no such": "field"}, {"answer": "good"}]
    judgments = list(judge(fragile).judge_many(rows, on_error=told.append))
    assert [judgment.status for judgment in judgments] == ["PASS", "ERROR", "ERROR", "PASS"]
    assert [item.index for item in told] == [1, 2]
    assert told[0].case.answer == "bad"
    assert told[1].case is None


def test_an_outage_of_every_juror_is_told_also_if_the_jury_abstains():
    def fragile(case):
        if case.answer == "bad":
            raise ValueError("broken")
        return True

    told = []
    jury = Ensemble([fragile, fragile], errors="ignore")
    judgments = list(jury.judge_many([{"answer": "good"}, {"answer": "bad"}], on_error=told.append))
    assert [judgment.status for judgment in judgments] == ["PASS", "ABSTAIN"]
    assert [item.index for item in told] == [1]


class DataFrame:
    """As a data frame of pandas or polars: it yields the names of its columns, or its columns."""

    columns = ("question", "answer")

    def __iter__(self):
        return iter(self.columns)


@pytest.mark.parametrize("use", ["judge_many", "judge_pairs", "estimate_cost"])
def test_a_data_frame_is_not_judged_by_the_names_of_its_columns(use):
    with pytest.raises(ConfigurationError, match=r"not a DataFrame.*Case.from_row\(row\) for row in frame.to_dict"):
        list(getattr(Ensemble([lambda case: True]), use)(DataFrame()))
