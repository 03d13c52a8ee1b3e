"""Retrievers that are judged by themselves, alone and inside chains."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import create_retriever_tool
from support.langchain_apps import PAGES, Scripted, Watched, agent, ask, call, chain, rag, retriever

from jury_adapters import Case, Critic, Judge, Status
from jury_adapters.checks import RetrievalMeasure
from jury_adapters.langchain import judge_runs
from jury_adapters.models.langchain import LangChainModel
from jury_adapters.retrieval import EachPassage


def waits(run: Any, value: Any, config: Any) -> Any:
    return run.invoke(value, config)


def awaits(run: Any, value: Any, config: Any) -> Any:
    return asyncio.run(run.ainvoke(value, config))


CALLED = pytest.mark.parametrize("called", [waits, awaits])


class Fixed(BaseRetriever):
    """Returns the given documents."""

    documents: list[Document]

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return self.documents


class NoIndex(BaseRetriever):
    """A retriever that breaks."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        raise ConnectionError("index down")


class Both(BaseRetriever):
    """A retriever over retrievers."""

    inner: list[BaseRetriever]

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        config = {"callbacks": run_manager.get_child()}
        return [document for one in self.inner for document in one.invoke(query, config)]


def looks(case: Case) -> bool:
    return bool(case.contexts)


@pytest.fixture
def watched() -> Watched:
    return Watched(Judge.from_function(looks), select="retriever")


@CALLED
@pytest.mark.parametrize("select", [None, "retriever", ["retriever"], lambda run: run.kind == "retriever"])
def test_a_retriever_alone_has_its_passages_and_their_ids_in_rank_order(select: Any, called: Any) -> None:
    watched = Watched(Judge.from_function(looks), select=select)
    found = called(retriever(k=4), "Why is the sky blue?", watched.config)
    judged = watched.one()
    assert judged.case == Case(
        question="Why is the sky blue?",
        contexts=[document.page_content for document in found],
        retrieved_ids=tuple(document.id for document in found),
    )
    assert len(judged.case.metadata["retrieved_ids"]) == len(PAGES)
    assert (judged.run.kind, judged.judgment.status) == ("retriever", Status.PASS)


@CALLED
def test_of_a_chain_only_its_retriever_is_judged(watched: Watched, called: Any) -> None:
    called(rag(), "Why is the sky blue?", watched.config)
    judged = watched.one()
    assert judged.case is not None
    assert (judged.run.kind, judged.case.question, judged.case.answer) == ("retriever", "Why is the sky blue?", None)
    assert sorted(judged.case.metadata["retrieved_ids"]) == ["0", "1"]
    assert (watched.handler.counts.judged, watched.handler.counts.skipped) == (1, 0)


def test_a_chain_without_a_retriever_is_skipped(watched: Watched) -> None:
    chain().invoke({"question": "q"}, watched.config)
    assert watched.nothing().skipped == 1


def test_in_a_chosen_chain_it_is_part_of_the_chain() -> None:
    watched = Watched(select=["qa", "retriever"])
    rag().with_config({"run_name": "qa"}).invoke("Why is the sky blue?", watched.config)
    judged = watched.one()
    assert judged.case is not None
    assert (judged.run.name, len(judged.case.contexts)) == ("qa", 2)


def test_a_step_that_is_called_retriever_is_judged_once(watched: Watched) -> None:
    step = RunnableLambda(lambda question: retriever().invoke(question)).with_config({"run_name": "retriever"})
    (step | (lambda pages: "read")).invoke("Why is the sky blue?", watched.config)
    assert watched.one().run.kind == "chain"


def test_each_chain_has_its_own_judge() -> None:
    passages, answers = Watched(Judge.from_function(looks), select="retriever"), Watched()
    rag().invoke("Why is the sky blue?", {"callbacks": [passages.handler, answers.handler]})
    assert (passages.one().run.kind, answers.one().run.kind) == ("retriever", "chain")


def test_retrievers_inside_a_retriever_are_part_of_it(watched: Watched) -> None:
    inner = [retriever(("Snow is white.",), k=1), retriever(("The sky is blue.",), k=1)]
    Both(inner=inner).invoke("Which colours?", watched.config)
    assert watched.case().contexts == ("Snow is white.", "The sky is blue.")


def test_the_retriever_behind_an_agents_tool(watched: Watched) -> None:
    pages = create_retriever_tool(retriever(), "pages", "The pages.")
    agent(call("pages", query="sky"), "It is blue.", tools=[pages]).invoke(ask("Why?"), watched.config)
    assert watched.case().question == "sky"


@CALLED
@pytest.mark.parametrize("app", [NoIndex(), rag(found=NoIndex())], ids=["alone", "in a chain"])
def test_a_retriever_that_fails_is_fail_and_the_application_gets_its_error(
    app: Any, watched: Watched, called: Any
) -> None:
    with pytest.raises(ConnectionError, match="index down"):
        called(app, "q", watched.config)
    judged = watched.one()
    assert (judged.run.kind, judged.run.error) == ("retriever", "ConnectionError: index down")
    assert (judged.judgment.status, judged.question) == (Status.FAIL, "q")


@pytest.mark.parametrize(
    ("documents", "ids"),
    [
        ([Document("a", id="1"), Document("b", metadata={"id": 2})], ("1", "2")),
        ([Document("a", id="1"), Document("b")], None),
        ([], ()),
    ],
)
def test_ids_are_known_if_every_document_has_one(watched: Watched, documents: Any, ids: Any) -> None:
    Fixed(documents=documents).invoke("q", watched.config)
    assert watched.case().metadata.get("retrieved_ids") == ids


def test_a_field_map_reads_the_documents() -> None:
    def case_of(row: Any) -> Case:
        pages = [document.metadata["page"] for document in row["outputs"]]
        return Case(question=row["inputs"], retrieved_ids=pages, relevant_ids=["p7"])

    recall = RetrievalMeasure("reciprocal_rank")
    watched = Watched(recall, select="retriever", field_map=case_of)
    found = [Document("a", id="x1", metadata={"page": "p3"}), Document("b", id="x2", metadata={"page": "p7"})]
    Fixed(documents=found).invoke("q", watched.config)
    judged = watched.one()
    assert judged.judgment.score == 0.5
    assert judged.case is not None
    assert (judged.case.contexts, judged.case.metadata["retrieved_ids"]) == (("a", "b"), ("p3", "p7"))


def test_a_judge_that_retrieves_and_asks_models_is_not_judged() -> None:
    verdicts: list[Any] = []

    def looks_up(case: Case) -> bool:
        return bool(retriever().invoke(case.contexts[0]))

    critic = Critic(LangChainModel(Scripted(script=['{"reasoning": "r", "answer": 3}'])), "passage_relevance")
    for judge in (Judge.from_function(looks_up), EachPassage(critic)):
        with judge_runs(judge, select="retriever", on_verdict=verdicts.append) as watch:
            rag().invoke("Why is the sky blue?")
        assert (watch.counts.judged, watch.counts.broken, watch.counts.sink_errors) == (1, 0, 0)
    assert [judged.judgment.status for judged in verdicts] == [Status.PASS] * 2
