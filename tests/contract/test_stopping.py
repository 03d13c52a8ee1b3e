"""The end of a batch before its time: break, close, cancel and Ctrl-C leave nothing running."""

import asyncio
import gc
import signal
import sys
import threading
import time
from itertools import count

import pytest
from running import EACH_ORDER, Gauge, all_ends, asynchronous, passes, start, tasks_left, until

from jury_adapters import Case, Status, judge

PASS = Status.PASS


def first_is_quick(number=100):
    """Yield cases of which all but the first take a minute."""
    for place in range(number):
        yield Case(question=str(place), metadata={"seconds": 60 if place else 0})


def breaks_out(batch):
    for judgment in batch:
        assert judgment.reasoning == "0"
        break


def closes(batch):
    assert next(batch).reasoning == "0"
    batch.close()
    assert list(batch) == []


def raises(batch, error=LookupError):
    def consume():
        for judgment in batch:
            raise error(judgment.reasoning)

    with pytest.raises(error):
        consume()


def interrupts(batch):
    raises(batch, KeyboardInterrupt)


@EACH_ORDER
@pytest.mark.parametrize("leave", [breaks_out, closes, raises, interrupts])
def test_who_leaves_a_batch_cancels_what_is_in_flight(ordered, leave):
    """Trap 14."""
    gauge = Gauge()
    leave(judge(gauge).judge_many(first_is_quick(), max_concurrency=4, ordered=ordered))
    assert all_ends(gauge)
    assert gauge.finished == 1
    assert gauge.started <= 6
    assert judge(passes).judge("afterwards").passed


async def breaks_out_of(batch):
    async for judgment in batch:
        assert judgment.reasoning == "0"
        break
    del batch


async def closes_it(batch):
    assert (await anext(batch)).reasoning == "0"
    await batch.aclose()
    assert await anext(batch, None) is None


async def raises_in(batch):
    async def consume():
        async for judgment in batch:
            raise LookupError(judgment.reasoning)

    with pytest.raises(LookupError):
        await consume()


async def collected(batch, heard):
    async for _ in batch:
        heard.set()


async def is_cancelled_in(batch):
    heard = asyncio.Event()
    task = asyncio.create_task(collected(batch, heard))
    await heard.wait()
    await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.wait([task], timeout=30)
    assert task.cancelled()


async def runs_out_of_time_in(batch):
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(collected(batch, asyncio.Event()), 0.2)


@EACH_ORDER
@pytest.mark.parametrize("leave", [breaks_out_of, closes_it, raises_in, is_cancelled_in, runs_out_of_time_in])
@pytest.mark.parametrize("source", [lambda rows: rows, asynchronous], ids=["plain", "asynchronous"])
def test_who_leaves_an_asynchronous_batch_cancels_what_is_in_flight(ordered, leave, source):
    """Trap 14."""
    gauge = Gauge()

    async def main():
        await leave(judge(gauge).ajudge_many(source(first_is_quick()), max_concurrency=4, ordered=ordered))
        gc.collect()
        for _ in range(1000):
            if asyncio.all_tasks() == {asyncio.current_task()}:
                break
            await asyncio.sleep(0.01)
        return asyncio.all_tasks() == {asyncio.current_task()}

    assert asyncio.run(main())
    assert (gauge.now, gauge.finished) == (0, 1)
    assert gauge.started <= 6


def test_closing_waits_until_what_was_in_flight_has_cleaned_up():
    cleaned = []

    @judge
    async def cleans_up(case):
        try:
            await asyncio.sleep(60 if case.question == "1" else 0)
        finally:
            await asyncio.sleep(0.02)
            cleaned.append(case.question)

    async def main():
        batch = cleans_up.ajudge_many(["0", "1"])
        await anext(batch)
        await batch.aclose()
        return list(cleaned)

    assert asyncio.run(main()) == ["0", "1"]


def test_closing_cancels_a_source_that_waits():
    closed = []

    async def source():
        try:
            yield "one"
            await asyncio.sleep(60)
        finally:
            closed.append(True)

    async def main():
        batch = judge(passes).ajudge_many(source())
        await anext(batch)
        await batch.aclose()
        return [*closed], asyncio.all_tasks() == {asyncio.current_task()}

    assert asyncio.run(main()) == ([True], True)


@EACH_ORDER
def test_a_batch_that_is_closed_before_it_starts_or_at_once_leaves_nothing(ordered):
    """Warnings are errors here, so nothing is left that was never awaited."""

    async def main():
        await judge(passes).ajudge_pairs(["a"], ordered=ordered).aclose()
        batch = judge(passes).ajudge_many([{"bad": 1}, "a", "b"], ordered=ordered)
        assert (await anext(batch)) is not None
        await batch.aclose()

    asyncio.run(main())
    judge(passes).judge_many(["a"], ordered=ordered).close()
    batch = judge(passes).judge_many([{"bad": 1}, "a", "b"], ordered=ordered)
    next(batch)
    batch.close()
    assert until(lambda: all_ends(Gauge()))
    gc.collect()


