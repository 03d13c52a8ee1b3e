"""The OpenAI SDK over real HTTP, against a server that answers well, badly, late, or not at all."""

import asyncio
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate

import httpx
import openai
import pytest
from support.asking import complete, failure
from support.vendor import WELL, Act, error

from jury_adapters import ConfigurationError, Critic, Limits, Rubric, Status
from jury_adapters.models import set_price
from jury_adapters.models.base import Options, Prompt
from jury_adapters.models.prices import PRICES
from jury_adapters.models.registry import resolve_model
from jury_adapters.testing import a_case, no_waiting
from jury_adapters.vendors import VENDORS

KEY = "sk-test-0123456789abcdefghij"
SCHEMA = Rubric.bundled("faithfulness").reply_schema()
GOOD = a_case(answer="Paris. TRUTH=YES")
BAD = a_case(answer="Lyon. TRUTH=NO")


def model(server, name="gpt-4o-mini", **options):
    return resolve_model(f"openai:{name}", base_url=server.openai, api_key=KEY, **options)


def critic(server, **options):
    return Critic("openai:gpt-4o-mini", "faithfulness", name="truth", base_url=server.openai, api_key=KEY, **options)


# What is asked


def test_the_request_is_exactly_what_openai_documents(server):
    complete(model(server), schema=SCHEMA, options=Options(temperature=0.0, max_tokens=300, logprobs=True))
    (ask,) = server.asks
    assert ask.path == "/v1/chat/completions"
    assert ask.headers["authorization"] == f"Bearer {KEY}"
    assert ask.body == {
        "model": "gpt-4o-mini",
        "messages": [{"role": "system", "content": "You judge."}, {"role": "user", "content": "Is it so?"}],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "judgment", "strict": True, "schema": SCHEMA},
        },
        "temperature": 0.0,
        "max_completion_tokens": 300,
        "logprobs": True,
        "top_logprobs": 20,
    }


def test_what_is_left_to_the_vendor_is_not_sent(server):
    async def run():
        return await model(server).complete(Prompt.of("Is it so?"))

    asyncio.run(run())
    assert server.asks[0].body == {
        "model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Is it so?"}],
    }  # fmt: skip


# What comes back


@pytest.mark.parametrize(("case", "status"), [(GOOD, Status.PASS), (BAD, Status.FAIL)])
def test_a_good_answer_is_a_judgment_sync_and_async(server, case, status):
    asked = critic(server)
    one, other = asked.judge(case), asyncio.run(asked.ajudge(case))
    for judgment in (one, other):
        assert (judgment.status, judgment.confidence, judgment.model) == (status, 0.9, "gpt-4o-mini")
        assert judgment.family == "openai"
        assert judgment.error is None
    assert one.metadata["request_id"] == "chatcmpl-0"


def test_a_malformed_reply_is_asked_for_again_once_and_then_abstains(server):
    server.plan = lambda ask: Act(text='{"answer": "YE')
    judgment = critic(server).judge(GOOD)
    assert (judgment.status, judgment.error) == (Status.ABSTAIN, "parse_fail")
    assert judgment.raw_response == '{"answer": "YE'
    assert judgment.usage.calls == 2
    first, second = (ask.body["messages"] for ask in server.asks)
    assert second[: len(first)] == first
    assert second[len(first)] == {"role": "assistant", "content": '{"answer": "YE'}
    assert second[-1]["role"] == "user"
    assert "could not be read" in second[-1]["content"]


def test_a_repaired_reply_counts_and_both_calls_are_paid_for(server):
    server.plan = lambda ask: Act(text="well...") if ask.number == 0 else WELL
    judgment = critic(server).judge(BAD)
    assert judgment.status is Status.FAIL
    assert (judgment.usage.calls, judgment.usage.input_tokens) == (2, 200)


