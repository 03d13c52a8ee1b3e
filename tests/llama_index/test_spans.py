"""Runs of query and chat engines, judged as they happen."""

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from llama_index.core import Settings
from llama_index.core.evaluation import FaithfulnessEvaluator, RelevancyEvaluator
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.dispatcher import instrument_tags
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.query_engine import (
    CustomQueryEngine,
    RetryQueryEngine,
    RouterQueryEngine,
    SubQuestionQueryEngine,
)
from llama_index.core.question_gen.types import BaseQuestionGenerator, SubQuestion
from llama_index.core.schema import QueryBundle
from llama_index.core.tools import QueryEngineTool
from support.llama_apps import ANSWER, PASSAGE, First, Model, Verdicts, a_chat, an_index, says_paris

from jury_adapters import Ensemble, Judge, Status
from jury_adapters.core.case_parts import Message
from jury_adapters.core.context import judging, run_context
from jury_adapters.llama_index import judge_runs

INDEX = an_index()


class Broken(CustomQueryEngine):
    """An engine that raises whatever it was given."""

    error: BaseException

    def custom_query(self, query_str: str) -> str:
        raise self.error


def test_a_query_is_judged_with_what_its_writer_saw():
    verdicts = Verdicts()
    with judge_runs(says_paris(), on_verdict=verdicts) as watch, instrument_tags({"request": "42", "beta": True}):
        response = INDEX.as_query_engine(llm=Model()).query("Which capital?")
    assert str(response) == ANSWER
    case, run = verdicts.case, verdicts[0].run
    assert (case.question, case.answer, case.contexts) == ("Which capital?", ANSWER, (PASSAGE,))
    assert case.generator == "test-model"
    assert verdicts[0].judgment.status is Status.PASS
    assert run.id.startswith("RetrieverQueryEngine.query-")
    assert (run.kind, run.name, run.error) == ("query", "RetrieverQueryEngine.query", None)
    assert dict(run.tags) == {"request": "42", "beta": True}
    assert run.elapsed_s is not None
    assert 0 < run.elapsed_s < 60
    assert watch.counts.judged == 1
    assert watch not in get_dispatcher().span_handlers


@pytest.mark.slow
def test_asynchronous_queries_side_by_side_are_judged_once_each():
    verdicts = Verdicts()
    engine = INDEX.as_query_engine(llm=Model(delay=0.01))

    async def main() -> None:
        async with judge_runs(says_paris(), on_verdict=verdicts):
            await asyncio.gather(*(engine.aquery(QueryBundle(f"question {n}")) for n in range(20)))

    asyncio.run(main())
    assert sorted(judged.case.question for judged in verdicts) == sorted(f"question {n}" for n in range(20))
    assert len({judged.run.id for judged in verdicts}) == 20


@pytest.mark.slow
def test_queries_in_threads_are_judged_once_each():
    verdicts = Verdicts()
    engine = INDEX.as_query_engine(llm=Model())
    with judge_runs(says_paris(), on_verdict=verdicts), ThreadPoolExecutor(8) as pool:
        list(pool.map(engine.query, [f"question {n}" for n in range(40)]))
    assert len({judged.run.id for judged in verdicts}) == len(verdicts) == 40


def test_the_user_never_waits_for_the_judge():
    release, verdicts = threading.Event(), Verdicts()

    def slow(case: object) -> bool:
        return release.wait(20)

    judge = Judge.from_function(slow, timeout=30)
    engine = INDEX.as_query_engine(llm=Model())
    with judge_runs(judge, on_verdict=verdicts) as watch:
        engine.query("at once?")
        assert watch.pending == 1
        assert not verdicts
        assert not watch.flush(0.05)
        release.set()
        assert watch.flush(20)
    assert len(verdicts) == 1


@pytest.mark.parametrize("mode", ["context", "condense_question", "condense_plus_context", "simple"])
def test_chat_engines_are_judged_once_per_turn(mode: str):
    verdicts = Verdicts()
    engine = a_chat(INDEX, mode)

    async def achats() -> None:
        await engine.achat("third")
        streamed = await engine.astream_chat("fourth")
        assert "".join([token async for token in streamed.async_response_gen()]) == ANSWER

    with judge_runs(says_paris(), on_verdict=verdicts) as watch:
        engine.chat("first")
        assert "".join(engine.stream_chat("second").response_gen) == ANSWER
        asyncio.run(achats())
    assert {judged.case.question for judged in verdicts} == {"first", "second", "third", "fourth"}
    assert {judged.case.answer for judged in verdicts} == {ANSWER}
    assert {judged.run.kind for judged in verdicts} == {"chat"}
    assert {judged.case.contexts for judged in verdicts} == {() if mode == "simple" else (PASSAGE,)}
    assert watch.counts.judged == 4


MODES = ["context", "condense_plus_context", "condense_question", "simple"]


