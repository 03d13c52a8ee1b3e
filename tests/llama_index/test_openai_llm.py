"""The vendors' SDKs behind LlamaIndex LLMs, over real HTTP: small LLMs of our own, and LlamaIndex's where installed."""

import asyncio
import json
import pickle
import weakref

import pytest
from llama_index.core import Document, MockEmbedding, VectorStoreIndex
from llama_index.core.evaluation import FaithfulnessEvaluator
from llama_index.core.llms import ChatMessage
from openai import AsyncOpenAI
from support.garbage import collect_garbage
from support.llama_llms import SmallOpenAI, anthropic_makers, openai_kinds
from support.vendor import Act, error

from jury_adapters import Budget, ConfigurationError, Critic, Limits, ModelError, Status
from jury_adapters.judges import llm as judges
from jury_adapters.llama_index import (
    JuryFaithfulnessEvaluator,
    JuryGuardQueryEngine,
    JuryNodePostprocessor,
    from_evaluator,
)
from jury_adapters.models.base import Options, Prompt
from jury_adapters.models.llama_index import LlamaIndexModel
from jury_adapters.models.prices import set_price
from jury_adapters.models.registry import resolve_model
from jury_adapters.testing import a_case, no_waiting

ASKED = Prompt.of("Is it so? TRUTH=NO", "You judge.")
SCHEMA = {"type": "object", "properties": {"answer": {"enum": ["YES", "NO"]}}, "required": ["answer"]}


@pytest.fixture(params=openai_kinds())
def make(request, server):
    """Makes an LLM that speaks to the server."""
    usual = {"model": "gpt-4o-mini", "api_base": server.openai, "api_key": "sk-secret-secret"}
    return lambda **fields: request.param(**{**usual, **fields})


@pytest.fixture(params=anthropic_makers())
def make_claude(request, server):
    return lambda **fields: request.param(server, **fields)


def complete(llm, prompt=ASKED, schema=SCHEMA, options=Options(0.0, 2000), **settings):
    return asyncio.run(resolve_model(llm, **settings).complete(prompt, schema, options))


def test_the_schema_goes_along_and_text_and_usage_come_back(server, make):
    reply = complete(make(model="gpt-4o-mini"))
    assert (reply.text, reply.finish, reply.model) == ('{"answer": "NO"}', "stop", "gpt-4o-mini")
    assert server.asks[0].schema == SCHEMA
    assert [message["content"] for message in server.asks[0].body["messages"]] == ["You judge.", ASKED.turns[0].text]
    usage = reply.usage
    assert (usage.input_tokens, usage.output_tokens) == (100, 20)
    assert (usage.cached_tokens, usage.reasoning_tokens) == (64, 5)
    assert (usage.calls, usage.cost_complete) == (1, True)
    assert usage.cost_usd == pytest.approx((36 * 0.15 + 64 * 0.075 + 20 * 0.60) / 1e6)
    assert reply.request_id == "chatcmpl-0"


def test_an_llm_judges_as_a_critic(server, make):
    judgment = Critic(make(), "faithfulness", name="truth").judge(a_case(answer="London. TRUTH=NO"))
    assert (judgment.status, judgment.family) == (Status.FAIL, "openai")
    assert judgment.usage.cost_usd > 0


def test_a_budget_in_dollars_counts_with_the_price_of_the_model_inside(server, make):
    critic = Critic(make(), "faithfulness", name="truth")
    [allowed] = critic.judge_many([a_case()], budget=Budget(max_usd=1.0))
    assert allowed.passed
    [refused] = critic.judge_many([a_case(answer="other")], budget=Budget(max_usd=1e-9))
    assert refused.error == "budget_exhausted"
    with pytest.raises(ConfigurationError, match="price of every juror"):
        list(Critic(make(model="gpt-4-turbo"), "safety", name="x").judge_many([a_case()], budget=Budget(max_usd=1.0)))


