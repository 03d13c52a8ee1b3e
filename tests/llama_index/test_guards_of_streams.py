"""Guards around engines that stream: what is blocked is a stream, too."""

import asyncio

import pytest
from llama_index.core.base.response.schema import AsyncStreamingResponse, StreamingResponse
from llama_index.core.chat_engine import CondenseQuestionChatEngine
from llama_index.core.memory import ChatMemoryBuffer
from support.llama_apps import Model, an_index

from jury_adapters import Status
from jury_adapters.llama_index import JuryEvaluator, JuryGuardQueryEngine
from jury_adapters.llama_index.guards import REFUSAL, UNREVIEWED

INDEX = an_index()
BLOCKED = [(lambda case: False, {}, REFUSAL), (lambda case: Status.ABSTAIN, {"on_undecided": "block"}, UNREVIEWED)]


def guard(judge, **options):
    return JuryGuardQueryEngine(INDEX.as_query_engine(llm=Model(), streaming=True), judge, **options)


def chat(engine):
    memory = ChatMemoryBuffer.from_defaults(llm=Model())
    return CondenseQuestionChatEngine.from_defaults(query_engine=engine, llm=Model(), memory=memory)


@pytest.mark.parametrize(("judge", "options", "refusal"), BLOCKED)
def test_what_replaces_a_stream_is_a_stream(judge, options, refusal, capsys):
    response = guard(judge, **options).query("Which capital?")
    assert isinstance(response, StreamingResponse)
    assert list(response.response_gen) == [refusal]
    assert response.metadata["jury"]["outcome"] == "blocked"
    assert response.source_nodes
    response = guard(judge, **options).query("Which capital?")
    response.print_response_stream()
    assert capsys.readouterr().out == refusal
    assert str(response) == refusal
    assert str(response.get_response()) == refusal


@pytest.mark.parametrize(("judge", "options", "refusal"), BLOCKED)
def test_what_replaces_an_asynchronous_stream_is_one(judge, options, refusal):
    async def main():
        response = await guard(judge, **options).aquery("Which capital?")
        assert isinstance(response, AsyncStreamingResponse)
        assert response.metadata["jury"]["outcome"] == "blocked"
        return [token async for token in response.async_response_gen()]

    assert asyncio.run(main()) == [refusal]


@pytest.mark.parametrize(("judge", "options", "refusal"), BLOCKED)
def test_a_chat_engine_streams_a_refusal(judge, options, refusal):
    engine = chat(guard(judge, **options))
    assert "".join(engine.stream_chat("Which capital?").response_gen) == refusal

    async def main():
        response = await chat(guard(judge, **options)).astream_chat("Which capital?")
        return "".join([token async for token in response.async_response_gen()])

    assert asyncio.run(main()) == refusal


def test_a_refusal_that_streams_can_be_evaluated_and_read_afterwards():
    response = guard(lambda case: False).query("Which capital?")
    result = JuryEvaluator(lambda case: case.answer == REFUSAL).evaluate_response("Which capital?", response)
    assert (result.passing, list(response.response_gen)) == (True, [REFUSAL])
