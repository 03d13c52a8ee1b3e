"""A rejected draft stays out of everything that an agent keeps or streams, except the stream of tokens."""

import asyncio
import copy
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    AgentState,
    HumanInTheLoopMiddleware,
    ModelCallLimitMiddleware,
    ModelFallbackMiddleware,
    SummarizationMiddleware,
    hook_config,
)
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy
from langchain_core.caches import InMemoryCache
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, ToolMessage, messages_to_dict
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command
from support.bridge_page import Year, search
from support.chat import ScriptedChat, StreamingChat, calls
from support.langchain_apps import Watched

from jury_adapters import Budget, ConfigurationError, Ensemble, Judgment, judge
from jury_adapters.langchain import JuryMiddleware
from jury_adapters.langchain.agent_guard import UNREVIEWED
from jury_adapters.langchain.case_reader import CaseReader
from jury_adapters.langchain.drafts import TURNS
from jury_adapters.langchain.middleware import REFUSAL
from jury_adapters.results import JudgedRun

pytestmark = pytest.mark.corpus

ASKED = {"messages": [("user", "When did it open?")]}
SECRET = "in 1987"
DRAFT, GOOD = f"It opened {SECRET}.", "It opened in 1994."
LISTS_OF_TOOLS = hasattr(ToolNode, "_validate_tool_command_list")
THREAD = {"configurable": {"thread_id": "1"}}
MODES = ["updates", "values", "checkpoints", "tasks", "debug", "custom"]


DELETED: list[str] = []


@tool
def delete_user(user: str) -> str:
    """Delete a user."""
    DELETED.append(user)
    return "deleted"


@pytest.fixture(autouse=True)
def nothing_deleted():
    DELETED.clear()


def quoting(case):
    """A juror that quotes what it rejects, as critics do."""
    return SECRET not in (case.answer or ""), f"the answer says: {case.answer}"


def run(agent, how, given=ASKED, config=THREAD):
    return agent.invoke(given, config) if how == "sync" else asyncio.run(agent.ainvoke(given, config))


def stream(agent, how, modes=MODES, given=ASKED, config=THREAD):
    if how == "sync":
        return list(agent.stream(given, config, stream_mode=modes))

    async def collect():
        return [one async for one in agent.astream(given, config, stream_mode=modes)]

    return asyncio.run(collect())


def everything(agent):
    """All that the checkpointer holds of the thread: values, pending writes and metadata of every step."""
    return repr(list(agent.get_state_history(THREAD))) + repr(list(agent.checkpointer.list(THREAD)))


def an_agent(script, middleware, tools=(), model=ScriptedChat, **options):
    model = model(script=script) if isinstance(script, list) else script
    return create_agent(model, list(tools), middleware=middleware, checkpointer=InMemorySaver(), **options)


BOTH = pytest.mark.parametrize("how", ["sync", "async"])


@BOTH
@pytest.mark.parametrize(("options", "last"), [
    ({}, GOOD), ({"max_retries": 0}, REFUSAL), ({"on_fail": "block"}, REFUSAL),
    ({"when": "every_model"}, GOOD), ({"when": "every_model", "on_fail": "block"}, REFUSAL),
])  # fmt: skip
def test_a_rejected_draft_is_nowhere_in_state_streams_and_checkpoints(how, options, last):
    agent = an_agent([DRAFT, GOOD], [JuryMiddleware(Ensemble([quoting]), **options)])
    seen = stream(agent, how)
    assert SECRET not in repr(seen)
    assert SECRET not in everything(agent)
    result = agent.get_state(THREAD).values
    assert [message.text for message in result["messages"]] == ["When did it open?", last]
    assert result["jury_verdict"]["status"] == ("PASS" if last == GOOD else "FAIL")


@BOTH
def test_the_result_of_a_blocked_turn_does_not_quote_the_answer(how):
    state = run(an_agent([DRAFT], [JuryMiddleware(quoting, max_retries=1)]), how)
    assert SECRET not in repr(state)
    assert state["jury_verdict"]["status"] == "FAIL"
    assert "on_verdict" in state["jury_verdict"]["reasoning"]
    json.dumps(state["jury_verdict"])


@BOTH
def test_feedback_reaches_the_model_in_that_call_only(how):
    model = ScriptedChat(script=[DRAFT, GOOD, GOOD])
    agent = an_agent(model, [JuryMiddleware(quoting)])
    run(agent, how)
    run(agent, how, {"messages": [("user", "Are you sure?")]})
    first, second, third = ([message.text for message in seen["messages"]] for seen in model.seen)
    assert first == ["When did it open?"]
    assert second[:2] == ["When did it open?", DRAFT]
    assert DRAFT in second[2]
    assert third == ["When did it open?", GOOD, "Are you sure?"]


