"""The circuit breaker: alone with a clock of its own, inside the limits, and in front of a real server."""

import asyncio
import logging
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.vendor import Act, error

from jury_adapters import Budget, ConfigurationError, Critic, Ensemble, Limits, ModelError, Status
from jury_adapters.models.base import Prompt
from jury_adapters.models.circuit_breaker import LONGEST_S, CircuitBreaker
from jury_adapters.models.registry import resolve_model
from jury_adapters.models.retries import Limiter
from jury_adapters.testing import ScriptedModel, a_case, no_waiting

DOWN = ModelError("down", "server", status=503)
SIGNS_OF_LIFE = ("rate_limited", "refused_request", "authentication", "malformed")
LOG = "jury_adapters.models.circuit_breaker"


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


def a_breaker(open_after=3, cooldown_s=10.0):
    clock = Clock()
    return CircuitBreaker(open_after, cooldown_s, "openai:m", clock), clock


def give_up(breaker, failure=DOWN, ticket=0):
    breaker.saw(failure)
    breaker.gave_up(failure, ticket)


def opened():
    breaker, clock = a_breaker()
    give_up(breaker)
    clock.now += 10
    give_up(breaker)
    give_up(breaker)
    assert breaker.open
    return breaker, clock


def suppressed(admit):
    try:
        return admit()
    except ModelError:
        return 0


def nothing(_):
    return 0


# When it opens


@pytest.mark.parametrize("kind", ["server", "timeout", "connection", "broken_body"])
def test_it_opens_after_so_many_calls_in_a_row_and_so_long_without_an_answer(kind):
    breaker, clock = a_breaker()
    failure = ModelError("x", kind)
    for _ in range(9):  # a burst of calls that fail together is no outage
        give_up(breaker, failure)
    assert not breaker.open
    clock.now += 9.9
    give_up(breaker, failure)
    assert not breaker.open
    clock.now += 0.1
    give_up(breaker, failure)
    assert breaker.open


def test_time_alone_does_not_open_it():
    breaker, clock = a_breaker()
    give_up(breaker)
    clock.now += 3600
    give_up(breaker)
    assert not breaker.open
    give_up(breaker)
    assert breaker.open


@pytest.mark.parametrize("kind", SIGNS_OF_LIFE)
def test_a_vendor_that_says_no_is_there(kind):
    breaker, clock = a_breaker()
    for _ in range(9):
        give_up(breaker, ModelError("no", kind, status=429))
        clock.now += 10
    assert not breaker.open
    give_up(breaker)
    give_up(breaker)
    breaker.saw(ModelError("no", kind))
    clock.now += 10
    give_up(breaker)
    give_up(breaker)
    assert not breaker.open


def test_without_a_number_it_never_opens():
    breaker, clock = a_breaker(open_after=None)
    for _ in range(9):
        give_up(breaker)
        clock.now += 100
    assert (breaker.open, breaker.troubled) == (False, False)


# Half open


def test_one_probe_goes_through_when_the_pause_is_over():
    breaker, clock = opened()
    with pytest.raises(ModelError) as caught:
        breaker.admit()
    assert caught.value.kind == "circuit_open"
    assert not caught.value.transient
    assert caught.value.retry_after == pytest.approx(10)
    assert "openai:m was not asked: 3 calls in a row gave up (last: server (HTTP 503))" in str(caught.value)
    clock.now += 10
    ticket = breaker.admit()
    assert ticket
    with pytest.raises(ModelError):
        breaker.admit()
    breaker.done(ticket)
    assert breaker.admit() > ticket  # the first one has said nothing


@pytest.mark.parametrize("kind", SIGNS_OF_LIFE)
def test_a_probe_that_is_refused_has_been_answered(kind):
    breaker, clock = opened()
    clock.now += 10
    ticket = breaker.admit()
    breaker.saw(ModelError("no", kind))
    breaker.done(ticket)
    assert (breaker.open, breaker.troubled) == (False, False)
    assert breaker.admit() == 0  # for a call that looked a moment ago


