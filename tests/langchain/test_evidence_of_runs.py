"""An invented answer fails as free text and as a structured response, whichever adapter reads the run."""

import asyncio
import copy
import json
import uuid
from functools import cache
from types import SimpleNamespace

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import TodoListMiddleware
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage, convert_to_openai_messages
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import create_retriever_tool, tool
from langgraph.graph import END, START, MessagesState, StateGraph
from pydantic import BaseModel
from support.bridge_page import PAGE, search
from support.chat import ScriptedChat, calls
from support.langchain_apps import Watched

from jury_adapters import Case, ConfigurationError, Critic, Step, grounding_screen, judge
from jury_adapters.judges.presets import panel
from jury_adapters.langchain import (
    JuryCallbackHandler,
    JuryEvaluator,
    JuryMiddleware,
    JuryPairwiseEvaluator,
    JuryRunnable,
    JuryTool,
    judge_runs,
    jury_node,
    to_case,
)
from jury_adapters.langchain.case_reader import CaseReader

pytestmark = pytest.mark.corpus

ASKED = {"messages": [("user", "When did the bridge open?")]}


class Opening(BaseModel):
    """Date of the opening."""

    opened: str
    source: str = "the page"


@tool
def fetch(page: str) -> str:
    """Fetch a page."""
    return "Page 2 says 1987."


def text(year):
    return f"It opened in {year}.", {}


def by_tool(year):
    return calls("Opening", "c2", opened=f"in {year}"), {"response_format": ToolStrategy(Opening)}


def by_tool_with_a_message(year):
    form = ToolStrategy(Opening, tool_message_content=f"The answer is {year}.")
    return calls("Opening", "c2", opened=f"in {year}"), {"response_format": form}


def by_tool_from_a_schema(year):
    schema = {"title": "opening", "type": "object", "properties": {"opened": {"type": "string"}}}
    return calls("opening", "c2", opened=f"in {year}"), {"response_format": ToolStrategy(schema)}


def by_provider(year):
    return json.dumps({"opened": f"in {year}"}), {"response_format": ProviderStrategy(Opening)}


FORMS = [text, by_tool, by_tool_with_a_message, by_tool_from_a_schema, by_provider]


def faithful_by_counting(messages):
    """A critic's model: a year of the answer is right where it stands in the contexts too."""
    prompt = "".join(message.text for message in messages)
    assert PAGE in prompt
    return "Answer: YES" if prompt.count("1994") > 1 and "1987" not in prompt else "Answer: NO"


def critic():
    return Critic(ScriptedChat(script=[faithful_by_counting]), "faithfulness", name="faithful")


JUDGES = pytest.mark.parametrize(("make", "good"), [(grounding_screen, ("ABSTAIN", "PASS")), (critic, ("PASS",))])


class Graph(MessagesState):
    verdict: dict


def callback(agent, jury):
    heard = []
    with judge_runs(jury, on_verdict=heard.append):
        agent.invoke(ASKED)
    return heard[0].judgment.status


def evaluator(agent, jury):
    state = agent.invoke(ASKED)
    score = JuryEvaluator(jury)(inputs=ASKED, outputs=state)["score"]
    assert asyncio.run(JuryEvaluator(jury).acall(inputs=ASKED, outputs=state))["score"] == score
    return {1.0: "PASS", 0.0: "FAIL", None: "ABSTAIN"}[score]


def run_evaluator(agent, jury):
    run = SimpleNamespace(id=uuid.uuid4(), inputs=ASKED, outputs=agent.invoke(ASKED), error=None)
    return JuryEvaluator(jury).evaluate_run(run).value.upper()


def runnable(agent, jury):
    return (agent | JuryRunnable(jury)).invoke(ASKED).status


def node(agent, jury):
    graph = StateGraph(type("State", (Graph,), {"__annotations__": {"structured_response": object}}))
    graph.add_node("agent", agent)
    graph.add_node("jury", jury_node(jury))
    graph.add_edge(START, "agent")
    graph.add_edge("agent", "jury")
    graph.add_edge("jury", END)
    return graph.compile().invoke(ASKED)["verdict"]["status"]


def row(agent, jury):
    return jury.judge(Case.from_row({"outputs": agent.invoke(ASKED)})).status


def evaluator_of_messages(agent, jury):
    """The structured response is in the messages alone, as in a dataset that keeps no state."""
    score = JuryEvaluator(jury)(inputs=ASKED, outputs={"messages": agent.invoke(ASKED)["messages"]})["score"]
    return {1.0: "PASS", 0.0: "FAIL", None: "ABSTAIN"}[score]


def row_of_messages(agent, jury):
    return jury.judge(Case.from_row({"messages": convert_to_openai_messages(agent.invoke(ASKED)["messages"])})).status