async def _read(engine: Any, question: str) -> None:
    response = await engine.astream_chat(question)
    async for _ in response.async_response_gen():
        pass


CHATS: dict[str, Callable[[Any, str], object]] = {
    "chat": lambda engine, question: engine.chat(question),
    "stream_chat": lambda engine, question: "".join(engine.stream_chat(question).response_gen),
    "achat": lambda engine, question: asyncio.run(engine.achat(question)),
    "astream_chat": lambda engine, question: asyncio.run(_read(engine, question)),
}


@pytest.mark.parametrize("is_chat_model", [True, False])
@pytest.mark.parametrize("method", CHATS)
@pytest.mark.parametrize("mode", MODES)
def test_a_later_turn_comes_with_the_conversation_before_it(mode: str, method: str, is_chat_model: bool):
    verdicts = Verdicts()
    engine = a_chat(INDEX, mode, Model(is_chat_model=is_chat_model))
    engine.chat("Which capital?\nOf France.")
    with judge_runs(says_paris(), on_verdict=verdicts):
        CHATS[method](engine, "And its river?")
    said = (Message(role="user", content="Which capital?\nOf France."), Message(role="assistant", content=ANSWER))
    assert verdicts.case.messages == said
    assert verdicts.case.question == "And its river?"


@pytest.mark.parametrize("is_chat_model", [True, False])
@pytest.mark.parametrize("mode", MODES)
def test_the_first_turn_has_no_conversation_before_it(mode: str, is_chat_model: bool):
    verdicts = Verdicts()
    with judge_runs(says_paris(), on_verdict=verdicts):
        a_chat(INDEX, mode, Model(is_chat_model=is_chat_model)).chat("Which capital?")
    assert verdicts.case.messages == ()


@pytest.mark.parametrize("mode", ["context", "condense_plus_context"])
def test_a_memory_that_is_filled_beforehand_comes_with_the_first_turn(mode: str):
    verdicts = Verdicts()
    history = [ChatMessage(role="user", content="Use {braces}."), ChatMessage(role="assistant", content="Yes.")]
    llm = Model(is_chat_model=False)
    engine = INDEX.as_chat_engine(chat_mode=mode, llm=llm, memory=ChatMemoryBuffer.from_defaults(history, llm=llm))
    with judge_runs(says_paris(), on_verdict=verdicts):
        engine.chat("Which capital?")
    assert [message.content for message in verdicts.case.messages] == ["Use {braces}.", "Yes."]


def test_a_conversation_that_is_given_is_taken_as_it_is():
    verdicts = Verdicts()
    history = [ChatMessage(role="user", content="Hello"), ChatMessage(role="assistant", content="Hi.")]
    with judge_runs(says_paris(), on_verdict=verdicts):
        a_chat(INDEX, "simple").chat("Which capital?", chat_history=history)
    assert [message.content for message in verdicts.case.messages] == ["Hello", "Hi."]


@pytest.mark.parametrize("named", ["retriever", "VectorIndexRetriever"])
def test_a_retriever_is_a_run_where_it_is_named(named: str):
    verdicts = Verdicts()
    with judge_runs(lambda case: "Paris" in case.contexts[0], select=named, on_verdict=verdicts) as watch:
        INDEX.as_retriever().retrieve("Which capital?")
        asyncio.run(INDEX.as_retriever().aretrieve("Which capital?"))
    assert [judged.judgment.status for judged in verdicts] == [Status.PASS] * 2
    assert {judged.run.kind for judged in verdicts} == {"retriever"}
    for judged in verdicts:
        assert judged.case is not None
        assert (judged.case.question, judged.case.answer, judged.case.contexts) == ("Which capital?", None, (PASSAGE,))
    assert watch.counts.judged == 2


def test_a_retriever_inside_a_watched_query_is_part_of_it():
    verdicts = Verdicts()
    with judge_runs(says_paris(), select=["query", "retriever"], on_verdict=verdicts):
        INDEX.as_query_engine(llm=Model()).query("Which capital?")
    assert verdicts[0].run.kind == "query"
    assert len(verdicts) == 1


def test_a_retriever_that_is_not_named_is_no_run():
    verdicts = Verdicts()
    with judge_runs(says_paris(), on_verdict=verdicts) as watch:
        INDEX.as_retriever().retrieve("Which capital?")
    assert (verdicts, watch.counts.judged, watch.counts.skipped) == ([], 0, 0)


def test_engines_behind_a_router_are_part_of_its_run():
    verdicts = Verdicts()
    inner = QueryEngineTool.from_defaults(INDEX.as_query_engine(llm=Model()), name="a", description="a")
    router = RouterQueryEngine(selector=First(), query_engine_tools=[inner], llm=Model())
    with judge_runs(says_paris(), on_verdict=verdicts):
        router.query("Which capital?")
        asyncio.run(router.aquery("Which capital?"))
    assert {judged.run.name for judged in verdicts} == {"RouterQueryEngine.query", "RouterQueryEngine.aquery"}
    assert verdicts[0].case.contexts == (PASSAGE,)


