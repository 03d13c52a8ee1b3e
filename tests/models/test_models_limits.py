"""Limits: retries, slots that adapt, rates, the deadline, and the end of asking a model that is down."""

import asyncio
import logging
import random

import pytest
from fact_tables import each_row, run_by
from hypothesis import given, settings
from hypothesis import strategies as st
from model_asking import failed, prompt
from model_rates import DONE, at_random, bucket, run, send, sliding, window
from model_server import KEY, answer, error, response, well
from pydantic import ValidationError

from jury_adapters.core.judgment import Usage
from jury_adapters.models import FunctionModel, ModelError, Options, open_model
from jury_adapters.models import limits as module
from jury_adapters.models.limits import Limiter, Limits, Slots, ask_model, limiter_of
from jury_adapters.testing import ScriptedModel

DOWN = ModelError("no server", "unavailable", transient=True, sent=False)
CUT = ModelError("broke off", "bad_reply", transient=True)
SLOW_DOWN = ModelError("slow down", "rate_limited", transient=True, retry_after=1.0, sent=False)
NO_KEY = ModelError("wrong key", "account", sent=False)
WRONG = ModelError("wrong request", "refused", sent=False)
BUSY = ModelError("come back in an hour", "rate_limited", transient=True, retry_after=3600.0, sent=False)
LATE = ModelError("late", "timeout", transient=True)


class Attempts:
    """Attempts with prepared outcomes, the last again and again; each takes a second. `at` has their times."""

    def __init__(self, *outcomes, seconds=1.0):
        self.outcomes, self.seconds, self.at = outcomes, seconds, []

    async def __call__(self):
        self.at.append(asyncio.get_running_loop().time())
        outcome = self.outcomes[min(len(self.at), len(self.outcomes)) - 1]
        await asyncio.sleep(self.seconds)
        if isinstance(outcome, ModelError):
            raise ModelError(
                str(outcome), outcome.kind, transient=outcome.transient, retry_after=outcome.retry_after,
                sent=outcome.sent,
            )  # fmt: skip
        return outcome


def called(*outcomes, **limits):
    """Make one call in virtual time, and return its reply or error, the attempts, and its seconds."""

    async def main():
        attempts, begun = Attempts(*outcomes), asyncio.get_running_loop().time()
        try:
            found = await Limiter(Limits(**limits), "the model").call(attempts)
        except ModelError as error:
            found = error
        return found, attempts, asyncio.get_running_loop().time() - begun

    return run(main())


# Retries


@each_row(
    ("outcomes", "limits", "end", "number"),
    [
        ([DONE], {}, DONE, 1),
        *(([error, error, DONE], {}, DONE, 3) for error in (DOWN, CUT, SLOW_DOWN, LATE)),
        *(([error, DONE], {}, error, 1) for error in (NO_KEY, WRONG)),
        ([CUT, DOWN], {"attempts": 4}, DOWN, 4),
        # Refusals for the rate use up no attempts, but a wait beyond the deadline is not begun.
        ([*[SLOW_DOWN] * 20, CUT, DONE], {"attempts": 2}, DONE, 22),
        ([BUSY, DONE], {}, BUSY, 1),
    ],
)
def test_what_may_pass_is_tried_again_until_attempts_end(outcomes, limits, end, number):
    found, attempts, seconds = called(*outcomes, **limits)
    assert found.text == "done" if end is DONE else (str(found), found.kind) == (str(end), end.kind)
    assert len(attempts.at) == number
    assert number > 1 or seconds == pytest.approx(1.0)


def test_the_wait_is_what_the_vendor_asks_for_and_grows():
    _, attempts, _ = called(*[SLOW_DOWN] * 3, DONE)
    waits = [later - earlier - 1.0 for earlier, later in zip(attempts.at, attempts.at[1:], strict=False)]
    assert waits[0] == pytest.approx(1.0)
    assert all(1.0 <= wait <= 3.0 for wait in waits)


def test_without_its_word_the_wait_is_random_and_grows():
    waits = []
    for seed in range(40):
        _, attempts, _ = called(*[DOWN] * 5, DONE)
        waits.append([later - earlier - 1.0 for earlier, later in zip(attempts.at, attempts.at[1:], strict=False)])
        module._random.seed(seed)
    assert all(0 <= wait <= 0.5 * 2**number for row in waits for number, wait in enumerate(row))


