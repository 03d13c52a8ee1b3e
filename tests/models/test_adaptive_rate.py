"""The rate that adapts to 429s: against simulated servers in virtual time, and against a real one."""

import asyncio
import threading
import time
from collections import deque

import pytest
from support.examples import SLOW
from support.rate_servers import AtRandom, FixedWindow, PerMinute, SlidingWindow, TokenBucket, send
from support.vendor import WELL, Act, error
from support.virtual_time import VirtualTimeLoop, run

from jury_adapters import Limits, ModelError
from jury_adapters.models.adaptive_rate import AdaptiveRate
from jury_adapters.models.base import Prompt
from jury_adapters.models.rate_limits import paced
from jury_adapters.models.registry import resolve_model
from jury_adapters.models.retries import Limiter
from jury_adapters.testing import no_waiting

pytestmark = pytest.mark.corpus


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


def second(rate, clock, sent, refused):
    """One second of so many requests, so many of them refused, evenly spread."""
    begun = clock.now
    for number in range(sent):
        clock.now = begun + number / sent
        request = rate.start()
        if (number + 1) * refused // sent > number * refused // sent:
            rate.refused(request)
    clock.now = begun + 1


# Load-dependent refusals


@pytest.mark.parametrize("retry_after", [1.0, pytest.param(0.25, marks=pytest.mark.slow), None])
@pytest.mark.parametrize("latency", [pytest.param(0.001, marks=pytest.mark.slow), 0.05, 0.2])
@pytest.mark.parametrize("most", [20, 50, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("window", [FixedWindow, SlidingWindow, TokenBucket])
def test_refusals_that_depend_on_the_load_lower_the_rate_to_just_below_what_is_accepted(
    window, most, latency, retry_after
):
    done = send(window(most), 20 * most, latency=latency, retry_after=retry_after)
    assert done.failed == 0
    assert done.seconds <= 1.2 * 20
    assert done.share_refused(since=10) <= 0.05
    # A bucket that saves unused requests accepts more than its rate for a while.
    assert done.seconds_above(most) <= (10 if window is TokenBucket else 4)


@pytest.mark.slow
def test_a_rate_per_second_is_exceeded_for_two_seconds_wherever_the_seconds_begin():
    above = []
    for phase in (0.013, 0.113, 0.313, 0.513, 0.713, 0.863, 0.913, 0.963)[:: 1 if SLOW else 2]:
        done = send(FixedWindow(100, phase), 2000, latency=0.05)
        above.append(done.seconds_above(100, phase))
        assert done.seconds < 1.2 * 20
    assert max(above) <= 3
    assert sorted(above)[-2] <= 2


@pytest.mark.slow
def test_a_quota_per_minute_is_used_again_as_soon_as_the_minute_is_over():
    done = send(PerMinute(600), 1800, latency=0.2, retry_after="minute")
    assert done.failed == 0
    assert done.seconds < 120 + 30
    assert done.share_refused() < 0.25


@pytest.mark.slow
def test_a_rate_that_was_lowered_rises_again_when_the_server_accepts_more():
    class Recovering(SlidingWindow):
        def accepts(self, now):
            self.most = 20 if now < 30 else 200
            return super().accepts(now)

    done = send(Recovering(20), 600 + 60 * 150)
    assert done.seconds < 150
    assert done.share_refused(since=10) < 0.05


# Refusals at random


@pytest.mark.parametrize(("share", "latency", "slower"), [
    pytest.param(0.01, 0.2, 1.1, marks=pytest.mark.slow), (0.02, 0.2, 1.1), (0.05, 0.2, 1.1), (0.05, 2.0, 1.15),
    pytest.param(0.1, 0.2, 1.2, marks=pytest.mark.slow), (0.2, 0.2, 1.25),
])  # fmt: skip
def test_refusals_at_random_cost_little(share, latency, slower):
    count = int(64 / latency * (10 if latency < 1 else 40))
    bare = send(AtRandom(share), count, latency=latency, adaptive=False)
    ours = send(AtRandom(share), count, latency=latency)
    assert ours.failed == 0
    assert ours.seconds <= slower * bare.seconds


def test_single_refusals_change_nothing():
    clock = Clock()
    rate = AdaptiveRate(clock=clock)
    for _ in range(60):
        second(rate, clock, 100, 2)
    assert rate.limit is None


# The rule, step by step


def limited(sent=100, refused=40):
    clock = Clock()
    rate = AdaptiveRate(clock=clock)
    second(rate, clock, sent, refused)
    while rate.limit is None and clock.now < 1003:
        second(rate, clock, 0, 0) or rate.delay(0.0)
    return rate, clock


def test_a_tenth_of_the_requests_refused_limits_the_rate_below_the_goodput():
    rate, _ = limited(100, 15)
    assert rate.limit == pytest.approx(0.8 * 85, rel=0.02)


def test_fewer_refusals_over_three_seconds_limit_it_too():
    clock = Clock()
    rate = AdaptiveRate(clock=clock)
    for _ in range(2):
        second(rate, clock, 100, 5)
        assert rate.limit is None
    for _ in range(2):
        second(rate, clock, 100, 5)
    assert rate.limit == pytest.approx(0.95 * 95, rel=0.02)


def test_a_slow_start_is_not_taken_for_what_the_vendor_accepts():
    clock = Clock()
    rate = AdaptiveRate(clock=clock)
    for sent in (40, 300, 300, 300):
        second(rate, clock, sent, sent // 20)
    assert rate.limit == pytest.approx(0.95 * 285, rel=0.03)


def test_a_storm_limits_it_before_the_second_is_over():
    clock = Clock()
    rate = AdaptiveRate(clock=clock)
    requests = [rate.start() for _ in range(64)]
    clock.now += 0.2
    for request in requests[20:]:
        rate.refused(request)
    assert rate.limit == pytest.approx(0.8 * 20)


def test_ten_seconds_that_need_less_lift_the_limit():
    rate, clock = limited()
    for _ in range(15):
        second(rate, clock, 2, 0)
    assert rate.limit is None


def test_without_a_single_success_the_limit_is_halved():
    rate, clock = limited()
    before = rate.limit
    for _ in range(4):
        second(rate, clock, 30, 30)
    assert rate.limit <= before / 2


@pytest.mark.slow
def test_a_wait_for_a_retry_grows_even_if_the_vendor_asks_for_a_short_one():
    """Else a short Retry-After uses up all tries before the rate has adapted."""
    loop = VirtualTimeLoop()

    async def refused():
        raise ModelError("slow down", "rate_limited", retry_after=0.01)

    async def main():
        begun = loop.time()
        limiter = Limiter(Limits(attempts=8), clock=loop.time)
        results = await asyncio.gather(
            *(limiter.call(refused, spent=lambda _: 0) for _ in range(20)), return_exceptions=True
        )
        assert all(isinstance(result, ModelError) for result in results)
        return loop.time() - begun

    assert run(main(), loop) > 10


# Pacing


def test_limited_requests_are_sent_one_by_one_across_loops_and_threads():
    rate, clock = limited()
    simulated, begun = clock.now, time.monotonic()
    rate._clock = lambda: simulated + time.monotonic() - begun  # the machine may have started after the simulated time
    rate._set(50.0)
    rate._begin(rate._clock())
    times = deque()

    async def send_some():
        for _ in range(5):
            await paced(rate)
            times.append(time.monotonic())

    threads = [threading.Thread(target=lambda: asyncio.run(send_some())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(times) == 20
    assert max(times) - min(times) >= 0.9 * 19 / 60


def test_unused_rate_is_not_saved_up():
    loop = VirtualTimeLoop()

    async def main():
        clock = loop.time
        rate = AdaptiveRate(clock=clock)
        rate._restrict(10 / 0.8, 0.5, clock())
        await asyncio.sleep(5)
        begun = clock()
        for _ in range(4):
            await paced(rate)
        return clock() - begun

    assert run(main(), loop) >= 0.29


def test_without_waiting_paced_requests_take_no_time():
    rate = AdaptiveRate()
    rate._restrict(0.2, 0.5, time.monotonic())
    loop = VirtualTimeLoop()  # in which every wait would show

    async def main():
        begun = loop.time()
        await paced(rate)
        return loop.time() - begun

    with no_waiting():
        assert run(main(), loop) < 0.1


def test_a_wait_for_a_retry_holds_no_place_among_the_calls_in_flight():
    limiter = Limiter(Limits(max_concurrency=1))
    order = []

    async def refused_once():
        order.append("first")
        if order.count("first") == 1:
            raise ModelError("slow down", "rate_limited", retry_after=0.3)

    async def other():
        order.append("other")

    async def main():
        first = asyncio.create_task(limiter.call(refused_once, spent=lambda _: 0))
        await asyncio.sleep(0.05)
        await limiter.call(other, spent=lambda _: 0)
        await first

    asyncio.run(main())
    assert order == ["first", "other", "first"]


# Over HTTP


def asked(server, count, in_flight=64, base="openai"):
    async def main():
        model = resolve_model("m", base_url=server.openai, limits=Limits(max_concurrency=in_flight, attempts=12))
        await asyncio.gather(*(model.complete(Prompt.of(f"{number}")) for number in range(count)))
        return model.limiter

    return asyncio.run(main())


@pytest.mark.slow
def test_over_http_a_rate_limit_of_the_server_is_kept_after_the_first_seconds(server):
    rule, times = SlidingWindow(40), deque()

    def plan(ask):
        now = time.monotonic()
        times.append((now, rule.accepts(now)))
        return WELL if times[-1][1] else error(429)

    server.plan = plan
    server.plan = lambda ask: act if (act := plan(ask)) is WELL else Act(429, error={}, headers={"retry-after": "1"})
    asked(server, 240)
    late = [accepted for at, accepted in times if at > times[0][0] + 3]
    assert late.count(False) <= 0.25 * len(late)  # 37 % without a rate; a busy machine sends in bursts
    assert times[-1][0] - times[0][0] < 2.5 * 6 + 5


@pytest.mark.slow
def test_over_http_random_refusals_leave_the_rate_unlimited(server):
    server.plan = lambda ask: (
        Act(status=429, error={}, headers={"retry-after-ms": "50"}) if ask.number % 40 == 7 else Act(delay=0.02)
    )
    limiter = asked(server, 800 if SLOW else 400)
    assert limiter._rate.rate.limit is None
    assert server.most_in_flight > 32