@pytest.mark.parametrize(
    ("act", "status", "error_code"),
    [
        (Act(text='{"reasoning": "so', finish="length"), Status.ABSTAIN, "truncated"),
        (Act(text="", finish="length"), Status.ABSTAIN, "truncated"),
        (Act(finish="refusal"), Status.ABSTAIN, "refused"),
        (Act(text="", finish="filter"), Status.ABSTAIN, "filtered"),
        (Act(text=""), Status.ERROR, "empty_response"),
        (Act(text=" \n\t"), Status.ERROR, "empty_response"),
    ],
)
def test_truncated_refused_filtered_and_empty_replies_say_so_and_are_not_asked_again(server, act, status, error_code):
    server.plan = lambda ask: act
    judgment = critic(server).judge(GOOD)
    assert (judgment.status, judgment.error) == (status, error_code)
    assert len(server.asks) == 1
    assert judgment.usage.calls == 1


def test_a_refusal_keeps_the_models_own_words(server):
    server.plan = lambda ask: Act(finish="refusal")
    assert "I will not judge this." in critic(server).judge(GOOD).reasoning


def test_usage_counts_cached_tokens_inside_the_input_and_costs_them_less(server):
    usage = complete(model(server)).usage
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (100, 20, 64)
    assert (usage.reasoning_tokens, usage.calls, usage.cost_complete) == (5, 1, True)
    assert usage.cost_usd == pytest.approx((36 * 0.15 + 64 * 0.075 + 20 * 0.60) / 1e6)


def test_an_unknown_price_is_unknown_until_the_user_says_it(server):
    usage = complete(model(server, "brand-new")).usage
    assert (usage.cost_usd, usage.cost_complete) == (0.0, False)
    try:
        set_price("openai:brand-new", input=1.0, output=2.0)
        usage = complete(model(server, "brand-new")).usage
    finally:
        PRICES.pop("openai:brand-new", None)
    assert usage.cost_complete
    assert usage.cost_usd == pytest.approx((100 + 40) / 1e6)


def raw_answer(**changes):
    answer = {
        "id": "chatcmpl-x",
        "model": "gpt-4o-mini",
        "choices": [{"message": {"role": "assistant", "content": "YES"}, "finish_reason": "stop"}],
    }
    return Act(raw=json.dumps({**answer, **changes}))


@pytest.mark.parametrize(("cost", "known"), [(0.0125, 0.0125), (0, 0.0), ("free", None), (-1, None), (1e999, None)])
def test_a_stated_cost_is_believed_when_it_is_one(server, cost, known):
    server.plan = lambda ask: raw_answer(usage={"prompt_tokens": 10, "completion_tokens": 1, "cost": cost})
    usage = complete(resolve_model("openrouter:any/model", base_url=server.openai, api_key=KEY)).usage
    assert usage.cost_complete == (known is not None)
    assert usage.cost_usd == (known or 0.0)


@pytest.mark.parametrize("usage", [None, "many", [], {}, {"prompt_tokens": "7"}, {"prompt_tokens_details": 3}])
def test_odd_usage_is_no_crash_and_missing_usage_is_no_zero_cost(server, usage):
    server.plan = lambda ask: raw_answer(usage=usage)
    reply = complete(model(server))
    assert (reply.text, reply.usage.calls) == ("YES", 1)
    if not isinstance(usage, dict):
        assert not reply.usage.cost_complete


@pytest.mark.parametrize(
    "content", [{"x": 1}, [], [{}], [{"message": None}], None, "YES", [[]], [{"message": "YES"}], ["YES"]]
)
def test_a_200_without_a_completion_is_broken_and_tried_again(server, content):
    server.plan = lambda ask: raw_answer(choices=content)
    caught = failure(model(server, limits=Limits(attempts=3)))
    assert (caught.kind, len(server.asks)) == ("broken_body", 3)


def test_text_parts_are_put_together(server):
    parts = [{"type": "text", "text": "Y"}, {"type": "image"}, "no", {"type": "text", "text": "ES"}]
    server.plan = lambda ask: raw_answer(choices=[{"message": {"content": parts}, "finish_reason": "stop"}])
    assert complete(model(server)).text == "YES"


@pytest.mark.parametrize(
    "alternatives", [["x"], [{"token": "NO"}], [{"token": "NO", "logprob": "low"}], [None], "odd", 7]
)
def test_an_odd_alternative_is_left_out_and_is_never_certain(server, alternatives):
    token = {"token": "YES", "logprob": -0.5, "top_logprobs": alternatives}
    choice = {"message": {"content": "YES"}, "finish_reason": "stop", "logprobs": {"content": [token]}}
    server.plan = lambda ask: raw_answer(choices=[choice])
    (found,) = complete(model(server), options=Options(logprobs=True)).logprobs
    assert (found.text, found.logprob, found.alternatives) == ("YES", -0.5, ())