def test_the_random_numbers_of_the_application_stay_its_own():
    random.seed(1)
    expected = random.random()
    random.seed(1)
    called(DOWN, DONE)
    assert random.random() == expected


@run_by(run)
async def test_a_waiting_retry_gives_up_its_place():
    """Trap 10: else a batch waits with it."""

    limiter, first, other = Limiter(Limits(max_concurrency=1)), Attempts(SLOW_DOWN, DONE), Attempts(DONE)
    waiting = asyncio.create_task(limiter.call(first))
    await asyncio.sleep(1.5)
    begun = asyncio.get_running_loop().time()
    await limiter.call(other)
    assert other.at == [begun]
    await waiting
    assert first.at[1] >= begun


# The deadline and the usage


def test_the_deadline_ends_everything_and_tells_the_last_error():
    refused = ModelError("slow down", "rate_limited", transient=True, sent=False)  # for a time that nobody names
    found, _, seconds = called(refused, deadline_s=20.0)
    assert (found.kind, seconds) == ("timeout", pytest.approx(20.0))
    assert "no answer within the deadline of 20 s; last error: slow down" in str(found)
    assert found.usage == Usage()


@run_by(run)
async def test_a_call_that_only_waits_for_its_turn_is_no_sign_of_an_outage():
    limits = Limits(max_concurrency=1, deadline_s=5.0, open_after=1)
    limiter, slow = Limiter(limits), Attempts(DONE, seconds=4.9)
    first, second, third = (asyncio.create_task(limiter.call(slow)) for _ in range(3))
    assert (await first).text == "done"
    found = [await failed(second), await failed(third)]
    assert [one.kind for one in found] == ["timeout", "timeout"]
    assert "waiting for its turn" in str(found[1])
    assert [one.usage.cost_complete for one in found] == [False, True]


@each_row(
    ("outcomes", "limits", "usage"),
    [
        ((CUT, DOWN, SLOW_DOWN, CUT, DONE), {}, Usage(calls=3, input_tokens=10, output_tokens=5, cost_complete=False)),
        ((SLOW_DOWN, DOWN, DONE), {}, DONE.usage),
        ((CUT,), {"attempts": 2}, Usage(calls=2, cost_complete=False)),
    ],
)
def test_the_usage_has_all_attempts_that_may_be_billed(outcomes, limits, usage):
    """Trap 11: a call that was cut off after it was sent may be billed."""
    assert called(*outcomes, **limits)[0].usage == usage


@run_by(run)
async def test_an_attempt_that_the_deadline_cuts_off_may_be_billed():
    found = await failed(Limiter(Limits(deadline_s=5.0)).call(Attempts(DONE, seconds=60.0)))
    assert (found.kind, found.sent, found.usage) == ("timeout", True, Usage(calls=1, cost_complete=False))


@run_by(run)
async def test_the_timeouts_of_an_attempt_are_not_the_deadline():
    async def attempt():
        raise TimeoutError("of the model's own class")

    with pytest.raises(TimeoutError, match="own class"):
        await Limiter(Limits()).call(attempt)


@run_by(run)
async def test_a_cancelled_call_gives_its_place_back():
    limiter = Limiter(Limits(max_concurrency=1))
    for _ in range(2):
        at_work_and_queued = [asyncio.create_task(limiter.call(Attempts(DONE))) for _ in range(2)]
        await asyncio.sleep(0.5)
        assert [task.cancel() for task in at_work_and_queued] == [True, True]
        ends = await asyncio.gather(*at_work_and_queued, return_exceptions=True)
        assert {type(end) for end in ends} == {asyncio.CancelledError}
    assert await limiter.call(Attempts(DONE)) is DONE


# An outage


