"""The case of a chosen step of an agent or a graph has what the turn found so far, as that of the whole run has."""

import asyncio

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import TodoListMiddleware
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from pydantic import BaseModel
from support.chat import ScriptedChat, calls

from jury_adapters import Case, Step
from jury_adapters.langchain import JuryCallbackHandler, JuryEvaluator, judge_runs, to_case

DEPTH = "The lake is 74 metres deep."
ASKED = {"messages": [("user", "How deep is the lake?")]}
FIELDS = ("question", "answer", "contexts", "trajectory", "messages", "attachments")


@tool
def sound(lake: str) -> str:
    """Measure the depth of a lake."""
    return DEPTH


@tool
def publish(text: str) -> str:
    """Publish a text."""
    return f"Published: {text}"


class Depth(BaseModel):
    """Depth of a lake."""

    metres: int
    lake: str


LOOK = calls("sound", lake="Mere")
BOAST = calls("publish", "c9", text="The lake is 900 metres deep.")
TRY = calls("Depth", "c2", metres="very", lake="Mere")
SCRIPTS = {
    "a text": ([LOOK, "74 metres."], {}),
    "an echo": ([LOOK, BOAST, "900 metres."], {}),
    "words beside a call": ([{"content": "I look.", **LOOK}, "74 metres."], {}),
    "todos": ([calls("write_todos", todos=[{"content": "900 metres", "status": "pending"}]), LOOK, "74 metres."],
              {"middleware": [TodoListMiddleware()]}),
    "a structured response": ([LOOK, TRY, calls("Depth", "c3", metres=74, lake="Mere")],
                              {"response_format": ToolStrategy(Depth)}),
    "a response of the provider": ([LOOK, '{"metres": 74, "lake": "Mere"}'],
                                   {"response_format": ProviderStrategy(Depth)}),
}  # fmt: skip


def judged(runnable, given, **options):
    """The cases of the runs that a handler judges, in order."""
    cases = []
    with judge_runs(lambda case: True, on_verdict=lambda run: cases.append(run.case), **options) as handler:
        runnable.invoke(given, {"configurable": {"thread_id": "1"}})
        handler.flush()
    return cases


@pytest.mark.parametrize("kind", SCRIPTS)
def test_the_last_draft_of_an_agent_has_the_case_of_the_whole_run(kind):
    script, options = SCRIPTS[kind]
    whole, draft = (
        judged(create_agent(ScriptedChat(script=script), [sound, publish], **options), ASKED, select=select)[-1]
        for select in (None, "model")
    )
    assert {name: getattr(draft, name) for name in FIELDS} == {name: getattr(whole, name) for name in FIELDS}
    assert draft.question == "How deep is the lake?"
    assert draft.contexts == (DEPTH,)


def test_the_contexts_of_a_draft_are_those_of_its_turn_unless_a_map_takes_all_turns():
    def of_all_turns(state):
        contexts = to_case(state, whole_thread=True).contexts
        return to_case(state).model_copy(update={"contexts": contexts})

    for field_map, wanted in ((None, ()), (of_all_turns, (DEPTH,))):
        script = [LOOK, "74 metres.", "Yes, 74 metres."]
        agent = create_agent(ScriptedChat(script=script), [sound], checkpointer=InMemorySaver())
        judged(agent, ASKED)
        (again,) = judged(agent, {"messages": [("user", "Really?")]}, select="model", field_map=field_map)
        assert (again.question, again.answer, again.contexts) == ("Really?", "Yes, 74 metres.", wanted)


class State(MessagesState):
    question: str
    reply: str


def graph(last, state=State):
    """A graph whose last node goes on after a tool."""
    call = AIMessage("", tool_calls=[{"name": "sound", "args": {"lake": "Mere"}, "id": "1"}])
    built = StateGraph(state)
    built.add_node("look", lambda _: {"messages": [call, ToolMessage(DEPTH, tool_call_id="1", name="sound")]})
    built.add_node("write", last)
    built.add_edge(START, "look")
    built.add_edge("look", "write")
    built.add_edge("write", END)
    return built.compile()


NODES = {
    "a message": lambda state: {"messages": [AIMessage("74 metres.")]},
    "a lone message": lambda state: {"messages": AIMessage("74 metres.")},
    "a pair": lambda state: {"messages": [("ai", "74 metres.")]},
    "a text of its own": lambda state: {"reply": "74 metres."},
    "an agent": create_agent(ScriptedChat(script=["74 metres."]), []),
}