WAYS = [callback, evaluator, run_evaluator, runnable, node, row, evaluator_of_messages, row_of_messages]
AROUND_THE_AGENT = (callback, runnable, node)  # the others are given the state that the agent ended with


class Ended:
    """An agent that has run already."""

    def __init__(self, state):
        self.state = state

    def invoke(self, given):
        return copy.deepcopy(self.state)


def agent_in(form, year):
    line, options = form(year)
    return create_agent(ScriptedChat(script=[calls("search", query="bridge"), line]), [search], **options)


@cache
def ended(form, year):
    return Ended(agent_in(form, year).invoke(ASKED))


@pytest.mark.corpus
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("form", FORMS)
@JUDGES
def test_an_invented_answer_fails_in_every_form_and_adapter(way, form, make, good):
    for year, status in (("1987", ("FAIL",)), ("1994", good)):
        agent = agent_in(form, year) if way in AROUND_THE_AGENT else ended(form, year)
        assert way(agent, make()) in status, (year, way)


@pytest.mark.parametrize("form", FORMS)
@JUDGES
def test_the_middleware_rejects_it_in_every_form(form, make, good):
    for year, status in (("1987", ("FAIL",)), ("1994", good)):
        line, options = form(year)
        agent = create_agent(
            ScriptedChat(script=[calls("search", query="bridge"), line]),
            [search],
            middleware=[JuryMiddleware(make(), on_fail="block")],
            **options,
        )
        assert agent.invoke(ASKED)["jury_verdict"]["status"] in status


def test_an_invalid_try_of_another_structured_response_is_no_evidence():
    """Its error message quotes what the model wrote; the name of its tool is only in the agent's response format."""

    class Day(BaseModel):
        """A day."""

        day: int

    cases = []
    script = [calls("search", query="bridge"), calls("Day", "c2", day="on day 1987"), by_tool("1987")[0]]
    form = ToolStrategy(Day | Opening, handle_errors=lambda error: f"Wrong: {error}")
    guard = JuryMiddleware(lambda case: cases.append(case) or True)
    create_agent(ScriptedChat(script=script), [search], middleware=[guard], response_format=form).invoke(ASKED)
    assert cases[0].contexts == (PAGE,)


class Day(BaseModel):
    """A day."""

    day: int


@pytest.mark.parametrize("says", [
    lambda error: f"Try again: {error}", lambda error: f"Try again: {error.source}",
    lambda error: f"Not this: {error.ai_message.tool_calls}", "Try again.", True,
])  # fmt: skip
@pytest.mark.parametrize("way", [callback, evaluator, run_evaluator, runnable, node, row])
def test_an_invalid_try_of_another_structured_response_is_no_evidence_in_any_adapter(way, says):
    """The agent's response format is unknown there, and the name of the tool is not that of the response."""
    for year, status in (("1987", "FAIL"), ("1994", "PASS")):
        agent = trying_in_vain(says, year) if way in AROUND_THE_AGENT else ended_after_a_try(says, year)
        assert way(agent, critic()) == status


def trying_in_vain(says, year):
    tried = calls("Day", "c2", day="it opened on a day in 1987")
    script = [calls("search", query="bridge"), tried, by_tool(year)[0]]
    form = ToolStrategy(Day | Opening, handle_errors=says)
    return create_agent(ScriptedChat(script=script), [search], response_format=form)


@cache
def ended_after_a_try(says, year):
    return Ended(trying_in_vain(says, year).invoke(ASKED))


def test_the_messages_alone_show_the_structured_response():
    form = ToolStrategy(Opening, tool_message_content="It opened in 1987, this is recorded.")
    script = [calls("search", query="bridge"), calls("Opening", "c2", opened="1987", source="me")]
    state = create_agent(ScriptedChat(script=script), [search], response_format=form).invoke(ASKED)
    for messages in (state["messages"], convert_to_openai_messages(state["messages"])):
        case = Case.from_row({"messages": messages})
        assert (case.question, case.answer) == ("When did the bridge open?", '{"opened": "1987", "source": "me"}')
        assert case.contexts == (PAGE,)
        assert [step.echo for step in case.trajectory] == [False, True]


