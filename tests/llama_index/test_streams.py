"""Streamed answers: the user reads them as ever, and they are judged when they have been read."""

import asyncio
import inspect
import time
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from itertools import islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.base.response.schema import AsyncStreamingResponse, Response, StreamingResponse
from llama_index.core.chat_engine.types import AgentChatResponse, StreamingAgentChatResponse
from llama_index.core.query_engine import CustomQueryEngine
from pydantic import BaseModel
from support.garbage import collect_garbage
from support.llama_apps import ANSWER, PASSAGE, Model, Verdicts, a_chat, an_index, says_paris

from jury_adapters import Status
from jury_adapters.core.background.counts import Counts
from jury_adapters.llama_index import JurySpanHandler, judge_runs
from jury_adapters.llama_index.responses import text_of
from jury_adapters.llama_index.streams import Ending, watch

INDEX = an_index()
WAYS = {
    "response_gen": lambda response: "".join(response.response_gen),
    "str": str,
    "get_response": lambda response: response.get_response().response,
    "print": lambda response: response.print_response_stream() or ANSWER,
    "text_of": text_of,
}
AWAYS = {
    "async_response_gen": lambda response: _joined(response.async_response_gen()),
    "response_gen": lambda response: _joined(response.response_gen),
    "get_response": lambda response: _text(response.get_response()),
    "print": lambda response: _printed(response),  # noqa: PLW0108  it is defined below
}


async def _joined(tokens: AsyncIterator[str]) -> str:
    return "".join([token async for token in tokens])


async def _text(response: object) -> str:
    return (await response).response


async def _printed(response: AsyncStreamingResponse) -> str:
    await response.print_response_stream()
    return ANSWER


@pytest.mark.parametrize("way", WAYS)
def test_a_streamed_query_is_judged_once_when_it_was_read(way: str, capsys: pytest.CaptureFixture):
    verdicts = Verdicts()
    with judge_runs(says_paris(), on_verdict=verdicts) as watched:
        response = INDEX.as_query_engine(llm=Model(), streaming=True).query("Which capital?")
        assert type(response) is StreamingResponse
        assert inspect.isgenerator(response.response_gen)
        assert not watched.flush(0.01) or not verdicts
        assert WAYS[way](response) == ANSWER
        if way == "print":
            assert capsys.readouterr().out == ANSWER
    assert (verdicts.case.question, verdicts.case.answer) == ("Which capital?", ANSWER)
    assert verdicts.case.contexts == (PASSAGE,)
    assert watched.counts.judged == 1
    assert watched.counts.abandoned == 0


@pytest.mark.parametrize("way", AWAYS)
def test_an_asynchronously_streamed_query_is_judged_once_when_it_was_read(way: str):
    verdicts = Verdicts()

    async def main() -> None:
        async with judge_runs(says_paris(), on_verdict=verdicts) as watched:
            response = await INDEX.as_query_engine(llm=Model(), streaming=True).aquery("Which capital?")
            assert type(response) is AsyncStreamingResponse
            await watched.aflush(1)
            assert not verdicts
            assert await AWAYS[way](response) == ANSWER

    asyncio.run(main())
    assert (verdicts.case.answer, verdicts.case.contexts) == (ANSWER, (PASSAGE,))


def test_tokens_come_one_by_one_as_they_are_made():
    made: list[int] = []

    def numbers() -> Iterator[str]:
        for n in range(3):
            made.append(n)
            yield str(n)

    response, endings = StreamingResponse(numbers()), []
    assert watch(response, endings.append)
    assert next(response.response_gen) == "0"
    assert made == [0]
    assert list(response.response_gen) == ["1", "2"]
    assert [ending.answer for ending in endings] == ["012"]


@pytest.mark.parametrize("leave", [lambda stream: stream.close(), lambda stream: None])
def test_a_stream_that_is_left_is_counted_as_abandoned(leave: Callable):
    verdicts = Verdicts()
    with judge_runs(says_paris(), on_verdict=verdicts) as watched:
        response = INDEX.as_query_engine(llm=Model(), streaming=True).query("Which capital?")
        next(response.response_gen)
        leave(response.response_gen)
        del response
        collect_garbage()
        INDEX.as_query_engine(llm=Model(), streaming=True).query("never read")
        collect_garbage()
    assert watched.counts.abandoned == 2
    assert not verdicts


def test_an_asynchronous_stream_that_is_left_is_counted_as_abandoned():
    verdicts = Verdicts()

    async def main() -> None:
        async with judge_runs(says_paris(), on_verdict=verdicts) as watched:
            engine = INDEX.as_query_engine(llm=Model(), streaming=True)
            response = await engine.aquery("left")
            async for _ in response.response_gen:
                break
            await response.response_gen.aclose()
            await engine.aquery("never read")
            collect_garbage()
            assert watched.counts.abandoned == 2

    asyncio.run(main())
    assert not verdicts