@pytest.mark.parametrize("kind", NODES)
@pytest.mark.parametrize("field_map", [None, {"question": "inputs.messages[0].content", "answer": "outputs"}])
def test_a_node_after_a_tool_has_its_output_as_evidence(kind, field_map):
    (case,) = judged(graph(NODES[kind]), ASKED, select="write", field_map=field_map)
    assert (case.question, case.contexts) == ("How deep is the lake?", (DEPTH,))
    assert "74 metres." in case.answer
    assert [step.tool for step in case.trajectory] == ["sound"]


def test_a_node_that_calls_a_tool_itself_has_both_outputs():
    @tool
    def survey(lake: str) -> str:
        """Look it up."""
        return "The survey says 75 metres."

    def write(state):
        return {"messages": [AIMessage(survey.invoke({"lake": "Mere"}))]}

    (case,) = judged(graph(write), ASKED, select="write")
    assert case.contexts == (DEPTH, "The survey says 75 metres.")
    assert [step.tool for step in case.trajectory] == ["sound", "survey"]


def test_the_model_of_a_chain_and_the_named_tools_are_read_by_the_same_rules():
    script = [LOOK, BOAST, "900 metres."]
    for options, wanted in (
        ({}, (DEPTH,)),
        ({"evidence_tools": ["publish"]}, ("Published: The lake is 900 metres deep.",)),
        ({"evidence_tools": lambda step: step.tool != "sound"}, ()),
    ):
        agent = create_agent(ScriptedChat(script=script), [sound, publish])
        cases = judged(agent, ASKED, select=lambda run: run.kind == "chat", **options)
        assert (cases[-1].question, cases[-1].contexts) == ("How deep is the lake?", wanted)


@pytest.mark.parametrize("question", ["How deep is the lake?", "What is the depth of the Mere?"])
def test_a_state_with_a_question_beside_its_messages_is_still_in_its_turn(question):
    (case,) = judged(graph(NODES["a text of its own"]), {**ASKED, "question": question}, select="write")
    assert (case.question, case.answer, case.contexts) == (question, "74 metres.", (DEPTH,))
    assert case.messages == ()


def test_a_conversation_that_has_ended_is_not_the_turn_of_another_question():
    ended = [HumanMessage("How deep?"), AIMessage("", tool_calls=[{"name": "sound", "args": {}, "id": "1"}]),
             ToolMessage(DEPTH, tool_call_id="1"), AIMessage("74 metres.")]  # fmt: skip
    (case,) = judged(RunnableLambda(lambda _: "It is blue."), {"messages": ended, "question": "What colour has it?"})
    assert (case.question, case.contexts, case.trajectory) == ("What colour has it?", (), ())


def test_async_runs_of_a_node_are_read_alike():
    seen = []

    async def main():
        handler = JuryCallbackHandler(lambda case: True, select="model", on_verdict=lambda run: seen.append(run.case))
        agent = create_agent(ScriptedChat(script=[LOOK, "74 metres."]), [sound])
        await agent.ainvoke(ASKED, {"callbacks": [handler]})
        await handler.aflush()

    asyncio.run(main())
    assert [(case.question, case.contexts) for case in seen] == [("How deep is the lake?", (DEPTH,))]


CHAT = [
    {"role": "user", "content": "How deep is the lake?"},
    {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "sound", "arguments": '{"lake": "Mere"}'}}]},
    {"role": "tool", "tool_call_id": "1", "content": DEPTH},
]


@pytest.mark.parametrize("outputs", ["74 metres.", {"messages": [{"role": "assistant", "content": "74 metres."}]}])
def test_an_evaluator_and_a_row_read_the_run_of_a_step_alike(outputs):
    parts = {"inputs": {"messages": CHAT}, "outputs": outputs}
    seen = []
    JuryEvaluator(lambda case: seen.append(case) or True)(**parts)
    for case in (*seen, Case.from_row(parts), to_case(parts)):
        assert (case.question, case.answer, case.contexts) == ("How deep is the lake?", "74 metres.", (DEPTH,))


def test_the_thread_of_a_step_has_the_turns_of_its_inputs():
    later = [{"role": "assistant", "content": "74 metres."}, {"role": "user", "content": "Really?"}]
    parts = {"inputs": {"messages": [*CHAT, *later]}, "outputs": "Yes."}
    case = to_case(parts, whole_thread=True)
    assert case.trajectory[1:] == (Step(text="74 metres."), Step(text="(the user goes on: Really?)"))
    assert case.contexts == (DEPTH,)
    assert to_case(parts).contexts == ()


def test_a_map_that_reads_what_nothing_else_can_is_still_enough():
    deep: object = "74"
    for _ in range(300):
        deep = [deep]
    chain = RunnableLambda(lambda given: {"depth": deep})
    (case,) = judged(chain, {"lake": deep}, field_map=lambda row: Case(question="How deep?", answer="74"))
    assert (case.answer, case.contexts) == ("74", ())
