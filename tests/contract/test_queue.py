"""The queue: it never disturbs the application, and what it drops is counted."""

import asyncio
import gc
import logging
import sys
import threading
import time
import weakref
from contextvars import ContextVar, copy_context

import pytest
from fact_tables import each_row, run_by
from running import Memory, Paying, in_threads, passes, script, until

from jury_adapters import Budget, Case, ConfigurationError, Ensemble, JudgeQueue, Status, judge
from jury_adapters.core.context import context

PASS, FAIL, ERROR = Status.PASS, Status.FAIL, Status.ERROR


class Told:
    """Sink that keeps what it is told."""

    def __init__(self):
        self.runs = []

    def __call__(self, judged):
        self.runs.append(judged)

    @property
    def statuses(self):
        return [judged.judgment.status for judged in self.runs]


class Door:
    """Judge function that waits until it is opened; a queue behind it is full or busy."""

    def __init__(self):
        self._open, self.now, self.most = threading.Event(), 0, 0

    def open(self):
        self._open.set()

    async def __call__(self, case):
        self.now += 1
        self.most = max(self.most, self.now)
        while not self._open.is_set():
            await asyncio.sleep(0.001)
        self.now -= 1
        return True


# Sinks


class AsynchronousTold(Told):
    async def __call__(self, judged):
        await asyncio.sleep(0)
        super().__call__(judged)


def function(told):
    def sink(judged):
        return told(judged)

    return sink


def coroutine_function(told):
    async def sink(judged):
        await asyncio.sleep(0)
        told(judged)

    return sink


@each_row(
    ("sink", "kind"),
    [
        (function, Told),
        (coroutine_function, Told),
        (lambda told: told, Told),
        (function, AsynchronousTold),
        (lambda told: told, AsynchronousTold),
    ],
    ids=["function", "coroutine function", "object", "function of a coroutine", "asynchronous object"],
)
def test_a_run_is_judged_and_its_sink_told(sink, kind):
    told, runs = kind(), [{"question": "q", "answer": "short"}, Case(question="q", answer="much too long")]
    with JudgeQueue(lambda case: len(case.answer) < 9, on_verdict=sink(told)) as queue:
        assert [queue.put(run) for run in runs] == [True, True]
    found = {judged.case.answer: (judged.run, judged.judgment.status) for judged in told.runs}
    assert found == {"short": (runs[0], PASS), "much too long": (runs[1], FAIL)}
    assert queue.counts == {"judged": 2}


@each_row("error", [ValueError, SystemExit, KeyboardInterrupt, asyncio.CancelledError])
@each_row("waits", [False, True], ids=["function", "coroutine function"])
def test_whatever_a_sink_raises_is_counted_and_the_next_run_is_told(error, waits):
    told = Told()

    def breaks(judged):
        if judged.run == "b":
            raise error("no such table")
        told(judged)

    async def breaks_later(judged):
        await asyncio.sleep(0)
        breaks(judged)

    with JudgeQueue(passes, on_verdict=breaks_later if waits else breaks, max_concurrency=1) as queue:
        assert [queue.put(run) for run in "abc"] == [True] * 3
    assert [judged.run for judged in told.runs] == ["a", "c"]
    assert queue.counts == {"judged": 3, "sink_errors": 1}


def test_a_sink_that_always_raises_is_logged_less_and_less(caplog):
    with JudgeQueue(passes, on_verdict=lambda judged: 1 / 0) as queue:
        for number in range(20):
            queue.put(str(number))
    said = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert [line.rpartition(": ")[2] for line in said] == [f"{number} so far" for number in (1, 2, 4, 8, 16)]
    assert all("on_verdict" in line for line in said)
    assert queue.counts["sink_errors"] == 20


# put


def test_put_never_waits_and_what_is_too_much_is_dropped_and_counted(caplog):
    door = Door()
    queue = JudgeQueue(judge(door), max_pending=3, max_concurrency=2)
    assert [queue.put(str(number)) for number in range(12)] == [True] * 3 + [False] * 9
    assert queue.counts == {"dropped": 9}
    said = [record.getMessage() for record in caplog.records if "full" in record.getMessage()]
    assert [line.rpartition(": ")[2] for line in said] == [f"{number} so far" for number in (1, 2, 4, 8)]
    door.open()
    assert queue.flush(30)
    assert until(lambda: queue.put("room again"))
    assert (queue.close(), queue.counts["judged"]) == (True, 4)


@pytest.mark.parametrize(("sample", "least", "most"), [(0, 0, 0), (0.25, 50, 160), (1, 400, 400)])
def test_the_share_that_is_asked_for_is_judged_and_the_rest_is_counted(sample, least, most):
    with JudgeQueue(passes, sample=sample, max_pending=400, exit_timeout=60) as queue:
        taken = sum(queue.put(str(number)) for number in range(400))
    assert least <= taken <= most
    assert (queue.counts["judged"], queue.counts["unsampled"]) == (taken, 400 - taken)


