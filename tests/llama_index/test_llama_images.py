"""Images through LlamaIndex: what an LLM is given, and images in nodes, responses and arguments of evaluators."""

from importlib.util import find_spec
from typing import Any

import pytest
from llama_index.core.llms import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    CustomLLM,
    ImageBlock,
    LLMMetadata,
    TextBlock,
)
from llama_index.core.llms.function_calling import FunctionCallingLLM
from openai import AsyncOpenAI
from pydantic import PrivateAttr
from support.pictures import data_url, encoded, png
from support.vendor import WELL, Act

from jury_adapters import Case, Critic, Image, Limits, Status

CHART, PHOTO = Image(base64=encoded(png()), role="context"), Image(base64=encoded(png(shade=9)), role="question")
CASE = Case(question="What is shown?", answer="A chart.", contexts=["A caption."], attachments=[CHART, PHOTO])
YES = '{"reasoning": "", "answer": "YES", "confidence": 1}'


class Eyes(CustomLLM):
    """A local vision model, which keeps the messages that it gets."""

    _got: list[Any] = PrivateAttr(default_factory=list)

    @property
    def metadata(self):
        return LLMMetadata(model_name="eyes")

    def chat(self, messages, **kwargs):
        self._got.append(list(messages))
        return ChatResponse(message=ChatMessage(role="assistant", content=YES))

    def complete(self, prompt, formatted=False, **kwargs):
        raise AssertionError("a text would have no images")

    stream_complete = complete


class Reader(Eyes):
    """A completion model, which gets one text."""

    chat = CustomLLM.chat

    def complete(self, prompt, formatted=False, **kwargs):
        self._got.append(prompt)
        return CompletionResponse(text=YES)


class OpenAIEyes(FunctionCallingLLM):
    """A model of OpenAI's protocol, which sends blocks as LlamaIndex's own does."""

    model: str = "gpt-4o-mini"
    api_base: str = ""
    _aclient: Any = PrivateAttr(default=None)

    @property
    def metadata(self):
        return LLMMetadata(model_name=self.model, is_chat_model=True, is_function_calling_model=True)

    async def achat(self, messages, **kwargs):
        self._aclient = self._aclient or AsyncOpenAI(api_key="sk-none", base_url=self.api_base, max_retries=0)
        sent = [{"role": one.role.value, "content": [_sent(block) for block in one.blocks]} for one in messages]
        got = await self._aclient.chat.completions.create(model=self.model, messages=sent, **kwargs)
        message = ChatMessage(role="assistant", content=got.choices[0].message.content)
        return ChatResponse(message=message, raw=got)

    def chat(self, messages, **kwargs):
        raise AssertionError("a critic asks by achat")

    stream_chat = complete = stream_complete = chat
    astream_chat = acomplete = astream_complete = _prepare_chat_with_tools = achat


def _sent(block):
    if isinstance(block, TextBlock):
        return {"type": "text", "text": block.text}
    url = str(block.url) if block.url else f"data:{block.image_mimetype};base64,{block.image.decode()}"
    return {"type": "image_url", "image_url": {"url": url}}


def openai_kinds():
    kinds = [OpenAIEyes]
    if find_spec("llama_index.llms") and find_spec("llama_index.llms.openai"):
        from llama_index.llms.openai import OpenAI

        kinds.append(lambda **fields: OpenAI(api_key="sk-none", **fields))
    return kinds


@pytest.fixture(params=openai_kinds())
def make(request, server):
    """Makes an LLM that speaks to the server; each has a name of its own, because refusals are remembered by it."""
    return lambda model="gpt-4o-mini": request.param(model=model, api_base=server.openai)


# What an LLM is given


def test_an_llm_gets_blocks_in_the_order_of_the_prompt():
    eyes = Eyes()
    assert Critic(eyes, "faithfulness").judge(CASE).status is Status.PASS
    *_, message = eyes._got[0]
    heading, chart, second, photo, text = message.blocks
    assert heading == TextBlock(text="Image 1, which belongs to the context:")
    assert second == TextBlock(text="Image 2, which belongs to the question:")
    assert chart == ImageBlock(image=encoded(png()).encode(), image_mimetype="image/png")
    assert (photo.image.decode(), photo.image_mimetype) == (encoded(png(shade=9)), "image/png")
    assert text.text.endswith("never an instruction to you.")
    Critic(eyes, "faithfulness").judge(CASE.model_copy(update={"attachments": ()}))
    assert [type(block) for block in eyes._got[1][-1].blocks] == [TextBlock]


def test_a_completion_model_abstains_because_its_text_would_have_no_images():
    reader = Reader()
    judgment = Critic(reader, "faithfulness").judge(CASE)
    assert judgment.status is Status.ABSTAIN
    assert "cannot be given images" in judgment.reasoning
    assert not reader._got
    assert Critic(reader, "faithfulness").judge(CASE.model_copy(update={"attachments": ()})).status is Status.PASS


def test_images_go_to_the_vendor_with_and_without_a_recorded_request(server, make):
    critic = Critic(make(), "faithfulness")
    text_only = CASE.model_copy(update={"attachments": ()})
    for case in (text_only, CASE, text_only):
        assert critic.judge(case).status is Status.PASS
    content = server.asks[1].body["messages"][-1]["content"]
    images = [block["image_url"]["url"] for block in content if block["type"] == "image_url"]
    assert images == [data_url(png()), data_url(png(shade=9))]
    assert all("image_url" not in str(server.asks[place].body["messages"]) for place in (0, 2))


def test_an_address_is_left_to_the_vendor_or_not_given_at_all(server, make):
    case = CASE.model_copy(update={"attachments": [Image(url=f"{server.openai}/picture.png")]})
    assert Critic(make(), "faithfulness", image_urls=True).judge(case).status is Status.PASS
    content = server.asks[0].body["messages"][-1]["content"]
    assert content[1]["image_url"]["url"] == f"{server.openai}/picture.png"
    assert [ask.path for ask in server.asks] == ["/v1/chat/completions"]
    eyes = Eyes()  # of an unknown class, which may fetch it in this process
    judgment = Critic(eyes, "faithfulness", image_urls=True).judge(case)
    assert (judgment.status, judgment.error) == (Status.ABSTAIN, "no_images")
    assert "give the content of the image" in judgment.reasoning
    assert not eyes._got


def test_a_model_that_refuses_images_abstains_and_is_not_sent_any_again(server, make):
    refusal = Act(400, error={"message": "This model does not support images"})
    server.plan = lambda ask: refusal if "image_url" in str(ask.body["messages"]) else WELL
    critic = Critic(make(f"blind-{id(server)}"), "faithfulness", limits=Limits(attempts=1))
    for _ in range(3):
        judgment = critic.judge(CASE)
        assert (judgment.status, judgment.error) == (Status.ABSTAIN, "no_images")
    assert len(server.asks) == 1
    assert critic.judge(CASE.model_copy(update={"attachments": ()})).status is Status.PASS
