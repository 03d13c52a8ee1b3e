"""The Anthropic SDK over real HTTP, against a server that answers well, badly, late, or not at all."""

import asyncio
import json
import time

import anthropic
import pytest
from support.asking import complete, failure
from support.vendor import WELL, Act, error

from jury_adapters import ConfigurationError, Critic, Limits, Rubric, Status
from jury_adapters.models.base import Options, Prompt
from jury_adapters.models.registry import resolve_model
from jury_adapters.testing import a_case, no_waiting

KEY = "sk-ant-test-0123456789abcdefghij"
SCHEMA = Rubric.bundled("faithfulness").reply_schema()
GOOD = a_case(answer="Paris. TRUTH=YES")
BAD = a_case(answer="Lyon. TRUTH=NO")


def model(server, name="claude-sonnet-4-5", **options):
    return resolve_model(f"anthropic:{name}", base_url=server.anthropic, api_key=KEY, **options)


def critic(server, **options):
    return Critic(
        "anthropic:claude-sonnet-4-5", "faithfulness", name="truth", base_url=server.anthropic, api_key=KEY, **options
    )


def test_the_request_is_exactly_what_anthropic_documents(server):
    complete(model(server), schema=SCHEMA, options=Options(temperature=0.0, max_tokens=300, logprobs=True))
    (ask,) = server.asks
    assert ask.path == "/v1/messages"
    # SDK 2 sends it as a bearer token, older ones as x-api-key
    assert ask.headers.get("x-api-key", ask.headers.get("authorization", "")).removeprefix("Bearer ") == KEY
    assert ask.headers["anthropic-version"]
    assert ask.body == {
        "model": "claude-sonnet-4-5",
        "max_tokens": 300,
        "system": "You judge.",
        "messages": [{"role": "user", "content": "Is it so?"}],
        "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
        "temperature": 0.0,
    }


def test_max_tokens_is_always_sent_because_the_api_insists(server):
    complete(model(server))
    assert server.asks[0].body["max_tokens"] == 2000
    assert not server.asks[0].body.keys() & {"output_config", "temperature"}


@pytest.mark.parametrize(("case", "status"), [(GOOD, Status.PASS), (BAD, Status.FAIL)])
def test_a_good_answer_is_a_judgment_sync_and_async(server, case, status):
    asked = critic(server)
    for judgment in (asked.judge(case), asyncio.run(asked.ajudge(case))):
        assert (judgment.status, judgment.model, judgment.family) == (status, "claude-sonnet-4-5", "anthropic")
        assert judgment.error is None


def test_cached_tokens_are_counted_apart_by_anthropic_and_inside_the_input_by_us(server):
    usage = complete(model(server)).usage
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (100, 20, 64)
    assert (usage.reasoning_tokens, usage.calls, usage.cost_complete) == (5, 1, True)
    assert usage.cost_usd == pytest.approx((36 * 3.0 + 64 * 0.30 + 20 * 15.0) / 1e6)


def test_a_dated_name_has_the_price_of_the_undated_one_and_an_unknown_name_none(server):
    assert complete(model(server, "claude-sonnet-4-5-20250929")).usage.cost_complete
    assert not complete(model(server, "claude-next")).usage.cost_complete


def test_a_malformed_reply_is_asked_for_again_once_and_then_abstains(server):
    server.plan = lambda ask: Act(text="I would rather not say.")
    judgment = critic(server).judge(GOOD)
    assert (judgment.status, judgment.error, judgment.usage.calls) == (Status.ABSTAIN, "parse_fail", 2)
    assert [message["role"] for message in server.asks[1].body["messages"]] == ["user", "assistant", "user"]


@pytest.mark.parametrize(
    ("act", "status", "error_code"),
    [
        (Act(text='{"reasoning": "so', finish="length"), Status.ABSTAIN, "truncated"),
        (Act(finish="refusal"), Status.ABSTAIN, "refused"),
        (Act(finish="filter"), Status.ABSTAIN, "refused"),  # Anthropic has one word for both
        (Act(text=""), Status.ERROR, "empty_response"),
    ],
)
def test_truncated_refused_and_empty_replies_say_so_and_are_not_asked_again(server, act, status, error_code):
    server.plan = lambda ask: act
    judgment = critic(server).judge(GOOD)
    assert (judgment.status, judgment.error, len(server.asks)) == (status, error_code, 1)