@pytest.mark.parametrize("end", [
    [AIMessage("", tool_calls=[{"name": "search", "args": {"query": "bridge"}, "id": "2"}]),
     ToolMessage(PAGE, tool_call_id="2", name="search")],  # a return_direct tool, or a run that was stopped
    [AIMessage("", tool_calls=[{"name": "Opening", "args": {"opened": "1987"}, "id": "2"}])],
    [AIMessage("", tool_calls=[{"name": "Opening", "args": {"opened": "1987"}, "id": "2"}]),
     ToolMessage("Error: no year", tool_call_id="2", name="Opening")],
    [AIMessage("", tool_calls=[{"name": "Opening", "args": {"opened": "1987"}, "id": "2"},
                               {"name": "search", "args": {"query": "bridge"}, "id": "3"}]),
     ToolMessage("ok", tool_call_id="2", name="Opening")],
])  # fmt: skip
def test_other_ends_are_no_structured_response(end):
    assert Case.from_row({"messages": [HumanMessage("When?"), *end]}).answer is None


class Found(BaseModel):
    """A bridge."""

    query: str


@pytest.mark.parametrize("form", [ToolStrategy, ProviderStrategy])
def test_a_tool_called_with_the_arguments_of_the_structured_response_is_evidence(form):
    responds = calls("Found", "c2", query="bridge") if form is ToolStrategy else json.dumps({"query": "bridge"})
    cases, watched = [], Watched()
    agent = create_agent(
        ScriptedChat(script=[calls("search", query="bridge"), responds]),
        [search],
        middleware=[JuryMiddleware(lambda case: cases.append(case) or True)],
        response_format=form(Found),
    )
    state = agent.invoke(ASKED, watched.config)
    written = {"messages": state["messages"], "structured_response": {"query": "bridge"}}
    for case in (watched.case(), CaseReader().case(ASKED, state), CaseReader().case(ASKED, written), *cases):
        assert case.contexts == (PAGE,)


def test_tools_that_repeat_what_the_model_wrote_are_no_evidence_in_any_adapter():
    invented = "It opened on a rainy day in 1987."

    @tool
    def update_todo_list(todos: list[str]) -> str:
        """Plan."""
        return f"Todos: {todos}"

    @tool
    def record(text: str) -> str:
        """Keep a text."""
        return f"Recorded: {text}"

    @tool
    def python(code: str) -> str:
        """Run some Python."""
        return code.split("'")[1]

    @tool
    def find(query: str) -> str:
        """Look it up."""
        return f"Results for '{query}':\n{PAGE}"

    script = [
        calls("update_todo_list", "1", todos=[invented]),
        calls("record", "2", text=invented),
        calls("python", "3", code=f"print('{invented}')"),
        calls("find", "4", query=f"{invented} Is it true?"),
        invented,
    ]
    cases, watched = [], Watched()
    guard = JuryMiddleware(lambda case: cases.append(case) or True)
    tools = [update_todo_list, record, python, find]
    state = create_agent(ScriptedChat(script=script), tools, middleware=[guard]).invoke(ASKED, watched.config)
    for case in (watched.case(), CaseReader().case(ASKED, state), *cases):
        assert case.contexts == (f"Results for '…':\n{PAGE}",)


def test_todos_handoffs_and_juries_are_no_evidence():
    @tool
    def transfer_to_history(task: str) -> str:
        """Hand over."""
        return f"Successfully transferred: {task}"

    reviewer = JuryTool(lambda case: (True, f"it says {case.answer}"), name="ask_reviewers")
    script = [
        calls("write_todos", "1", todos=[{"content": "say 1987", "status": "pending"}]),
        calls("transfer_to_history", "2", task="say 1987"),
        calls("ask_reviewers", "3", answer="1987"),
        calls("search", "4", query="bridge"),
        "It opened in 1987.",
    ]
    cases, watched = [], Watched()
    guards = [TodoListMiddleware(), JuryMiddleware(lambda case: cases.append(case) or True)]
    agent = create_agent(ScriptedChat(script=script), [transfer_to_history, reviewer, search], middleware=guards)
    state = agent.invoke(ASKED, watched.config)
    for case in (watched.case(), CaseReader().case(ASKED, state), *cases):
        assert case.contexts == (PAGE,)
        assert len(case.trajectory) == 4  # they are steps all the same


# The option


SCRIPT = [calls("search", query="bridge"), calls("fetch", "c2", page="2"), "It opened in 1994."]