@BOTH
def test_a_draft_that_led_to_a_tool_call_is_forgotten_and_attempts_are_counted_on(how):
    model = ScriptedChat(script=[DRAFT, calls("search", query="bridge"), DRAFT, DRAFT])
    agent = an_agent(model, [JuryMiddleware(quoting, max_retries=2)], [search])
    state = run(agent, how)
    assert len(model.seen) == 4  # two attempts: one before the search, one after
    assert [message.type for message in model.seen[2]["messages"]] == ["human", "ai", "tool"]
    assert state["messages"][-1].text == REFUSAL
    assert SECRET not in everything(agent)


@pytest.mark.slow
@BOTH
@pytest.mark.parametrize("plain", [True, False], ids=["no tools", "tools"])
@pytest.mark.parametrize("others", [(), (HumanInTheLoopMiddleware({"delete_user": True}),)], ids=["alone", "beside"])
def test_a_structured_draft_is_withheld_by_tool_strategy(how, plain, others):
    script = [calls("Year", year=SECRET), calls("Year", "c2", year="1994")]
    for guards in ([JuryMiddleware(quoting), *others], [*others, JuryMiddleware(quoting)]):
        tools = [] if plain else [search]
        agent = an_agent(script, guards, tools, response_format=ToolStrategy(Year))
        seen = stream(agent, how)
        assert agent.get_state(THREAD).values["structured_response"] == Year(year="1994")
        assert SECRET not in repr(seen) + everything(agent)
        model = ScriptedChat(script=script[:1])
        blocking = [JuryMiddleware(quoting, on_fail="block"), *others]
        agent = an_agent(model, blocking, tools, response_format=ToolStrategy(Year))
        seen = stream(agent, how, config={**THREAD, "recursion_limit": 20})
        state = agent.get_state(THREAD).values
        assert (state.get("structured_response"), state["messages"][-1].text) == (None, REFUSAL)
        assert len(model.seen) == 1  # LangChain would ask on for the structured response
        assert SECRET not in repr(seen) + everything(agent)


@BOTH
def test_a_structured_draft_is_withheld_by_provider_strategy(how):
    script = [json.dumps({"year": SECRET}), json.dumps({"year": "1994"})]
    agent = an_agent(script, [JuryMiddleware(quoting)], response_format=ProviderStrategy(Year))
    seen = stream(agent, how)
    assert agent.get_state(THREAD).values["structured_response"] == Year(year="1994")
    assert SECRET not in repr(seen) + everything(agent)
    agent = an_agent(script[:1], [JuryMiddleware(quoting, on_fail="block")], response_format=ProviderStrategy(Year))
    state = run(agent, how)
    assert (state.get("structured_response"), state["messages"][-1].text) == (None, REFUSAL)
    assert SECRET not in repr(state) + everything(agent)


@BOTH
def test_a_refusal_does_not_stand_beside_the_structured_response_of_an_earlier_turn(how):
    script = [calls("Year", year="1994"), calls("Year", "c2", year=SECRET)]
    agent = an_agent(script, [JuryMiddleware(quoting, on_fail="block")], response_format=ToolStrategy(Year))
    assert run(agent, how)["structured_response"] == Year(year="1994")
    state = run(agent, how, {"messages": [("user", "Are you sure?")]})
    assert (state.get("structured_response"), state["messages"][-1].text) == (None, REFUSAL)


@BOTH
def test_a_structured_call_beside_a_tool_call_is_withheld_with_it(how):
    both = {"tool_calls": [calls("Year", "c1", year=SECRET)["tool_calls"][0],
                           calls("delete_user", "c2", user="ann")["tool_calls"][0]]}  # fmt: skip
    model = ScriptedChat(script=[both, calls("Year", "c3", year="1994")])
    agent = an_agent(model, [JuryMiddleware(quoting)], [delete_user], response_format=ToolStrategy(Year))
    assert run(agent, how)["structured_response"] == Year(year="1994")
    assert DELETED == []
    sent = model.seen[1]["messages"]
    answered = {message.tool_call_id for message in sent if message.type == "tool"}
    assert answered == {"c1", "c2"}  # vendors refuse a conversation with an open call


@BOTH
def test_the_result_of_a_return_direct_tool_is_withheld(how):
    @tool(return_direct=True, response_format="content_and_artifact")
    def lookup(query: str) -> tuple[str, dict[str, str]]:
        """Look it up."""
        return DRAFT, {"page": DRAFT}

    agent = an_agent([calls("lookup", query="x")], [JuryMiddleware(quoting)], [lookup])
    seen = stream(agent, how)
    state = agent.get_state(THREAD).values
    assert state["messages"][-1].text == REFUSAL
    assert state["jury_verdict"]["status"] == "FAIL"
    assert SECRET not in repr(seen) + everything(agent)


def as_dict(messages):
    return Command(update={"messages": messages, "note": DRAFT})


def as_message_dicts(messages):
    return Command(update={"messages": [one.model_dump() for one in messages]})


@dataclass
class Written:
    messages: list[Any]


def as_object(messages):
    return Command(update=Written(messages))


def with_words(messages):
    return Command(update={"messages": [messages[0].model_copy(update={"content": "done"}), AIMessage(DRAFT)]})