@run_by(run)
async def test_a_model_that_is_down_is_not_asked_but_for_one_probe_after_each_pause():
    limiter, down = Limiter(Limits(attempts=1, cooldown_s=30.0), "m"), Attempts(DOWN, seconds=0.0)
    *found, last = [await failed(limiter.call(down)) for _ in range(9)]
    assert ([one.kind for one in found], len(down.at)) == (["unavailable"] * 5 + ["down"] * 3, 5)
    assert "last error: no server" in str(last)
    assert (last.transient, last.sent) == (False, False)
    await asyncio.sleep(31)
    found = await asyncio.gather(*(failed(limiter.call(down)) for _ in range(10)))
    assert sorted(one.kind for one in found) == ["down"] * 9 + ["unavailable"]
    await asyncio.sleep(31)
    begun = asyncio.get_running_loop().time()
    assert (await limiter.call(Attempts(DONE))).text == "done"
    await asyncio.gather(*(limiter.call(Attempts(DONE)) for _ in range(20)))
    assert asyncio.get_running_loop().time() - begun == pytest.approx(2.0)


@run_by(run)
async def test_a_probe_is_one_attempt():
    limiter, down = Limiter(Limits(open_after=1, cooldown_s=10.0)), Attempts(DOWN, seconds=0.0)
    await failed(limiter.call(down))
    assert len(down.at) == 6
    await asyncio.sleep(11)
    assert (await failed(limiter.call(down))).kind == "down"
    assert len(down.at) == 7


@run_by(run)
async def test_a_probe_that_is_cancelled_leaves_the_next_one_to_another():
    limiter = Limiter(Limits(attempts=1, open_after=1, cooldown_s=10.0))
    await failed(limiter.call(Attempts(DOWN)))
    await asyncio.sleep(11)
    probe = asyncio.create_task(limiter.call(Attempts(DONE)))
    await asyncio.sleep(0.5)
    probe.cancel()
    assert (await failed(limiter.call(Attempts(DONE)))).kind == "down"
    await asyncio.sleep(11)
    assert await limiter.call(Attempts(DONE)) is DONE


@each_row(("outcome", "stops"), [(NO_KEY, True), (BUSY, True), (CUT, True), (WRONG, False)])
@run_by(run)
async def test_an_account_is_hopeless_after_five_calls_and_a_wrong_request_says_nothing(outcome, stops):
    limiter, attempts = Limiter(Limits(attempts=1)), Attempts(outcome, seconds=0.0)
    for _ in range(12):
        await failed(limiter.call(attempts))
    assert len(attempts.at) == (5 if stops else 12)


@run_by(run)
async def test_a_success_in_between_keeps_a_model_up():
    limiter, sent = Limiter(Limits(attempts=1)), 0
    for number in range(40):
        attempts = Attempts(DONE if number % 5 == 4 else DOWN, seconds=0.0)
        await asyncio.gather(limiter.call(attempts), return_exceptions=True)
        sent += len(attempts.at)
    assert sent == 40


@run_by(run)
async def test_calls_that_wait_for_a_place_fail_with_the_model():
    limiter, down = Limiter(Limits(attempts=1, max_concurrency=1, open_after=2)), Attempts(DOWN)
    found = await asyncio.gather(*(failed(limiter.call(down)) for _ in range(10)))
    assert ([one.kind for one in found], len(down.at)) == (["unavailable"] * 2 + ["down"] * 8, 2)


@run_by(run)
async def test_during_an_outage_no_rate_is_used_up():
    limiter = Limiter(Limits(attempts=1, open_after=1, requests_per_minute=60, cooldown_s=5.0))
    await failed(limiter.call(Attempts(DOWN)))
    begun = asyncio.get_running_loop().time()
    for _ in range(100):
        assert (await failed(limiter.call(Attempts(DONE)))).kind == "down"
    assert asyncio.get_running_loop().time() - begun == 0


# Rates that are known


@each_row(("limits", "seconds"), [
    ({"requests_per_minute": 60}, 59), ({"requests_per_minute": 600}, 5), ({"tokens_per_minute": 900}, 59),
    ({"requests_per_minute": 60, "tokens_per_minute": 10**6}, 59), ({}, 0),
])  # fmt: skip
@run_by(run)
async def test_a_known_rate_is_kept(limits, seconds):
    limiter, begun = Limiter(Limits(**limits)), asyncio.get_running_loop().time()
    await asyncio.gather(*(limiter.call(Attempts(DONE), tokens=15) for _ in range(60)))
    assert asyncio.get_running_loop().time() - begun - 1.0 == pytest.approx(seconds, abs=1.1)


