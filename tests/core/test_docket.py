"""Runs judged in the background: bounded, counted, and never felt by the application."""

import asyncio
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jury_adapters import Case, ConfigurationError, Ensemble, Judge, Status
from jury_adapters.core import portal
from jury_adapters.core.docket import Docket, JudgedRun, Run
from jury_adapters.core.scope import JUDGING

CASE = Case(question="Which capital?", answer="Paris")


def passing(seconds: float = 0.0) -> Judge:
    async def judge(case: Case) -> bool:
        await asyncio.sleep(seconds)
        return True

    return Judge.from_function(judge)


def gated() -> tuple[Judge, threading.Event]:
    """A judge that waits until it is let go."""
    go = threading.Event()
    return Judge.from_function(lambda case: go.wait(20), timeout=30), go


def test_a_run_is_judged_and_every_sink_told():
    told: list[tuple[str, JudgedRun]] = []

    async def later(judged: JudgedRun) -> None:
        await asyncio.sleep(0)
        told.append(("async", judged))

    class Sink:
        async def __call__(self, judged: JudgedRun) -> None:
            told.append(("object", judged))

    sinks = [lambda judged: told.append(("plain", judged)), later, Sink(), lambda judged: later(judged)]  # noqa: PLW0108
    with Docket(passing(), on_verdict=sinks) as docket:
        assert docket.offer(Run("1", name="a run"), CASE)
        assert docket.offer(Run("2"), lambda: CASE)
    assert [name for name, judged in told if judged.run.id == "1"] == ["plain", "async", "object", "async"]
    assert {judged.judgment.status for _, judged in told} == {Status.PASS}
    assert (docket.counts.judged, docket.pending) == (2, 0)


def test_a_callable_that_is_also_a_sequence_is_one_sink():
    class Kept(list):
        def __call__(self, judged: JudgedRun) -> None:
            self.append(judged)

    kept = Kept()
    with Docket(passing(), on_verdict=kept) as docket:
        docket.offer(Run("1"), CASE)
    assert len(kept) == 1


def test_offering_never_waits_and_what_is_too_much_is_dropped(caplog: pytest.LogCaptureFixture):
    judge, go = gated()
    with Docket(judge, max_pending=3, max_concurrency=2) as docket:
        assert [docket.offer(Run(str(n)), CASE) for n in range(10)] == [True] * 3 + [False] * 7
        assert (docket.pending, docket.counts.dropped) == (3, 7)
        go.set()
        assert docket.flush(20)
        assert docket.offer(Run("again"), CASE)
    assert docket.counts.judged == 4
    assert [record.args[0] for record in caplog.records] == [1, 2, 4]


def test_a_closed_docket_takes_nothing_and_counts_it():
    docket = Docket(passing())
    assert docket.close()
    assert not docket.offer(Run("1"), CASE)
    assert docket.counts.dropped == 1


def test_no_more_are_judged_at_once_than_allowed():
    now, most = [0], [0]

    async def judge(case: Case) -> bool:
        now[0] += 1
        most[0] = max(most[0], now[0])
        await asyncio.sleep(0.01)
        now[0] -= 1
        return True

    with Docket(Judge.from_function(judge), max_concurrency=3) as docket:
        for number in range(20):
            docket.offer(Run(str(number)), CASE)
    assert (most[0], docket.counts.judged) == (3, 20)


def test_a_sink_that_raises_is_counted_and_the_others_are_told(caplog: pytest.LogCaptureFixture):
    told = []

    def broken(judged: JudgedRun) -> None:
        raise LookupError("no such table")

    async def exiting(judged: JudgedRun) -> None:
        raise SystemExit(3)

    with Docket(passing(), on_verdict=[broken, exiting, told.append]) as docket:
        docket.offer(Run("1"), CASE)
        docket.offer(Run("2"), CASE)
    assert len(told) == 2
    assert docket.counts.sink_errors == 4
    assert "no such table" in caplog.text


