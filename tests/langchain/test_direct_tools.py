"""Calls of ``return_direct`` tools: what the user gets instead of an answer, and when the turn goes on."""

import asyncio

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ToolRetryMiddleware
from langchain_core.tools import tool
from langgraph.prebuilt import ToolRuntime
from support.chat import ScriptedChat, calls

from jury_adapters import judge
from jury_adapters.langchain import JuryMiddleware
from jury_adapters.langchain.agent_guard import UNREVIEWED
from jury_adapters.langchain.middleware import REFUSAL

ASKED = {"messages": [("user", "What is my balance?")]}
BOTH = pytest.mark.parametrize("how", ["sync", "async"])
TELLS_TOOLS = "tools" in ToolRuntime.__dataclass_fields__  # LangGraph 1.1.6 does not
SAID = "Your balance is 70 francs."
DONE = []


@tool(return_direct=True)
def balance(account: int = 1) -> str:
    """Return the balance of an account."""
    DONE.append(account)
    return SAID


@tool(return_direct=True)
def locked(account: int = 1) -> str:
    """Return the balance of a locked account."""
    raise PermissionError("user admin, password hunter2")


@tool
def weather() -> str:
    """Return the weather."""
    return "It rains in Bern."


@pytest.fixture(autouse=True)
def nothing_done():
    DONE.clear()


@judge(name="never")
def never(case):
    return False, f"a reason that quotes {case.answer}"


@judge(name="down")
def down(case):
    raise ConnectionError("the judge's server hung up")


def run(script, how, *middleware):
    agent = create_agent(ScriptedChat(script=script), [balance, locked, weather], middleware=list(middleware))
    return agent.invoke(ASKED) if how == "sync" else asyncio.run(agent.ainvoke(ASKED))


def both(*names):
    return {"tool_calls": [calls(name, f"c{n}")["tool_calls"][0] for n, name in enumerate(names)]}


@BOTH
@pytest.mark.parametrize(("check", "refusal"), [(never, REFUSAL), (down, UNREVIEWED)])
def test_the_user_gets_the_refusal_and_no_reasons_for_a_rejected_call(check, refusal, how):
    seen = []
    state = run([calls("balance"), "late"], how, JuryMiddleware(check, when="tools", on_verdict=seen.append))
    last = state["messages"][-1]
    assert (last.type, last.text, last.additional_kwargs["jury"]["kind"]) == ("tool", refusal, "blocked")
    assert last.status == "error"
    assert DONE == []
    assert [one.run.metadata["outcome"] for one in seen] == ["blocked"]


@BOTH
def test_the_refusal_for_a_rejected_call_is_not_judged_as_an_answer(how):
    seen = []
    answers = JuryMiddleware(never, on_verdict=seen.append)
    state = run([calls("balance"), "late"], how, answers, JuryMiddleware(never, when="tools", refusal="Not that."))
    assert state["messages"][-1].text == "Not that."
    assert seen == []


@BOTH
def test_the_model_reads_the_reasons_where_it_called_another_tool_too(how):
    guard = JuryMiddleware(never, when="tools", tools=["balance"])
    state = run([both("balance", "weather"), "It rains."], how, guard)
    refused, made, last = state["messages"][2:]
    reasons = "This call was not made. It was reviewed and not accepted: a reason that quotes"
    assert refused.text.startswith(reasons if TELLS_TOOLS else REFUSAL)
    assert (made.text, last.text) == ("It rains in Bern.", "It rains.")


@BOTH
def test_a_result_beside_that_of_another_tool_is_evidence_and_not_an_answer(how):
    seen = []
    guard = JuryMiddleware(lambda case: case.answer != SAID, on_verdict=seen.append)
    state = run([both("balance", "weather"), "70 francs."], how, guard)
    found = SAID if TELLS_TOOLS else REFUSAL
    assert [message.text for message in state["messages"][2:]] == [found, "It rains in Bern.", "70 francs."]
    assert seen[-1].answer == "70 francs."
    assert seen[-1].case.contexts == (found, "It rains in Bern.")
    assert len(seen) == (1 if TELLS_TOOLS else 2)


@BOTH
@pytest.mark.parametrize("call", [calls("locked"), calls("balance", account="hunter2")], ids=["broke", "misread"])
def test_an_error_that_ends_the_turn_is_judged_as_an_answer(call, how):
    guard = JuryMiddleware(lambda case: "hunter2" not in case.answer)
    state = run([call, "late"], how, guard, ToolRetryMiddleware(max_retries=0, on_failure="continue"))
    assert [message.text for message in state["messages"][2:]] == [REFUSAL]
    assert state["jury_verdict"]["status"] == "FAIL"
