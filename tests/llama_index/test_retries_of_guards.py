"""Search queries of a guarded engine, and the prompts of its writer, when the guard asks again."""

import asyncio

import pytest
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.response.schema import Response
from llama_index.core.indices.query.query_transform import HyDEQueryTransform
from llama_index.core.llms import MockLLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import (
    CitationQueryEngine,
    CustomQueryEngine,
    RetrieverQueryEngine,
    TransformQueryEngine,
)
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from pydantic import Field

from jury_adapters.llama_index import JuryGuardQueryEngine, judge_runs

QUESTION = "When did the ferry stop?"
PAGE = "The ferry stopped in 2018."


class Words(BaseRetriever):
    """A retriever that reads the words of the query, as those of keywords, BM25 and SQL do."""

    def __init__(self) -> None:
        self.searched: list[QueryBundle] = []
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.searched.append(query_bundle)
        return [NodeWithScore(node=TextNode(text=PAGE), score=1.0)]

    @property
    def words(self) -> set[str]:
        return {bundle.query_str for bundle in self.searched}


class Reranker(BaseNodePostprocessor):
    """A postprocessor that reads the words of the query."""

    read: list[str] = Field(default_factory=list)

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        self.read.append(query_bundle.query_str if query_bundle else "")
        return nodes


class Writer(MockLLM):
    """A model that keeps what it was asked."""

    asked: list[str] = Field(default_factory=list)

    def complete(self, prompt: str, formatted: bool = False, **kwargs: object):
        self.asked.append(prompt)
        return super().complete("an answer", formatted, **kwargs)

    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: object):
        return self.complete(prompt, formatted)


class Mine(RetrieverQueryEngine):
    """A subclass with a state of its own."""

    retrievals = 0

    def retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.retrievals += 1
        return super().retrieve(query_bundle)

    async def aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.retrievals += 1
        return await super().aretrieve(query_bundle)


def asked_twice(engine: BaseQueryEngine, *, later: bool = False) -> Response:
    guarded = JuryGuardQueryEngine(engine, lambda case: False, max_retries=1)
    response = asyncio.run(guarded.aquery(QUESTION)) if later else guarded.query(QUESTION)
    assert response.metadata["jury"]["attempts"] == 2
    return response


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("engine", [RetrieverQueryEngine, CitationQueryEngine, Mine])
def test_a_retry_searches_and_ranks_by_the_users_question_whatever_the_retriever(engine, later):
    words, reranker, writer = Words(), Reranker(), Writer()
    make = engine if engine is CitationQueryEngine else engine.from_args
    made = make(retriever=words, llm=writer, node_postprocessors=[reranker])
    asked_twice(made, later=later)
    assert (len(words.searched), words.words) == (2, {QUESTION})
    assert reranker.read == [QUESTION] * 2
    assert all(bundle.embedding_strs == [QUESTION] for bundle in words.searched)
    first, second = writer.asked
    assert "was rejected by a reviewer" in second
    assert "was rejected by a reviewer" not in first
    if isinstance(made, Mine):
        assert made.retrievals == 2


@pytest.mark.parametrize("later", [False, True])
def test_a_transform_reads_the_users_question_when_the_guard_asks_again(later):
    words, writer, model = Words(), Writer(), Writer()
    engine = RetrieverQueryEngine.from_args(words, llm=writer)
    asked_twice(TransformQueryEngine(engine, HyDEQueryTransform(llm=model)), later=later)
    assert len(model.asked) == 2
    assert len(set(model.asked)) == 1
    assert words.words == {QUESTION}
    assert {tuple(bundle.embedding_strs) for bundle in words.searched} == {("an answer", QUESTION)}
    assert ["was rejected by a reviewer" in asked for asked in writer.asked] == [False, True]


def test_other_engines_get_the_question_and_the_feedback_as_one_text():
    got: list[str] = []

    class Custom(CustomQueryEngine):
        def custom_query(self, query_str: str) -> Response:
            got.append(query_str)
            return Response("an answer")

    class Own(RetrieverQueryEngine):
        def _query(self, query_bundle: QueryBundle) -> Response:
            return super()._query(query_bundle)

    asked_twice(Custom())
    assert got[0] == QUESTION
    assert got[1].startswith(QUESTION)
    assert "was rejected by a reviewer" in got[1]
    words = Words()
    asked_twice(Own.from_args(words, llm=Writer()))
    assert [bundle.query_str == QUESTION for bundle in words.searched] == [True, False]
    assert [bundle.embedding_strs for bundle in words.searched] == [[QUESTION]] * 2


def test_a_watched_guard_that_asks_again_is_one_run_with_its_contexts():
    judged = []
    guarded = JuryGuardQueryEngine(
        RetrieverQueryEngine.from_args(Words(), llm=Writer()), lambda case: False, max_retries=1, on_fail="annotate"
    )
    with judge_runs(lambda case: True, on_verdict=judged.append) as watch:
        guarded.query(QUESTION)
    assert watch.counts.judged == 1
    assert (judged[0].case.question, judged[0].case.contexts) == (QUESTION, (PAGE,))