class TwoQuestions(BaseQuestionGenerator):
    def _get_prompts(self) -> dict:
        return {}

    def _update_prompts(self, prompts: object) -> None:
        raise AssertionError("nobody changes the prompts here")

    def generate(self, tools: object, query: object) -> list[SubQuestion]:
        return [SubQuestion(sub_question=f"part {n}", tool_name="kb") for n in range(2)]

    async def agenerate(self, tools: object, query: object) -> list[SubQuestion]:
        return self.generate(tools, query)


@pytest.mark.parametrize("use_async", [False, True])
def test_sub_questions_are_part_of_the_run(use_async: bool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Settings, "_llm", Model())
    verdicts = Verdicts()
    tool = QueryEngineTool.from_defaults(INDEX.as_query_engine(llm=Model()), name="kb", description="kb")
    engine = SubQuestionQueryEngine.from_defaults(
        [tool], llm=Model(), question_gen=TwoQuestions(), use_async=use_async, verbose=False
    )
    with judge_runs(says_paris(), on_verdict=verdicts):
        engine.query("Which capital, and which river?")
        asyncio.run(engine.aquery("Which capital, and which river?"))
    assert [judged.run.name.partition(".")[0] for judged in verdicts] == ["SubQuestionQueryEngine"] * 2


def test_retries_are_one_run(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Settings, "_llm", Model())
    verdicts = Verdicts()
    engine = RetryQueryEngine(INDEX.as_query_engine(llm=Model()), RelevancyEvaluator(llm=Model(answer="NO")), 2)
    with judge_runs(says_paris(), on_verdict=verdicts):
        engine.query("Which capital?")
    assert [judged.run.name for judged in verdicts] == ["RetryQueryEngine.query"]


def test_a_judge_that_queries_is_not_judged_itself():
    verdicts, seen = Verdicts(), []
    library = INDEX.as_query_engine(llm=Model(answer="YES"))

    async def with_llama_index(case: object) -> bool:
        seen.append(run_context().judging)
        await library.aquery("another query")
        library.query("and one more")
        result = await FaithfulnessEvaluator(llm=Model(answer="YES")).aevaluate(query="q", response="r", contexts=["c"])
        return bool(result.passing)

    def asking_sink(judged: object) -> None:
        library.query("from a sink")

    with judge_runs(Judge.from_function(with_llama_index), on_verdict=[verdicts, asking_sink]) as watch:
        INDEX.as_query_engine(llm=Model()).query("Which capital?")
        assert watch.flush(20)
        time.sleep(0.05)
    assert len(verdicts) == 1
    assert verdicts[0].judgment.status is Status.PASS
    assert seen == [True]


def test_evaluators_of_the_user_can_be_left_alone():
    verdicts = Verdicts()
    with judge_runs(says_paris(), on_verdict=verdicts):
        with judging():
            FaithfulnessEvaluator(llm=Model(answer="YES")).evaluate(query="q", response="r", contexts=["c"])
        INDEX.as_query_engine(llm=Model()).query("Which capital?")
    assert len(verdicts) == 1


def test_an_error_of_the_run_is_fail_without_asking_the_judge():
    verdicts, asked = Verdicts(), []
    judge = Ensemble([Judge.from_function(lambda case: bool(asked.append(case)), name="a")])
    with judge_runs(judge, on_verdict=verdicts):
        with pytest.raises(ConnectionError, match="the model is gone"):
            INDEX.as_query_engine(llm=Model(error="the model is gone")).query("Which capital?")
        with pytest.raises(ConnectionError, match="the model is gone"):
            a_chat(INDEX, "simple", Model(error="the model is gone")).chat("Which capital?")
    assert [judged.run.error for judged in verdicts] == ["ConnectionError: the model is gone"] * 2
    assert [judged.judgment.status for judged in verdicts] == [Status.FAIL] * 2
    assert [judged.case.question for judged in verdicts] == ["Which capital?"] * 2
    assert not asked


def test_a_cancelled_run_is_counted_and_not_judged():
    verdicts = Verdicts()

    async def main() -> None:
        query = asyncio.ensure_future(INDEX.as_query_engine(llm=Model(delay=30)).aquery("Which capital?"))
        await asyncio.sleep(0.05)
        query.cancel()
        with pytest.raises(asyncio.CancelledError):
            await query

    with judge_runs(says_paris(), on_verdict=verdicts) as watch:
        asyncio.run(main())
        with pytest.raises(KeyboardInterrupt):
            Broken(error=KeyboardInterrupt()).query("Which capital?")
    assert not verdicts
    assert watch.counts.cancelled == 2