@run_by(run)
async def test_tokens_that_were_not_used_are_given_back():
    limiter, begun = Limiter(Limits(tokens_per_minute=900)), asyncio.get_running_loop().time()
    for _ in range(4):
        await limiter.call(Attempts(DONE), tokens=600)
    assert asyncio.get_running_loop().time() - begun < 180  # by the estimates it would be 160 after each call


@run_by(run)
async def test_a_cancelled_wait_leaves_no_debt():
    limiter = Limiter(Limits(requests_per_minute=60))
    waiting = [asyncio.create_task(limiter.call(Attempts(DONE))) for _ in range(100)]
    await asyncio.sleep(0.5)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    begun = asyncio.get_running_loop().time()
    await limiter.call(Attempts(DONE))
    assert asyncio.get_running_loop().time() - begun < 3


# Rates that are unknown: trap 10, the bounds of study 2.2

SERVERS = {
    "5 % at random": (lambda: at_random(0.05), 800, {}, 1.15, 0.08),
    "5 % at random, slow": (lambda: at_random(0.05), 640, {"latency": 2.0}, 1.1, 0.08),
    "20/s": (lambda: bucket(20), 400, {}, 1.15, 0.2),
    "50/s": (lambda: bucket(50), 1000, {}, 1.15, 0.2),
    "50/s, without its word": (lambda: bucket(50), 1000, {"asks_s": None}, 1.15, 0.2),
    "20/s, slow": (lambda: bucket(20), 400, {"latency": 1.0}, 1.1, 0.15),
    "20/s, slow, without its word": (lambda: bucket(20), 400, {"latency": 1.0, "asks_s": None}, 1.1, 0.15),
    "50/s, fast": (lambda: bucket(50), 1000, {"latency": 0.05}, 1.2, 0.25),
    "window of 50": (lambda: window(50), 1000, {}, 1.85, 0.15),
    "window of 50, slow": (lambda: window(50), 1000, {"latency": 1.0, "asks_s": None}, 1.1, 0.12),
    "sliding window of 50": (lambda: sliding(50), 1000, {"latency": 1.0}, 1.1, 0.2),
    "600 a minute": (lambda: window(600, 60, 0.0), 1800, {"asks_s": "minute"}, 1.15, 0.1),
    "three models, one rate": (lambda: bucket(20), 200, {"latency": 1.0, "models": 3}, 1.15, 0.25),
}


@each_row("name", SERVERS)
def test_nothing_is_lost_and_little_time(name):
    make, count, options, slower, refused = SERVERS[name]
    plain = send(make(), count, plain=True, **options)
    ours = send(make(), count, **options)
    assert ours.lost == 0
    assert ours.seconds <= slower * plain.seconds
    assert ours.refused(since=10) <= refused


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 80), st.lists(st.tuples(st.booleans(), st.booleans()), max_size=300))
@run_by(asyncio.run)
async def test_places_are_never_lost_and_never_too_many(most, steps):
    """Each step starts a call, and perhaps ends the oldest one in flight, which may have been refused."""
    slots, taken, waiting = Slots(most), [], []
    for ends, refused in steps:
        waiting.append(asyncio.create_task(slots.take()))
        await asyncio.sleep(0)
        taken += [task.result() for task in waiting if task.done()]
        waiting = [task for task in waiting if not task.done()]
        assert len(taken) <= most
        assert 1 <= slots.allowed <= most
        if ends and taken:
            slots.give(taken.pop(0), refused=refused)
    for _ in range(len(steps) + 1):
        for number in taken:
            slots.give(number, refused=False)
        taken = []
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        taken = [task.result() for task in waiting if task.done()]
        waiting = [task for task in waiting if not task.done()]
    assert waiting == []


# Asking a model


def test_limits_are_checked_and_compared():
    assert Limits() == Limits(attempts=6, max_concurrency=64, deadline_s=600, open_after=5, cooldown_s=30)
    for wrong in ({"attempts": 0}, {"max_concurrency": 0}, {"deadline_s": -1}, {"rpm": 5}, {"open_after": 0}):
        with pytest.raises(ValidationError):
            Limits(**wrong)


