"""A jury as a tool of an agent."""

import asyncio
import json

import pytest
from langchain.agents import create_agent
from langchain_core.messages import ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver
from support.chat import ScriptedChat, calls

from jury_adapters import Ensemble
from jury_adapters.core.serial import judgment_from_dict
from jury_adapters.langchain.tool import JuryTool

JURY = Ensemble([lambda case: ("good" in (case.answer or ""), "it should say good"), lambda case: (True, "fine")])
ASKED = {"question": "How is it?", "answer": "bad", "contexts": ["Page"]}


@pytest.fixture
def tool():
    return JuryTool(jury=JURY)


def test_the_model_reads_a_line_and_the_verdict_is_the_artifact(tool):
    assert tool.invoke(ASKED) == "FAIL, agreement 0.00: it should say good; Judge#2 voted PASS"
    message = tool.invoke({"type": "tool_call", "name": "jury", "args": ASKED, "id": "1"})
    assert isinstance(message, ToolMessage)
    assert judgment_from_dict(message.artifact).tally.failed == 1
    json.dumps(message.artifact)


def test_asynchronously_it_says_the_same(tool):
    assert asyncio.run(tool.ainvoke({"answer": "good"})) == "PASS, agreement 1.00: it should say good; fine"


def test_an_outage_is_not_told_as_praise():
    jury = Ensemble(
        {"one": lambda case: (True, "well supported"), "two": lambda case: 1 / 0, "three": lambda case: 1 / 0}
    )
    said = JuryTool(jury).invoke(ASKED)
    assert said.startswith("FAIL")
    assert "2 jurors could not judge: two (ZeroDivisionError: division by zero), three" in said
    assert "well supported" not in said


def test_its_schema_names_what_to_give(tool):
    function = convert_to_openai_tool(tool)["function"]
    assert set(function["parameters"]["properties"]) == {"question", "answer", "contexts", "reference"}
    assert "jury" in function["description"]
    assert "Ensemble" not in repr(tool)


@pytest.mark.parametrize("run", [
    lambda agent, *args: agent.invoke(*args), lambda agent, *args: asyncio.run(agent.ainvoke(*args)),
])  # fmt: skip
def test_an_agent_asks_it_and_a_checkpointer_keeps_what_it_said(run, tool, recwarn):
    model = ScriptedChat(script=[calls("jury", question="?", answer="good"), "It is good."])
    agent = create_agent(model, [tool], checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "1"}}
    state = run(agent, {"messages": [("user", "How is it?")]}, thread)
    assert state["messages"][-1].text == "It is good."
    kept = agent.get_state(thread).values["messages"][2]
    assert kept.content.startswith("PASS")
    assert kept.artifact["status"] == "PASS"
    assert not recwarn.list


def test_a_wrong_argument_does_not_show_a_stores_password():
    with pytest.raises(ValueError, match="jury") as caught:
        JuryTool(5, store="postgresql+psycopg://me:hunter2@127.0.0.1:1/juries")
    assert "hunter2" not in str(caught.value)
