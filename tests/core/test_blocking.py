"""Judges that wait without `await`: they run in worker threads, and one that holds the event loop is reported."""

import asyncio
import logging
import pickle
import threading
import time

import pytest

from jury_adapters import ConfigurationError, Ensemble, Judge, judge
from jury_adapters.grounding.screen import NamesAndNumbers

CASE = {"answer": "Yes."}


def sleeper(seconds=0.3, **options):
    @judge(**options)
    def sleeps(case):
        time.sleep(seconds)
        return True, threading.current_thread().name

    return sleeps


def meeting(count, **options):
    """A judge that waits until so many of its calls wait at once."""
    everyone = threading.Barrier(count)

    @judge(blocking=True, **options)
    def meets(case):
        everyone.wait(60)
        return True, threading.current_thread().name

    return meets


def test_four_blocking_functions_of_a_jury_run_beside_each_other():
    meets = meeting(4)
    verdict = Ensemble([meets.named(f"s{number}") for number in range(4)]).judge(CASE)
    assert verdict.passed
    assert {judgment.reasoning for judgment in verdict.judgments} == {"jury-judge"}


def test_blocking_functions_of_several_cases_run_beside_each_other():
    judged = list(meeting(4).judge_many([CASE] * 4))
    assert all(judgment.passed for judgment in judged)


def test_a_class_is_blocking_by_its_attribute():
    class Sleeps(Judge):
        blocking = True

        def assess(self, case):
            return ticked.wait(60), threading.current_thread().name

    async def ticking():
        ticks = asyncio.create_task(tick())
        judgment = await Sleeps().ajudge(CASE)
        ticks.cancel()
        return judgment

    ticked = threading.Event()

    async def tick():
        for _ in range(3):
            await asyncio.sleep(0)
        ticked.set()

    judgment = asyncio.run(ticking())
    assert (judgment.passed, judgment.reasoning) == (True, "jury-judge")
    assert Sleeps().judge(CASE).passed


def test_a_blocking_judge_may_ask_another_judge_and_break():
    asks = judge(blocking=True)(lambda case: Ensemble([sleeper(0.01, blocking=True)]).judge(case).passed)
    assert asks.judge(CASE).passed

    @judge(blocking=True)
    def breaks(case):
        raise OSError("no disk")

    assert breaks.judge(CASE).error == "OSError: no disk"


def test_a_time_limit_holds_for_a_blocking_judge():
    release, waited = threading.Event(), []
    judgment = judge(blocking=True, timeout=0.1)(lambda case: waited.append(release.wait(60))).judge(CASE)
    assert (judgment.status, judgment.error) == ("ERROR", "timeout")
    assert waited == []
    release.set()


def test_blocking_is_a_flag_that_survives_pickling_and_is_checked():
    made = Judge.from_function(len, name="length", blocking=True)
    assert pickle.loads(pickle.dumps(made)).blocking
    with pytest.raises(ConfigurationError, match="blocking is True or False, not 'yes'"):
        judge(blocking="yes")(len)


def test_a_function_that_holds_the_event_loop_is_reported_once(caplog):
    slow, quick = sleeper(0.08, name="slow"), judge(name="quick")(lambda case: True)

    async def judged():
        for _ in range(2):
            await Ensemble([slow, quick]).ajudge(CASE)

    with caplog.at_level(logging.WARNING):
        asyncio.run(judged())
    (told,) = [record.getMessage() for record in caplog.records]
    assert "'slow' held the event loop for" in told
    assert "@judge(blocking=True)" in told
    assert "Yes." not in told


def test_a_class_that_holds_the_event_loop_is_reported_too(caplog):
    class Slow(Judge):
        def assess(self, case):
            time.sleep(0.08)
            return True

    asyncio.run(Slow().ajudge(CASE))
    assert "blocking = True in its class" in caplog.text


def test_a_check_of_the_package_is_not_reported(caplog, monkeypatch):
    monkeypatch.setattr("jury_adapters.core.held_loop._LONGEST_S", 0.0)

    async def judged():
        await NamesAndNumbers().ajudge(answer="Ann left.", contexts=["Ann left."])

    asyncio.run(judged())
    assert not caplog.records


def test_slow_functions_of_one_jury_are_reported_without_an_event_loop_too(caplog):
    jury = Ensemble([sleeper(0.06, name="one"), sleeper(0.06, name="two"), judge(name="quick")(lambda case: True)])
    for _ in range(2):
        jury.judge(CASE)
    told = [record.getMessage() for record in caplog.records]
    assert [line.split("'")[1] for line in told] == ["one", "two"]
    assert all("while other jurors waited; run it in a worker thread: @judge(blocking=True)" in line for line in told)


def test_one_slow_function_in_a_jury_keeps_no_other_slow_one_waiting(caplog):
    Ensemble([sleeper(0.06, name="only"), judge(name="fast")(lambda case: True)]).judge(CASE)
    assert caplog.records == []


@pytest.mark.parametrize(
    ("name", "jury"), [("asks", lambda slow: slow), ("calls", lambda slow: Ensemble([slow, lambda case: True]))]
)
def test_a_slow_function_that_keeps_the_cases_of_a_batch_waiting_is_reported_once(caplog, name, jury):
    slow = sleeper(0.06, name=name)
    for _ in range(2):
        assert len(list(jury(slow).judge_many([CASE] * 3, max_concurrency=16))) == 3
    (told,) = [record.getMessage() for record in caplog.records]
    assert told.startswith(f"the judge {name!r} took ")
    assert told.endswith(
        " ms while the other cases of its batch waited; if it waits for something, run it in a worker thread: "
        "@judge(blocking=True), or blocking = True in its class"
    )


def test_a_function_that_is_slow_for_one_case_of_a_batch_is_not_reported(caplog):
    calls = []

    @judge(name="loads a model first")
    def loads_first(case):
        time.sleep(0 if calls else 0.06)
        calls.append(case)
        return True

    list(loads_first.judge_many([CASE] * 3))
    list(sleeper(0.06, name="one case").judge_many([CASE]))
    assert caplog.records == []


def test_a_slow_check_of_the_package_in_a_batch_is_not_reported(caplog, monkeypatch):
    monkeypatch.setattr("jury_adapters.core.held_loop._LONGEST_S", 0.0)
    list(NamesAndNumbers().judge_many([{"answer": "Ann left.", "contexts": ["Ann left."]}] * 3))
    assert caplog.records == []


def test_a_slow_function_without_an_event_loop_holds_up_no_one(caplog):
    sleeper(0.08, name="alone").judge(CASE)
    asyncio.run(sleeper(0.08, name="threaded", blocking=True).ajudge(CASE))
    assert caplog.records == []