def in_a_list(messages):
    return [messages[0], Command(update={"note": DRAFT})]


class Noted(AgentState):
    note: str


COMMANDS = pytest.mark.parametrize("form", [as_dict, as_message_dicts, as_object, with_words, in_a_list])


def direct(form):
    if form is in_a_list and not LISTS_OF_TOOLS:
        pytest.skip("this LangGraph takes no list from a tool")

    @tool(return_direct=True)
    def lookup(query: str, call_id: Annotated[str, InjectedToolCallId]) -> Any:
        """Look it up."""
        return form([ToolMessage(DRAFT, tool_call_id=call_id, name="lookup")])

    return [lookup]


@BOTH
@COMMANDS
def test_the_command_of_a_return_direct_tool_is_withheld(how, form):
    guard = JuryMiddleware(quoting)
    agent = an_agent([calls("lookup", query="x"), GOOD], [guard], direct(form), state_schema=Noted)
    seen = stream(agent, how)
    state = agent.get_state(THREAD).values
    assert [message.type for message in state["messages"]] == ["human", "ai", "tool"]
    assert state["messages"][-1].text == REFUSAL
    assert state["jury_verdict"]["status"] == "FAIL"
    assert SECRET not in repr(seen) + everything(agent)


@BOTH
@pytest.mark.parametrize("form", [as_dict, as_message_dicts, as_object, in_a_list])
@pytest.mark.parametrize(("verdict", "kind"), [(True, None), (False, "annotated")])
def test_the_command_of_a_return_direct_tool_is_let_through_whole(how, form, verdict, kind):
    guard = JuryMiddleware(lambda case: verdict and case.answer == DRAFT, on_fail="annotate")
    agent = an_agent([calls("lookup", query="x"), GOOD], [guard], direct(form), state_schema=Noted)
    state = run(agent, how)
    last = state["messages"][-1]
    assert (last.text, last.additional_kwargs.get("jury", {}).get("kind")) == (DRAFT, kind)
    assert state["jury_verdict"]["status"] == ("PASS" if verdict else "FAIL")
    assert state.get("note") == (DRAFT if form in (as_dict, in_a_list) else None)


def test_a_handoff_to_the_parent_graph_is_no_answer():
    @tool(return_direct=True)
    def handoff(call_id: Annotated[str, InjectedToolCallId]) -> Any:
        """Hand over."""
        said = ToolMessage("over to billing", tool_call_id=call_id)
        return Command(graph=Command.PARENT, goto="billing", update={"messages": [said]})

    agent = create_agent(
        ScriptedChat(script=[calls("handoff")]), [handoff], middleware=[JuryMiddleware(lambda case: False)]
    )
    graph = StateGraph(MessagesState)
    graph.add_node("agent", agent, destinations=("billing",))
    graph.add_node("billing", lambda state: {"messages": [("ai", "billing here")]})
    graph.add_edge(START, "agent")
    assert graph.compile().invoke(ASKED)["messages"][-1].text == "billing here"


@BOTH
def test_drafts_of_several_return_direct_tools_are_kept(how):
    @tool(return_direct=True)
    def lookup(query: str) -> str:
        """Look it up."""
        return f"{DRAFT} {query}"

    both = {"tool_calls": [calls("lookup", f"c{n}", query=str(n))["tool_calls"][0] for n in (1, 2)]}
    agent = an_agent([both], [JuryMiddleware(quoting, keep_drafts=True)], [lookup])
    run(agent, how)
    kept = agent.get_state(THREAD).values["jury_drafts"]
    assert sorted(one["answer"] for one in kept) == [f"{DRAFT} 1", f"{DRAFT} 2"]
    assert {one["verdict"]["status"] for one in kept} == {"FAIL"}


@BOTH
def test_tokens_cannot_be_withheld(how):
    """The page and the docstring say so: the model streams a draft before anything can judge it."""
    agent = an_agent([DRAFT, GOOD], [JuryMiddleware(quoting)], model=StreamingChat)
    streamed = stream(agent, how, ["messages"])
    assert SECRET in "".join(message.text for _, (message, _) in streamed)
    assert SECRET not in everything(agent)


def test_updates_of_the_model_keep_their_shape():
    agent = an_agent([DRAFT, GOOD], [JuryMiddleware(quoting, name="guard")])
    updates = [update for _, update in stream(agent, "sync", ["updates"])]
    assert [list(update) for update in updates] == [["guard.before_agent"], ["model"], ["guard.after_model"]]
    assert [message.text for message in updates[1]["model"]["messages"]] == [GOOD]


# on_verdict and kept drafts


