"""LlamaIndex LLMs as models, with the real base classes, and a class on the real openai SDK."""

import asyncio
import importlib
import json
import threading
import time
from typing import Any

import openai
import pytest
from fact_tables import each_row
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, LLMMetadata
from llama_index.core.callbacks import CallbackManager, TokenCountingHandler
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.llms import LLM, CustomLLM, MockLLM
from llama_index.core.llms.callbacks import llm_chat_callback
from model_asking import SCHEMA, ask, failure, prompt
from model_server import KEY, answer, error, response, well
from pydantic import PrivateAttr

from jury_adapters import Critic, Image
from jury_adapters.core import loop
from jury_adapters.core.context import context
from jury_adapters.models import Options, model_of


class OnlyAchat(LLM):
    """LLM without the other methods, which the base class demands and the model does not call."""

    def chat(self, messages, **arguments):
        raise NotImplementedError

    complete = acomplete = stream_chat = astream_chat = stream_complete = astream_complete = chat


class OpenAILLM(OnlyAchat):
    """What LlamaIndex's own package for OpenAI does: an SDK client in a private attribute, settings as arguments."""

    model: str = "gpt-4o-mini"
    api_key: str = KEY
    api_base: str = ""
    temperature: float = 0.1
    _aclient: Any = PrivateAttr(None)

    def __init__(self, **options):
        super().__init__(**options)
        self._aclient = openai.AsyncOpenAI(api_key=self.api_key, base_url=self.api_base, max_retries=0)

    @property
    def metadata(self):
        return LLMMetadata(model_name=self.model, is_chat_model=True)

    @llm_chat_callback()
    async def achat(self, messages, **arguments):
        sent = [{"role": one.role.value, "content": one.content} for one in messages]
        raw = await self._aclient.chat.completions.create(
            model=self.model, messages=sent, temperature=self.temperature, **arguments
        )
        said = raw.choices[0].message.content
        return ChatResponse(message=ChatMessage(role="assistant", content=said), raw=raw)


class Answering(OnlyAchat):
    """LLM whose answers are given: the text, and what the vendor returned."""

    answers: Any = None
    extra: Any = None

    @property
    def metadata(self):
        return LLMMetadata(model_name="given", is_chat_model=True)

    async def achat(self, messages, **arguments):
        answered = ChatMessage(role="assistant", content="a text")
        return ChatResponse(message=answered, raw=self.answers, additional_kwargs=self.extra or {})


class Blocking(CustomLLM):
    """LLM with only synchronous methods, as those of local models."""

    seen: Any = None

    @property
    def metadata(self):
        return LLMMetadata()

    def complete(self, prompt, formatted=False, **arguments):
        time.sleep(0.2)
        if self.seen is not None:
            self.seen.append((threading.current_thread().name, context().judging, prompt))
        return CompletionResponse(text="done")

    def stream_complete(self, prompt, formatted=False, **arguments):
        raise NotImplementedError


@pytest.fixture
def llm(server):
    return OpenAILLM(api_base=server.base_url("openai"))


def test_the_reply_of_an_llm(server, llm):
    model = model_of(llm)
    reply = ask(model)
    assert (reply.text, reply.finish, reply.model) == ("echo: Is it so?", "stop", "gpt-test")
    assert (reply.usage.calls, reply.usage.input_tokens, reply.usage.output_tokens) == (1, 11, 7)
    assert (model.name, model.model) == ("llama_index:gpt-4o-mini", "gpt-4o-mini")
    roles = [message["role"] for message in server.requests[0].body["messages"]]
    assert roles == ["system", "user"]


def test_the_llm_keeps_its_settings(server, llm):
    ask(model_of(llm), options=Options(0.9, 500, True))
    body = server.requests[0].body
    assert body["temperature"] == 0.1
    assert not body.keys() & {"max_tokens", "max_completion_tokens", "logprobs"}


def test_the_schema_is_an_argument_of_the_call(server, llm):
    ask(model_of(llm), schema=SCHEMA)
    assert server.requests[0].body["response_format"]["json_schema"]["schema"] == SCHEMA


def test_a_refused_schema_is_left_out_now_and_later(server, llm):
    server.plan = lambda request: (
        error("400 Bad", "response_format is not supported")(request)
        if "response_format" in request.body
        else well(request)
    )
    model = model_of(llm)
    assert ask(model, "one", SCHEMA).text == "echo: one"
    assert ask(model, "two", SCHEMA).text == "echo: two"
    assert len(server.requests) == 3


def test_a_class_without_the_argument_is_asked_without_it():
    class OllamaOfOld(Answering):
        async def achat(self, messages):
            return await super().achat(messages)

    assert ask(model_of(OllamaOfOld()), schema=SCHEMA).text == "a text"


@each_row(
    ("raw", "extra", "finish", "counts"),
    [
        (None, None, "stop", (0, 0)),
        (None, {"prompt_tokens": 3, "completion_tokens": 4}, "stop", (3, 4)),
        ({"done_reason": "length", "usage": {"prompt_tokens": 5, "completion_tokens": 6}}, None, "length", (5, 6)),
        ({"choices": [{"message": {"content": "x"}, "finish_reason": "content_filter"}]}, None, "filter", (0, 0)),
        ({"content": [{"type": "text", "text": "x"}], "stop_reason": "max_tokens",
          "usage": {"input_tokens": 7, "output_tokens": 8}}, None, "length", (7, 8)),
        (lambda: {"content": [], "stop_reason": "end_turn",
                  "usage": importlib.import_module("anthropic.types").Usage(input_tokens=7, output_tokens=8)},
         None, "stop", (7, 8)),
        ("a text", None, "stop", (0, 0)),
    ],
)  # fmt: skip
def test_what_the_vendor_returned_is_read(raw, extra, finish, counts):
    reply = ask(model_of(Answering(answers=raw() if callable(raw) else raw, extra=extra)))
    assert (reply.text, reply.finish) == ("a text", finish)
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == counts
    assert (reply.usage.calls, reply.usage.cost_complete) == (1, False)


