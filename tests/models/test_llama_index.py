"""LlamaIndex LLMs as critics' models; the ones over real HTTP are in tests/llama_index/test_openai_llm.py."""

import asyncio
import pickle
import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest
from llama_index.core.llms import ChatMessage, ChatResponse, CompletionResponse, CustomLLM, LLMMetadata, MockLLM
from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback
from pydantic import Field, PrivateAttr

from jury_adapters import ConfigurationError, Critic, Limits, ModelError, Status
from jury_adapters.core.context import run_context
from jury_adapters.models.base import Options, Prompt
from jury_adapters.models.llama_index import LlamaIndexModel
from jury_adapters.models.prices import price_of
from jury_adapters.models.registry import resolve_model
from jury_adapters.models.reply_parts import finish_of
from jury_adapters.models.wrapped import model_name, vendor_inside
from jury_adapters.testing import a_case

NO = '{"reasoning": "it is not", "answer": "NO"}'
ASKED = Prompt.of("Is it so?", "You judge.")
SCHEMA = {"type": "object", "properties": {"answer": {"enum": ["YES", "NO"]}}}


class Sync(CustomLLM):
    """An LLM with the synchronous methods only, as LlamaIndex's own tutorial writes it."""

    reply: str = NO
    delay: float = 0.0
    threads: list[Any] = Field(default_factory=list)
    most: int = 0
    _now: int = PrivateAttr(default=0)

    @property
    def metadata(self):
        return LLMMetadata(model_name="mine")

    @llm_completion_callback()
    def complete(self, prompt, formatted=False, **kwargs):
        self._now += 1
        self.most = max(self.most, self._now)
        self.threads.append((threading.current_thread(), run_context().judging, prompt))
        time.sleep(self.delay)
        self._now -= 1
        return CompletionResponse(text=self.reply)

    @llm_completion_callback()
    def stream_complete(self, prompt, formatted=False, **kwargs):
        yield CompletionResponse(text=self.reply)


class Asked(Sync):
    """An LLM that answers whatever it is told to, and keeps the settings of its calls."""

    answer: Any = None
    settings: list[dict[str, Any]] = Field(default_factory=list)
    refuses: tuple[str, ...] = ()

    @llm_chat_callback()
    async def achat(self, messages, **kwargs):
        self.settings.append(kwargs)
        for name in self.refuses:
            if name in kwargs:
                raise TypeError(f"create() got an unexpected keyword argument '{name}'")
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer or ChatResponse(message=ChatMessage(role="assistant", content=NO))


class SomeOpenAI(Asked):
    model: str = "gpt-4o-mini"


class SomeOpenAIResponses(Asked):
    model: str = "gpt-5"
    max_output_tokens: int | None = None


class SomeAnthropic(Asked):
    model: str = "claude-sonnet-4-5"
    max_tokens: int = 512


class SomeOllama(Asked):
    model: str = "qwen3"


def complete(llm, schema=SCHEMA, options=Options(0.0, 2000)):
    return asyncio.run(resolve_model(llm, limits=Limits(attempts=1)).complete(ASKED, schema, options))


def said(text="YES", raw=None, **extra):
    return ChatResponse(message=ChatMessage(role="assistant", content=text), raw=raw, additional_kwargs=extra)


def test_an_llm_judges_and_unknown_usage_is_no_zero_cost():
    judgment = Critic(Sync(), "faithfulness", name="truth").judge(a_case())
    assert (judgment.status, judgment.model) == (Status.FAIL, "mine")
    assert (judgment.usage.calls, judgment.usage.cost_complete) == (1, False)


def test_a_synchronous_llm_runs_in_threads_and_the_event_loop_goes_on():
    llm = Sync(delay=0.1)
    model = resolve_model(llm)

    async def main():
        started = time.perf_counter()
        await asyncio.gather(*(model.complete(ASKED) for _ in range(8)))
        return time.perf_counter() - started

    assert asyncio.run(main()) < 0.6  # one after the other takes 0.8
    assert all(thread is not threading.main_thread() for thread, _, _ in llm.threads)
    assert all(judging for _, judging, _ in llm.threads)
    assert "You judge." in llm.threads[0][2]


def test_a_model_inside_this_process_computes_one_answer_at_a_time():
    class Local(Sync):
        _model: Any = PrivateAttr(default=None)

    llm = Local(delay=0.01)
    model = resolve_model(llm)

    async def main():
        await asyncio.gather(*(model.complete(ASKED) for _ in range(5)))

    asyncio.run(main())
    assert (llm.most, len(llm.threads)) == (1, 5)