def test_critics_of_one_model_share_a_limiter(server):
    def model(key=KEY, name="openai:m"):
        return open_model(name, base_url=server.base_url("openai"), api_key=key)

    scripted = ScriptedModel(["x"])

    async def main():
        one = limiter_of(model(), Limits())
        assert limiter_of(model(), Limits()) is one
        assert limiter_of(model(key="another-key"), Limits()) is not one
        assert limiter_of(model(name="openai:n"), Limits()) is not one
        assert limiter_of(model(), Limits(attempts=2)) is not one
        assert limiter_of(scripted, Limits()) is limiter_of(scripted, Limits())
        assert limiter_of(ScriptedModel(["x"]), Limits()) is not limiter_of(ScriptedModel(["x"]), Limits())
        return one

    assert asyncio.run(main()) is not asyncio.run(main())


@run_by(asyncio.run)
async def test_limiters_of_forgotten_models_go():
    kept = limiter_of(ScriptedModel(["x"], model="kept"), Limits())
    models = [ScriptedModel(["x"], model=f"{number}") for number in range(1500)]
    for model in models:
        limiter_of(model, Limits())
    assert (
        kept in module._LIMITERS[asyncio.get_running_loop()].values(),
        len(module._LIMITERS[asyncio.get_running_loop()]),
    ) == (False, 1000)


def test_a_refused_call_over_http_is_tried_again(server, opened):
    server.plans(error("429 Slow Down", retry_after="0.05"), error("500 Oops"), well)
    reply = asyncio.run(ask_model(opened(), prompt("again")))
    assert (reply.text, reply.usage.calls, len(server.requests)) == ("echo: again", 1, 3)


def test_a_broken_answer_over_http_counts_in_the_usage(server, opened):
    server.plans(lambda request: [response("<html>")], well)
    reply = asyncio.run(ask_model(opened(), prompt("again")))
    assert (reply.usage.calls, reply.usage.input_tokens, reply.usage.cost_complete) == (2, 11, False)


def test_at_most_so_many_requests_are_in_flight(server, opened):
    flying, most = 0, 0

    def plan(request):
        nonlocal flying, most
        flying, most = flying + 1, max(most, flying + 1)
        yield 0.02
        flying -= 1
        yield response(answer(request))

    async def main():
        model = opened()
        await asyncio.gather(*(ask_model(model, prompt(f"{n}"), limits=Limits(max_concurrency=3)) for n in range(20)))

    server.plan = plan
    asyncio.run(main())
    assert most == 3


def test_each_attempt_is_one_line_without_texts_and_keys(server, opened, caplog):
    server.plans(error("500 Oops", f"secret text {KEY}"), well)
    with caplog.at_level(logging.DEBUG, "jury_adapters"):
        asyncio.run(ask_model(opened(), prompt("secret text")))
    lines = [record.getMessage() for record in caplog.records if record.name == "jury_adapters.models"]
    assert len(lines) == 2
    assert ": unavailable after " in lines[0]
    assert ": stop after " in lines[1]
    assert not any(word in line for line in lines for word in ("secret", KEY))


def test_the_hook_sees_each_call_once_with_its_retries(monkeypatch):
    model, seen = ScriptedModel([DOWN, "yes", NO_KEY]), []

    async def around(asked, sent, options, call):
        seen.append((asked, sent, options))
        try:
            reply = await call()
        except ModelError as error:
            seen.append(error.kind)
            raise
        seen.append(reply.text)
        return reply

    monkeypatch.setattr(module, "around_call", around)
    options = Options(max_tokens=5)

    async def main():
        assert (await ask_model(model, prompt(), None, options)).text == "yes"
        await failed(ask_model(model, prompt(), None, options))

    asyncio.run(main())
    assert seen == [(model, prompt(), options), "yes", (model, prompt(), options), "account"]


def test_schema_and_options_reach_the_model():
    model = ScriptedModel(["x"])
    asyncio.run(ask_model(model, prompt("a"), {"type": "object"}, Options(0.5)))
    assert (model.prompts, model.schemas, model.options) == ([prompt("a")], [{"type": "object"}], [Options(0.5)])


@run_by(asyncio.run)
async def test_other_exceptions_pass_and_give_the_place_back():
    async def broken(_):
        raise KeyError("a bug")

    limiter = Limiter(Limits(max_concurrency=1))
    for _ in range(3):
        with pytest.raises(KeyError):
            await limiter.call(lambda: broken(None))
    assert (await failed(ask_model(FunctionModel(broken), prompt()))).kind == "refused"