def test_closing_the_stream_closes_what_is_under_it():
    closed = []

    def source() -> Iterator[str]:
        try:
            yield "a"
            yield "b"
        finally:
            closed.append(True)

    response = StreamingResponse(source())
    watch(response, lambda ending: None)
    next(response.response_gen)
    response.response_gen.close()
    assert closed == [True]


def test_an_error_in_the_stream_reaches_the_user_and_is_fail():
    verdicts = Verdicts()
    engine = INDEX.as_query_engine(llm=Model(break_after=2), streaming=True)

    async def main() -> None:
        response = await engine.aquery("Which capital?")
        with pytest.raises(ConnectionError):
            await _joined(response.async_response_gen())

    with judge_runs(says_paris(), on_verdict=verdicts):
        with pytest.raises(ConnectionError):
            list(engine.query("Which capital?").response_gen)
        asyncio.run(main())
    assert [judged.run.error for judged in verdicts] == ["ConnectionError: the line went dead"] * 2
    assert {judged.judgment.status for judged in verdicts} == {Status.FAIL}


@pytest.mark.parametrize("mode", ["context", "simple"])
def test_every_way_of_reading_a_chat_stream_counts_once(mode: str, capsys: pytest.CaptureFixture):
    verdicts = Verdicts()
    with judge_runs(says_paris(), on_verdict=verdicts) as watched:
        chat = a_chat(INDEX, mode)
        response = chat.stream_chat("read")
        assert isinstance(response, StreamingAgentChatResponse)
        assert type(response).__name__ == "StreamingAgentChatResponse"
        assert "".join(response.response_gen) == ANSWER
        assert response.response == str(response) == ANSWER
        chat.stream_chat("printed").print_response_stream()
        response = chat.stream_chat("as text")
        while not response.is_done:  # its writer; older releases do not say in which thread
            time.sleep(0.001)
        assert str(response) == ANSWER
        assert watched.flush(10)
    assert capsys.readouterr().out == ANSWER
    assert sorted(judged.case.question for judged in verdicts) == ["as text", "printed", "read"]
    assert {judged.case.answer for judged in verdicts} == {ANSWER}
    assert len(chat.chat_history) == 6


def test_a_chat_stream_may_be_left_and_taken_up_again():
    verdicts = Verdicts()
    with judge_runs(says_paris(), on_verdict=verdicts) as watched:
        response = a_chat(INDEX, "simple").stream_chat("Which capital?")
        assert next(response.response_gen) == "Paris"
        assert watched.counts.abandoned == 0
        assert "".join(response.response_gen) == " is the capital."
    assert verdicts.case.answer == ANSWER


def test_a_chat_stream_that_nobody_reads_is_abandoned():
    with judge_runs(says_paris()) as watched:
        response = a_chat(INDEX, "simple").stream_chat("Which capital?")
        next(response.response_gen)
        del response
        collect_garbage()
    assert (watched.counts.judged, watched.counts.abandoned) == (0, 1)


def test_an_error_in_an_asynchronous_chat_stream_is_fail():
    verdicts = Verdicts()

    async def main() -> None:
        response = await a_chat(INDEX, "simple", Model(break_after=2)).astream_chat("Which capital?")
        with pytest.raises(ConnectionError):
            await _joined(response.async_response_gen())

    with judge_runs(says_paris(), on_verdict=verdicts):
        asyncio.run(main())
    assert verdicts[0].run.error == "ConnectionError: the line went dead"
    assert verdicts[0].judgment.status is Status.FAIL


def test_a_reader_that_is_cancelled_is_counted():
    async def tokens() -> AsyncIterator[str]:
        yield "Paris"
        await asyncio.sleep(60)

    class Slow(CustomQueryEngine):
        def custom_query(self, query_str: str) -> object:
            return AsyncStreamingResponse(tokens())

        async def acustom_query(self, query_str: str) -> object:
            return self.custom_query(query_str)

    async def main() -> None:
        response = await Slow().aquery("Which capital?")
        reader = asyncio.ensure_future(_joined(response.async_response_gen()))
        await asyncio.sleep(0.02)
        reader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reader

    with judge_runs(says_paris()) as watched:
        asyncio.run(main())
    assert (watched.counts.cancelled, watched.counts.judged) == (1, 0)


