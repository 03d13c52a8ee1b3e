"""The handler on real chains, RAG chains, retrievers and models."""

from __future__ import annotations

import asyncio
import copy
import subprocess
import sys
import threading
import uuid
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.output_parsers import BaseOutputParser, StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnableParallel, RunnablePassthrough
from support.garbage import collect_garbage
from support.langchain_apps import PAGES, Scripted, Watched, a_jury, answers, call, chain, rag, retriever, weather

from jury_adapters import Case, ConfigurationError, Judge, Status
from jury_adapters.core.background.judge_queue import Run
from jury_adapters.langchain.callbacks import JuryCallbackHandler, judge_runs


def waits(run: Any, value: Any, config: Any) -> Any:
    return run.invoke(value, config)


def awaits(run: Any, value: Any, config: Any) -> Any:
    return asyncio.run(run.ainvoke(value, config))


def streams(run: Any, value: Any, config: Any) -> Any:
    return list(run.stream(value, config))


def streams_async(run: Any, value: Any, config: Any) -> Any:
    async def read() -> list[Any]:
        return [chunk async for chunk in run.astream(value, config)]

    return asyncio.run(read())


CALLED = pytest.mark.parametrize("called", [waits, awaits])
ANYHOW = pytest.mark.parametrize("called", [waits, awaits, streams, streams_async])


@CALLED
def test_a_chain(called: Any) -> None:
    watched = Watched()
    config = {**watched.config, "run_name": "sky", "tags": ["live"], "metadata": {"user": "u1"}}
    assert called(chain(), {"question": "Why is the sky blue?"}, config) == "Because of Rayleigh scattering."
    judged = watched.one()
    assert judged.judgment.status is Status.PASS
    assert (judged.run.kind, judged.run.name, judged.run.tags) == ("chain", "sky", {"live": True})
    assert judged.run.metadata["user"] == "u1"
    assert judged.run.elapsed_s is not None
    assert judged.case is not None
    assert (judged.case.question, judged.case.answer) == ("Why is the sky blue?", "Because of Rayleigh scattering.")
    assert judged.case.generator == "gpt-4o-mini"


@CALLED
def test_a_rag_chain_is_judged_with_what_was_retrieved(called: Any) -> None:
    watched = Watched()
    called(rag(), "Why is the sky blue?", watched.config)
    case = watched.case()
    assert (case.question, case.answer) == ("Why is the sky blue?", "Because of Rayleigh scattering.")
    assert sorted(case.contexts) == sorted(PAGES)


@CALLED
def test_a_retriever_alone(called: Any) -> None:
    watched = Watched()
    called(retriever(), "sky", watched.config)
    judged = watched.one()
    assert judged.run.kind == "retriever"
    assert judged.case is not None
    assert (judged.case.question, judged.case.answer, len(judged.case.contexts)) == ("sky", None, 2)


def test_a_model_alone_and_a_tool_alone() -> None:
    watched = Watched()
    Scripted(script=["Hello."]).invoke("Hi!", watched.config)
    weather.invoke({"city": "Oslo"}, watched.config)
    model, tool = watched.cases()
    assert (model.question, model.answer) == ("Hi!", "Hello.")
    assert (tool.trajectory[0].tool, tool.trajectory[0].output) == ("weather", "80F in Oslo")


def test_a_handler_that_only_the_model_has_sees_its_calls_as_roots() -> None:
    watched = Watched()
    model = Scripted(script=["Hello."], callbacks=[watched.handler])
    (ChatPromptTemplate.from_template("{q}") | model | StrOutputParser()).invoke({"q": "Hi!"})
    assert watched.one().run.kind == "chat"


def test_a_handler_that_only_an_inner_chain_has_judges_the_inner_chain() -> None:
    watched = Watched()
    inner = chain("inner").with_config({"callbacks": [watched.handler]})
    (inner | RunnableLambda(lambda text: text + " and outer")).invoke({"question": "q"})
    assert watched.case().answer == "inner"


def test_nested_chains_are_one_run() -> None:
    watched = Watched()
    inner = chain("inner")
    outer = RunnableLambda(lambda text: inner.invoke({"question": text}) + " and outer")
    outer.invoke("q", watched.config)
    assert watched.case().answer == "inner and outer"


def test_the_same_handler_twice_judges_once() -> None:
    watched = Watched()
    twice = rag().with_config({"callbacks": [watched.handler]})
    twice.invoke("q", {"callbacks": [watched.handler, watched.handler]})
    assert len(watched.case().contexts) == 2
    asyncio.run(twice.ainvoke("q", {"callbacks": [watched.handler, watched.handler]}))
    assert len(watched.all()) == 2


