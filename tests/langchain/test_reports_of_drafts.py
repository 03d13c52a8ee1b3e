"""Reports of what on_verdict= of a jury in an agent gets: one case per answer, however often it was drafted."""

import asyncio

import pytest
from langchain.agents import create_agent
from langchain_core.tools import tool
from support.chat import ScriptedChat, calls

from jury_adapters import Report
from jury_adapters.langchain import JuryMiddleware

BOTH = pytest.mark.parametrize(
    "run", [lambda agent, *a: agent.invoke(*a), lambda agent, *a: asyncio.run(agent.ainvoke(*a))], ids=["sync", "async"]
)


@tool(return_direct=True)
def timetable(line: str) -> str:
    """Look up a line."""
    return f"fine: line {line} runs at ten"


@tool
def stops(line: str) -> str:
    """Look up the stops of a line."""
    return f"stops of {line}"


def asked(run, question, script, runs, **options):
    jury = JuryMiddleware(lambda case: "fine" in case.answer, max_retries=2, on_verdict=runs.append, **options)
    agent = create_agent(ScriptedChat(script=script), [timetable, stops], middleware=[jury])
    return run(agent, {"messages": [("user", question)]})


@BOTH
def test_an_answer_is_one_case_with_its_last_draft(run):
    runs = []
    asked(run, "first", ["fine"], runs)
    asked(run, "second", ["poor", "fine after one"], runs)
    asked(run, "third", ["poor", "poorer", "poorest"], runs)
    assert len(runs) == 6
    report = Report.from_results(runs)
    assert str(report.figures.summary) == "3 cases: 2 of 3 decided passed (66.7 %)"
    assert [(row["question"], row["answer"], row["meta:outcome"]) for row in report.to_rows()] == [
        ("first", "fine", "accepted"), ("second", "fine after one", "accepted"), ("third", "poorest", "blocked"),
    ]  # fmt: skip
    assert [entry.where for entry in report.entries] == ["case 1", "case 2", "case 3"]


@BOTH
def test_turns_of_one_conversation_are_cases_of_their_own(run):
    runs = []
    for _ in range(2):
        asked(run, "again", ["poor", "fine"], runs)
    assert str(Report.from_results(runs).figures.summary) == "2 cases: 2 of 2 decided passed (100.0 %)"


@BOTH
def test_the_answer_of_a_tool_replaces_a_rejected_draft(run):
    runs = []
    asked(run, "When?", ["poor", calls("timetable", line="9")], runs)
    assert [(one.judgment.passed, one.run.metadata["attempt"]) for one in runs] == [(False, 0), (True, 1)]
    (row,) = Report.from_results(runs).to_rows()
    assert (row["status"], row["answer"]) == ("PASS", "fine: line 9 runs at ten")


@BOTH
def test_each_message_of_the_model_is_a_case_if_each_is_judged(run):
    runs = []
    script = [
        {"content": "fine, I look it up", **calls("stops", line="9")},
        "poor",
        {"content": "fine, once more", **calls("stops", "c2", line="9")},
        "fine in the end",
    ]
    asked(run, "Where?", script, runs, when="every_model")
    assert [one.run.metadata["attempt"] for one in runs] == [0, 0, 1, 1]
    assert str(Report.from_results(runs).figures.summary) == "3 cases: 3 of 3 decided passed (100.0 %)"
