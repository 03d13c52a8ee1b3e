"""Which runs of LangChain are judged, once each, and which are only counted: streams, failures, pauses, choices."""

import asyncio
import copy
import subprocess
import sys
import threading
from contextlib import nullcontext
from contextvars import copy_context
from importlib.util import find_spec
from typing import TypedDict
from unittest.mock import ANY
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
from langchain_support import ASKED, PROMPT, Pages, agent, call, graph, model, pages, rag, remember
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, RetryPolicy, interrupt
from langsmith import traceable
from scripted import HONEST, PAGE, QUESTION

from jury_adapters import Case, Run, default_case
from jury_adapters.langchain import JuryCallbackHandler, judge_runs


def passes(case):
    return True, "nothing was looked at"


def watch(do, jury=passes, error=None, **options):
    """Return what was judged while ``do(config)`` ran, which may raise an error, and the counts."""
    seen = []
    handler = JuryCallbackHandler(jury, on_verdict=seen.append, **options)
    with pytest.raises(error) if error else nullcontext():
        do({"callbacks": [handler]})
    assert handler.flush(10)
    assert not handler._open
    return seen, dict(handler.counts)


def once(app, given, **options):
    """Call an application, which is judged once; return what was judged."""
    seen, counts = watch(lambda config: app.invoke(given, config), **options)
    assert counts == {"judged": 1}
    return seen[0]


def shown(judged):
    return judged.case.question, judged.case.answer, judged.case.contexts


class Plain(TypedDict, total=False):
    question: str
    answer: str
    draft: str


# Streams


def chain():
    return PROMPT | model("one two three four") | StrOutputParser()


GIVEN = {"question": QUESTION, "context": PAGE}


def test_the_question_of_a_stream_comes_at_its_end():
    seen, _ = watch(lambda config: list(chain().stream(GIVEN, config)))
    assert shown(seen[0]) == (QUESTION, "one two three four", (PAGE,))


def test_a_stream_that_fails_half_way_is_a_failed_run():
    def words(_):
        yield "one "
        raise ValueError("the line broke")

    seen, _ = watch(lambda config: list(RunnableLambda(words).stream("q", config)), error=ValueError)
    assert [(one.judgment.status, one.judgment.reasoning) for one in seen] == [
        ("FAIL", "the run failed: ValueError: the line broke")
    ]


@each_row("mode", ["values", "updates", "messages", ["updates", "messages"], "debug"])
def test_an_agent_is_judged_once_in_every_mode_of_streaming(mode):
    seen, counts = watch(lambda config: list(agent(HONEST)[0].stream(ASKED, config, stream_mode=mode)))
    assert (counts, shown(seen[0])) == ({"judged": 1}, (QUESTION, HONEST, (PAGE,)))


# Failures


def raises(given):
    raise ValueError("no such line, Bearer abcdefgh12345678")


def test_trap_9_a_run_that_failed_is_fail_and_the_jury_is_not_asked():
    """Keys in the error are removed."""
    asked = []
    one = once(
        RunnableLambda(raises), {"question": QUESTION}, jury=lambda case: asked.append(case) or True, error=ValueError
    )
    assert (one.judgment.status, one.judgment.reasoning) == ("FAIL", "the run failed: ValueError: no such line, [key]")
    assert (one.case.question, asked) == (QUESTION, [])
    assert "abcdefgh" not in str(one)


def test_a_tool_that_raises_is_a_step_with_an_error_and_fails_the_run():
    @tool
    def timetable(line: str) -> str:
        """Look up departures."""
        raise ConnectionError("no timetable")

    app = create_agent(model(call("timetable", line="4"), HONEST), [timetable])
    one = once(app, ASKED, error=ConnectionError)
    steps = [(step.tool, step.output, step.error) for step in one.run.steps]
    assert (steps, one.judgment.status) == ([("timetable", None, "ConnectionError: no timetable")], "FAIL")


def test_wrong_arguments_are_a_step_with_an_error_and_the_run_goes_on():
    one = once(create_agent(model(call("pages", wrong=1), HONEST), [pages]), ASKED)
    assert shown(one) == (QUESTION, HONEST, ())
    assert [(step.tool, bool(step.error)) for step in one.case.steps] == [("pages", True)]


