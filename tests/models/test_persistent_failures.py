"""Models that fail every call: how few requests they cost, in batches and in background judging."""

import time

import pytest
from support.vendor import WELL, Act, error

from jury_adapters import Budget, Case, Critic, Ensemble, Limits, ModelError, Status
from jury_adapters.core.background.judge_queue import JudgeQueue
from jury_adapters.core.runs import Run
from jury_adapters.models.error_mapping import error_code, kind_of_status
from jury_adapters.models.persistent_failures import PersistentFailures, is_persistent
from jury_adapters.testing import no_waiting

pytestmark = pytest.mark.corpus

KEY = "sk-secret-secret"
EXHAUSTED = {
    "openai": error(429, "You exceeded your current quota", type="insufficient_quota", code="insufficient_quota"),
    "anthropic": error(400, "Your credit balance is too low to access the API.", type="invalid_request_error"),
}
REFUSED_KEY = {
    "openai": error(401, "Incorrect API key", type="invalid_request_error", code="invalid_api_key"),
    "anthropic": error(401, "invalid x-api-key", type="authentication_error"),
}
NO_MODEL = {
    "openai": error(404, "The model does not exist", type="invalid_request_error", code="model_not_found"),
    "anthropic": error(404, "model: claude-9", type="not_found_error"),
}


def critic_at(server, vendor, **limits):
    base_url = server.openai if vendor == "openai" else server.anthropic
    return Critic(
        f"{vendor}:m",
        "correctness_without_reference",
        name="juror",
        base_url=base_url,
        api_key=KEY,
        limits=Limits(**limits),
    )


def some_cases(count):
    return [Case(question="Which?", answer=f"This one, {number}. TRUTH=YES") for number in range(count)]


# Kinds of error


@pytest.mark.parametrize(
    ("status", "code", "message", "kind"),
    [
        (429, None, "", "rate_limited"), (429, "rate_limit_exceeded", "", "rate_limited"),
        (429, "insufficient_quota", "", "quota_exhausted"), (402, None, "", "quota_exhausted"),
        (400, "billing_hard_limit_reached", "", "quota_exhausted"), (429, "billing_not_active", "", "quota_exhausted"),
        (402, "billing_error", "", "quota_exhausted"),
        (400, "invalid_request_error", "Your credit balance is too low to ...", "quota_exhausted"),
        (400, "invalid_request_error", "no such field", "refused_request"),
        (401, None, "", "authentication"), (403, None, "", "refused_request"),
        (403, "moderation", "", "refused_request"), (403, "permission_error", "", "authentication"),
        (403, "PERMISSION_DENIED", "", "authentication"), (404, None, "", "refused_request"),
        (422, None, "", "refused_request"), (302, None, "", "refused_request"), (408, None, "", "timeout"),
        (409, None, "", "server"), (500, None, "", "server"), (529, "overloaded_error", "", "server"),
    ],
)  # fmt: skip
def test_the_kind_of_an_error_follows_from_its_status_and_code(status, code, message, kind):
    assert kind_of_status(status, code, message) == kind


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"error": {"type": "insufficient_quota", "code": None}}, "insufficient_quota"),
        ({"error": {"type": "requests", "code": "rate_limit_exceeded"}}, "rate_limit_exceeded"),
        ({"error": {"type": "insufficient_quota", "code": "429"}}, "insufficient_quota"),
        ({"type": "error", "error": {"type": "billing_error"}}, "billing_error"),
        ({"type": "authentication_error", "message": "no"}, "authentication_error"),
        ({"error": {"code": 403, "status": "PERMISSION_DENIED"}}, "PERMISSION_DENIED"),
        ({"error": {"code": 403, "message": "flagged"}}, None),
        ({"error": "no"}, None), ("no", None), (None, None), ([], None),
    ],
)  # fmt: skip
def test_the_code_of_an_error_is_found_in_every_vendors_body(body, code):
    assert error_code(body) == code


@pytest.mark.parametrize(
    ("failure", "persistent"),
    [
        (ModelError("", "authentication", status=401), True),
        (ModelError("", "quota_exhausted", status=429), True),
        (ModelError("no such model", "refused_request", status=404), True),
        (ModelError("", "refused_request", status=404, parameter="model"), True),
        (ModelError("", "refused_request", status=404, parameter="file_id"), False),
        (ModelError("No endpoints found that support image input", "refused_request", status=404), False),
        (ModelError("", "refused_request", status=400), False),
        (ModelError("flagged", "refused_request", status=403), False),
        (ModelError("", "refused_request", status=422), False),
        (ModelError("", "rate_limited", status=429), False),
        (ModelError("", "server", status=500), False),
    ],
)
def test_what_concerns_one_case_is_not_persistent(failure, persistent):
    assert is_persistent(failure) is persistent
    assert not (persistent and failure.transient)


# The count


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


DENIED = ModelError("no such key", "authentication", status=401, request_id="req_1")


def test_only_failures_in_a_row_count():
    failures = PersistentFailures("openai:m", 3)
    for _ in range(5):
        failures.add(DENIED)
        failures.add(ModelError("down", "server"))
        failures.add(DENIED)
        failures.clear()
    failures.check()
    for _ in range(3):
        failures.add(DENIED)
    with pytest.raises(ModelError) as caught:
        failures.check()
    assert (caught.value.kind, caught.value.status, caught.value.sent) == ("authentication", 401, False)
    assert str(caught.value) == (
        "no such key; openai:m was not asked again, because 3 calls in a row ended so (HTTP 401, request req_1)"
    )
    failures.clear()
    failures.check()


