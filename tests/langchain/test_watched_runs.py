"""Which runs of LangChain are judged, once each, and which are only counted: streams, failures, pauses, choices."""

import asyncio
import copy
import subprocess
import sys
import threading
from importlib.util import find_spec
from typing import TypedDict
from uuid import uuid4

import numpy
import pytest
from fact_tables import each_row
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, ToolRetryMiddleware
from langchain_core.documents import Document
from langchain_core.language_models import FakeListLLM
from langchain_core.output_parsers import StrOutputParser
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnableParallel
from langchain_core.tools import tool
from langchain_support import (
    ASKED,
    HONEST,
    PAGE,
    PROMPT,
    QUESTION,
    Pages,
    agent,
    call,
    graph,
    model,
    pages,
    rag,
    remember,
)
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, RetryPolicy, interrupt

from jury_adapters import Case, Run
from jury_adapters.langchain import JuryCallbackHandler, judge_runs


def passes(case):
    return True, "nothing was looked at"


def watch(do, jury=passes, **options):
    """Return what was judged while ``do(config)`` ran, and the counts."""
    seen = []
    handler = JuryCallbackHandler(jury, on_verdict=seen.append, **options)
    do({"callbacks": [handler]})
    assert handler.flush(10)
    assert not handler._open
    return seen, dict(handler.counts)


# Streams


def chain():
    return PROMPT | model("one two three four") | StrOutputParser()


GIVEN = {"question": QUESTION, "context": PAGE}


def test_the_question_of_a_stream_comes_at_its_end():
    seen, _ = watch(lambda config: list(chain().stream(GIVEN, config)))
    assert (seen[0].case.question, seen[0].case.answer) == (QUESTION, "one two three four")
    assert seen[0].case.contexts == (PAGE,)


def test_a_stream_that_fails_half_way_is_a_failed_run():
    def broken(config):
        def words(_):
            yield "one "
            raise ValueError("the line broke")

        with pytest.raises(ValueError, match="broke"):
            list(RunnableLambda(words).stream("q", config))

    seen, _ = watch(broken)
    assert [one.judgment.status for one in seen] == ["FAIL"]
    assert "the line broke" in seen[0].judgment.reasoning


@each_row("mode", ["values", "updates", "messages", ["updates", "messages"], "debug"])
def test_an_agent_is_judged_once_in_every_mode_of_streaming(mode):
    seen, counts = watch(lambda config: list(agent(HONEST)[0].stream(ASKED, config, stream_mode=mode)))
    assert counts == {"judged": 1}
    assert (seen[0].case.question, seen[0].case.answer, seen[0].case.contexts) == (QUESTION, HONEST, (PAGE,))


# Failures


def raises(given):
    raise ValueError("no such line")


def test_trap_9_a_run_that_failed_is_fail_and_the_jury_is_not_asked():
    asked = []

    def do(config):
        with pytest.raises(ValueError, match="no such"):
            RunnableLambda(raises).invoke({"question": QUESTION}, config)

    seen, _ = watch(do, jury=lambda case: asked.append(case) or True)
    assert seen[0].judgment.status == "FAIL"
    assert seen[0].judgment.reasoning == "the run failed: ValueError: no such line"
    assert seen[0].case.question == QUESTION
    assert asked == []


def test_keys_in_an_error_are_removed():
    def do(config):
        def leaky(_):
            raise ValueError("Bearer abcdefgh12345678 was refused")

        with pytest.raises(ValueError, match="Bearer"):
            RunnableLambda(leaky).invoke("q", config)

    seen, _ = watch(do)
    assert "abcdefgh" not in str(seen[0])


def test_a_tool_that_raises_is_a_step_with_an_error_and_fails_the_run():
    @tool
    def timetable(line: str) -> str:
        """Look up departures."""
        raise ConnectionError("no timetable")

    def do(config):
        with pytest.raises(ConnectionError):
            create_agent(model(call("timetable", line="4"), HONEST), [timetable]).invoke(ASKED, config)

    seen, _ = watch(do)
    assert [(step.tool, step.output, step.error) for step in seen[0].run.steps] == [
        ("timetable", None, "ConnectionError: no timetable")
    ]
    assert seen[0].judgment.status == "FAIL"