def test_a_closed_queue_takes_nothing_and_counts_it():
    queue = JudgeQueue(passes)
    assert (queue.close(), queue.put("late"), queue.counts) == (True, False, {"dropped": 1})


def test_10000_runs_are_kept_only_while_they_are_pending():
    class Run:
        def __init__(self, text):
            self.text = text

    door, alive = Door(), weakref.WeakSet()
    queue = JudgeQueue(judge(door), case=lambda run: Case(question=run.text), max_pending=100)
    for number in range(10_000):
        run = Run(str(number))
        alive.add(run)
        queue.put(run)
    del run
    gc.collect()
    assert len(alive) <= 100
    door.open()
    assert queue.close(60)
    assert queue.counts == {"judged": 100, "dropped": 9900}
    gc.collect()
    assert until(lambda: len(alive) == 0 or gc.collect() < 0)


def test_many_threads_may_put_at_once():
    with JudgeQueue(passes, max_pending=50, exit_timeout=60) as queue:
        taken = in_threads(*[lambda: sum(queue.put(str(number)) for number in range(60))] * 6)
    assert queue.counts["judged"] == sum(taken)
    assert queue.counts["judged"] + queue.counts["dropped"] == 360


def test_an_asynchronous_sink_puts_into_another_queue():
    """The second queue is for what the first does not pass. Its sink runs on the loop of the judges."""
    told = Told()
    second = JudgeQueue(lambda case: False, on_verdict=told)

    async def again(judged):
        second.put(judged.run)

    with JudgeQueue(passes, on_verdict=again) as first:
        first.put("q")
    assert second.close()
    assert (told.statuses, second.counts) == ([FAIL], {"judged": 1})


@pytest.mark.parametrize("place", ["call_soon_threadsafe", "new_event_loop"])
def test_a_finaliser_may_put_while_another_put_is_at_work(place):
    """The garbage collector may end an abandoned stream anywhere, also inside put: it must not wait for itself."""
    said = script(
        """
        import gc

        class AbandonedStream:
            def __init__(self):
                self.itself = self  # only the garbage collector ends it

            def __del__(self):
                queue.put("abandoned")

        def collect(frame, event, argument):
            if event == "call" and frame.f_code.co_name == sys.argv[1]:
                gc.collect()

        queue = JudgeQueue(passes, on_verdict=lambda judged: say(judged.run))
        gc.disable()
        AbandonedStream()
        sys.setprofile(collect)
        queue.put("first")
        sys.setprofile(None)
        say(queue.flush(20))
        """,
        place,
    )
    assert sorted(said) == ["True", "abandoned", "first"]


# The end


def test_flush_waits_for_what_is_pending_and_says_whether_it_ended():
    door = Door()
    queue = JudgeQueue(judge(door))
    assert (queue.flush(0), queue.put("q"), queue.flush(0.02)) == (True, True, False)
    door.open()
    assert (queue.flush(30), queue.counts) == (True, {"judged": 1})
    assert (queue.put("again"), queue.flush()) == (True, True)


@run_by(asyncio.run)
async def test_flush_and_close_leave_the_loop_of_the_application_free():
    door = Door()
    queue = JudgeQueue(judge(door), exit_timeout=300)
    queue.put("q")
    waiting = asyncio.create_task(queue.aflush())
    for _ in range(5):
        await asyncio.sleep(0.001)
    assert not waiting.done()
    assert (await queue.aflush(0.02), await queue.aclose(0.02)) == (False, False)
    door.open()
    assert (await waiting, await queue.aclose()) == (True, True)


def test_closing_says_how_many_runs_it_did_not_wait_for(caplog):
    door = Door()
    with JudgeQueue(judge(door), exit_timeout=0.02) as queue:
        assert [queue.put(run) for run in "abc"] == [True] * 3
        assert not queue.close(0.01)
    assert ("closed with 3 runs not judged" in caplog.text, queue.counts["unfinished"]) == (True, 3)
    assert not queue.put("late")
    door.open()
    assert (queue.flush(30), queue.counts) == (True, {"judged": 3, "dropped": 1})


def test_a_block_that_raises_waits_for_what_is_pending():
    told = Told()

    def application():
        with JudgeQueue(passes, on_verdict=told) as queue:
            queue.put("q")
            raise LookupError("of the application")

    with pytest.raises(LookupError):
        application()
    assert told.statuses == [PASS]


# Isolation

APPLICATION = ContextVar("application", default="nothing")


