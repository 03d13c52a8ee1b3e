"""Answers and calls that a middleware lets through without a decision have an outcome and a mark of their own."""

import asyncio

import pytest
from langchain.agents import create_agent
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from support.chat import ScriptedChat, calls
from support.langchain_apps import Watched

from jury_adapters import CascadedJury, ConfigurationError, Ensemble, Judgment, Status, Tier, judge
from jury_adapters.langchain import JuryMiddleware

ASKED = {"messages": [("user", "When is the next ferry?")]}


@judge
def passes(case):
    return True


@judge
def lost(case):
    raise ConnectionError("no line")


def one_broke():
    return Ensemble([passes, lost], name="both")


def all_broke():
    return Ensemble([judge(name=name)(lambda case: 1 / 0) for name in ("east", "west")], name="none")


def a_tier_broke():
    return CascadedJury([Tier("quick", lost, "reject_on_any_fail"), Tier("rest", passes)])


def abstains():
    return judge(name="unsure")(lambda case: Status.ABSTAIN)


def labels():
    return judge(name="topic")(lambda case: Judgment(None, label="boats"))


@tool
def cancel(ferry: str) -> str:
    """Cancel a ferry."""
    return f"{ferry} does not run."


@tool(return_direct=True)
def sailings(day: str) -> str:
    """The ferries of a day."""
    return "At 8:15."


def ran(script, middleware, how="sync", tools=(), **options):
    agent = create_agent(ScriptedChat(script=script), list(tools), middleware=list(middleware), **options)
    return agent.invoke(ASKED) if how == "sync" else asyncio.run(agent.ainvoke(ASKED))


BOTH = pytest.mark.parametrize("how", ["sync", "async"])


@BOTH
@pytest.mark.parametrize(("jury", "status"), [(all_broke, "ERROR"), (one_broke, "FAIL"), (abstains, "ABSTAIN")])
@pytest.mark.parametrize("script", [["At 8:15."], [calls("sailings", day="Monday")]])
def test_an_answer_without_a_decision_is_unjudged_everywhere(how, jury, status, script):
    heard, watched = [], Watched()
    guard = JuryMiddleware(jury(), on_undecided="allow", on_verdict=heard.append, name="desk")
    agent = create_agent(ScriptedChat(script=script), [sailings], middleware=[guard])
    state = agent.invoke(ASKED, watched.config) if how == "sync" else asyncio.run(agent.ainvoke(ASKED, watched.config))
    last = state["messages"][-1]
    assert last.text == "At 8:15."
    assert last.additional_kwargs["jury"] == {"kind": "unjudged", "by": "desk", "status": status}
    assert [(one.run.metadata["outcome"], one.judgment.status) for one in heard] == [("unjudged", status)]
    assert watched.one().run.metadata["guard"] == "unjudged"


def test_a_judge_of_labels_decides_nothing():
    assert ran(["At 9."], [JuryMiddleware(labels())])["messages"][-1].additional_kwargs["jury"]["kind"] == "unjudged"


def test_an_answer_that_passes_has_no_mark():
    heard = []
    state = ran(["At 8:15."], [JuryMiddleware(passes, on_verdict=heard.append)])
    assert "jury" not in state["messages"][-1].additional_kwargs
    assert heard[0].run.metadata["outcome"] == "accepted"


@pytest.mark.parametrize("first", ["outer", "inner"])
def test_the_mark_of_a_fault_outlives_a_jury_that_does_not_decide(first):
    fault = JuryMiddleware(lambda case: (False, "too vague"), on_fail="annotate", name="fault")
    unsure = JuryMiddleware(abstains(), name="unsure")
    order = [fault, unsure] if first == "outer" else [unsure, fault]
    mark = ran(["At 8:15."], order)["messages"][-1].additional_kwargs["jury"]
    assert (mark["kind"], mark["by"]) == ("annotated", "fault")


@BOTH
@pytest.mark.parametrize("jury", [all_broke, one_broke, abstains, a_tier_broke])
def test_a_call_that_is_made_without_a_decision_is_unjudged(how, jury):
    heard = []
    guard = JuryMiddleware(jury(), when="tools", on_undecided="allow", on_verdict=heard.append, name="calls")
    state = ran([calls("cancel", ferry="A4"), "Done."], [guard], how, [cancel])
    (result,) = [message for message in state["messages"] if isinstance(message, ToolMessage)]
    assert result.text == "A4 does not run."
    assert (result.additional_kwargs["jury"]["kind"], heard[0].run.metadata["outcome"]) == ("unjudged", "unjudged")


def test_a_call_that_failed_and_is_made_is_annotated():
    guard = JuryMiddleware(lambda case: (False, "not today"), when="tools", on_fail="annotate")
    state = ran([calls("cancel", ferry="A4"), "Done."], [guard], tools=[cancel])
    assert state["messages"][2].additional_kwargs["jury"]["kind"] == "annotated"


# Options that would do nothing


@pytest.mark.parametrize("on_fail", ["block", "annotate"])
def test_options_of_a_retry_are_refused_where_there_is_none(on_fail):
    with pytest.raises(ConfigurationError, match=f"max_retries=2 goes with on_fail='retry': with on_fail='{on_fail}'"):
        JuryMiddleware(passes, on_fail=on_fail, max_retries=2)
    with pytest.raises(ConfigurationError, match="feedback= goes with on_fail='retry'"):
        JuryMiddleware(passes, on_fail=on_fail, feedback=str)
    assert JuryMiddleware(passes, on_fail=on_fail, max_retries=0)
    assert JuryMiddleware(passes, on_fail=on_fail)
    assert JuryMiddleware(passes, on_fail=on_fail, when="tools", feedback=str)
