"""The synchronous API in every place it may be called from: threads, loops, itself, and after a fork."""

import asyncio
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.garbage import collect_garbage

from jury_adapters import Ensemble, Status, judge
from jury_adapters.core import event_loop


async def _answer(case):
    await asyncio.sleep(0.001)
    return True, case.question


leaf = judge(name="leaf")(_answer)


def run_script(source, *, timeout=120, check=True, **options):
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", textwrap.dedent(source)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        **options,
    )
    assert not check or done.returncode == 0, done.stderr
    return done


def tasks_on_the_portal():
    async def others():
        return len(asyncio.all_tasks()) - 1

    return event_loop.run(others)


def settles(condition, seconds=60.0):
    deadline = time.perf_counter() + seconds
    while not condition() and time.perf_counter() < deadline:
        time.sleep(0.005)
    return condition()


def test_a_judge_can_be_asked_inside_a_running_loop_without_touching_it():
    async def main():
        mine = asyncio.get_running_loop()
        judgment = leaf.judge("inside")
        assert asyncio.get_running_loop() is mine
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return judgment

    assert asyncio.run(main()).reasoning == "inside"
    assert leaf.judge("after asyncio.run").status is Status.PASS


def test_the_same_judge_works_on_many_loops_one_after_the_other():
    jury = Ensemble([leaf, leaf, leaf])
    for _ in range(3):
        assert asyncio.run(jury.ajudge("q")).status is Status.PASS
        assert jury.judge("q").status is Status.PASS


def test_32_threads_at_once_each_get_their_own_answer():
    jury = Ensemble([leaf, judge(lambda case: (True, case.question)), leaf])
    with ThreadPoolExecutor(32) as pool:
        verdicts = list(pool.map(jury.judge, map(str, range(320))))
    for number, verdict in enumerate(verdicts):
        assert [j.reasoning for j in verdict.judgments] == [str(number)] * 3


def test_32_threads_wait_at_the_same_time():
    everyone = asyncio.Barrier(32)

    async def meets(case):
        await everyone.wait()
        return True

    with ThreadPoolExecutor(32) as pool:
        found = list(pool.map(judge(timeout=60)(meets).judge, "q" * 32))
    assert [judgment.status for judgment in found] == [Status.PASS] * 32


def nested(inner, depth):
    """An asynchronous judge that asks the inner one synchronously, and so on."""
    for _ in range(depth):

        async def outer(case, inner=inner):
            return inner.judge(case)

        inner = judge(outer)
    return inner


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_a_synchronous_judge_inside_asynchronous_ones_does_not_wait_for_itself(depth):
    answer = in_time(lambda: nested(leaf, depth).judge("deep"))
    assert answer.reasoning == "deep"
    assert in_time(lambda: asyncio.run(nested(leaf, depth).ajudge("deep"))).reasoning == "deep"


def test_a_timed_plain_judge_between_two_nested_ones_does_not_wait_for_itself():
    def plain(case):
        return leaf.judge(case)

    timed = judge(timeout=5)(plain)
    assert in_time(lambda: nested(timed, 2).judge("q")).status is Status.PASS


def test_many_cases_can_be_judged_inside_a_judge():
    async def counts(case):
        return sum(j.passed for j in leaf.judge_many(["a", "b", "c"])) == 3

    for depth in (0, 1, 2):
        assert in_time(lambda depth=depth: nested(judge(counts), depth).judge("q")).status is Status.PASS


def in_time(work, seconds=60):
    """The result of the work, or a failure instead of a test that hangs for ever."""
    box = []
    thread = threading.Thread(target=lambda: box.append(work()), daemon=True)
    thread.start()
    thread.join(seconds)
    assert box, "it hangs"
    return box[0]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit, asyncio.CancelledError])
