"""Messages of the user that a tool or a middleware adds during a turn belong to its question."""

import asyncio
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from support.chat import ScriptedChat, calls

from jury_adapters.langchain import JuryMiddleware

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SHOWN = [
    {"type": "text", "text": "This is the photo."},
    {"type": "image", "base64": PIXEL, "mime_type": "image/png"},
]
THREAD = {"configurable": {"thread_id": "1"}}
BOTH = pytest.mark.parametrize("how", ["sync", "async"])


@tool
def photo(call_id: Annotated[str, InjectedToolCallId]) -> Any:
    """Take a photo of the sign."""
    return Command(update={"messages": [ToolMessage("It hangs at pier 2.", tool_call_id=call_id), HumanMessage(SHOWN)]})


@tool
def sign() -> str:
    """Read the sign."""
    return "It hangs at pier 2."


class Reminder(AgentMiddleware):
    def before_model(self, state, runtime):
        return {"messages": [HumanMessage("Be brief.")]} if state["messages"][-1].type == "tool" else None


def run(agent, how, question):
    given = {"messages": [("user", question)]}
    return agent.invoke(given, THREAD) if how == "sync" else asyncio.run(agent.ainvoke(given, THREAD))


@BOTH
@pytest.mark.parametrize(
    ("called", "beside", "added", "images"),
    [("photo", [], "This is the photo.", 1), ("sign", [Reminder()], "Be brief.", 0)],
)
def test_an_added_message_leaves_the_evidence_and_the_question_of_the_turn(how, called, beside, added, images):
    seen = []
    guard = JuryMiddleware(lambda case: True, on_verdict=seen.append)
    script = [calls(called), "At pier 2.", "A new turn."]
    agent = create_agent(
        ScriptedChat(script=script), [photo, sign], middleware=[guard, *beside], checkpointer=InMemorySaver()
    )
    state = run(agent, how, "Where does the sign hang?")
    first = seen[0].case
    assert first.question == f"Where does the sign hang?\n{added}"
    assert (first.contexts, first.answer, len(first.attachments)) == (("It hangs at pier 2.",), "At pier 2.", images)
    assert [message.type for message in state["messages"]] == ["human", "ai", "tool", "human", "ai"]
    run(agent, how, "And now?")
    assert (seen[1].case.question, seen[1].case.contexts) == ("And now?", ())


@BOTH
def test_an_added_message_does_not_give_a_rejected_call_further_rounds(how):
    script = [calls("sign", f"c{n}") for n in range(20)]
    guard = JuryMiddleware(lambda case: False, when="tools", max_retries=1, refusal="Not that.")
    agent = create_agent(
        ScriptedChat(script=script), [sign], middleware=[guard, Reminder()], checkpointer=InMemorySaver()
    )
    for question in ("Where does the sign hang?", "And now?"):
        said = run(agent, how, question)["messages"]
        asked = max(n for n, one in enumerate(said) if one.text == question)
        assert [one.type for one in said[asked:]] == ["human", "ai", "tool", "human", "ai", "tool", "human", "ai"]
        assert said[-1].text == "Not that."
