"""A real ``ChatAnthropic`` over real HTTP; ``.ci/run`` says where langchain-anthropic is installed."""

import asyncio
from importlib.util import find_spec

from support.identity import check_told_apart, status_of
from support.vendor import error

from jury_adapters import Critic, Limits, Status
from jury_adapters.testing import a_case, no_waiting

KEY = "sk-ant-test-0123456789"

if find_spec("langchain_anthropic"):
    from langchain_anthropic import ChatAnthropic

    def critic(server, **options):
        model = ChatAnthropic(model="claude-haiku-4-5", base_url=server.anthropic, api_key=KEY, max_tokens=900)
        return Critic(model, "faithfulness", name="truth", **options)

    def test_it_is_held_to_the_schema_and_its_own_settings_stand(server):
        judgment = critic(server).judge(a_case(answer="TRUTH=NO"))
        assert (judgment.status, judgment.label, judgment.family) == (Status.FAIL, "NO", "anthropic")
        assert (judgment.usage.input_tokens, judgment.usage.output_tokens) == (100, 20)
        (ask,) = server.asks
        assert (ask.body["max_tokens"], ask.body["temperature"]) == (900, 0.0)
        assert ask.body.keys() & {"tools", "output_config", "output_format"}

    def test_our_limits_try_again_and_its_own_retries_do_not(server):
        server.plan = lambda ask: error(503, "busy")
        with no_waiting():
            judgment = critic(server, limits=Limits(attempts=2)).judge(a_case())
        assert judgment.error.startswith("server: langchain:claude-haiku-4-5")
        assert len(server.asks) == 2

    def test_one_critic_in_two_loops(server):
        panel = critic(server)

        async def judged(question):
            return (await panel.ajudge(a_case(question=question, answer="TRUTH=YES"))).status

        assert [asyncio.run(judged(question)) for question in "ab"] == [Status.PASS] * 2

    def test_a_key_in_what_the_vendor_says_is_not_told(server):
        server.plan = lambda ask: error(401, f"invalid x-api-key {KEY}")
        judgment = critic(server).judge(a_case())
        assert judgment.error.startswith("authentication: ")
        assert KEY not in judgment.error

    def test_another_server_is_asked_although_the_store_has_an_answer(two_servers, tmp_path):
        check_told_apart(lambda server: status_of(critic(server), tmp_path / "runs.db"), two_servers)

    def test_another_server_in_the_environment_is_asked(two_servers, tmp_path, monkeypatch):
        def judge(server):
            monkeypatch.setenv("ANTHROPIC_BASE_URL", server.anthropic)
            model = ChatAnthropic(model="claude-haiku-4-5", api_key=KEY)
            return status_of(Critic(model, "faithfulness"), tmp_path / "runs.db")

        check_told_apart(judge, two_servers)

    def test_models_are_told_apart_by_their_settings_and_not_by_their_keys(server):
        def of(**settings):
            given = {"model": "claude-haiku-4-5", "base_url": server.anthropic, "api_key": KEY, **settings}
            return Critic(ChatAnthropic(**given), "faithfulness").fingerprint

        assert of() == of(api_key="sk-ant-rotated-0123456789", max_retries=7)
        others = [of(model="claude-x"), of(temperature=0.7), of(max_tokens=17), of(base_url="http://localhost:1")]
        assert len({of(), *others}) == 5
