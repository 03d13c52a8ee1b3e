"""Judging never judges itself, and stays out of the application's traces and streams."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableLambda
from support.langchain_apps import Scripted, Watched, a_jury, agent, ask, chain

from jury_adapters import Case, ConfigurationError, Critic, Judge, Status
from jury_adapters.langchain.callbacks import JuryCallbackHandler, judge_runs


def judge_with(model: Any) -> Judge:
    """A judge that asks a LangChain model the plain way, as a user's own function might."""

    def asks(case: Case) -> bool:
        return "YES" in str(model.invoke(f"JUDGE {case.answer}").content)

    return Judge.from_function(asks, timeout=20)


def critic(model: Any) -> Critic:
    return Critic(model, name="critic", prompt="JUDGE {answer}")


class Log(BaseCallbackHandler):
    """Every model call that anyone but the judge can see."""

    def __init__(self) -> None:
        self.prompts: list[str] = []

    def on_chat_model_start(self, serialized: Any, messages: Any, **_: Any) -> None:
        self.prompts.append(str(messages[0][-1].content))


@pytest.mark.parametrize("made", [judge_with, critic])
def test_a_judge_that_shares_the_models_of_the_application(made: Any) -> None:
    model = Scripted(script=["YES"])
    watched = Watched(made(model))
    model.callbacks = [watched.handler]
    model.invoke("Hello?")
    time.sleep(0.1)
    assert watched.one().judgment.status is Status.PASS
    assert model.asked <= 2  # a critic asks a copy of the model


def test_a_judge_does_not_show_in_the_traces_around() -> None:
    log, model = Log(), Scripted(script=["YES"])
    watched = Watched(judge_with(model))
    inner = chain("inner").with_config({"callbacks": [watched.handler]})
    (inner | Scripted(script=["outer"])).invoke({"question": "q"}, {"callbacks": [log]})
    watched.one()
    assert log.prompts == ["q", "inner"]
    assert model.asked == 1


def test_a_judge_does_not_show_in_the_stream_of_an_agent() -> None:
    model = Scripted(script=["YES JUDGE"])
    watched = Watched(judge_with(model))
    chunks = agent("Hello.").stream(ask("Hi"), watched.config, stream_mode="messages")
    assert "JUDGE" not in "".join(str(message.content) for message, _ in chunks)
    watched.one()


def test_a_jury_asked_inside_the_application_is_no_run_of_it() -> None:
    jury = critic(Scripted(script=["YES"]))
    watched = Watched(select=lambda run: run.kind == "chat")
    step = RunnableLambda(lambda text: text if jury.judge(question="q", answer=text).passed else "bad")
    assert (chain("fine") | step).invoke({"question": "q"}, watched.config) == "fine"
    assert watched.case().answer == "fine"


@pytest.mark.parametrize("made", [judge_with, critic])
def test_runs_in_a_block_are_judged_and_the_judge_is_not(made: Any) -> None:
    model = Scripted(script=["YES"])
    with judge_runs(made(model)) as handler:
        chain().invoke({"question": "q"})
        chain().batch([{"question": "a"}, {"question": "b"}])
    assert handler.counts.judged == 3
    assert model.asked == 3
    chain().invoke({"question": "after"})
    assert handler.flush(10)
    assert handler.counts.judged == 3


def test_runs_in_an_asynchronous_block_and_its_tasks() -> None:
    async def block() -> int:
        async with judge_runs(a_jury()) as handler:
            await asyncio.gather(*(chain().ainvoke({"question": "q"}) for _ in range(5)))
            await asyncio.create_task(agent().ainvoke(ask("q")))
        return handler.counts.judged

    assert asyncio.run(block()) == 6


def test_a_jury_that_is_asked_in_the_block_itself_is_no_run() -> None:
    with judge_runs(a_jury()) as handler:
        assert critic(Scripted(script=["YES"])).judge(question="q", answer="a").passed
    assert handler.counts.judged == 0


def test_a_chain_with_the_handler_of_the_block_is_judged_once() -> None:
    with judge_runs(a_jury()) as handler:
        chain().invoke({"question": "q"}, {"callbacks": [handler]})
    assert handler.counts.judged == 1


def test_blocks_within_blocks_judge_each_for_itself() -> None:
    with judge_runs(a_jury()) as outer:
        with judge_runs(a_jury()) as inner:
            chain().invoke({"question": "q"})
        chain().invoke({"question": "q"})
    assert (outer.counts.judged, inner.counts.judged) == (2, 1)


def test_a_handler_that_outlives_the_block_does_not_make_it_wait() -> None:
    release = threading.Event()
    handler = JuryCallbackHandler(Judge.from_function(lambda case: release.wait(20), timeout=30))
    with judge_runs(handler) as same:
        chain().invoke({"question": "q"})
    assert same is handler
    assert handler.counts.pending == 1
    release.set()
    assert handler.flush(10)
    with judge_runs(handler):
        chain().invoke({"question": "q"})
    assert handler.flush(10)
    assert handler.counts.judged == 2


def test_a_block_that_raises_is_left_all_the_same() -> None:
    block = judge_runs(a_jury())

    def raises() -> None:
        with block:
            chain().invoke({"question": "q"})
            raise LookupError

    with pytest.raises(LookupError):
        raises()
    chain().invoke({"question": "after"})
    assert block._handler.counts.judged == 1


def test_a_block_left_in_another_context() -> None:
    def block() -> Any:
        with judge_runs(a_jury()) as handler:
            yield handler

    began_in = contextvars.Context()
    started = block()
    handler = began_in.run(next, started)
    assert next(started, None) is None  # left here, where it is not in force
    chain().invoke({"question": "q"})
    assert handler.counts.judged == 0


def test_what_a_block_takes() -> None:
    with pytest.raises(ConfigurationError, match="give a jury"):
        judge_runs("jury")  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="no further options"):
        judge_runs(JuryCallbackHandler(a_jury()), sample=0.5)
    with pytest.raises(ConfigurationError, match="no further options"):
        judge_runs(JuryCallbackHandler(a_jury()), max_open=10)


@pytest.mark.parametrize("kind", [JuryCallbackHandler, judge_runs])
def test_a_misspelt_option_is_refused_with_the_one_that_was_meant(kind):
    for wrong, meant in (("smple", "sample"), ("selct", "select")):
        with pytest.raises(ConfigurationError, match=f"unknown option '{wrong}'. Did you mean '{meant}'"):
            kind(Judge.from_function(lambda case: True), **{wrong: 3})