def test_a_refused_way_of_asking_for_json_is_given_up_and_remembered(server, make):
    def plan(ask):
        if "response_format" in ask.body:
            return error(400, "response_format is not supported", param="response_format")
        return Act(text="Answer: NO")

    server.plan = plan
    llm = make(model="gpt-4-turbo")
    assert complete(llm).text == "Answer: NO"
    assert [ask.body.get("response_format", {}).get("type") for ask in server.asks] == [
        "json_schema", "json_object", None,
    ]  # fmt: skip
    complete(make(model="gpt-4-turbo"))
    assert len(server.asks) == 4


def test_a_refused_temperature_is_left_out(server, make):
    def plan(ask):
        if ask.body.get("temperature") == 0.0:
            return error(400, "Unsupported value: 'temperature'", param="temperature", code="unsupported_value")
        return Act()

    server.plan = plan
    assert complete(make()).text == '{"answer": "NO"}'
    assert [ask.body["temperature"] for ask in server.asks] == [0.0, 0.1]


def test_what_the_user_set_stands_and_what_is_left_open_is_the_critics(server, make):
    complete(make())
    complete(make(temperature=0.7, max_tokens=77))
    assert [(ask.body["temperature"], ask.body["max_tokens"]) for ask in server.asks] == [(0.0, 2000), (0.7, 77)]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"temperature": 0.9}, r"temperature=0\.9 has no effect, because \S+ has temperature=0\.7 of its own; set it"),
        ({"max_tokens": 500}, r"max_tokens=500 has no effect, because \S+ has max_tokens=77 of its own; set it there"),
        ({"request_timeout": 2}, r"request_timeout belongs to a model named by text; \S+ brings its own"),
    ],
)
def test_a_setting_that_the_llm_decides_itself_is_refused(make, options, told):
    for evaluator in (Critic, lambda llm, rubric, **options: JuryFaithfulnessEvaluator(llm, **options)):
        with pytest.raises(ConfigurationError, match=told):
            evaluator(make(temperature=0.7, max_tokens=77), "faithfulness", **options)
        evaluator(make(temperature=0.7, max_tokens=77), "faithfulness", temperature=0.7, max_tokens=77)
        evaluator(make(), "faithfulness", temperature=0.9, max_tokens=500)


def test_a_default_of_critics_that_the_user_gives_is_not_dropped_either(make):
    with pytest.raises(ConfigurationError, match=r"temperature=0 has no effect, because \S+ has temperature=0\.7"):
        JuryFaithfulnessEvaluator(llms=[make(temperature=0.7)], temperature=0)
    JuryFaithfulnessEvaluator(make(temperature=0.7))
    JuryFaithfulnessEvaluator(make(), temperature=0)


@pytest.mark.parametrize(("finish", "ours"), [("length", "length"), ("refusal", "refusal"), ("filter", "filter")])
def test_it_says_why_the_model_stopped(server, make, finish, ours):
    server.plan = lambda ask: Act(finish=finish)
    reply = complete(make())
    assert reply.finish == ours
    assert reply.detail
    assert reply.usage.output_tokens == 20


def test_log_probabilities_come_back(server, make):
    server.plan = lambda ask: Act(text="NO", logprobs=[("NO", -0.1, {"NO": -0.1, "YES": -2.4})])
    reply = complete(make(), schema=None, options=Options(logprobs=True))
    assert server.asks[0].body["top_logprobs"] == 20
    [token] = reply.logprobs
    assert (token.text, token.logprob, token.alternatives) == ("NO", -0.1, (("NO", -0.1), ("YES", -2.4)))


@pytest.mark.parametrize("used_before", [False, True])
def test_tries_do_not_multiply_and_the_users_object_stays_as_it_was(server, make, used_before):
    llm = make(max_retries=3)

    async def main():
        if used_before:
            await llm.achat([ChatMessage(role="user", content="hello")])
            server.asks.clear()
        before = (llm.max_retries, llm._aclient)
        server.plan = lambda ask: error(500, "broken")
        with no_waiting(), pytest.raises(ModelError, match="broken") as raised:
            await resolve_model(llm, limits=Limits(attempts=2)).complete(ASKED)
        assert raised.value.kind == "server"
        assert len(server.asks) == 2
        assert (llm.max_retries, llm._aclient) == before
        if used_before:
            await llm._aclient.close()

    asyncio.run(main())