@BOTH
def test_on_verdict_gets_every_draft(how):
    heard: list[JudgedRun] = []

    async def slowly(judged):
        await asyncio.sleep(0)
        heard.append(judged)

    def breaks(judged):
        raise RuntimeError("no sink")

    def first(judged):
        heard.append(judged)

    agent = an_agent([DRAFT, GOOD], [JuryMiddleware(quoting, on_verdict=[first, breaks, slowly], name="guard")])
    assert run(agent, how)["messages"][-1].text == GOOD
    assert [(one.answer, one.judgment.passed, one.run.metadata["outcome"]) for one in heard[::2]] == [
        (DRAFT, False, "rejected"), (GOOD, True, "accepted"),
    ]  # fmt: skip
    assert heard[::2] == heard[1::2]
    assert SECRET in heard[0].judgment.reasoning
    assert {one.run.name for one in heard} == {"guard"}
    message = agent.get_state(THREAD).values["messages"][-1]
    assert heard[-1].run.id in message.id
    assert len(heard[-1].run.id) == 36  # the id of the call in LangSmith


@BOTH
def test_drafts_are_kept_in_a_private_key_on_request(how):
    for keeps in (False, True):
        agent = an_agent([DRAFT, GOOD, GOOD], [JuryMiddleware(quoting, keep_drafts=keeps, name="guard")])
        result = run(agent, how)
        assert SECRET not in repr(result)
        assert "jury_drafts" not in result
        kept = agent.get_state(THREAD).values.get("jury_drafts")
        said = kept and [(one["by"], one["answer"], one["verdict"]["status"]) for one in kept]
        assert said == ([("guard", DRAFT, "FAIL")] if keeps else None)
        run(agent, how, {"messages": [("user", "Sure?")]})
        assert not agent.get_state(THREAD).values.get("jury_drafts")  # of this turn


def test_the_last_draft_of_a_blocked_turn_is_kept_too():
    agent = an_agent([DRAFT], [JuryMiddleware(quoting, max_retries=1, keep_drafts=True)])
    run(agent, "sync")
    assert len(agent.get_state(THREAD).values["jury_drafts"]) == 2


# Feedback


def down(name):
    @judge(name=name)
    def broken(case):
        raise ConnectionError("no answer")

    return broken


@BOTH
@pytest.mark.parametrize("when", ["final", "tools"])
def test_the_model_reads_of_an_outage_and_no_praise(how, when):
    praise = judge(name="kind")(lambda case: (True, "well supported"))
    jury = Ensemble([praise, down("one"), down("two")])
    model = ScriptedChat(script=[calls("delete_user", user="ann") if when == "tools" else DRAFT, GOOD])
    run(an_agent(model, [JuryMiddleware(jury, when=when)], [delete_user]), how)
    sent = model.seen[1]["messages"][-1].text
    assert "It could not be reviewed in full, and so it was not accepted" in sent
    assert "2 jurors could not judge: one, two" in sent
    assert "no answer" not in sent  # the vendor's words are for the people that run the agent
    assert "well supported" not in sent
    assert "kind voted PASS" in sent


@BOTH
@pytest.mark.parametrize(("choice", "shown"), [("allow", DRAFT), ("block", UNREVIEWED)])
def test_the_model_is_not_sent_back_for_broken_jurors_if_the_application_decides_about_them(how, choice, shown):
    jury = Ensemble([lambda case: True, down("one"), down("two")])
    model = ScriptedChat(script=[DRAFT, GOOD])
    state = run(an_agent(model, [JuryMiddleware(jury, on_undecided=choice)]), how)
    assert (len(model.seen), state["messages"][-1].text) == (1, shown)
    objecting = Ensemble([lambda case: "unsure" in case.answer, lambda case: False, down("one")])
    model = ScriptedChat(script=[DRAFT, GOOD])
    run(an_agent(model, [JuryMiddleware(objecting, on_undecided=choice)]), how)
    assert len(model.seen) == 3  # two jurors object, whatever the third would have said


# Tool guards


def abstains(case):
    return Judgment("ABSTAIN", reasoning="no idea")


def breaks(case):
    raise ConnectionError("the judge is down")


@BOTH
@pytest.mark.parametrize("undecided", [abstains, breaks])
@pytest.mark.parametrize("when", ["tools", "every_model"])
def test_a_judge_that_breaks_or_abstains_does_not_let_a_call_through(how, undecided, when):
    script = [calls("delete_user", user="ann"), "I could not do it."]
    state = run(an_agent(script, [JuryMiddleware(undecided, when=when)], [delete_user]), how)
    assert DELETED == []
    assert state["messages"][-1].text == ("I could not do it." if when == "tools" else UNREVIEWED)
    allowing = JuryMiddleware(undecided, when=when, on_undecided="allow")
    run(an_agent(script, [allowing], [delete_user]), how)
    assert DELETED == ["ann"]


@BOTH
def test_a_model_that_insists_on_an_undecided_call_is_ended(how):
    model = ScriptedChat(script=[lambda messages: calls("delete_user", f"c{len(messages)}", user="ann")])
    state = run(an_agent(model, [JuryMiddleware(breaks, when="tools", max_retries=2)], [delete_user]), how)
    assert DELETED == []
    assert len(model.seen) == 3
    assert state["messages"][-1].text == UNREVIEWED


