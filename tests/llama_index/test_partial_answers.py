"""Answers to parts of a question, which an engine's own model wrote, are not evidence for its answer."""

import asyncio

import pytest
from llama_index.core.base.response.schema import Response, StreamingResponse
from llama_index.core.chat_engine.types import AgentChatResponse
from llama_index.core.indices.query.query_transform.base import IdentityQueryTransform
from llama_index.core.query_engine import CustomQueryEngine, MultiStepQueryEngine, SubQuestionQueryEngine
from llama_index.core.question_gen.types import BaseQuestionGenerator, SubQuestion
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.tools import QueryEngineTool, ToolOutput
from support.canned import canned

from jury_adapters.checks import NamesAndNumbers
from jury_adapters.llama_index import JuryEvaluator, JuryGuardQueryEngine, judge_runs, to_case

QUESTION = "When do tokens expire?"
INVENTED = "The tokens expire after 30 days."
PASSAGE = "The tokens expire after 90 days."


class Engine(CustomQueryEngine):
    nodes: list[NodeWithScore]

    def custom_query(self, query_str: str) -> Response:
        return Response(INVENTED, source_nodes=self.nodes)


class OneQuestion(BaseQuestionGenerator):
    def _get_prompts(self) -> dict:
        return {}

    def _update_prompts(self, prompts: object) -> None:
        raise AssertionError("nobody changes the prompts here")

    def generate(self, tools: object, query: object) -> list[SubQuestion]:
        return [SubQuestion(sub_question="When do\nthey expire?", tool_name="docs")]

    async def agenerate(self, tools: object, query: object) -> list[SubQuestion]:
        return self.generate(tools, query)


def sub_questions(*nodes: NodeWithScore) -> SubQuestionQueryEngine:
    tool = QueryEngineTool.from_defaults(Engine(nodes=list(nodes)), name="docs", description="documents")
    return SubQuestionQueryEngine.from_defaults(
        [tool], llm=canned(INVENTED), question_gen=OneQuestion(), use_async=False, verbose=False,
        response_synthesizer=get_response_synthesizer(llm=canned(INVENTED)),
    )  # fmt: skip


def steps(*nodes: NodeWithScore) -> MultiStepQueryEngine:
    return MultiStepQueryEngine(
        Engine(nodes=list(nodes)), IdentityQueryTransform(), num_steps=1,
        response_synthesizer=get_response_synthesizer(llm=canned(INVENTED)),
    )  # fmt: skip


FOUND = NodeWithScore(node=TextNode(text=PASSAGE))
ENGINES = pytest.mark.parametrize("engine_of", [sub_questions, steps])


@ENGINES
def test_the_sources_of_the_parts_are_the_contexts(engine_of):
    engine = engine_of(FOUND)
    response = engine.query(QUESTION)
    assert to_case(response, query=QUESTION).contexts == (PASSAGE,)
    assert JuryEvaluator(NamesAndNumbers()).evaluate_response(QUESTION, response).passing is False
    assert JuryGuardQueryEngine(engine, NamesAndNumbers(), max_retries=0).query(QUESTION).metadata["jury"][
        "outcome"
    ] == ("blocked")


@ENGINES
def test_a_run_that_is_watched_has_the_same_contexts(engine_of):
    found = []
    with judge_runs(NamesAndNumbers(), on_verdict=found.append):
        asyncio.run(engine_of(FOUND).aquery(QUESTION))
    assert [(one.case.contexts, one.judgment.passed) for one in found] == [((PASSAGE,), False)]


@ENGINES
def test_parts_without_sources_are_kept_as_the_text_of_a_tool_is(engine_of):
    (context,) = to_case(engine_of().query(QUESTION)).contexts
    assert INVENTED in context


class FindsNothing(Engine):
    def custom_query(self, query_str: str) -> Response:
        return Response("Empty Response")


@ENGINES
def test_parts_for_which_no_node_was_found_are_no_contexts(engine_of, monkeypatch):
    monkeypatch.setitem(globals(), "Engine", FindsNothing)
    assert to_case(engine_of().query(QUESTION)).contexts == ()
    result = JuryEvaluator(NamesAndNumbers()).evaluate_response(QUESTION, engine_of().query(QUESTION))
    assert (result.passing, result.invalid_reason) == (None, "no contexts to compare with")


def test_the_answer_of_a_tool_that_found_no_node_is_no_context():
    tool = QueryEngineTool.from_defaults(FindsNothing(nodes=[]), name="docs", description="documents")
    found = QueryEngineTool.from_defaults(Engine(nodes=[]), name="sums", description="sums")
    outputs = [tool.call(QUESTION), found.call(QUESTION)]
    assert to_case(AgentChatResponse("After a while.", sources=outputs[:1])).contexts == ()
    assert to_case(AgentChatResponse("After a while.", sources=outputs)).contexts == (INVENTED,)
    text = ToolOutput(tool_name="log", content="Empty Response", raw_input={}, raw_output="Empty Response")
    assert to_case(AgentChatResponse("It was empty.", sources=[text])).contexts == ("Empty Response",)


@ENGINES
def test_a_tool_of_an_agent(engine_of):
    output = ToolOutput(tool_name="docs", content=INVENTED, raw_input={}, raw_output=engine_of(FOUND).query(QUESTION))
    assert to_case(AgentChatResponse(INVENTED, sources=[output])).contexts == (PASSAGE,)


@pytest.mark.parametrize(
    "node",
    [
        NodeWithScore(node=TextNode(text="Sub question: Who?\nResponse: Ann."), score=0.4),
        NodeWithScore(node=TextNode(text="Sub question: Who?\nResponse: Ann.", metadata={"file": "interviews.md"})),
        NodeWithScore(node=TextNode(text="The sub question: Who?\nResponse: Ann.")),
    ],
    ids=["retrieved with a score", "of a file", "other words"],
)
def test_a_passage_that_reads_alike_is_evidence(node):
    assert len(to_case(Response("Ann.", source_nodes=[node, FOUND])).contexts) == 2


def test_a_stream_too():
    response = StreamingResponse(iter(["Ann."]), source_nodes=[*steps(FOUND).query(QUESTION).source_nodes])
    assert to_case(response).contexts == (PASSAGE,)