def test_one_llm_works_on_several_event_loops(server, make):
    llm = make()
    critic = Critic(llm, "faithfulness", name="truth")
    for number in range(3):
        assert asyncio.run(critic.ajudge(a_case(answer=f"{number}"))).passed
    assert critic.judge(a_case(answer="on the background loop")).passed

    async def the_users_own():
        reply = await llm.achat([ChatMessage(role="user", content="hello")])
        await llm._aclient.close()
        return reply

    assert asyncio.run(the_users_own()).raw.usage.total_tokens == 120


def test_the_key_is_in_no_error(server, make):
    server.plan = lambda ask: error(401, "bad key sk-secret-secret")
    with pytest.raises(ModelError) as raised:
        complete(make())
    assert raised.value.kind == "authentication"
    assert "secret" not in str(raised.value)


def test_a_client_of_the_users_own_is_left_open(server):
    async def main():
        llm = SmallOpenAI(api_base=server.openai)
        async with AsyncOpenAI(api_key="k", base_url=server.openai) as client:
            llm._aclient = client
            reply = await resolve_model(llm).complete(ASKED)
            assert not client.is_closed()
            await llm.achat([ChatMessage(role="user", content="again")])
            return reply

    assert asyncio.run(main()).text


def test_a_claude_behind_llama_index(server, make_claude):
    set_price("anthropic:claude-sonnet-4-6", input=3, output=15, cached=0.3)
    server.plan = lambda ask: Act(text='{"answer": "NO"}')
    reply = complete(make_claude())
    assert (reply.text, reply.finish) == ('{"answer": "NO"}', "stop")
    body = server.asks[0].body
    assert server.asks[0].schema == SCHEMA
    assert body["max_tokens"] == 2000
    usage = reply.usage
    assert (usage.input_tokens, usage.cached_tokens, usage.output_tokens) == (100, 64, 20)
    assert usage.reasoning_tokens in (0, 5)  # older SDKs do not know the field
    assert usage.cost_usd == pytest.approx((36 * 3 + 64 * 0.3 + 20 * 15) / 1e6)


def test_a_claude_works_on_several_event_loops_without_retries_of_its_own(server, make_claude):
    model = resolve_model(make_claude(), limits=Limits(attempts=1))
    for number in range(2):
        assert asyncio.run(model.complete(Prompt.of(f"{number}"))).text
    server.plan = lambda ask: error(500, "broken")
    server.asks.clear()
    with pytest.raises(ModelError):
        asyncio.run(model.complete(ASKED))
    assert len(server.asks) == 1


def test_no_loop_is_kept_alive_and_a_forgotten_model_closes_its_connections(server):
    clients = []

    class Remembered(SmallOpenAI):
        async def achat(self, messages, **kwargs):
            reply = await super().achat(messages, **kwargs)
            clients.append(self._aclient)
            return reply

    llm = Remembered(api_base=server.openai)
    model, loops = resolve_model(llm), []

    async def once():
        loops.append(weakref.ref(asyncio.get_running_loop()))
        await model.complete(ASKED)

    for _ in range(3):
        asyncio.run(once())
    assert [client.is_closed() for client in clients] == [True] * 3
    clients.clear()
    collect_garbage()
    assert [loop() for loop in loops] == [None] * 3

    async def forgotten():
        await LlamaIndexModel(llm).complete(ASKED)
        collect_garbage()
        for _ in range(100):
            await asyncio.sleep(0.01)
            if clients[0].is_closed():
                return True
        return False

    assert asyncio.run(forgotten())


