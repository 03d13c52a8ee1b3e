"""LlamaIndex's ``OpenAI``, ``OpenAILike`` and ``Anthropic`` whose requests the package sends itself, over real HTTP.

``.ci/run`` says where their packages are installed.
"""

import asyncio
from importlib.util import find_spec

import pytest
from llama_index.core.callbacks import CallbackManager, TokenCountingHandler
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events.llm import LLMChatEndEvent
from llama_index.core.instrumentation.span_handlers import SimpleSpanHandler
from pydantic import Field
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

from jury_adapters import Critic, ModelError, Status
from jury_adapters.judges import llm as judges
from jury_adapters.llama_index import judge_runs
from jury_adapters.models.base import Options
from jury_adapters.models.llama_index import LlamaIndexModel
from jury_adapters.testing import a_case

OPTIONS = [Options(), Options(0.0, 2000, True)]


class Heard(BaseEventHandler):
    """Keeps the ends of chats."""

    events: list = Field(default_factory=list)

    def handle(self, event, **kwargs):
        if isinstance(event, LLMChatEndEvent):
            self.events.append(event)


if find_spec("llama_index.llms") and find_spec("llama_index.llms.openai"):
    import openai
    from llama_index.llms.openai import OpenAI
    from openai.resources.chat.completions import AsyncCompletions

    class Derived(OpenAI):
        """Adds nothing, and still is a class of its own."""

    def make(server, **settings):
        return OpenAI(**{"model": "gpt-4o-mini", "api_base": server.openai, "api_key": "sk-secret-secret", **settings})

    def used(llm, server):
        """The LLM after the application has asked it."""

        async def ask():
            await llm.acomplete("hello")
            await llm._aclient.close()

        asyncio.run(ask())
        server.asks.clear()
        return llm

    @pytest.mark.parametrize("settings", [
        {}, {"temperature": 0.7}, {"max_tokens": 77}, {"logprobs": True, "top_logprobs": 3}, {"timeout": 9},
        {"default_headers": {"x-team": "t"}}, {"model": "o3-mini", "reasoning_effort": "low"},
        {"model": "o3-mini", "max_tokens": 50}, {"model": "gpt-5-mini"}, {"system_prompt": "never sent by achat"},
        {"additional_kwargs": {
            "seed": 1, "top_p": 0.5, "stop": ["x"], "user": "u", "n": 2, "service_tier": "flex",
            "extra_body": {"a": [1]}, "extra_headers": {"x-call": "c"}, "extra_query": {"q": "1"},
            "max_completion_tokens": 9,
        }},
        {"additional_kwargs": {"response_format": {"type": "text"}}},
    ], ids=str)  # fmt: skip
    @pytest.mark.parametrize("options", OPTIONS, ids=["bare", "full"])
    def test_we_send_what_the_llm_would_send(server, settings, options):
        for prompt, schema in ((FIRST, SCHEMA), (REPAIR, SCHEMA), (BARE, None)):
            ours = asked(server, LlamaIndexModel(make(server, **settings)), prompt, schema, options)
            theirs = asked(server, LlamaIndexModel(make(server, **settings), traced=True), prompt, schema, options)
            assert len(ours) == 1
            assert_same_requests(ours, theirs)

    def test_an_llm_that_was_used_before_is_sent_for(server):
        llm = used(make(server), server)
        assert_same_requests(asked(server, LlamaIndexModel(llm)), asked(server, LlamaIndexModel(llm, traced=True)))

    @pytest.mark.parametrize("build", [
        lambda server: Derived(model="gpt-4o-mini", api_base=server.openai, api_key="k"),
        lambda server: make(server, modalities=["text"]),
        lambda server: make(server, reuse_client=False),
        lambda server: make(server, additional_kwargs={"tools": [{"type": "function", "function": {"name": "f"}}]}),
        lambda server: make(server, callback_manager=CallbackManager([TokenCountingHandler()])),
        lambda server: LlamaIndexModel(make(server), traced=True),
    ])  # fmt: skip
    def test_an_llm_with_behaviour_of_its_own_is_called(server, build):
        asks = asked(server, build(server))
        assert asks
        assert all(is_sent_by_sdk(ask) for ask in asks)

    def test_an_http_client_of_the_users_own_is_used(server):
        seen = []

        async def keep(request):
            seen.append(request)

        async def main():
            async with openai.DefaultAsyncHttpxClient(event_hooks={"request": [keep]}) as http_client:
                llm = make(server, async_http_client=http_client)
                return await Critic(llm, "faithfulness", name="truth").ajudge(a_case())

        assert asyncio.run(main()).status is Status.PASS
        assert len(server.asks) == len(seen) == 1

    @pytest.mark.parametrize(
        "place", [(OpenAI, "_achat"), (OpenAI, "achat"), (AsyncCompletions, "create")], ids=lambda place: place[1]
    )
    def test_who_wraps_a_method_hears_of_the_call(server, place):
        with wrapped_method(*place) as calls:
            complete(make(server))
        assert calls
        assert is_sent_by_sdk(server.asks[0])

    def test_a_token_counter_of_the_llm_goes_on_counting(server):
        counter = TokenCountingHandler()
        complete(make(server, callback_manager=CallbackManager([counter])))
        assert counter.total_llm_token_count == 120

    def test_handlers_that_are_added_later_hear_of_the_calls(server):
        critic, root = Critic(make(server), "faithfulness", name="truth"), get_dispatcher()
        handlers = list(root.event_handlers), list(root.span_handlers)
        heard, spans = Heard(), SimpleSpanHandler()
        try:
            assert critic.judge(a_case(question="1")).status is Status.PASS
            root.add_event_handler(heard)
            assert critic.judge(a_case(question="2")).status is Status.PASS
            root.event_handlers = handlers[0]
            root.add_span_handler(spans)
            assert critic.judge(a_case(question="3")).status is Status.PASS
        finally:
            root.event_handlers, root.span_handlers = handlers
        assert [is_sent_by_sdk(ask) for ask in server.asks] == [False, True, True]
        assert len(heard.events) == 1
        assert any("achat" in span.id_ for span in spans.completed_spans)

    def test_the_handler_of_this_package_does_not_count(server):
        with judge_runs(judges.faithfulness(make(server))):
            complete(make(server))
        assert [is_sent_by_sdk(ask) for ask in server.asks] == [False]

    def test_the_recording_sends_nothing_and_the_llm_stays_as_it_was(server):
        llm = make(server)
        critic = Critic(llm, "faithfulness", name="truth")

        async def judged():
            return [one async for one in critic.ajudge_many([a_case(question=str(i)) for i in range(20)])]

        assert {one.status for one in asyncio.run(judged())} == {Status.PASS}
        assert len(server.asks) == 20
        assert not any(is_sent_by_sdk(ask) for ask in server.asks)
        assert (llm._aclient, llm._async_http_client, llm.max_retries) == (None, None, 3)

    def test_its_own_time_limit_holds(server):
        server.plan = lambda ask: Act(drip=0.2)
        with pytest.raises(ModelError, match=r"no whole answer within 0\.5 s"):
            complete(make(server, timeout=0.5))

    def test_an_error_in_a_200_decides(server):
        server.plan = lambda ask: Act(raw='{"error": {"code": 429, "message": "slow down"}}')
        with pytest.raises(ModelError) as raised:
            complete(make(server))
        assert raised.value.kind == "rate_limited"

    def test_a_custom_key_is_in_no_error(server):
        server.plan = lambda ask: error(401, "no such key: plain-words-as-a-key")
        with pytest.raises(ModelError) as raised:
            complete(make(server, api_key="plain-words-as-a-key"))
        assert "plain-words" not in str(raised.value)


