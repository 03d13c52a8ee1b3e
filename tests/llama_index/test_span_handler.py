"""The span handler itself: what it is told to judge, where it is attached, and what it leaves behind."""

import asyncio
import logging
import threading
import weakref

import pytest
from llama_index.core.base.response.schema import PydanticResponse, Response
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.dispatcher import instrument_tags
from llama_index.core.query_engine import CustomQueryEngine
from llama_index_instrumentation.event_handlers import BaseEventHandler
from pydantic import BaseModel, PrivateAttr
from support.garbage import collect_garbage
from support.llama_apps import ANSWER, PASSAGE, Model, Verdicts, a_chat, an_index, says_paris

from jury_adapters import ConfigurationError, Judge, Status
from jury_adapters.core.context import judging
from jury_adapters.llama_index import JurySpanHandler, judge_runs
from jury_adapters.llama_index.run_tracking import inside

INDEX = an_index()


class Broken(CustomQueryEngine):
    """An engine that raises whatever it was given."""

    error: BaseException

    def custom_query(self, query_str: str) -> str:
        raise self.error


@pytest.mark.slow
def test_only_the_engines_asked_for_are_judged():
    query, chat = INDEX.as_query_engine(llm=Model()), a_chat(INDEX, "condense_question")
    for engines, expected in (
        ("RetrieverQueryEngine", ["RetrieverQueryEngine.query"]),
        ("BaseChatEngine", ["CondenseQuestionChatEngine.chat"]),
        ([type(query), type(chat)], ["RetrieverQueryEngine.query", "CondenseQuestionChatEngine.chat"]),
        (type(chat), ["CondenseQuestionChatEngine.chat"]),
        (lambda engine, method: method == "chat", ["CondenseQuestionChatEngine.chat"]),
        ("SubQuestionQueryEngine", []),
    ):
        verdicts = Verdicts()
        with judge_runs(says_paris(), select=engines, on_verdict=verdicts):
            query.query("Which capital?")
            chat.chat("Which capital?")  # the query inside a chat that is not asked for is no run of its own
        assert [judged.run.name for judged in verdicts] == expected


def test_a_filter_that_raises_is_counted_and_the_run_goes_on(caplog: pytest.LogCaptureFixture):
    def filter_(engine: object, method: str) -> bool:
        raise LookupError("no such thing")

    with judge_runs(says_paris(), select=filter_) as watch:
        assert str(INDEX.as_query_engine(llm=Model()).query("Which capital?")) == ANSWER
    assert (watch.counts.broken, watch.counts.judged) == (1, 0)
    assert "the run itself goes on" in caplog.text


async def later(engine: object, method: str) -> bool:
    return False


@pytest.mark.parametrize(
    "options",
    [
        {"select": [3]},
        {"select": lambda run: run.kind == "query"},
        {"select": later},
        {"sample": 2},
        {"max_pending": 0},
        {"on_verdict": "print"},
    ],
)
def test_wrong_options_are_refused_at_once(options: dict):
    before = len(get_dispatcher().span_handlers)
    with pytest.raises(ConfigurationError):
        judge_runs(says_paris(), **options)
    assert len(get_dispatcher().span_handlers) == before


def test_a_function_of_the_run_is_refused_with_one_of_the_engine():
    with pytest.raises(ConfigurationError, match=r"the engine and the name of the method.*lambda engine, method"):
        judge_runs(says_paris(), select=lambda run: run.kind == "query")


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
    assert {judged.case.question for judged in first} == {"one", "two"}
    assert {judged.case.question for judged in second} == {"one", "two", "three"}


def test_a_removed_handler_sees_nothing_and_its_verdicts_still_come():
    verdicts = Verdicts()
    watch = JurySpanHandler(says_paris(), on_verdict=verdicts).attach()
    engine = INDEX.as_query_engine(llm=Model())
    engine.query("one")
    watch.remove()
    watch.remove()
    engine.query("two")
    assert watch.flush(10)
    assert [judged.case.question for judged in verdicts] == ["one"]
    assert watch.close()


def test_a_handler_is_attached_once_and_not_again_after_it_was_removed():
    verdicts = Verdicts()
    watch = JurySpanHandler(says_paris(), on_verdict=verdicts)
    before = len(get_dispatcher().span_handlers)
    assert watch.attach() is watch.attach()
    assert len(get_dispatcher().span_handlers) == before + 1
    INDEX.as_query_engine(llm=Model()).query("one")
    assert watch.close(10)
    assert (len(verdicts), len(get_dispatcher().span_handlers)) == (1, before)
    with pytest.raises(ConfigurationError, match="create another one"):
        watch.attach()


def test_nothing_is_judged_outside_the_block():
    verdicts = Verdicts()
    block = judge_runs(says_paris(), on_verdict=verdicts)
    engine = INDEX.as_query_engine(llm=Model())
    engine.query("before")
    with block:
        engine.query("inside")
    engine.query("after")
    assert [judged.case.question for judged in verdicts] == ["inside"]


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
    with judge_runs(says_paris(), on_verdict=verdicts, max_concurrency=1):
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


def test_runs_that_never_end_are_bounded():
    async def main() -> None:
        engine = INDEX.as_query_engine(llm=Model(delay=60))
        queries = [asyncio.ensure_future(engine.aquery("Which capital?")) for _ in range(10)]
        await asyncio.sleep(0.2)
        assert len(watch._open) == 3
        assert (watch.counts.open, watch.counts.evicted) == (3, 7)
        watch.remove()
        assert not watch._open
        for query in queries:
            query.cancel()
        await asyncio.gather(*queries, return_exceptions=True)

    with judge_runs(says_paris(), max_open=3) as watch:
        asyncio.run(main())
    assert (watch.counts.evicted, watch.counts.dropped) == (7, 3)


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
    assert {judged.case.question for judged in verdicts} == {"start", "later"}


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
    collect_garbage()
    assert gone() is None


@pytest.mark.parametrize("start", [JurySpanHandler, judge_runs])
def test_a_misspelt_option_is_refused_with_the_one_that_was_meant(start):
    before = len(get_dispatcher().span_handlers)
    for wrong, meant in (("smple", "sample"), ("selct", "select")):
        with pytest.raises(ConfigurationError, match=f"unknown option '{wrong}'. Did you mean '{meant}'"):
            start(says_paris(), **{wrong: 3})
    assert len(get_dispatcher().span_handlers) == before


@pytest.mark.parametrize("waits", [False, True])
def test_the_end_of_a_block_waits_as_long_as_it_was_told(waits):
    go = threading.Event()
    judge = Judge.from_function(lambda case: go.wait(2), timeout=30)
    engine = INDEX.as_query_engine(llm=Model())

    async def block():
        async with judge_runs(judge, exit_timeout=0.05) as watch:
            await engine.aquery("Which capital?")
        return watch

    if waits:
        watch = asyncio.run(block())
    else:
        with judge_runs(judge, exit_timeout=0.05) as watch:
            engine.query("Which capital?")
    assert watch.pending == 1
    go.set()
    assert watch.flush(10)
    assert watch.counts.judged == 1


def test_a_call_without_a_block_says_in_the_log_that_it_judges_nothing(caplog):
    judge_runs(says_paris())
    with judge_runs(says_paris()):
        pass
    with pytest.raises(ConfigurationError):
        judge_runs(says_paris(), sample=7)
    collect_garbage()
    assert [record.message for record in caplog.records if "without a block" in record.message] == [
        "judge_runs() was called without a block, so it judges nothing; write `with judge_runs(jury):`, or "
        "JurySpanHandler(jury).attach() to judge until the end of the process"
    ]
