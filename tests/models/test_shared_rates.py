"""Models of one address and key share a request rate, unless one has a quota of its own."""

import asyncio
import logging

import pytest
from support.garbage import collect_garbage
from support.rate_servers import FixedWindow, SlidingWindow, send
from support.virtual_time import VirtualTimeLoop, run

from jury_adapters import Critic, Limits, ModelError
from jury_adapters.models.registry import resolve_model
from jury_adapters.models.retries import Limiter
from jury_adapters.models.shared_rates import SharedRate, shared_rate


def rate_of(model, **settings):
    return resolve_model(model, **settings).limiter._rate.rate


# A common quota


@pytest.mark.slow
@pytest.mark.parametrize("phase", [0.013, 0.413, 0.813])
def test_a_jury_of_three_models_keeps_the_rate_of_their_common_quota(phase):
    done = send(FixedWindow(100, phase), 1024, models=3)
    assert done.failed == 0
    assert done.seconds_above(100, phase) <= 3
    assert done.seconds <= 1.2 * 3 * 1024 / 100
    assert done.share_refused(since=10) <= 0.05


def two_jobs(rules, seconds, *, in_flight=16, latency=0.2):
    """Run one job per model at the same time, and return the answers of each and the rates afterwards."""
    loop = VirtualTimeLoop()
    shared = SharedRate(loop.time)
    limiters = [Limiter(Limits(max_concurrency=in_flight, attempts=50), f"m{i}", loop.time, shared)
                for i in range(len(rules))]  # fmt: skip
    answers = [0] * len(rules)

    async def job(number):
        async def attempt():
            accepted = rules[number].accepts(loop.time())
            await asyncio.sleep(latency)
            if not accepted:
                raise ModelError("slow down", "rate_limited", status=429, retry_after=0.5)

        while True:
            await limiters[number].call(attempt, spent=lambda _: 0)
            answers[number] += 1

    async def main():
        tasks = [asyncio.create_task(job(number)) for number in range(len(rules)) for _ in range(in_flight)]
        await asyncio.sleep(seconds)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    run(main(), loop)
    return answers, [limiter._rate.rate for limiter in limiters]


@pytest.mark.slow
def test_a_model_with_a_quota_of_its_own_is_soon_not_slowed_by_another_with_the_same_key():
    (slow, fast), rates = two_jobs([SlidingWindow(4), SlidingWindow(10_000)], seconds=30)
    assert rates[0] is not rates[1]
    assert rates[1].limit is None
    assert fast >= 0.7 * 30 * 16 / 0.2  # nearly all that 16 in flight can get
    assert slow >= 0.7 * 30 * 4


@pytest.mark.slow
def test_two_jobs_with_a_common_quota_stay_together():
    rule = SlidingWindow(40)
    (first, second), rates = two_jobs([rule, rule], seconds=60)
    assert rates[0] is rates[1]
    assert first + second >= 0.8 * 60 * 40
    assert 0.8 < first / second < 1.25


def test_a_model_that_was_called_long_before_another_is_refused_does_not_leave_in_a_burst():
    """Only requests since the refusals began are compared."""
    now = [0.0]
    shared = SharedRate(lambda: now[0])
    calm, busy = shared.join("calm"), shared.join("busy")
    for _ in range(1000):
        now[0] += 0.1
        calm.rate.start()
        calm.sent += 1
    for _ in range(40):
        sent = busy.rate.start()
        busy.sent += 1
        busy.refused(busy.rate, sent)
    assert calm.rate is busy.rate


# Which models share


def test_models_of_the_same_address_and_key_share_a_rate():
    here = {"base_url": "http://127.0.0.1:9/v1", "api_key": "sk-one-one-one"}
    assert rate_of("openai:a", **here) is rate_of("openai:b", **here)
    assert rate_of("openai:a", **here) is rate_of("openai:a", **here, limits=Limits(attempts=2))


def test_another_address_or_another_key_has_another_rate():
    here = {"base_url": "http://127.0.0.1:9/v1", "api_key": "sk-one-one-one"}
    assert rate_of("openai:a", **here) is not rate_of("openai:a", **{**here, "api_key": "sk-two-two-two"})
    assert rate_of("openai:a", **here) is not rate_of("openai:a", **{**here, "base_url": "http://127.0.0.1:8/v1"})


def test_a_client_of_the_user_shares_with_models_that_send_its_key_to_its_address():
    from openai import AsyncOpenAI

    here = {"base_url": "http://127.0.0.1:9/v1", "api_key": "sk-one-one-one"}
    mine = rate_of("openai:c", client=AsyncOpenAI(**here))
    assert mine is rate_of("openai:a", **here)
    assert mine is not rate_of("openai:c", client=AsyncOpenAI(**{**here, "api_key": "sk-two-two-two"}))


def test_functions_share_with_none():
    async def first(prompt):
        return "YES"

    async def second(prompt):
        return "YES"

    critics = [Critic.from_criteria(function, "Is it right?", name=function.__name__) for function in (first, second)]
    rates = {id(critic.model.limiter._rate.rate) for critic in critics}
    assert len(rates) == 2


def test_a_rate_is_forgotten_with_its_last_model():
    kept = shared_rate("a quota").join("m")
    assert shared_rate("a quota").join("n").rate is kept.rate
    kept.rate.sent = 5
    del kept
    collect_garbage()
    assert shared_rate("a quota").join("m").rate.sent == 0


def test_the_log_names_the_models_that_share_the_rate(caplog):
    shared = SharedRate()
    models = [shared.join(f"openai:model-{number}") for number in range(5)]
    requests = [models[number % 5].rate.start() for number in range(64)]
    with caplog.at_level(logging.INFO, logger="jury_adapters"):
        for number, sent in enumerate(requests):
            models[number % 5].refused(models[0].rate, sent)
    assert "openai:model-0, openai:model-1, openai:model-2 and 2 more: " in caplog.text
