"""With LangSmith's tracing, its own runs are between those of LangChain. A handler judges the same runs as without."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from langchain.agents.middleware import (
    AgentMiddleware,
    HumanInTheLoopMiddleware,
    ModelRetryMiddleware,
    ToolRetryMiddleware,
    wrap_model_call,
    wrap_tool_call,
)
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from langsmith import Client, get_current_run_tree, traceable, tracing_context, utils
from langsmith.run_trees import RunTree
from support.langchain_apps import Scripted, Watched, agent, ask, call, rag, retriever

from jury_adapters import Judge, judge
from jury_adapters.langchain import JuryMiddleware, judge_runs
from jury_adapters.langchain.langsmith import examples, offline_client

pytestmark = pytest.mark.filterwarnings("ignore:'upload_(results|runs)' parameter is in beta")


@wrap_model_call
def asks(request: Any, handler: Any) -> Any:
    return handler(request)


@wrap_tool_call
def uses(request: Any, handler: Any) -> Any:
    return handler(request)


@wrap_model_call
async def asks_later(request: Any, handler: Any) -> Any:
    return await handler(request)


@wrap_tool_call
async def uses_later(request: Any, handler: Any) -> Any:
    return await handler(request)


@tool
def pages(query: str) -> str:
    """Pages."""
    return "\n\n".join(page.page_content for page in retriever().invoke(query))


@judge
def says_80(case: Any) -> bool:
    return "80" in (case.answer or "")


def traced_here(**options: Any) -> Any:
    """Tracing as LangSmith does it, which sends nothing."""
    return tracing_context(enabled=True, client=offline_client(), **options)


def searching(*middleware: AgentMiddleware[Any, Any]) -> Any:
    return agent(call("pages", query="sky"), "Scattering.", tools=[pages], middleware=list(middleware))


MIDDLEWARE: dict[str, Callable[[bool], list[Any]]] = {
    "none": lambda later: [],
    "guard": lambda later: [JuryMiddleware(says_80, on_fail="block")],
    "guard that asks again": lambda later: [JuryMiddleware(says_80, max_retries=1)],
    "retries": lambda later: [ModelRetryMiddleware(max_retries=1), ToolRetryMiddleware(max_retries=1)],
    "own": lambda later: [asks_later, uses_later] if later else [asks, uses],
}


def seen(watched: Watched) -> Any:
    """What a handler judged, and what it counted."""
    runs = [
        (judged.run.kind, judged.run.name, judged.answer, judged.case and judged.case.contexts)
        for judged in sorted(watched.all(), key=lambda judged: judged.question or "")
    ]
    return runs, watched.handler.counts


def by_callback(app: Any, given: Any, watched: Watched) -> None:
    app.invoke(given, watched.config)


def by_block(app: Any, given: Any, watched: Watched) -> None:
    with judge_runs(watched.handler):
        app.invoke(given)


def streamed(app: Any, given: Any, watched: Watched) -> None:
    list(app.stream(given, watched.config))


def awaited(app: Any, given: Any, watched: Watched) -> None:
    asyncio.run(app.ainvoke(given, watched.config))


def inside_a_function(app: Any, given: Any, watched: Watched) -> None:
    @traceable
    def serve(question: Any) -> Any:
        return app.invoke(question, watched.config)

    serve(given)


CALLED = pytest.mark.parametrize("called", [by_callback, by_block, streamed, awaited, inside_a_function])


@CALLED
@pytest.mark.parametrize("name", MIDDLEWARE)
def test_an_agent_is_judged_as_without_tracing(called: Any, name: str) -> None:
    found = []
    for tracing in (False, True):
        watched = Watched()
        app = searching(*MIDDLEWARE[name](called is awaited))
        with traced_here() if tracing else nullcontext():
            called(app, ask("Why blue?"), watched)
        found.append(seen(watched))
    assert found[0] == found[1]
    counts = found[1][1]
    assert (counts.judged, counts.skipped, counts.paused) == ((0, 1, 0) if name.startswith("guard") else (1, 0, 0))


def test_a_withheld_draft_is_no_answer_in_an_experiment() -> None:
    watched = Watched()
    guarded = agent("At noon.", middleware=[JuryMiddleware(says_80, on_fail="block", refusal="Not reviewed.")])

    def target(inputs: dict[str, Any]) -> dict[str, Any]:
        return {"answer": guarded.invoke(ask(inputs["question"]), watched.config)["messages"][-1].text}

    data = examples([{"question": f"When {place}?"} for place in range(3)])
    rows = offline_client().evaluate(target, data=data, max_concurrency=2, upload_results=False)
    assert [row["run"].outputs for row in rows] == [{"answer": "Not reviewed."}] * 3
    assert watched.nothing().skipped == 3


class Taking(BaseHTTPRequestHandler):
    """LangSmith, as far as it takes the runs of a trace."""

    def log_message(self, *_: Any) -> None:
        return

    def answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.asked.append(self.path)  # type: ignore[attr-defined]
        data = json.dumps({"version": "0.14", "batch_ingest_config": {"use_multipart_endpoint": False}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PATCH = answer


@pytest.fixture
def paths(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Tracing by the environment, to a server on this machine: what it was sent."""
    for name in [name for name in os.environ if name.startswith(("LANGSMITH", "LANGCHAIN"))]:
        monkeypatch.delenv(name)
    utils.get_env_var.cache_clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Taking) as server:
        server.daemon_threads = True
        server.asked = []  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        client = Client(api_url=f"http://127.0.0.1:{server.server_port}", api_key="k", auto_batch_tracing=False)
        monkeypatch.setenv("LANGSMITH_TRACING", "true")
        with tracing_context(client=client):
            yield server.asked  # type: ignore[attr-defined]
        client.close()
        server.shutdown()
        thread.join()
    monkeypatch.undo()
    utils.get_env_var.cache_clear()