def test_a_whole_pipeline_with_one_llm_as_writer_and_judge(server, make):
    def plan(ask):
        if ask.schema is None:
            return Act(text="Paris. TRUTH=YES")
        return Act(text=json.dumps({"reasoning": "so", "answer": "NO" if "Bananas" in ask.text else "YES"}))

    server.plan = plan
    llm, texts = make(), ["Paris is the capital of France.", "Bananas are yellow."]
    index = VectorStoreIndex.from_documents([Document(text=text) for text in texts], embed_model=MockEmbedding(8))

    async def main():
        relevant = JuryNodePostprocessor(judges.context_relevance(llm))
        inner = index.as_query_engine(llm=llm, similarity_top_k=2, node_postprocessors=[relevant])
        response = await JuryGuardQueryEngine(inner, judges.faithfulness(llm)).aquery("What is the capital?")
        evaluator = JuryFaithfulnessEvaluator(llms=[make(model="gpt-4o"), make(), llm])
        result = await evaluator.aevaluate_response(query="What is the capital?", response=response)
        await llm._aclient.close()
        return response, result

    response, result = asyncio.run(main())
    assert response.metadata["jury"]["outcome"] == "passed"
    assert [node.node.get_content() for node in response.source_nodes] == [texts[0]]
    assert (result.passing, len(result.verdict.judgments)) == (True, 3)
    assert result.verdict.usage.cost_complete
    assert len(server.asks) == 2 + 1 + 1 + 3  # nodes, answer, guard, panel


def test_the_model_survives_pickling_without_its_connections(server, make):
    model = LlamaIndexModel(make(model="gpt-4o-mini"))
    asyncio.run(model.complete(ASKED))
    again = pickle.loads(pickle.dumps(model))
    assert (again.name, again.price_vendor) == ("llama_index:gpt-4o-mini", "openai")
    assert json.loads(asyncio.run(again.complete(ASKED, SCHEMA)).text) == {"answer": "NO"}


def test_a_key_that_the_answer_repeats_is_in_no_result(server, make):
    key = "gw/Live-0123456789+secret=="
    content = json.dumps({"reasoning": f"says {key}", "answer": "YES"})
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
    body = {"id": key, "object": "chat.completion", "created": 1, "model": key, "choices": [choice]}
    server.plan = lambda ask: Act(raw=json.dumps(body).replace(key, key.replace("-", "\\u002d")))
    judgment = Critic(make(api_key=key), "faithfulness", name="truth").judge(a_case())
    assert judgment.passed
    assert judgment.reasoning == "says [key]"
    assert "0123456789" not in judgment.to_json()


@pytest.mark.parametrize("fields", [
    {"api_key": "s3cr3t-0123456789\n"}, {"api_key": "s3cr3t-0123456789é"},
    {"api_base": "http://me:s3cr3t-0123456789@localhost:1/v1"},
])  # fmt: skip
def test_keys_and_addresses_that_cannot_be_sent_are_refused_at_construction(make, fields):
    llm = make(**fields)
    with pytest.raises(ConfigurationError, match=r"api_(key|base) of .*contains") as caught:
        Critic(llm, "faithfulness", name="truth")
    assert "s3cr3t" not in str(caught.value)


def test_an_evaluator_as_a_juror_has_connections_of_its_own(server, make):
    llm = make(max_retries=0)
    theirs = FaithfulnessEvaluator(llm=llm)
    item = {"query": "q", "response": "In 2018. TRUTH=YES", "contexts": ["In 2018."]}
    case = {"question": "q", "answer": "In 2018. TRUTH=YES", "contexts": ["In 2018."]}
    loop = asyncio.new_event_loop()  # that of the application

    async def several():
        return await asyncio.gather(*(theirs.aevaluate(**item) for _ in range(3)))

    juror = from_evaluator(theirs)
    loop.run_until_complete(several())
    for _ in range(3):
        assert juror.judge(case).error is None
    loop.run_until_complete(several())
    assert server.count == 9
    loop.run_until_complete(llm._aclient.close())
    loop.close()


def test_an_evaluator_as_a_juror_keeps_its_retries(server, make):
    server.plan = lambda ask: Act() if server.count > 1 else error(500, "down")
    juror = from_evaluator(FaithfulnessEvaluator(llm=make(max_retries=2)))
    assert juror.judge(question="q", answer="TRUTH=YES", contexts=["In 2018."]).error is None
    assert server.count == 2
