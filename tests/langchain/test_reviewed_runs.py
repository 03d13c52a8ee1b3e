"""An agent with a jury inside, seen from outside: what was sent back on the way is no part of the conversation."""

import pytest
from langchain.agents import create_agent
from langchain_core.messages import messages_to_dict
from support.chat import ScriptedChat, calls
from support.langchain_apps import Watched, weather

from jury_adapters import Judge
from jury_adapters.langchain import Fields, JuryMiddleware

THREAD = {"messages": [("user", "Hello"), ("assistant", "Hi"), ("user", "Weather?")]}


def strict(when="final"):
    jury = Judge.from_function(lambda case: case.answer != "bad", name="strict")
    script = [calls("weather", city="Oslo"), "bad", "good"]
    return create_agent(ScriptedChat(script=script), tools=[weather], middleware=[JuryMiddleware(jury, when=when)])


@pytest.mark.parametrize("when", ["final", "every_model"])
def test_it_is_judged_by_its_last_answer_and_all_of_its_steps(when):
    watched = Watched()
    outputs = strict(when).invoke(THREAD, watched.config)
    assert [one.type for one in outputs["messages"]][-3:] == ["ai", "human", "ai"]
    written = {"messages": messages_to_dict(outputs["messages"])}
    for case in (watched.case(), Fields().case(None, outputs), Fields().case(None, written)):
        assert (case.question, case.answer) == ("Weather?", "good")
        assert [step.tool for step in case.trajectory] == ["weather"]
        assert [message.content for message in case.messages] == ["Hello", "Hi"]
