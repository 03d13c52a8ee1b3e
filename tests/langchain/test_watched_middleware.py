"""Agents with a jury as middleware, whose runs a handler judges: a refusal is not an answer."""

import asyncio
from itertools import pairwise
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import RunnableLambda, RunnableSequence
from langgraph.graph import END, START, MessagesState, StateGraph
from support.langchain_apps import Watched, agent, ask

from jury_adapters import Ensemble, abstain
from jury_adapters.langchain import JuryMiddleware


def says_good(case: Any) -> Any:
    return abstain("it is mixed") if "mixed" in (case.answer or "") else "good" in (case.answer or "")


def guarded(*script: str, **options: Any) -> Any:
    return agent(
        *script, tools=(), middleware=[JuryMiddleware(Ensemble([says_good]), **{"on_fail": "block", **options})]
    )


LAST = RunnableLambda(lambda state: state["messages"][-1])


@pytest.mark.parametrize("wrap", [
    lambda app: app,
    lambda app: app | LAST,
    lambda app: app | LAST | StrOutputParser(),
    lambda app: app | LAST | StrOutputParser() | (lambda text: {"question": "How is it?", "answer": text}),
])  # fmt: skip
@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
def test_the_refusal_of_a_middleware_is_skipped(wrap: Any, how: str) -> None:
    app, watched = wrap(guarded("bad")), Watched()
    if how == "invoke":
        app.invoke(ask("How is it?"), watched.config)
    else:
        asyncio.run(app.ainvoke(ask("How is it?"), watched.config))
    counts = watched.nothing()
    assert (counts.skipped, counts.judged) == (1, 0)


@pytest.mark.parametrize(("line", "options", "outcome"), [
    ("good", {}, "passed"), ("bad", {"on_fail": "annotate"}, "annotated"), ("mixed", {}, "unjudged"),
])  # fmt: skip
def test_an_answer_is_judged_and_says_what_the_middleware_did(line: str, options: Any, outcome: str) -> None:
    watched = Watched()
    guarded(line, **options).invoke(ask("How is it?"), watched.config)
    run = watched.one()
    assert (run.answer, run.run.metadata["guard"]) == (line, outcome)


def test_an_agent_without_a_middleware_has_no_such_entry() -> None:
    watched = Watched()
    agent("bad", tools=()).invoke(ask("How is it?"), watched.config)
    assert "guard" not in watched.one().run.metadata


def test_another_answer_after_a_refusal_is_judged() -> None:
    watched = Watched()
    other = guarded("bad") | (lambda state: "A person will call you.")
    other.invoke(ask("How is it?"), watched.config)
    assert watched.one().answer == "A person will call you."


class Plain(MessagesState):
    language: str


class WithVerdict(MessagesState):
    jury_verdict: dict[str, Any]


def graph_of(schema: Any, **nodes: Any) -> Any:
    graph = StateGraph(schema)
    for name, node in nodes.items():
        graph.add_node(name, node)
    for start, end in pairwise([START, *nodes, END]):
        graph.add_edge(start, end)
    return graph.compile()


OUTCOMES = [("good", {}, "passed"), ("bad", {"on_fail": "annotate"}, "annotated"), ("mixed", {}, "unjudged")]


@pytest.mark.parametrize("how", ["invoke", "ainvoke", "stream"])
@pytest.mark.parametrize("wrap", [
    lambda app: graph_of(Plain, desk=app),
    lambda app: graph_of(Plain, outer=graph_of(Plain, desk=app)),
    lambda app: graph_of(Plain, start=lambda state: {"language": "en"}, desk=lambda state: {**app.invoke(state)}),
    lambda app: graph_of(WithVerdict, desk=app),
    lambda app: graph_of(Plain, desk=app, sign=lambda state: {"messages": [("ai", "Yours, the desk")]}),
    lambda app: app | LAST,
    lambda app: app | LAST | StrOutputParser(),
])  # fmt: skip
@pytest.mark.parametrize(("line", "options", "outcome"), OUTCOMES)
def test_what_the_middleware_of_an_agent_inside_did(line: str, options: Any, outcome: str, wrap: Any, how: str) -> None:
    watched, app = Watched(), wrap(guarded(line, **options))
    if how == "ainvoke":
        asyncio.run(app.ainvoke(ask("How is it?"), watched.config))
    elif how == "stream" and not isinstance(app, RunnableSequence):  # a graph in a sequence streams its updates
        list(app.stream(ask("How is it?"), watched.config))
    else:
        app.invoke(ask("How is it?"), watched.config)
    metadata = watched.one().run.metadata
    assert (metadata["guard"], "guards" in metadata) == (outcome, False)


def test_of_several_agents_the_gravest_outcome_counts() -> None:
    watched = Watched()
    app = graph_of(Plain, first=guarded("good"), second=guarded("mixed"), third=guarded("good"))
    app.invoke(ask("How is it?"), watched.config)
    metadata = watched.one().run.metadata
    assert (metadata["guard"], metadata["guards"]) == ("unjudged", ("passed", "unjudged", "passed"))


def test_a_refusal_that_is_not_the_answer_is_blocked() -> None:
    watched = Watched()
    app = graph_of(Plain, desk=guarded("bad"), person=lambda state: {"messages": [("ai", "A person will call you.")]})
    app.invoke(ask("How is it?"), watched.config)
    assert (watched.one().answer, watched.one().run.metadata["guard"]) == ("A person will call you.", "blocked")


def test_a_draft_that_was_sent_back_is_not_an_outcome() -> None:
    watched = Watched()
    model = FakeMessagesListChatModel(responses=[AIMessage("bad"), AIMessage("good")])
    desk = create_agent(model, middleware=[JuryMiddleware(Ensemble([says_good]), on_fail="retry")])
    app = graph_of(Plain, desk=desk)
    app.invoke(ask("How is it?"), watched.config)
    metadata = watched.one().run.metadata
    assert (metadata["guard"], "guards" in metadata) == ("passed", False)


def test_the_tags_of_a_run_are_the_keys_of_its_tags() -> None:
    watched = Watched()
    guarded("good").invoke(ask("How is it?"), {**watched.config, "tags": ["prod", "eu"]})
    tags = watched.one().run.tags
    assert {"prod", "eu"} <= set(tags)
    assert "prod" in tags