BROKEN_BODIES = [
    Act(raw="<html>Sign in</html>", content_type="text/html"),
    Act(raw="not JSON at all"),
    Act(raw=b"\xff\xfe\x00{", content_type="application/json"),
    Act(raw=b"\xff\xfe\x00{", content_type="text/plain"),
    Act(raw=""),
    Act(raw="[1, 2"),
    Act(raw='{"id": "x", "choices": [{"message": {"content": "Answer: Y'),
]


@pytest.mark.parametrize("act", BROKEN_BODIES)
def test_a_200_whose_body_is_broken_is_tried_again(server, act):
    server.plan = lambda ask: act if ask.attempt == 0 else WELL
    with no_waiting():
        judgment = critic(server).judge(GOOD)
    assert (judgment.status, judgment.usage.calls, len(server.asks)) == (Status.PASS, 1, 2)


@pytest.mark.parametrize("act", BROKEN_BODIES)
def test_a_body_that_stays_broken_is_an_error_that_says_so(server, act):
    server.plan = lambda ask: act
    caught = failure(model(server, limits=Limits(attempts=3)))
    assert (caught.kind, caught.transient, len(server.asks)) == ("broken_body", True, 3)
    with no_waiting():
        judgment = critic(server, limits=Limits(attempts=2)).judge(GOOD)
    assert judgment.status is Status.ERROR
    assert judgment.error.startswith("broken_body: openai:gpt-4o-mini")


@pytest.mark.parametrize("raw", ["null", "[]", "{}", "7"])
def test_a_whole_body_that_is_not_a_completion_is_broken_and_tried_again(server, raw):
    server.plan = lambda ask: Act(raw=raw) if ask.attempt == 0 else WELL
    assert complete(model(server)).text
    assert len(server.asks) == 2


# What goes wrong


@pytest.mark.parametrize(
    ("act", "kind", "tries"),
    [
        (error(429), "rate_limited", 3),
        (error(500), "server", 3),
        (error(502), "server", 3),
        (error(503), "server", 3),
        (error(529), "server", 3),
        (error(408), "timeout", 3),
        (error(409), "server", 3),
        (error(400), "refused_request", 1),
        (error(404), "refused_request", 1),
        (error(401), "authentication", 1),
        (error(403), "refused_request", 1),
        (error(403, code="model_not_found"), "authentication", 1),
        (error(402), "quota_exhausted", 1),
        (error(429, code="insufficient_quota", type="insufficient_quota"), "quota_exhausted", 1),
        (Act(drop=True), "connection", 3),
        (Act(status=500, raw="<html>oops</html>", content_type="text/html"), "server", 3),
    ],
)
def test_what_may_help_is_tried_again_and_what_cannot_is_not(server, act, kind, tries):
    server.plan = lambda ask: act
    caught = failure(model(server, limits=Limits(attempts=3)))
    assert caught.kind == kind
    assert len(server.asks) == tries
    if not act.drop:
        assert caught.status == act.status
        assert caught.request_id == f"req_{tries - 1}"
        assert caught.request_id in str(caught)


@pytest.mark.parametrize("act", [error(429), error(500), error(529), Act(drop=True)])
def test_a_passing_failure_leaves_no_trace_in_the_judgment(server, act):
    server.plan = lambda ask: act if ask.number < 3 else WELL
    with no_waiting():
        judgment = critic(server, limits=Limits(attempts=4)).judge(BAD)
    assert (judgment.status, judgment.error, len(server.asks)) == (Status.FAIL, None, 4)


def test_a_slow_server_times_out_on_every_try_and_ends_as_error(server):
    server.plan = lambda ask: Act(delay=5)
    with no_waiting():
        judgment = critic(server, request_timeout=0.2, limits=Limits(attempts=2)).judge(GOOD)
    assert judgment.status is Status.ERROR
    assert judgment.error.startswith("timeout: openai:gpt-4o-mini")
    assert len(server.asks) == 2