def test_a_model_that_fails_in_the_middle_fails_the_run():
    app = create_agent(model(call("pages", query="ferry"), RuntimeError("the model is down")), [pages])
    one = once(app, ASKED, error=RuntimeError)
    assert one.judgment.reasoning == "the run failed: RuntimeError: the model is down"
    assert [step.tool for step in one.case.steps] == ["pages"]


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


def flaky(error):
    left = [error]

    def run(given):
        Pages().invoke("ferry")
        if left:
            raise left.pop()
        return HONEST

    return run


def flaky_node():
    write, policy = flaky(OSError("once")), RetryPolicy(max_attempts=3, initial_interval=0.01, retry_on=Exception)
    made = StateGraph(Plain).add_node("write", lambda state: {"answer": write(state)}, retry_policy=policy)
    return made.add_edge(START, "write").add_edge("write", END).compile()


@each_row(
    ("make", "answer"),
    [
        (lambda: RunnableLambda(flaky(ValueError("once"))).with_retry(wait_exponential_jitter=False), HONEST),
        (lambda: RunnableLambda(raises).with_fallbacks([RunnableLambda(lambda _: "the second")]), "the second"),
        (flaky_node, HONEST),
    ],
    ids=["retry", "fallback", "node with a retry policy"],
)
def test_a_run_with_retries_or_fallbacks_is_judged_once(make, answer):
    case = once(make(), {"question": QUESTION}).case
    assert (case.question, case.answer, case.error) == (QUESTION, answer, None)