def test_each_failed_probe_doubles_the_pause_up_to_a_limit():
    breaker, clock = opened()
    pauses = []
    for _ in range(9):
        with pytest.raises(ModelError) as caught:
            breaker.admit()
        pauses.append(caught.value.retry_after)
        clock.now += pauses[-1]
        ticket = breaker.admit()
        give_up(breaker, ticket=ticket)
        breaker.done(ticket)
    assert pauses == pytest.approx([10, 20, 40, 80, 160, 320, LONGEST_S, LONGEST_S, LONGEST_S])


def test_a_straggler_is_not_taken_for_the_probe():
    breaker, clock = opened()
    clock.now += 10
    ticket = breaker.admit()
    give_up(breaker)  # a call that was out when the circuit opened
    with pytest.raises(ModelError):
        breaker.admit()
    breaker.alive()
    breaker.done(ticket)
    assert not breaker.open


def test_opening_and_closing_are_logged_without_what_the_vendor_said(caplog):
    breaker, clock = a_breaker(open_after=1)
    caplog.set_level(logging.INFO, LOG)
    failure = ModelError("key sk-secret is broken", "server", status=500)
    give_up(breaker, failure)
    clock.now += 10
    give_up(breaker, failure)
    clock.now += 32
    breaker.alive()
    breaker.alive()
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("WARNING", "openai:m: circuit open: 2 calls in a row gave up and nothing was answered for 10 s (last: server "
                    "(HTTP 500)); calls now fail at once, and one is let through in 10 s"),
        ("INFO", "openai:m: circuit closed, the model answers again after 42 s"),
    ]  # fmt: skip


@given(st.lists(st.sampled_from(["gave_up", "alive", "saw_429", "admit", "wait"]), max_size=60))
def test_whatever_happens_it_is_open_only_after_a_run_of_failures_and_lets_out_one_probe_at_a_time(happenings):
    breaker, clock = a_breaker(open_after=2)
    run, since, ticket = 0, None, 0
    for happening in happenings:
        if happening == "gave_up":
            give_up(breaker, ticket=ticket)
            breaker.done(ticket)
            run, since, ticket = run + 1, clock.now if since is None else since, 0
        elif happening in ("alive", "saw_429"):
            breaker.alive() if happening == "alive" else breaker.saw(ModelError("", "rate_limited"))
            run, since, ticket = 0, None, 0
        elif happening == "wait":
            clock.now += 5
        elif breaker.open:
            found = suppressed(breaker.admit)
            assert not (ticket and found)
            ticket = ticket or found
        if breaker.open:
            assert run >= 2
            assert clock.now - since >= 10
        assert breaker.troubled == (since is not None)


# Inside the limits


def limited(work, **limits):
    limiter = Limiter(Limits(**{"attempts": 2, "open_after": 2, "cooldown_s": 0.05} | limits), "openai:m")

    async def call():
        try:
            return await limiter.call(work, spent=nothing)
        except ModelError as failure:
            return failure.kind

    return limiter, call


def test_an_open_circuit_costs_no_requests_and_the_probe_has_one_try():
    asked = 0
    well = False

    async def work():
        nonlocal asked
        asked += 1
        if well:
            return "done"
        raise DOWN

    limiter, call = limited(work)

    async def run():
        nonlocal well, asked
        kinds = [await call()]
        await asyncio.sleep(0.06)
        kinds += [await call() for _ in range(5)]
        assert kinds == ["server"] * 2 + ["circuit_open"] * 4
        assert asked == 4
        await asyncio.sleep(0.06)
        assert await asyncio.gather(*(call() for _ in range(5))) == ["server"] + ["circuit_open"] * 4
        assert asked == 5
        well = True
        await asyncio.sleep(0.06)
        assert await call() == "circuit_open"  # twice as long
        await asyncio.sleep(0.06)
        assert await call() == "done"
        assert await asyncio.gather(*(call() for _ in range(5))) == ["done"] * 5

    with no_waiting():
        asyncio.run(run())
    assert not limiter.breaker.open