def test_wrong_arguments_are_a_step_with_an_error_and_the_run_goes_on():
    app = create_agent(model(call("pages", wrong=1), HONEST), [pages])
    seen, _ = watch(lambda config: app.invoke(ASKED, config))
    (step,) = seen[0].case.steps
    assert step.tool == "pages"
    assert step.error
    assert seen[0].case.contexts == ()
    assert seen[0].case.answer == HONEST


def test_a_model_that_fails_in_the_middle_fails_the_run():
    app = create_agent(model(call("pages", query="ferry"), RuntimeError("the model is down")), [pages])

    def do(config):
        with pytest.raises(RuntimeError):
            app.invoke(ASKED, config)

    seen, _ = watch(do)
    assert seen[0].judgment.reasoning == "the run failed: RuntimeError: the model is down"
    assert [step.tool for step in seen[0].case.steps] == ["pages"]


def test_a_cancelled_run_is_no_failure():
    async def cancelled(config):
        async def slow(_):
            await asyncio.sleep(5)

        task = asyncio.create_task(RunnableLambda(slow).ainvoke("q", config))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    seen, counts = watch(lambda config: asyncio.run(cancelled(config)))
    assert (seen, counts) == ([], {"abandoned": 1})


# Retries and fallbacks


def flaky(errors):
    left = list(errors)

    def run(given):
        Pages().invoke(str(len(left)))
        if left:
            raise left.pop()
        return HONEST

    return run


def test_a_run_that_is_retried_is_judged_once():
    app = RunnableLambda(flaky([ValueError("once")])).with_retry(wait_exponential_jitter=False)
    seen, counts = watch(lambda config: app.invoke(QUESTION, config))
    assert counts == {"judged": 1}
    assert (seen[0].case.question, seen[0].case.answer, seen[0].case.error) == (QUESTION, HONEST, None)


