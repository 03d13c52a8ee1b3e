"""Every field of a structured response is judged, whatever its name is."""

from dataclasses import make_dataclass

import pytest
from langchain.agents import create_agent
from langchain.agents.structured_output import ToolStrategy
from pydantic import create_model
from support.bridge_page import search
from support.chat import ScriptedChat, calls

from jury_adapters.checks import NamesAndNumbers
from jury_adapters.langchain import JuryMiddleware, to_case
from jury_adapters.langchain.middleware import REFUSAL

ASKED = {"messages": [("user", "When did it open?")]}
NAMES = [("text",), ("page_content",), ("content",), ("role", "content"), ("type", "text"), ("messages",), ("answer",)]


def forms(names):
    """Return responses with texts under these names and a year, as the kinds of objects that LangChain delivers."""
    given = dict.fromkeys(names, "It opened long ago.")
    types = dict.fromkeys(names, (str, ...))
    model = create_model("Reply", __doc__="A reply.", **types, year=(int, ...))
    plain = make_dataclass("Reply", [*((name, str) for name in names), ("year", int)])
    return model, given, [model(**given, year=1987), plain(**given, year=1987), {**given, "year": 1987}]


@pytest.mark.parametrize("names", NAMES, ids=" ".join)
def test_no_field_is_left_out(names):
    for response in forms(names)[2]:
        case = to_case({"inputs": ASKED, "outputs": {"structured_response": response}})
        assert "1987" in case.answer
        assert "It opened long ago." in case.answer


@pytest.mark.parametrize("names", NAMES, ids=" ".join)
def test_an_invented_number_in_any_field_is_withheld(names):
    model, given, _ = forms(names)
    agent = create_agent(
        ScriptedChat(script=[calls("search", query="bridge"), calls("Reply", "c2", **given, year=1987)]),
        [search],
        middleware=[JuryMiddleware(NamesAndNumbers(), on_fail="block")],
        response_format=ToolStrategy(model),
    )
    state = agent.invoke(ASKED)
    assert state["jury_verdict"]["status"] == "FAIL"
    assert (state.get("structured_response"), state["messages"][-1].text) == (None, REFUSAL)


@pytest.mark.parametrize("name", ["text", "answer", "content"])
def test_a_response_with_one_text_is_that_text_also_where_it_is_empty(name):
    for said in ("It opened in 1994.", ""):
        model = create_model("Reply", **{name: (str, ...)})
        for response in (model(**{name: said}), {name: said}):
            assert to_case({"inputs": ASKED, "outputs": {"structured_response": response}}).answer == said