def test_two_watchers_of_one_stream_are_both_told():
    first, second = Verdicts(), Verdicts()
    with judge_runs(says_paris(), on_verdict=first), judge_runs(says_paris(), on_verdict=second):
        "".join(INDEX.as_query_engine(llm=Model(), streaming=True).query("query").response_gen)
        "".join(a_chat(INDEX, "simple").stream_chat("chat").response_gen)
    for told in (first, second):
        assert sorted(judged.case.question for judged in told) == ["chat", "query"]


def test_a_stream_read_after_the_handler_went_is_judged_while_its_queue_is_open():
    verdicts = Verdicts()
    watched = JurySpanHandler(says_paris(), on_verdict=verdicts).attach()
    response = INDEX.as_query_engine(llm=Model(), streaming=True).query("Which capital?")
    watched.remove()
    assert str(response) == ANSWER
    assert watched.close(10)
    assert len(verdicts) == 1


def held_open(kind: str) -> Any:
    """A streamed answer of which one token has been read, and its stream."""
    if kind == "query":
        response: Any = INDEX.as_query_engine(llm=Model(), streaming=True).query("Which capital?")
    else:
        response = a_chat(INDEX, "simple").stream_chat("Which capital?")
    next(response.response_gen)
    return response


@pytest.mark.parametrize("kind", ["query", "chat"])
def test_a_stream_counts_as_open_until_it_ends(kind: str):
    with judge_runs(says_paris()) as watched:
        response = held_open(kind)
        assert watched.counts == Counts(open=1)
        "".join(response.response_gen)
        assert watched.flush(10)
        assert watched.counts == Counts(judged=1)


@pytest.mark.parametrize("kind", ["query", "chat"])
def test_a_stream_that_is_open_at_the_end_of_a_watch_is_dropped(kind: str):
    verdicts = Verdicts()
    with judge_runs(says_paris(), on_verdict=verdicts) as watched:
        response = held_open(kind)
    assert watched.counts == Counts(dropped=1)
    assert "".join(response.response_gen).endswith("capital.")  # the user can still read it
    del response
    collect_garbage()
    assert (watched.counts, verdicts) == (Counts(dropped=1), [])


def test_an_asynchronous_stream_that_is_open_at_the_end_of_a_watch_is_dropped():
    async def main() -> None:
        async with judge_runs(says_paris()) as watched:
            response = await INDEX.as_query_engine(llm=Model(), streaming=True).aquery("Which capital?")
            assert await anext(response.response_gen) == "Paris"
            assert watched.counts == Counts(open=1)
        assert watched.counts == Counts(dropped=1)
        assert "".join([token async for token in response.response_gen]) == " is the capital."
        assert watched.counts == Counts(dropped=1)

    asyncio.run(main())


def test_streams_that_are_held_open_are_bounded():
    with judge_runs(says_paris(), max_open=2) as watched:
        held = [held_open("query") for _ in range(3)]
        assert watched.counts == Counts(open=2, evicted=1)
        for response in held:
            "".join(response.response_gen)
    assert watched.counts == Counts(judged=2, evicted=1)


def test_a_removed_handler_still_counts_its_streams():
    watched = JurySpanHandler(says_paris()).attach()
    response = held_open("query")
    watched.remove()
    assert watched.counts == Counts(open=1)
    assert watched.close(10)
    assert (watched.counts, str(response)) == (Counts(dropped=1), " is the capital.")


@pytest.mark.parametrize(
    "response",
    [
        Response("done"),
        StreamingResponse(None, response_txt="done"),
        AgentChatResponse("done"),
        StreamingAgentChatResponse("done"),
        "done",
        None,
    ],
)
def test_what_is_no_stream_is_left_as_it_is(response: object):
    kind = type(response)
    assert not watch(response, lambda ending: None)
    assert type(response) is kind


def test_streams_of_ever_more_complete_objects_end_in_the_last():
    class City(BaseModel):
        name: str = ""

    response, endings = StreamingResponse(iter([City(), City(name="Par"), City(name="Paris")])), []
    watch(response, endings.append)
    list(response.response_gen)
    assert endings[0].answer == City(name="Paris")


def test_a_response_that_is_watched_can_still_be_freed():
    response = StreamingResponse(iter("abc"))
    watch(response, lambda ending: None)
    gone = weakref.ref(response)
    del response
    collect_garbage()
    assert gone() is None


@given(st.lists(st.text(max_size=5), max_size=8), st.integers(0, 9))
def test_the_user_gets_what_the_source_gives_and_the_end_is_told_once(tokens: list[str], read: int):
    response, endings = StreamingResponse(iter(tokens)), []
    watch(response, endings.append)
    got = [*islice(response.response_gen, read)]
    assert got + list(response.response_gen) == tokens
    del response
    assert endings == [Ending(tokens)]