def test_what_a_failed_attempt_found_is_no_context_but_its_calls_were_made():
    class Other(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            return [Document("The ferry stopped in 1999.")]

    @tool
    def old_pages(query: str) -> str:
        """Look up old pages."""
        return "The ferry stopped in 1998."

    tries = []

    def find(given):
        tries.append(given)
        if len(tries) == 1:
            Other().invoke("ferry")
            old_pages.invoke({"query": "ferry"})
            raise ValueError("once")
        return Pages().invoke("ferry")

    app = RunnableLambda(find).with_retry(wait_exponential_jitter=False) | (lambda found: HONEST)
    seen, _ = watch(lambda config: app.invoke(QUESTION, config))
    assert seen[0].case.contexts == (PAGE,)
    assert [step.tool for step in seen[0].case.steps] == ["old_pages"]


def test_a_run_with_fallbacks_is_judged_once():
    app = RunnableLambda(raises).with_fallbacks([RunnableLambda(lambda given: "from the second")])
    seen, counts = watch(lambda config: app.invoke(QUESTION, config))
    assert counts == {"judged": 1}
    assert (seen[0].case.question, seen[0].case.answer) == (QUESTION, "from the second")


def test_a_node_with_a_retry_policy_is_judged_once():
    made = StateGraph(Plain)
    once = flaky([ConnectionError("once")])
    policy = RetryPolicy(max_attempts=3, initial_interval=0.01, retry_on=Exception)
    made.add_node("write", lambda state: {"answer": once(state)}, retry_policy=policy)
    made.add_edge(START, "write").add_edge("write", END)
    seen, counts = watch(lambda config: made.compile().invoke({"question": QUESTION}, config))
    assert counts == {"judged": 1}
    assert seen[0].case.answer == HONEST


def test_tries_of_a_retried_tool_are_two_steps():
    """Lost against 0.2, which joined them: each call that ran is a step."""
    tries = []

    @tool
    def timetable(line: str) -> str:
        """Look up departures."""
        tries.append(line)
        if len(tries) == 1:
            raise ConnectionError("once")
        return PAGE

    retry = ToolRetryMiddleware(max_retries=1, initial_delay=0.0, jitter=False)
    app = create_agent(model(call("timetable", line="4"), HONEST), [timetable], middleware=[retry])
    seen, _ = watch(lambda config: app.invoke(ASKED, config))
    assert [(step.error, step.output) for step in seen[0].case.steps] == [
        ("ConnectionError: once", None),
        (None, PAGE),
    ]
    assert seen[0].case.contexts == (PAGE,)


# Pauses; LangGraph before 1.2 does not tell handlers of breakpoints, and that a graph goes on

TELLS_PAUSES = find_spec("langgraph.callbacks") is not None


class Plain(TypedDict, total=False):
    question: str
    answer: str
    draft: str


def thread(config):
    return {**config, "configurable": {"thread_id": "1"}}


def asks(state):
    said = interrupt("is it 2018?")
    return {"answer": f"{HONEST} {said}"}


def pausing(**options):
    made = StateGraph(Plain)
    made.add_node("draft", lambda state: {"draft": "a draft"})
    made.add_node("ask", asks)
    made.add_edge(START, "draft").add_edge("draft", "ask").add_edge("ask", END)
    return made.compile(**options)


def resumed(app, resume=None, given=None):
    def do(config):
        app.invoke(given or {"question": QUESTION}, thread(config))
        app.invoke(resume or Command(resume="yes"), thread(config))

    return do


def test_trap_6_a_graph_that_waits_for_a_person_is_judged_when_it_went_on():
    seen, counts = watch(resumed(pausing(checkpointer=InMemorySaver())))
    assert counts == {"paused": 1, "judged": 1}
    assert (seen[0].case.question, seen[0].case.answer) == (QUESTION, f"{HONEST} yes")


def test_trap_6_so_is_a_graph_inside_a_graph():
    outer = StateGraph(Plain)
    outer.add_node("inner", pausing())
    outer.add_edge(START, "inner").add_edge("inner", END)
    seen, counts = watch(resumed(outer.compile(checkpointer=InMemorySaver())))
    assert counts == {"paused": 1, "judged": 1}
    assert seen[0].case.answer == f"{HONEST} yes"


def test_trap_6_a_chain_that_went_on_with_a_paused_state_is_no_answer():
    app = pausing(checkpointer=InMemorySaver()) | (lambda state: state.get("answer", "it waits"))

    def do(config):
        app.invoke({"question": QUESTION}, thread(config))
        app.invoke(Command(resume="yes"), thread(config))

    seen, counts = watch(do)
    assert counts == {"paused": 1, "judged": 1}
    assert seen[0].case.answer == f"{HONEST} yes"


def test_trap_6_a_graph_that_is_resumed_within_one_run_has_an_answer():
    app = pausing(checkpointer=InMemorySaver())

    def both(question):
        app.invoke({"question": question}, thread({}))
        return app.invoke(Command(resume="yes"), thread({}))["answer"]

    seen, counts = watch(lambda config: RunnableLambda(both).invoke(QUESTION, config))
    assert counts == ({"judged": 1} if TELLS_PAUSES else {"paused": 1})
    assert [(one.case.question, one.case.answer) for one in seen] == [(QUESTION, f"{HONEST} yes")] * TELLS_PAUSES


def test_trap_6_a_breakpoint_is_a_pause():
    app = graph(HONEST)[0].builder.compile(checkpointer=InMemorySaver(), interrupt_before=["write"])

    def do(config):
        app.invoke({"question": QUESTION}, thread(config))
        app.invoke(None, thread(config))

    seen, counts = watch(do)
    assert counts == ({"paused": 1, "judged": 1} if TELLS_PAUSES else {"judged": 2})
    assert (seen[-1].case.question, seen[-1].case.answer) == (QUESTION, HONEST)
    assert seen[-1].case.contexts == ((PAGE,) if TELLS_PAUSES else ())  # found before the pause
    assert TELLS_PAUSES or seen[0].case.answer is None


def test_trap_6_a_person_who_decides_about_a_call_is_a_pause():
    person = HumanInTheLoopMiddleware(interrupt_on={"pages": True})
    app, given = agent(HONEST, middleware=[person], checkpointer=InMemorySaver())
    seen, counts = watch(resumed(app, Command(resume={"decisions": [{"type": "approve"}]}), given))
    assert counts == {"paused": 1, "judged": 1}
    assert (seen[0].case.question, seen[0].case.answer, seen[0].case.contexts) == (QUESTION, HONEST, (PAGE,))


def test_trap_6_an_answer_that_only_calls_tools_is_no_answer():
    seen, counts = watch(lambda config: model(call("pages", query="x")).invoke(QUESTION, config))
    assert (seen, counts) == ([], {"paused": 1})


def test_trap_6_a_chosen_node_that_returns_a_command_with_open_calls_is_no_answer():
    """The known hole of the prototype: nodes of ``create_agent`` return a list of commands."""
    app, given = agent(HONEST)
    seen, counts = watch(lambda config: app.invoke(given, config), select=lambda run: run.name == "model")
    assert counts == {"paused": 1, "judged": 1}
    assert (seen[0].case.question, seen[0].case.answer, seen[0].case.contexts) == (QUESTION, HONEST, (PAGE,))


def test_a_handover_to_another_agent_is_neither_a_pause_nor_a_failure():
    inner = StateGraph(Plain)
    inner.add_node("give", lambda state: Command(goto="second", graph=Command.PARENT, update={"draft": "given"}))
    inner.add_edge(START, "give")

    def first_agent(state):
        pages.invoke({"query": "ferry"})
        return inner.compile().invoke(state)

    outer = StateGraph(Plain)
    outer.add_node("first", first_agent, destinations=("second",))
    outer.add_node("second", lambda state: {"answer": HONEST})
    outer.add_edge(START, "first").add_edge("second", END)
    app = outer.compile()
    seen, counts = watch(lambda config: app.invoke({"question": QUESTION}, config))
    assert counts == {"judged": 1}
    assert (seen[0].case.answer, seen[0].case.contexts) == (HONEST, (PAGE,))
    seen, counts = watch(
        lambda config: app.invoke({"question": QUESTION}, config), select=lambda run: run.name == "first"
    )
    assert (seen, counts) == ([], {"skipped": 1})


# Choices


def test_trap_7_of_chosen_runs_inside_each_other_the_outermost_is_judged():
    inner = RunnableLambda(lambda text: f"{text}!").with_config(tags=["chosen"])
    outer = (RunnableLambda(lambda text: text) | inner | inner).with_config(tags=["chosen"])
    seen, counts = watch(lambda config: outer.invoke("q", config), select=lambda run: "chosen" in run.tags)
    assert counts == {"judged": 1}
    assert seen[0].case.answer == "q!!"


def test_chosen_runs_beside_each_other_are_judged_each():
    both = RunnableParallel(a=Pages(), b=Pages())
    seen, counts = watch(lambda config: both.invoke("ferry", config), select=lambda run: run.kind == "retriever")
    assert counts == {"judged": 2}
    assert {one.case.contexts for one in seen} == {(PAGE,)}


def test_runs_are_chosen_by_name_and_metadata():
    step = RunnableLambda(lambda text: f"{text}?").with_config(run_name="ask", metadata={"team": "blue"})
    for select in (lambda run: run.name == "ask", lambda run: run.metadata.get("team") == "blue"):
        seen, _ = watch(lambda config: (RunnableLambda(str.upper) | step).invoke("q", config), select=select)
        assert [one.case.answer for one in seen] == ["Q?"]


def test_an_agent_inside_a_graph_is_chosen_by_its_name():
    inner = create_agent(model(call("pages", query="ferry"), HONEST), [pages], name="reader")
    outer = StateGraph(inner.builder.state_schema)
    outer.add_node("reader", inner)
    outer.add_edge(START, "reader").add_edge("reader", END)
    seen, counts = watch(lambda config: outer.compile().invoke(ASKED, config), select=lambda run: run.name == "reader")
    assert counts == {"judged": 1}
    assert (seen[0].case.question, seen[0].case.answer, seen[0].case.contexts) == (QUESTION, HONEST, (PAGE,))


def test_a_function_that_breaks_selects_nothing_and_is_counted():
    def broken(run):
        raise KeyError("tag")

    seen, counts = watch(lambda config: RunnableLambda(str.upper).invoke("q", config), select=broken)
    assert (seen, counts) == ([], {"errors": 1})


# Twice, and from where


def test_a_handler_that_only_the_model_has_judges_its_calls():
    seen = []
    handler = JuryCallbackHandler(passes, on_verdict=seen.append)
    chat = model(HONEST)
    chat.callbacks = [handler]
    (PROMPT | chat | StrOutputParser()).invoke(GIVEN)
    handler.close()
    assert handler.counts == {"judged": 1}
    assert (seen[0].run.kind, seen[0].case.answer) == ("llm", HONEST)
    assert QUESTION in seen[0].case.question


def test_an_application_inside_another_that_names_the_handler_again_is_part_of_it():
    handler = JuryCallbackHandler(passes)
    inner, given = agent(HONEST)
    outer = RunnableLambda(lambda _: inner.invoke(given, {"callbacks": [handler]})["messages"][-1].text)
    outer.invoke(QUESTION, {"callbacks": [handler]})
    handler.close()
    assert handler.counts == {"judged": 1}


def test_what_goes_on_after_the_run_around_it_is_no_run_of_its_own():
    started, over = threading.Event(), threading.Event()
    inner = RunnableLambda(str.upper)

    def later(config):
        started.set()
        over.wait(5)
        inner.invoke("late", config)

    workers = []

    def starts(text, config):
        workers.append(threading.Thread(target=later, args=(config,)))
        workers[0].start()
        started.wait(5)
        return text

    seen = []
    handler = JuryCallbackHandler(passes, on_verdict=seen.append)
    RunnableLambda(starts).invoke("q", {"callbacks": [handler]})
    over.set()
    workers[0].join(5)
    handler.close()
    assert [one.case.answer for one in seen] == ["q"]
    assert not handler._open


@each_row("kind", ["llm", "chat model", "retriever", "tool"])
def test_a_single_object_is_a_run(kind):
    app, given, answer, contexts = {
        "llm": (FakeListLLM(responses=[HONEST]), QUESTION, HONEST, ()),
        "chat model": (model(HONEST), QUESTION, HONEST, ()),
        "retriever": (Pages(), QUESTION, None, (PAGE,)),
        "tool": (pages, {"query": QUESTION}, PAGE, ()),
    }[kind]
    seen, _ = watch(lambda config: app.invoke(given, config))
    case = seen[0].case
    assert (seen[0].run.kind, case.question, case.answer, case.contexts) == (
        kind.split()[-1].replace("model", "llm"),
        QUESTION,
        answer,
        contexts,
    )


def test_of_a_retriever_over_retrievers_only_its_choice_counts():
    class Best(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            other = RunnableLambda(lambda text: [Document("The ferry stopped in 1999.")])
            inner = Several().invoke(query, {"callbacks": run_manager.get_child()})
            other.invoke(query, {"callbacks": run_manager.get_child()})
            return inner[:1]

    class Several(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            return [Document(PAGE), Document("The ferry stopped in 1998.")]

    seen, _ = watch(lambda config: (Best() | (lambda found: HONEST)).invoke(QUESTION, config))
    assert seen[0].case.contexts == (PAGE,)
    seen, _ = watch(lambda config: Best().invoke(QUESTION, config))
    assert seen[0].case.contexts == (PAGE,)


def test_an_application_that_returns_nothing_has_no_answer():
    seen, counts = watch(lambda config: RunnableLambda(lambda _: None).invoke("q", config))
    assert (seen, counts) == ([], {"skipped": 1})


def test_inputs_and_outputs_of_any_type_are_judged_or_an_error_of_the_verdict():
    class Silent:
        def __getattr__(self, name):
            raise RuntimeError(f"no {name}")

        def __eq__(self, other):
            raise RuntimeError("no comparison")

        __hash__ = None

    for given, gave in ((numpy.array([1, 2]), {"answer": HONEST}), ("q", numpy.array([1, 2])), ("q", iter("abc"))):
        seen, counts = watch(
            lambda config, given=given, gave=gave: RunnableLambda(lambda _: gave).invoke(given, config)
        )
        assert counts == {"judged": 1}
        assert seen[0].judgment.status in ("PASS", "ERROR")
    _, counts = watch(lambda config: RunnableLambda(lambda _: Silent()).invoke("q", config))
    assert counts == {"errors": 1}


def test_case_says_where_question_and_answer_are():
    def case(run: Run) -> Case:
        return Case(question=run.inputs["mail"], answer=run.outputs["reason"])

    app = RunnableLambda(lambda _: {"covered": False, "reason": "theft"})
    seen, _ = watch(lambda config: app.invoke({"mail": "stolen"}, config), case=case)
    assert (seen[0].case.question, seen[0].case.answer) == ("stolen", "theft")


def test_a_conversation_is_judged_by_its_present_turn():
    app = create_agent(
        model(call("pages", query="ferry"), HONEST, "It was red."), [pages], checkpointer=InMemorySaver()
    )

    def do(config):
        app.invoke(ASKED, thread(config))
        app.invoke({"messages": [("user", "What colour was it?")]}, thread(config))

    seen, _ = watch(do)
    first, second = (one.case for one in seen)
    assert (first.question, first.answer, first.contexts) == (QUESTION, HONEST, (PAGE,))
    assert (second.question, second.answer, second.contexts, second.steps) == (
        "What colour was it?",
        "It was red.",
        (),
        (),
    )
    assert [message.content for message in second.messages] == [QUESTION, PAGE, HONEST]


# Many at once


def test_64_agents_at_once_each_have_their_own_steps():
    @tool
    def echo_line(line: str) -> str:
        """Look up departures of a line."""
        return f"Line {line} leaves at nine."

    def reply(messages):
        line = messages[0].text.split()[-1]
        return call("echo_line", line=line) if len(messages) == 1 else f"Line {line} leaves at nine."

    chat = model("unused")
    chat.reply = reply
    app = create_agent(chat, [echo_line])

    async def tasks(config):
        await asyncio.gather(
            *(app.ainvoke({"messages": [("user", f"When does line {number}")]}, config) for number in range(64))
        )

    seen, counts = watch(lambda config: asyncio.run(tasks(config)))
    assert counts == {"judged": 64}
    for one in seen:
        line = one.case.question.split()[-1]
        assert one.case.answer == f"Line {line} leaves at nine."
        assert [step.arguments["line"] for step in one.case.steps] == [line]


# Bounds, samples and the end


def test_a_run_that_is_judged_is_no_longer_pending():
    """More runs than may be pending, one after the other: none is dropped, and nothing is kept."""
    handler = JuryCallbackHandler(passes, max_pending=3)
    for _ in range(40):
        RunnableLambda(str.upper).invoke("q", {"callbacks": [handler]})
        handler.flush(5)
    assert handler.counts == {"judged": 40}
    assert (len(handler._open), len(handler._over), len(handler._pending)) == (0, 40, 0)


def test_a_full_queue_and_a_sample_are_counted():
    gate = threading.Event()

    async def waits(case):
        while not gate.is_set():
            await asyncio.sleep(0.005)
        return True

    handler = JuryCallbackHandler(waits, max_pending=2)
    for _ in range(5):
        RunnableLambda(str.upper).invoke("q", {"callbacks": [handler]})
    gate.set()
    assert handler.close()
    assert handler.counts == {"judged": 2, "dropped": 3}
    seen, counts = watch(lambda config: RunnableLambda(str.upper).batch(["q"] * 20, config), sample=0.0)
    assert (seen, counts) == ([], {"unsampled": 20})


def test_runs_that_never_end_are_forgotten():
    handler = JuryCallbackHandler(passes)
    ids = [uuid4() for _ in range(20_010)]
    for one in ids:
        handler.on_chain_start({}, {}, run_id=one)
    assert len(handler._open) == 20_000
    assert handler.counts == {"evicted": 10}
    for one in ids:
        handler.on_chain_end("an answer", run_id=one)
    assert not handler._open
    assert len(handler._over) == 4_096
    handler.close(0)


def test_steps_of_one_run_are_bounded():
    seen = []
    handler = JuryCallbackHandler(passes, on_verdict=seen.append)
    root = uuid4()
    handler.on_chain_start({}, QUESTION, run_id=root)
    for number in range(10_005):
        one = uuid4()
        handler.on_tool_start({"name": "pages"}, "", inputs={"n": number}, run_id=one, parent_run_id=root)
        handler.on_tool_end(PAGE, run_id=one)
    handler.on_chain_end(HONEST, run_id=root)
    handler.close()
    assert [step.arguments["n"] for step in seen[0].run.steps] == [*range(5, 10_005)]


def test_what_happens_to_the_state_afterwards_is_not_judged():
    gate = threading.Event()

    def waits(case):
        gate.wait(5)
        return True

    seen = []
    handler = JuryCallbackHandler(waits, on_verdict=seen.append, case=lambda run: gate.wait(5) and late(run))

    def late(run):
        from jury_adapters import default_case

        return default_case(run)

    app, given = agent(HONEST)
    state = app.invoke(given, {"callbacks": [handler]})
    state["messages"].clear()
    state["messages"].append("something else")
    gate.set()
    handler.close()
    assert seen[0].case.answer == HONEST


def test_a_copied_config_reports_to_the_same_handler():
    handler = JuryCallbackHandler(passes)
    RunnableLambda(str.upper).invoke("q", copy.deepcopy({"callbacks": [handler]}))
    handler.close()
    assert handler.counts == {"judged": 1}


def test_the_end_of_a_stream_may_come_while_another_event_is_read():
    """The garbage collector may close a stream at any place, also inside the handler and its queue."""
    left = []

    def closing(run):
        while left:
            left.pop().close()
        return True

    handler = JuryCallbackHandler(passes, select=closing)
    stream = chain().stream(GIVEN, {"callbacks": [handler]})
    next(stream)
    left.append(stream)
    done = []
    worker = threading.Thread(
        target=lambda: done.append(RunnableLambda(str.upper).invoke("q", {"callbacks": [handler]}))
    )
    worker.start()
    worker.join(5)
    assert done == ["Q"]
    handler.close()
    assert handler.counts == {"judged": 1, "abandoned": 1}


def test_a_closed_handler_judges_nothing_and_breaks_nothing(caplog):
    handler = JuryCallbackHandler(passes)
    handler.close()
    assert RunnableLambda(str.upper).invoke("q", {"callbacks": [handler]}) == "Q"
    assert handler.counts == {"dropped": 1}


PROGRAM = """
import os, time
from langchain_core.runnables import RunnableLambda
from jury_adapters.langchain import JuryCallbackHandler
def slow(case):
    time.sleep(0.3)
    return True
def show(judged):
    print(judged.case.answer, judged.judgment.status, flush=True)
handler = JuryCallbackHandler(slow, on_verdict=show)
handler._tree.acquire()
if os.fork() == 0:
    RunnableLambda(str.upper).invoke("child", {"callbacks": [handler]})
else:
    handler._tree.release()
    os.wait()
    RunnableLambda(str.upper).invoke("q", {"callbacks": [handler]})
"""


def test_trap_17_the_end_of_each_process_waits_for_verdicts_and_a_child_judges_its_own_runs():
    """The child is forked while the parent holds its lock; then the parent has a run of its own, and ends."""
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=60
    )
    assert (run.stdout.splitlines(), run.stderr, run.returncode) == (["CHILD PASS", "Q PASS"], "", 0)


# Nothing is raised, printed or passed on


def test_nothing_is_raised_or_printed_whatever_breaks(capfd, caplog):
    def broken_sink(judged):
        raise RuntimeError("the sink is down")

    def broken_case(run):
        raise RuntimeError("no case")

    handlers = [
        JuryCallbackHandler(raises),
        JuryCallbackHandler(passes, on_verdict=broken_sink),
        JuryCallbackHandler(passes, case=broken_case),
        JuryCallbackHandler(passes, select=raises),
    ]
    assert RunnableLambda(str.upper).invoke("q", {"callbacks": handlers}) == "Q"
    assert all(one.close() for one in handlers)
    assert [dict(one.counts) for one in handlers] == [
        {"judged": 1}, {"judged": 1, "sink_errors": 1}, {"judged": 1}, {"errors": 1}
    ]  # fmt: skip
    assert capfd.readouterr() == ("", "")
    assert not [one for one in caplog.records if one.name.startswith("langchain")]


def test_events_that_cannot_be_read_are_counted():
    class Strange:
        def __bool__(self):
            raise TypeError("no truth")

    handler = JuryCallbackHandler(passes)
    handler.on_chain_start(Strange(), {}, run_id=1)
    handler.on_chain_end({}, run_id=2)
    assert handler.counts == {"errors": 1}


# Tracing


def test_trap_7_a_chain_in_a_traced_function_is_part_of_the_run_around_it(traced):
    from langsmith import traceable

    app, given = rag(HONEST)

    @traceable
    def inner(question):
        return app.invoke(question)

    for tracing in (True, False):
        with traced(tracing):
            seen, counts = watch(lambda config: RunnableLambda(inner).invoke(given, config))
        assert counts == {"judged": 1}
        assert (seen[0].case.question, seen[0].case.answer, seen[0].case.contexts) == (QUESTION, HONEST, (PAGE,))


def test_trap_7_each_run_in_a_traced_function_around_all_is_outermost(traced):
    from langsmith import traceable

    app, given = rag(HONEST)

    @traceable
    def outer(config):
        app.invoke(given, config)
        return app.invoke(given, config)

    for tracing in (True, False):
        with traced(tracing):
            seen, counts = watch(outer)
        assert counts == {"judged": 2}
        assert [one.case.contexts for one in seen] == [(PAGE,), (PAGE,)]


def test_an_agent_with_hooks_is_judged_as_without_tracing(traced):
    retry = ToolRetryMiddleware(max_retries=1)
    app, given = agent(HONEST, middleware=[retry])
    with traced(True):
        seen, counts = watch(lambda config: app.invoke(given, config))
    assert counts == {"judged": 1}
    assert (seen[0].case.answer, seen[0].case.contexts) == (HONEST, (PAGE,))
    assert [step.tool for step in seen[0].case.steps] == ["pages"]


# Judges that use LangChain themselves


def test_trap_8_what_a_judge_calls_is_not_judged_and_not_traced(traced):
    """The judge shares the model of the application, which has the handler."""
    chat = model(HONEST)
    asked = []

    def jury(case):
        asked.append(case.answer)
        return chat.invoke("is it so?").text == HONEST

    handler = JuryCallbackHandler(jury)
    chat.callbacks = [handler]
    (chat | StrOutputParser()).invoke(QUESTION, {"callbacks": [handler]})
    assert handler.close()
    assert handler.counts == {"judged": 1}
    assert asked == [HONEST]


def test_trap_8_nor_in_a_block():
    chat = model(HONEST)
    seen = []

    async def jury(case):
        return (await chat.ainvoke("is it so?")).text == HONEST

    with judge_runs(jury, on_verdict=seen.append) as handler:
        rag(HONEST)[0].invoke(QUESTION)
    assert handler.counts == {"judged": 1}
    assert seen[0].judgment.status == "PASS"


def test_runs_in_an_asynchronous_block_and_its_tasks():
    async def go():
        seen = []
        async with judge_runs(passes, on_verdict=seen.append) as handler:
            await asyncio.gather(*(rag(HONEST)[0].ainvoke(QUESTION) for _ in range(3)))
        assert handler.counts == {"judged": 3}
        await rag(HONEST)[0].ainvoke(QUESTION)
        assert handler.counts == {"judged": 3}

    asyncio.run(go())


def test_a_block_that_raises_is_left_all_the_same():
    block = judge_runs(passes)

    def leave():
        with block:
            rag(HONEST)[0].invoke(QUESTION)
            raise KeyError("mine")

    with pytest.raises(KeyError):
        leave()
    handler = block.handler
    assert handler.counts == {"judged": 1}
    rag(HONEST)[0].invoke(QUESTION)
    assert handler.counts == {"judged": 1}


def test_a_block_that_is_left_in_another_context_ends_all_the_same():
    from contextvars import copy_context

    block = judge_runs(passes)
    handler = copy_context().run(block.__enter__)
    block.__exit__(None, None, None)
    assert handler.put(Run()) is False


def test_of_blocks_inside_each_other_the_innermost_judges():
    with judge_runs(passes) as outer:
        with judge_runs(passes) as inner:
            RunnableLambda(str.upper).invoke("q")
        RunnableLambda(str.upper).invoke("q")
    assert (outer.counts, inner.counts) == ({"judged": 1}, {"judged": 1})


def test_steps_beside_each_other_keep_their_arguments():
    app = create_agent(
        model(
            call("pages", "a", query="one").model_copy(
                update={
                    "tool_calls": [
                        *call("pages", "a", query="one").tool_calls,
                        *call("remember", "b", text="x").tool_calls,
                    ]
                }
            ),
            HONEST,
        ),
        [pages, remember],
    )
    seen, _ = watch(lambda config: app.invoke(ASKED, config))
    steps = {step.tool: (step.arguments, step.output) for step in seen[0].case.steps}
    assert steps == {"pages": ({"query": "one"}, PAGE), "remember": ({"text": "x"}, "Saved: x")}