def test_calls_that_are_out_keep_their_tries_and_those_that_wait_for_a_slot_fail():
    begun = asyncio.Event()
    asked = 0

    async def work():
        nonlocal asked
        asked += 1
        if asked == 1:
            begun.set()
            await asyncio.sleep(0.1)
            raise DOWN
        return "done"

    limiter, call = limited(work, max_concurrency=1)

    async def run():
        first = asyncio.create_task(call())
        await begun.wait()
        second = asyncio.create_task(call())
        await asyncio.sleep(0)
        limiter.breaker.open = limiter.breaker.troubled = True
        return await asyncio.gather(first, second)

    with no_waiting():
        assert asyncio.run(run()) == ["done", "circuit_open"]
    assert not limiter.breaker.open
    assert asked == 2


def test_a_probe_that_is_cancelled_says_nothing():
    limiter, call = limited(lambda: asyncio.sleep(60))
    limiter.breaker.open = limiter.breaker.troubled = True

    async def run():
        probe = asyncio.create_task(call())
        await asyncio.sleep(0.01)
        assert await call() == "circuit_open"
        probe.cancel()
        await asyncio.wait([probe])
        return limiter.breaker.admit()

    assert asyncio.run(run()) > 0


@pytest.mark.parametrize(("seconds", "opens"), [(60, True), (0, False)])
def test_a_deadline_counts_where_the_model_kept_us_waiting_and_not_where_our_own_rate_did(seconds, opens):
    rate = {} if seconds else {"requests_per_minute": 1}
    limiter, call = limited(
        lambda: asyncio.sleep(seconds, "done"), deadline_s=0.04, open_after=1, cooldown_s=0.03, **rate
    )

    async def run():
        return [await call() for _ in range(3)]

    kinds = asyncio.run(run())
    assert limiter.breaker.open is opens
    assert kinds == (["timeout", "timeout", "circuit_open"] if opens else ["done", "timeout", "timeout"])


