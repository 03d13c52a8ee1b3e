"""LangChain chat models as critics' models."""

import asyncio
import pickle

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.callbacks import BaseCallbackHandler, get_usage_metadata_callback
from langchain_core.globals import set_llm_cache
from langchain_core.language_models.fake_chat_models import FakeListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import ConfigurableField, RunnableLambda
from support.chat import USED, PlainChat, ScriptedChat, calls
from support.garbage import collect_garbage

from jury_adapters import Budget, Critic, Ensemble, Limits, ModelError, Status, Usage
from jury_adapters.core.context import run_context
from jury_adapters.models.base import Options, Prompt
from jury_adapters.models.langchain import LangChainModel
from jury_adapters.models.registry import resolve_model
from jury_adapters.testing import a_case, no_waiting

NO = '{"reasoning": "it is not", "answer": "NO"}'
ANSWER_NO = {"reasoning": "it is not", "answer": "NO", "claims": [], "confidence": 0.9}
ASKED = Prompt.of("Is it so?", "You judge.")
SCHEMA = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}


def complete(model, prompt=ASKED, schema=None, options=Options()):
    return asyncio.run(resolve_model(model, limits=Limits(attempts=1)).complete(prompt, schema, options))


def judge(model, **options):
    return Critic(model, "faithfulness", name="truth", **options).judge(a_case())


class Heard(BaseCallbackHandler):
    def __init__(self):
        self.events = []

    def on_chat_model_start(self, *args, **kwargs):
        self.events.append("start")

    def on_llm_new_token(self, *args, **kwargs):
        self.events.append("token")


@pytest.fixture
def cache():
    set_llm_cache(InMemoryCache())
    yield
    set_llm_cache(None)


# What it takes


@pytest.mark.parametrize("wrap", [
    lambda model: model,
    lambda model: model.with_retry(),
    lambda model: model.with_fallbacks([PlainChat()]),
    lambda model: model.with_retry().with_fallbacks([PlainChat()]),
    lambda model: model.bind(stop=["x"]),
    lambda model: model.with_config(tags=["mine"]),
    lambda model: model.configurable_fields(temperature=ConfigurableField(id="temperature")),
    lambda model: RunnableLambda(model.invoke),
])  # fmt: skip
def test_a_model_judges_also_inside_its_wrappers(wrap):
    judgment = judge(wrap(ScriptedChat(script=[NO], arguments=ANSWER_NO)))
    assert judgment.status is Status.FAIL
    assert (judgment.usage.calls, judgment.usage.input_tokens) == (1, USED["input_tokens"])


def test_a_model_that_cannot_be_held_to_a_schema_writes_text():
    judgment = judge(PlainChat(line=NO))
    assert (judgment.status, judgment.raw_response) == (Status.FAIL, NO)
    assert not judgment.usage.cost_complete


def test_a_fallback_answers_when_the_model_fails():
    failing = ScriptedChat(script=[ConnectionError("gone")])
    assert judge(failing.with_fallbacks([PlainChat(line=NO)])).status is Status.FAIL


def test_a_model_is_asked_through_its_retries_inside():
    model = ScriptedChat(script=[ConnectionError("gone"), NO])
    retried = model.with_retry(stop_after_attempt=2, wait_exponential_jitter=False)
    assert judge(retried, limits=Limits(attempts=1)).status is Status.FAIL
    assert len(model.seen) == 2


def test_a_function_from_messages_to_text_is_a_model_too():
    assert complete(RunnableLambda(lambda messages: f"{len(messages)} messages")).text == "2 messages"
    with pytest.raises(ModelError, match="returned int, not a message"):
        complete(RunnableLambda(lambda messages: 7))


def test_the_exchange_goes_out_as_messages():
    model = ScriptedChat()
    complete(model, ASKED.followed_by("Hm", "Again"))
    assert [(one.type, one.content) for one in model.seen[0]["messages"]] == [
        ("system", "You judge."), ("human", "Is it so?"), ("ai", "Hm"), ("human", "Again"),
    ]  # fmt: skip


# Structured output


def test_the_answer_is_held_to_the_schema_and_bound_once():
    model = ScriptedChat(arguments=ANSWER_NO)
    ours = LangChainModel(model)
    critic = Critic(ours, "faithfulness", name="truth")
    for _ in range(3):
        judgment = critic.judge(a_case())
        assert (judgment.status, judgment.label) == (Status.FAIL, "NO")
        assert judgment.usage.input_tokens == USED["input_tokens"]
        assert '"answer": "NO"' in judgment.raw_response
    tools = [call["kwargs"]["tools"] for call in model.seen]
    assert tools[0][0]["function"]["parameters"]["properties"].keys() >= {"answer", "reasoning"}
    (ready,) = ours._ready.values()
    assert len(ready) == 1


