"""Runs of query and chat engines, judged as they happen."""

import asyncio
import gc
import logging
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest
from llama_index.core import Settings
from llama_index.core.base.response.schema import PydanticResponse, Response
from llama_index.core.evaluation import FaithfulnessEvaluator, RelevancyEvaluator
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.dispatcher import instrument_tags
from llama_index.core.llms import ChatMessage
from llama_index.core.query_engine import (
    CustomQueryEngine,
    RetryQueryEngine,
    RouterQueryEngine,
    SubQuestionQueryEngine,
)
from llama_index.core.question_gen.types import BaseQuestionGenerator, SubQuestion
from llama_index.core.schema import QueryBundle
from llama_index.core.tools import QueryEngineTool
from llama_index_instrumentation.event_handlers import BaseEventHandler
from pydantic import BaseModel, PrivateAttr
from support.llama_apps import ANSWER, PASSAGE, First, Model, Verdicts, a_chat, an_index, own_loop, says_paris  # noqa: F401

from jury_adapters import ConfigurationError, Ensemble, Judge, Status
from jury_adapters.core.case import Message
from jury_adapters.core.scope import JUDGING, judging
from jury_adapters.llama_index import JurySpanHandler, judge_runs
from jury_adapters.llama_index.roots import inside

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


def test_asynchronous_queries_side_by_side_are_judged_once_each():
    verdicts = Verdicts()
    engine = INDEX.as_query_engine(llm=Model(delay=0.01))

    async def main() -> None:
        async with judge_runs(says_paris(), on_verdict=verdicts):
            await asyncio.gather(*(engine.aquery(QueryBundle(f"question {n}")) for n in range(20)))

    asyncio.run(main())
    assert sorted(judged.case.question for judged in verdicts) == sorted(f"question {n}" for n in range(20))
    assert len({judged.run.id for judged in verdicts}) == 20


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
    assert [judged.case.question for judged in verdicts] == ["first", "second", "third", "fourth"]
    assert {judged.case.answer for judged in verdicts} == {ANSWER}
    assert {judged.run.kind for judged in verdicts} == {"chat"}
    assert {judged.case.contexts for judged in verdicts} == {() if mode == "simple" else (PASSAGE,)}
    assert watch.counts.judged == 4


@pytest.mark.parametrize("mode", ["context", "condense_plus_context", "simple"])
def test_a_later_turn_comes_with_the_conversation_before_it(mode: str):
    verdicts = Verdicts()
    engine = a_chat(INDEX, mode)
    engine.chat("Which capital?")
    with judge_runs(says_paris(), on_verdict=verdicts):
        engine.chat("And its river?")
    said = (Message(role="user", content="Which capital?"), Message(role="assistant", content=ANSWER))
    assert verdicts.case.messages == said


def test_a_conversation_that_is_given_is_taken_as_it_is():
    verdicts = Verdicts()
    history = [ChatMessage(role="user", content="Hello"), ChatMessage(role="assistant", content="Hi.")]
    with judge_runs(says_paris(), on_verdict=verdicts):
        a_chat(INDEX, "simple").chat("Which capital?", chat_history=history)
    assert [message.content for message in verdicts.case.messages] == ["Hello", "Hi."]


def test_engines_behind_a_router_are_part_of_its_run():
    verdicts = Verdicts()
    inner = QueryEngineTool.from_defaults(INDEX.as_query_engine(llm=Model()), name="a", description="a")
    router = RouterQueryEngine(selector=First(), query_engine_tools=[inner], llm=Model())
    with judge_runs(says_paris(), on_verdict=verdicts):
        router.query("Which capital?")
        asyncio.run(router.aquery("Which capital?"))
    assert [judged.run.name for judged in verdicts] == ["RouterQueryEngine.query", "RouterQueryEngine.aquery"]
    assert verdicts[0].case.contexts == (PASSAGE,)


class TwoQuestions(BaseQuestionGenerator):
    def _get_prompts(self) -> dict:
        return {}

    def _update_prompts(self, prompts: object) -> None:
        raise NotImplementedError

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
        seen.append(JUDGING.get())
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


def test_only_the_engines_asked_for_are_judged():
    query, chat = INDEX.as_query_engine(llm=Model()), a_chat(INDEX, "condense_question")
    for engines, expected in (
        ("RetrieverQueryEngine", ["RetrieverQueryEngine.query"]),
        ("BaseChatEngine", ["CondenseQuestionChatEngine.chat"]),
        ([type(query), type(chat)], ["RetrieverQueryEngine.query", "CondenseQuestionChatEngine.chat"]),
        (type(chat), ["CondenseQuestionChatEngine.chat"]),
        (lambda engine, method: method == "chat", ["CondenseQuestionChatEngine.chat"]),
        ("NoSuchEngine", []),
    ):
        verdicts = Verdicts()
        with judge_runs(says_paris(), engines=engines, on_verdict=verdicts):
            query.query("Which capital?")
            chat.chat("Which capital?")  # the query inside a chat that is not asked for is no run of its own
        assert [judged.run.name for judged in verdicts] == expected


