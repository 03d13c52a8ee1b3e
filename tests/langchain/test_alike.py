"""The same agent run makes the same case, whoever judges it: middleware, callbacks, an evaluation loop, a node."""

import asyncio

import pytest
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from support.langchain_apps import Scripted, agent, ask, call, weather

from jury_adapters import Critic, Ensemble
from jury_adapters.core.errors import ModelError
from jury_adapters.langchain import (
    JuryCallbackHandler,
    JuryEvaluator,
    JuryMiddleware,
    JuryRunnable,
)
from jury_adapters.langchain.langsmith import examples, offline_client
from jury_adapters.testing import ScriptedModel, no_waiting

ASKED = ask("Weather in Oslo?")


@tool(response_format="content_and_artifact")
def pages(query: str) -> tuple[str, list[Document]]:
    """Find pages."""
    found = [Document(f"{query} page {number}") for number in (1, 2)]
    return "\n\n".join(page.page_content for page in found), found


def lacks_30(case):
    """Whether the answer has a number that no context has."""
    return "30F" in case.answer and bool(case.contexts) and not any("30F" in text for text in case.contexts)


def by_callback(app, judge):
    with JuryCallbackHandler(judge) as handler:
        app.invoke(ASKED, {"callbacks": [handler]})


def by_callback_in_a_loop(app, judge):
    async def main():
        async with JuryCallbackHandler(judge) as handler:
            await app.ainvoke(ASKED, {"callbacks": [handler]})

    asyncio.run(main())


def by_evaluator(app, judge):
    evaluators = [JuryEvaluator(judge)]
    data = examples([{"inputs": {"messages": [{"role": "user", "content": "Weather in Oslo?"}]}}])
    list(offline_client().evaluate(app.invoke, data=data, evaluators=evaluators, upload_results=False))


WAYS = {
    "callback": by_callback,
    "callback in a loop": by_callback_in_a_loop,
    "evaluator": by_evaluator,
    "function": lambda app, judge: JuryEvaluator(judge)(inputs=ASKED, outputs=app.invoke(ASKED)),
    "runnable": lambda app, judge: JuryRunnable(judge).invoke(app.invoke(ASKED)),
}


@pytest.mark.filterwarnings("ignore:'upload_(results|runs)' parameter is in beta")
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_what_the_tools_returned_is_the_context_of_an_agents_answer(way):
    seen = []

    def judge(case):
        seen.append(case)
        return not lacks_30(case)

    script = (call("weather", city="Oslo"), "It is 30F in Oslo.")
    agent(*script, middleware=[JuryMiddleware(judge, on_fail="annotate")]).invoke(ASKED)
    way(agent(*script), judge)
    inside, outside = seen
    assert inside.contexts == outside.contexts == ("80F in Oslo",)
    assert (inside.question, inside.answer) == (outside.question, outside.answer)
    assert [step.output for step in inside.trajectory] == [step.output for step in outside.trajectory]
    assert [lacks_30(case) for case in seen] == [True, True]


def contexts_of(*script, tools):
    seen = []
    by_callback(agent(*script, tools=tools), lambda case: seen.append(case) or True)
    return seen[0].contexts


def test_documents_of_a_tool_are_not_counted_a_second_time_as_its_text():
    both = AIMessage(
        "",
        tool_calls=[
            {"name": "pages", "args": {"query": "Oslo"}, "id": "1"},
            {"name": "weather", "args": {"city": "Oslo"}, "id": "2"},
        ],
    )
    assert contexts_of(both, "Fine.", tools=[pages, weather]) == ("Oslo page 1", "Oslo page 2", "80F in Oslo")


def test_what_a_tool_said_of_its_failure_is_no_context():
    assert contexts_of(call("weather", town="Oslo"), "I cannot say.", tools=[weather]) == ()


def broken_panel():
    """A panel whose vendor is out, as panels are built in practice."""
    models = [ScriptedModel([ModelError("down", "server", status=503)] * 20, model=name) for name in ("one", "two")]
    return Ensemble([Critic(model, "answer_relevance", name=model.model) for model in models], name="panel")


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
@pytest.mark.parametrize("when", ["final", "every_model"])
@pytest.mark.parametrize(("on_undecided", "said"), [("allow", "It is 80F."), ("block", "Sorry.")])
def test_an_outage_of_the_panels_vendor_lets_the_answer_pass_unless_it_is_to_block(how, when, on_undecided, said):
    guard = JuryMiddleware(broken_panel(), when=when, on_undecided=on_undecided, refusal="Sorry.")
    app = agent("It is 80F.", middleware=[guard])
    with no_waiting():
        state = app.invoke(ASKED) if how == "invoke" else asyncio.run(app.ainvoke(ASKED))
    assert state["jury_verdict"]["status"] == "ERROR"
    assert state["messages"][-1].text == said


@pytest.mark.parametrize(("options", "said"), [
    ({}, "This call was not made"), ({"on_undecided": "block"}, "This call was not made"),
    ({"on_undecided": "allow"}, "80F in Oslo"),
])  # fmt: skip
def test_an_outage_stops_tool_calls_unless_they_are_to_be_allowed(options, said):
    guard = JuryMiddleware(broken_panel(), when="tools", **options)
    with no_waiting():
        state = agent(call("weather", city="Oslo"), "Done.", middleware=[guard]).invoke(ASKED)
    assert state["messages"][2].text.startswith(said)


def test_a_tool_call_that_is_refused_leaves_the_model_a_way_out():
    model = Scripted(script=[call("weather", city="Oslo"), "I may not look at that."])
    guard = JuryMiddleware(lambda case: (False, "only people may do that"), when="tools")
    state = create_agent(model, tools=[weather], middleware=[guard]).invoke(ASKED)
    told = state["messages"][2].text
    assert "only people may do that" in told
    assert "Do not make the same call again" in told
    assert "tell the user what you could not do" in told
    assert "try again" not in told
    assert state["messages"][-1].text == "I may not look at that."