def raw_message(**changes):
    message = {"id": "msg_x", "model": "claude-x", "content": [{"type": "text", "text": "YES"}],
               "stop_reason": "end_turn"}  # fmt: skip
    return Act(raw=json.dumps({**message, **changes}))


def test_a_full_context_window_is_a_truncation(server):
    server.plan = lambda ask: raw_message(
        content=[{"type": "text", "text": '{"rea'}], stop_reason="model_context_window_exceeded"
    )
    assert critic(server).judge(GOOD).error == "truncated"


def test_thinking_blocks_are_no_answer(server):
    blocks = [{"type": "thinking", "thinking": "NO?"}, "odd", {"type": "text", "text": "Y"}, {"type": "text"},
              {"type": "text", "text": "ES"}]  # fmt: skip
    server.plan = lambda ask: raw_message(content=blocks)
    assert complete(model(server)).text == "YES"


@pytest.mark.parametrize("usage", [None, "many", [], 3])
def test_missing_usage_is_no_zero_cost(server, usage):
    server.plan = lambda ask: raw_message(usage=usage)
    found = complete(model(server)).usage
    assert (found.calls, found.cost_complete) == (1, False)


@pytest.mark.parametrize("act", [
    raw_message(content=None),
    raw_message(content="YES"),
    Act(raw="[]"),
    Act(raw="null"),
])  # fmt: skip
def test_a_200_without_a_message_is_broken_and_tried_again(server, act):
    server.plan = lambda ask: act
    assert failure(model(server, limits=Limits(attempts=3))).kind == "broken_body"
    assert len(server.asks) == 3


@pytest.mark.parametrize("act", [
    Act(raw="<html>Sign in</html>", content_type="text/html"),
    Act(raw="not JSON at all"),
    Act(raw=b"\xff\xfe\x00{"),
    Act(raw=""),
])  # fmt: skip
def test_a_200_whose_body_is_broken_is_tried_again(server, act):
    server.plan = lambda ask: act if ask.attempt < 2 else WELL
    with no_waiting():
        assert critic(server).judge(GOOD).passed
    assert len(server.asks) == 3
    server.plan = lambda ask: act
    assert failure(model(server, limits=Limits(attempts=2))).kind == "broken_body"


@pytest.mark.parametrize(
    ("act", "kind", "tries"),
    [
        (error(429, type="rate_limit_error"), "rate_limited", 3),
        (error(500, type="api_error"), "server", 3),
        (error(529, type="overloaded_error"), "server", 3),
        (error(413, type="request_too_large"), "refused_request", 1),
        (error(401, type="authentication_error"), "authentication", 1),
        (error(403, type="permission_error"), "authentication", 1),
        (error(400, type="invalid_request_error"), "refused_request", 1),
        (
            error(400, "Your credit balance is too low to access the Anthropic API.", type="invalid_request_error"),
            "quota_exhausted",
            1,
        ),
        (error(402, type="billing_error"), "quota_exhausted", 1),
        (Act(drop=True), "connection", 3),
        (Act(status=502, raw="<html>bad gateway</html>", content_type="text/html"), "server", 3),
    ],
)
def test_what_may_help_is_tried_again_and_what_cannot_is_not(server, act, kind, tries):
    server.plan = lambda ask: act
    caught = failure(model(server, limits=Limits(attempts=3)))
    assert (caught.kind, len(server.asks)) == (kind, tries)
    if not act.drop:
        assert (caught.status, caught.request_id) == (act.status, f"req_{tries - 1}")


def test_a_slow_server_times_out_on_every_try_and_ends_as_error(server):
    server.plan = lambda ask: Act(delay=5)
    with no_waiting():
        judgment = critic(server, request_timeout=0.2, limits=Limits(attempts=2)).judge(GOOD)
    assert judgment.status is Status.ERROR
    assert judgment.error.startswith("timeout: anthropic:claude-sonnet-4-5")
    assert len(server.asks) == 2