def test_nobody_at_the_address_is_a_connection_error():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        caught = failure(resolve_model("m", base_url=address, api_key=KEY, limits=Limits(attempts=2)))
    assert caught.kind == "connection"


def test_the_request_id_of_an_error_stands_in_the_judgment(server):
    server.plan = lambda ask: error(400, "no such thing")
    judgment = critic(server).judge(GOOD)
    assert judgment.metadata["request_id"] == "req_0"
    assert judgment.error == "refused_request: openai:gpt-4o-mini: no such thing (HTTP 400, request req_0)"


# How long it waits


def waited(server, headers, **limits):
    server.plan = lambda ask: Act(status=429, error={"message": "slow down"}, headers=headers()) if (
        ask.number == 0
    ) else WELL  # fmt: skip
    started = time.perf_counter()
    reply = complete(model(server, limits=Limits(attempts=2, **limits)))
    assert reply.text
    return time.perf_counter() - started


def test_retry_after_in_seconds_is_waited_for(server):
    assert 0.6 <= waited(server, lambda: {"retry-after": "0.6"}) < 3


def test_retry_after_in_milliseconds_goes_before_seconds(server):
    assert 0.3 <= waited(server, lambda: {"retry-after-ms": "300", "retry-after": "50"}) < 3


def test_retry_after_as_a_date_is_measured_by_the_servers_clock(server):
    long_ago = 946684800.0
    headers = {"date": formatdate(long_ago, usegmt=True), "retry-after": formatdate(long_ago + 1, usegmt=True)}
    assert 1.0 <= waited(server, lambda: headers) < 4


def test_a_date_that_has_passed_is_no_wait_at_all(server):
    headers = {"date": formatdate(1000, usegmt=True), "retry-after": formatdate(10, usegmt=True)}
    assert waited(server, lambda: headers) < 2


def test_a_long_retry_after_is_cut_to_max_wait(server):
    assert 0.3 <= waited(server, lambda: {"retry-after": "3600"}, max_wait_s=0.3) < 3


@pytest.mark.parametrize("value", ["soon", "-5", "nan", "inf", "Mon, 99 Foo 2000"])
def test_a_retry_after_that_is_none_falls_back_to_our_own_wait(server, value):
    server.plan = lambda ask: Act(status=429, error={}, headers={"retry-after": value})
    assert failure(model(server, limits=Limits(attempts=2))).retry_after is None


# What a model does not take is learned once


def temperature_refused(ask):
    if "temperature" in ask.body:
        return error(400, "Unsupported value: 'temperature' does not support 0.0 with this model.", param="temperature",
                     code="unsupported_value")  # fmt: skip
    return WELL


def test_a_refused_temperature_is_left_out_from_then_on(server):
    server.plan = temperature_refused
    asked = critic(server)
    assert asked.judge(GOOD).passed
    assert [("temperature" in ask.body) for ask in server.asks] == [True, False]
    assert asked.judge(BAD).status is Status.FAIL
    assert [("temperature" in ask.body) for ask in server.asks] == [True, False, False]


def test_what_one_critic_learned_another_one_knows_and_another_model_does_not(server):
    server.plan = temperature_refused
    options = Options(temperature=0.0)
    complete(model(server), options=options)
    complete(model(server), options=options)
    assert len(server.asks) == 3
    complete(model(server, "gpt-other"), options=options)
    assert len(server.asks) == 5


@pytest.mark.parametrize(
    ("vendor", "first", "then"),
    [("openai", "max_completion_tokens", "max_tokens"), ("mistral", "max_tokens", "max_completion_tokens")],
)
def test_the_limit_on_output_takes_its_other_name(server, vendor, first, then):
    message = f"Unsupported parameter: '{first}' is not supported with this model. Use '{then}' instead."
    server.plan = lambda ask: error(400, message, param=first) if first in ask.body else WELL
    asked = resolve_model(f"{vendor}:m", base_url=server.openai, api_key=KEY)
    for _ in range(2):
        complete(asked, options=Options(max_tokens=99))
    assert [ask.body.get(first) for ask in server.asks] == [99, None, None]
    assert [ask.body.get(then) for ask in server.asks] == [None, 99, 99]