def test_prose_instead_of_the_tool_call_is_read_as_prose():
    assert judge(ScriptedChat(script=["Answer: NO"])).status is Status.FAIL
    assert judge(ScriptedChat(script=["I would rather not say."])).error == "parse_fail"


def test_what_is_outside_the_vocabulary_is_no_vote():
    judgment = judge(ScriptedChat(arguments={"reasoning": "", "answer": "PERHAPS"}))
    assert (judgment.status, judgment.error) == (Status.ABSTAIN, "parse_fail")


def test_arguments_that_are_no_json_are_read_as_text():
    broken = [{"name": "judgment", "args": "Answer: NO", "id": "1", "error": "no JSON"}]
    assert judge(ScriptedChat(script=[{"invalid_tool_calls": broken}])).status is Status.FAIL


def test_a_vendor_that_knows_no_tools_is_asked_in_plain_words_from_then_on():
    class NoTools(ScriptedChat):
        def _generate(self, messages, stop=None, run_manager=None, **kwargs):
            if kwargs.get("tools"):
                self._seen.append("refused")
                error = ValueError("this model does not support tools")
                error.status_code = 400
                raise error
            return super()._generate(messages, stop, run_manager, **kwargs)

    model = NoTools(script=[NO])
    critic = Critic(model, "faithfulness", name="truth")
    assert [critic.judge(a_case(question=str(i))).status for i in range(3)] == [Status.FAIL] * 3
    assert model.seen.count("refused") == 1


@pytest.mark.parametrize(("message", "status", "error"), [
    ({"additional_kwargs": {"refusal": "I must not."}}, Status.ABSTAIN, "refused"),
    ({"content": [{"type": "refusal", "refusal": "I must not."}]}, Status.ABSTAIN, "refused"),
    ({"response_metadata": {"stop_reason": "refusal"}}, Status.ABSTAIN, "refused"),
    ({"response_metadata": {"finish_reason": "content_filter"}}, Status.ABSTAIN, "filtered"),
    ({"response_metadata": {"finish_reason": "SAFETY"}}, Status.ABSTAIN, "filtered"),
    ({"response_metadata": {"finish_reason": "PROHIBITED_CONTENT"}}, Status.ABSTAIN, "filtered"),
    ({"response_metadata": {"stop_reason": "guardrail_intervened"}}, Status.ABSTAIN, "filtered"),
    ({"response_metadata": {"finish_reason": "length"}}, Status.ABSTAIN, "truncated"),
    ({"response_metadata": {"incomplete_details": {"reason": "max_output_tokens"}}}, Status.ABSTAIN, "truncated"),
    ({"content": ""}, Status.ERROR, "empty_response"),
])  # fmt: skip
def test_refused_filtered_and_cut_off_replies_say_so(message, status, error):
    judgment = judge(ScriptedChat(script=[message]))
    assert (judgment.status, judgment.error) == (status, error)


def test_a_refusal_that_is_raised_is_an_abstention():
    class ModelRefusalError(Exception):
        """As langchain-core has it since 1.7.5."""

    judgment = judge(ScriptedChat(script=[ModelRefusalError("I must not.")]))
    assert (judgment.status, judgment.error) == (Status.ABSTAIN, "refused")