def test_a_run_that_is_sent_to_langsmith_is_judged_once(paths: list[str]) -> None:
    watched = Watched()
    searching(*MIDDLEWARE["own"](False)).invoke(ask("Why blue?"), watched.config)
    assert watched.case().answer == "Scattering."
    assert len(watched.case().contexts) == 2
    assert len(paths) > 4


def test_an_agent_that_waits_for_a_person_is_judged_once_it_went_on() -> None:
    watched = Watched()
    middleware = [HumanInTheLoopMiddleware(interrupt_on={"weather": True}), asks, uses]
    app = agent(checkpointer=InMemorySaver(), middleware=middleware)
    config = {**watched.config, "configurable": {"thread_id": "t"}}
    with traced_here():
        app.invoke(ask("Weather in Oslo?"), config)
        app.invoke(Command(resume={"decisions": [{"type": "approve"}]}), config)
    assert (watched.case().question, watched.case().answer) == ("Weather in Oslo?", "It is 80F.")
    assert watched.handler.counts.paused == 1


def test_streams_that_are_left_early_do_not_hide_later_runs() -> None:
    watched = Watched()

    @traceable
    def words(question: str) -> Iterator[str]:
        yield from rag("One two three.").stream(question, watched.config)

    with traced_here():
        for stream in (
            searching(asks, uses).stream(ask("Why?"), watched.config, stream_mode="messages"),
            rag("One two three.").stream("Why?", watched.config),
            words("Why?"),
        ):
            next(stream)
            stream.close()
        rag("Later.").invoke("When?", watched.config)
    assert watched.case().answer == "Later."
    assert watched.handler.counts.abandoned == 3


# Functions between the runs of LangChain


@traceable
def look_up(question: str, config: Any = None) -> str:
    return rag().invoke(question, config)  # type: ignore[no-any-return]


@traceable
def pass_on(question: str, config: Any = None) -> str:
    return look_up(question, config)


def app_with(step: Callable[[str], str]) -> Runnable[Any, Any]:
    return RunnableLambda(lambda given: {"answer": step(given["question"])})


@pytest.mark.parametrize("step", [look_up, pass_on])
@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("block", [False, True])
def test_a_chain_in_a_traced_function_is_part_of_the_run_around_it(step: Any, again: bool, block: bool) -> None:
    """The function may pass the handler again, as callbacks that know nothing of the run around it."""
    watched = Watched()
    app = app_with(lambda question: step(question, watched.config if again else None))
    with traced_here():
        (by_block if block else by_callback)(app, {"question": "Why blue?"}, watched)
    case = watched.case()
    assert (case.question, case.answer) == ("Why blue?", "Because of Rayleigh scattering.")
    assert len(case.contexts) == 2