def test_a_filter_that_raises_is_counted_and_the_run_goes_on(caplog: pytest.LogCaptureFixture):
    def filter_(engine: object, method: str) -> bool:
        raise LookupError("no such thing")

    with judge_runs(says_paris(), engines=filter_) as watch:
        assert str(INDEX.as_query_engine(llm=Model()).query("Which capital?")) == ANSWER
    assert (watch.counts.broken, watch.counts.judged) == (1, 0)
    assert "the run itself goes on" in caplog.text


@pytest.mark.parametrize("options", [{"engines": [3]}, {"sample": 2}, {"max_pending": 0}, {"on_verdict": "print"}])
def test_wrong_options_are_refused_at_once(options: dict):
    before = len(get_dispatcher().span_handlers)
    with pytest.raises(ConfigurationError):
        judge_runs(says_paris(), **options)
    assert len(get_dispatcher().span_handlers) == before


def test_one_handler_attached_in_several_places_judges_once():
    verdicts = Verdicts()
    with judge_runs(says_paris(), on_verdict=verdicts) as watch:
        get_dispatcher().add_span_handler(watch)
        get_dispatcher("llama_index.core.base.base_query_engine").add_span_handler(watch)
        INDEX.as_query_engine(llm=Model()).query("Which capital?")
    assert len(verdicts) == 1
    assert all(
        watch not in get_dispatcher(name).span_handlers for name in ("root", "llama_index.core.base.base_query_engine")
    )


def test_the_same_jury_attached_again_takes_over_while_it_is_there():
    first, second, jury = Verdicts(), Verdicts(), says_paris()
    engine = INDEX.as_query_engine(llm=Model())
    with judge_runs(jury, on_verdict=first):
        with judge_runs(jury, on_verdict=second):
            engine.query("inner")
        engine.query("outer")
    assert [judged.case.question for judged in second] == ["inner"]
    assert [judged.case.question for judged in first] == ["outer"]


def test_two_juries_each_judge_every_root_run():
    first, second = Verdicts(), Verdicts()
    chat = a_chat(INDEX, "condense_question")
    with judge_runs(says_paris(), on_verdict=first) as outer, judge_runs(says_paris(), on_verdict=second):
        chat.chat("one")
        "".join(chat.stream_chat("two").response_gen)
        outer.remove()
        chat.chat("three")
    assert [judged.case.question for judged in first] == ["one", "two"]
    assert [judged.case.question for judged in second] == ["one", "two", "three"]


def test_a_removed_handler_sees_nothing_and_its_verdicts_still_come():
    verdicts = Verdicts()
    watch = judge_runs(says_paris(), on_verdict=verdicts)
    engine = INDEX.as_query_engine(llm=Model())
    engine.query("one")
    watch.remove()
    watch.remove()
    engine.query("two")
    assert watch.flush(10)
    assert [judged.case.question for judged in verdicts] == ["one"]
    assert watch.close()


def test_verdicts_can_be_seen_by_other_handlers():
    class Listener(BaseEventHandler):
        _events: list = PrivateAttr(default_factory=list)

        def handle(self, event: object, **kwargs: object) -> None:
            self._events.append(event)

    listener = Listener()
    get_dispatcher().add_event_handler(listener)
    try:
        with judge_runs(says_paris(), events=True), instrument_tags({"request": "42"}):
            INDEX.as_query_engine(llm=Model()).query("Which capital?")
    finally:
        get_dispatcher().event_handlers.remove(listener)
    (event,) = [one for one in listener._events if one.class_name() == "JuryVerdictEvent"]
    assert event.judgment.status is Status.PASS
    assert event.span_id.startswith("RetrieverQueryEngine.query-")
    assert event.tags == {"request": "42"}


def test_a_response_that_the_user_changes_is_judged_as_it_was():
    release, verdicts = threading.Event(), Verdicts()
    judge = Judge.from_function(lambda case: release.wait(10), timeout=20)
    with judge_runs(judge, on_verdict=verdicts, max_concurrency=1):
        engine = INDEX.as_query_engine(llm=Model())
        engine.query("one")
        response = engine.query("two")
        response.response += " And so on."
        response.source_nodes.clear()
        release.set()
    assert verdicts[1].case.answer == ANSWER
    assert verdicts[1].case.contexts == (PASSAGE,)


