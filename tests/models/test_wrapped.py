"""Models that are already there: functions, LangChain, LlamaIndex."""

import asyncio

import pytest

from jury_adapters import ConfigurationError, Critic, Limits, ModelError, Status, Usage
from jury_adapters.models.base import Prompt, Reply
from jury_adapters.models.functions import FunctionModel
from jury_adapters.models.registry import resolve_model
from jury_adapters.testing import a_case, no_waiting

NO = '{"reasoning": "it is not", "answer": "NO"}'
ASKED = Prompt.of("Is it so?", "You judge.")


def complete(model, prompt=ASKED):
    return asyncio.run(resolve_model(model).complete(prompt))


def judge(model, **options):
    return Critic("truth", model, rubric="faithfulness", **options).judge(a_case())


# Functions


def test_an_async_function_is_a_model_and_gets_the_prompt_as_one_text():
    seen = []

    async def mine(prompt):
        seen.append(prompt)
        return NO

    judgment = judge(mine)
    assert (judgment.status, judgment.model) == (Status.FAIL, "mine")
    assert not judgment.usage.cost_complete
    complete(mine)
    complete(mine, ASKED.followed_by("Hm", "Again"))
    assert seen[1:] == ["You judge.\n\nIs it so?", "You judge.\n\nUSER:\nIs it so?\n\nASSISTANT:\nHm\n\nUSER:\nAgain"]


def test_a_structured_function_gets_a_prompt_and_gives_a_reply():
    async def mine(prompt):
        return Reply(prompt.system, usage=Usage(7, calls=1))

    reply = complete(FunctionModel(mine, structured=True, name="m"))
    assert (reply.text, reply.usage.input_tokens) == ("You judge.", 7)


def test_a_function_that_returns_no_text_is_malformed():
    async def mine(prompt):
        return 7

    with pytest.raises(ModelError, match="returned int, not text"):
        complete(mine)


@pytest.mark.parametrize(
    ("error", "kind"), [(TimeoutError("slow"), "timeout"), (ConnectionError("gone"), "connection")]
)
def test_a_function_that_fails_for_a_moment_is_tried_again(error, kind):
    calls = []

    async def mine(prompt):
        calls.append(prompt)
        raise error

    with no_waiting():
        judgment = judge(mine, limits=Limits(attempts=3))
    assert judgment.error.startswith(f"{kind}: function:mine")
    assert len(calls) == 3


@pytest.mark.parametrize("model", [lambda prompt: "YES", 7, object()])
def test_what_is_no_model_is_refused(model):
    with pytest.raises(ConfigurationError, match="is no model"):
        resolve_model(model)


# LangChain


def langchain(*lines):
    fake = pytest.importorskip("langchain_core.language_models.fake_chat_models")
    return fake.FakeListChatModel(responses=list(lines) or [NO])


@pytest.mark.parametrize("wrap", [
    lambda model: model,
    lambda model: model.with_retry(),
    lambda model: model.with_fallbacks([model]),
    lambda model: model.bind(stop=["x"]),
])  # fmt: skip
def test_a_langchain_model_judges_also_inside_its_wrappers(wrap):
    judgment = judge(wrap(langchain()))
    assert judgment.status is Status.FAIL
    assert judgment.usage.calls == 1
    assert not judgment.usage.cost_complete


def test_the_usage_of_a_langchain_message_is_normalised():
    fake = pytest.importorskip("langchain_core.language_models.fake_chat_models")
    messages = pytest.importorskip("langchain_core.messages")
    used = {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120,
            "input_token_details": {"cache_read": 64}, "output_token_details": {"reasoning": 5}}  # fmt: skip
    message = messages.AIMessage(NO, usage_metadata=used, response_metadata={"finish_reason": "length"})
    reply = complete(fake.GenericFakeChatModel(messages=iter([message])))
    assert (reply.text, reply.finish) == (NO, "length")
    usage = reply.usage
    assert (usage.input_tokens, usage.cached_tokens, usage.reasoning_tokens) == (100, 64, 5)


def test_an_error_of_a_langchain_model_is_an_error_of_ours():
    fake = pytest.importorskip("langchain_core.language_models.fake_chat_models")
    model = fake.FakeListChatModel(responses=["x"], error_on_chunk_number=0)
    assert judge(model).status in (Status.ABSTAIN, Status.ERROR)
    with pytest.raises(ModelError):
        complete(fake.GenericFakeChatModel(messages=iter([])))


# LlamaIndex


def test_a_llama_index_model_judges_and_unknown_usage_is_no_zero_cost():
    llms = pytest.importorskip("llama_index.core.llms")
    callbacks = pytest.importorskip("llama_index.core.llms.callbacks")

    class Mine(llms.CustomLLM):
        @property
        def metadata(self):
            return llms.LLMMetadata(model_name="mine")

        @callbacks.llm_completion_callback()
        def complete(self, prompt, formatted=False, **kwargs):
            return llms.CompletionResponse(text=NO)

        @callbacks.llm_completion_callback()
        def stream_complete(self, prompt, formatted=False, **kwargs):
            yield llms.CompletionResponse(text=NO)

    judgment = judge(Mine())
    assert judgment.status is Status.FAIL
    assert (judgment.usage.calls, judgment.usage.cost_complete) == (1, False)
