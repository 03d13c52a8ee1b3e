"""Calls of a LangChain chat model: as direct as possible, and without any loss of data."""

import asyncio

import pytest
from langchain_core.callbacks import get_usage_metadata_callback
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.rate_limiters import BaseRateLimiter
from support.chat import USED, PlainChat, ScriptedChat, StreamingChat

from jury_adapters import Critic, ModelError, Status
from jury_adapters.models.base import Options, Prompt
from jury_adapters.models.langchain import LangChainModel
from jury_adapters.models.langchain_binding import Binding, asker, messages_of
from jury_adapters.testing import a_case

ASKED = Prompt.of("Is it so?", "You judge.")
ANSWER = {"reasoning": "it is", "answer": "YES", "claims": [], "confidence": 0.9}
SCHEMA = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}


class Invoked(ScriptedChat):
    """Has a way of its own to be invoked, as wrappers of models have."""

    async def ainvoke(self, *args, **kwargs):
        message = await super().ainvoke(*args, **kwargs)
        return message.model_copy(update={"content": f"{message.content}, says the wrapper"})


class Reporting(BaseChatModel):
    """Takes it for granted that somebody manages its run."""

    @property
    def _llm_type(self):
        return "reporting"

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        run_manager.on_llm_new_token("YES")
        return ChatResult(
            generations=[ChatGeneration(message=AIMessage("YES"), generation_info={"finish_reason": "x"})]
        )


class Counting(BaseRateLimiter):
    """Lets everybody through, and counts them."""

    def __init__(self):
        self.passed = 0

    def acquire(self, *, blocking=True):
        self.passed += 1
        return True

    async def aacquire(self, *, blocking=True):
        return self.acquire()


def reply(model, schema=None):
    return asyncio.run(LangChainModel(model).complete(ASKED, schema, Options()))


async def both_ways(model, schema=None):
    """Responses to one call, once as LangChain invokes the bound model, and once as we ask it."""
    bound = await Binding(schema=schema, cached=True).bind(model)
    messages = messages_of(ASKED)
    invoked = await bound.ainvoke(messages)
    asked = await asker(bound, heard=False)(messages)
    return [
        (one.content, one.tool_calls, one.usage_metadata, one.response_metadata, type(one)) for one in (invoked, asked)
    ]


@pytest.mark.parametrize("model", [
    ScriptedChat(arguments=ANSWER),
    ScriptedChat().bind(stop=["\n"]),
    ScriptedChat().bind(stop=["\n"]).bind(seed=1, stop=["x"]),
    ScriptedChat().with_config(tags=["mine"]),
    ScriptedChat(script=["YES"]).with_retry(),
    StreamingChat(script=["one two three"]),
    StreamingChat(script=["one two three"]).bind(stream=True),
    Invoked(),
    Reporting(),
    PlainChat(),
])  # fmt: skip
@pytest.mark.parametrize("schema", [None, SCHEMA])
def test_the_direct_way_gives_what_invoking_gives(model, schema):
    invoked, asked = asyncio.run(both_ways(model, schema))
    assert asked == invoked


def test_bound_arguments_reach_the_model_and_the_outer_ones_win():
    model = ScriptedChat(arguments=ANSWER)
    reply(model.bind(stop=["\n"], seed=1).bind(seed=2), SCHEMA)
    asyncio.run(both_ways(model.bind(stop=["\n"], seed=1).bind(seed=2), SCHEMA))
    ours, invoked, asked = (call["kwargs"] for call in model.seen)
    assert ours == invoked == asked
    assert ours["seed"] == 2
    assert "tools" in ours
    assert not any(name.startswith("ls_") for name in ours)


def test_a_models_rate_limiter_is_waited_for():
    limiter = Counting()
    reply(ScriptedChat(rate_limiter=limiter))
    assert limiter.passed == 1


def test_a_model_with_a_way_of_its_own_is_invoked():
    assert reply(Invoked()).text == "YES, says the wrapper"


def test_a_model_may_report_to_the_manager_of_its_run():
    assert reply(Reporting()).text == "YES"


def test_what_the_model_raises_arrives_as_it_is():
    with pytest.raises(ModelError, match="gone") as raised:
        reply(ScriptedChat(script=[ConnectionError("gone")]))
    assert raised.value.kind == "connection"


def test_the_tokens_of_critics_are_not_counted_as_the_applications():
    said = AIMessage("YES", usage_metadata=USED, response_metadata={"model_name": "m"})
    model = ScriptedChat(script=[said])
    with get_usage_metadata_callback() as counted:
        model.invoke("Hello")
        before = dict(counted.usage_metadata)
        judgment = Critic(model, "faithfulness", name="truth").judge(a_case())
    assert judgment.status is Status.PASS
    assert judgment.usage.input_tokens == 11
    assert counted.usage_metadata == before != {}