@BOTH
@pytest.mark.parametrize("undecided", [abstains, breaks])
@pytest.mark.parametrize("when", ["final", "every_model"])
@pytest.mark.parametrize("ids", [("c1", "c2"), ("c1", "c1")], ids=["two ids", "one id"])
def test_an_undecided_call_beside_a_structured_response_is_not_made(how, undecided, when, ids):
    both = {"tool_calls": [calls("Year", ids[0], year="1994")["tool_calls"][0],
                           calls("delete_user", ids[1], user="ann")["tool_calls"][0]]}  # fmt: skip
    agent = an_agent([both], [JuryMiddleware(undecided, when=when)], [delete_user], response_format=ToolStrategy(Year))
    state = run(agent, how)
    assert DELETED == []
    assert (state.get("structured_response"), state["messages"][-1].text) == (None, UNREVIEWED)


@pytest.mark.parametrize("when", ["final", "every_model"])
def test_an_undecided_structured_response_alone_is_let_through_like_a_text(when):
    agent = an_agent(
        [calls("Year", year="1994")], [JuryMiddleware(breaks, when=when)], response_format=ToolStrategy(Year)
    )
    assert run(agent, "sync")["structured_response"] == Year(year="1994")


def test_a_field_map_that_breaks_does_not_let_a_call_through():
    guard = JuryMiddleware(lambda case: True, when="tools", field_map=lambda state: 1 / 0)
    run(an_agent([calls("delete_user", user="ann"), "no"], [guard], [delete_user]), "sync")
    assert DELETED == []


def test_annotating_never_stops_a_call():
    guard = JuryMiddleware(breaks, when="tools", on_fail="annotate")
    run(an_agent([calls("delete_user", user="ann"), "done"], [guard], [delete_user]), "sync")
    assert DELETED == ["ann"]


@BOTH
def test_on_verdict_of_a_tool_guard_names_the_tool(how):
    heard: list[JudgedRun] = []
    guard = JuryMiddleware(lambda case: False, when="tools", on_verdict=heard.append)
    run(an_agent([calls("delete_user", user="ann"), "no"], [guard], [delete_user]), how)
    ((judged),) = heard
    assert (judged.run.kind, judged.run.metadata["tool"], judged.run.metadata["outcome"]) == (
        "tool", "delete_user", "rejected",
    )  # fmt: skip


@BOTH
def test_a_name_that_no_tool_has_is_refused_at_the_first_call_of_the_model(how):
    model = ScriptedChat(script=[calls("delete_user", user="ann"), "done"])
    guard = JuryMiddleware(lambda case: False, when="tools", tools=["search", "delete_users"])
    agent = an_agent(model, [guard], [search, delete_user])
    for _ in range(2):
        with pytest.raises(ConfigurationError, match=r"unknown tool 'delete_users'. Did you mean 'delete_user'\?"):
            run(agent, how)
    assert (model.seen, DELETED) == ([], [])


@BOTH
def test_tools_of_other_middlewares_are_known_and_may_be_left_out_of_a_call(how):
    class Chooses(AgentMiddleware):
        tools = (delete_user,)

        def wrap_model_call(self, request, handler):
            return handler(request.override(tools=[]))

        async def awrap_model_call(self, request, handler):
            return await handler(request.override(tools=[]))

    script = [calls("delete_user", user="ann"), "I could not do it."]
    guard = JuryMiddleware(lambda case: False, when="tools", tools=["delete_user"])
    state = run(an_agent(script, [guard, Chooses()], [search]), how)
    assert (state["messages"][-1].text, DELETED) == ("I could not do it.", [])
    with pytest.raises(ConfigurationError, match="list it after this one"):
        run(an_agent(script, [Chooses(), JuryMiddleware(quoting, when="tools", tools=["delete_user"])], [search]), how)


@pytest.mark.parametrize(("tools", "said"), [
    ([], "judges no call"), ((), "judges no call"), ([search], "give its name, 'search'"), ([""], "not ''"),
    ("search", "list of names, not 'search'"), (search, "list of names"), (3, "not 3"),
])  # fmt: skip
def test_names_of_tools_that_guard_nothing_are_refused(tools, said):
    with pytest.raises(ConfigurationError, match=said):
        JuryMiddleware(lambda case: True, when="tools", tools=tools)


# Several juries, and other middlewares