@pytest.mark.parametrize("depth", [1, 2])
def test_interrupts_pass_through_nested_loops_and_the_portal_survives(error, depth):
    async def breaks(case):
        await asyncio.sleep(0)
        raise error

    box = []

    def ask():
        try:
            box.append(nested(judge(breaks), depth).judge("q"))
        except BaseException as raised:
            box.append(raised)
        return True

    in_time(ask)
    if error in (SystemExit, asyncio.CancelledError):
        assert box[0].status is Status.ERROR
    else:
        assert isinstance(box[0], error)
    assert leaf.judge("q").status is Status.PASS


def test_no_task_is_left_after_interrupts_timeouts_and_errors():
    async def breaks(case):
        await asyncio.sleep(0)
        raise KeyboardInterrupt

    async def slow(case):
        asked.append(case)
        await asyncio.sleep(600)

    asked = []
    with pytest.raises(KeyboardInterrupt):
        Ensemble([judge(breaks), judge(slow), judge(slow)]).judge("q")
    Ensemble([judge(slow), leaf], juror_timeout=0.02).judge("q")
    votes = [judge(slow), leaf, leaf]  # all are asked, and the last one alone outweighs the others
    settled = Ensemble(votes, voting="weighted", weights=[1, 1, 5], on="status", schedule="early_stop").judge("q")
    assert settled.skipped[0] == "slow"
    assert len(asked) == 4
    assert settles(lambda: tasks_on_the_portal() == 0)


def test_work_cancelled_before_it_starts_leaves_nothing_that_was_never_awaited(recwarn):
    async def main():
        task = asyncio.ensure_future(event_loop.run_and_capture(_answer, None))
        task.cancel()
        await asyncio.wait([task])

    asyncio.run(main())
    collect_garbage()
    assert [str(warning.message) for warning in recwarn] == []


def test_a_captured_exception_is_raised_when_the_result_is_unwrapped():
    async def breaks():
        raise KeyboardInterrupt("here")

    async def main():
        return await event_loop.run_and_capture(breaks)

    captured = asyncio.run(main())
    assert isinstance(captured, event_loop.CapturedException)
    with pytest.raises(KeyboardInterrupt, match="here"):
        event_loop.unwrap(captured)
    assert event_loop.unwrap(5) == 5


def test_inline_work_runs_without_a_loop_and_may_not_wait():
    async def quick():
        assert event_loop.runs_inline()
        return 5

    async def waits():
        await asyncio.sleep(0)

    async def stubborn():
        while True:
            try:
                await asyncio.sleep(0)
            except RuntimeError:
                continue

    assert event_loop.run_inline(quick()) == 5
    for work in (waits(), stubborn()):
        with pytest.raises(RuntimeError, match=r"inline|ignored GeneratorExit"):
            event_loop.run_inline(work)
    assert not event_loop.runs_inline()


def test_plain_judges_never_start_a_thread():
    script = """
        import threading
        from jury_adapters import Ensemble, judge
        jury = Ensemble([lambda case: True, judge(lambda case: 0.3)], voting="average")
        jury.judge("q")
        list(jury.judge_many(["a", "b"]))
        assert threading.active_count() == 1, threading.enumerate()
    """
    run_script(script)


@pytest.mark.slow
def test_the_portal_works_in_a_child_after_a_fork_and_goes_on_in_the_parent():
    script = """
        import asyncio, os, warnings
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of any fork beside a thread
        from jury_adapters import Ensemble, judge
        from jury_adapters.core import event_loop

        async def answer(case):
            await asyncio.sleep(0.001)
            return True
        jury = Ensemble([answer, answer])
        slow = judge(timeout=0.01)(lambda case: __import__("time").sleep(1))
        assert jury.judge("q").passed
        slow.judge("q")
        assert event_loop.abandoned_threads() == 1
        child = os.fork()
        if child == 0:
            ok = event_loop.abandoned_threads() == 0 and jury.judge("q").passed
            ok = ok and len(list(jury.judge_many([*"ab"]))) == 2
            os._exit(0 if ok else 1)
        assert jury.judge("q").passed
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        print("both")
    """
    assert run_script(script).stdout == "both\n"