def test_a_function_that_is_traced_although_the_runs_around_it_are_not() -> None:
    watched = Watched()

    @traceable(enabled=True)
    def traced(question: str) -> str:
        return rag().invoke(question, watched.config)  # type: ignore[no-any-return]

    with tracing_context(enabled=False, client=offline_client()):
        app_with(traced).invoke({"question": "Why blue?"}, watched.config)
    assert len(watched.case().contexts) == 2


def test_chains_in_a_traced_function_around_all_runs_are_judged_each() -> None:
    watched = Watched()

    @traceable
    def serve(question: str) -> list[Any]:
        return [rag().invoke(question, watched.config), pass_on(question, watched.config)]

    with traced_here():
        serve("Why blue?")
    assert [len(case.contexts) for case in watched.cases()] == [2, 2]


def test_parallel_runs_keep_what_is_theirs() -> None:
    def answer(question: str) -> str:
        model = Scripted(script=[f"The answer to {question}"], delay=0.02)
        return str(traceable(model.invoke)(question, watched.config).text)

    watched, asked = Watched(), [f"question {place}" for place in range(6)]
    app = app_with(traceable(answer))
    with traced_here():
        app.batch([{"question": one} for one in asked], {**watched.config, "max_concurrency": 6})  # type: ignore[misc]
    found = sorted((case.question or "", case.answer or "") for case in watched.cases())
    assert found == [(one, f"The answer to {one}") for one in asked]


def test_parallel_tasks_of_one_run_are_part_of_it() -> None:
    @traceable
    async def ask_one(question: str) -> Any:
        await asyncio.sleep(0.01)
        return await rag(question).ainvoke(question, watched.config)

    async def ask_all(given: dict[str, str]) -> dict[str, str]:
        found = await asyncio.gather(*(ask_one(f"{given['question']} {place}") for place in range(3)))
        return {"answer": " ".join(found)}

    watched = Watched()
    with traced_here():
        asyncio.run(RunnableLambda(ask_all).ainvoke({"question": "Why"}, watched.config))
    assert watched.case().answer == "Why 0 Why 1 Why 2"


def test_a_chosen_run_inside_a_traced_function_knows_the_chosen_run_around_it() -> None:
    watched = Watched(select=["outer", "retriever"])
    app = app_with(pass_on).with_config(run_name="outer")
    with traced_here():
        app.invoke({"question": "Why blue?"}, watched.config)
    assert watched.one().run.name == "outer"


def test_a_thread_without_context_belongs_to_the_run_that_its_function_names() -> None:
    watched = Watched()

    def in_a_thread(question: str) -> str:
        answers: list[str] = []
        around = get_current_run_tree()

        def work() -> None:  # a plain thread has no context
            answers.append(look_up(question, watched.config, langsmith_extra={"parent": around}))

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        return answers[0]

    with traced_here():
        app_with(in_a_thread).invoke({"question": "Why blue?"}, watched.config)
    assert len(watched.case().contexts) == 2


def test_what_goes_on_after_the_run_around_it_is_no_run_of_its_own() -> None:
    watched = Watched()
    ended = threading.Event()
    late: list[threading.Thread] = []

    def begin(question: str) -> str:
        around = get_current_run_tree()

        def work() -> None:
            ended.wait(10)
            look_up(question, watched.config, langsmith_extra={"parent": around})

        late.append(threading.Thread(target=work))
        late[0].start()
        return "At once."

    with traced_here():
        app_with(begin).invoke({"question": "Why blue?"}, watched.config)
    ended.set()
    late[0].join()
    assert watched.case().answer == "At once."


def test_a_trace_that_another_process_began_does_not_hide_the_outermost_run() -> None:
    watched = Watched()
    elsewhere = RunTree(name="gateway", client=offline_client())
    inner = elsewhere.create_child(name="route")
    with traced_here(parent=RunTree.from_headers(inner.to_headers(), client=offline_client())):
        app_with(pass_on).invoke({"question": "Why blue?"}, watched.config)
    assert watched.case().answer == "Because of Rayleigh scattering."


def test_runs_of_a_judge_in_a_traced_function_are_not_judged() -> None:
    inner = Watched()

    @traceable
    def graded(answer: str) -> str:
        return str(Scripted(script=["good"]).invoke(answer, inner.config).text)

    judges = Judge.from_function(lambda case: graded(case.answer or "") == "good", name="graded")
    watched = Watched(judges)
    with traced_here(), judge_runs(inner.handler):
        rag().invoke("Why blue?", watched.config)
        watched.all()
    assert len(inner.all()) == 1
