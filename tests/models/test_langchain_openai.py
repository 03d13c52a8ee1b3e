"""A real ``ChatOpenAI`` over real HTTP. It comes with langchain-openai; ``.ci/run`` says where that is installed."""

import asyncio
import weakref
from importlib.util import find_spec

from support.garbage import collect_garbage
from support.vendor import Act, error

from jury_adapters import Budget, Critic, Ensemble, Limits, Status
from jury_adapters.models.langchain import LangChainModel
from jury_adapters.testing import a_case, no_waiting

if find_spec("langchain_openai"):
    from langchain.chat_models import init_chat_model
    from langchain_openai import ChatOpenAI

    def chat(server, **settings):
        return ChatOpenAI(
            **{"model": "gpt-4o-mini", "base_url": server.openai, "api_key": "sk-test-0123456789", **settings}
        )

    def judge(model, **options):
        critic = Critic(model, "faithfulness", name="truth", **options)
        return asyncio.run(critic.ajudge(a_case(answer="TRUTH=NO")))

    def test_it_is_held_to_the_schema_and_priced(server):
        judgment = judge(chat(server))
        assert (judgment.status, judgment.label, judgment.family) == (Status.FAIL, "NO", "openai")
        (ask,) = server.asks
        assert set(ask.schema["properties"]) >= {"answer", "reasoning"}
        wrapped = ask.body["response_format"]["json_schema"]
        assert wrapped["strict"] is True
        assert (ask.body["temperature"], ask.body["max_completion_tokens"]) == (0.0, 2000)
        assert judgment.usage.cost_complete
        assert judgment.usage.cost_usd > 0

    def test_our_limits_try_again_and_its_own_retries_do_not(server):
        server.plan = lambda ask: error(503, "busy")
        model = chat(server)
        with no_waiting():
            judgment = judge(model, limits=Limits(attempts=2))
        assert judgment.error.startswith("server: langchain:gpt-4o-mini")
        assert len(server.asks) == 2
        assert model.root_async_client.max_retries == 2  # the user's own object goes on as it was

    def test_a_refused_setting_is_left_out_from_then_on(server):
        def plan(ask):
            if "temperature" in ask.body:
                return error(400, "Unsupported parameter: 'temperature' is not supported with this model.")
            return Act()

        server.plan = plan
        panel = Critic(chat(server), "faithfulness", name="truth")

        async def twice():
            return [await panel.ajudge(a_case(question=str(i), answer="TRUTH=YES")) for i in range(2)]

        assert [one.status for one in asyncio.run(twice())] == [Status.PASS] * 2
        assert len(server.asks) == 3

    def test_a_server_without_schemas_is_asked_in_plain_words(server):
        def plan(ask):
            if "response_format" in ask.body:
                return error(400, "response_format json_schema is not supported")
            return Act()

        server.plan = plan
        assert judge(chat(server)).status is Status.FAIL

    def test_a_reply_that_is_cut_off_or_refused_says_so(server):
        for finish, said in (("length", "truncated"), ("refusal", "refused"), ("filter", "filtered")):
            server.plan = lambda ask, finish=finish: Act(text='{"answer"', finish=finish)
            judgment = judge(chat(server))
            assert (judgment.status, judgment.error) == (Status.ABSTAIN, said)

    def test_logprobs_become_probabilities(server):
        tokens = [('{"answer": "', 0.0, {}), ("NO", -0.1, {"NO": -0.1, "YES": -2.4}), ('"}', 0.0, {})]
        server.plan = lambda ask: Act(text='{"answer": "NO"}', logprobs=tokens)
        judgment = judge(chat(server), logprobs=True)
        assert server.asks[0].body["top_logprobs"] == 20
        assert judgment.probabilities["NO"] > 0.8

    def test_a_failure_shows_no_key(server):
        server.plan = lambda ask: error(401, "no such key: sk-test-0123456789")
        judgment = judge(chat(server))
        assert judgment.error.startswith("authentication")
        assert "0123456789" not in judgment.error

    def test_a_panel_within_a_budget_in_dollars(server):
        panel = Ensemble([Critic(chat(server), "faithfulness", name=str(i)) for i in range(3)])

        async def judged():
            cases = [a_case(question=str(i), answer="TRUTH=YES") for i in range(4)]
            return [one async for one in panel.ajudge_many(cases, budget=Budget(max_usd=1.0))]

        verdicts = asyncio.run(judged())
        assert {one.status for one in verdicts} == {Status.PASS}
        assert sum(one.usage.calls for one in verdicts) == 12

    def test_one_model_judges_in_several_event_loops_and_keeps_none_of_them(server):
        model = LangChainModel(chat(server))
        critic = Critic(model, "faithfulness", name="truth")

        loops = []

        async def app():
            loops.append(weakref.ref(asyncio.get_running_loop()))
            inside = await critic.ajudge(a_case(question="a", answer="TRUTH=YES"))
            beside = await asyncio.to_thread(critic.judge, a_case(question="b", answer="TRUTH=YES"))
            return inside.status, beside.status

        for _ in range(3):
            assert asyncio.run(app()) == (Status.PASS, Status.PASS)
        collect_garbage()
        assert [loop() for loop in loops] == [None] * 3

    def test_a_model_made_by_init_chat_model_is_made_once(server):
        model = init_chat_model(
            "gpt-4o-mini", model_provider="openai", configurable_fields="any", base_url=server.openai,
            api_key="sk-test-0123456789",
        )  # fmt: skip
        judgment = judge(model.with_retry())
        assert (judgment.status, judgment.model) == (Status.FAIL, "gpt-4o-mini")
        assert judgment.usage.cost_complete

    def test_a_configurable_model_without_a_default_says_what_is_missing():
        judgment = judge(init_chat_model(configurable_fields=("model",)))
        assert judgment.status is Status.ERROR
