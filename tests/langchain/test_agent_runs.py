"""Agents and graphs: trajectories, turns of a conversation, pauses for a person, agents within agents."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, TypedDict

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, interrupt
from support.langchain_apps import Scripted, Watched, agent, ask, broken, call, retriever, weather

from jury_adapters import Status


def run(app: Any, given: Any, config: Any, how: str) -> Any:
    return app.invoke(given, config) if how == "invoke" else asyncio.run(app.ainvoke(given, config))


HOW = pytest.mark.parametrize("how", ["invoke", "ainvoke"])


@HOW
def test_an_agent_is_judged_with_its_trajectory(how: str) -> None:
    watched = Watched()
    run(agent(name="forecaster"), ask("Weather in Oslo?"), watched.config, how)
    judged = watched.one()
    assert (judged.run.kind, judged.run.name) == ("agent", "forecaster")
    case = watched.case()
    assert (case.question, case.answer) == ("Weather in Oslo?", "It is 80F.")
    (step,) = case.trajectory
    assert (step.tool, dict(step.arguments), step.output) == ("weather", {"city": "Oslo"}, "80F in Oslo")


def test_several_tools_in_one_step() -> None:
    both = AIMessage(
        "",
        tool_calls=[
            {"name": "weather", "args": {"city": "Oslo"}, "id": "1"},
            {"name": "weather", "args": {"city": "Rome"}, "id": "2"},
        ],
    )
    watched = Watched()
    agent(both, "Both 80F.").invoke(ask("Oslo and Rome?"), watched.config)
    assert [step.output for step in watched.case().trajectory] == ["80F in Oslo", "80F in Rome"]


@HOW
def test_a_tool_that_raises_fails_the_run(how: str) -> None:
    watched = Watched()
    with pytest.raises(ValueError, match="no such city"):
        run(agent(call("broken", city="X"), "done", tools=[broken]), ask("Weather?"), watched.config, how)
    judged = watched.one()
    assert judged.judgment.status is Status.FAIL
    assert judged.run.error == "ValueError: no such city: X"
    assert judged.case is not None
    assert [(step.tool, step.error) for step in judged.case.trajectory] == [("broken", "ValueError: no such city: X")]


def test_wrong_arguments_are_a_step_with_an_error_and_the_run_goes_on() -> None:
    watched = Watched()
    agent(call("weather", town="Oslo"), "I cannot say.").invoke(ask("Weather?"), watched.config)
    case = watched.case()
    assert case.answer == "I cannot say."
    assert case.trajectory[0].error


def test_a_model_that_fails_in_the_middle() -> None:
    watched = Watched()
    with pytest.raises(TimeoutError):
        agent(call("weather", city="Oslo"), TimeoutError("model down")).invoke(ask("Weather?"), watched.config)
    judged = watched.one()
    assert judged.run.error == "TimeoutError: model down"
    assert judged.case is not None
    assert [step.tool for step in judged.case.trajectory] == ["weather"]


@HOW
def test_of_a_conversation_the_present_turn_is_judged(how: str) -> None:
    watched = Watched()
    app = agent(call("weather", city="Oslo"), "It is 80F.", checkpointer=InMemorySaver())
    config = {**watched.config, "configurable": {"thread_id": "t1"}}
    run(app, ask("Weather in Oslo?"), config, how)
    run(app, ask("And is that warm?"), config, how)
    first, second = watched.cases()
    assert (first.question, second.question) == ("Weather in Oslo?", "And is that warm?")
    assert (len(first.trajectory), len(second.trajectory)) == (1, 1)
    assert first.messages == ()
    assert "Weather in Oslo?" in [message.content for message in second.messages]
    assert watched.runs[1].run.metadata["thread_id"] == "t1"


@HOW
@pytest.mark.parametrize(("decision", "output"), [("approve", "80F in Oslo"), ("reject", None)])
def test_a_pause_for_a_person_is_no_answer_and_the_resumed_run_is_one(how: str, decision: str, output: Any) -> None:
    watched = Watched()
    app = agent(
        checkpointer=InMemorySaver(), middleware=[HumanInTheLoopMiddleware(interrupt_on={"weather": True})]
    )  # fmt: skip
    config = {**watched.config, "configurable": {"thread_id": "t2"}}
    run(app, ask("Weather in Oslo?"), config, how)
    assert watched.nothing().paused == 1
    run(app, Command(resume={"decisions": [{"type": decision}]}), config, how)
    case = watched.case()
    assert (case.question, case.answer) == ("Weather in Oslo?", "It is 80F.")
    assert [step.output for step in case.trajectory] == [output]


class Letter(TypedDict, total=False):
    question: str
    answer: str
    note: str


def approve(state: Letter) -> Letter:
    return {"answer": f"{state['question']} {interrupt('may I?')}"}


def letters(**options: Any) -> Any:
    graph = StateGraph(Letter)
    graph.add_node("approve", approve)
    graph.add_edge(START, "approve")
    graph.add_edge("approve", END)
    return graph.compile(**options)


@HOW
def test_a_graph_without_messages_pauses_and_goes_on(how: str) -> None:
    watched = Watched()
    app = letters(checkpointer=InMemorySaver())
    config = {**watched.config, "configurable": {"thread_id": "t3"}}
    run(app, {"question": "May it go out?"}, config, how)
    assert watched.nothing().paused == 1
    run(app, Command(resume="Yes."), config, how)
    case = watched.case()
    assert (case.question, case.answer) == ("May it go out?", "May it go out? Yes.")


class Answer(TypedDict):
    answer: str


def answers_only(**options: Any) -> Any:
    graph = StateGraph(Letter, output_schema=Answer)
    graph.add_node("approve", approve)
    graph.add_edge(START, "approve")
    graph.add_edge("approve", END)
    return graph.compile(**options)


def letter_function(checkpointer: Any) -> Any:
    @entrypoint(checkpointer=checkpointer)
    def letter(question: str) -> str:
        return f"{question} {interrupt('may I?')}"

    return letter


@HOW
def test_a_resumed_function_has_the_question_of_its_paused_run(how: str) -> None:
    watched = Watched()
    app = letter_function(InMemorySaver())
    threads = [{**watched.config, "configurable": {"thread_id": name}} for name in ("a", "b")]
    for question, config in zip(("First?", "Second?"), threads, strict=True):
        run(app, question, config, how)
    assert watched.nothing().paused == 2
    for config in threads:
        run(app, Command(resume="Yes."), config, how)
    asked = sorted((case.question, case.answer) for case in watched.cases())
    assert asked == [("First?", "First? Yes."), ("Second?", "Second? Yes.")]


def test_a_run_that_pauses_twice_has_its_first_question() -> None:
    @entrypoint(checkpointer=InMemorySaver())
    def letter(question: str) -> str:
        return f"{interrupt('may I?')} {interrupt('really?')}"

    watched = Watched()
    config = {**watched.config, "configurable": {"thread_id": "t"}}
    letter.invoke("May it go out?", config)
    letter.invoke(Command(resume="Yes,"), config)
    assert watched.nothing().paused == 2
    letter.invoke(Command(resume="really."), config)
    assert (watched.case().question, watched.case().answer) == ("May it go out?", "Yes, really.")


def test_a_resumed_graph_whose_output_lacks_the_question_has_it_from_its_paused_run() -> None:
    watched = Watched()
    app = answers_only(checkpointer=InMemorySaver())
    config = {**watched.config, "configurable": {"thread_id": "t"}}
    app.invoke({"question": "May it go out?"}, config)
    app.invoke(Command(resume="Yes."), config)
    case = watched.case()
    assert (case.question, case.answer) == ("May it go out?", "May it go out? Yes.")


@pytest.mark.parametrize(
    ("make", "given"),
    [(letter_function, "May it?"), (lambda saver: answers_only(checkpointer=saver), Letter(question="May it?"))],
)
def test_a_resumed_run_whose_pause_was_not_seen_has_no_question(make: Any, given: Any) -> None:
    watched, app = Watched(), make(InMemorySaver())
    thread = {"configurable": {"thread_id": "t"}}
    app.invoke(given, thread)
    app.invoke(Command(resume="Yes."), {**watched.config, **thread})
    assert (watched.case().question, watched.case().answer) == (None, "May it? Yes.")


def test_a_mapping_finds_the_question_of_a_resumed_run_in_its_state() -> None:
    watched, app = Watched(field_map={"question": "inputs.question"}), letters(checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "t"}}
    app.invoke({"question": "May it?"}, thread)
    app.invoke(Command(resume="Yes."), {**watched.config, **thread})
    assert watched.case().question == "May it?"


def test_the_question_of_a_resumed_run_is_never_that_of_an_earlier_run_of_the_thread() -> None:
    watched, app = Watched(), letter_function(InMemorySaver())
    thread = {"configurable": {"thread_id": "t"}}
    app.invoke("First?", {**watched.config, **thread})
    app.invoke(Command(resume="Yes."), {**watched.config, **thread})
    assert watched.case().question == "First?"
    app.invoke("Second?", thread)
    app.invoke(Command(resume="No."), {**watched.config, **thread})
    assert [(case.question, case.answer) for case in watched.cases()][1] == (None, "Second? No.")


MAKES = pytest.mark.parametrize(("make", "given"), [
    (letter_function, str), (lambda saver: answers_only(checkpointer=saver), lambda text: Letter(question=text)),
])  # fmt: skip


@HOW
@MAKES
def test_graphs_that_share_a_thread_and_a_name_have_each_their_own_question(make: Any, given: Any, how: str) -> None:
    watched = Watched()
    config = {**watched.config, "configurable": {"thread_id": "t"}}
    apps = [make(InMemorySaver()) for _ in range(2)]
    for app, question in zip(apps, ("First?", "Second?"), strict=True):
        run(app, given(question), config, how)
    for app in apps:
        run(app, Command(resume="Yes."), config, how)
    asked = sorted((case.question, case.answer) for case in watched.cases())
    assert asked == [("First?", "First? Yes."), ("Second?", "Second? Yes.")]


@MAKES
def test_a_resumed_run_never_has_the_question_of_another_graph_of_the_thread(make: Any, given: Any) -> None:
    watched, thread = Watched(), {"configurable": {"thread_id": "t"}}
    seen, unseen = make(InMemorySaver()), make(InMemorySaver())
    seen.invoke(given("First?"), {**watched.config, **thread})
    unseen.invoke(given("Second?"), thread)
    unseen.invoke(Command(resume="No."), {**watched.config, **thread})
    assert (watched.case().question, watched.case().answer) == (None, "Second? No.")
    seen.invoke(Command(resume="Yes."), {**watched.config, **thread})
    assert sorted(str(case.question) for case in watched.cases()) == ["First?", "None"]


@MAKES
def test_a_run_may_be_resumed_under_another_name_and_inside_a_chain(make: Any, given: Any) -> None:
    for resumed in (lambda app: app, lambda app: RunnableLambda(lambda inputs: inputs) | app):
        watched, app = Watched(), make(InMemorySaver())
        config = {**watched.config, "configurable": {"thread_id": "t"}}
        app.invoke(given("May it?"), {**config, "run_name": "one"})
        resumed(app).invoke(Command(resume="Yes."), {**config, "run_name": "two"})
        assert (watched.case().question, watched.case().answer) == ("May it?", "May it? Yes.")


def test_a_resumed_run_with_new_tasks_has_no_question_where_the_output_has_none() -> None:
    watched = Watched()
    app = answers_only(checkpointer=InMemorySaver())
    config = {**watched.config, "configurable": {"thread_id": "t"}}
    app.invoke({"question": "May it?"}, config)
    app.update_state(config, {"question": "Must it?"}, as_node="__start__")
    app.invoke(None, config)
    app.invoke(Command(resume="Yes."), config)
    case = watched.cases()[-1]
    assert (case.question, case.answer) == (None, "Must it? Yes.")


UPDATES = {
    "a mapping": {"question": "Must it?"},
    "pairs": [("question", "Must it?")],
    "beside another field": {"question": "Must it?", "note": "as the reader wants"},
}


@HOW
@pytest.mark.parametrize("update", UPDATES.values(), ids=UPDATES)
@pytest.mark.parametrize("make", [letters, answers_only])
def test_a_run_that_is_resumed_with_an_update_has_the_updated_question(make: Any, update: Any, how: str) -> None:
    watched, app = Watched(), make(checkpointer=InMemorySaver())
    config = {**watched.config, "configurable": {"thread_id": "t"}}
    run(app, {"question": "May it?"}, config, how)
    run(app, Command(resume="Yes.", update=update), config, how)
    case = watched.case()
    assert (case.question, case.answer) == ("Must it?", "Must it? Yes.")


def test_an_update_of_another_field_leaves_the_question() -> None:
    watched, app = Watched(), answers_only(checkpointer=InMemorySaver())
    config = {**watched.config, "configurable": {"thread_id": "t"}}
    app.invoke({"question": "May it?"}, config)
    app.invoke(Command(resume="Yes.", update={"note": "as the reader wants"}), config)
    assert watched.case().question == "May it?"


def test_an_update_stays_when_the_run_pauses_again() -> None:
    def twice(state: Letter) -> Letter:
        return {"answer": f"{state['question']} {interrupt('may I?')} {interrupt('really?')}"}

    graph = StateGraph(Letter, output_schema=Answer)
    graph.add_node("twice", twice)
    graph.add_edge(START, "twice")
    watched, app = Watched(), graph.compile(checkpointer=InMemorySaver())
    config = {**watched.config, "configurable": {"thread_id": "t"}}
    app.invoke(Letter(question="May it?"), config)
    app.invoke(Command(resume="Yes,", update={"question": "Must it?"}), config)
    app.invoke(Command(resume="really."), config)
    assert (watched.case().question, watched.case().answer) == ("Must it?", "Must it? Yes, really.")


def test_a_message_that_is_added_on_resuming_is_the_question() -> None:
    def reply(state: MessagesState) -> Any:
        return {"messages": [AIMessage(f"{state['messages'][-1].text} {interrupt('may I?')}")]}

    graph = StateGraph(MessagesState, output_schema=Answer)
    graph.add_node("reply", lambda state: {**reply(state), "answer": "Yes."})
    graph.add_edge(START, "reply")
    watched, app = Watched(), graph.compile(checkpointer=InMemorySaver())
    config = {**watched.config, "configurable": {"thread_id": "t"}}
    app.invoke({"messages": [("user", "May it?")]}, config)
    app.invoke(Command(resume="Yes.", update={"messages": [("user", "Must it?")]}), config)
    assert watched.case().question == "Must it?"


def test_a_chain_with_a_graph_pauses_and_goes_on() -> None:
    watched = Watched()
    app = RunnableLambda(lambda inputs: inputs) | answers_only(checkpointer=InMemorySaver())
    config = {**watched.config, "configurable": {"thread_id": "t"}}
    app.invoke({"question": "May it?"}, config)
    assert watched.nothing().paused == 1
    app.invoke(Command(resume="Yes."), config)
    assert (watched.case().question, watched.case().answer) == ("May it?", "May it? Yes.")


def test_a_pause_inside_a_graph_inside_a_graph() -> None:
    graph = StateGraph(Letter)
    graph.add_node("inner", letters())
    graph.add_edge(START, "inner")
    watched = Watched()
    config = {**watched.config, "configurable": {"thread_id": "t4"}}
    app = graph.compile(checkpointer=InMemorySaver())
    app.invoke({"question": "Well?"}, config)
    assert watched.nothing().paused == 1
    app.invoke(Command(resume="Yes."), config)
    assert watched.case().answer == "Well? Yes."


@pytest.mark.parametrize("where", ["tools", "model"])
def test_a_breakpoint_is_a_pause_too(where: str) -> None:
    watched = Watched()
    app = agent(checkpointer=InMemorySaver(), interrupt_before=[where])
    config = {**watched.config, "configurable": {"thread_id": "t5"}}
    app.invoke(ask("Weather in Oslo?"), config)
    assert watched.nothing().paused == 1
    if where == "tools":
        app.invoke(None, config)
        assert (watched.case().question, watched.case().answer) == ("Weather in Oslo?", "It is 80F.")


def test_an_agent_as_a_step_of_a_chain() -> None:
    watched = Watched()
    app = RunnableLambda(ask) | agent() | (lambda state: state["messages"][-1].content)
    app.invoke("Weather in Oslo?", watched.config)
    case = watched.case()
    assert (case.question, case.answer) == ("Weather in Oslo?", "It is 80F.")
    assert [(step.tool, step.output) for step in case.trajectory] == [("weather", "80F in Oslo")]
    assert watched.runs[0].run.kind == "agent"


def test_an_agent_called_without_a_config_is_inside_the_run_around_it() -> None:
    watched = Watched()
    RunnableLambda(lambda question: agent().invoke(ask(question))["messages"][-1].content).invoke("q", watched.config)
    assert watched.case().answer == "It is 80F."


@HOW
def test_an_agent_inside_a_tool_is_one_run(how: str) -> None:
    inner = agent()

    @tool
    def forecaster(question: str) -> str:
        """Asks another agent."""
        return str(inner.invoke(ask(question))["messages"][-1].content)

    watched = Watched()
    outer = agent(call("forecaster", question="Oslo?"), "They say 80F.", tools=[forecaster])
    run(outer, ask("Weather in Oslo?"), watched.config, how)
    case = watched.case()
    assert case.answer == "They say 80F."
    assert [step.tool for step in case.trajectory] == ["forecaster"]


def test_agents_inside_can_be_selected_by_name() -> None:
    inner = agent(name="inner")

    @tool
    def forecaster(question: str) -> str:
        """Asks another agent."""
        return str(inner.invoke(ask(question))["messages"][-1].content)

    watched = Watched(select=["inner", "outer"])
    outer = agent(call("forecaster", question="Oslo?"), "They say 80F.", tools=[forecaster], name="outer")
    outer.invoke(ask("Weather in Oslo?"), watched.config)
    assert {run.run.name: run.case and run.case.answer for run in watched.all()} == {
        "inner": "It is 80F.",
        "outer": "They say 80F.",
    }


def test_a_tool_that_retrieves_gives_the_contexts() -> None:
    found = retriever()

    @tool(response_format="content_and_artifact")
    def search(query: str) -> tuple[str, list[Any]]:
        """Searches."""
        pages = found.invoke(query)
        return "\n".join(page.page_content for page in pages), pages

    watched = Watched()
    agent(call("search", query="sky"), "Scattering.", tools=[search]).invoke(ask("Why blue?"), watched.config)
    assert len(watched.case().contexts) == 2


def test_a_tool_whose_result_is_the_answer() -> None:
    @tool(return_direct=True)
    def answer(question: str) -> str:
        """Answers."""
        return f"The answer to {question}"

    watched = Watched()
    agent(call("answer", question="it all"), "never said", tools=[answer]).invoke(ask("Well?"), watched.config)
    assert watched.case().answer == "The answer to it all"


def test_a_structured_answer() -> None:
    from langchain.agents.structured_output import ToolStrategy
    from pydantic import BaseModel

    class Forecast(BaseModel):
        degrees: int

    watched = Watched()
    agent(call("Forecast", degrees=80), response_format=ToolStrategy(Forecast)).invoke(ask("Oslo?"), watched.config)
    assert watched.case().answer == '{"degrees": 80}'


def test_a_cancelled_agent() -> None:
    watched = Watched()
    app = create_agent(Scripted(script=["late"], delay=10), tools=[weather])

    async def give_up() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(app.ainvoke(ask("q"), watched.config), 0.2)

    asyncio.run(give_up())
    assert watched.nothing().aborted == 1


def test_what_happens_to_the_state_afterwards_is_not_judged() -> None:
    watched = Watched()
    state = agent().invoke(ask("Weather in Oslo?"), watched.config)
    state["messages"].append(AIMessage("something else"))
    assert watched.case().answer == "It is 80F."


@tool
def transfer_to_bob(tool_call_id: Annotated[str, InjectedToolCallId]) -> Command[Any]:
    """Hand the customer over to Bob."""
    said = ToolMessage("transferred", tool_call_id=tool_call_id, name="transfer_to_bob")
    return Command(goto="bob", graph=Command.PARENT, update={"messages": [said]})


def swarm() -> Any:
    """Two agents in one graph, of which the first looks something up and hands over to the second."""
    first = [call("weather", city="Rome"), call("transfer_to_bob")]
    alice = create_agent(Scripted(script=first), tools=[transfer_to_bob, weather], name="alice")
    graph = StateGraph(MessagesState)
    graph.add_node("alice", alice, destinations=("bob",))
    graph.add_node("bob", agent(name="bob"))
    graph.add_edge(START, "alice")
    return graph.compile()


@HOW
def test_an_agent_that_hands_over_to_another_is_no_pause(how: str) -> None:
    watched = Watched()
    run(swarm(), ask("Weather?"), watched.config, how)
    case = watched.case()
    assert (case.question, case.answer) == ("Weather?", "It is 80F.")
    assert [step.tool for step in case.trajectory] == ["weather", "transfer_to_bob", "weather"]


@HOW
def test_of_agents_selected_by_name_the_one_that_answers_is_judged_once(how: str) -> None:
    watched = Watched(select=["alice", "bob"])
    run(swarm(), ask("Weather?"), watched.config, how)
    assert [(one.run.name, one.case and one.case.answer) for one in watched.all()] == [("bob", "It is 80F.")]
    assert (watched.handler.counts.handed_over, watched.handler.counts.paused) == (1, 0)


@HOW
@pytest.mark.parametrize(("name", "output"), [("weather", "80F in Rome"), ("snow", "no snow in Rome")])
def test_a_call_that_a_person_edits_is_judged_as_it_ran(how: str, name: str, output: str) -> None:
    asked = AIMessage(
        "",
        tool_calls=[
            {"name": "weather", "args": {"city": "Oslo"}, "id": "1"},
            {"name": "wind", "args": {"city": "Bern"}, "id": "2"},
        ],
    )

    @tool
    def wind(city: str) -> str:
        """Return the wind."""
        return f"no wind in {city}"

    @tool
    def snow(city: str) -> str:
        """Return the snow."""
        return f"no snow in {city}"

    app = agent(
        asked, "Done.", tools=[weather, wind, snow], checkpointer=InMemorySaver(),
        middleware=[HumanInTheLoopMiddleware(interrupt_on={"weather": True})],
    )  # fmt: skip
    watched = Watched()
    config = {**watched.config, "configurable": {"thread_id": "1"}}
    run(app, ask("Weather?"), config, how)
    edit = {"type": "edit", "edited_action": {"name": name, "args": {"city": "Rome"}}}
    run(app, Command(resume={"decisions": [edit]}), config, how)
    first, second = watched.case().trajectory
    assert (first.tool, dict(first.arguments), first.output) == (name, {"city": "Rome"}, output)
    assert (second.tool, dict(second.arguments), second.output) == ("wind", {"city": "Bern"}, "no wind in Bern")
    assert not any("reviewer" in text for text in watched.case().contexts)
