"""Graphs that stop at a breakpoint: a pause, and no answer; the run that goes on is judged."""

from __future__ import annotations

import asyncio
import contextvars
import subprocess
import sys
from importlib.metadata import version
from typing import Any, TypedDict

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.config import var_child_runnable_config
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt
from support.langchain_apps import Watched

from jury_adapters.langchain import JuryCallbackHandler, judge_runs

# LangGraph 1.1.6, the oldest one that is supported, tells no handler of a breakpoint.
pytest.importorskip("langgraph.callbacks")


class Intake(TypedDict, total=False):
    question: str
    documents: list[Any]
    answer: str


def collected(state: Intake) -> Intake:
    return {"documents": ["Section 5.2"]}


def drafted(state: Intake) -> Intake:
    return {"answer": f"Yes, by {state['documents'][-1]}."}


def graph(**options: Any) -> Any:
    made = StateGraph(Intake)
    made.add_sequence([("collect", collected), ("draft", drafted)])
    made.add_edge(START, "collect")
    return made.compile(**{"checkpointer": InMemorySaver(), "name": "intake", **options})


def invoked(app: Any, given: Any, config: Any, **options: Any) -> None:
    app.invoke(given, config, **options)


def awaited(app: Any, given: Any, config: Any, **options: Any) -> None:
    asyncio.run(app.ainvoke(given, config, **options))


def streamed(app: Any, given: Any, config: Any, **options: Any) -> None:
    list(app.stream(given, config, **options))


HOW = pytest.mark.parametrize("call", [invoked, awaited, streamed])
BREAKPOINTS = pytest.mark.parametrize(
    "breakpoint_", [{"interrupt_before": ["draft"]}, {"interrupt_after": ["collect"]}, {"interrupt_before": "*"}]
)
VERSION = tuple(map(int, version("langgraph").split(".")[:3]))
THEFT = {"question": "Theft?"}
THREAD = {"configurable": {"thread_id": "t"}}


@HOW
@BREAKPOINTS
@pytest.mark.parametrize("when", ["compiled", "called"])
@pytest.mark.parametrize("watch", ["handler", "judge_runs", "judge_runs beside a handler"])
def test_a_graph_at_a_breakpoint_is_paused_and_judged_once_after_it(
    call: Any, breakpoint_: Any, when: str, watch: str, caplog: Any
) -> None:
    if "beside" in watch and VERSION < (1, 2, 4):
        pytest.skip("the callbacks of a call replace those of the context")
    watched = Watched()
    app = graph(**breakpoint_) if when == "compiled" else graph()
    options = {} if when == "compiled" else breakpoint_
    pauses = 2 if "*" in breakpoint_.values() else 1

    def run() -> None:
        config = {**THREAD, **(watched.config if watch == "handler" else {})}
        if "beside" in watch:
            config["callbacks"] = [BaseCallbackHandler()]
        call(app, THEFT, config, **options)
        assert watched.nothing().paused == 1
        for _ in range(pauses):
            call(app, None, config, **options)

    if watch == "handler":
        run()
    else:
        with judge_runs(watched.handler):
            run()
    assert (watched.case().question, watched.case().answer) == ("Theft?", "Yes, by Section 5.2.")
    assert (watched.handler.counts.paused, watched.handler.counts.judged) == (pauses, 1)
    assert "field_map" not in caplog.text


def test_the_question_is_that_of_the_paused_run_where_the_output_lacks_it() -> None:
    class Answer(TypedDict):
        answer: str

    made = StateGraph(Intake, output_schema=Answer)
    made.add_sequence([("collect", collected), ("draft", drafted)])
    made.add_edge(START, "collect")
    app = made.compile(checkpointer=InMemorySaver(), interrupt_before=["draft"])
    watched = Watched()
    for thread in ("a", "b"):
        app.invoke({"question": f"{thread}?"}, {**watched.config, "configurable": {"thread_id": thread}})
    for thread in ("b", "a"):
        app.invoke(None, {**watched.config, "configurable": {"thread_id": thread}})
    assert [case.question for case in watched.cases()] == ["b?", "a?"]


def test_a_state_that_is_edited_at_a_breakpoint() -> None:
    watched, app = Watched(), graph(interrupt_before=["draft"])
    config = {**watched.config, **THREAD}
    app.invoke(THEFT, config)
    app.update_state(config, {"documents": ["Section 5.3"]})
    app.invoke(None, config)
    assert (watched.case().question, watched.case().answer) == ("Theft?", "Yes, by Section 5.3.")


@HOW
def test_a_breakpoint_of_a_graph_inside_a_graph(call: Any) -> None:
    outer = StateGraph(Intake)
    outer.add_node("inner", graph(checkpointer=None, interrupt_before=["draft"]))
    outer.add_edge(START, "inner")
    watched, app = Watched(), outer.compile(checkpointer=InMemorySaver())
    config = {**watched.config, **THREAD}
    call(app, THEFT, config)
    assert watched.nothing().paused == 1
    call(app, None, config)
    assert watched.case().answer == "Yes, by Section 5.2."