def test_an_output_limit_that_is_refused_under_both_names_is_left_out(server):
    names = {"max_tokens", "max_completion_tokens"}

    def plan(ask):
        given = names & ask.body.keys()
        if not given:
            return WELL
        other = (names - given).pop()
        return error(400, f"Unsupported parameter: {given.pop()!r}. Use {other!r} instead.")

    server.plan = plan
    complete(model(server), options=Options(max_tokens=99))
    complete(model(server), options=Options(max_tokens=99))
    assert len(server.asks) == 4


def test_refused_logprobs_are_left_out_and_the_judgment_stays(server):
    server.plan = lambda ask: (
        error(400, "You are not allowed to request logprobs from this model: it is not supported.", param="logprobs")
        if "logprobs" in ask.body or "top_logprobs" in ask.body
        else WELL
    )
    asked = critic(server, logprobs=True)
    assert asked.judge(GOOD).passed
    assert asked.judge(BAD).status is Status.FAIL
    assert [("logprobs" in ask.body, "top_logprobs" in ask.body) for ask in server.asks] == [
        (True, True), (False, False), (False, False),
    ]  # fmt: skip


def test_a_json_schema_weakens_to_a_json_object_and_then_to_words(server):
    def plan(ask):
        kind = ask.body.get("response_format", {}).get("type")
        return error(400, f"This response_format type is unavailable now: {kind} is not supported") if kind else WELL

    server.plan = plan
    asked = critic(server)
    assert asked.judge(GOOD).passed
    assert asked.judge(BAD).status is Status.FAIL
    kinds = [ask.body.get("response_format", {}).get("type") for ask in server.asks]
    assert kinds == ["json_schema", "json_object", None, None]


@pytest.mark.parametrize("status", [400, 404, 422, 500, 501])
def test_a_server_that_says_no_to_schemas_in_its_own_way_is_understood(server, status):
    server.plan = lambda ask: (
        error(status, "json_schema is not implemented here") if "json_schema" in str(ask.body) else WELL
    )
    assert critic(server).judge(GOOD).passed
    assert len(server.asks) == 2


@pytest.mark.slow
def test_64_requests_at_once_learn_the_same_lessons_together(server):
    def plan(ask):
        kind = ask.body.get("response_format", {}).get("type")
        if kind == "json_schema":
            return Act(status=400, error={"message": "json_schema is not supported"}, delay=0.02)
        if "temperature" in ask.body:
            return Act(status=400, error={"message": "temperature is not supported"}, delay=0.02)
        return WELL

    server.plan = plan
    asked = model(server)

    async def run():
        prompts = [Prompt.of(f"{n} TRUTH={'YES' if n % 2 else 'NO'}") for n in range(64)]
        return await asyncio.gather(*(asked.complete(prompt, SCHEMA, Options(temperature=0.0)) for prompt in prompts))

    assert len(asyncio.run(run())) == 64
    assert len(server.asks) <= 3 * 64
    before = len(server.asks)
    complete(asked, schema=SCHEMA, options=Options(temperature=0.0))
    (last,) = server.asks[before:]
    assert last.body["response_format"] == {"type": "json_object"}  # weakened once, not once per request
    assert "temperature" not in last.body


@pytest.mark.slow
def test_threads_that_learn_at_once_weaken_the_format_once(server):
    gate = threading.Barrier(16, timeout=20)

    def plan(ask):
        kind = ask.body.get("response_format", {}).get("type")
        return Act(status=400, error={"message": "not supported: json_schema"}, delay=0.1) if (
            kind == "json_schema"
        ) else WELL  # fmt: skip

    server.plan = plan

    def work(_):
        gate.wait()
        return complete(model(server), schema=SCHEMA)

    with ThreadPoolExecutor(16) as pool:
        assert len(list(pool.map(work, range(16)))) == 16
    complete(model(server), schema=SCHEMA)
    assert server.asks[-1].body["response_format"] == {"type": "json_object"}


