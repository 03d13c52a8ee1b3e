"""Names in `evidence_tools=` that no tool has."""

import asyncio
import uuid
from types import SimpleNamespace

import pytest
from langchain.agents import create_agent
from langchain_core.tools import tool
from support.bridge_page import search
from support.chat import ScriptedChat, calls

from jury_adapters import Case, Step, grounding_screen
from jury_adapters.core.evidence import Evidence
from jury_adapters.langchain import JuryEvaluator, judge_runs

ASKED = {"messages": [("user", "When did the bridge open?")]}
LOGGED = "no output of a tool is evidence in a run (logged once): "
SCRIPT = [calls("search", query="bridge"), calls("fetch", "c2", page="2"), "It opened in 1994."]


@tool
def fetch(page: str) -> str:
    """Fetch a page."""
    return "Page 2 says 1987."


def misnamed(tool):
    return f"evidence_tools= names '{tool}', the tools of this run are 'fetch', 'search'"


@pytest.mark.parametrize("form", ["call", "acall", "evaluate_run"])
def test_a_result_says_that_no_tool_has_the_given_name(form, caplog):
    state = create_agent(ScriptedChat(script=SCRIPT), [search, fetch]).invoke(ASKED)
    evaluator = JuryEvaluator(grounding_screen(), evidence_tools=["serach"])
    if form == "call":
        comment = evaluator(inputs=ASKED, outputs=state)["comment"]
    elif form == "acall":
        comment = asyncio.run(evaluator.acall(inputs=ASKED, outputs=state))["comment"]
    else:
        comment = evaluator.evaluate_run(
            SimpleNamespace(id=uuid.uuid4(), inputs=ASKED, outputs=state, error=None)
        ).comment
    assert f"{misnamed('serach')}; did you mean 'search'?" in comment
    evaluator(inputs=ASKED, outputs=state)
    (logged,) = [one.getMessage() for one in caplog.records if one.name == "jury_adapters.core.evidence"]
    assert logged.startswith(LOGGED + misnamed("serach"))


def test_callbacks_log_that_no_tool_has_the_given_name(caplog):
    with judge_runs(lambda case: True, evidence_tools=["lookup"]):
        for _ in range(2):
            create_agent(ScriptedChat(script=SCRIPT), [search, fetch]).invoke(ASKED)
    (logged,) = [one.getMessage() for one in caplog.records if one.name == "jury_adapters.core.evidence"]
    assert logged.startswith(LOGGED + misnamed("lookup"))


def test_a_name_that_one_run_has_is_right(caplog):
    evaluator = JuryEvaluator(lambda case: True, evidence_tools=["fetch"])
    for script in (SCRIPT, [calls("search", query="x"), "Two lanes."]):
        evaluator(inputs=ASKED, outputs=create_agent(ScriptedChat(script=script), [search, fetch]).invoke(ASKED))
    assert not [one for one in caplog.records if one.name == "jury_adapters.core.evidence"]


def test_echoes_are_not_the_tools_of_a_run():
    steps = [Step(tool="Opening", output="1994", echo=True), Step(text="So.")]
    assert Evidence(["search"]).unmatched(steps) == ""


def test_messages_say_it_too(caplog):
    messages = [
        {"role": "user", "content": "?"},
        {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "search", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "The bridge opened in 1994."},
        {"role": "assistant", "content": "In 1994."},
    ]
    assert Case.from_messages(messages, evidence_tools=["serach"]).contexts == ()
    assert "did you mean 'search'?" in caplog.text