@pytest.mark.parametrize("call", [invoked, awaited])
def test_a_chain_that_ends_with_the_graph(call: Any) -> None:
    watched = Watched()
    app = RunnableLambda(lambda given: given) | graph(interrupt_before=["draft"])
    config = {**watched.config, **THREAD}
    call(app, THEFT, config)
    assert watched.nothing().paused == 1
    call(app, None, config)
    assert watched.case().answer == "Yes, by Section 5.2."


def test_a_step_that_goes_on_after_the_pause_of_a_graph_is_judged() -> None:
    app = graph(interrupt_before=["draft"])

    def approve(given: Any) -> Any:
        app.invoke(given, THREAD)
        return app.invoke(None, THREAD)["answer"]

    watched = Watched()
    RunnableLambda(approve).invoke(THEFT, watched.config)
    assert (watched.case().question, watched.case().answer) == ("Theft?", "Yes, by Section 5.2.")


def test_a_node_that_is_selected_is_judged_in_the_run_in_which_it_ends() -> None:
    watched, app = Watched(select="draft"), graph(interrupt_before=["draft"])
    config = {**watched.config, **THREAD}
    app.invoke(THEFT, config)
    assert watched.all() == []
    app.invoke(None, config)
    assert watched.one().run.name == "draft"


def test_a_breakpoint_that_is_never_passed_leaves_nothing_to_judge() -> None:
    watched, app = Watched(), graph(interrupt_after=["draft"])
    config = {**watched.config, **THREAD}
    app.invoke(THEFT, config)
    assert watched.nothing().paused == 1
    app.invoke(None, config)
    assert watched.case().answer == "Yes, by Section 5.2."


def test_a_handler_stays_what_it_is() -> None:
    class Own(JuryCallbackHandler):
        """A handler of an application."""

    watched = Watched(kind=Own)
    graph().invoke(THEFT, {**watched.config, **THREAD})
    assert watched.one()
    assert isinstance(watched.handler, Own)
    assert type(watched.handler).__name__ == "Own"
    assert type(watched.handler).__module__ == __name__


def test_a_block_inside_a_running_chain_keeps_what_that_chain_has() -> None:
    outer, inner, seen = Watched(), Watched(), list[Any]()

    def step(given: Any) -> Any:
        seen.append(var_child_runnable_config.get())
        with judge_runs(inner.handler):
            graph(interrupt_before=["draft"]).invoke(THEFT, THREAD)
        seen.append(var_child_runnable_config.get())
        return "done"

    RunnableLambda(step).invoke("go", outer.config)
    assert seen[0] is seen[1] is not None
    assert (outer.case().answer, inner.nothing().paused) == ("done", 1)


@pytest.mark.parametrize("inside", [True, False])
def test_a_block_that_ends_in_another_context_leaves_the_config_there(inside: bool) -> None:
    watched = Watched()
    block = judge_runs(watched.handler)
    contextvars.copy_context().run(block.__enter__)

    def leave(_: object) -> Any:
        before = var_child_runnable_config.get()
        block.__exit__()
        return var_child_runnable_config.get() is before

    assert RunnableLambda(leave).invoke(None) if inside else leave(None)


class Slotted(JuryCallbackHandler):
    """A handler with an attribute of its own."""

    __slots__ = ("own",)


class Registered(JuryCallbackHandler):
    """A handler whose subclasses need a name."""

    def __init_subclass__(cls, registered: str) -> None:
        super().__init_subclass__()


@pytest.mark.parametrize(("kind", "paused"), [(Slotted, 1), (Registered, 0)])
def test_any_subclass_of_the_handler_judges(kind: Any, paused: int) -> None:
    watched = Watched(kind=kind)
    app, config = graph(interrupt_before=["draft"]), {**watched.config, **THREAD}
    app.invoke(THEFT, config)
    assert watched.handler.flush(20)
    assert watched.handler.counts.paused == paused
    app.invoke(None, config)
    assert watched.all()[-1].answer == "Yes, by Section 5.2."


@pytest.mark.slow
def test_a_handler_that_watches_other_runs_does_not_import_langgraph() -> None:
    program = (
        "import sys; from langchain_core.runnables import RunnableLambda; from jury_adapters import Judge; "
        "from jury_adapters.langchain import JuryCallbackHandler; "
        "handler = JuryCallbackHandler(Judge.from_function(bool)); "
        "RunnableLambda(str).invoke('x', {'callbacks': [handler]}); handler.flush(20); "
        "assert handler.counts.judged == 1 and not any(name.startswith('langgraph') for name in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=180)


def test_an_interrupt_after_a_breakpoint_of_the_same_node() -> None:
    made = StateGraph(Intake)
    made.add_node("draft", lambda state: {"answer": f"{state['question']} {interrupt('sure?')}"})
    made.add_edge(START, "draft")
    watched = Watched()
    app = made.compile(checkpointer=InMemorySaver(), interrupt_before=["draft"])
    config = {**watched.config, **THREAD}
    app.invoke(THEFT, config)
    app.invoke(None, config)
    assert watched.nothing().paused == 2
    app.invoke(Command(resume="Yes."), config)
    assert (watched.case().question, watched.case().answer) == ("Theft?", "Theft? Yes.")
