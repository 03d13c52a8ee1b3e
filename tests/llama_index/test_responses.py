"""Reading LlamaIndex' answers, and leaving them as they were."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
from llama_index.core.agent.workflow import ReActAgent
from llama_index.core.base.response.schema import AsyncStreamingResponse, PydanticResponse, Response, StreamingResponse
from llama_index.core.chat_engine.types import AgentChatResponse, StreamingAgentChatResponse
from llama_index.core.llms import ChatMessage, ChatResponse
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.tools import FunctionTool, ToolOutput
from llama_index.core.workflow import StopEvent
from pydantic import BaseModel
from support.canned import a_chat, an_index, canned, three_words

from jury_adapters import InputError, Step
from jury_adapters.llama_index.responses import atext_of, contexts_of, steps_of, text_of

INDEX = an_index()
YEAR = "year: 2025\n\nRevenue grew 12%."


def tokens() -> Iterator[str]:
    yield from ("one ", "two ", "three")


async def atokens() -> AsyncIterator[str]:
    for token in tokens():
        yield token


class City(BaseModel):
    name: str = "Paris"
    sources: list[str] = ["not evidence"]


@pytest.mark.parametrize(
    ("response", "text"),
    [
        ("Paris.", "Paris."),
        (None, None),
        (7, "7"),
        (Response("Paris."), "Paris."),
        (Response(None), None),
        (Response(""), ""),
        (PydanticResponse(City(sources=[])), '{"name":"Paris","sources":[]}'),
        (PydanticResponse(None), None),
        (AgentChatResponse("Paris."), "Paris."),
        (StopEvent(result=Response("Paris.")), "Paris."),
        (ChatMessage("Paris."), "Paris."),
        (ChatMessage(role="assistant", content="", additional_kwargs={"refusal": "I cannot."}), "I cannot."),
        (ChatMessage(""), ""),
        (ToolOutput("kb", content="Paris.", raw_input={}), "Paris."),
        (ChatResponse(message=ChatMessage("Paris.")), "Paris."),
        (City(sources=[]), '{"name":"Paris","sources":[]}'),
        ({"city": "Paris"}, '{"city": "Paris"}'),
    ],
)
def test_texts(response: object, text: str | None) -> None:
    assert text_of(response) == text
    assert asyncio.run(atext_of(response)) == text


def test_what_is_no_answer_is_said() -> None:
    with pytest.raises(InputError, match="cannot read an answer from object"):
        text_of(object())


def test_a_stream_can_be_read_after_it_was_judged() -> None:
    response = StreamingResponse(tokens())
    assert text_of(response) == "one two three"
    assert text_of(response) == "one two three"
    assert list(response.response_gen) == ["one ", "two ", "three"]
    assert text_of(response) == "one two three"


def test_a_stream_can_be_printed_after_it_was_judged(capsys: pytest.CaptureFixture[str]) -> None:
    response = StreamingResponse(tokens())
    asyncio.run(atext_of(response))
    response.print_response_stream()
    assert capsys.readouterr().out == "one two three"
    assert str(response) == "one two three"
    assert text_of(response) == "one two three"


def test_a_stream_of_a_real_engine_is_left_to_the_user() -> None:
    response = INDEX.as_query_engine(llm=three_words(), streaming=True).query("q")
    assert (text_of(response) or "").strip() == "text text text"
    assert str(response).strip() == "text text text"


def test_a_stream_that_was_read_by_str_has_its_text_and_one_read_otherwise_says_so() -> None:
    response = StreamingResponse(tokens())
    assert str(response) == text_of(response)
    for read in (list, next):
        response = StreamingResponse(tokens())
        read(response.response_gen)
        with pytest.raises(InputError, match="has been read already"):
            text_of(response)


def test_the_user_stops_in_the_middle_and_the_judge_still_sees_all() -> None:
    response = StreamingResponse(tokens())
    text_of(response)
    assert next(response.response_gen) == "one "
    assert text_of(response) == "one two three"
    response.response_gen.close()
    assert list(response.response_gen) == []


def test_a_stream_that_breaks_breaks_at_the_same_place_for_everyone() -> None:
    def breaking() -> Iterator[str]:
        yield "one "
        raise ConnectionError("the line is dead")

    response = StreamingResponse(breaking())
    with pytest.raises(ConnectionError):
        text_of(response)
    assert next(response.response_gen) == "one "
    with pytest.raises(ConnectionError, match="the line is dead"):
        next(response.response_gen)


def test_judges_that_read_one_stream_at_the_same_time_all_see_it() -> None:
    async def run() -> None:
        streamed, astreamed = StreamingResponse(tokens()), AsyncStreamingResponse(atokens())
        for response in (streamed, astreamed):
            assert await asyncio.gather(*(atext_of(response) for _ in range(5))) == ["one two three"] * 5
        assert list(streamed.response_gen) == ["one ", "two ", "three"]
        assert [token async for token in astreamed.async_response_gen()] == ["one ", "two ", "three"]
        assert await atext_of(astreamed) == "one two three"

    asyncio.run(run())


def test_an_asynchronous_stream_in_synchronous_code() -> None:
    async def rest(response: AsyncStreamingResponse) -> str:
        return "".join([token async for token in response.async_response_gen()])

    response = AsyncStreamingResponse(atokens())
    assert text_of(response) == "one two three"
    assert text_of(response) == "one two three"
    assert asyncio.run(rest(response)) == "one two three"


def test_an_asynchronous_stream_that_is_being_read_or_has_been() -> None:
    async def run() -> None:
        response = AsyncStreamingResponse(atokens())
        reading = response.async_response_gen()
        await anext(reading)
        with pytest.raises(InputError, match="is being read"):
            await atext_of(response)
        assert [token async for token in reading] == ["two ", "three"]
        assert await atext_of(response) == "one two three"
        response = AsyncStreamingResponse(atokens())
        assert [token async for token in response.response_gen] == ["one ", "two ", "three"]
        with pytest.raises(InputError, match="has been read already"):
            await atext_of(response)

    asyncio.run(run())


def test_an_asynchronous_stream_that_breaks_or_is_closed() -> None:
    async def breaking() -> AsyncIterator[str]:
        yield "one "
        raise ConnectionError("the line is dead")

    async def run() -> None:
        response = AsyncStreamingResponse(breaking())
        with pytest.raises(ConnectionError):
            await atext_of(response)
        with pytest.raises(ConnectionError):
            await response.get_response()
        response = AsyncStreamingResponse(atokens())
        await atext_of(response)
        await response.response_gen.aclose()
        assert [token async for token in response.response_gen] == []

    asyncio.run(run())


@pytest.mark.parametrize("mode", ["context", "condense_question", "condense_plus_context", "simple"])
def test_chat_streams_are_left_to_the_user(mode: str) -> None:
    chat = a_chat(mode)
    response = chat.stream_chat("hi")
    text = text_of(response)
    assert text is not None
    assert text == text_of(response)
    assert "".join(response.response_gen).strip() == text

    async def run() -> None:
        response = await chat.astream_chat("hi")
        text = await atext_of(response)
        assert text
        assert "".join([token async for token in response.async_response_gen()]).strip() == text

    asyncio.run(run())


def test_a_chat_stream_without_a_writer() -> None:
    def chunks() -> Iterator[ChatResponse]:
        for token in tokens():
            yield ChatResponse(message=ChatMessage(token), delta=token)

    async def achunks() -> AsyncIterator[ChatResponse]:
        for chunk in chunks():
            yield chunk

    response = StreamingAgentChatResponse(chat_stream=chunks(), is_writing_to_memory=False)
    assert text_of(response) == "one two three"
    assert asyncio.run(atext_of(response)) == "one two three"
    assert list(response.response_gen) == ["one ", "two ", "three"]

    async def run() -> None:
        response = StreamingAgentChatResponse(achat_stream=achunks(), is_writing_to_memory=False)
        assert await atext_of(response) == "one two three"
        assert [token async for token in response.async_response_gen()] == ["one ", "two ", "three"]

    asyncio.run(run())
    with pytest.raises(InputError, match="no task writes"):
        text_of(StreamingAgentChatResponse())


def test_an_asynchronous_chat_stream_in_synchronous_code() -> None:
    async def run() -> None:
        chat = a_chat()
        response = await chat.astream_chat("hi")
        with pytest.raises(InputError, match="use aevaluate_response"):
            text_of(response)
        if response.awrite_response_to_history_task is not None:  # the oldest release does not keep it
            assert await asyncio.to_thread(text_of, response) == "text text text"
        assert await atext_of(response) == "text text text"

    asyncio.run(run())


def test_a_chat_stream_that_breaks() -> None:
    response = StreamingAgentChatResponse(exception=ValueError("no model"), is_writing_to_memory=True)
    with pytest.raises(ValueError, match="no model"):
        text_of(response)


def test_contexts_are_as_the_generator_saw_them_and_count_once() -> None:
    node = NodeWithScore(node=TextNode(text="Revenue grew 12%.", metadata={"year": "2025"}), score=0.5)
    assert contexts_of(Response("r", [node, node])) == (YEAR,)
    assert contexts_of(PydanticResponse(City(), [node])) == (YEAR,)
    assert contexts_of(PydanticResponse(City())) == ()
    assert contexts_of(Response("r", [NodeWithScore(node=TextNode(text="  "))])) == ()
    assert contexts_of("text") == contexts_of(None) == ()


def test_contexts_and_steps_of_a_chat_engine() -> None:
    response = a_chat().chat("hi")
    assert YEAR in contexts_of(response)
    (step,) = steps_of(response)
    assert step.tool == "retriever"
    assert step.arguments == {"message": "hi"}
    assert YEAR in (step.output or "")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # LlamaIndex' workflows look at deprecated attributes
def test_contexts_and_steps_of_an_agent() -> None:
    inner = INDEX.as_query_engine(llm=three_words())

    def search(question: str) -> Response:
        return inner.query(question)

    def add(a: int, b: int) -> int:
        return a + b

    def fail(why: str) -> str:
        raise ValueError(why)

    async def run() -> object:
        llm = canned(
            'Thought: I need a tool.\nAction: search\nAction Input: {"question": "What grew?"}',
            'Thought: I need a tool.\nAction: add\nAction Input: {"a": 2, "b": 3}',
            'Thought: I need a tool.\nAction: fail\nAction Input: {"why": "out of order"}',
            "Thought: I can answer.\nAnswer: It grew by 12 %.",
        )
        tools = [FunctionTool.from_defaults(function) for function in (search, add, fail)]
        return await ReActAgent(tools=tools, llm=llm).run("What grew?")

    output = asyncio.run(run())
    assert text_of(output) == "It grew by 12 %."
    assert YEAR in contexts_of(output)
    assert "5" in contexts_of(output)
    searched, added, failed = steps_of(output)
    assert searched == Step(tool="search", arguments={"question": "What grew?"}, output="text text text")
    assert added == Step(tool="add", arguments={"a": 2, "b": 3}, output="5")
    assert failed.output is None
    assert "out of order" in (failed.error or "")


def test_the_words_of_a_structured_answer_are_shown_as_they_are() -> None:
    from llama_index.core.agent.workflow import AgentOutput

    output = AgentOutput(response=ChatMessage(""), structured_response={"city": "Zürich"}, current_agent_name="a")
    assert text_of(output) == '{"city": "Zürich"}'
