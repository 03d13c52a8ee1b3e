"""Streams: finished and abandoned, synchronous and asynchronous, of chains, models and agents."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from support.garbage import collect_garbage
from support.langchain_apps import Scripted, Watched, agent, ask, chain, rag

from jury_adapters import Status

APPS: dict[str, tuple[Any, Any]] = {
    "chain": (chain("Because of Rayleigh scattering."), {"question": "Why?"}),
    "rag": (rag("Because of Rayleigh scattering."), "Why?"),
    "model": (Scripted(script=["Because of Rayleigh scattering."]), "Why?"),
    "agent": (agent("Because of Rayleigh scattering."), ask("Why?")),
}
EACH = pytest.mark.parametrize("app", APPS)


def read(app: str, config: Any, most: int | None = None) -> list[Any]:
    chunks = []
    for chunk in APPS[app][0].stream(APPS[app][1], config):
        chunks.append(chunk)
        if len(chunks) == most:
            break
    return chunks


async def aread(app: str, config: Any, most: int | None = None) -> list[Any]:
    chunks = []
    async for chunk in APPS[app][0].astream(APPS[app][1], config):
        chunks.append(chunk)
        if len(chunks) == most:
            break
    return chunks


@EACH
def test_a_stream_read_to_its_end_is_judged_whole_with_its_real_question(app: str) -> None:
    watched = Watched()
    read(app, watched.config)
    asyncio.run(aread(app, watched.config))
    for case in watched.cases():
        assert case.question == "Why?"
        assert (case.answer or "").strip() == "Because of Rayleigh scattering."
    assert len(watched.runs) == 2
    assert all(judged.judgment.status is Status.PASS for judged in watched.runs)


@pytest.mark.corpus
@EACH
@pytest.mark.parametrize("chunks", [1, 2, 3])
def test_a_stream_that_is_left_is_aborted_and_leaves_nothing(app: str, chunks: int) -> None:
    if app == "agent" and chunks > 1:
        pytest.skip("the answer is its only chunk")
    watched = Watched()
    read(app, watched.config, most=chunks)
    collect_garbage()
    asyncio.run(aread(app, watched.config, most=chunks))
    collect_garbage()
    counts = watched.nothing()
    assert (counts.aborted, counts.unanswered) == (2, 0)


def test_a_run_made_while_a_stream_is_closed_is_judged() -> None:
    watched = Watched()

    def replies() -> Any:
        try:
            yield "one"
            yield "two"
        finally:
            chain().invoke({"question": "Why?"}, watched.config)

    stream = replies()
    next(stream)
    stream.close()
    assert watched.case().answer == "Because of Rayleigh scattering."


def test_a_stream_that_fails_half_way() -> None:
    def half(chunks: Any) -> Any:
        for chunk in chunks:
            yield chunk
            raise ConnectionError("line cut")

    watched = Watched()
    with pytest.raises(ConnectionError):
        list((chain() | half).stream({"question": "Why?"}, watched.config))
    judged = watched.one()
    assert judged.run.error == "ConnectionError: line cut"
    assert judged.judgment.status is Status.FAIL
    assert judged.case is not None
    assert judged.case.question == "Why?"


@pytest.mark.parametrize("mode", ["values", "updates", "messages", ["updates", "messages"]])
def test_an_agent_in_every_stream_mode(mode: Any) -> None:
    watched = Watched()
    list(agent().stream(ask("Weather in Oslo?"), watched.config, stream_mode=mode))
    case = watched.case()
    assert (case.question, (case.answer or "").strip()) == ("Weather in Oslo?", "It is 80F.")
    assert [(step.tool, step.output) for step in case.trajectory] == [("weather", "80F in Oslo")]


def test_an_agent_abandoned_between_its_steps() -> None:
    watched = Watched()
    for _ in agent().stream(ask("Weather in Oslo?"), watched.config, stream_mode="updates"):
        break
    collect_garbage()
    assert watched.nothing().aborted == 1


def test_events_of_a_chain() -> None:
    watched = Watched()

    async def listen() -> None:
        async for _ in chain().astream_events({"question": "Why?"}, watched.config, version="v2"):
            await asyncio.sleep(0)

    asyncio.run(listen())
    assert watched.case().question == "Why?"


def test_a_stream_within_a_chain() -> None:
    inner = chain("Because.")
    watched = Watched()

    def outer(question: str) -> str:
        return "".join(inner.stream({"question": question}))

    RunnableLambda(outer).invoke("Why?", watched.config)
    assert (watched.case().answer or "").strip() == "Because."


def test_a_stream_held_open_and_then_dropped() -> None:
    watched = Watched()
    stream = chain().stream({"question": "Why?"}, watched.config)
    next(stream)
    assert watched.handler.counts.open == 1
    del stream
    collect_garbage()
    watched.nothing()
