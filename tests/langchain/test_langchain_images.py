"""Images through LangChain: chat models that are given them, and messages from which they are read."""

import asyncio
import json
import uuid
from datetime import UTC, datetime
from importlib.util import find_spec

import pytest
from langchain_core.language_models import BaseChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda
from langchain_openai import ChatOpenAI
from langsmith.schemas import Run
from support.pictures import data_url, encoded, png
from support.vendor import WELL, Act

from jury_adapters import Case, Critic, Image, Judgment, Status, judge
from jury_adapters.langchain import JuryCallbackHandler, JuryEvaluator, to_case

YES = '{"reasoning": "so it says", "answer": "YES", "confidence": 0.9}'
CASE = Case(question="What?", answer="A chart.", attachments=[Image(base64=encoded(png()))])
SEEN = []


@judge
def seen(case):
    SEEN.append(case)
    return True


class Eyes(BaseChatModel):
    """Vision model that keeps what it was given."""

    given: list

    @property
    def _llm_type(self):
        return "eyes"

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        self.given.append(messages)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(YES))])


def test_a_model_is_given_standard_blocks():
    eyes = Eyes(given=[])
    address = Image(url="https://example.org/a.png", role="question")
    critic = Critic(eyes, "faithfulness", name="eyes", image_urls=True)
    case = CASE.model_copy(update={"attachments": [*CASE.attachments, address]})
    assert critic.judge(case).status is Status.PASS
    *before, last = eyes.given[0][-1].content
    assert before == [
        {"type": "text", "text": "Image 1, which belongs to the context:"},
        {"type": "image", "base64": encoded(png()), "mime_type": "image/png"},
        {"type": "text", "text": "Image 2, which belongs to the question:"},
        {"type": "image", "url": "https://example.org/a.png"},
    ]
    assert last["type"] == "text"
    assert isinstance(eyes.given[0][0].content, str)


def chat_openai(server, **settings):
    return ChatOpenAI(model=f"eyes-{id(server)}", base_url=server.openai, api_key="sk-none", **settings)


def chat_anthropic(server):
    from langchain_anthropic import ChatAnthropic

    return ChatAnthropic(model=f"eyes-{id(server)}", base_url=server.anthropic, api_key="sk-none")


def images_in(ask):
    return [block for block in ask.body["messages"][-1]["content"] if block["type"] != "text"]


def test_a_chat_openai_sends_the_image_of_our_own_request(server):
    assert Critic(chat_openai(server), "faithfulness").judge(CASE).status is Status.PASS
    assert images_in(server.asks[0]) == [{"type": "image_url", "image_url": {"url": data_url(png())}}]
    text_only = CASE.model_copy(update={"attachments": (), "contexts": ["It is a chart."]})
    assert Critic(chat_openai(server), "faithfulness").judge(text_only).status is Status.PASS
    assert isinstance(server.asks[1].body["messages"][-1]["content"], str)


if find_spec("langchain_anthropic"):

    def test_a_chat_anthropic_sends_the_image_of_our_own_request(server):
        assert Critic(chat_anthropic(server), "faithfulness").judge(CASE).status is Status.PASS
        [image] = images_in(server.asks[0])
        assert image["source"] == {"type": "base64", "media_type": "image/png", "data": encoded(png())}


@pytest.mark.parametrize("chat", [chat_openai, *([chat_anthropic] if find_spec("langchain_anthropic") else [])])
def test_a_refusal_of_images_is_an_abstention_and_is_remembered(server, chat):
    server.plan = lambda ask: (
        Act(400, error={"message": "This model does not support images"})
        if "image" in str(ask.body["messages"])
        else WELL
    )
    critic = Critic(chat(server), "faithfulness")
    for _ in range(2):
        judgment = critic.judge(CASE)
        assert (judgment.status, judgment.error) == (Status.ABSTAIN, "no_images")
    assert len(server.asks) == 1


# Reading

BLOCKS = {
    "standard": {"type": "image", "base64": encoded(png()), "mime_type": "image/png"},
    "older": {"type": "image", "source_type": "base64", "data": encoded(png()), "mime_type": "image/png"},
    "OpenAI": {"type": "image_url", "image_url": {"url": data_url(png())}},
    "Anthropic": {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": encoded(png())}},
}


def asked(block):
    return HumanMessage([{"type": "text", "text": "What is this?"}, block])


@pytest.mark.parametrize("form", BLOCKS)
def test_images_of_messages_are_read(form):
    block = BLOCKS[form]
    thread = [
        asked(block),
        AIMessage("", tool_calls=[{"id": "1", "name": "look", "args": {}}]),
        ToolMessage([block], tool_call_id="1"),
        AIMessage("A chart."),
    ]
    for case in (Case.from_messages(thread), to_case({"messages": thread}), Case.from_row({"messages": thread})):
        assert [image.role for image in case.attachments] == ["question", "context"]
        assert case.attachments[0].base64 == encoded(png())


@pytest.mark.parametrize("form", BLOCKS)
def test_a_callback_judges_with_the_images_of_the_run(form):
    SEEN.clear()
    model = GenericFakeChatModel(messages=iter([AIMessage("A chart.")] * 3))
    prompt = ChatPromptTemplate.from_messages([("placeholder", "{messages}")])
    with JuryCallbackHandler(seen) as handler:
        (prompt | model).invoke({"messages": [asked(BLOCKS[form])]}, {"callbacks": [handler]})
        model.invoke([asked(BLOCKS[form])], {"callbacks": [handler]})
        RunnableLambda(model.invoke).invoke([asked(BLOCKS[form])], {"callbacks": [handler]})
    assert len(SEEN) == 3
    for case in SEEN:
        assert (case.question, case.answer) == ("What is this?", "A chart.")
        assert [image.role for image in case.attachments] == ["question"]


@pytest.mark.parametrize("dumped", [False, True])
def test_an_evaluator_reads_the_images_of_a_run(dumped):
    SEEN.clear()
    message = asked(BLOCKS["standard"])
    inputs = {"messages": [message.model_dump() if dumped else message]}
    run = Run(
        id=uuid.uuid4(), name="app", start_time=datetime.now(UTC), run_type="chain", trace_id=uuid.uuid4(),
        dotted_order="", inputs=inputs, outputs={"messages": [*inputs["messages"], AIMessage("A chart.")]},
    )  # fmt: skip
    JuryEvaluator(seen).evaluate_run(run, None)
    assert [image.role for image in SEEN[0].attachments] == ["question"]
    JuryEvaluator(seen)(inputs=inputs, outputs={"output": "A chart."})
    assert [image.role for image in SEEN[1].attachments] == ["question"]


def test_no_image_is_in_a_verdict_or_its_feedback(server):
    verdict: Judgment = Critic(chat_openai(server), "faithfulness").judge(CASE)
    assert encoded(png()) not in verdict.to_json()
    assert encoded(png()) not in json.dumps(JuryEvaluator(Critic(chat_openai(server), "faithfulness"))(
        inputs={"question": "?"}, outputs={"answer": "!"}), default=str)  # fmt: skip


@pytest.mark.slow
def test_many_at_once(server):
    critic = Critic(chat_openai(server), "faithfulness")

    async def main():
        return [verdict async for verdict in critic.ajudge_many([CASE] * 20, max_concurrency=10)]

    assert all(verdict.status is Status.PASS for verdict in asyncio.run(main()))
