"""Agents as jurors: functions that run an agent and read its structured response."""

from __future__ import annotations

import asyncio

from langchain.agents import create_agent
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from pydantic import BaseModel

from jury_adapters import Case, Scorecard, Status, abstain, judge
from jury_adapters.checks import NotEmpty
from jury_adapters.langchain import judge_runs


class Script(FakeMessagesListChatModel):
    def bind_tools(self, tools, **options):
        return self


class Audit(BaseModel):
    """The auditor's report."""

    safe: bool
    finding: str


@tool
def read(path: str) -> str:
    """Read a file."""
    return "PASSWORD = 1"


def called(name: str, **arguments: object) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": name}])


def auditor(*replies: AIMessage, timeout: float | None = None, wait_s: float = 0.0):
    agent = create_agent(Script(responses=list(replies)), [read], response_format=Audit)

    @judge(name="security", timeout=timeout)
    async def security(case: Case):
        await asyncio.sleep(wait_s)
        steps = await agent.ainvoke({"messages": [("user", "Audit it.")]}, {"recursion_limit": 8})
        found = steps.get("structured_response")
        return abstain("the auditor returned no report") if found is None else (found.safe, found.finding)

    return security


LOOK, REPORT = called("read", path="a.py"), called("Audit", safe=False, finding="a.py holds a password")


def test_an_agent_votes_with_its_reason() -> None:
    judgment = auditor(LOOK, REPORT).judge(answer="done")
    assert (judgment.status, judgment.reasoning) == (Status.FAIL, "a.py holds a password")


def test_an_agent_that_goes_in_circles_is_an_error_and_no_vote() -> None:
    judgment = auditor(LOOK).judge(answer="done")
    assert judgment.status is Status.ERROR
    assert "Recursion" in judgment.error


def test_a_slow_agent_is_an_error_timeout() -> None:
    judgment = auditor(LOOK, REPORT, timeout=0.05, wait_s=5).judge(answer="done")
    assert (judgment.status, judgment.error) == (Status.ERROR, "timeout")


def test_an_agent_is_a_criterion_of_a_scorecard() -> None:
    verdict = Scorecard({"secure": auditor(LOOK, REPORT), "answered": NotEmpty()}).judge(answer="done")
    assert (verdict.status, verdict.by_name["secure"].status) == (Status.FAIL, Status.FAIL)


def test_the_runs_of_a_juror_are_not_judged_themselves() -> None:
    verdicts = []
    with judge_runs(auditor(LOOK, REPORT), on_verdict=verdicts.append):
        RunnableLambda(lambda text: f"done: {text}").invoke("go")
    assert [one.judgment.status for one in verdicts] == [Status.FAIL]
