import asyncio
import time

import pytest

from jury_adapters import ConfigurationError, Critic, Ensemble, Limits, ModelError
from jury_adapters.checks import always_pass
from jury_adapters.ray.rates import PermitGrant, PermitRequest, RateServer
from jury_adapters.ray.sharing import SharedLimiter, share_limits
from jury_adapters.voting import all_of


class Here:
    """Rate servers in this process; they can be made to fail."""

    def __init__(self) -> None:
        self.rate_servers: dict[str, RateServer] = {}
        self.visits = 0
        self.down = False

    async def exchange(self, key: str, limits: Limits, worker: str, ask: PermitRequest) -> PermitGrant:
        self.visits += 1
        await asyncio.sleep(0.001)
        if self.down:
            raise OSError("the rate server is gone")
        rate_server = self.rate_servers.setdefault(key, RateServer(limits, time.monotonic()))
        return rate_server.exchange(worker, ask, time.monotonic())


class Vendor:
    """Takes calls, and knows how many it had at once and when."""

    def __init__(self, seconds: float = 0.005) -> None:
        self.at: list[float] = []
        self.in_flight = self.most = 0
        self.seconds = seconds

    async def answer(self) -> int:
        self.at.append(time.monotonic())
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        try:
            await asyncio.sleep(self.seconds)
        finally:
            self.in_flight -= 1
        return 10


def limiters(source: Here, limits: Limits, workers: int = 3) -> list[SharedLimiter]:
    return [SharedLimiter(limits, "a model", source, "key") for _ in range(workers)]


async def many(shared: list[SharedLimiter], vendor: Vendor, calls: int) -> None:
    await asyncio.gather(
        *(shared[n % len(shared)].call(vendor.answer, estimate=10, spent=lambda tokens: tokens) for n in range(calls))
    )


def test_all_workers_together_keep_the_slots_and_a_call_is_no_visit_each():
    source, vendor = Here(), Vendor()
    asyncio.run(many(limiters(source, Limits(max_concurrency=7)), vendor, 600))
    assert len(vendor.at) == 600
    assert vendor.most <= 7
    assert source.visits < 200


@pytest.mark.slow
def test_all_workers_together_keep_the_rate():
    source, vendor = Here(), Vendor()
    asyncio.run(many(limiters(source, Limits(requests_per_minute=6000)), vendor, 250))
    assert len(vendor.at) == 250
    took = vendor.at[-1] - vendor.at[0]
    assert len(vendor.at) <= 100 + took * 100 + 1


def test_a_worker_that_had_nothing_to_do_for_a_while_goes_on():
    async def run() -> None:
        shared = limiters(source, Limits(max_concurrency=2, requests_per_minute=60_000))
        for _ in range(3):
            await many(shared, vendor, 20)
            await asyncio.sleep(0.3)

    source, vendor = Here(), Vendor()
    asyncio.run(run())
    assert len(vendor.at) == 60
    assert vendor.most <= 2


def test_without_its_rate_server_no_call_starts_and_with_it_again_all_do():
    async def run() -> None:
        source.down = True
        work = asyncio.create_task(many(limiters(source, Limits()), vendor, 30))
        await asyncio.sleep(0.2)
        assert not vendor.at
        source.down = False
        await work

    source, vendor = Here(), Vendor()
    asyncio.run(run())
    assert len(vendor.at) == 30


def test_a_cancelled_call_gives_its_slot_back():
    async def run() -> None:
        shared = limiters(source, Limits(max_concurrency=1), workers=1)
        slow = Vendor(seconds=30)
        first = asyncio.create_task(many(shared, slow, 1))
        second = asyncio.create_task(many(shared, vendor, 1))
        await asyncio.sleep(0.2)
        first.cancel()
        await asyncio.wait([first])
        await second

    source, vendor = Here(), Vendor()
    asyncio.run(run())
    assert len(vendor.at) == 1


def test_a_429_costs_the_workers_no_slot():
    async def refused() -> int:
        raise ModelError("slow down", "rate_limited", retry_after=0.0)

    async def run() -> None:
        (limiter,) = limiters(source, Limits(attempts=1, max_concurrency=8), workers=1)
        with pytest.raises(ModelError):
            await limiter.call(refused, spent=lambda tokens: tokens)
        await many([limiter], vendor, 40)

    source, vendor = Here(), Vendor()
    asyncio.run(run())
    assert vendor.most == 8


def test_the_wait_for_a_permit_is_no_part_of_the_deadline():
    async def run() -> None:
        source.down = True
        (limiter,) = limiters(source, Limits(deadline_s=0.1), workers=1)
        work = asyncio.create_task(many([limiter], vendor, 1))
        await asyncio.sleep(0.3)
        source.down = False
        await work

    source, vendor = Here(), Vendor()
    asyncio.run(run())
    assert len(vendor.at) == 1


def test_every_model_in_a_jury_shares_and_a_vendor_can_share_as_one(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-first-0123456789")

    def keys(limits: dict[str, Limits]) -> list[str]:
        critics = [Critic(f"openai:{n}", "correctness_without_reference", name=n) for n in ("gpt-4o", "gpt-4o-mini")]
        assert share_limits(Ensemble([all_of(critics[0]), critics[1]]), Here(), limits) == 2
        return [critic.model.limiter._key for critic in critics]

    own, together = keys({}), keys({"openai": Limits(requests_per_minute=60)})
    assert len(set(own)) == 2
    assert len(set(together)) == 1
    monkeypatch.setenv("OPENAI_API_KEY", "sk-second-0123456789")
    assert not set(keys({})) & set(own), "another key has limits of its own"
    assert "0123456789" not in str(own + together)


@pytest.mark.parametrize("name", ["opnai", "gpt-4o", "openai:gpt-4o-mini", "OpenAI"])
def test_limits_that_no_model_has_are_refused_and_not_left_unused(name):
    jury = Ensemble([Critic("openai:gpt-4o", "faithfulness", api_key="none", name="a")])
    with pytest.raises(ConfigurationError, match=f"limits= has '{name}', .*it asks openai:gpt-4o$"):
        share_limits(jury, Here(), {"openai": Limits(), name: Limits(requests_per_minute=5)})


def test_limits_of_a_jury_without_models_are_refused():
    with pytest.raises(ConfigurationError, match="it asks no model"):
        share_limits(always_pass(), Here(), {"openai": Limits(requests_per_minute=5)})
