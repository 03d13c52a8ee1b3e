"""What a guard withholds is in no stream, state or checkpoint. Run as a script, it does so 3,000 times."""

import asyncio
import sys
import warnings

import pytest
from fact_tables import each_row
from langchain.agents import create_agent
from langchain.agents.structured_output import ToolStrategy
from langchain_core.tools import tool
from langchain_support import ASKED, call, model, pages
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from pydantic import BaseModel

from jury_adapters import Judgment
from jury_adapters.langchain import JuryMiddleware

SECRET = "The code of the vault is SECRET."
FINE = "I may not say that code."


class Reply(BaseModel):
    """A structured response."""

    answer: str


@tool(return_direct=True)
def vault(number: int) -> str:
    """Return the code of a vault."""
    return SECRET


def discreet(case):
    passed = "SECRET" not in (case.answer or "")
    return Judgment(
        status="PASS" if passed else "FAIL", reasoning=f"it says {case.answer}", metadata={"a": case.answer}
    )


def quotes(case):
    return True, f"it says {case.answer}"


SCRIPTS = {
    "retried": [call("pages", query="vault"), SECRET, SECRET, FINE],
    "withheld": [SECRET],
    "structured": [call("Reply", answer=SECRET), call("Reply", answer=FINE)],
    "direct": [call("vault", number=1), "never"],
    "two guards": [SECRET, FINE],
}
SINGLE = ["values", "updates", "messages", "checkpoints", "tasks", "debug"]
MODES = [*SINGLE, SINGLE]
WAYS = ["stream", "astream", "astream_events", "stream in a graph"]


PAIRS = [(kind, way) for kind in SCRIPTS for way in WAYS if (kind, way) != ("direct", "astream_events")]


def app(kind, drafts):
    guards = [JuryMiddleware(discreet, on_verdict=drafts.append, name="discreet")]
    guards += [JuryMiddleware(quotes, name="quotes")] if kind == "two guards" else []
    options = {"response_format": ToolStrategy(Reply)} if kind == "structured" else {}
    return create_agent(
        model(*SCRIPTS[kind]), [pages, vault], middleware=guards, checkpointer=InMemorySaver(), **options
    )


def shown(kind, way, mode):
    """Return all that an application reads of one run, what was judged, and the answer."""
    drafts = []
    made, config = app(kind, drafts), {"configurable": {"thread_id": "1"}}
    if way == "stream in a graph":
        outer = StateGraph(made.builder.state_schema)
        outer.add_node("agent", made)
        outer.add_edge(START, "agent").add_edge("agent", END)
        made = outer.compile(checkpointer=InMemorySaver())

    async def read():
        events = made.astream_events(ASKED, config, version="v2")
        return [one async for one in (made.astream(ASKED, config, stream_mode=mode) if way == "astream" else events)]

    if way.startswith("stream"):
        stream = made.stream(ASKED, config, stream_mode=mode, subgraphs=way == "stream in a graph")
        events = [*stream]
    else:
        events = asyncio.run(read())
    state = made.get_state(config)
    history = [*made.get_state_history(config)]
    return str([events, state, history, [*made.checkpointer.list(None)]]), drafts, state.values


@pytest.mark.filterwarnings("ignore:Deserializing unregistered type")
@each_row(("kind", "way"), PAIRS)
def test_trap_12_nothing_that_is_withheld_is_shown(kind, way):
    """In all modes at once, and in one alone, which rotates."""
    for mode in [SINGLE, SINGLE[PAIRS.index((kind, way)) % 6]] if way != "astream_events" else SINGLE[:1]:
        everything, drafts, state = shown(kind, way, mode)
        assert "SECRET" in str([one.case.answer for one in drafts])
        assert "SECRET" not in everything, mode
        last = state["messages"][-1].text
        assert last == (FINE if kind in ("retried", "two guards") else last)
        assert ("passed its review" in last) == (kind in ("withheld", "direct"))


def test_events_of_a_tool_show_its_result_before_the_review_as_the_docstring_says():
    everything, drafts, state = shown("direct", "astream_events", None)
    assert drafts[0].judgment.status == "FAIL"
    assert "SECRET" in everything
    assert "SECRET" not in str(state)


@pytest.mark.parametrize("way", ["stream", "astream"])
def test_the_answer_itself_is_in_the_stream_of_messages_once(way):
    for mode in ("messages", ["messages"]):
        everything, _, _ = shown("retried", way, mode)
        assert FINE in everything
    made = app("retried", [])
    config = {"configurable": {"thread_id": "1"}}
    texts = [one.text for one, _ in made.stream(ASKED, config, stream_mode="messages")]
    assert texts.count(FINE) == 1


def test_annotated_answers_are_streamed_word_by_word():
    guard = JuryMiddleware(discreet, on_fail="annotate")
    made = create_agent(model(SECRET), [], middleware=[guard])
    texts = [one.text for one, _ in made.stream(ASKED, stream_mode="messages")]
    assert "".join(texts) == SECRET
    assert len(texts) > 5


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    runs, leaks = 0, []
    while runs < 3_000:
        for kind, way in PAIRS:
            for mode in MODES:
                everything, drafts, _ = shown(kind, way, mode)
                runs += 1
                if "SECRET" in everything or "SECRET" not in str([one.case.answer for one in drafts]):
                    leaks.append((kind, way, mode))
    print(f"{runs} runs, {len(leaks)} leaks {leaks[:5]}")
    sys.exit(bool(leaks))