def test_an_interrupt_in_a_judge_does_not_stop_the_judging_of_others(caplog: pytest.LogCaptureFixture):
    async def judge(case: Case) -> bool:
        if case.question == "interrupt":
            raise KeyboardInterrupt
        return True

    with Docket(Judge.from_function(judge)) as docket:
        docket.offer(Run("1"), Case(question="interrupt"))
        docket.offer(Run("2"), CASE)
        assert docket.flush(10)
    assert (docket.counts.judged, docket.counts.broken) == (1, 1)
    assert "judging run 1 broke" in caplog.text


@pytest.mark.parametrize("error", [KeyboardInterrupt, asyncio.CancelledError])
@pytest.mark.parametrize("waits", [True, False])
def test_whatever_a_judge_raises_each_run_is_counted(error: type[BaseException], waits: bool):
    def judge(case: Case) -> bool:
        if case.question == "poison":
            raise error
        return True

    async def asynchronous(case: Case) -> bool:
        return judge(case)

    told = []
    with Docket(Judge.from_function(asynchronous if waits else judge), on_verdict=told.append) as docket:
        for question in ("one", "poison", "two"):
            docket.offer(Run(question), Case(question=question))
        assert docket.flush(10)
    assert {judged.run.id for judged in told} == {"one", "two"}
    assert (docket.counts.judged, docket.counts.broken, docket.pending) == (2, 1, 0)


def test_runs_are_judged_together_and_the_portal_is_not_woken_for_each(monkeypatch: pytest.MonkeyPatch):
    threads, calls, call_soon = [], [], portal.call_soon

    def counting(callback):
        calls.append(callback)
        call_soon(callback)

    monkeypatch.setattr(portal, "call_soon", counting)  # the real one, counted
    judge = Judge.from_function(lambda case: True)
    with Docket(judge, on_verdict=lambda judged: threads.append(threading.get_ident())) as docket:
        for number in range(100):
            docket.offer(Run(str(number)), CASE)
        assert docket.flush(10)
        assert len(calls) <= 8  # to begin with, to hurry, and again after a pause on a slow machine
    assert len(threads) == 100


def test_what_nobody_waits_for_is_judged_all_the_same():
    told = threading.Event()
    docket = Docket(passing(), on_verdict=lambda judged: told.set())
    for _ in range(3):
        told.clear()
        docket.offer(Run("1"), CASE)
        assert told.wait(10)
        time.sleep(0.12)  # long enough for the portal to stop looking
    assert docket.close()
    assert docket.counts.judged == 3


def test_little_room_is_used_at_once():
    docket = Docket(Judge.from_function(lambda case: True), max_pending=1)
    taken, until = 0, time.monotonic() + 10
    while taken < 5 and time.monotonic() < until:
        taken += docket.offer(Run("x"), CASE)
        time.sleep(0.001)
    assert taken == 5
    assert docket.close()


@pytest.mark.parametrize("kind", ["plain", "asynchronous", "lambda"])
def test_a_slow_sink_is_told_of_many_runs_at_once_but_of_no_more_than_allowed(kind: str):
    lock, now, most = threading.Lock(), 0, 0

    def change(by: int) -> None:
        nonlocal now, most
        with lock:
            now += by
            most = max(most, now)

    def plain(judged: JudgedRun) -> None:
        change(1)
        time.sleep(0.02)
        change(-1)

    async def asynchronous(judged: JudgedRun) -> None:
        change(1)
        await asyncio.sleep(0.02)
        change(-1)

    sink = {"plain": plain, "asynchronous": asynchronous, "lambda": lambda judged: asynchronous(judged)}[kind]  # noqa: PLW0108
    docket = Docket(Judge.from_function(lambda case: True), on_verdict=sink, max_concurrency=4)
    for number in range(30):
        docket.offer(Run(str(number)), CASE)
    assert docket.close(20)
    assert docket.counts.judged == 30
    assert 2 <= most <= 4


def test_a_plain_function_that_answers_with_a_coroutine_is_asked_about_many_runs_at_once():
    now, most = 0, 0

    async def ask(case: Case) -> bool:
        nonlocal now, most
        now += 1
        most = max(most, now)
        async with asyncio.timeout(10):  # needs a task of its own
            await asyncio.sleep(0.02)
        now -= 1
        return True

    with Docket(Judge.from_function(lambda case: ask(case)), max_concurrency=4) as docket:  # noqa: PLW0108
        for number in range(12):
            docket.offer(Run(str(number)), CASE)
    assert docket.counts.judged == 12
    assert most == 4


