"""Tries of one tool call are one step of the case, that of the last try, as in the messages of the run."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain.agents.middleware import ToolRetryMiddleware, wrap_tool_call
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import BaseTool, tool
from support.langchain_apps import Scripted, Watched, agent, ask

from jury_adapters import Scorecard
from jury_adapters.checks import NoToolErrors, StepLimit, ToolCalls
from jury_adapters.langchain import to_case

HOW = pytest.mark.parametrize("how", ["invoke", "ainvoke"])


def run(app: Any, given: Any, config: Any, how: str) -> Any:
    return app.invoke(given, config) if how == "invoke" else asyncio.run(app.ainvoke(given, config))


def wanted(*calls: tuple[str, str]) -> AIMessage:
    """A message with calls of tools: their names and ids."""
    return AIMessage("", tool_calls=[{"name": name, "args": {"sku": key}, "id": key} for name, key in calls])


def stock_after(failures: int) -> BaseTool:
    """A tool of which the first tries of each call fail."""
    tries: dict[str, int] = {}

    @tool
    def stock(sku: str) -> str:
        """The stock."""
        tries[sku] = tries.get(sku, 0) + 1
        if tries[sku] <= failures:
            raise ConnectionError(f"503 at try {tries[sku]}")
        return f"There are 12 of {sku}."

    return stock


def retrying(**options: Any) -> ToolRetryMiddleware:
    return ToolRetryMiddleware(max_retries=2, initial_delay=0.001, jitter=False, **options)


@HOW
def test_a_call_that_is_tried_again_is_one_step(how: str) -> None:
    card = Scorecard({"expected": ToolCalls(["stock"]), "errors": NoToolErrors(), "limit": StepLimit(max_tool_calls=1)})
    watched = Watched(card)
    app = agent(wanted(("stock", "k")), "There are 12.", tools=[stock_after(2)], middleware=[retrying()])
    state = run(app, ask("How many?"), watched.config, how)
    judged = watched.one()
    assert judged.judgment.status == "PASS", judged.judgment.reasoning
    assert judged.case is not None
    assert judged.case.trajectory == to_case(state).trajectory


def test_a_call_of_which_every_try_fails_is_one_step_with_an_error() -> None:
    watched = Watched()
    app = agent(wanted(("stock", "k")), "I cannot say.", tools=[stock_after(9)], middleware=[retrying()])
    state = app.invoke(ask("How many?"), watched.config)
    (step,) = watched.case().trajectory
    assert (step.tool, step.output) == ("stock", None)
    assert step == to_case(state).trajectory[0]


def test_a_run_that_fails_has_the_last_try_only() -> None:
    watched = Watched()
    app = agent(wanted(("stock", "k")), "", tools=[stock_after(9)], middleware=[retrying(on_failure="error")])
    with pytest.raises(ConnectionError):
        app.invoke(ask("How many?"), watched.config)
    assert [step.error for step in watched.case().trajectory] == ["ConnectionError: 503 at try 3"]


def test_calls_side_by_side_that_are_tried_again_are_a_step_each() -> None:
    watched = Watched()
    both = wanted(("stock", "a"), ("stock", "b"))
    state = agent(both, "12 each.", tools=[stock_after(1)], middleware=[retrying()]).invoke(
        ask("How many?"), watched.config
    )
    case = watched.case()
    assert sorted(str(step.output) for step in case.trajectory) == ["There are 12 of a.", "There are 12 of b."]
    assert case.trajectory == to_case(state).trajectory


@tool
def archive(sku: str) -> str:
    """The stock in the archive."""
    return f"The archive has 3 of {sku}."


def test_a_call_that_another_tool_answers_is_the_step_of_that_tool() -> None:
    @wrap_tool_call
    def or_the_archive(request: Any, handler: Any) -> Any:
        try:
            return handler(request)
        except ConnectionError:
            return handler(request.override(tool=archive, tool_call={**request.tool_call, "name": "archive"}))

    watched = Watched()
    app = agent(wanted(("stock", "k")), "There are 3.", tools=[stock_after(9), archive], middleware=[or_the_archive])
    app.invoke(ask("How many?"), watched.config)
    assert [(step.tool, step.output, step.error) for step in watched.case().trajectory] == [
        ("archive", "The archive has 3 of k.", None)
    ]


def test_a_result_that_a_middleware_does_not_accept_is_no_step() -> None:
    answers = iter(["no stock known", "There are 12."])

    @tool
    def stock(sku: str) -> str:
        """The stock."""
        return next(answers)

    @wrap_tool_call
    def until_known(request: Any, handler: Any) -> Any:
        found = handler(request)
        return handler(request) if "no stock" in found.text else found

    watched = Watched()
    agent(wanted(("stock", "k")), "12.", tools=[stock], middleware=[until_known]).invoke(ask("?"), watched.config)
    assert [step.output for step in watched.case().trajectory] == ["There are 12."]


def test_a_call_whose_arguments_a_middleware_lets_a_model_put_right_is_one_step() -> None:
    mender = Scripted(script=["k-2"])

    @wrap_tool_call
    def mended(request: Any, handler: Any) -> Any:
        try:
            return handler(request)
        except ConnectionError as error:
            arguments = {"sku": str(mender.invoke(str(error)).text)}
            return handler(request.override(tool_call={**request.tool_call, "args": arguments}))

    @tool
    def stock(sku: str) -> str:
        """The stock."""
        if sku != "k-2":
            raise ConnectionError(f"no such article: {sku}")
        return f"There are 12 of {sku}."

    watched = Watched()
    agent(wanted(("stock", "k")), "12.", tools=[stock], middleware=[mended]).invoke(ask("?"), watched.config)
    (step,) = watched.case().trajectory
    assert (dict(step.arguments), step.output) == ({"sku": "k-2"}, "There are 12 of k-2.")


@pytest.mark.parametrize("failures", [0, 1])
def test_calls_of_several_rounds_are_steps_each_also_if_a_model_repeats_its_ids(failures: int) -> None:
    """Some servers number the calls of each reply anew."""
    watched, again = Watched(), wanted(("stock", "call_0"))
    app = agent(again, again, "There are 12.", tools=[stock_after(failures)], middleware=[retrying()])
    state = app.invoke(ask("How many?"), watched.config)
    assert len(watched.case().trajectory) == len(to_case(state).trajectory) == 2


def test_a_loop_of_ones_own_has_a_step_for_each_round() -> None:
    """All rounds are in one run, and the model repeats its ids."""
    stock, model = stock_after(1), agent_model()

    def loop(question: str) -> str:
        messages: list[Any] = [("user", question)]
        while True:
            reply = model.invoke(messages)
            messages.append(reply)
            if not reply.tool_calls:
                return str(reply.text)
            for one in reply.tool_calls:
                try:
                    messages.append(stock.invoke(one))
                except ConnectionError as error:
                    messages.append(ToolMessage(str(error), tool_call_id=one["id"], status="error"))

    watched = Watched()
    RunnableLambda(loop).invoke("How many?", watched.config)
    found = [(step.output, step.error) for step in watched.case().trajectory]
    assert found == [(None, "ConnectionError: 503 at try 1"), ("There are 12 of k.", None)]


def agent_model() -> Any:
    return Scripted(script=[wanted(("stock", "k")), wanted(("stock", "k")), "There are 12."])


def test_calls_of_agents_side_by_side_are_not_tries_of_one_call() -> None:
    """Their models give the same id."""
    one, two = (
        agent(wanted(("stock", "k")), "There are 12.", tools=[stock_after(1)], middleware=[retrying()])
        for _ in range(2)
    )

    async def both(question: str) -> str:
        found = await asyncio.gather(one.ainvoke(ask(question)), two.ainvoke(ask(question)))
        return " ".join(state["messages"][-1].text for state in found)

    watched = Watched()
    asyncio.run(RunnableLambda(both).ainvoke("How many?", watched.config))
    assert [step.output for step in watched.case().trajectory] == ["There are 12 of k."] * 2