if find_spec("llama_index.llms") and find_spec("llama_index.llms.openai_like"):
    from llama_index.llms.openai_like import OpenAILike

    @pytest.mark.parametrize("is_chat_model", [True, False])
    def test_an_llm_like_openai_is_sent_for_if_it_is_a_chat_model(server, is_chat_model):
        base = {"model": "m", "api_base": server.openai, "api_key": "k", "is_chat_model": is_chat_model}
        ours = asked(server, LlamaIndexModel(OpenAILike(**base)))
        if is_chat_model:
            assert_same_requests(ours, asked(server, LlamaIndexModel(OpenAILike(**base), traced=True)))
        else:
            assert {ask.path for ask in ours} == {"/v1/completions"}


if find_spec("llama_index.llms") and find_spec("llama_index.llms.anthropic"):
    from llama_index.llms.anthropic import Anthropic

    @pytest.mark.parametrize("settings", [
        {}, {"temperature": 0.7}, {"max_tokens": 77}, {"cache_idx": -1}, {"default_headers": {"x-team": "t"}},
        {"additional_kwargs": {"top_k": 5, "stop_sequences": ["x"]}}, {"timeout": 9.0},
        {"thinking_dict": {"type": "enabled", "budget_tokens": 1024}},
    ], ids=str)  # fmt: skip
    @pytest.mark.parametrize("options", OPTIONS, ids=["bare", "full"])
    def test_we_send_what_a_claude_would_send(server, settings, options):
        def claude():
            base = {"model": "claude-sonnet-4-6", "base_url": server.anthropic, "api_key": "k"}
            return Anthropic(**{**base, **settings})

        for prompt, schema in ((FIRST, SCHEMA), (REPAIR, SCHEMA)):
            ours = asked(server, LlamaIndexModel(claude()), prompt, schema, options)
            theirs = asked(server, LlamaIndexModel(claude(), traced=True), prompt, schema, options)
            assert len(ours) == 1
            assert_same_requests(ours, theirs)
