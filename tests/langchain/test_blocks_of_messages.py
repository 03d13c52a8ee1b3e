"""Results of tools in several blocks, and refusals in fields of their own, as every adapter of LangChain reads them."""

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from support.chat import ScriptedChat, calls
from support.langchain_apps import Watched

from jury_adapters import Case, judge
from jury_adapters.checks import NamesAndNumbers
from jury_adapters.langchain import JuryEvaluator, JuryMiddleware, JuryRunnable

ASKED = {"messages": [("user", "When did the bridge open, and what did it cost?")]}
TEXTS = ["The bridge opened in 1994", "35 million euros was its cost"]
ANSWER = "The bridge opened in 1994 and cost 35 million euros."
REFUSAL = "I cannot help with that."


@tool
def search(query: str) -> list[dict[str, str]]:
    """Search, as a server of the Model Context Protocol does."""
    return [{"type": "text", "text": text} for text in TEXTS]


@tool(return_direct=True)
def tell(query: str) -> list[dict[str, str]]:
    """Search, and answer with what was found."""
    return [{"type": "text", "text": text} for text in TEXTS]


def agent_of(*lines, **options):
    return create_agent(ScriptedChat(script=list(lines)), [search, tell], **options)


def draft_answers(*lines, **options):
    """Return the answers of the drafts that a middleware rejected."""
    agent, thread = agent_of(*lines, checkpointer=InMemorySaver(), **options), {"configurable": {"thread_id": "1"}}
    agent.invoke(ASKED, thread)
    return [draft["answer"] for draft in agent.get_state(thread).values["jury_drafts"]]


@pytest.fixture
def seen():
    return []


@pytest.fixture
def spy(seen):
    @judge(name="spy")
    def spy(case):
        seen.append(case)
        return True

    return spy


def test_blocks_of_a_tools_result_are_lines_in_every_adapter(spy, seen):
    lines = calls("search", query="bridge"), ANSWER
    state = agent_of(*lines, middleware=[JuryMiddleware(spy)]).invoke(ASKED)
    JuryEvaluator(spy)(inputs=ASKED, outputs=state)
    (agent_of(*lines) | JuryRunnable(spy)).invoke(ASKED)
    watched = Watched(spy)
    agent_of(*lines).invoke(ASKED, watched.config)
    assert watched.case()
    assert [case.contexts for case in seen] == [("\n".join(TEXTS),)] * 4
    assert all(NamesAndNumbers().judge(case).status != "FAIL" for case in seen)


def test_blocks_of_a_direct_answer_are_lines(spy, seen):
    drafts = JuryMiddleware(judge(lambda case: seen.append(case) or False), on_fail="block", keep_drafts=True)
    assert draft_answers(calls("tell", query="bridge"), middleware=[drafts]) == ["\n".join(TEXTS)]
    watched = Watched(spy)
    agent_of(calls("tell", query="bridge")).invoke(ASKED, watched.config)
    assert watched.case()
    assert [case.answer for case in seen] == ["\n".join(TEXTS)] * 2


def test_blocks_of_a_tool_that_a_chain_calls_are_lines():
    call = {"type": "tool_call", "id": "1", "name": "search", "args": {"query": "bridge"}}
    chain = RunnableLambda(lambda question: search.invoke(call) and ANSWER)
    watched = Watched()
    chain.invoke("When?", watched.config)
    assert watched.case().contexts == ("\n".join(TEXTS),)


@pytest.mark.parametrize(
    "message",
    [
        AIMessage("", additional_kwargs={"refusal": REFUSAL}),
        AIMessage([{"type": "refusal", "refusal": REFUSAL}]),
        AIMessage([{"type": "non_standard", "value": {"type": "refusal", "refusal": REFUSAL}}]),
    ],
)
def test_a_refusal_is_the_answer_that_is_judged(message, spy, seen):
    state = agent_of(message, middleware=[JuryMiddleware(spy)]).invoke(ASKED)
    JuryEvaluator(spy)(inputs=ASKED, outputs=state)
    watched = Watched(spy)
    agent_of(message).invoke(ASKED, watched.config)
    assert watched.case()
    ScriptedChat(script=[message]).invoke("?", watched.config)
    assert len(watched.cases()) == 2
    assert [case.answer for case in seen] == [REFUSAL] * 4


def test_a_refusal_that_is_rejected_is_kept_as_a_draft():
    jury = JuryMiddleware(judge(lambda case: False), on_fail="block", keep_drafts=True)
    assert draft_answers(AIMessage("", additional_kwargs={"refusal": REFUSAL}), middleware=[jury]) == [REFUSAL]


def test_a_case_of_such_messages_has_the_same_texts():
    state = agent_of(calls("search", query="bridge"), ANSWER).invoke(ASKED)
    assert Case.from_row({"outputs": state}).contexts == ("\n".join(TEXTS),)