def test_an_asynchronous_completion_is_preferred_to_a_thread():
    class Completes(Sync):
        @llm_completion_callback()
        async def acomplete(self, prompt, formatted=False, **kwargs):
            self.threads.append((threading.current_thread(), run_context().judging, prompt))
            return CompletionResponse(text=NO, raw={"usage": {"prompt_tokens": 7, "completion_tokens": 2}})

    llm = Completes()
    reply = complete(llm)
    assert (reply.text, reply.usage.input_tokens) == (NO, 7)
    [(thread, judging, _)] = llm.threads
    assert (thread, judging) == (threading.main_thread(), True)


def test_an_llm_without_connections_is_asked_itself_and_not_a_copy():
    llm = Asked()
    complete(llm)
    assert llm.settings == [{}]


def test_a_mock_llm_is_a_model():
    assert complete(MockLLM(max_tokens=3)).text


# What is handed on


def test_each_vendor_gets_the_settings_that_it_takes():
    found = {}
    for kind in (SomeOpenAI, SomeOpenAIResponses, SomeAnthropic, SomeOllama, Asked):
        llm = kind()
        complete(llm)
        [found[kind]] = llm.settings
    wrapped = {"name": "judgment", "strict": True, "schema": SCHEMA}
    assert found == {
        SomeOpenAI: {
            "response_format": {"type": "json_schema", "json_schema": wrapped},
            "temperature": 0.0,
            "max_tokens": 2000,
        },
        SomeOpenAIResponses: {
            "text": {"format": {"type": "json_schema", **wrapped}},
            "temperature": 0.0,
            "max_output_tokens": 2000,
        },
        SomeAnthropic: {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}, "max_tokens": 2000},
        SomeOllama: {"format": SCHEMA},
        Asked: {},
    }


def test_a_field_that_the_user_set_is_left_alone():
    llm = SomeAnthropic(max_tokens=9)
    complete(llm, schema=None)
    assert llm.settings == [{}]


@pytest.mark.parametrize(("kind", "name"), [
    (SomeOpenAI, "response_format"), (SomeOpenAIResponses, "text"), (SomeAnthropic, "output_config"),
    (SomeOllama, "format"), (SomeOpenAI, "temperature"), (SomeOpenAIResponses, "max_output_tokens"),
])  # fmt: skip
def test_a_setting_that_the_llm_does_not_know_is_left_out_from_then_on(kind, name):
    model = f"gpt-for-{kind.__name__}-{name}"
    llm = kind(model=model, refuses=(name,))
    assert complete(llm).text == NO
    assert name in llm.settings[0]
    assert name not in llm.settings[-1]
    again = kind(model=model, refuses=(name,))
    complete(again)
    assert len(again.settings) == 1


def test_an_error_of_the_llms_own_is_an_error_of_ours_and_keeps_no_key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-verysecret-123")
    with pytest.raises(ModelError) as raised:
        complete(SomeOpenAI(answer=ValueError("bad key sk-verysecret-123")))
    assert raised.value.kind == "exception"
    assert "verysecret" not in str(raised.value)
    with pytest.raises(ModelError, match="unexpected keyword argument 'elsewhere'"):
        complete(SomeOpenAI(answer=TypeError("f() got an unexpected keyword argument 'elsewhere'")))


# What comes back


@pytest.mark.parametrize(("raw", "counts"), [
    ({"usage": {"prompt_tokens": 9, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4},
                "completion_tokens_details": {"reasoning_tokens": 2}}}, (9, 3, 4, 2)),
    (SimpleNamespace(usage=SimpleNamespace(
        input_tokens=9, output_tokens=3, input_tokens_details=SimpleNamespace(cached_tokens=4),
        output_tokens_details=SimpleNamespace(reasoning_tokens=2))), (9, 3, 4, 2)),
    ({"usage": SimpleNamespace(input_tokens=5, output_tokens=3, cache_read_input_tokens=3,
                               cache_creation_input_tokens=1)}, (9, 3, 3, 0)),
    ({"usage_metadata": {"prompt_token_count": 9, "candidates_token_count": 1, "thoughts_token_count": 2,
                         "cached_content_token_count": 4}}, (9, 3, 4, 2)),
])  # fmt: skip
def test_usage_is_read_under_every_vendors_names(raw, counts):
    usage = complete(SomeOpenAI(answer=said(raw=raw))).usage
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.reasoning_tokens) == counts
    assert (usage.calls, usage.cost_complete) == (1, True)