@pytest.mark.slow
@CALLED
def test_a_batch_of_100(called: Any) -> None:
    watched = Watched()
    questions = [{"question": f"q{number}"} for number in range(100)]
    if called is waits:
        chain().batch(questions, watched.config)
    else:
        asyncio.run(chain().abatch(questions, watched.config))
    cases = watched.cases()
    assert sorted(str(case.question) for case in cases) == sorted(f"q{number}" for number in range(100))


def test_parallel_branches_in_threads() -> None:
    watched = Watched()
    both = RunnableParallel(left=retriever(k=1), right=retriever(("Snow is white.",), k=1)) | (lambda found: "found")
    both.invoke("sky", watched.config)
    assert len(watched.case().contexts) == 2


@pytest.mark.slow
def test_many_at_once_are_not_mixed_up() -> None:
    class Echo(BaseRetriever):
        async def _aget_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
            await asyncio.sleep(0)
            return [Document(f"about {query}")]

        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
            return [Document(f"about {query}")]

    watched = Watched()
    echo = rag(found=Echo())

    async def many() -> None:
        await asyncio.gather(*(echo.ainvoke(f"q{number}", watched.config) for number in range(50)))

    asyncio.run(many())
    cases = watched.cases()
    assert len(cases) == 50
    assert all(case.contexts == (f"about {case.question}",) for case in cases)


class Unreadable(BaseOutputParser[str]):
    """A parser that breaks."""

    def parse(self, text: str) -> str:
        raise ValueError("cannot read this")


class NoIndex(BaseRetriever):
    """A retriever that breaks."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        raise ConnectionError("index down")


def fails(*_: Any) -> Any:
    raise LookupError("tool down")


PROMPT = ChatPromptTemplate.from_template("{question}")
BROKEN = {
    "prompt": (PROMPT | Scripted(script=["x"]), {"other": "q"}, "KeyError"),
    "model": (PROMPT | Scripted(script=[TimeoutError("model down")]), {"question": "q"}, "TimeoutError: model down"),
    "parser": (PROMPT | Scripted(script=["x"]) | Unreadable(), {"question": "q"}, "ValueError: cannot read this"),
    "retriever": (rag(found=NoIndex()), "q", "ConnectionError: index down"),
    "step": (chain() | RunnableLambda(fails), {"question": "q"}, "LookupError: tool down"),
}


@CALLED
@pytest.mark.parametrize("where", BROKEN)
def test_a_run_that_fails_is_fail_with_its_error(where: str, called: Any) -> None:
    broken, given, text = BROKEN[where]
    watched = Watched()
    with pytest.raises((KeyError, TimeoutError, ValueError, ConnectionError, LookupError)) as raised:
        called(broken, given, watched.config)
    judged = watched.one()
    assert judged.judgment.status is Status.FAIL
    assert judged.run.error is not None
    assert text in judged.run.error
    assert type(raised.value).__name__ in judged.run.error


class Flaky:
    """Breaks the first time."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, value: Any) -> Any:
        self.calls += 1
        if self.calls == 1:
            raise TimeoutError("once")
        return value


@CALLED
def test_retries_are_one_run_and_only_the_last_attempt_counts(called: Any) -> None:
    watched = Watched()
    retried = (rag() | RunnableLambda(Flaky())).with_retry(wait_exponential_jitter=False, stop_after_attempt=2)
    called(retried, "q", watched.config)
    judged = watched.one()
    assert judged.run.error is None
    assert judged.case is not None
    assert len(judged.case.contexts) == 2


@ANYHOW
def test_fallbacks_are_one_run(called: Any) -> None:
    watched = Watched()
    first = rag(TimeoutError("down"), found=retriever(("From the first attempt.",), k=1))
    both = first.with_fallbacks([rag("Second.", found=retriever(("From the second.",), k=1))])
    called(both, "q", watched.config)
    case = watched.case()
    assert ((case.answer or "").strip(), case.contexts) == ("Second.", ("From the second.",))


def test_a_cancelled_run_is_no_failure() -> None:
    watched = Watched()

    async def cancelled() -> None:
        slow = asyncio.create_task((chain() | RunnableLambda(sleep)).ainvoke({"question": "q"}, watched.config))
        await asyncio.sleep(0.1)
        slow.cancel()
        with pytest.raises(asyncio.CancelledError):
            await slow

    asyncio.run(cancelled())
    assert watched.nothing().aborted == 1


async def sleep(value: Any) -> Any:
    await asyncio.sleep(10)
    return value


def test_runs_that_never_end_are_bounded() -> None:
    watched = Watched(max_open=3)
    streams = [chain().stream({"question": str(number)}, watched.config) for number in range(10)]
    for stream in streams:
        next(stream)
    assert watched.handler.counts.open == 3
    assert watched.handler.counts.evicted == 7
    for stream in streams:
        list(stream)
    assert sorted(str(case.question) for case in watched.cases()) == ["7", "8", "9"]


def named(text: str) -> Any:
    return chain(text).with_config({"run_name": text})


