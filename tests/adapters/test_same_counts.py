"""The same runs in the background: LangChain and LlamaIndex count them under the same names."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict
from functools import partial
from typing import Any

import pytest
from langchain_core.language_models.chat_models import BaseChatModel, generate_from_stream
from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import RunnableLambda
from llama_index.core.base.response.schema import StreamingResponse
from llama_index.core.query_engine import CustomQueryEngine

from jury_adapters import Case, Judge
from jury_adapters.core.background.counts import Counts
from jury_adapters.core.background.watch import RunWatch
from jury_adapters.langchain import judge_runs as watch_chains
from jury_adapters.llama_index import judge_runs as watch_engines
from jury_adapters.results import JudgedRun

QUESTION = "Which capital?"


class Engine(CustomQueryEngine):
    """A query engine around a function."""

    answer: Callable[[str], Any]

    def custom_query(self, query_str: str) -> Any:
        return self.answer(query_str)

    async def acustom_query(self, query_str: str) -> Any:
        return await self.answer(query_str)


class LlamaIndex:
    """An application around a function, and its watch."""

    def watch(self, judge: Any, only: Any = None, **options: Any) -> AbstractContextManager[RunWatch]:
        return watch_engines(judge, select=only and (lambda engine, method: only()), **options)

    def run(self, answer: Callable[[str], Any]) -> Any:
        return Engine(answer=answer).query(QUESTION)

    async def arun(self, answer: Callable[[str], Any]) -> Any:
        return await Engine(answer=answer).aquery(QUESTION)

    def stream(self, words: Callable[[str], Iterator[str]]) -> Any:
        return self.run(lambda question: StreamingResponse(response_gen=words(question))).response_gen


class Model(BaseChatModel):
    """A chat model that streams what a function yields."""

    answer: Callable[[str], Iterator[str]]

    @property
    def _llm_type(self) -> str:
        return "test"

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatResult:
        return generate_from_stream(self._stream(messages))

    def _stream(self, messages: Any, *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        for word in self.answer(str(messages[-1].content)):
            yield ChatGenerationChunk(message=AIMessageChunk(word))


class LangChain:
    """The same with LangChain."""

    def watch(self, judge: Any, only: Any = None, **options: Any) -> AbstractContextManager[RunWatch]:
        return watch_chains(judge, select=only and (lambda run: only()), **options)

    def run(self, answer: Callable[[str], Any]) -> Any:
        return RunnableLambda(answer).invoke(QUESTION)

    async def arun(self, answer: Callable[[str], Any]) -> Any:
        return await RunnableLambda(answer).ainvoke(QUESTION)

    def stream(self, words: Callable[[str], Iterator[str]]) -> Any:
        # Of a chain, LangChain reports a stream that is left as one that has ended.
        return (chunk.content for chunk in Model(answer=words).stream(QUESTION) if chunk.content)


BOTH = pytest.mark.parametrize("app", [LangChain(), LlamaIndex()], ids=["LangChain", "LlamaIndex"])


def paris(question: str) -> str:
    return "Paris"


def says_paris(case: Case) -> bool:
    return "Paris" in (case.answer or "")


def breaks(*anything: object) -> Any:
    raise ValueError("gone")


def words(question: str) -> Iterator[str]:
    yield from ("Pa", "r", "is")


def judged(app: Any) -> Iterator[Counts]:
    """One run that is judged, one that fails, and one whose judge breaks."""
    with app.watch(says_paris) as watch:
        app.run(paris)
        with pytest.raises(ValueError, match="gone"):
            app.run(breaks)
    yield watch.counts
    with app.watch(Judge.from_function(breaks)) as watch:
        app.run(paris)
    yield watch.counts


def sampled(app: Any) -> Iterator[Counts]:
    """Runs that the sample leaves out; a run that fails is no exception."""
    with app.watch(says_paris, sample=0.0) as watch:
        app.run(paris)
        with suppress(ValueError):
            app.run(breaks)
    yield watch.counts


def full(app: Any) -> Iterator[Counts]:
    """Three runs where one may wait."""
    release = threading.Event()
    with app.watch(Judge.from_function(lambda case: release.wait(60), timeout=60), max_pending=1) as watch:
        for _ in range(3):
            app.run(paris)
        yield watch.counts
        release.set()
    yield watch.counts


def nested(app: Any) -> Iterator[Counts]:
    """A run with two runs inside, of which one fails."""

    def outer(question: str) -> str:
        with suppress(ValueError):
            app.run(breaks)
        return str(app.run(paris))

    with app.watch(says_paris) as watch:
        app.run(outer)
    yield watch.counts


def recursive(app: Any) -> Iterator[Counts]:
    """A judge that runs the application itself, in a thread of its own and on the loop."""

    def asks(case: Case) -> bool:
        return "Paris" in str(app.run(paris))

    for judge in (Judge.from_function(asks), Judge.from_function(asks, timeout=60)):
        with app.watch(judge) as watch:
            app.run(paris)
        yield watch.counts


def left_out(app: Any) -> Iterator[Counts]:
    """A run that the filter leaves out, with a run inside; and a filter that raises."""
    with app.watch(says_paris, only=lambda: False) as watch:
        app.run(lambda question: str(app.run(paris)))
    yield watch.counts
    with app.watch(says_paris, only=breaks) as watch:
        app.run(paris)
    yield watch.counts


def ended_by_the_application(app: Any) -> Iterator[Counts]:
    """A run that is cancelled, a stream that is left, one that is read, and one that breaks."""

    async def slow(question: str) -> str:
        await asyncio.sleep(60)
        return "Paris"

    async def cancelled() -> None:
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(app.arun(slow), 0.05)

    with app.watch(says_paris) as watch:
        asyncio.run(cancelled())
        stream = app.stream(words)
        next(stream)
        stream.close()
        yield watch.counts
        assert "".join(app.stream(words)) == "Paris"
    yield watch.counts

    def broken_words(question: str) -> Iterator[str]:
        yield "Pa"
        breaks()

    with app.watch(says_paris) as watch, suppress(ValueError):
        list(app.stream(broken_words))
    yield watch.counts


def unanswered(app: Any) -> Iterator[Counts]:
    """A run without any output, which makes no case; and one whose answer is empty, which does."""

    with app.watch(says_paris) as watch:
        app.run(lambda question: None)
        app.run(lambda question: "")
    yield watch.counts


def bounded(app: Any) -> Iterator[Counts]:
    """Three runs at once where two may be under way."""

    async def three() -> None:
        release = asyncio.Event()

        async def waits(question: str) -> str:
            await release.wait()
            return "Paris"

        runs = [asyncio.ensure_future(app.arun(waits)) for _ in range(3)]
        await asyncio.sleep(0.1)
        under_way.append(watch.counts)
        release.set()
        await asyncio.gather(*runs)

    under_way: list[Counts] = []
    with app.watch(says_paris, max_open=2) as watch:
        asyncio.run(three())
    yield from under_way
    yield watch.counts


def closed(app: Any) -> Iterator[Counts]:
    """A run that is under way when the watch is closed."""
    with app.watch(says_paris) as watch:
        app.run(lambda question: watch.close() and "Paris")
    yield watch.counts


def interrupted(app: Any) -> Iterator[Counts]:
    """A judge out of which an interrupt comes, and a sink that raises."""

    def interrupts(case: Case) -> bool:
        raise KeyboardInterrupt

    with app.watch(Judge.from_function(interrupts)) as watch:
        app.run(paris)
    yield watch.counts
    with app.watch(says_paris, on_verdict=breaks) as watch:
        app.run(paris)
    yield watch.counts


SCENARIOS: dict[Callable[[Any], Iterator[Counts]], list[Counts]] = {
    judged: [Counts(judged=2), Counts(judged=1)],
    sampled: [Counts(unsampled=2)],
    full: [Counts(pending=1, dropped=2), Counts(judged=1, dropped=2)],
    nested: [Counts(judged=1)],
    recursive: [Counts(judged=1), Counts(judged=1)],
    left_out: [Counts(skipped=1), Counts(broken=1)],
    ended_by_the_application: [
        Counts(cancelled=1, abandoned=1), Counts(judged=1, cancelled=1, abandoned=1), Counts(judged=1),
    ],
    unanswered: [Counts(judged=1, unanswered=1)],
    bounded: [Counts(open=2, evicted=1), Counts(judged=2, evicted=1)],
    closed: [Counts(dropped=1)],
    interrupted: [Counts(broken=1), Counts(judged=1, sink_errors=1)],
}  # fmt: skip


@BOTH
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_the_same_runs_are_counted_alike(app: Any, scenario: Any) -> None:
    assert [asdict(counts) for counts in scenario(app)] == [asdict(counts) for counts in SCENARIOS[scenario]]


@BOTH
def test_a_run_that_failed_is_judged_alike(app: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHER_API_KEY", "a-key-of-no-known-form")
    runs: list[JudgedRun] = []

    def fails(length: int, question: str) -> str:
        raise ValueError("x" * length + "a-key-of-no-known-form")

    with app.watch(says_paris, on_verdict=runs.append):
        for length in (0, 1_980):  # where the text is cut, half a key must not remain
            with pytest.raises(ValueError, match="key"):
                app.run(partial(fails, length))
    short, long = sorted((one.judgment for one in runs), key=lambda one: len(one.reasoning))
    assert (short.status, short.score, short.error) == ("FAIL", 0.0, None)
    assert short.reasoning == "the run failed: ValueError: [key]"
    assert long.metadata["run_error"] == f"ValueError: {'x' * 1_980}[key]"[:2_000]


@BOTH
def test_unknown_and_mistaken_options_are_refused_alike(app: Any) -> None:
    for options, said in (({"max_opne": 3}, "max_open"), ({"max_open": 0}, "max_open"), ({"sample": 2}, "sample")):
        with pytest.raises(Exception, match=said) as refused:
            app.watch(says_paris, **options)
        assert type(refused.value).__name__ == "ConfigurationError"


def test_counts_show_what_is_not_zero() -> None:
    counts = Counts(judged=2, cancelled=1, abandoned=3)
    assert repr(counts) == "Counts(judged=2, cancelled=1, abandoned=3)"
    assert eval(repr(counts)) == counts
    assert counts.aborted == 4