@pytest.mark.slow
@BOTH
def test_two_juries_work_without_names(how):
    def kind(case):
        return "kind" in case.answer, "be kind"

    pairs = [
        [JuryMiddleware(kind), JuryMiddleware(quoting)],
        [JuryMiddleware(Ensemble([kind])), JuryMiddleware(Ensemble([quoting]))],
        [JuryMiddleware(lambda case: "kind" in case.answer), JuryMiddleware(lambda case: SECRET not in case.answer)],
    ]
    for pair in pairs:
        model = ScriptedChat(script=[DRAFT, GOOD, "kind: " + DRAFT, "kind: " + GOOD])
        agent = an_agent(model, pair)
        seen = stream(agent, how)
        assert agent.get_state(THREAD).values["messages"][-1].text == "kind: " + GOOD
        assert SECRET not in repr(seen) + everything(agent)
        assert len({one.name for one in pair}) == 2
    named = Ensemble([kind], name="tone")
    middleware = JuryMiddleware(named)
    assert middleware.name == "tone"
    assert JuryMiddleware(named).name == "tone"  # the same names of nodes for each agent with this jury
    assert JuryMiddleware(named, when="tools").name == "tone tools"
    assert JuryMiddleware(Ensemble([kind], name="tone")).name == "tone 2"
    assert JuryMiddleware(Ensemble([kind], name="a|b: c")).name == "a b  c"  # what LangGraph reserves
    assert middleware.name == "tone"


@BOTH
def test_what_the_inner_jury_blocks_the_outer_one_does_not_judge(how):
    judged = []
    outer = JuryMiddleware(lambda case: judged.append(case) or True, name="outer")
    state = run(an_agent([DRAFT], [outer, JuryMiddleware(quoting, on_fail="block", name="inner")]), how)
    assert judged == []
    assert (state["messages"][-1].text, state["jury_verdict"]["status"]) == (REFUSAL, "FAIL")
    assert state["messages"][-1].additional_kwargs["jury"]["by"] == "inner"


@BOTH
def test_the_verdict_is_that_of_the_outermost_jury(how):
    outer = JuryMiddleware(Ensemble([quoting], name="outer"))
    state = run(an_agent([GOOD], [outer, JuryMiddleware(Ensemble([quoting], name="inner"))]), how)
    assert state["jury_verdict"]["critic"] == "outer"


class Warranty(AgentMiddleware):
    """Answers with another message than the jury let through."""

    def wrap_model_call(self, request, handler):
        return self.changed(handler(request))

    async def awrap_model_call(self, request, handler):
        return self.changed(await handler(request))

    def changed(self, response):
        return AIMessage(f"{response.result[-1].text} (no warranty)")


class Replaced(AgentMiddleware):
    """Replaces the last message of the state."""

    def after_model(self, state, runtime):
        last = state["messages"][-1]
        return {"messages": [RemoveMessage(id=last.id), AIMessage(f"{last.text} (no warranty)")]}


class Ended(AgentMiddleware):
    """Ends the turn, so that LangChain skips the hooks of the middlewares before it."""

    @hook_config(can_jump_to=["end"])
    def after_model(self, state, runtime):
        return {"jump_to": "end"}


@BOTH
@pytest.mark.parametrize("other", [Warranty, Replaced, Ended])
@pytest.mark.parametrize("first", [True, False], ids=["around the jury", "inside the jury"])
@pytest.mark.parametrize(("draft", "status", "last"), [(GOOD, "PASS", GOOD), (DRAFT, "FAIL", REFUSAL)])
def test_the_verdict_stays_where_another_middleware_replaces_the_message(how, other, first, draft, status, last):
    guards = [JuryMiddleware(quoting, on_fail="block"), other()]
    agent = an_agent([draft], guards[::-1] if first else guards)
    seen = stream(agent, how)
    state = agent.get_state(THREAD).values
    assert state["messages"][-1].text.startswith(last)
    assert state["jury_verdict"]["status"] == status
    assert SECRET not in repr(seen) + everything(agent)


def test_a_replaced_refusal_ends_a_turn_in_which_a_structured_response_is_due():
    model = ScriptedChat(script=[calls("Year", year=SECRET), calls("Year", "c2", year="1994")])
    guards = [Warranty(), JuryMiddleware(quoting, on_fail="block")]
    state = run(an_agent(model, guards, response_format=ToolStrategy(Year)), "sync")
    assert state["messages"][-1].text == f"{REFUSAL} (no warranty)"
    assert (len(model.seen), state["jury_verdict"]["status"]) == (1, "FAIL")


@BOTH
def test_the_verdict_is_in_the_checkpoint_of_the_models_node(how):
    saver = InMemorySaver()

    def agent():  # as another process makes it anew
        guard = JuryMiddleware(quoting, on_fail="block", name="guard")
        return create_agent(ScriptedChat(script=[DRAFT]), [], middleware=[guard], checkpointer=saver,
                            interrupt_before=["guard.after_model"])  # fmt: skip

    state = run(agent(), how)
    assert (state["messages"][-1].text, state["jury_verdict"]["status"]) == (REFUSAL, "FAIL")
    TURNS.forget(agent().get_state(THREAD).values)
    state = run(agent(), how, None)
    assert (state["messages"][-1].text, state["jury_verdict"]["status"]) == (REFUSAL, "FAIL")