@pytest.mark.parametrize(
    ("runs", "judged"),
    [
        ("first", ["first"]),
        (["first", "second"], ["first", "second"]),
        ("marked", ["second"]),
        (lambda run: run.name == "second", ["second"]),
        (lambda run: bool(run.tags), ["second"]),
        (lambda run: run.kind == "chat", ["first", "second"]),
    ],
)
def test_runs_by_name_by_tag_and_by_function(runs: Any, judged: list[str]) -> None:
    watched = Watched(select=runs)
    second = RunnableLambda(lambda text: {"question": text}) | named("second").with_config({"tags": ["marked"]})
    (named("first") | second).invoke({"question": "q"}, watched.config)
    if callable(runs) and judged == ["second"] and runs(Run("", tags={"x": True})):
        assert len(watched.all()) >= 1  # LangChain tags steps of its own too
    else:
        assert [case.answer for case in watched.cases()] == judged


@pytest.mark.parametrize("runs", ["retreiver", "retriver", ["qa", "Retreiver"]])
def test_a_misspelt_retriever_is_refused(runs: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"did you mean 'retriever'.*lambda run: run\.name == "):
        Watched(select=runs)


@pytest.mark.parametrize("runs", ["retrieve", "Retriever", "my retrievers", "receiver", "retry"])
def test_a_name_like_it_is_taken(runs: str) -> None:
    watched = Watched(select=runs)
    named(runs).invoke({"question": "q"}, watched.config)
    assert [case.answer for case in watched.cases()] == [runs]


@pytest.mark.parametrize("end", ["flush", "close", "aflush", "aclose"])
def test_a_name_that_no_run_has_is_logged_once(end: str, caplog: pytest.LogCaptureFixture) -> None:
    watched = Watched(select="frist")
    finish = getattr(watched.handler, end)
    named("first").invoke({"question": "q"}, watched.config)
    for _ in range(2):
        if end.startswith("a"):
            asyncio.run(finish())
        else:
            finish()
    (logged,) = [one.getMessage() for one in caplog.records if "select=" in one.getMessage()]
    assert "select= names 'frist', and no run so far has this name or tag" in logged
    assert "'first'" in logged
    assert logged.endswith("did you mean 'first'?")


@pytest.mark.parametrize("runs", ["first", "marked", "retriever"])
def test_nothing_is_logged_where_a_name_was_right_or_nothing_ran(runs: str, caplog: pytest.LogCaptureFixture) -> None:
    watched = Watched(select=runs)
    if runs != "retriever":
        app = named("first").with_config({"tags": ["marked"]})
        (RunnableLambda(lambda text: text) | app).invoke({"question": "q"}, watched.config)
    watched.handler.close()
    assert "select=" not in caplog.text


def test_a_function_that_breaks_selects_nothing(caplog: pytest.LogCaptureFixture) -> None:
    watched = Watched(select=fails)
    chain().invoke({"question": "q"}, watched.config)
    watched.nothing()
    assert "select= raised" in caplog.text


def test_mappings_say_where_question_and_answer_are() -> None:
    watched = Watched(
        field_map={"question": "inputs.user.text", "answer": "outputs.reply.body", "contexts": "outputs.hits"}
    )
    app = RunnableLambda(lambda given: {"reply": {"body": "4"}, "hits": ["2 + 2 = 4"]})
    app.invoke({"user": {"text": "2 + 2?"}}, watched.config)
    case = watched.case()
    assert (case.question, case.answer, case.contexts) == ("2 + 2?", "4", ("2 + 2 = 4",))


def test_a_mapping_that_leads_nowhere_is_an_error_verdict_and_no_error_of_the_run() -> None:
    errors: list[Any] = []
    watched = Watched(field_map={"question": "inputs.nowhere"}, on_error=errors.append)
    assert chain().invoke({"question": "q"}, watched.config)
    judged = watched.one()
    assert judged.judgment.status is Status.ERROR
    assert judged.case is None
    assert errors == [judged]


def test_a_chain_without_output_has_no_verdict() -> None:
    watched = Watched()
    RunnableLambda(lambda given: None).invoke("q", watched.config)
    assert watched.nothing().unanswered == 1


def test_a_slow_jury_does_not_slow_the_run() -> None:
    release = threading.Event()
    watched = Watched(Judge.from_function(lambda case: release.wait(60), timeout=90))
    chain().invoke({"question": "q"}, watched.config)
    asyncio.run(chain().ainvoke({"question": "q"}, watched.config))
    assert watched.handler.counts.pending == 2  # neither run has waited for its verdict
    assert not watched.handler.flush(0.01)
    release.set()
    assert [judged.judgment.status for judged in watched.all()] == [Status.PASS, Status.PASS]