@pytest.mark.parametrize(
    ("headers", "limits", "least"),
    [({"retry-after": "0.4"}, {}, 0.4), ({"retry-after": "900"}, {"max_wait_s": 0.3}, 0.3)],
)
def test_retry_after_is_waited_for_within_our_cap(server, headers, limits, least):
    server.plan = lambda ask: Act(status=429, error={}, headers=headers) if ask.number == 0 else WELL
    started = time.perf_counter()
    complete(model(server, limits=Limits(**limits)))
    assert least <= time.perf_counter() - started < 3


def test_a_refused_temperature_is_learned_once_and_remembered(server):
    server.plan = lambda ask: (
        error(400, "`temperature` is deprecated for this model.", type="invalid_request_error")
        if "temperature" in ask.body
        else WELL
    )
    asked = critic(server)
    assert asked.judge(GOOD).passed
    assert asked.judge(BAD).status is Status.FAIL
    assert ["temperature" in ask.body for ask in server.asks] == [True, False, False]


@pytest.mark.parametrize(
    "message",
    ["output_config: Extra inputs are not permitted", "'output_config.format' is not supported by this model"],
)
def test_a_refused_schema_is_left_to_words_from_then_on(server, message):
    server.plan = lambda ask: error(400, message) if "output_config" in ask.body else WELL
    asked = critic(server)
    assert asked.judge(GOOD).passed
    assert asked.judge(BAD).status is Status.FAIL
    assert ["output_config" in ask.body for ask in server.asks] == [True, False, False]


@pytest.mark.parametrize(
    "message",
    [
        "prompt is too long: 210000 tokens > 200000 maximum",
        "max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens for this model",
        "input length and `max_tokens` exceed context limit: 199000 + 2000 > 200000, decrease input length or "
        "`max_tokens` and try again; longer inputs are not supported",
    ],
)
def test_a_context_that_is_too_long_teaches_nothing(server, message):
    server.plan = lambda ask: error(400, message) if ask.number == 0 else WELL
    assert failure(model(server), options=Options(max_tokens=99)).kind == "refused_request"
    complete(model(server), options=Options(max_tokens=99))
    assert [ask.body["max_tokens"] for ask in server.asks] == [99, 99]


@pytest.mark.slow
def test_64_requests_at_once_learn_the_same_lessons_together(server):
    server.plan = lambda ask: (
        Act(status=400, error={"message": "temperature: Extra inputs are not permitted"}, delay=0.02)
        if "temperature" in ask.body
        else WELL
    )
    asked = model(server)

    async def run():
        prompts = [Prompt.of(str(n)) for n in range(64)]
        return await asyncio.gather(*(asked.complete(prompt, SCHEMA, Options(temperature=0.0)) for prompt in prompts))

    assert len(asyncio.run(run())) == 64
    assert len(server.asks) <= 128
    assert all("output_config" in ask.body for ask in server.asks)


def test_a_client_of_ones_own_is_taken_as_it_is_and_says_its_vendor(server):
    class OurClient(anthropic.AsyncAnthropic):
        pass

    async def run(kind):
        async with kind(api_key=KEY, base_url=server.anthropic, default_headers={"x-team": "blue"}) as client:
            asked = Critic("claude-x", "faithfulness", name="truth", client=client)
            return asked.model.name, await asked.ajudge(BAD)

    for kind in (anthropic.AsyncAnthropic, OurClient):
        name, judgment = asyncio.run(run(kind))
        assert (name, judgment.status) == ("anthropic:claude-x", Status.FAIL)
    assert {ask.headers["x-team"] for ask in server.asks} == {"blue"}


def test_a_sync_client_is_refused_with_the_one_to_take(server):
    client = anthropic.Anthropic(api_key=KEY, base_url=server.anthropic)
    with client, pytest.raises(ConfigurationError, match="AsyncAnthropic"):
        Critic("claude-x", "faithfulness", name="truth", client=client)


def test_a_missing_key_is_named_at_once(monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(ConfigurationError, match=r"ANTHROPIC_API_KEY.*api_key="):
        resolve_model("anthropic:claude-x")