@BOTH
def test_the_verdict_is_that_of_the_draft_that_another_middleware_takes(how):
    class First(AgentMiddleware):
        def wrap_model_call(self, request, handler):
            return [handler(request), handler(request)][0]

        async def awrap_model_call(self, request, handler):
            return (await asyncio.gather(handler(request), handler(request)))[0]

    agent = an_agent([GOOD, DRAFT], [First(), JuryMiddleware(quoting, on_fail="block")])
    state = run(agent, how)
    taken = (state["messages"][-1].text, state["jury_verdict"]["status"])
    assert taken in [(GOOD, "PASS"), *([(REFUSAL, "FAIL")] if how == "async" else [])]  # either call may come first


# Attempts of a turn


@BOTH
@pytest.mark.parametrize("keeps", [True, False])
def test_each_jury_sends_the_model_back_as_often_as_its_own_limit_says(how, keeps):
    heard = []
    outer = JuryMiddleware(lambda case: (False, "never"), max_retries=2, keep_drafts=keeps, name="outer")
    inner = JuryMiddleware(quoting, max_retries=1, keep_drafts=keeps, on_verdict=heard.append, name="inner")
    script = [f"{DRAFT} 1", f"{GOOD} 2", f"{DRAFT} 3", f"{GOOD} 4"]
    model = ScriptedChat(script=script)
    agent = an_agent(model, [outer, inner])
    state = run(agent, how)
    assert [one.run.metadata["outcome"] for one in heard] == ["rejected", "accepted", "blocked"]
    assert (state["messages"][-1].text, len(model.seen)) == (REFUSAL, 3)
    values = agent.get_state(THREAD).values
    assert values["jury_attempts"] == {"inner": 1, "outer": 1}
    assert (state["jury_verdict"]["status"], state["messages"][-1].additional_kwargs["jury"]["by"]) == ("FAIL", "inner")
    kept = [(one["by"], one["answer"]) for one in values.get("jury_drafts") or ()]
    assert kept == ([("inner", script[0]), ("outer", script[1]), ("inner", script[2])] if keeps else [])


def test_calls_of_another_middleware_count_as_one_turn():
    class Again(AgentMiddleware):
        def wrap_model_call(self, request, handler):
            for _ in range(3):
                response = handler(request)
            return response

    model = ScriptedChat(script=[DRAFT])
    agent = an_agent(model, [Again(), JuryMiddleware(quoting, max_retries=2, name="guard", keep_drafts=True)])
    run(agent, "sync")
    assert len(model.seen) == 2 + 3
    values = agent.get_state(THREAD).values
    assert values["jury_attempts"] == {"guard": 2}
    assert len(values["jury_drafts"]) == 5
    run(agent, "sync", {"messages": [("user", "Sure?")]})  # another turn
    assert agent.get_state(THREAD).values["jury_attempts"] == {"guard": 2}
    assert len(model.seen) == 10


def test_updates_of_two_juries_keep_the_shape_of_the_model_node():
    two = [JuryMiddleware(Ensemble([quoting]), keep_drafts=True) for _ in range(2)]
    agent = an_agent([DRAFT, GOOD], two)
    updates = dict(item for _, update in stream(agent, "sync", ["updates"]) for item in update.items())
    assert [message.text for message in updates["model"]["messages"]] == [GOOD]
    assert updates["model"]["jury_verdict"]["status"] == "PASS"


@BOTH
def test_a_fallback_model_is_judged_too(how):
    first, second = ScriptedChat(script=[ConnectionError("down")]), ScriptedChat(script=[DRAFT, GOOD])
    for guards in (
        lambda one: [one, ModelFallbackMiddleware(second)],
        lambda one: [ModelFallbackMiddleware(second), one],
    ):
        second.seen.clear()
        agent = an_agent(first, guards(JuryMiddleware(quoting)))
        seen = stream(agent, how)
        assert agent.get_state(THREAD).values["messages"][-1].text == GOOD
        assert SECRET not in repr(seen) + everything(agent)


@BOTH
def test_a_question_that_a_summary_replaced_is_still_the_question(how):
    cases = []
    guard = JuryMiddleware(lambda case: cases.append(case) or True)
    for order in (1, -1):
        cases.clear()
        summary = SummarizationMiddleware(
            ScriptedChat(script=["They look for a year."]), trigger=("messages", 3), keep=("messages", 2)
        )
        script = [calls("search", query="a"), calls("search", "c2", query="b"), GOOD]
        agent = an_agent(script, [guard, summary][::order], [search])
        state = run(agent, how)
        assert not any(message.text == "When did it open?" for message in state["messages"])
        assert [(case.question, case.answer) for case in cases] == [("When did it open?", GOOD)]
        assert cases[0].contexts == ("The bridge opened in 1994.",)


@pytest.mark.slow
@BOTH
def test_a_person_decides_about_calls_and_the_jury_about_the_answer(how):
    model = ScriptedChat(script=[calls("delete_user", user="ann"), DRAFT, GOOD])
    for order in (1, -1):
        DELETED.clear()
        model.seen.clear()
        guards = [JuryMiddleware(quoting), HumanInTheLoopMiddleware({"delete_user": True})][::order]
        agent = an_agent(model, guards, [delete_user])
        assert "__interrupt__" in run(agent, how)
        state = run(agent, how, Command(resume={"decisions": [{"type": "approve"}]}))
        assert DELETED == ["ann"]
        assert state["messages"][-1].text == GOOD
        assert state["jury_verdict"]["status"] == "PASS"
        assert SECRET not in everything(agent)


