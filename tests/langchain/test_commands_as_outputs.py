"""Nodes and tools that return a command of LangGraph: judged is its update of the state."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import Annotated, Any, TypedDict
from uuid import uuid4

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId, tool
from langchain_core.tracers import BaseTracer
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, Send
from langsmith._internal._serde import dumps_json
from support.langchain_apps import Watched, agent, ask, call

from jury_adapters import Case, Judge, Status
from jury_adapters.langchain import JuryEvaluator, judge_runs, to_case

SAYS = "Section 5.2 says yes."


class Claim(TypedDict, total=False):
    question: str
    draft: str
    sure: bool
    answer: str


def graph(returned: Any, state: Any = Claim) -> Any:
    made = StateGraph(state)
    made.add_node("draft", lambda _: returned)
    made.add_node("end", lambda _: {})
    made.add_edge(START, "draft")
    return made.compile(name="claims")


class Tracer(BaseTracer):
    """A tracer that keeps every run of a chain as LangSmith gets it."""

    def __init__(self) -> None:
        super().__init__()
        self.runs: list[Any] = []

    def _persist_run(self, run: Any) -> None:
        """Send nothing."""

    def _on_chain_end(self, run: Any) -> None:
        self.runs.append(run)


DRAFT = Command(update={"draft": SAYS}, goto="end")
FORMS = {
    "command": Command(update={"answer": SAYS}, goto="end"),
    "no known name": DRAFT,
    "pairs": Command(update=[("answer", SAYS)], goto="end"),
    "list": [Command(update={"answer": SAYS}), Command(goto="end")],
    "mixed": [{"sure": True}, Command(update={"answer": SAYS}, goto=Send("end", {}))],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("how", ["invoke", "ainvoke", "judge_runs"])
def test_a_node_that_returns_a_command_is_judged_by_its_update(form: str, how: str, caplog: Any) -> None:
    app, given = graph(FORMS[form]), {"question": "Theft?"}
    watched = Watched(select="draft")
    if how == "invoke":
        app.invoke(given, watched.config)
    elif how == "ainvoke":
        asyncio.run(app.ainvoke(given, watched.config))
    else:
        with judge_runs(watched.handler):
            app.invoke(given)
    assert (watched.case().question, watched.case().answer) == ("Theft?", SAYS)
    assert "goto" not in caplog.text


def test_a_node_that_only_routes_has_no_answer() -> None:
    watched = Watched(select="draft")
    graph(Command(goto="end")).invoke({"question": "Theft?"}, watched.config)
    assert watched.nothing().unanswered == 1


def test_messages_in_a_command() -> None:
    watched = Watched(select="draft")
    given = Command(update={"messages": [AIMessage(SAYS)]}, goto="end")
    graph(given, MessagesState).invoke(ask("Theft?"), watched.config)
    assert (watched.case().question, watched.case().answer) == ("Theft?", SAYS)


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
def test_a_draft_of_an_agent_that_only_calls_tools_is_paused(how: str) -> None:
    watched = Watched(select="model")
    if how == "invoke":
        agent().invoke(ask("Weather in Oslo?"), watched.config)
    else:
        asyncio.run(agent().ainvoke(ask("Weather in Oslo?"), watched.config))
    assert (watched.case().question, watched.case().answer) == ("Weather in Oslo?", "It is 80F.")
    assert (watched.handler.counts.paused, watched.handler.counts.judged) == (1, 1)


def test_paths_of_a_field_map_begin_at_the_update() -> None:
    watched = Watched(select="draft", field_map={"answer": "outputs.draft", "question": "inputs.question"})
    graph(DRAFT).invoke({"question": "Theft?"}, watched.config)
    assert watched.case().answer == SAYS
    row = {"inputs": {"question": "Theft?"}, "outputs": DRAFT}
    assert to_case(row, field_map={"answer": "outputs.draft"}).answer == SAYS


def test_a_warning_names_a_field_of_the_update(caplog: Any) -> None:
    class Several(Claim):
        note: str

    watched = Watched(select="draft")
    update = {"draft": SAYS, "note": "a", "sure": True}
    graph(Command(update=update, goto="end"), Several).invoke({"question": "Theft?"}, watched.config)
    watched.one()
    assert "none of the outputs 'draft', 'note', 'sure' is known" in caplog.text
    assert "{'answer': 'outputs.draft', 'question': 'inputs.question'}" in caplog.text


@pytest.mark.parametrize("form", ["command", "no known name", "pairs", "list", "mixed"])
def test_an_evaluator_reads_the_update_of_a_traced_node(form: str) -> None:
    tracer = Tracer()
    graph(FORMS[form]).invoke({"question": "Theft?"}, {"callbacks": [tracer]})
    node = next(run for run in tracer.runs if run.name == "draft")
    judge = Judge.from_function(lambda case: case.answer == SAYS)
    evaluator = JuryEvaluator(judge)
    for outputs in (node.outputs, json.loads(dumps_json(node.outputs))):
        run = SimpleNamespace(id=uuid4(), inputs={"question": "Theft?"}, outputs=outputs, error=None)
        assert evaluator.evaluate_run(run).score == 1.0
        assert evaluator(inputs={"question": "Theft?"}, outputs=outputs)["score"] == 1.0


@tool
def claim_status(claim: str, call_id: Annotated[str, InjectedToolCallId]) -> Any:
    """The status of a claim."""
    return Command(update={"messages": [ToolMessage(f"{claim} is paid", tool_call_id=call_id)]})


def test_a_tool_that_returns_a_command_gives_the_text_of_its_message() -> None:
    seen: list[Case] = []

    def keep(case: Case) -> bool:
        seen.append(case)
        return True

    watched = Watched(Judge.from_function(keep), select="tools")
    app = agent(call("claim_status", claim="CL-1"), "It is paid.", tools=[claim_status])
    app.invoke(ask("Is CL-1 paid?"), watched.config)
    assert watched.one().judgment.status is Status.PASS
    (case,) = seen
    assert case.contexts == ("CL-1 is paid",)
    assert [(step.tool, step.output) for step in case.trajectory] == [("claim_status", "CL-1 is paid")]
