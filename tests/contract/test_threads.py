"""Functions in threads of their own, and juries inside functions: nothing waits for itself, nothing runs out."""

import asyncio
import threading
from contextvars import ContextVar

import pytest
from running import EACH_WAY, in_threads, passes, script

from jury_adapters import Ensemble, Status, judge

PASS, ERROR = Status.PASS, Status.ERROR
REFUSED = "on the event loop of a judge"


def test_every_call_of_a_function_has_a_daemon_thread_of_its_own():
    """Trap 15: a thread that hangs keeps no process from ending."""
    threads = set()

    @judge
    def notes(case):
        threads.add(threading.current_thread())
        return threading.current_thread().daemon

    assert all(judgment.passed for judgment in notes.judge_many(map(str, range(20))))
    assert len(threads) == 20
    assert threading.current_thread() not in threads


def test_no_pool_of_threads_is_exhausted():
    """Trap 15: 60 functions block at once."""
    together = threading.Barrier(60)
    blocks = judge(lambda case: together.wait(60) >= 0)
    assert all(judgment.passed for judgment in blocks.judge_many(map(str, range(60)), max_concurrency=60))


def test_functions_of_asynchronous_code_run_beside_its_loop():
    async def main():
        heard = asyncio.Event()
        loop = asyncio.get_running_loop()

        def asks_the_loop(case):
            loop.call_soon_threadsafe(heard.set)
            return asyncio.run_coroutine_threadsafe(heard.wait(), loop).result(30)

        return await Ensemble([asks_the_loop, passes]).ajudge("q")

    assert asyncio.run(main()).status is PASS


VALUE = ContextVar("value", default="unset")


def test_what_a_function_sets_in_its_context_stays_there():
    """Trap 15: the context is a copy."""

    def sets(case):
        VALUE.set("inside")
        return VALUE.get() == "inside"

    async def main():
        VALUE.set("outside")
        found = await Ensemble([sets, judge(sets, name="again")]).ajudge("q")
        return found.status, VALUE.get()

    assert asyncio.run(main()) == (PASS, "outside")


def nested(depth, innermost=passes):
    """Return a plain function that asks a jury of a plain function, and so on."""
    inner = innermost if depth == 0 else nested(depth - 1, innermost)
    jury = Ensemble([inner, judge(passes, name="other")], voting="unanimous")
    return lambda case: jury.judge(case).passed


@EACH_WAY
def test_juries_inside_functions_30_deep_wait_for_nobody(many):
    """Trap 15."""
    assert [judgment.status for _, judgment in many(judge(nested(30)), ["a", "b"])] == [PASS, PASS]


def test_juries_inside_functions_30_side_by_side_meet():
    """Trap 15: each innermost function waits for all others."""
    together = threading.Barrier(30)
    functions = {f"f{number}": nested(2, lambda case: together.wait(60) >= 0) for number in range(30)}
    assert Ensemble(functions, voting="unanimous").judge("q").status is PASS


def test_a_batch_inside_a_function_inside_a_batch():
    inner = judge(lambda case: len(case.question) < 3)
    outer = judge(lambda case: all(one.passed for one in inner.judge_many([case.question, "x"], max_concurrency=1)))
    found = [judgment.passed for judgment in outer.judge_many(["a", "long", "b"] * 20)]
    assert found == [True, False, True] * 20


def test_threads_of_an_executor_may_ask_judges():
    """Trap 15: on the loop, an asynchronous judge asks in a thread of the pool of asyncio."""
    inner = judge(lambda case: True)

    @judge
    async def outer(case):
        return (await asyncio.to_thread(inner.judge, case)).passed

    assert all(judgment.passed for judgment in outer.judge_many(map(str, range(50))))


ON_THE_LOOP = {
    "judge": lambda case: judge(passes).judge(case).passed,
    "judge_many": lambda case: [one.passed for one in judge(passes).judge_many([case])] == [True],
    "an inner jury": lambda case: Ensemble([passes]).judge(case).passed,
}


@pytest.mark.parametrize("way", ON_THE_LOOP.values(), ids=ON_THE_LOOP)
def test_synchronous_judging_on_the_loop_of_the_judges_is_refused_and_does_not_hang(way):
    @judge
    async def asks(case):
        return way(case)

    found = asks.judge("q")
    assert found.status is ERROR
    assert REFUSED in found.error
    assert "await judge.ajudge" in found.error


def test_many_threads_ask_one_judge_and_each_gets_its_own_answer():
    @judge
    async def echoes(case):
        await asyncio.sleep(0.001)
        return True, case.question

    found = in_threads(*[lambda name=str(n): echoes.judge(name).reasoning for n in range(32)])
    assert found == [str(n) for n in range(32)]


def test_a_function_that_ends_after_its_loop_disturbs_nobody():
    """Its judgment timed out, and the loop was closed. An exception in its thread would fail this test."""
    release, threads = threading.Event(), []

    def blocks(case):
        threads.append(threading.current_thread())
        release.wait(60)

    assert asyncio.run(judge(blocks, timeout=0.02).ajudge("q")).error == "timeout"
    release.set()
    threads[0].join(30)
    assert not threads[0].is_alive()


def test_what_is_imported_and_built_starts_no_thread():
    said = script("""
        jury = Ensemble([passes, hangs])
        queue = JudgeQueue(jury)
        say(threading.active_count())
        say(judge(lambda case: True).judge("q").status)
    """)
    assert said == ["1", "PASS"]