def test_structured_and_custom_answers_are_read():
    class City(BaseModel):
        name: str
        source_nodes: str = "not nodes"

    class Structured(CustomQueryEngine):
        def custom_query(self, query_str: str) -> object:
            if query_str == "text":
                return "Paris, as text"
            if query_str == "strange":
                return Response(object())
            return PydanticResponse(City(name="Paris"))

    verdicts = Verdicts()
    with judge_runs(says_paris(), on_verdict=verdicts):
        for question in ("text", "structured", "strange"):
            Structured().query(question)
    assert [judged.case and judged.case.answer for judged in verdicts] == [
        "Paris, as text", '{"name":"Paris","source_nodes":"not nodes"}', None
    ]  # fmt: skip
    assert verdicts[2].judgment.status is Status.ERROR


def test_nothing_is_kept_of_runs_that_have_ended():
    with judge_runs(says_paris()) as watch:
        engine = INDEX.as_query_engine(llm=Model())
        for _ in range(20):
            engine.query("Which capital?")
        with pytest.raises(ValueError, match="gone"):
            Broken(error=ValueError("gone")).query("Which capital?")
        assert (watch.open_spans, watch.completed_spans, watch.dropped_spans, watch.current_span_ids) == (
            {},
            [],
            [],
            {},
        )
        assert not watch._open
        assert inside() is None


def test_runs_that_never_end_are_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("jury_adapters.llama_index.spans._MAX_OPEN", 3)

    async def main() -> None:
        engine = INDEX.as_query_engine(llm=Model(delay=60))
        queries = [asyncio.ensure_future(engine.aquery("Which capital?")) for _ in range(10)]
        await asyncio.sleep(0.2)
        assert len(watch._open) == 3
        assert watch.counts.abandoned == 7
        watch.remove()
        assert not watch._open
        for query in queries:
            query.cancel()
        await asyncio.gather(*queries, return_exceptions=True)

    with judge_runs(says_paris()) as watch:
        asyncio.run(main())
    assert watch.counts.abandoned == 10


def test_what_a_run_leaves_behind_is_not_inside_it_for_ever():
    """A worker that a run happened to start, and that outlives it, has runs of its own."""
    verdicts, jobs = Verdicts(), []
    inner = INDEX.as_query_engine(llm=Model())

    class Starter(CustomQueryEngine):
        def custom_query(self, query_str: str) -> str:
            jobs.append(asyncio.get_running_loop().create_task(self._later()))
            return "started"

        async def acustom_query(self, query_str: str) -> str:
            return self.custom_query(query_str)

        async def _later(self) -> None:
            await asyncio.sleep(0.05)
            await inner.aquery("later")

    async def main() -> None:
        await Starter().aquery("start")
        await asyncio.gather(*jobs)

    with judge_runs(says_paris(), on_verdict=verdicts):
        asyncio.run(main())
    assert [judged.case.question for judged in verdicts] == ["start", "later"]


def test_what_runs_elsewhere_for_a_run_or_a_judge_is_known_by_its_propagated_context():
    verdicts, dispatcher = Verdicts(), get_dispatcher()
    engine = INDEX.as_query_engine(llm=Model())

    def elsewhere(context: dict) -> None:
        dispatcher.restore_propagation_context(context)
        engine.query("elsewhere")

    class Remote(CustomQueryEngine):
        def custom_query(self, query_str: str) -> str:
            thread = threading.Thread(target=elsewhere, args=(dispatcher.capture_propagation_context(),))
            thread.start()
            thread.join()
            return "done"

    with judge_runs(says_paris(), on_verdict=verdicts):
        Remote().query("root")
        with judging():
            context = dispatcher.capture_propagation_context()
        thread = threading.Thread(target=elsewhere, args=(context,))
        thread.start()
        thread.join()
    assert [judged.case.question for judged in verdicts] == ["root"]


def test_a_hook_that_breaks_is_counted_logged_and_not_felt(caplog: pytest.LogCaptureFixture):
    class Odd(CustomQueryEngine):
        def query(self, str_or_query_bundle: object, chat_history: object = None) -> Response:
            return Response(ANSWER)

        def custom_query(self, query_str: str) -> str:
            return ANSWER

    with caplog.at_level(logging.ERROR), judge_runs(says_paris()) as watch:
        assert str(Odd().query("Which capital?", chat_history=5)) == ANSWER
        assert str(INDEX.as_query_engine(llm=Model()).query("Which capital?")) == ANSWER
        assert watch.flush(10)
    assert watch.counts.broken == 1
    assert watch.counts.judged == 1
    assert "the run itself goes on" in caplog.text


def test_the_handler_is_freed_with_its_last_reference():
    watch = JurySpanHandler(says_paris())
    get_dispatcher().add_span_handler(watch)
    INDEX.as_query_engine(llm=Model()).query("Which capital?")
    assert watch.close(10)
    gone = weakref.ref(watch)
    del watch
    gc.collect()
    assert gone() is None