@pytest.mark.parametrize("waits", [False, True], ids=["in threads", "on the loop"])
def test_judges_and_sinks_see_nothing_of_the_application_and_know_that_they_are_judging(waits):
    """Trap 2: else the application's tracing would trace, and judge, the judges."""
    seen = []

    def notes(_):
        seen.append((APPLICATION.get(), context().judging))
        return True

    async def notes_later(given):
        return notes(given)

    def application():
        APPLICATION.set("a handler")
        with JudgeQueue(Ensemble([function]), on_verdict=function) as queue:
            queue.put("q")
        assert context().judging is False

    function = notes_later if waits else notes
    copy_context().run(application)
    assert seen == [("nothing", True)] * 2


def test_the_store_and_the_budget_of_a_queue_apply():
    """Trap 16: in the queue as in evaluators and guards."""
    told, store, budget = Told(), Memory(), Budget(max_calls=2)
    with JudgeQueue(Paying(), on_verdict=told, store=store, budget=budget, max_concurrency=1) as queue:
        assert [queue.put(question) for question in "aabc"] == [True] * 4
    assert told.statuses == [PASS, PASS, PASS, ERROR]
    assert "over budget" in told.runs[3].judgment.error
    assert (budget.spent.calls, len(store.kept)) == (2, 2)


# Cases


def case_of(run):
    if run == "exit":
        sys.exit(3)
    if run == "nothing":
        return None
    if run == "no case":
        raise LookupError("the run has no answer, Bearer abcdefgh12345678")
    return {"question": run} if run == "a mapping" else Case(question=run)


@each_row(
    ("run", "status"),
    [("a case", PASS), ("a mapping", PASS), ("no case", ERROR), ("nothing", ERROR), ("exit", ERROR)],
)
def test_whatever_case_does_a_verdict_reaches_the_sink(run, status):
    told = Told()
    with JudgeQueue(passes, case=case_of, on_verdict=told) as queue:
        queue.put(run)
    (judged,) = told.runs
    assert (judged.run, judged.judgment.critic, judged.judgment.status) == (run, "passes", status)
    assert isinstance(judged.case, Case) is (judged.judgment.error is None) is (status is PASS)
    assert "abcdefgh" not in str(judged.judgment)
    assert queue.counts == {"judged": 1}


def test_a_run_that_failed_is_fail_without_asking():
    told, asked = Told(), []
    with JudgeQueue(lambda case: asked.append(case) or True, on_verdict=told) as queue:
        queue.put({"question": "q", "error": "the vendor is down"})
        queue.put({"question": "q", "answer": "yes", "error": "a later step failed"})
    assert (sorted(told.statuses), len(asked)) == ([FAIL, PASS], 1)


# Concurrency


@pytest.mark.parametrize("limit", [1, 4])
def test_no_more_are_judged_at_once_than_allowed_and_as_many(limit):
    door = Door()
    queue = JudgeQueue(judge(door), max_concurrency=limit)
    for number in range(12):
        queue.put(str(number))
    assert until(lambda: door.now == limit)
    time.sleep(0.03)
    door.open()
    assert queue.close(30)
    assert (door.most, queue.counts) == (limit, {"judged": 12})


def test_a_slow_sink_counts_as_work():
    now, most = [], []

    def slow(judged):
        now.append(judged)
        most.append(len(now))
        time.sleep(0.01)
        now.pop()

    with JudgeQueue(passes, on_verdict=slow, max_concurrency=3, exit_timeout=60) as queue:
        for number in range(20):
            queue.put(str(number))
    assert max(most) <= 3
    assert queue.counts == {"judged": 20}


@each_row("error", [SystemExit, KeyboardInterrupt, asyncio.CancelledError, GeneratorExit])
def test_a_judge_that_breaks_does_not_stop_the_judging_of_others(error):
    """Trap 5."""
    told = Told()

    async def breaks_on_b(case):
        await asyncio.sleep(0)
        if case.question == "b":
            raise error
        return True

    with JudgeQueue(judge(breaks_on_b), on_verdict=told, max_concurrency=1) as queue:
        assert [queue.put(run) for run in "abc"] == [True] * 3
    assert told.statuses == [PASS, ERROR, PASS]
    assert queue.counts == {"judged": 3}


@each_row(
    ("jury", "options", "message"),
    [
        *((passes, {name: value}, name) for name, value in (
            ("sample", 1.5), ("sample", "0.5"), ("sample", -0.1), ("sample", float("nan")),
            ("max_pending", 0), ("max_concurrency", 0),
        )),
        (passes, {"store": "runs.db"}, "store= is a store, such as .*; not str and NoneType"),
        (passes, {"budget": 2}, "budget= a Budget, such as .*; not NoneType and int"),
        (passes, {"on_verdict": [print]}, "on_verdict= is a function of a JudgedRun, not list"),
        ("majority", {}, "a judge is"),
    ],
)  # fmt: skip
def test_wrong_options_are_refused(jury, options, message):
    with pytest.raises(ConfigurationError, match=message):
        JudgeQueue(jury, **options)
