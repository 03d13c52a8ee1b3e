"""Judges that call judges, also themselves, and what runs them."""

import asyncio
import contextvars
import threading

import pytest

from jury_adapters import Case, ConfigurationError, Ensemble, Status, judge
from jury_adapters.core import event_loop
from jury_adapters.core.judge import Judge


def endless(ask):
    """A judge that asks itself, and counts how often."""
    calls = []

    @judge
    async def itself(case):
        calls.append(1)
        await asyncio.sleep(0)
        return await ask(itself, case)

    return itself, calls


async def directly(juror, case):
    return await juror.ajudge(case)


async def in_a_jury(juror, case):
    return (await Ensemble([juror, lambda case: True], schedule="parallel").ajudge(case)).judgments[0]


async def in_a_task(juror, case):
    return await asyncio.create_task(juror.ajudge(case))


async def in_a_thread(juror, case):
    return await asyncio.to_thread(lambda: asyncio.run(juror.ajudge(case)))


async def by_a_batch(juror, case):
    (judgment,) = [judgment async for judgment in juror.ajudge_many([case])]
    return judgment


async def in_the_executor(juror, case):
    return await asyncio.get_running_loop().run_in_executor(None, juror.judge, case)


@pytest.mark.parametrize("ask", [directly, in_a_jury, in_a_task, in_a_thread, by_a_batch, in_the_executor])
@pytest.mark.parametrize("way", ["judge", "ajudge"])
def test_a_judge_that_calls_itself_is_stopped(ask, way):
    itself, calls = endless(ask)
    judgment = itself.judge("q") if way == "judge" else asyncio.run(itself.ajudge("q"))
    assert judgment.status is Status.ERROR
    assert "RecursionError" in str(judgment.error) + judgment.reasoning
    assert 1 < len(calls) <= 100


async def in_an_empty_context(juror, case):
    return await asyncio.get_running_loop().create_task(juror.ajudge(case), context=contextvars.Context())


@pytest.mark.slow
def test_a_judge_that_calls_itself_in_empty_contexts_is_stopped():
    itself, calls = endless(in_an_empty_context)
    assert "RecursionError" in str(itself.judge("q"))
    assert 1000 < len(calls) <= 10_001


@pytest.mark.slow
def test_a_judge_that_calls_itself_in_new_threads_is_stopped():
    calls = []

    class Endless(Judge):
        def assess(self, case):
            calls.append(1)
            found = []
            thread = threading.Thread(target=lambda: found.append(self.judge(case)))
            thread.start()
            thread.join()
            return found[0]

    assert "RecursionError" in str(Endless().judge("q").error)
    assert 100 < len(calls) <= 501


@pytest.mark.slow
def test_one_case_may_be_judged_many_times_at_once():
    @judge
    async def waits(case):
        await asyncio.sleep(0.5)
        return True

    async def many():
        case = Case(question="q")
        return await asyncio.gather(*(waits.ajudge(case) for _ in range(5000)))

    assert all(judgment.passed for judgment in asyncio.run(many()))


@pytest.mark.slow
def test_one_case_may_be_judged_in_many_threads_at_once():
    case, together, found = Case(question="q"), threading.Barrier(200), []

    @judge
    def waits(case):
        together.wait(30)
        return True

    threads = [threading.Thread(target=lambda: found.append(waits.judge(case))) for _ in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [judgment.passed for judgment in found] == [True] * 200


def test_threads_of_the_executor_that_wait_for_judges_do_not_run_out():
    @judge
    async def inner(case):
        return await asyncio.to_thread(lambda: True)

    @judge
    async def outer(case):
        return await asyncio.get_running_loop().run_in_executor(None, inner.judge, case)

    assert all(judgment.passed for judgment in outer.judge_many([{"question": f"q{n}"} for n in range(100)]))


def test_what_the_outer_calls_of_a_judge_say_is_up_to_the_judge():
    @judge
    async def itself(case):
        return (await itself.ajudge(case)).status is Status.ERROR

    assert itself.judge("q").status in (Status.PASS, Status.FAIL)


def test_a_judge_that_calls_itself_several_times_at_once_is_stopped_early():
    async def ask(itself, case):
        first, *_ = await asyncio.gather(*(itself.ajudge(case) for _ in range(3)))
        return first

    itself, calls = endless(ask)
    assert itself.judge("q").status is Status.ERROR
    assert len(calls) < 1000


def test_a_judge_may_call_itself_for_other_cases():
    @judge
    async def halves(case):
        if len(case.answer) < 2:
            return True
        middle = len(case.answer) // 2
        parts = [await halves.ajudge(answer=part) for part in (case.answer[:middle], case.answer[middle:])]
        return all(part.passed for part in parts)

    assert halves.judge(answer="x" * 1000).passed


def test_synchronous_judges_are_stopped_too():
    class Endless(Judge):
        def assess(self, case):
            return self.judge(case)

    assert "RecursionError" in str(Endless().judge("q").error)


def test_judges_one_after_the_other_are_not_deep():
    @judge
    async def asks_many(case):
        return all([(await leaf.ajudge(case)).passed for _ in range(300)])

    @judge
    async def leaf(case):
        await asyncio.sleep(0)
        return True

    assert asks_many.judge("q").passed


def test_a_deep_jury_judges():
    jury = judge(lambda case: True)
    for _ in range(40):
        jury = Ensemble([jury])
    assert jury.judge("q").passed


def test_without_asyncio_ajudge_says_what_it_requires():
    jury = Ensemble([lambda case: True])
    for call in (jury.ajudge("q"), anext(aiter(jury.ajudge_many(["q"])))):
        with pytest.raises(ConfigurationError, match="requires asyncio"):
            call.send(None)


def test_under_trio_ajudge_says_what_it_requires_and_what_it_says_works():
    import trio

    @judge
    async def waits(case):
        await asyncio.sleep(0.001)
        return True

    jury = Ensemble([waits, lambda case: True])

    async def main():
        with pytest.raises(ConfigurationError, match=r"ajudge\(\) requires asyncio.*trio.to_thread.run_sync"):
            await jury.ajudge("q")
        with pytest.raises(ConfigurationError, match=r"ajudge_many\(\) requires asyncio"):
            async for _ in jury.ajudge_many(["q"]):
                pass
        return await trio.to_thread.run_sync(jury.judge, "q")

    assert trio.run(main).passed


def test_a_judge_that_never_waits_may_await_another_one():
    class Asks(Judge):
        inline = True

        async def assess(self, case):
            return await judge(lambda case: True).ajudge(case)

    assert Asks().judge("q").passed
    assert not event_loop.runs_inline()