def test_it_is_shared_by_threads_and_loops():
    asked = []

    async def work():
        asked.append(threading.get_ident())
        raise DOWN

    limiter, call = limited(work, attempts=1, cooldown_s=0.01)
    limiter.breaker.failed()

    async def run():
        await asyncio.sleep(0.02)
        return [await call() for _ in range(50)]

    kinds = []
    threads = [threading.Thread(target=lambda: kinds.extend(asyncio.run(run()))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(kinds) == 400
    assert kinds.count("circuit_open") + len(asked) == 400
    assert len(asked) < 40


@pytest.mark.parametrize(("name", "value"), [("open_after", 0), ("open_after", True), ("cooldown_s", 0),
                                             ("cooldown_s", float("inf")), ("cooldown_s", None)])  # fmt: skip
def test_numbers_that_make_no_sense_are_refused_by_name(name, value):
    with pytest.raises(ConfigurationError, match=f"Limits.{name}"):
        Limits(**{name: value})


def test_another_object_of_the_same_name_does_not_inherit_an_open_circuit():
    numbers = set()
    for _ in range(50):
        model = resolve_model(ScriptedModel(["YES"]))
        assert resolve_model(model.inner).limiter is model.limiter
        assert not model.limiter.breaker.open
        model.limiter.breaker.open = True
        numbers.add(id(model.inner))
        del model
    assert len(numbers) < 50  # else this has shown nothing


# With the time limit of a judge


def timed(answer, seconds=0.05, **limits):
    """A juror with a time limit in a panel, and its breaker with a clock of its own."""
    critic = Critic(answer, "correctness_without_reference", name="c", limits=Limits(**limits))
    clock = Clock()
    critic.model.limiter.breaker = breaker = CircuitBreaker(2, 10.0, "m", clock)
    return Ensemble([critic, lambda case: True], juror_timeout=seconds, errors="ignore"), breaker, clock


async def hangs(prompt):
    await asyncio.sleep(60)


async def is_down(prompt):
    raise DOWN


@pytest.mark.parametrize("answer", [hangs, is_down])
def test_a_call_that_the_limit_of_a_juror_cuts_off_counts(answer):
    panel, breaker, clock = timed(answer)
    first = panel.judge(a_case())
    assert first.judgments[0].error.startswith("timeout")
    assert not breaker.open
    clock.now += 10
    panel.judge(a_case())
    assert breaker.open
    last = panel.judge(a_case())
    assert last.judgments[0].error.startswith("circuit_open")
    assert last.judgments[0].elapsed_s < 0.05
    clock.now += 10
    assert not panel.judge(a_case()).judgments[0].error.startswith("circuit_open")  # the probe
    assert panel.judge(a_case()).judgments[0].error.startswith("circuit_open")


def test_the_limit_of_a_jury_around_counts_too():
    panel, breaker, clock = timed(hangs, seconds=30)
    outer = Ensemble({"panel": panel, "other": lambda case: True}, juror_timeout=0.05)
    for _ in range(2):
        outer.judge(a_case())
        clock.now += 10
    assert breaker.open


def test_a_call_that_is_cancelled_for_another_reason_does_not_count():
    panel, breaker, clock = timed(hangs, seconds=30)

    async def run():
        for _ in range(4):
            task = asyncio.create_task(panel.ajudge(a_case()))
            await asyncio.sleep(0.02)
            task.cancel()
            await asyncio.wait([task])
            clock.now += 10

    asyncio.run(run())
    assert not breaker.troubled
    assert not breaker.open


def test_a_call_that_waited_for_our_own_rate_does_not_count():
    panel, breaker, clock = timed(ScriptedModel(["Answer: YES"] * 4), requests_per_minute=1)
    for _ in range(4):
        panel.judge(a_case())
        clock.now += 10
    assert not breaker.open


# Through a critic and a server


def critic_at(server, **limits):
    return Critic(
        "openai:m",
        "correctness_without_reference",
        name="juror",
        base_url=server.openai,
        api_key="sk-secret-secret",
        limits=Limits(**{"attempts": 2, "open_after": 2, "cooldown_s": 0.05} | limits),
    )


def test_the_judgment_says_that_nobody_was_asked_and_a_budget_is_not_charged(server):
    server.plan = lambda ask: error(503, "sk-secret-secret is overloaded")
    critic = critic_at(server)
    clock = Clock()
    critic.model.limiter.breaker = breaker = CircuitBreaker(2, 30.0, "openai:m", clock)
    breaker.failed()
    clock.now += 30
    budget = Budget(max_calls=100)
    with no_waiting():
        judgments = [next(critic.judge_many([a_case(answer=str(n))], budget=budget)) for n in range(6)]
    assert all(judgment.status is Status.ERROR for judgment in judgments)
    last = judgments[-1]
    assert last.error.startswith(
        "circuit_open: openai:m was not asked: 2 calls in a row gave up (last: server (HTTP 503"
    )
    assert "secret" not in last.to_json()
    assert len(server.asks) == 4
    assert budget.spent.calls == 2  # the calls that were made, each with its tries


def test_a_storm_of_429_never_opens_it(server):
    server.plan = lambda ask: Act(status=429, error={})
    critic = critic_at(server, cooldown_s=0.001)
    with no_waiting():
        judgments = [critic.judge(a_case(answer=str(n))) for n in range(9)]
    assert {judgment.error.partition(":")[0] for judgment in judgments} == {"rate_limited"}
    assert len(server.asks) == 18


def test_a_server_that_hangs_up_opens_it(server):
    model = resolve_model("m", base_url=server.openai, limits=Limits(attempts=1, open_after=1, cooldown_s=0.01))
    server.plan = lambda ask: Act(drop=True)
    kinds = []

    async def run():
        for _ in range(20):
            try:
                await model.complete(Prompt.of("?"))
            except ModelError as failure:
                kinds.append(failure.kind)
            await asyncio.sleep(0.004)

    asyncio.run(run())
    assert kinds[0] == "connection"
    assert "circuit_open" in kinds
