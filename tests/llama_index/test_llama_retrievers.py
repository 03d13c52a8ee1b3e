"""Retrievers that are judged by themselves, alone and inside engines and agents."""

import asyncio
from typing import Any

import pytest
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.evaluation import RetrieverEvaluator
from llama_index.core.query_engine import RetrieverQueryEngine, RouterQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import ImageNode, NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import QueryEngineTool
from support.llama_apps import ANSWER, PASSAGE, First, Model, Verdicts, a_chat, an_index, says_paris

from jury_adapters import Case, Status
from jury_adapters.checks import RetrievalMeasure
from jury_adapters.llama_index import JuryRetrievalMetric, judge_runs
from jury_adapters.retrieval import EachPassage

INDEX = an_index()


class Fixed(BaseRetriever):
    """Returns nodes with these ids, or raises an error."""

    def __init__(self, *ids: str, error: Exception | None = None) -> None:
        super().__init__()
        self.ids, self.error = ids, error

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if self.error is not None:
            raise self.error
        return [NodeWithScore(node=TextNode(text=f"page {one}", id_=one), score=1.0) for one in self.ids]


def engine(retriever: BaseRetriever) -> RetrieverQueryEngine:
    return RetrieverQueryEngine(retriever, get_response_synthesizer(llm=Model()))


def has_contexts(case: Case) -> bool:
    return bool(case.contexts)


def waits(run: Any, query: str) -> Any:
    return run.retrieve(query) if isinstance(run, BaseRetriever) else run.query(query)


def awaits(run: Any, query: str) -> Any:
    return asyncio.run(run.aretrieve(query) if isinstance(run, BaseRetriever) else run.aquery(query))


CALLED = pytest.mark.parametrize("called", [waits, awaits])


@pytest.mark.corpus
@CALLED
@pytest.mark.parametrize("select", ["retriever", BaseRetriever, "Fixed", lambda run, _: isinstance(run, BaseRetriever)])
@pytest.mark.parametrize("inside", [False, True])
def test_it_has_its_passages_and_their_ids_in_rank_order(inside: bool, select: Any, called: Any):
    retriever, verdicts = Fixed("d7", "d1"), Verdicts()
    with judge_runs(has_contexts, select=select, on_verdict=verdicts) as watch:
        called(engine(retriever) if inside else retriever, "When?")
    assert verdicts.case == Case(question="When?", contexts=["page d7", "page d1"], retrieved_ids=["d7", "d1"])
    assert verdicts.case.metadata["retrieved_ids"] == ("d7", "d1")
    assert (verdicts[0].run.kind, verdicts[0].judgment.status) == ("retriever", Status.PASS)
    assert (watch.counts.judged, watch.counts.skipped, watch.counts.open) == (1, 0, 0)


