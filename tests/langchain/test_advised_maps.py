"""Field maps that the log advises: they are made from what the run has, and work as they are."""

import ast
import re
from dataclasses import dataclass

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda, RunnableParallel
from pydantic import BaseModel
from support.langchain_apps import Watched

from jury_adapters.langchain import JuryEvaluator, JuryRunnable, jury_node

OUTPUTS = {"first": "At nine.", "second": "At ten, or so."}


@dataclass
class State:
    topic: str = "opening hours"
    draft: str = "The pool opens at nine."


class Booking(BaseModel):
    reason: str = "a delay"
    covered: bool = True


def passes(case):
    return case.answer is not None


def advised(caplog):
    """Return the field maps that the log advises, in order."""
    said = [one.getMessage() for one in caplog.records if one.name.startswith("jury_adapters")]
    caplog.clear()
    return [ast.literal_eval(found[1]) for one in said if (found := re.search(r"field_map=(\{.*?\})(?: \(|$)", one))]


@pytest.mark.parametrize("inputs", [
    "When does the pool open?", None, {}, {"mail": "When does it open?", "lang": "en"}, HumanMessage("When?"),
    [AIMessage("Hello"), HumanMessage("When?")], {"messages": [HumanMessage("When?")]}, State(), 7, ["a", "b"],
    {"request": {"text": "When does it open?"}, "lang": "en"}, {"user's mail [en]": "When?", "_x": "no"}, {1: "When?"},
    {"messages": [HumanMessage("When?")], "question": "At what time?"},
])  # fmt: skip
@pytest.mark.parametrize("outputs", [OUTPUTS, {"_a": "x y", "b c": "z"}, {"a.b": "x", "c": "y"}, State(), Booking()])
def test_the_field_map_of_an_evaluator_works_as_it_is(caplog, inputs, outputs):
    JuryEvaluator(passes, key="k")(inputs=inputs, outputs=outputs)
    maps = advised(caplog)
    assert maps
    for paths in maps:
        seen = []
        evaluator = JuryEvaluator(lambda case, seen=seen: bool(seen.append(case)) or True, field_map=paths)
        assert evaluator(inputs=inputs, outputs=outputs)["score"] == 1.0
        assert seen[0].question or not inputs


def test_the_field_map_of_a_handler_works_as_it_is(caplog):
    chain = RunnableParallel(first=RunnableLambda(lambda _: "At nine."), second=RunnableLambda(lambda _: "At ten, or"))
    watched = Watched()
    chain.invoke("When does the pool open?", watched.config)
    watched.all()
    (paths,) = advised(caplog)
    assert paths == {"answer": "outputs.second", "question": "inputs"}
    watched = Watched(field_map=paths)
    chain.invoke("When does the pool open?", watched.config)
    (run,) = watched.all()
    assert (run.case.question, run.case.answer) == ("When does the pool open?", "At ten, or")


def test_the_turns_before_the_question_stay_in_the_case(caplog):
    inputs = {"messages": [HumanMessage("Hello"), AIMessage("Hi"), HumanMessage("When?")]}
    JuryEvaluator(passes, key="k")(inputs=inputs, outputs=OUTPUTS)
    (paths,) = advised(caplog)
    seen = []
    JuryEvaluator(lambda case: bool(seen.append(case)) or True, field_map=paths)(inputs=inputs, outputs=OUTPUTS)
    assert (seen[0].question, [one.content for one in seen[0].messages]) == ("When?", ["Hello", "Hi"])


@pytest.mark.parametrize("value", [State(), vars(State()), {"inputs": "When?", "outputs": OUTPUTS}, Booking()])
def test_the_field_map_of_a_runnable_and_a_node_works_as_it_is(caplog, value):
    JuryRunnable(passes).invoke(value)
    (paths,) = advised(caplog)
    assert JuryRunnable(passes, field_map=paths).invoke(value).passed
    assert jury_node(passes, field_map=paths).invoke(value)["verdict"]["status"] == "PASS"


def test_without_a_path_to_any_text_no_example_is_given(caplog):
    JuryEvaluator(passes, key="k")(inputs="When?", outputs={1: "At nine.", 2: "At ten."})
    assert "name it in a field map" in caplog.text
    assert advised(caplog) == []
