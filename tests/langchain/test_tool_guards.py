"""Guards of tools fail closed, and judge the call that is made."""

import asyncio

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from support.chat import ScriptedChat, calls

from jury_adapters import CascadedJury, Ensemble, Scorecard, Tier, judge
from jury_adapters.checks import always_pass
from jury_adapters.langchain import JuryMiddleware

ASKED = {"messages": [("user", "Delete bob.")]}
THREAD = {"configurable": {"thread_id": "1"}}
BOTH = pytest.mark.parametrize("how", ["sync", "async"])
DELETED: list[str] = []


@tool
def delete_user(user: str) -> str:
    """Delete a user."""
    DELETED.append(user)
    return f"{user} is gone"


@pytest.fixture(autouse=True)
def nothing_deleted():
    DELETED.clear()


def run(agent, how, given=ASKED):
    return agent.invoke(given, THREAD) if how == "sync" else asyncio.run(agent.ainvoke(given, THREAD))


def an_agent(*middleware):
    model = ScriptedChat(script=[calls("delete_user", user="bob"), "Done."])
    return create_agent(model, [delete_user], middleware=list(middleware), checkpointer=InMemorySaver())


@judge(name="broken")
def broken(case):
    raise ConnectionError("the judge's server hung up")


def screened(check=broken):
    return CascadedJury([Tier("screen", check, "reject_on_any_fail"), Tier("rest", always_pass("fine"))], name="both")


NESTED = {
    "alone": screened,
    "in an ensemble": lambda: Ensemble([screened(), always_pass("fine")]),
    "in a scorecard": lambda: Scorecard({"safe": screened(), "polite": always_pass("fine")}),
    "in a tier": lambda: CascadedJury([Tier("all", screened())]),
}


@BOTH
@pytest.mark.parametrize("make", NESTED.values(), ids=NESTED)
@pytest.mark.parametrize("when", ["tools", "every_model"])
def test_a_call_is_not_made_where_a_screening_tier_broke_and_the_next_one_passes(make, when, how):
    assert make().judge(answer="!").status == "PASS"
    state = run(an_agent(JuryMiddleware(make(), when=when)), how)
    assert DELETED == []
    if when == "tools":
        assert "This call was not made. It could not be reviewed" in state["messages"][2].text


@pytest.mark.parametrize("options", [{"on_undecided": "allow"}, {"on_fail": "annotate"}])
def test_such_a_call_is_made_where_undecided_calls_are(options):
    run(an_agent(JuryMiddleware(screened(), when="tools", **options)), "sync")
    assert DELETED == ["bob"]


def test_a_call_is_made_where_no_tier_broke():
    run(an_agent(JuryMiddleware(screened(always_pass("fine")), when="tools")), "sync")
    assert DELETED == ["bob"]


@judge(name="not ann")
def not_ann(case):
    return case.trajectory[-1].arguments.get("user") != "ann", "ann stays"


@BOTH
@pytest.mark.parametrize("options", [{}, {"interrupt_mode": "per_call"}], ids=["batched", "per call"])
def test_a_call_that_a_person_edits_is_judged_as_edited_where_the_jury_is_listed_last(options, how):
    try:
        person = HumanInTheLoopMiddleware({"delete_user": True}, **options)
    except TypeError:
        pytest.skip("this release of LangChain asks about all calls at once")
    agent = an_agent(person, JuryMiddleware(not_ann, when="tools"))
    paused = run(agent, how)
    edited = {"type": "edit", "edited_action": {"name": "delete_user", "args": {"user": "ann"}}}
    answer = {paused["__interrupt__"][0].id: edited} if options else {"decisions": [edited]}
    state = run(agent, how, Command(resume=answer))
    assert DELETED == []
    assert any("ann stays" in message.text for message in state["messages"] if message.type == "tool")
