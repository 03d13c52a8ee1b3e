"""A key that a server repeats in an answer: it is in no result, no store and no log, whichever way was asked."""

import asyncio
import json

import httpx
import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from support.leaked_keys import BODIES, KEY, assert_body_hidden, assert_hidden, judged, plain_body
from support.proportion import assert_proportional
from support.vendor import Act, Ask

from jury_adapters import Critic, Status
from jury_adapters.decision import DecisionCritic
from jury_adapters.models.base import Prompt, Reply
from jury_adapters.models.credentials import secrets_in_client, secrets_in_headers
from jury_adapters.models.redaction import Secrets
from jury_adapters.models.registry import resolve_model
from jury_adapters.testing import a_case

WAYS = {
    "our own request": lambda server: {"model": "openai:m", "base_url": server.openai, "api_key": KEY},
    "the SDK": lambda server: {
        "model": "openai:m", "base_url": server.openai, "api_key": KEY, "client": httpx.AsyncClient(),
    },
    "a client": lambda server: {"model": "m", "client": AsyncOpenAI(api_key=KEY, base_url=server.openai)},
}  # fmt: skip


@pytest.mark.corpus
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("body", BODIES)
def test_no_result_store_or_log_has_a_key_that_the_answer_repeats(server, tmp_path, caplog, way, body):
    assert_body_hidden(server, body, WAYS[way](server), tmp_path, caplog)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("header", ["x-request-id", "request-id"])
def test_the_request_id_of_an_error_is_without_the_key(server, tmp_path, caplog, way, header):
    server.plan = lambda ask: Act(status=400, error={"message": "no", "param": KEY}, headers={header: f"r-{KEY}"})
    judgment, texts = judged(WAYS[way](server), tmp_path, caplog)
    assert judgment.status is Status.ERROR
    assert_hidden(texts)


def test_an_error_of_many_keys_shows_no_part_of_one(server, tmp_path, caplog):
    server.plan = lambda ask: Act(status=400, raw=KEY * 500, content_type="text/plain")
    _, texts = judged(WAYS["our own request"](server), tmp_path, caplog)
    assert_hidden(texts)


@pytest.mark.parametrize("given", [{}, {"client": AsyncAnthropic}])
def test_answers_in_anthropics_protocol(server, tmp_path, caplog, given):
    content = [{"type": "text", "text": json.dumps({"reasoning": f"says {KEY}", "answer": "YES"})}]
    server.plan = lambda ask: Act(raw=json.dumps({"id": KEY, "model": KEY, "content": content, "stop_reason": KEY}))
    way = (
        {"model": "anthropic:m", "client": AsyncAnthropic(api_key=KEY, base_url=server.anthropic)}
        if given
        else {"model": "anthropic:m", "api_key": KEY, "base_url": server.anthropic}
    )
    judgment, texts = judged(way, tmp_path, caplog)
    assert "[key]" in judgment.to_json()
    assert_hidden(texts)


def test_a_key_in_a_header_of_a_client_is_hidden_too(server, tmp_path, caplog):
    server.plan = lambda ask: Act(raw=plain_body(ask.headers["x-gateway-token"]))
    client = AsyncOpenAI(
        api_key="sk-other-0123456789", base_url=server.openai, default_headers={"x-gateway-token": KEY}
    )
    _, texts = judged({"model": "m", "client": client}, tmp_path, caplog)
    assert_hidden(texts)


def test_a_decision_model_that_answers_with_the_key(server, tmp_path):
    answer = {"type": "choice", "probabilities": [{"value": KEY, "probability": 1.0}], "confidence": 0.5}
    server.plan = lambda ask: Act(raw=json.dumps({"answers": [answer]}))
    critic = DecisionCritic("openai:m", "faithfulness", base_url=server.openai, api_key=KEY)
    judgment = critic.judge(a_case())
    assert judgment.status is Status.ABSTAIN
    assert_hidden({"json": judgment.to_json()})


def test_a_short_key_leaves_the_words_of_a_reply_alone(server):
    def plan(ask: Ask) -> Act:
        return Act(text=json.dumps({"reasoning": "the test passes", "answer": "YES"}))

    server.plan = plan
    critic = Critic("m", "faithfulness", name="truth", base_url=server.openai, api_key="test")
    assert critic.judge(a_case()).reasoning == "the test passes"


def test_a_reply_without_a_key_is_left_as_it_is():
    reply = Reply("a \\u0041 text", model="m", request_id=None)
    assert Secrets(KEY).redacted_reply(reply) == reply
    assert Secrets().redacted_reply(reply) is reply


@pytest.mark.slow
def test_a_reply_of_escapes_is_searched_in_linear_time():
    def search(length):
        text = "\\" * length + "\\u0067"
        assert Secrets(KEY).redacted(text) == text
        assert Secrets("ggggggggggggggggggggggg/").redacted("\\u0067" * (length // 10)).startswith("\\u0067")

    assert_proportional(search, 20_000)


def test_which_headers_are_secret():
    headers = {
        "Authorization": "Bearer abc", "X-Api-Key": "def", "cf-aig-authorization": "Bearer  ghi", "x-team": "blue",
        "content-type": "application/json", "Cookie": "a=b c", "x-token": 5,
    }  # fmt: skip
    assert list(secrets_in_headers(headers)) == ["abc", "def", "ghi", "a=b c"]
    assert list(secrets_in_headers(None)) == []


def test_the_keys_of_a_resource_of_a_client_are_found():
    client = AsyncAnthropic(api_key=KEY, base_url="http://localhost:1")
    assert KEY in set(secrets_in_client(client.messages))


def test_a_key_from_the_environment_that_a_reply_repeats(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.plan = lambda ask: Act(raw=plain_body(KEY))
    model = resolve_model("openai:m", base_url=server.openai)
    reply = asyncio.run(model.complete(Prompt.of("?")))
    assert (reply.model, reply.request_id) == ("m-[key]", "id-[key]")