@pytest.mark.slow
def test_a_script_ends_quietly_with_threads_abandoned_and_a_portal_running():
    script = """
        import asyncio, time
        from jury_adapters import Ensemble, judge
        async def slow(case):
            await asyncio.sleep(60)
        jury = Ensemble([judge(timeout=0.02)(lambda case: time.sleep(60)), judge(slow)], juror_timeout=0.05)
        print(jury.judge("q").status)
        first = next(judge(slow).with_timeout(0.01).judge_many(str(i) for i in range(100)))
        print(first.error)
    """
    done = run_script(script)
    assert done.stdout == "ERROR\ntimeout\n"
    assert done.stderr == ""


def test_ctrl_c_while_waiting_cancels_the_work_and_lets_it_clean_up():
    script = """
        import asyncio, sys
        from jury_adapters import Ensemble, judge
        async def slow(case):
            try:
                print("started", flush=True)
                await asyncio.sleep(60)
            finally:
                await asyncio.sleep(0.05)
                print("cleaned up", flush=True)
        try:
            Ensemble([slow, lambda case: True]).judge("q")
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "started\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert (out, err, process.returncode) == ("cleaned up\ninterrupted\n", "", 0)


def test_garbage_collected_while_the_loop_is_made_may_use_it():
    done = run_script("""
        import gc, threading
        from jury_adapters.core import event_loop

        heard, asked = [], []

        def collecting(phase, info):
            making = threading.current_thread().name == "jury-adapters-loop" and not heard
            if phase == "start" and making and len(asked) < 3:
                asked.append(1)
                event_loop.call_soon(lambda: heard.append(threading.current_thread().name))

        async def answer():
            return 42

        gc.callbacks.append(collecting)
        gc.set_threshold(1)
        assert event_loop.run(answer) == 42
        gc.set_threshold(700)
        assert asked, "nothing was collected in there"
        assert event_loop.run(answer) == 42
        assert heard == ["jury-adapters-loop"] * len(asked), (heard, asked)
        running = [thread for thread in threading.enumerate() if thread.name == "jury-adapters-loop"]
        running[0].join(0.2)
        assert len([thread for thread in running if thread.is_alive()]) == 1
    """)
    assert done.returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("holder", ["application", "jury-adapters-loop"])
def test_a_finaliser_inside_asyncios_policy_initialisation_may_put_a_run_before_the_judge(holder):
    # asyncio holds a lock there that one thread cannot take twice; collection is forced at that very line.
    done = run_script(
        f"""
        import asyncio, gc, sys, threading, time
        from jury_adapters import Case, judge
        from jury_adapters.core.background.judge_queue import JudgeQueue, Run

        class AbandonedStream:
            def __init__(self):
                self.itself = self  # only the garbage collector can end it

            def __del__(self):
                queue.put(Case(question="q"), run=Run("abandoned"))
                ended_in.append(threading.current_thread().name)

        def collect_inside(frame, event, argument):
            inside = frame.f_back is not None and frame.f_back.f_code.co_name == "_init_event_loop_policy"
            if event == "call" and inside:
                gc.collect()

        ended_in, heard = [], []
        queue = JudgeQueue(judge(lambda case: True), on_verdict=lambda judged: heard.append(judged.run.id))
        gc.disable()
        AbandonedStream()
        threading.setprofile(collect_inside)
        if {holder == "application"}:
            application = threading.Thread(target=lambda: asyncio.new_event_loop().close(), name="application")
            application.start()
            application.join()
        else:
            queue.put(Case(question="q"), run=Run("first"))
            until = time.monotonic() + 20
            while not ended_in and time.monotonic() < until:  # the thread of the background loop starts by itself
                time.sleep(0.005)
        assert queue.flush(20)
        assert ended_in == [{holder!r}], ended_in
        assert "abandoned" in heard, heard
        """
    )
    assert done.returncode == 0