def test_blocks_of_content_are_text():
    blocks = [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": NO}]
    assert complete(ScriptedChat(script=[AIMessage(blocks)])).text == NO


# Settings


def test_settings_left_open_are_the_critics_and_those_set_stand():
    model = ScriptedChat(max_tokens=50)
    complete(model, options=Options(temperature=0.0, max_tokens=2000))
    asked = model.seen[0]["model"]
    assert (asked.temperature, asked.max_tokens, asked.max_retries) == (0.0, 50, 0)
    assert (model.temperature, model.max_tokens, model.max_retries) == (None, 50, 2)


def test_a_setting_that_the_vendor_refuses_is_left_out_from_then_on():
    class NoTemperature(ScriptedChat):
        def _generate(self, messages, stop=None, run_manager=None, **kwargs):
            if self.temperature is not None:
                self._seen.append("refused")
                error = ValueError("Unsupported value: 'temperature' does not support 0.0 with this model.")
                error.status_code = 400
                raise error
            return super()._generate(messages, stop, run_manager, **kwargs)

    model = NoTemperature(script=[NO])
    ours = LangChainModel(model)
    for _ in range(2):
        assert complete(ours, options=Options(temperature=0.0)).text == NO
    assert model.seen.count("refused") == 1


def test_a_plain_model_is_asked_itself_and_not_a_copy():
    model = FakeListChatModel(responses=["1", "2"])
    assert [complete(model).text, complete(model).text] == ["1", "2"]
    assert model.i == 0


# Usage and prices


def test_usage_is_read_with_its_details():
    used = {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120,
            "input_token_details": {"cache_read": 64}, "output_token_details": {"reasoning": 5}}  # fmt: skip
    message = AIMessage(NO, usage_metadata=used, response_metadata={"finish_reason": "length", "id": "req-1"})
    reply = complete(GenericFakeChatModel(messages=iter([message])))
    assert (reply.text, reply.finish, reply.request_id) == (NO, "length", "req-1")
    usage = reply.usage
    assert (usage.input_tokens, usage.cached_tokens, usage.reasoning_tokens) == (100, 64, 5)


class ChatOpenAIForTests(ScriptedChat):
    """Priced as OpenAI's, for its class is called so."""

    model_name: str = "gpt-4o-mini"


def test_a_model_is_priced_as_its_vendors_so_that_a_budget_takes_it():
    critic = Critic(ChatOpenAIForTests(script=[NO]).with_retry(), "faithfulness", name="truth")
    assert critic.priced
    assert critic.model.name == "langchain:gpt-4o-mini"
    (judgment,) = critic.judge_many([a_case()], budget=Budget(max_usd=1.0))
    assert judgment.usage.cost_usd == pytest.approx((11 * 0.15 + 4 * 0.60) / 1e6)
    assert judgment.usage.cost_complete
    assert judgment.family == "openai"


def test_a_fallback_is_paid_at_its_own_price():
    details = {"model_provider": "anthropic", "model_name": "claude-sonnet-4-5"}
    other = ScriptedChat(script=[{"content": NO, "response_metadata": details}])
    model = ChatOpenAIForTests(script=[ConnectionError("gone")]).with_fallbacks([other])
    reply = complete(model)
    assert reply.usage.cost_usd == pytest.approx((11 * 3 + 4 * 15) / 1e6)
    assert reply.model == "claude-sonnet-4-5"


# Caches


def test_samples_are_calls_whatever_cache_is_set(cache):
    model = ScriptedChat(script=["YES", "NO", "YES", "NO", "NO"])
    verdict = judge(model, samples=5)
    assert [one.label for one in verdict.judgments].count("NO") == 3
    assert len(model.seen) == 5


def test_the_models_own_cache_is_not_asked_either():
    model = ScriptedChat(script=["YES", "NO"], cache=InMemoryCache())
    assert [complete(model).text, complete(model).text] == ["YES", "NO"]
    assert model.cache is not None


def test_a_cache_that_is_asked_for_answers_and_is_not_billed(cache):
    model = ChatOpenAIForTests(script=["YES", "NO"])
    ours = LangChainModel(model, cached=True)
    first, second = complete(ours), complete(ours)
    assert (first.text, second.text, len(model.seen)) == ("YES", "YES", 1)
    assert first.usage.cost_usd > 0
    assert second.usage == Usage()


# Left alone: streams, callbacks, traces


def test_the_critic_is_not_heard_by_the_models_own_callbacks():
    heard = Heard()
    complete(ScriptedChat(callbacks=[heard]))
    complete(ScriptedChat().with_config(callbacks=[heard]))
    assert heard.events == []
    complete(LangChainModel(ScriptedChat(callbacks=[heard]), traced=True))
    assert heard.events == ["start"]


def test_the_critic_is_no_run_of_the_chain_around_it():
    heard = Heard()
    critic = Critic(ScriptedChat(script=[NO]), "faithfulness", name="truth")
    chain = RunnableLambda(lambda _: critic.judge(a_case()).status)
    assert chain.invoke("x", {"callbacks": [heard]}) is Status.FAIL
    assert heard.events == []
    traced = Critic(LangChainModel(ScriptedChat(script=[NO]), traced=True), "faithfulness", name="truth")
    RunnableLambda(lambda _: traced.judge(a_case()).status).invoke("x", {"callbacks": [heard]})
    assert heard.events == ["start"]


def test_a_usage_callback_around_the_judgment_counts_a_traced_critic_alone():
    counts = []
    named = ScriptedChat(script=[{"content": NO, "response_metadata": {"model_name": "scripted-1"}}])
    for model in (named, LangChainModel(named, traced=True)):
        with get_usage_metadata_callback() as counted:
            Critic(model, "faithfulness", name="truth").judge(a_case())
        counts.append(sum(used["input_tokens"] for used in counted.usage_metadata.values()))
    assert counts == [0, USED["input_tokens"]]


def test_nothing_is_traced_also_where_the_environment_says_so(monkeypatch):
    from langsmith import utils

    monkeypatch.setenv("LANGSMITH_TRACING", "true")
    monkeypatch.setenv("LANGSMITH_API_KEY", "offline")
    monkeypatch.setenv("LANGSMITH_ENDPOINT", "http://127.0.0.1:9")
    utils.get_env_var.cache_clear()
    handlers = []

    class Looks(ScriptedChat):
        async def _agenerate(self, messages, stop=None, run_manager=None, **kwargs):
            handlers.extend(run_manager.handlers)
            return self._generate(messages)

    try:
        complete(Looks())
    finally:
        monkeypatch.undo()
        utils.get_env_var.cache_clear()
    assert handlers == []


def test_calls_are_marked_as_a_judges_own_work():
    marked = []
    model = ScriptedChat(script=[lambda messages: marked.append(run_context().judging) or NO])
    judge(model)
    assert marked == [True]
    assert run_context().judging is False


# Failures


@pytest.mark.parametrize(("name", "kind", "calls_made"), [
    ("ModelRateLimitError", "rate_limited", 3), ("ModelTimeoutError", "timeout", 3),
    ("ModelConnectionError", "connection", 3), ("ModelAPIError", "server", 3),
    ("ModelAuthenticationError", "authentication", 1), ("ContextOverflowError", "refused_request", 1),
])  # fmt: skip
def test_langchains_kinds_of_error_say_whether_to_try_again(name, kind, calls_made):
    error = type(name, (Exception,), {})("as the vendor put it")
    model = ScriptedChat(script=[error])
    with no_waiting():
        judgment = judge(model, limits=Limits(attempts=3))
    assert judgment.error.startswith(f"{kind}: langchain:scripted-1")
    assert len(model.seen) == calls_made


def test_an_error_that_says_it_is_retryable_is_tried_again():
    error = Exception("busy")
    error.is_retryable = True
    model = ScriptedChat(script=[error, NO])
    with no_waiting():
        assert judge(model).status is Status.FAIL


def test_a_context_that_is_too_long_is_no_reason_to_ask_again_without_settings():
    class ContextOverflowError(Exception):
        pass

    model = ScriptedChat(script=[ContextOverflowError("maximum context length is 8 tokens; reduce max_tokens")])
    assert judge(model).status is Status.ERROR
    assert len(model.seen) == 1


def test_any_other_error_is_an_error_of_ours_without_a_key():
    model = ScriptedChat(script=[ValueError("bad key sk-abcdefgh12345678")])
    judgment = judge(model)
    assert judgment.status is Status.ERROR
    assert "[key]" in judgment.error
    assert "abcdefgh" not in judgment.error


# Keeping


def test_critics_of_one_object_share_its_limits_and_a_model_can_be_pickled():
    model = PlainChat(line=NO)
    first, second = Critic(model, "faithfulness", name="a"), Critic(model, "hallucination", name="b")
    assert first.model.limiter is second.model.limiter
    again = pickle.loads(pickle.dumps(LangChainModel(model, traced=True)))
    assert complete(again).text == NO


def test_a_panel_of_chat_models_judges_in_one_loop():
    panel = Ensemble([Critic(ScriptedChat(script=[NO]), "faithfulness", name=f"c{i}") for i in range(3)])
    verdict = panel.judge(a_case())
    assert (verdict.status, verdict.usage.calls) == (Status.FAIL, 3)
    collect_garbage()


def test_tool_call_lines_are_what_they_say():
    assert calls("x", a=1)["tool_calls"][0]["args"] == {"a": 1}


def test_a_model_is_not_down_because_another_object_was_that_had_its_id():
    for _ in range(100):
        resolve_model(FakeListChatModel(responses=["yes"])).limiter.breaker.open = True
    collect_garbage()
    later = [resolve_model(FakeListChatModel(responses=["yes"])) for _ in range(100)]
    assert not any(model.limiter.breaker.open for model in later)