def option_cases(evidence_tools):
    """The case that each adapter makes of one run."""
    cases = []
    jury = lambda case: cases.append(case) or True  # noqa: E731
    guard = JuryMiddleware(jury, evidence_tools=evidence_tools)

    def agent():
        return create_agent(ScriptedChat(script=SCRIPT), [search, fetch], middleware=[guard])

    with JuryCallbackHandler(jury, evidence_tools=evidence_tools) as handler:
        agent().invoke(ASKED, {"callbacks": [handler]})
    with judge_runs(jury, evidence_tools=evidence_tools):
        state = agent().invoke(ASKED)
    JuryEvaluator(jury, evidence_tools=evidence_tools)(inputs=ASKED, outputs=state)
    asyncio.run(JuryEvaluator(jury, evidence_tools=evidence_tools).acall(inputs=ASKED, outputs=state))
    run = SimpleNamespace(id=uuid.uuid4(), inputs=ASKED, outputs=state, error=None)
    JuryEvaluator(jury, evidence_tools=evidence_tools).evaluate_run(run)
    JuryRunnable(jury, evidence_tools=evidence_tools).invoke(state)
    cases.append(to_case(state, evidence_tools=evidence_tools))
    jury_node(jury, evidence_tools=evidence_tools).invoke(state)
    JuryEvaluator(panel("faithfulness", judge(jury)), key="faithfulness", evidence_tools=evidence_tools)(
        inputs=ASKED, outputs=state
    )
    compare = JuryPairwiseEvaluator(lambda case: cases.append(case) or "A", evidence_tools=evidence_tools)
    longer = {**state, "messages": [*state["messages"][:-1], AIMessage("Another answer.")]}
    compare([run, SimpleNamespace(**{**vars(run), "id": uuid.uuid4(), "outputs": longer})], None)
    return cases


@pytest.mark.parametrize(("given", "wanted"), [
    (None, (PAGE, "Page 2 says 1987.")), (["search"], (PAGE,)), (lambda step: step.tool == "search", (PAGE,)), ([], ()),
])  # fmt: skip
def test_every_adapter_takes_the_tools_that_are_evidence(given, wanted):
    cases = option_cases(given)
    assert len(cases) >= 12
    assert {case.contexts for case in cases} == {wanted}


@pytest.mark.parametrize("make", [
    JuryCallbackHandler, judge_runs, JuryEvaluator,
    JuryRunnable, jury_node, JuryMiddleware, JuryPairwiseEvaluator,
    lambda jury, **options: to_case({}, **options),
    lambda jury, **options: JuryEvaluator(panel("faithfulness", judge(jury)), key="faithfulness", **options),
])  # fmt: skip
def test_every_adapter_refuses_what_is_neither_names_nor_a_predicate(make):
    with pytest.raises(ConfigurationError, match=r"evidence_tools=\['search'\]"):
        make(lambda case: True, evidence_tools="search")


def test_a_predicate_that_raises_is_an_error_of_the_verdict_and_not_of_the_application():
    def breaks(step: Step) -> bool:
        raise KeyError("no such page")

    cases = []
    jury = lambda case: cases.append(case) or True  # noqa: E731
    agent = create_agent(
        ScriptedChat(script=SCRIPT), [search, fetch], middleware=[JuryMiddleware(jury, evidence_tools=breaks)]
    )
    with judge_runs(jury, evidence_tools=breaks, on_verdict=cases.append):
        state = agent.invoke(ASKED)
    assert state["jury_verdict"]["status"] == "ERROR"
    assert state["messages"][-1].text == "It opened in 1994."
    assert JuryEvaluator(jury, evidence_tools=breaks)(inputs=ASKED, outputs=state)["metadata"]["status"] == "ERROR"
    assert JuryRunnable(jury, evidence_tools=breaks).invoke(state).status == "ERROR"
    assert [judged.judgment.status for judged in cases] == ["ERROR"]


# Documents that tools retrieve


class Pages(BaseRetriever):
    """Finds one page."""

    page: str

    def _get_relevant_documents(self, query, *, run_manager):
        return [Document(self.page)]


@pytest.mark.parametrize(("given", "wanted"), [
    (None, (PAGE, "Two lanes.")), (["archive"], (PAGE,)), (lambda step: "lanes" in step.output, ("Two lanes.",)),
])  # fmt: skip
def test_what_was_retrieved_in_a_tool_is_evidence_where_the_tool_is(given, wanted):
    tools = [
        create_retriever_tool(Pages(page=PAGE), "archive", "The archive."),
        create_retriever_tool(Pages(page="Two lanes."), "map", "The map."),
    ]
    script = [calls("archive", "1", query="a"), calls("map", "2", query="b"), "It opened in 1994."]
    cases = []
    with judge_runs(lambda case: cases.append(case) or True, evidence_tools=given):
        create_agent(ScriptedChat(script=script), tools).invoke(ASKED)
    assert cases[0].contexts == wanted


def test_a_summary_of_the_conversation_is_not_the_users_question():
    summary = HumanMessage("Here is a summary", additional_kwargs={"lc_source": "summarization"})
    case = CaseReader().case(None, {"messages": [summary, AIMessage("It opened in 1994.")]})
    assert (case.question, case.answer) == (None, "It opened in 1994.")
    case = CaseReader().case(None, {"messages": [summary, HumanMessage("When?"), AIMessage("It opened in 1994.")]})
    assert case.question == "When?"