def test_a_synchronous_llm_does_not_block_the_loop():
    seen = []
    model = model_of(Blocking(seen=seen))

    async def main():
        begun = time.perf_counter()
        await asyncio.gather(*(model.complete(prompt(f"{number}")) for number in range(8)))
        return time.perf_counter() - begun

    assert asyncio.run(main()) < 1.4
    assert {judging for _, judging, _ in seen} == {True}
    assert all(thread.startswith("jury-judge") for thread, _, _ in seen)
    assert "system: You judge." in seen[0][2]


def test_the_mock_of_llama_index():
    assert "Is it so?" in ask(model_of(MockLLM())).text


def test_images_are_blocks_before_the_text():
    got = []

    class Seeing(Answering):
        async def achat(self, messages, **arguments):
            got.extend(messages[-1].blocks)
            return await super().achat(messages)

    images = [Image(data=b"\x89PNG", media_type="image/png"), Image(url="https://example.com/a.png")]
    asyncio.run(model_of(Seeing()).complete(prompt("what?", images=images)))
    assert [one.block_type for one in got] == ["image", "image", "text"]
    assert got[0].resolve_image().read() == b"\x89PNG"
    assert str(got[1].url) == "https://example.com/a.png"


def test_the_callback_manager_of_the_application_hears_nothing(server):
    """Trap 6."""
    counter = TokenCountingHandler()
    manager = CallbackManager([counter])
    llm = OpenAILLM(api_base=server.base_url("openai"), callback_manager=manager)
    ask(model_of(llm), schema=SCHEMA)
    assert counter.total_llm_token_count == 0
    assert llm.callback_manager is manager


def test_instrumentation_sees_a_run_of_its_own_with_a_tag(llm):
    events = []

    class Watching(BaseEventHandler):
        def handle(self, event, **options):
            events.append((event.class_name(), event.tags, event.span_id))

    dispatcher = get_dispatcher()
    watching = Watching()
    dispatcher.add_event_handler(watching)

    @dispatcher.span
    async def application():
        return await model_of(llm).complete(prompt())

    try:
        asyncio.run(application())
    finally:
        dispatcher.event_handlers.remove(watching)
    assert [name for name, _, _ in events] == ["LLMChatStartEvent", "LLMChatEndEvent"]
    assert all(tags == {"jury_adapters": "judge"} for _, tags, _ in events)


def test_an_llm_works_in_one_loop_after_another(server, llm):
    """Trap 5."""
    model = model_of(llm)
    for number in range(5):
        assert ask(model, f"{number}").text == f"echo: {number}"


def test_an_llm_that_makes_its_client_when_it_is_called_is_not_changed(server):
    """Its application, on another loop, uses no connection of the jury."""

    class Lazy(OpenAILLM):
        def __init__(self, **options):
            super().__init__(**options)
            self._aclient = None

        async def achat(self, messages, **arguments):
            if self._aclient is None:
                self._aclient = openai.AsyncOpenAI(api_key=KEY, base_url=self.api_base, max_retries=0)
                made.append(self._aclient)
            return await super().achat(messages, **arguments)

    made, llm = [], Lazy(api_base=server.base_url("openai"))
    critic = Critic(llm, prompt="{answer}", labels={"YES": "pass", "NO": "fail"})
    server.plan = lambda request: [response(answer(request, "YES"))]

    async def application():
        found = []
        for number in range(3):
            found.append(critic.judge(answer=f"{number}").error or llm._aclient is None)  # on the loop of the package
            found.append((await llm.achat([ChatMessage(role="user", content="hi")])).message.content)
        await llm._aclient.close()
        return found

    assert asyncio.run(application()) == [True, "YES", False, "YES", False, "YES"]
    of_jury, _ = made
    loop.run(of_jury.close())


@pytest.mark.parametrize(
    ("line", "kind"),
    [("429 Slow", "rate_limited"), ("401 No", "account"), ("500 Oops", "unavailable"), ("307 M", "refused")],
)
def test_errors_have_their_kind_and_no_key(server, llm, line, kind):
    """Trap 7."""
    server.plan = error(line, f"no: {KEY}")
    found = failure(model_of(llm))
    assert (found.kind, found.sent) == (kind, False)


def test_a_reply_that_repeats_the_key_loses_it(server, llm):
    server.plan = lambda request: [response(answer(request, f"key {KEY}"))]
    assert ask(model_of(llm)).text == "key [key]"
    llm.api_key = ""  # as in LlamaIndex's package for Anthropic, whose clients alone have the key
    assert ask(model_of(llm)).text == "key [key]"


def test_the_identity_is_that_of_the_answers(server):
    def identity(**options):
        return model_of(OpenAILLM(**{"api_base": server.base_url("openai"), **options})).identity

    assert identity() == identity() == identity(api_key="another-key-of-mine")
    assert KEY not in identity()
    assert len({identity(), identity(temperature=0.5), identity(model="gpt"), identity(api_base="http://x/v1")}) == 4
    assert json.dumps(identity())