def test_a_middleware_around_the_jury_sees_no_draft():
    seen: list[Any] = []

    class Log(AgentMiddleware):
        def wrap_model_call(self, request, handler):
            response = handler(request)
            seen.append([message.text for message in response.result])
            return response

    run(an_agent([DRAFT, GOOD], [Log(), JuryMiddleware(quoting)]), "sync")
    assert seen == [[GOOD]]


@pytest.mark.parametrize("when", ["final", "every_model", "tools"])
def test_a_middleware_can_be_copied(when, tmp_path):
    guard = JuryMiddleware(
        Ensemble([quoting]), when=when, budget=Budget(max_calls=10), store=tmp_path / "kept.db", on_fail="block"
    )
    script = [calls("delete_user", user="ann"), DRAFT]
    for made in (copy.deepcopy(guard), copy.copy(guard), copy.deepcopy({"middleware": [guard]})["middleware"][0]):
        assert (type(made), made.name, made.jury) == (type(guard), guard.name, guard.jury)
        state = run(an_agent(script, [made], [delete_user]), "sync")
        assert state["messages"][-1].text == (DRAFT if when == "tools" else REFUSAL)
    name = guard.name
    del guard
    assert JuryMiddleware(Ensemble([quoting]), when=when).name != name  # the copy has it still
    assert made.name == name


def test_an_agent_without_checkpointer_and_with_a_name_keeps_its_name_on_the_refusal():
    agent = create_agent(
        ScriptedChat(script=[DRAFT]), [], middleware=[JuryMiddleware(quoting, on_fail="block")], name="guide"
    )
    assert agent.invoke(ASKED)["messages"][-1].name == "guide"


def test_a_response_of_a_middleware_without_an_id_gets_its_verdict():
    class Canned(AgentMiddleware):
        def wrap_model_call(self, request, handler):
            return AIMessage(GOOD)

    state = run(an_agent([DRAFT], [JuryMiddleware(quoting), Canned()]), "sync")
    assert (state["messages"][-1].text, state["jury_verdict"]["status"]) == (GOOD, "PASS")


@pytest.mark.slow
def test_many_turns_at_once_of_a_cached_model_each_get_their_verdict():
    """A cache gives each of them a message with one id."""
    model = ScriptedChat(script=[GOOD], cache=InMemoryCache())
    agent = create_agent(model, [], middleware=[JuryMiddleware(quoting)])
    asked = {"messages": [HumanMessage("When did it open?", id="1")]}
    agent.invoke(asked)
    with ThreadPoolExecutor(8) as pool:
        states = list(pool.map(lambda _: agent.invoke(asked), range(60)))
    assert len({state["messages"][-1].id for state in states}) == 1
    assert {state["jury_verdict"] and state["jury_verdict"]["status"] for state in states} == {"PASS"}


def test_callbacks_and_call_limits_of_the_model():
    """As the page says: callbacks hear drafts, and LangChain's limit counts a call with its retries once."""
    heard: list[str] = []

    class Ear(BaseCallbackHandler):
        def on_llm_end(self, response, **event):
            heard.append(response.generations[0][0].text)

    limit = ModelCallLimitMiddleware(run_limit=1)
    agent = an_agent([DRAFT, GOOD], [JuryMiddleware(quoting), limit])
    state = run(agent, "sync", config={**THREAD, "callbacks": [Ear()]})
    assert heard == [DRAFT, GOOD]
    assert state["messages"][-1].text == GOOD


@pytest.mark.parametrize("when", ["final", "every_model"])
def test_a_run_with_a_retry_is_seen_from_outside_by_its_last_answer(when):
    watched = Watched()
    script = [calls("search", query="bridge"), DRAFT, GOOD]
    agent = create_agent(ScriptedChat(script=script), [search], middleware=[JuryMiddleware(quoting, when=when)])
    asked = {"messages": [("user", "Hello"), ("assistant", "Hi"), ("user", "When?")]}
    outputs = agent.invoke(asked, watched.config)
    written = {"messages": messages_to_dict(outputs["messages"])}
    for case in (watched.case(), CaseReader().case(None, outputs), CaseReader().case(None, written)):
        assert (case.question, case.answer) == ("When?", GOOD)
        assert [step.tool for step in case.trajectory] == ["search"]
        assert [message.content for message in case.messages] == ["Hello", "Hi"]


def test_messages_of_earlier_turns_are_as_the_user_saw_them():
    agent = an_agent([DRAFT, GOOD], [JuryMiddleware(quoting)])
    run(agent, "sync")
    kinds = [type(message) for message in agent.get_state(THREAD).values["messages"]]
    assert kinds == [HumanMessage, AIMessage]