def test_nothing_of_ours_raises_into_the_run() -> None:
    def breaks(case: Case) -> bool:
        raise RuntimeError("judge down")

    watched = Watched(Judge.from_function(breaks))
    watched.handler._queue._sinks += (fails,)
    assert chain().invoke({"question": "q"}, watched.config)
    assert asyncio.run(chain().ainvoke({"question": "q"}, watched.config))
    assert [judged.judgment.status for judged in watched.all()] == [Status.ERROR, Status.ERROR]
    assert watched.handler.counts.sink_errors == 2


def test_a_sample_and_a_full_queue() -> None:
    none = Watched(sample=0.0)
    chain().invoke({"question": "q"}, none.config)
    assert none.nothing().unsampled == 1
    release = threading.Event()
    full = Watched(Judge.from_function(lambda case: release.wait(20), timeout=30), max_pending=1)
    chain().batch([{"question": "a"}, {"question": "b"}, {"question": "c"}], full.config)
    assert full.handler.counts.dropped == 2
    release.set()
    full.one()


def test_a_closed_handler_judges_nothing_and_breaks_nothing() -> None:
    with Watched().handler as handler:
        chain().invoke({"question": "q"}, {"callbacks": [handler]})
    assert handler.counts.judged == 1
    chain().invoke({"question": "q"}, {"callbacks": [handler]})
    assert handler.counts.judged == 1

    async def block() -> int:
        async with JuryCallbackHandler(a_jury()) as other:
            await chain().ainvoke({"question": "q"}, {"callbacks": [other]})
        return other.counts.judged

    assert asyncio.run(block()) == 1


def test_a_copied_config_reports_to_the_same_handler() -> None:
    watched = Watched()
    assert copy.copy(watched.handler) is watched.handler
    chain().invoke({"question": "q"}, copy.deepcopy(watched.config))
    watched.one()


def test_one_run_id_is_judged_once() -> None:
    watched = Watched()
    config = {**watched.config, "run_id": uuid.uuid4()}
    chain().invoke({"question": "q"}, config)
    chain().invoke({"question": "q"}, config)
    assert watched.one().run.id == str(config["run_id"])


@pytest.mark.parametrize("options", [{"max_open": 0}, {"runs": []}, {"runs": 3}, {"sample": 2.0}, {"inputs": "a["}])
def test_wrong_options_are_said_at_once(options: Any) -> None:
    with pytest.raises((ConfigurationError, TypeError)):
        JuryCallbackHandler(a_jury(), **options)


def test_passing_values_through_does_not_change_what_the_application_gets() -> None:
    watched = Watched()
    given = {"question": "q", "extra": [1, 2]}
    assert RunnablePassthrough().invoke(given, watched.config) is given
    watched.all()


@pytest.mark.slow
def test_the_end_of_the_process_waits_for_verdicts() -> None:
    program = """
import sys
sys.path.insert(0, sys.argv[1])
from support.langchain_apps import chain, a_jury
from jury_adapters.langchain.callbacks import JuryCallbackHandler, judge_runs
handler = JuryCallbackHandler(a_jury(), on_verdict=lambda judged: print(judged.judgment.status, flush=True))
chain().invoke({"question": "q"}, {"callbacks": [handler]})
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(Path(__file__).parents[1])],
        capture_output=True, text=True, check=True, timeout=180,
    )  # fmt: skip
    assert done.stdout.strip() == "PASS"


@pytest.mark.slow
def test_importing_the_callbacks_loads_no_runnables() -> None:
    program = (
        "import sys, jury_adapters.langchain.callbacks; "
        "assert 'langchain_core.runnables' not in sys.modules and 'langsmith.client' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=180)


def test_an_answer_that_only_calls_tools_is_no_answer() -> None:
    watched = Watched(Judge.from_function(answers))
    (PROMPT | Scripted(script=[call("weather", city="Oslo")])).invoke({"question": "q"}, watched.config)
    assert watched.nothing().paused == 1


def test_a_run_whose_judge_was_interrupted_is_counted(caplog: pytest.LogCaptureFixture) -> None:
    class Interrupted(Judge):
        async def assess(self, case: Case) -> bool:
            raise KeyboardInterrupt

    watched = Watched(Interrupted())
    chain().invoke({"question": "q"}, watched.config)
    assert watched.all() == []
    counts = watched.handler.counts
    assert (counts.broken, counts.judged) == (1, 0)
    assert "broke" in caplog.text


def test_a_call_of_judge_runs_without_a_block_says_in_the_log_that_it_judges_nothing(caplog: Any) -> None:
    handler = JuryCallbackHandler(a_jury())
    judge_runs(handler)
    with judge_runs(handler):
        pass
    with pytest.raises(ConfigurationError):
        judge_runs(handler, sample=0.5)
    collect_garbage()
    assert ["JuryCallbackHandler(jury)" in one.message for one in caplog.records if "a block" in one.message] == [True]
