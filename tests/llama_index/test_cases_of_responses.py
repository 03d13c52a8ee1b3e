"""Cases of LlamaIndex' responses, as a user asks for them."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
from llama_index.core.base.response.schema import AsyncStreamingResponse, PydanticResponse, Response, StreamingResponse
from llama_index.core.chat_engine.types import AgentChatResponse
from llama_index.core.llms import ChatMessage
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import ToolOutput
from pydantic import BaseModel

from jury_adapters import Case, ConfigurationError, InputError, Step
from jury_adapters.llama_index import ato_case, to_case

NODE = NodeWithScore(node=TextNode(text="Revenue grew 12%.", metadata={"year": 2025}), score=0.5)
TEXT = "year: 2025\n\nRevenue grew 12%."


class City(BaseModel):
    name: str = "Paris"


def tokens() -> Iterator[str]:
    yield from ("one ", "two")


async def atokens() -> AsyncIterator[str]:
    for token in tokens():
        yield token


async def awaited(response, **options):
    return await ato_case(response, **options)


BOTH = pytest.mark.parametrize(
    "read", [to_case, lambda response, **options: asyncio.run(awaited(response, **options))], ids=["sync", "async"]
)


@BOTH
@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ("Paris.", Case(question="q", answer="Paris.")),
        (Response("Paris.", [NODE]), Case(question="q", answer="Paris.", contexts=[TEXT])),
        (PydanticResponse(City(), [NODE]), Case(question="q", answer='{"name":"Paris"}', contexts=[TEXT])),
        (ChatMessage("Paris."), Case(question="q", answer="Paris.")),
        ([NODE, NODE], Case(question="q", contexts=[TEXT])),
        (NODE, Case(question="q", contexts=[TEXT])),
        ([], Case(question="q")),
        (None, Case(question="q")),
        (Case(question="own"), Case(question="own")),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_kind_of_response(read, response, expected):
    assert read(response, query=QueryBundle("q")) == read(response, query="q") == expected


@BOTH
def test_the_steps_of_an_agent(read):
    source = ToolOutput("search", content="It grew.", raw_input={"kwargs": {"query": "growth"}})
    case = read(AgentChatResponse("It grew.", sources=[source]), query="What grew?")
    assert case.trajectory == (Step(tool="search", arguments={"query": "growth"}, output="It grew."),)
    assert case.contexts == ("It grew.",)
    assert read(AgentChatResponse("It grew.", sources=[source]), evidence_tools=["other"]).contexts == ()


@BOTH
def test_a_stream_can_still_be_read(read):
    response = StreamingResponse(tokens(), [NODE])
    case = read(response, query="q", field_map={"reference": "outputs.response"})
    assert (case.answer, case.contexts, case.reference) == ("one two", (TEXT,), "one two")
    assert "".join(response.response_gen) == "one two"


def test_an_asynchronous_stream():
    async def main() -> str | None:
        return (await ato_case(AsyncStreamingResponse(atokens()))).answer

    assert asyncio.run(main()) == "one two"


@BOTH
def test_a_field_map(read):
    response = Response("draft", [NODE], {"final": "Paris.", "passages": ["p"]})
    field_map = {"answer": "outputs.metadata.final", "contexts": "outputs.metadata.passages"}
    case = read(response, query="q", field_map=field_map)
    assert (case.question, case.answer, case.contexts) == ("q", "Paris.", ("p",))
    made = read(response, field_map=lambda row: Case(answer=row["outputs"].metadata["final"]))
    assert made == Case(answer="Paris.")


@BOTH
def test_a_reference_and_metadata_for_the_case(read):
    case = read(Response("Paris.", [NODE]), query="q", reference="Paris", metadata={"id": "q1", "gold": "PASS"})
    assert (case.reference, case.item_id, case.metadata["gold"]) == ("Paris", "q1", "PASS")
    assert (case.question, case.answer, case.contexts) == ("q", "Paris.", (TEXT,))
    mapped = read(Response("Paris."), reference="Paris", field_map={"reference": "outputs.response"})
    assert mapped.reference == "Paris"
    assert read(case, reference="Rome") == case.model_copy(update={"reference": "Rome"})
    assert read(case) == case


def test_a_wrong_argument_is_one_error_without_another_one_before_it():
    for given in ({"refrence": "x"}, {}):
        with pytest.raises(ConfigurationError) as raised:
            to_case(*(["x"] if given else []), **given)
        assert raised.value.__context__ is raised.value.__cause__ is None


@BOTH
def test_wrong_use(read):
    with pytest.raises(InputError, match="cannot read an answer from object"):
        read(object())
    with pytest.raises(ConfigurationError, match="Did you mean 'answer'"):
        read("x", field_map={"anser": "outputs"})
    with pytest.raises(InputError, match="leads nowhere"):
        read(Response("x"), field_map={"answer": "outputs.metadata.final"})