def test_usage_beside_the_message_counts_and_a_stated_cost_stands():
    usage = complete(SomeOpenAI(answer=said(prompt_tokens=9, completion_tokens=3))).usage
    assert (usage.input_tokens, usage.output_tokens) == (9, 3)
    stated = {"usage": {"prompt_tokens": 9, "completion_tokens": 3, "cost": 0.5}}
    assert complete(SomeOpenAI(answer=said(raw=stated))).usage.cost_usd == 0.5
    assert not complete(SomeOpenAI(answer=said(raw={"usage": {}}))).usage.cost_complete


@pytest.mark.parametrize(("raw", "finish"), [
    ({"choices": [{"finish_reason": "length"}]}, "length"),
    ({"stop_reason": "max_tokens"}, "length"),
    ({"stop_reason": "refusal"}, "refusal"),
    ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "length"),
    ({"incomplete_details": {"reason": "content_filter"}}, "filter"),
    ({"done_reason": "length"}, "length"),
    ({"candidates": [{"finish_reason": SimpleNamespace(name="SAFETY")}]}, "filter"),
    ({"choices": [{"finish_reason": "stop"}]}, "stop"),
    ("odd", "stop"), (None, "stop"), ({"choices": "odd"}, "stop"), ({"choices": []}, "stop"),
])  # fmt: skip
def test_why_it_stopped_is_read_under_every_vendors_names(raw, finish):
    assert complete(SomeOpenAI(answer=said(raw=raw))).finish == finish


def test_a_refusal_says_what_the_model_said():
    reply = complete(SomeOpenAI(answer=said("", refusal="I will not judge this.")))
    assert (reply.finish, reply.detail) == ("refusal", "I will not judge this.")


# Names and prices


class AzureOpenAI(SomeOpenAI):
    """As LlamaIndex calls its class."""


class OpenAILike(SomeOpenAI):
    """As LlamaIndex calls its class."""


class MyJudge(SomeAnthropic):
    """A class of the user's own."""


@pytest.mark.parametrize(("kind", "vendor"), [
    (SomeOpenAI, "openai"), (SomeAnthropic, "anthropic"), (SomeOllama, "ollama"), (AzureOpenAI, "azure"),
    (OpenAILike, "llama_index"), (MyJudge, "anthropic"), (Sync, "llama_index"),
])  # fmt: skip
def test_a_model_goes_by_the_prices_of_the_vendor_inside(kind, vendor):
    model = LlamaIndexModel(kind())
    assert model.price_vendor == vendor
    assert Critic(kind(), "safety", name="x").priced is (price_of(vendor, model.model) is not None)


def test_what_is_inside_a_wrapper_is_found_and_a_circle_ends():
    inner = SomeOpenAI()
    wrapper = SimpleNamespace(bound=SimpleNamespace(runnable=inner))
    assert (model_name(wrapper), vendor_inside(wrapper)) == ("gpt-4o-mini", "openai")
    circle = SimpleNamespace()
    circle.bound = circle
    assert (model_name(circle), vendor_inside(circle)) == ("SimpleNamespace", None)
    assert (finish_of("MAX_TOKENS"), finish_of("content_filter"), finish_of("end_turn")) == ("length", "filter", "stop")


def test_a_name_that_only_the_metadata_has_or_none_at_all():
    class Broken(Sync):
        @property
        def metadata(self):
            raise ValueError("unknown model")

    assert LlamaIndexModel(Sync()).name == "llama_index:mine"
    assert LlamaIndexModel(Broken()).name == "llama_index:Broken"
    assert LlamaIndexModel(MockLLM()).model == "MockLLM"


def test_critics_that_ask_one_llm_share_its_limits():
    llm = Sync()
    first, second, other = (resolve_model(one) for one in (llm, llm, Sync()))
    assert first.limiter is second.limiter
    assert first.limiter is not other.limiter


def test_a_model_can_be_pickled_when_its_llm_can():
    again = pickle.loads(pickle.dumps(LlamaIndexModel(MockLLM(max_tokens=2))))
    assert complete(again).text


def test_an_llm_brings_its_own_address():
    with pytest.raises(ConfigurationError, match="base_url belongs to a model named by text"):
        resolve_model(Sync(), base_url="http://localhost")