def test_no_key_stands_in_the_error_of_a_run(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SOME_VENDOR_API_KEY", "plainwordsasakey")
    told = []
    with Docket(passing(), on_verdict=told.append) as docket:
        docket.offer(Run("1", error="401: plainwordsasakey, sk-0123456789abcdef: no"), CASE)
    (judged,) = told
    assert judged.run.error == "401: [key], [key]: no"
    assert "plainwords" not in repr(judged)
    assert "sk-0" not in repr(judged)


def test_a_run_that_failed_is_fail_in_the_shape_of_the_judge():
    asked, told, errors = [], [], []
    jury = Ensemble([Judge.from_function(lambda case: bool(asked.append(case)), name="a")])
    with Docket(jury, on_verdict=told.append, on_error=errors.append) as docket:
        docket.offer(Run("1", error="ValueError: no"), CASE)
    (judged,) = told
    assert judged.judgment.status is Status.FAIL
    assert "ValueError: no" in judged.judgment.reasoning
    assert type(judged.judgment) is type(jury.judge(CASE))
    assert not errors
    assert len(asked) == 1


def test_a_case_that_cannot_be_made_is_an_error_and_on_error_is_told_first():
    told = []

    def unreadable() -> Case:
        raise LookupError("nothing here")

    options = {"on_verdict": lambda judged: told.append("verdict"), "on_error": told.append}
    with Docket(passing(), **options) as docket:
        docket.offer(Run("1"), unreadable)
    judged, then = told
    assert then == "verdict"
    assert judged.case is None
    assert judged.judgment.status is Status.ERROR
    assert "nothing here" in judged.judgment.reasoning


@given(st.sampled_from([0.0, 0.25, 1.0]))
@settings(max_examples=6, deadline=None)
def test_the_share_asked_for_is_judged(sample: float):
    with Docket(passing(), sample=sample, max_pending=10_000) as docket:
        taken = sum(docket.offer(Run(str(n)), CASE) for n in range(400))
        assert docket.flush(30)
    assert docket.counts.judged == taken
    assert docket.counts.judged + docket.counts.unsampled == 400
    assert abs(taken / 400 - sample) < (0.12 if 0 < sample < 1 else 1e-9)


@given(st.integers(1, 6), st.integers(1, 4), st.lists(st.integers(1, 5), max_size=6))
@settings(max_examples=25, deadline=None)
def test_whatever_is_offered_is_judged_or_counted(max_pending: int, max_concurrency: int, bursts: list[int]):
    told = []
    with Docket(passing(), max_pending=max_pending, max_concurrency=max_concurrency, on_verdict=told.append) as docket:
        taken = 0
        for burst in bursts:
            taken += sum(docket.offer(Run("x"), CASE) for _ in range(burst))
            assert docket.pending <= max_pending
        assert docket.flush(20)
    assert docket.counts.judged == len(told) == taken
    assert docket.counts.judged + docket.counts.dropped == sum(bursts)


def test_many_threads_may_offer_at_once():
    told = []
    with Docket(passing(), on_verdict=told.append, max_pending=5000) as docket, ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda n: docket.offer(Run(str(n)), CASE), range(2000)))
        assert docket.flush(30)
        assert sorted(int(judged.run.id) for judged in told) == list(range(2000))
    assert (docket.counts.judged, docket.pending) == (2000, 0)


def test_flushing_does_not_wait_for_what_comes_later():
    judge, go = gated()
    docket = Docket(judge)
    docket.offer(Run("1"), CASE)
    assert not docket.flush(0.01)
    flushed = []
    thread = threading.Thread(target=lambda: flushed.append(docket.flush(20)))
    thread.start()
    time.sleep(0.02)
    go.set()
    thread.join(20)
    assert flushed == [True]
    assert docket.close()


def test_flushing_in_asynchronous_code_leaves_the_loop_free():
    async def main() -> int:
        ticks = 0
        docket = Docket(passing(0.1))
        docket.offer(Run("1"), CASE)
        assert not await docket.aflush(0.01)
        closing = asyncio.ensure_future(docket.aclose(20))
        while not closing.done():
            ticks += 1
            await asyncio.sleep(0.005)
        assert closing.result()
        return ticks

    assert asyncio.run(main()) > 3


