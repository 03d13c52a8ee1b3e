"""``ChatOpenAI`` and ``ChatAnthropic`` whose requests the package sends itself, over real HTTP.

``.ci/run`` says where langchain-openai and langchain-anthropic are installed.
"""

import asyncio
import json
from importlib.util import find_spec

import pytest
from support.direct import (
    BARE,
    FIRST,
    REPAIR,
    SCHEMA,
    asked,
    assert_same_requests,
    complete,
    is_sent_by_sdk,
    wrapped_method,
)  # fmt: skip
from support.vendor import Act, error

from jury_adapters import Critic, Limits, ModelError, Status
from jury_adapters.models.base import Options
from jury_adapters.models.langchain import LangChainModel
from jury_adapters.models.registry import resolve_model
from jury_adapters.testing import a_case, no_waiting

pytestmark = pytest.mark.corpus

KEY = "sk-test-0123456789"

if find_spec("langchain_openai"):
    import openai
    from langchain_core.rate_limiters import InMemoryRateLimiter
    from langchain_openai import AzureChatOpenAI, ChatOpenAI
    from openai.resources.chat.completions import AsyncCompletions

    class Derived(ChatOpenAI):
        """Adds nothing, and still is a class of its own."""

    def chat(server, **settings):
        return ChatOpenAI(**{"model": "gpt-4o-mini", "base_url": server.openai, "api_key": KEY, **settings})

    SETTINGS = [
        {}, {"temperature": 0.3}, {"max_tokens": 77}, {"max_completion_tokens": 78}, {"seed": 7}, {"top_p": 0.5},
        {"stop": ["\n\n"]}, {"logprobs": True, "top_logprobs": 3}, {"n": 2}, {"frequency_penalty": 0.1},
        {"presence_penalty": 0.1}, {"logit_bias": {50256: -100}}, {"model": "o3-mini", "reasoning_effort": "low"},
        {"model": "gpt-5-mini"}, {"model": "gpt-3.5-turbo"}, {"service_tier": "flex"}, {"store": False},
        {"default_headers": {"x-team": "t", "User-Agent": "mine"}},
        {"default_query": {"api-version": "1"}}, {"extra_body": {"top_k": 5, "deep": {"er": [1]}}},
        {"model_kwargs": {"user": "u", "extra_headers": {"x-call": "c"}}}, {"organization": "org"}, {"timeout": 9},
        {"stream_usage": True}, {"verbosity": "low"}, {"metadata": {"a": 1}, "tags": ["t"]},
    ]  # fmt: skip

    @pytest.mark.corpus
    @pytest.mark.parametrize("settings", SETTINGS, ids=str)
    @pytest.mark.parametrize("options", [Options(), Options(0.0, 2000, True)], ids=["bare", "full"])
    def test_we_send_what_the_object_would_send(server, settings, options):
        for prompt, schema in ((FIRST, SCHEMA), (REPAIR, SCHEMA), (BARE, None)):
            ours = asked(server, LangChainModel(chat(server, **settings)), prompt, schema, options)
            theirs = asked(server, LangChainModel(chat(server, **settings), traced=True), prompt, schema, options)
            assert len(ours) == 1
            assert_same_requests(ours, theirs)

    def test_a_model_that_was_used_before_is_sent_for(server):
        model = chat(server)

        async def use():
            await model.ainvoke("hello")
            await model.with_structured_output({"title": "t", **SCHEMA}).ainvoke("hello")
            await model.root_async_client.close()

        asyncio.run(use())
        server.asks.clear()
        asked(server, model)
        assert [is_sent_by_sdk(ask) for ask in server.asks] == [False]

    def test_a_client_with_a_method_of_its_own_is_used(server):
        client = openai.AsyncOpenAI(api_key=KEY, base_url=server.openai)
        create = client.chat.completions.create

        async def traced(*args, **kwargs):
            return await create(*args, **kwargs)

        client.chat.completions.create = traced
        model = chat(server, root_async_client=client, async_client=client.chat.completions)
        asked(server, model)
        assert [is_sent_by_sdk(ask) for ask in server.asks] == [True]

    @pytest.mark.parametrize("bound", [{"stop": ["x"]}, {"user": "u", "seed": 3}, {"extra_body": {"a": 1}}], ids=str)
    def test_bound_arguments_are_sent(server, bound):
        ours = asked(server, LangChainModel(chat(server).bind(**bound)))
        assert_same_requests(ours, asked(server, LangChainModel(chat(server).bind(**bound), traced=True)))

    @pytest.mark.parametrize("make", [
        lambda server: Derived(model="gpt-4o-mini", base_url=server.openai, api_key=KEY),
        lambda server: AzureChatOpenAI(
            azure_endpoint=server.url, api_key=KEY, api_version="2024-10-21", azure_deployment="gpt-4o-mini"
        ),
        lambda server: chat(server, api_key=lambda: KEY),
        lambda server: chat(server, rate_limiter=InMemoryRateLimiter(requests_per_second=1000)),
        lambda server: chat(server, streaming=True),
        lambda server: chat(server, use_responses_api=True),
        lambda server: chat(server, output_version="v1"),
        lambda server: chat(server, include_response_headers=True),
        lambda server: chat(server).with_retry(),
        lambda server: chat(server).with_fallbacks([chat(server)]),
        lambda server: LangChainModel(chat(server), traced=True),
        lambda server: LangChainModel(chat(server), cached=True),
    ])  # fmt: skip
    def test_an_object_with_behaviour_of_its_own_is_called(server, make):
        asks = asked(server, make(server))
        assert asks
        assert all(is_sent_by_sdk(ask) for ask in asks)

    @pytest.mark.parametrize("inside", [False, True], ids=["http_async_client", "root_async_client"])
    def test_an_http_client_of_the_users_own_is_used(server, inside):
        seen = []

        async def keep(request):
            seen.append(request)

        async def main():
            async with openai.DefaultAsyncHttpxClient(event_hooks={"request": [keep]}) as http_client:
                if inside:
                    client = openai.AsyncOpenAI(api_key=KEY, base_url=server.openai, http_client=http_client)
                    model = chat(server, root_async_client=client, async_client=client.chat.completions)
                else:
                    model = chat(server, http_async_client=http_client)
                return await resolve_model(model).complete(FIRST, SCHEMA)

        assert asyncio.run(main()).text
        assert len(server.asks) == len(seen) == 1

    @pytest.mark.parametrize("place", [
        (ChatOpenAI, "_agenerate"), (ChatOpenAI, "_get_request_payload"), (AsyncCompletions, "create"),
        (openai.AsyncOpenAI, "_prepare_options"),
    ], ids=lambda place: f"{place[0].__name__}.{place[1]}")  # fmt: skip
    def test_who_wraps_a_method_hears_of_the_call(server, place):
        kind = next(base for base in place[0].__mro__ if place[1] in vars(base))
        with wrapped_method(kind, place[1]) as calls:
            complete(chat(server), schema=None)
        assert calls
        assert is_sent_by_sdk(server.asks[0])

    def test_the_recording_sends_nothing_and_the_object_stays_as_it_was(server):
        model = chat(server)
        before = (model.root_async_client, model.async_client, model.max_retries)
        critic = Critic(model, "faithfulness", name="truth")

        async def judged():
            return [one async for one in critic.ajudge_many([a_case(question=str(i)) for i in range(20)])]

        assert {one.status for one in asyncio.run(judged())} == {Status.PASS}
        assert len(server.asks) == 20
        assert not any(is_sent_by_sdk(ask) for ask in server.asks)
        assert before == (model.root_async_client, model.async_client, model.max_retries)

    def test_its_own_time_limit_holds(server):
        server.plan = lambda ask: Act(drip=0.2)
        with pytest.raises(ModelError, match=r"no whole answer within 0\.5 s") as raised:
            complete(chat(server, timeout=0.5))
        assert raised.value.kind == "timeout"

    def test_a_redirect_is_not_followed(server):
        server.plan = lambda ask: Act(status=307, headers={"location": server.openai + "/elsewhere"}, raw="")
        with pytest.raises(ModelError, match="redirects"):
            complete(chat(server))
        assert len(server.asks) == 1

    def test_a_custom_key_is_in_no_error(server):
        server.plan = lambda ask: error(401, "no such key: plain-words-as-a-key")
        with pytest.raises(ModelError) as raised:
            complete(chat(server, api_key="plain-words-as-a-key"))
        assert raised.value.kind == "authentication"
        assert "plain-words" not in str(raised.value)

    def test_a_key_that_was_replaced_is_used_after_a_refusal(server):
        server.plan = lambda ask: Act() if ask.headers["authorization"] == "Bearer new" else error(401, "no")
        model = chat(server)
        ready = resolve_model(model, limits=Limits(attempts=1))

        async def twice():
            with pytest.raises(ModelError):
                await ready.complete(FIRST)
            model.root_async_client.api_key = "new"
            return await ready.complete(FIRST)

        assert asyncio.run(twice()).text

    def test_a_cut_off_answer_is_paid_for(server):
        server.plan = lambda ask: Act(text='{"answer"', finish="length")
        reply = complete(chat(server))
        assert (reply.finish, reply.usage.output_tokens, reply.usage.cost_complete) == ("length", 20, True)

    def test_an_answer_by_a_tool_is_read(server):
        called = {"id": "c", "type": "function", "function": {"name": "judgment", "arguments": '{"answer": "NO"}'}}
        message = {"role": "assistant", "content": None, "tool_calls": [called]}
        server.plan = lambda ask: Act(
            raw=json.dumps({"choices": [{"finish_reason": "tool_calls", "message": message}]})
        )
        assert (
            complete(
                chat(server).bind_tools([{"name": "judgment", "description": "d", "parameters": SCHEMA}]), schema=None
            ).text
            == '{"answer": "NO"}'
        )
        assert not is_sent_by_sdk(server.asks[0])

    def test_an_error_in_a_200_decides(server):
        server.plan = lambda ask: Act(raw='{"error": {"code": 429, "message": "slow down"}}')
        with pytest.raises(ModelError) as raised:
            complete(chat(server))
        assert raised.value.kind == "rate_limited"

    def test_a_busy_server_is_tried_again_by_our_limits_alone(server):
        server.plan = lambda ask: error(503, "busy") if ask.number < 2 else Act()
        with no_waiting():
            assert Critic(chat(server), "faithfulness", name="truth").judge(a_case()).status is Status.PASS
        assert len(server.asks) == 3