def test_closing_does_not_wait_for_a_function_that_hangs():
    release, running = threading.Event(), threading.Event()

    @judge
    def hangs(case):
        if case.question == "0":
            return running.wait(30)
        running.set()
        return release.wait(60)

    batch = hangs.judge_many(map(str, count()), max_concurrency=2)
    assert next(batch).passed
    started = time.monotonic()
    batch.close()
    assert time.monotonic() - started < 20
    release.set()


@EACH_ORDER
def test_a_case_that_waits_for_its_turn_is_not_begun_when_the_others_are_cancelled(ordered):
    """Each would send a request. The first case lets go when the window of 16 is full: 4 run then, and 11 wait."""
    begun, interval = [], sys.getswitchinterval()

    async def waits(case):
        begun.append(case.question)
        while case.question != "0" or len(read) < 16:
            await asyncio.sleep(0.001)
        return True

    sys.setswitchinterval(1e-6)  # the loop may run between any two cancellations
    try:
        for _ in range(8):
            read = []
            begun.clear()
            batch = judge(waits).judge_many(
                (read.append(n) or str(n) for n in count()), max_concurrency=4, ordered=ordered
            )
            next(batch)
            assert until(lambda: len(begun) == 5)
            batch.close()
            assert until(lambda: tasks_left() == 0)
            assert len(begun) == 5
    finally:
        sys.setswitchinterval(interval)


# Ctrl-C

INTERRUPTED = {
    "one case": "Ensemble([asleep, passes]).judge('q')",
    "in order": "list(judge(asleep).judge_many(rows(), max_concurrency=1))",
    "as finished": "list(judge(asleep).judge_many(rows(), ordered=False, max_concurrency=1))",
    "a source that waits": "list(judge(asleep).judge_many(rows(then=60), max_concurrency=1))",
    "asynchronous code": "asyncio.run(collected(judge(asleep).ajudge_many(rows(), max_concurrency=1)))",
    "one case of asynchronous code": "asyncio.run(Ensemble([asleep, passes]).ajudge('q'))",
}
ENDED = ["PASS", "cancelled", "interrupted"]


def test_ctrl_c_ends_the_work_at_once_and_leaves_nothing_running():
    """Trap 5: a Ctrl-C in the main thread is one; and the package goes on working."""
    script = f"""
        def rows(then=0):
            for number in range(100):
                yield str(number)
                time.sleep(then)

        async def collected(batch):
            return [one async for one in batch]

        @judge
        async def counts(case):
            return len(asyncio.all_tasks()) == 1

        async def asleep(case):
            try:
                say("asleep")
                await asyncio.sleep(60)
            finally:
                say("cancelled")

        for work in [{", ".join(f"lambda: {work}" for work in INTERRUPTED.values())}]:
            try:
                work()
            except KeyboardInterrupt:
                say("interrupted")
            for _ in range(1000):
                if counts.judge("is anything left?").passed:
                    break
                time.sleep(0.01)
            say(counts.judge("is anything left?").status)
    """
    found = []
    with start(script) as process:
        try:
            for _ in INTERRUPTED:
                assert process.stdout.readline() == "asleep\n"
                time.sleep(0.3)
                process.send_signal(signal.SIGINT)
                found.append(sorted(process.stdout.readline().strip() for _ in range(3)))
            out, err = process.communicate(timeout=50)
        finally:
            process.kill()
    wrong = {name: said for name, said in zip(INTERRUPTED, found, strict=True) if said != ENDED}
    assert wrong == {}
    assert (out, err, process.returncode) == ("", "", 0)


@pytest.mark.parametrize("judges", ["hangs", "asleep"])
def test_ctrl_c_ends_the_process_whatever_hangs(judges):
    with start(f"say('begin')\nlist(judge({judges}).judge_many(map(str, range(100))))") as process:
        try:
            assert process.stdout.readline() == "begin\n"
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=50)
        finally:
            process.kill()
    assert process.returncode == -signal.SIGINT
    assert err.splitlines()[-1] == "KeyboardInterrupt"


def test_ctrl_c_keeps_what_was_delivered():
    script = """
        async def quick_at_first(case):
            await asyncio.sleep(0 if int(case.question) < 5 else 60)
            return True

        found = []
        try:
            for judgment in judge(quick_at_first).judge_many(map(str, range(100)), ordered=False):
                found.append(judgment)
                if len(found) == 5:
                    say("five")
        except KeyboardInterrupt:
            say(len(found), all(one.passed for one in found))
    """
    with start(script) as process:
        try:
            assert process.stdout.readline() == "five\n"
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=50)
        finally:
            process.kill()
    assert (out, err) == ("5 True\n", "")