def test_what_a_failed_attempt_found_is_no_context_but_its_calls_were_made():
    class Other(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            return [Document("The ferry stopped in 1999.")]

    left = [ValueError("once")]

    def find(given):
        if left:
            Other().invoke("ferry")
            remember.invoke({"text": "1998"})
            raise left.pop()
        return Pages().invoke("ferry")

    app = RunnableLambda(find).with_retry(wait_exponential_jitter=False) | (lambda found: HONEST)
    case = once(app, QUESTION).case
    assert (case.contexts, [step.tool for step in case.steps]) == ((PAGE,), ["remember"])


def test_tries_of_a_retried_tool_are_two_steps():
    """Lost against 0.2, which joined them: each call that ran is a step."""
    left = [ConnectionError("once")]

    @tool
    def timetable(line: str) -> str:
        """Look up departures."""
        if left:
            raise left.pop()
        return PAGE

    retry = ToolRetryMiddleware(max_retries=1, initial_delay=0.0, jitter=False)
    app = create_agent(model(call("timetable", line="4"), HONEST), [timetable], middleware=[retry])
    case = once(app, ASKED).case
    steps = [(step.error, step.output) for step in case.steps]
    assert (steps, case.contexts) == ([("ConnectionError: once", None), (None, PAGE)], (PAGE,))


# Pauses; LangGraph before 1.2 does not tell handlers of breakpoints, and that a graph goes on

TELLS_PAUSES = find_spec("langgraph.callbacks") is not None


def thread(config):
    return {**config, "configurable": {"thread_id": "1"}}


def pausing(**options):
    made = StateGraph(Plain).add_node("draft", lambda state: {"draft": str(len(Pages().invoke("ferry")))})
    made.add_node("ask", lambda state: {"answer": f"{HONEST} {interrupt('is it 2018?')}"})
    return made.add_edge(START, "draft").add_edge("draft", "ask").add_edge("ask", END).compile(**options)


def resumed(app, resume, given):
    def do(config):
        app.invoke(given, thread(config))
        app.invoke(resume, thread(config))

    return do


GO_ON, PERSON = Command(resume="yes"), HumanInTheLoopMiddleware(interrupt_on={"pages": True})


@each_row(
    ("make", "resume", "given", "found"),
    [
        (pausing, GO_ON, {"question": QUESTION}, (QUESTION, f"{HONEST} yes", (PAGE,) * TELLS_PAUSES)),
        (lambda **options: StateGraph(Plain).add_node("in", pausing()).add_edge(START, "in").add_edge("in", END)
         .compile(**options), GO_ON, {"question": QUESTION}, (QUESTION, f"{HONEST} yes", (PAGE,) * TELLS_PAUSES)),
        # A chain is given the command alone when it goes on, and not every version tells it the thread.
        (lambda **options: pausing(**options) | (lambda state: state.get("answer", "it waits")), GO_ON,
         {"question": QUESTION}, (None, f"{HONEST} yes", ANY)),
        (lambda **options: agent(HONEST, middleware=[PERSON], **options)[0],
         Command(resume={"decisions": [{"type": "approve"}]}), ASKED, (QUESTION, HONEST, (PAGE,))),
    ],
    ids=["graph", "graph in a graph", "chain that went on with a paused state", "person who decides about a call"],
)  # fmt: skip
def test_trap_6_what_waits_for_a_person_is_judged_when_it_went_on(make, resume, given, found):
    """What was found before the pause is a context after it."""
    seen, counts = watch(resumed(make(checkpointer=InMemorySaver()), resume, given))
    assert counts == {"paused": 1, "judged": 1}
    assert shown(seen[0]) == found


def test_what_was_found_before_a_pause_is_that_of_its_own_run():
    """Two applications may name their threads alike, and others may run on a thread that waits."""

    class Answer(TypedDict):
        answer: str

    def tenant(owner):
        made = StateGraph(Plain, output_schema=Answer)
        made.add_node("draft", lambda state: {"draft": str(len(Pages(text=owner).invoke("x")))})
        made.add_node("ask", lambda state: {"answer": interrupt("go on?")})
        made.add_edge(START, "draft").add_edge("draft", "ask").add_edge("ask", END)
        return made.compile(checkpointer=InMemorySaver())

    ann, bob = tenant("Ann"), tenant("Bob")

    def do(config):
        for given in ({"question": QUESTION}, GO_ON):
            for app in (ann, bob):
                app.invoke(given, thread(config))
            RunnableLambda(str).invoke("by the way", thread(config))

    seen, counts = watch(do)
    assert counts == {"paused": 2, "judged": 4}
    found = sorted((one.case.question or "", one.case.contexts) for one in seen if one.case.answer == "yes")
    assert found == ([(QUESTION, ("Ann",)), (QUESTION, ("Bob",))] if TELLS_PAUSES else [("", ()), ("", ())])


def test_trap_6_a_graph_that_is_resumed_within_one_run_has_an_answer():
    app = pausing(checkpointer=InMemorySaver())

    def both(question):
        app.invoke({"question": question}, thread({}))
        return app.invoke(GO_ON, thread({}))["answer"]

    seen, counts = watch(lambda config: RunnableLambda(both).invoke(QUESTION, config))
    assert counts == ({"judged": 1} if TELLS_PAUSES else {"paused": 1})
    assert [(one.case.question, one.case.answer) for one in seen] == [(QUESTION, f"{HONEST} yes")] * TELLS_PAUSES


def test_trap_6_a_breakpoint_is_a_pause():
    app = graph(HONEST)[0].builder.compile(checkpointer=InMemorySaver(), interrupt_before=["write"])
    seen, counts = watch(resumed(app, None, {"question": QUESTION}))
    assert counts == ({"paused": 1, "judged": 1} if TELLS_PAUSES else {"judged": 2})
    assert shown(seen[-1]) == (QUESTION, HONEST, (PAGE,))
    assert TELLS_PAUSES or seen[0].case.answer is None


def test_trap_6_an_answer_that_only_calls_tools_is_no_answer():
    seen, counts = watch(lambda config: model(call("pages", query="x")).invoke(QUESTION, config))
    assert (seen, counts) == ([], {"paused": 1})


def test_trap_6_a_chosen_node_that_returns_a_command_with_open_calls_is_no_answer():
    """The known hole of the prototype: nodes of ``create_agent`` return a list of commands."""
    app, given = agent(HONEST)
    seen, counts = watch(lambda config: app.invoke(given, config), select=lambda run: run.name == "model")
    assert (counts, shown(seen[0])) == ({"paused": 1, "judged": 1}, (QUESTION, HONEST, (PAGE,)))


def test_a_handover_to_another_agent_is_neither_a_pause_nor_a_failure():
    give = Command(goto="second", graph=Command.PARENT, update={"draft": "given"})
    inner = StateGraph(Plain).add_node("give", lambda state: give).add_edge(START, "give").compile()

    def first_agent(state):
        pages.invoke({"query": "ferry"})
        return inner.invoke(state)

    outer = StateGraph(Plain).add_node("first", first_agent, destinations=("second",))
    outer.add_node("second", lambda state: {"answer": HONEST}).add_edge(START, "first").add_edge("second", END)
    app, given = outer.compile(), {"question": QUESTION}
    assert shown(once(app, given)) == (QUESTION, HONEST, (PAGE,))
    found = watch(lambda config: app.invoke(given, config), select=lambda run: run.name == "first")
    assert found == ([], {"skipped": 1})


# Choices


def test_trap_7_of_chosen_runs_inside_each_other_the_outermost_is_judged():
    inner = RunnableLambda(lambda text: f"{text}!").with_config(tags=["chosen"])
    outer = (RunnableLambda(lambda text: text) | inner | inner).with_config(tags=["chosen"])
    assert once(outer, "q", select=lambda run: "chosen" in run.tags).case.answer == "q!!"


def test_chosen_runs_beside_each_other_are_judged_each():
    both = RunnableParallel(a=Pages(), b=Pages())
    seen, counts = watch(lambda config: both.invoke("ferry", config), select=lambda run: run.kind == "retriever")
    assert (counts, {one.case.contexts for one in seen}) == ({"judged": 2}, {(PAGE,)})


def test_runs_are_chosen_by_name_and_metadata():
    step = RunnableLambda(lambda text: f"{text}?").with_config(run_name="ask", metadata={"team": "blue"})
    for select in (lambda run: run.name == "ask", lambda run: run.metadata.get("team") == "blue"):
        assert once(RunnableLambda(str.upper) | step, "q", select=select).case.answer == "Q?"


def test_an_agent_inside_a_graph_is_chosen_by_its_name():
    inner = create_agent(model(call("pages", query="ferry"), HONEST), [pages], name="reader")
    outer = StateGraph(inner.builder.state_schema).add_node("reader", inner)
    app = outer.add_edge(START, "reader").add_edge("reader", END).compile()
    assert shown(once(app, ASKED, select=lambda run: run.name == "reader")) == (QUESTION, HONEST, (PAGE,))


# Twice, and from where


def test_a_handler_that_only_the_model_has_judges_its_calls():
    def do(config):
        chat = model(HONEST)
        chat.callbacks = config["callbacks"]
        (PROMPT | chat | StrOutputParser()).invoke(GIVEN)

    seen, counts = watch(do)
    assert (counts, seen[0].run.kind, seen[0].case.answer) == ({"judged": 1}, "llm", HONEST)
    assert QUESTION in seen[0].case.question


def test_an_application_inside_another_that_names_the_handler_again_is_part_of_it():
    def do(config):
        inner, given = agent(HONEST)
        RunnableLambda(lambda _: inner.invoke(given, config)["messages"][-1].text).invoke(QUESTION, config)

    assert watch(do)[1] == {"judged": 1}


def test_what_goes_on_after_the_run_around_it_is_no_run_of_its_own():
    started, over, workers = threading.Event(), threading.Event(), []

    def later(config):
        started.set()
        over.wait(5)
        RunnableLambda(str.upper).invoke("late", config)

    def starts(text, config):
        workers.append(threading.Thread(target=later, args=(config,)))
        workers[0].start()
        started.wait(5)
        return text

    def do(config):
        RunnableLambda(starts).invoke("q", config)
        over.set()
        workers[0].join(5)

    assert [one.case.answer for one in watch(do)[0]] == ["q"]


@each_row(
    ("app", "given", "kind", "answer", "contexts"),
    [
        (FakeListLLM(responses=[HONEST]), QUESTION, "llm", HONEST, ()),
        (model(HONEST), QUESTION, "llm", HONEST, ()),
        (Pages(), QUESTION, "retriever", None, (PAGE,)),
        (pages, {"query": QUESTION}, "tool", PAGE, ()),
    ],
)
def test_a_single_object_is_a_run(app, given, kind, answer, contexts):
    one = once(app, given)
    assert (one.run.kind, *shown(one)) == (kind, QUESTION, answer, contexts)


def test_of_a_retriever_over_retrievers_only_its_choice_counts():
    class Best(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            other = RunnableLambda(lambda text: [Document("The ferry stopped in 1999.")])
            other.invoke(query, {"callbacks": run_manager.get_child()})
            return Several().invoke(query, {"callbacks": run_manager.get_child()})[:1]

    class Several(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            return [Document(PAGE), Document("The ferry stopped in 1998.")]

    for app in (Best() | (lambda found: HONEST), Best()):
        assert once(app, QUESTION).case.contexts == (PAGE,)


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
        assert once(RunnableLambda(lambda _, gave=gave: gave), given).judgment.status in ("PASS", "ERROR")
    assert watch(lambda config: RunnableLambda(lambda _: Silent()).invoke("q", config))[1] == {"errors": 1}


def test_case_says_where_question_and_answer_are():
    def case(run: Run) -> Case:
        return Case(question=run.inputs["mail"], answer=run.outputs["reason"])

    app = RunnableLambda(lambda _: {"covered": False, "reason": "theft"})
    assert shown(once(app, {"mail": "stolen"}, case=case)) == ("stolen", "theft", ())


def test_a_conversation_is_judged_by_its_present_turn():
    script = (call("pages", query="ferry"), HONEST, "It was red.")
    app = create_agent(model(*script), [pages], checkpointer=InMemorySaver())
    seen, _ = watch(resumed(app, {"messages": [("user", "What colour was it?")]}, ASKED))
    assert [shown(one) for one in seen] == [(QUESTION, HONEST, (PAGE,)), ("What colour was it?", "It was red.", ())]
    assert seen[1].case.steps == ()
    assert [message.content for message in seen[1].case.messages] == [QUESTION, PAGE, HONEST]


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
        asked = ({"messages": [("user", f"When does line {number}")]} for number in range(64))
        await asyncio.gather(*(app.ainvoke(one, config) for one in asked))

    seen, counts = watch(lambda config: asyncio.run(tasks(config)))
    assert counts == {"judged": 64}
    for case in (one.case for one in seen):
        line = case.question.split()[-1]
        assert (case.answer, [step.arguments["line"] for step in case.steps]) == (
            f"Line {line} leaves at nine.",
            [line],
        )


# Bounds, samples and the end


def test_a_run_that_is_judged_is_no_longer_pending():
    """More runs than may be pending, one after the other: none is dropped, and nothing is kept."""
    handler = JuryCallbackHandler(passes, max_pending=3)
    for _ in range(40):
        RunnableLambda(str.upper).invoke("q", {"callbacks": [handler]})
        handler.flush(5)
    assert (handler.counts, len(handler._open), len(handler._over), len(handler._pending)) == ({"judged": 40}, 0, 40, 0)


def test_a_full_queue_and_a_sample_are_counted():
    gate = threading.Event()

    def do(config):
        RunnableLambda(str.upper).batch(["q"] * 5, config)
        gate.set()

    assert watch(do, lambda case: gate.wait(5), max_pending=2)[1] == {"judged": 2, "dropped": 3}
    assert watch(lambda config: RunnableLambda(str.upper).batch(["q"] * 20, config), sample=0.0) == (
        [],
        {"unsampled": 20},
    )


def test_runs_that_never_end_are_forgotten():
    handler = JuryCallbackHandler(passes)
    ids = [uuid4() for _ in range(20_010)]
    for one in ids:
        handler.on_chain_start({}, {}, run_id=one)
    assert (len(handler._open), handler.counts) == (20_000, {"evicted": 10})
    for one in ids:
        handler.on_chain_end("an answer", run_id=one)
    assert (len(handler._open), len(handler._over)) == (0, 4_096)
    handler.close(0)


def test_steps_of_one_run_are_bounded():
    def do(config):
        (handler,), root = config["callbacks"], uuid4()
        handler.on_chain_start({}, QUESTION, run_id=root)
        for number in range(10_005):
            one = uuid4()
            handler.on_tool_start({"name": "pages"}, "", inputs={"n": number}, run_id=one, parent_run_id=root)
            handler.on_tool_end(PAGE, run_id=one)
        handler.on_chain_end(HONEST, run_id=root)

    seen, _ = watch(do)
    assert [step.arguments["n"] for step in seen[0].run.steps] == [*range(5, 10_005)]


def test_what_happens_to_the_state_afterwards_is_not_judged():
    gate = threading.Event()

    def do(config):
        app, given = agent(HONEST)
        app.invoke(given, config)["messages"][:] = ["something else"]
        gate.set()

    seen, _ = watch(do, case=lambda run: gate.wait(5) and default_case(run))
    assert seen[0].case.answer == HONEST


def test_a_copied_config_reports_to_the_same_handler():
    _, counts = watch(lambda config: RunnableLambda(str.upper).invoke("q", copy.deepcopy(config)))
    assert counts == {"judged": 1}


def test_the_end_of_a_stream_may_come_while_another_event_is_read():
    """The garbage collector may close a stream at any place, also inside the handler and its queue."""
    left, done = [], []

    def closing(run):
        while left:
            left.pop().close()
        return True

    def do(config):
        stream = chain().stream(GIVEN, config)
        next(stream)
        left.append(stream)
        worker = threading.Thread(target=lambda: done.append(RunnableLambda(str.upper).invoke("q", config)))
        worker.start()
        worker.join(5)

    _, counts = watch(do, select=closing)
    assert (done, counts) == (["Q"], {"judged": 1, "abandoned": 1})


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
    handlers = [
        JuryCallbackHandler(raises),
        JuryCallbackHandler(passes, on_verdict=raises),
        JuryCallbackHandler(passes, case=raises),
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
    app, given = rag(HONEST)
    inner = RunnableLambda(traceable(lambda question: app.invoke(input=question)))
    for tracing in (True, False):
        with traced(tracing):
            assert shown(once(inner, given)) == (QUESTION, HONEST, (PAGE,))


def test_trap_7_each_run_in_a_traced_function_around_all_is_outermost(traced):
    app, given = rag(HONEST)
    outer = traceable(lambda config: (app.invoke(given, config), app.invoke(given, config)))
    for tracing in (True, False):
        with traced(tracing):
            seen, counts = watch(outer)
        assert (counts, [one.case.contexts for one in seen]) == ({"judged": 2}, [(PAGE,), (PAGE,)])


def test_an_agent_with_hooks_is_judged_as_without_tracing(traced):
    with traced(True):
        one = once(*agent(HONEST, middleware=[ToolRetryMiddleware(max_retries=1)]))
    assert shown(one) == (QUESTION, HONEST, (PAGE,))
    assert [step.tool for step in one.case.steps] == ["pages"]


# Judges that use LangChain themselves


def test_trap_8_what_a_judge_calls_is_not_judged_and_not_traced(traced):
    """The judge shares the model of the application, which has the handler."""
    chat, asked = model(HONEST), []

    def jury(case):
        asked.append(case.answer)
        return chat.invoke("is it so?").text == HONEST

    def do(config):
        chat.callbacks = config["callbacks"]
        (chat | StrOutputParser()).invoke(QUESTION, config)

    _, counts = watch(do, jury)
    assert (counts, asked) == ({"judged": 1}, [HONEST])


def test_trap_8_nor_in_a_block():
    chat, seen = model(HONEST), []

    async def jury(case):
        return (await chat.ainvoke("is it so?")).text == HONEST

    with judge_runs(jury, on_verdict=seen.append) as handler:
        rag(HONEST)[0].invoke(QUESTION)
    assert (handler.counts, seen[0].judgment.status) == ({"judged": 1}, "PASS")


def test_runs_in_an_asynchronous_block_and_its_tasks():
    async def go():
        async with judge_runs(passes) as handler:
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
    rag(HONEST)[0].invoke(QUESTION)
    assert block.counts == {"judged": 1}


def test_a_block_that_is_left_in_another_context_ends_all_the_same():
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
    both = call("pages", "a", query="one")
    both.tool_calls += call("remember", "b", text="x").tool_calls
    case = once(create_agent(model(both, HONEST), [pages, remember]), ASKED).case
    steps = {step.tool: (step.arguments, step.output) for step in case.steps}
    assert steps == {"pages": ({"query": "one"}, PAGE), "remember": ({"text": "x"}, "Saved: x")}