if find_spec("langchain_anthropic"):
    from anthropic.resources.messages import AsyncMessages
    from langchain_anthropic import ChatAnthropic

    def claude(server, **settings):
        base = {"model": "claude-haiku-4-5", "base_url": server.anthropic, "api_key": "sk-ant-test-0123456789"}
        return ChatAnthropic(**{**base, **settings})

    @pytest.mark.parametrize("settings", [
        {}, {"temperature": 0.3}, {"max_tokens": 77}, {"top_p": 0.5}, {"top_k": 5}, {"stop": ["x"]}, {"timeout": 9},
        {"default_headers": {"x-team": "t"}}, {"betas": ["some-beta-2025-01-01"]},
    ], ids=str)  # fmt: skip
    def test_we_send_what_a_claude_would_send(server, settings):
        for prompt, schema in ((FIRST, SCHEMA), (REPAIR, SCHEMA), (BARE, None)):
            ours = asked(server, LangChainModel(claude(server, **settings)), prompt, schema, Options(0.0, 2000))
            theirs = asked(
                server, LangChainModel(claude(server, **settings), traced=True), prompt, schema, Options(0.0, 2000)
            )
            assert len(ours) == 1
            assert_same_requests(ours, theirs)

    def test_who_wraps_the_sdk_of_a_claude_hears_of_the_call(server):
        with wrapped_method(AsyncMessages, "create") as calls:
            complete(claude(server), schema=None)
        assert calls
        assert is_sent_by_sdk(server.asks[0])

    def test_an_answer_by_a_claudes_tool_is_read(server):
        block = {"type": "tool_use", "id": "t", "name": "judgment", "input": {"answer": "NO"}}
        server.plan = lambda ask: Act(raw=json.dumps({"content": [block], "stop_reason": "tool_use"}))
        assert complete(claude(server)).text == '{"answer": "NO"}'
        assert not is_sent_by_sdk(server.asks[0])