@pytest.mark.parametrize(
    ("message", "parameter"),
    [
        ("This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the "
         "messages, 1000 in the completion). Please reduce the length; see max_tokens.", "messages"),
        ("'max_tokens' or 'max_completion_tokens' is too large: 2000. This model's maximum context length is 1024 "
         "tokens and your request has 500 input tokens (2000 > 1024 - 500).", "max_tokens"),
        ("max_tokens is too large: 2000. This model supports at most 1024 completion tokens.", "max_completion_tokens"),
        ("max_completion_tokens: 2000 > 1024, which is the maximum allowed number of output tokens", None),
    ],
)  # fmt: skip
def test_a_context_that_is_too_long_teaches_nothing(server, message, parameter):
    server.plan = lambda ask: error(400, message, param=parameter) if ask.number == 0 else WELL
    options = Options(max_tokens=2000)
    assert failure(model(server), options=options).kind == "refused_request"
    complete(model(server), options=options)
    assert [ask.body["max_completion_tokens"] for ask in server.asks] == [2000, 2000]


def test_a_refusal_of_what_cannot_be_left_out_is_an_error(server):
    server.plan = lambda ask: error(400, "unsupported parameter: messages", param="messages")
    assert failure(model(server), options=Options(temperature=0.0)).parameter == "messages"
    assert len(server.asks) == 1


def test_a_server_that_refuses_everything_ends(server):
    server.plan = lambda ask: error(400, f"not supported: {', '.join(ask.body)}, json_schema")
    failure(model(server), schema=SCHEMA, options=Options(temperature=0.0, max_tokens=5, logprobs=True))
    assert len(server.asks) < 10


# A client of the user's own


def test_a_client_of_ones_own_is_taken_as_it_is(server):
    async def run():
        async with openai.AsyncOpenAI(
            api_key=KEY, base_url=server.openai, default_headers={"x-team": "blue"}
        ) as client:
            asked = Critic("gpt-4o-mini", "faithfulness", name="truth", client=client)
            first = await asked.ajudge(GOOD)
            assert not client.is_closed()
            return first, await asked.ajudge(BAD), asked.model.name

    first, second, name = asyncio.run(run())
    assert (first.status, second.status, name) == (Status.PASS, Status.FAIL, "openai:gpt-4o-mini")
    assert {ask.headers["x-team"] for ask in server.asks} == {"blue"}


def test_a_subclass_of_the_async_client_is_an_async_client(server):
    class OurClient(openai.AsyncOpenAI):
        pass

    async def run():
        async with OurClient(api_key=KEY, base_url=server.openai) as client:
            return await Critic("gpt-4o-mini", "faithfulness", name="truth", client=client).ajudge(GOOD)

    assert asyncio.run(run()).passed


def test_what_a_client_of_ones_own_taught_is_not_believed_of_the_vendor_itself(server):
    server.plan = temperature_refused

    async def run():
        async with openai.AsyncOpenAI(api_key=KEY, base_url=server.openai) as client:
            mine = resolve_model("gpt-pollution", client=client)
            await mine.complete(Prompt.of("?"), None, Options(temperature=0.0))

    asyncio.run(run())
    from jury_adapters.models.unsupported_parameters import capabilities_of

    assert "temperature" not in capabilities_of("openai", "gpt-pollution").refused


def test_the_key_of_a_client_of_ones_own_is_hidden_too(server):
    secret = "plain:password:without:any:pattern"
    server.plan = lambda ask: error(401, f"no such key: {secret}")

    async def run():
        async with openai.AsyncOpenAI(api_key=secret, base_url=server.openai) as client:
            return await Critic("gpt-4o-mini", "faithfulness", name="truth", client=client).ajudge(GOOD)

    assert secret not in asyncio.run(run()).to_json()


def test_a_sync_client_is_refused_with_the_one_to_take(server):
    client = openai.OpenAI(api_key=KEY, base_url=server.openai)
    with client, pytest.raises(ConfigurationError, match="AsyncOpenAI"):
        Critic("gpt-4o-mini", "faithfulness", name="truth", client=client)


def test_an_http_client_of_ones_own_carries_the_requests(server):
    async def run():
        async with httpx.AsyncClient(headers={"x-proxy": "yes"}) as client:
            return await critic(server, client=client).ajudge(GOOD)

    assert asyncio.run(run()).passed
    assert server.asks[0].headers["x-proxy"] == "yes"


