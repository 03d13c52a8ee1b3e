"""Retries, deadlines, rates and adaptive concurrency: with plain coroutines, and against a real server."""

import asyncio
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest
from openai import AsyncOpenAI
from support.garbage import collect_garbage
from support.vendor import Act

from jury_adapters import ConfigurationError, Limits, ModelError
from jury_adapters.models.base import Prompt
from jury_adapters.models.registry import resolve_model
from jury_adapters.models.retries import Limiter
from jury_adapters.testing import ScriptedModel, no_waiting


def nothing(_):
    return 0


class Work:
    """Something to call that counts."""

    def __init__(self, seconds=0.0, failures=()):
        self.seconds, self.failures = seconds, list(failures)
        self.starts, self.now, self.most = [], 0, 0
        self._lock = threading.Lock()

    async def __call__(self):
        with self._lock:
            self.starts.append(time.perf_counter())
            self.now += 1
            self.most = max(self.most, self.now)
            error = self.failures.pop(0) if self.failures else None
        try:
            await asyncio.sleep(self.seconds)
            if error is not None:
                raise error
            return "done"
        finally:
            with self._lock:
                self.now -= 1


def many(limiter, work, count, **options):
    async def run():
        calls = (limiter.call(work, **{"spent": nothing, **options}) for _ in range(count))
        return await asyncio.gather(*calls, return_exceptions=True)

    return asyncio.run(run())


def server_model(server, **limits):
    return resolve_model("m", base_url=server.openai, limits=Limits(**limits))


async def ask_all(model, count):
    return await asyncio.gather(*(model.complete(Prompt.of(str(n))) for n in range(count)), return_exceptions=True)


@pytest.mark.parametrize(
    ("name", "value"),
    [("attempts", 0), ("attempts", True), ("attempts", 1.5), ("max_concurrency", 0), ("max_concurrency", "4"),
     ("max_wait_s", 0), ("deadline_s", -1), ("requests_per_minute", 0), ("tokens_per_minute", float("nan")),
     ("max_wait_s", "1"), ("max_wait_s", None)],
)  # fmt: skip
def test_limits_that_make_no_sense_are_refused_by_name(name, value):
    with pytest.raises(ConfigurationError, match=f"Limits.{name}"):
        Limits(**{name: value})


# Attempts


@pytest.mark.parametrize("attempts", [1, 2, 5])
def test_attempts_count_the_first_try_too(attempts):
    work = Work(failures=[ModelError("down", "server")] * 9)
    with no_waiting():
        (caught,) = many(Limiter(Limits(attempts=attempts)), work, 1)
    assert isinstance(caught, ModelError)
    assert len(work.starts) == attempts


def test_the_last_error_is_the_one_that_is_raised():
    errors = [ModelError("first", "server"), ModelError("last", "rate_limited")]
    with no_waiting():
        (caught,) = many(Limiter(Limits(attempts=2)), Work(failures=errors), 1)
    assert str(caught) == "last"


def test_what_cannot_help_ends_the_tries():
    errors = [ModelError("down", "server"), ModelError("no", "refused_request"), ModelError("never", "server")]
    work = Work(failures=errors)
    with no_waiting():
        (caught,) = many(Limiter(Limits()), work, 1)
    assert (str(caught), len(work.starts)) == ("no", 2)


def test_a_strange_error_is_passed_on_and_frees_its_slot():
    limiter = Limiter(Limits(max_concurrency=1))
    assert isinstance(many(limiter, Work(failures=[KeyError("x")]), 1)[0], KeyError)
    assert many(limiter, Work(), 2) == ["done", "done"]


# Deadline


def test_past_the_deadline_is_a_timeout_however_many_tries_are_left():
    work = Work(seconds=0.06, failures=[ModelError("down", "server")] * 99)
    started = time.perf_counter()
    with no_waiting():
        (caught,) = many(Limiter(Limits(attempts=99, deadline_s=0.3)), work, 1)
    assert caught.kind == "timeout"
    assert "deadline of 0.3 s" in str(caught)
    assert time.perf_counter() - started < 2
    assert 2 <= len(work.starts) <= 6


