"""Rubrics that show the available tools get those of a guarded agent."""

import asyncio

import pytest
from langchain.agents import create_agent
from langchain_core.tools import tool
from langgraph.prebuilt import ToolRuntime
from support.chat import ScriptedChat, calls

from jury_adapters import CascadedJury, Critic, Ensemble, Tier, judge
from jury_adapters.checks import NotEmpty, always_pass
from jury_adapters.langchain import JuryMiddleware, to_case
from jury_adapters.testing import ScriptedModel

ASKED = {"messages": [("user", "Book a table for two.")]}
BOTH = pytest.mark.parametrize("how", ["sync", "async"])
TELLS_TOOLS = pytest.mark.skipif(
    "tools" not in ToolRuntime.__dataclass_fields__, reason="LangGraph 1.1.6 does not tell a call which tools there are"
)


@tool
def book(guests: int) -> str:
    """Book a table at the restaurant."""
    return f"Booked for {guests}."


@tool(return_direct=True)
def opening_hours() -> str:
    """Return the hours of the restaurant."""
    return "Open from six."


def run(how, script, *middleware):
    agent = create_agent(ScriptedChat(script=script), [book, opening_hours], middleware=list(middleware))
    return agent.invoke(ASKED) if how == "sync" else asyncio.run(agent.ainvoke(ASKED))


def shown(model):
    return [str(prompt) for prompt in model.calls]


@judge
def down(case):
    raise ConnectionError("the judge's server hung up")


NESTED = {
    "alone": lambda critic: critic,
    "in a panel": lambda critic: Ensemble([critic, always_pass("fine")]),
    "in a tier": lambda critic: CascadedJury([Tier("screen", NotEmpty(), "reject_on_any_fail"), Tier("m", critic)]),
    "as a fallback": lambda critic: down.with_fallbacks([critic]),
}


@BOTH
@pytest.mark.parametrize("nested", NESTED.values(), ids=NESTED)
@pytest.mark.parametrize("rubric", ["tool_selection", "tool_arguments"])
@pytest.mark.parametrize(
    "script", [[calls("book", guests=2), "Done."], [calls("opening_hours")]], ids=["model", "direct"]
)
def test_a_guard_of_answers_shows_the_tools_of_the_agent(how, nested, rubric, script):
    if script[-1] != "Done." and "tools" not in ToolRuntime.__dataclass_fields__:
        pytest.skip("LangGraph 1.1.6 does not tell a call which tools there are")
    model = ScriptedModel("Answer: right")
    state = run(how, script, JuryMiddleware(nested(Critic(model, rubric))))
    assert state["jury_verdict"]["status"] == "PASS"
    prompt = shown(model)[0]
    assert "Book a table at the restaurant." in prompt
    assert "guests" in prompt
    assert "Return the hours of the restaurant." in prompt


@BOTH
@TELLS_TOOLS
def test_a_guard_of_tool_calls_shows_the_tools_of_the_agent(how):
    model = ScriptedModel("Answer: right")
    run(how, [calls("book", guests=2), "Done."], JuryMiddleware(Critic(model, "tool_selection"), when="tools"))
    assert "Return the hours of the restaurant." in shown(model)[0]


def test_tools_that_the_application_gives_count_and_other_juries_get_none():
    def with_tools(state):
        return to_case(state).model_copy(update={"metadata": {"available_tools": "book, pay"}})

    model = ScriptedModel("Answer: right")
    run(
        "sync",
        [calls("book", guests=2), "Done."],
        JuryMiddleware(Critic(model, "tool_selection"), field_map=with_tools),
    )
    assert "book, pay" in shown(model)[0]
    assert "Return the hours" not in shown(model)[0]
    seen = []
    run("sync", ["Done."], JuryMiddleware(NotEmpty(), on_verdict=seen.append))
    assert "available_tools" not in seen[0].case.metadata