def test_with_a_cooldown_one_call_is_let_through_each_time():
    clock = Clock()
    failures = PersistentFailures("openai:m", 2, 30.0, clock)
    failures.add(DENIED)
    failures.add(DENIED)
    for _ in range(3):
        with pytest.raises(ModelError, match="it is tried again in 30 s") as caught:
            failures.check()
        assert (caught.value.kind, caught.value.retry_after, caught.value.sent) == ("circuit_open", 30.0, False)
        clock.now += 30
        failures.check()
        with pytest.raises(ModelError):
            failures.check()
        failures.add(DENIED)
    clock.now += 30
    failures.check()
    failures.clear()
    failures.check()


def test_without_a_number_no_call_is_refused():
    failures = PersistentFailures("openai:m", None)
    for _ in range(9):
        failures.add(DENIED)
    failures.check()


# Batches, over HTTP


@pytest.mark.slow
@pytest.mark.parametrize("in_flight", [1, 16, 64])
@pytest.mark.parametrize("vendor", ["openai", "anthropic"])
@pytest.mark.parametrize(
    ("act", "kind"),
    [(EXHAUSTED, "quota_exhausted"), (REFUSED_KEY, "authentication"), (NO_MODEL, "refused_request")],
)
def test_a_batch_gives_up_a_model_that_refuses_every_call(server, vendor, act, kind, in_flight):
    server.plan = lambda ask: act[vendor]
    critic = critic_at(server, vendor)
    budget = Budget(max_calls=1000)
    judgments = list(critic.judge_many(some_cases(90), max_concurrency=in_flight, budget=budget))
    assert len(judgments) == 90
    assert {judgment.status for judgment in judgments} == {Status.ERROR}
    assert all(judgment.error.startswith(f"{kind}: ") for judgment in judgments)
    assert 3 <= len(server.asks) <= in_flight + 3
    not_asked = [judgment for judgment in judgments if judgment.metadata.get("not_asked")]
    assert len(not_asked) == 90 - len(server.asks)
    assert "was not asked again, because 3 calls in a row ended so" in not_asked[-1].error
    assert budget.spent.calls == len(server.asks)
    assert not any(KEY in judgment.to_json() for judgment in judgments)


@pytest.mark.parametrize("vendor", ["openai", "anthropic"])
def test_one_moderated_case_among_good_ones_costs_only_itself(server, vendor):
    server.plan = lambda ask: error(403, "flagged by moderation", type="moderation") if ", 7." in ask.text else WELL
    judgments = list(critic_at(server, vendor).judge_many(some_cases(40), max_concurrency=1))
    assert [judgment.status for judgment in judgments].count(Status.PASS) == 39
    assert judgments[7].error.startswith("refused_request: ")


@pytest.mark.parametrize("status", [400, 403, 422])
def test_refused_content_never_gives_up_a_model(server, status):
    server.plan = lambda ask: error(status, "not this content")
    list(critic_at(server, "openai").judge_many(some_cases(20), max_concurrency=1))
    assert len(server.asks) == 20


def test_another_batch_asks_again_and_so_does_a_single_judgment(server):
    server.plan = lambda ask: REFUSED_KEY["openai"]
    critic = critic_at(server, "openai")
    for asked in (3, 6):
        list(critic.judge_many(some_cases(20), max_concurrency=1))
        assert len(server.asks) == asked
    for number in range(10):
        critic.judge(some_cases(1)[0])
        assert len(server.asks) == 7 + number


@pytest.mark.slow
def test_other_models_of_the_batch_are_still_asked(server):
    server.plan = lambda ask: WELL if ask.vendor == "anthropic" else REFUSED_KEY["openai"]
    jury = Ensemble([critic_at(server, "openai"), critic_at(server, "anthropic").named("other")])
    verdicts = list(jury.judge_many(some_cases(30), max_concurrency=1))
    assert len(verdicts) == 30
    assert sum(ask.vendor == "anthropic" for ask in server.asks) == 30
    assert sum(ask.vendor == "openai" for ask in server.asks) == 3


# Background judging, over HTTP


@pytest.mark.parametrize("vendor", ["openai", "anthropic"])
@pytest.mark.parametrize("act", [EXHAUSTED, REFUSED_KEY])
def test_background_judging_probes_and_recovers_when_the_key_does(server, vendor, act):
    well = False
    server.plan = lambda ask: WELL if well else act[vendor]
    judged = []
    critic = critic_at(server, vendor, open_after=3, cooldown_s=0.5)
    with JudgeQueue(critic, on_verdict=judged.append, max_concurrency=1) as queue:

        def offer(count):
            for number, case in enumerate(some_cases(count)):
                queue.put(case, run=Run(str(number)))
            assert queue.flush(30)

        offer(30)
        asked = len(server.asks)
        assert 3 <= asked <= 20
        assert judged[-1].judgment.error.startswith(("circuit_open: ", judged[0].judgment.error.partition(":")[0]))
        assert any("is tried again in" in run.judgment.error for run in judged)
        well = True
        time.sleep(0.6)
        offer(10)
    assert [run.judgment.status for run in judged[-10:]] == [Status.PASS] * 10


def test_a_fault_that_may_pass_is_still_tried_again(server):
    server.plan = lambda ask: Act(status=500, error={}) if ask.number < 2 else WELL
    with no_waiting():
        (judgment,) = critic_at(server, "openai").judge_many(some_cases(1))
    assert judgment.status is Status.PASS