def test_waiting_for_a_slot_counts_into_the_deadline():
    limiter = Limiter(Limits(max_concurrency=1, deadline_s=1.0))
    results = many(limiter, Work(seconds=0.6), 3)
    assert results[0] == "done"
    assert [getattr(result, "kind", None) for result in results[1:]] == ["timeout", "timeout"]
    assert many(limiter, Work(), 1) == ["done"]


@pytest.mark.parametrize("deadline", [None, 5.0])
def test_a_models_own_timeout_error_is_not_taken_for_the_deadline(deadline):
    (caught,) = many(Limiter(Limits(deadline_s=deadline)), Work(failures=[TimeoutError("slow network")]), 1)
    assert type(caught) is TimeoutError
    assert str(caught) == "slow network"


# Concurrency


def test_concurrency_never_rises_above_the_limit_and_uses_all_of_it(server):
    server.plan = lambda ask: Act(delay=0.02)
    results = asyncio.run(ask_all(server_model(server, max_concurrency=5), 60))
    assert all(hasattr(result, "text") for result in results)
    assert server.most_in_flight == 5


def test_models_of_the_same_name_address_key_and_limits_share_their_slots(server):
    server.plan = lambda ask: Act(delay=0.02)

    async def run():
        models = [server_model(server, max_concurrency=3) for _ in range(4)]
        await asyncio.gather(*(ask_all(model, 6) for model in models))

    asyncio.run(run())
    assert server.most_in_flight == 3


@pytest.mark.slow
def test_a_server_that_takes_only_few_at_once_gets_every_call_through(server):
    server.plan = lambda ask: Act(status=429, error={}) if server.in_flight > 4 else Act(delay=0.005)
    with no_waiting():
        results = asyncio.run(ask_all(server_model(server, max_concurrency=32, attempts=50), 100))
    assert all(hasattr(result, "text") for result in results)


# Rates


def test_requests_per_minute_are_kept_by_the_clock():
    work = Work()
    many(Limiter(Limits(requests_per_minute=600)), work, 15)  # 10 a second, 10 at once
    starts = sorted(work.starts)
    assert starts[9] - starts[0] < 0.3
    assert 0.4 <= starts[14] - starts[9] < 1.5


def test_a_slower_rate_has_a_smaller_burst():
    work = Work()
    many(Limiter(Limits(requests_per_minute=300)), work, 8)  # 5 a second, 5 at once
    starts = sorted(work.starts)
    assert 0.5 <= starts[7] - starts[0] < 2


def test_retries_count_into_the_rate_of_requests():
    work = Work(failures=[ModelError("down", "server", retry_after=0.0)] * 8)
    many(Limiter(Limits(requests_per_minute=300, attempts=9)), work, 1)
    assert work.starts[-1] - work.starts[0] >= 0.5


def test_tokens_per_minute_are_kept_by_the_clock():
    work = Work()
    limiter = Limiter(Limits(tokens_per_minute=6000))  # 100 a second
    many(limiter, work, 6, estimate=25, spent=lambda _: 25)
    starts = sorted(work.starts)
    assert 0.4 <= starts[5] - starts[0] < 1.5


def test_an_estimate_that_was_too_high_is_given_back():
    limiter = Limiter(Limits(tokens_per_minute=6000))
    many(limiter, Work(), 1, estimate=100, spent=lambda _: 1)
    started = time.perf_counter()
    many(limiter, Work(), 1, estimate=90, spent=lambda _: 1)
    assert time.perf_counter() - started < 0.5


def test_an_estimate_that_was_too_low_is_paid_later():
    limiter = Limiter(Limits(tokens_per_minute=6000))
    many(limiter, Work(), 1, estimate=1, spent=lambda _: 150)
    started = time.perf_counter()
    many(limiter, Work(), 1, estimate=1, spent=lambda _: 1)
    assert 0.3 <= time.perf_counter() - started < 2


@pytest.mark.parametrize("rate", [{"requests_per_minute": 600}, {"tokens_per_minute": 600}])
def test_calls_that_gave_up_waiting_for_the_rate_leave_no_debt(rate):
    limiter = Limiter(Limits(deadline_s=0.3, **rate))  # 10 a second
    many(limiter, Work(), 60, estimate=1)  # most are past their deadline before it is their turn
    work = Work()
    assert many(limiter, work, 1, estimate=1) == ["done"]