def test_a_sink_that_flushes_does_not_wait_for_itself():
    answers = []

    async def asynchronous(judged: JudgedRun) -> None:
        answers.append(await docket.aflush())

    docket = Docket(passing(), on_verdict=[lambda judged: answers.append(docket.flush()), asynchronous])
    docket.offer(Run("1"), CASE)
    assert docket.flush(10)
    assert answers == [False, False]


def test_judges_and_sinks_know_that_they_are_judging_and_nothing_else_of_the_caller():
    request: ContextVar[str] = ContextVar("request", default="none")
    seen = []
    judge = Judge.from_function(lambda case: bool(seen.append((JUDGING.get(), request.get()))) or True)
    request.set("mine")
    with Docket(judge, on_verdict=lambda judged: seen.append((JUDGING.get(), request.get()))) as docket:
        docket.offer(Run("1"), CASE)
    assert seen == [(True, "none"), (True, "none")]
    assert not JUDGING.get()


def test_nothing_is_left_on_the_loop():
    with Docket(passing(0.001)) as docket:
        for number in range(50):
            docket.offer(Run(str(number)), CASE)

    async def tasks() -> int:
        return len(asyncio.all_tasks()) - 1

    assert portal.run(tasks) == 0
    assert not docket._tasks
    assert not docket._waiting


@pytest.mark.parametrize(
    "options",
    [
        {"sample": 1.5}, {"sample": True}, {"max_pending": 0}, {"max_concurrency": 1.5}, {"on_verdict": "print"},
        {"on_verdict": [print, 3]}, {"judge": print},
        {"sample": "0.5"}, {"exit_timeout": "soon"}, {"exit_timeout": -1}, {"exit_timeout": float("nan")},
    ],
)  # fmt: skip
def test_wrong_options_are_refused(options: dict):
    with pytest.raises(ConfigurationError):
        Docket(options.pop("judge", passing()), **options)


def _script(body: str) -> str:
    code = """
        import asyncio, os, sys, threading, time
        from jury_adapters import Case, Judge
        from jury_adapters.core.docket import Docket, Run

        async def slowly(case):
            await asyncio.to_thread(time.sleep, float(case.question))  # needs the thread pools
            return True

        def told(judged):
            print(f"judged {judged.run.id}\\n", end="", flush=True)

        def docket(**options):
            return Docket(Judge.from_function(slowly), on_verdict=told, **options)
    """
    script = textwrap.dedent(code) + textwrap.dedent(body)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout + done.stderr


def test_what_is_pending_is_judged_before_the_process_ends():
    output = _script("""
        first, second = docket(), docket(max_concurrency=1)
        for n in range(3):
            first.offer(Run(f"a{n}"), Case(question="0.1"))
            second.offer(Run(f"b{n}"), Case(question="0.1"))
        print("end", flush=True)
    """)
    lines = output.splitlines()
    assert lines[0] == "end"
    assert sorted(lines[1:]) == [f"judged {name}{n}" for name in "ab" for n in range(3)]


def test_the_end_of_the_process_waits_for_all_dockets_together_and_no_longer_than_told():
    output = _script("""
        dockets = [docket(exit_timeout=0.3) for _ in range(5)]
        for one in dockets:
            one.offer(Run("slow"), Case(question="1.5"))
        import atexit
        atexit.register(lambda: print("warned", flush=True))
    """)
    assert output.count("the process ends with 1 runs not judged") == 5
    assert "judged slow" not in output.partition("warned")[0]


def test_a_forked_child_judges_its_own_runs_and_not_its_parents():
    output = _script("""
        import warnings
        warnings.simplefilter("ignore")  # newer Pythons warn of forking with threads, which is what is tested
        one = docket()
        one.offer(Run("parent"), Case(question="0.3"))
        child = os.fork()
        if child == 0:
            assert one.pending == 0
            one.offer(Run("child"), Case(question="0"))
            assert one.flush(10)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert one.flush(10)
    """)
    assert sorted(output.splitlines()) == ["judged child", "judged parent"]