# Which server


def test_a_name_beside_a_base_url_needs_neither_vendor_nor_key(server):
    asked = Critic("qwen:7b", "faithfulness", name="local", base_url=server.openai)
    assert asked.judge(GOOD).passed
    assert asked.model.name == "local:qwen:7b"
    assert server.asks[0].body["model"] == "qwen:7b"
    assert KEY not in str(server.asks[0].headers)


@pytest.mark.parametrize("vendor", VENDORS)
def test_every_vendor_resolves_and_speaks(server, monkeypatch, vendor):
    for name in ("key_variable", "url_variable"):
        variable = getattr(VENDORS[vendor], name)
        if variable:
            monkeypatch.setenv(variable, KEY if name == "key_variable" else f"{server.url}/")
    assert resolve_model(f"{vendor}:a-model").name == f"{vendor}:a-model"
    assert resolve_model("a-model", vendor=vendor.upper()).inner.vendor.lower() == vendor
    base = server.anthropic if VENDORS[vendor].sdk == "anthropic" else server.openai
    asked = Critic(f"{vendor}:a-model", "faithfulness", name="x", base_url=base)
    assert asked.judge(BAD).status is Status.FAIL
    token = VENDORS[vendor].token_parameter
    assert server.asks[0].body[token] == 2000


def test_azure_takes_the_customers_own_address(server, monkeypatch):
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", f"{server.url}/")
    complete(resolve_model("azure:deployed"))
    assert server.asks[0].path == "/openai/v1/chat/completions"
    monkeypatch.delenv("AZURE_OPENAI_ENDPOINT")
    with pytest.raises(ConfigurationError, match="AZURE_OPENAI_ENDPOINT"):
        resolve_model("azure:deployed")


def test_a_bare_name_is_refused_with_the_fix():
    with pytest.raises(ConfigurationError, match=r"openai:gpt-4o.*vendor=.*base_url="):
        resolve_model("gpt-4o")


def test_an_unknown_vendor_is_refused_with_the_nearest_one():
    with pytest.raises(ConfigurationError, match=r"Did you mean 'openai'"):
        resolve_model("gpt-4o", vendor="opnai")


def test_a_missing_key_is_named_at_once(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigurationError, match=r"OPENAI_API_KEY.*api_key="):
        resolve_model("openai:gpt-4o")


@pytest.mark.parametrize("name", ["openai:", ""])
def test_a_model_without_a_name_is_refused(name):
    with pytest.raises(ConfigurationError, match="vendor:model"):
        resolve_model(name, api_key=KEY)


@pytest.mark.parametrize("sent_by", ["our own requests", "the SDK"])
def test_a_key_that_was_replaced_in_the_environment_is_used_after_a_refusal(server, monkeypatch, sent_by):
    old, new = "sk-old-0123456789", "sk-new-0123456789"
    server.plan = lambda ask: WELL if ask.headers["authorization"] == f"Bearer {new}" else error(401, f"bad {old}")
    monkeypatch.setenv("OPENAI_API_KEY", old)
    given = {"client": openai.DefaultAsyncHttpxClient()} if sent_by == "the SDK" else {}
    asked = Critic("openai:gpt-4o-mini", "faithfulness", name="truth", base_url=server.openai, **given)
    refused = asked.judge(GOOD)
    assert refused.error.startswith("authentication")
    monkeypatch.setenv("OPENAI_API_KEY", new)
    assert asked.judge(GOOD).passed
    assert old not in refused.to_json()


def test_a_user_and_a_password_are_sent_by_an_http_client_as_the_message_says(server):
    async def main():
        async with openai.DefaultAsyncHttpxClient(auth=("me", "hidden-password")) as client:
            asked = Critic("m", "faithfulness", name="truth", base_url=server.openai, client=client)
            return await asked.ajudge(GOOD)

    judgment = asyncio.run(main())
    assert judgment.passed, judgment.error
    assert server.asks[0].headers["authorization"] == "Basic bWU6aGlkZGVuLXBhc3N3b3Jk"