def test_the_rate_holds_on_the_wire_too(server):
    started = time.perf_counter()
    results = asyncio.run(ask_all(server_model(server, requests_per_minute=600), 14))
    assert all(hasattr(result, "text") for result in results)
    assert time.perf_counter() - started >= 0.3


def test_without_waiting_a_rate_takes_no_time():
    started = time.perf_counter()
    with no_waiting():
        many(Limiter(Limits(requests_per_minute=60)), Work(), 50)
    assert time.perf_counter() - started < 1


# Cancellation


@pytest.mark.parametrize("after", [0.0, 0.01, 0.05])
def test_cancelled_calls_leave_every_slot_intact(after):
    limiter = Limiter(Limits(max_concurrency=3))

    async def run():
        work = Work(seconds=0.03)
        tasks = [asyncio.create_task(limiter.call(work, spent=nothing)) for _ in range(20)]
        await asyncio.sleep(after)
        for task in tasks[::2]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for task in tasks:
            task.cancel()
        work = Work(seconds=0.01)
        await asyncio.wait_for(asyncio.gather(*(limiter.call(work, spent=nothing) for _ in range(9))), 5)
        return work.most

    assert asyncio.run(run()) == 3


def test_a_call_cancelled_in_the_moment_its_turn_comes_passes_the_turn_on():
    limiter = Limiter(Limits(max_concurrency=1))

    async def run():
        first = asyncio.create_task(limiter.call(Work(seconds=0.01), spent=nothing))
        await asyncio.sleep(0)
        second = asyncio.create_task(limiter.call(Work(), spent=nothing))
        await asyncio.sleep(0)
        first.add_done_callback(lambda _: second.cancel())
        await asyncio.wait((first, second))
        return await asyncio.wait_for(limiter.call(Work(), spent=nothing), 5)

    assert asyncio.run(run()) == "done"


def test_a_loop_that_ends_with_calls_waiting_leaves_the_slots_to_others():
    limiter = Limiter(Limits(max_concurrency=1))

    async def abandon():
        for _ in range(5):
            _task = asyncio.create_task(limiter.call(Work(seconds=60), spent=nothing))
            abandoned.append(_task)
        await asyncio.sleep(0.01)

    abandoned = []
    asyncio.run(abandon())
    assert many(limiter, Work(), 2) == ["done", "done"]


# Many loops


def test_one_limiter_serves_many_loops_and_threads_at_once():
    limiter = Limiter(Limits(max_concurrency=4))
    work = Work(seconds=0.002)
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: many(limiter, work, 20), range(8)))
    assert results == [["done"] * 20] * 8
    assert work.most == 4


@pytest.mark.slow
def test_one_model_serves_many_loops_and_threads_at_once(server):
    server.plan = lambda ask: Act(delay=0.005) if ask.number % 10 else Act(status=500, error={})
    model = server_model(server, max_concurrency=4)
    with no_waiting(), ThreadPoolExecutor(6) as pool:
        results = [result for part in pool.map(lambda _: asyncio.run(ask_all(model, 15)), range(6)) for result in part]
    assert len(results) == 90
    assert all(hasattr(result, "text") for result in results)
    assert server.most_in_flight == 4


def test_a_loop_that_is_gone_is_not_kept_alive_by_its_client(server):
    async def run():
        await server_model(server).complete(Prompt.of("?"))
        return weakref.ref(asyncio.get_running_loop())

    gone = [asyncio.run(run()) for _ in range(3)]
    collect_garbage()
    assert [found() for found in gone] == [None, None, None]


def test_a_scripted_model_behind_limits_is_tried_again():
    script = ScriptedModel([ModelError("down", "server"), "YES"])
    with no_waiting():
        reply = asyncio.run(resolve_model(script).complete(Prompt.of("?")))
    assert (reply.text, len(script.calls)) == ("YES", 2)


def test_critics_of_one_object_share_its_limiter(server):
    client = AsyncOpenAI(api_key="k", base_url=server.openai)
    first, second = (resolve_model("m", client=client) for _ in range(2))
    assert first.limiter is second.limiter
    asyncio.run(client.close())