class Scans(BaseRetriever):
    """Returns pages of a scanned document, of which some have no text."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        texts = {"p1": "", "p2": "The ferry ran until 1998.", "p3": " \n", "p4": "The ferry ran until 1998."}
        return [NodeWithScore(node=TextNode(text=text, id_=name), score=1.0) for name, text in texts.items()]


def test_a_node_without_a_text_counts_as_a_passage_as_it_counts_among_the_ids():
    verdicts = Verdicts()
    passages = EachPassage(lambda case: "ferry" in case.contexts[0], measure="precision")
    with judge_runs(passages, select="retriever", on_verdict=verdicts):
        Scans().retrieve("When?")
    assert len(verdicts.case.contexts) == len(verdicts.case.metadata["retrieved_ids"]) == 4
    assert [finding.passed for finding in verdicts[0].judgment.findings] == [False, True, False, True]
    metric = JuryRetrievalMetric(passages, name="passages")
    evaluated = RetrieverEvaluator(metrics=[metric], retriever=Scans()).evaluate("When?", ["p2"])
    assert verdicts[0].judgment.score == evaluated.metric_dict["passages"].score == 0.5


def test_a_picture_among_the_passages_leaves_their_measure_unknown():
    class Pictures(BaseRetriever):
        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            picture = ImageNode(image="R0lGODlhAwACAAAAADs=", id_="chart")
            return [NodeWithScore(node=node) for node in (picture, TextNode(text="The ferry ran.", id_="text"))]

    verdicts = Verdicts()
    with judge_runs(EachPassage(lambda case: True), select="retriever", on_verdict=verdicts):
        Pictures().retrieve("When?")
    assert verdicts.case.metadata["retrieved_ids"] == ("chart", "text")
    assert verdicts[0].judgment.status == Status.ABSTAIN
    assert "1 of 2 passages could not be judged" in verdicts[0].judgment.reasoning
    assert "has no text, and may be one of the images" in verdicts[0].judgment.reasoning


def test_an_engine_without_a_retriever_is_skipped():
    verdicts = Verdicts()
    with judge_runs(has_contexts, select="retriever", on_verdict=verdicts) as watch:
        a_chat(INDEX, "simple").chat("Hello")
        engine(Fixed("d1")).query("When?")
        a_chat(INDEX, "simple").chat("Hello")
    assert len(verdicts) == 1
    assert (watch.counts.judged, watch.counts.skipped) == (1, 2)


def test_in_a_selected_engine_it_is_part_of_the_query():
    verdicts = Verdicts()
    with judge_runs(says_paris(), select=["query", "retriever"], on_verdict=verdicts) as watch:
        engine(Fixed("d1")).query("When?")
        Fixed("d2").retrieve("Where?")
    assert [judged.run.kind for judged in verdicts] == ["query", "retriever"]
    assert (watch.counts.judged, watch.counts.skipped) == (2, 0)


@pytest.mark.parametrize("passages_first", [False, True])
@pytest.mark.parametrize("answers", [None, ["query", "retriever"]])
def test_one_jury_judges_the_passages_and_another_the_answer(passages_first: bool, answers: Any):
    passages, whole = Verdicts(), Verdicts()
    watches = [
        judge_runs(has_contexts, select="retriever", on_verdict=passages),
        judge_runs(says_paris(), select=answers, on_verdict=whole),
    ]
    outer, inner = watches if passages_first else watches[::-1]
    with outer, inner:
        assert str(INDEX.as_query_engine(llm=Model()).query("Which capital?")) == ANSWER
        assert str(asyncio.run(INDEX.as_query_engine(llm=Model()).aquery("Which capital?"))) == ANSWER
    assert [judged.run.kind for judged in passages] == ["retriever"] * 2
    assert [judged.run.kind for judged in whole] == ["query"] * 2
    for judged in whole:
        assert judged.case is not None
        assert (judged.case.answer, judged.case.contexts) == (ANSWER, (PASSAGE,))
        assert judged.case.generator == "test-model"


@pytest.mark.slow
def test_the_models_of_a_retriever_are_still_heard_in_the_query_around_it():
    passages, whole = Verdicts(), Verdicts()
    fusion = QueryFusionRetriever([Fixed("a"), Fixed("b")], llm=Model(name="rewriter"), use_async=False, num_queries=2)
    with (
        judge_runs(has_contexts, select="retriever", on_verdict=passages),
        judge_runs(says_paris(), select="query", on_verdict=whole),
    ):
        engine(fusion).query("When?")
    assert passages[0].run.name == "QueryFusionRetriever.retrieve"
    assert len(passages) == 1  # the retrievers inside it are part of it
    assert whole.case.generator is None  # two models took part


def test_retrievers_behind_a_router_and_in_a_chat():
    verdicts = Verdicts()
    tool = QueryEngineTool.from_defaults(engine(Fixed("d1")), name="a", description="a")
    with judge_runs(has_contexts, select="retriever", on_verdict=verdicts) as watch:
        RouterQueryEngine(selector=First(), query_engine_tools=[tool], llm=Model()).query("Which capital?")
        "".join(a_chat(INDEX, "context").stream_chat("Which capital?").response_gen)
    assert [judged.question for judged in verdicts] == ["Which capital?"] * 2
    assert watch.counts.skipped == 0


def test_several_retrievers_of_one_query_are_runs_of_their_own():
    class Two(RetrieverQueryEngine):
        """Asks its retriever twice."""

        def retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            return [*super().retrieve(query_bundle), *super().retrieve(query_bundle)]

    verdicts = Verdicts()
    with judge_runs(has_contexts, select="retriever", on_verdict=verdicts) as watch:
        Two(Fixed("d1"), get_response_synthesizer(llm=Model())).query("When?")
    assert len(verdicts) == 2
    assert (watch.counts.judged, watch.counts.skipped) == (2, 0)


@CALLED
@pytest.mark.parametrize("inside", [False, True])
def test_one_that_fails_is_fail_and_the_application_gets_its_error(inside: bool, called: Any):
    retriever, verdicts = Fixed(error=ConnectionError("index down")), Verdicts()
    with judge_runs(has_contexts, select="retriever", on_verdict=verdicts), pytest.raises(ConnectionError):
        called(engine(retriever) if inside else retriever, "When?")
    (judged,) = verdicts
    assert (judged.run.kind, judged.run.error) == ("retriever", "ConnectionError: index down")
    assert (judged.judgment.status, judged.question) == (Status.FAIL, "When?")


def test_one_that_finds_nothing_has_no_ids():
    verdicts = Verdicts()
    with judge_runs(has_contexts, select="retriever", on_verdict=verdicts):
        Fixed().retrieve("When?")
    assert (verdicts.case.contexts, verdicts.case.metadata["retrieved_ids"]) == ((), ())


def test_a_field_map_has_the_nodes_and_may_name_the_relevant_ones():
    def case_of(row: Any) -> Case:
        pages = [found.node.text for found in row["outputs"]]
        return Case(question=row["inputs"]["query"], retrieved_ids=pages, relevant_ids=["page d1"])

    verdicts = Verdicts()
    rank = RetrievalMeasure("reciprocal_rank")
    with judge_runs(rank, select="retriever", field_map=case_of, on_verdict=verdicts):
        Fixed("d7", "d1").retrieve("When?")
    assert verdicts[0].judgment.score == 0.5


def test_a_judge_that_retrieves_is_not_judged():
    def looks_up(case: Case) -> bool:
        return bool(engine(Fixed("d1")).query("?")) and bool(Fixed("d1").retrieve("?"))

    verdicts = Verdicts()
    with judge_runs(looks_up, select="retriever", on_verdict=verdicts) as watch:
        engine(Fixed("d1")).query("When?")
    assert [judged.question for judged in verdicts] == ["When?"]
    assert (watch.counts.judged, watch.counts.skipped) == (1, 0)


def test_a_filter_that_raises_for_the_retriever_only(caplog: pytest.LogCaptureFixture):
    def filter_(run: object, method: str) -> bool:
        if method == "retrieve":
            raise LookupError("no such thing")
        return False

    with judge_runs(has_contexts, select=filter_) as watch:
        engine(Fixed("d1")).query("When?")
        Fixed("d1").retrieve("When?")
    assert (watch.counts.judged, watch.counts.skipped, watch.counts.broken) == (0, 0, 2)
    assert "the run itself goes on" in caplog.text
