"""Steps that are retried: a chosen run is judged once, for its last attempt, whatever retries it."""

from __future__ import annotations

import asyncio
import operator
from typing import Annotated, Any, TypedDict

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ModelRetryMiddleware
from langchain_core.runnables import RunnableLambda
from langgraph.graph import END, START, StateGraph
from langgraph.types import RetryPolicy, Send
from support.langchain_apps import Scripted, Watched, agent, ask

from jury_adapters import Status


class Draft(TypedDict, total=False):
    question: str
    answer: str
    parts: Annotated[list[str], operator.add]


class Unsteady:
    """A node that raises a number of times, and then answers."""

    def __init__(self, failures: int, answer: str = "Section 5.2 says yes.") -> None:
        self.failures = failures
        self.answer = answer

    def __call__(self, state: Any) -> dict[str, str]:
        if self.failures:
            self.failures -= 1
            raise ConnectionError(f"{self.failures} to come")
        return {"answer": self.answer}


def policy(attempts: int = 3) -> RetryPolicy:
    return RetryPolicy(initial_interval=0.01, jitter=False, max_attempts=attempts, retry_on=ConnectionError)


def graph(draft: Any, **compiled: Any) -> Any:
    made = StateGraph(Draft)
    made.add_node("draft", draft, retry_policy=policy())
    made.add_edge(START, "draft")
    made.add_edge("draft", END)
    return made.compile(**compiled)


def streamed(app: Any, given: Any, config: Any) -> None:
    list(app.stream(given, config))


def awaited(app: Any, given: Any, config: Any) -> None:
    asyncio.run(app.ainvoke(given, config))


def waited(app: Any, given: Any, config: Any) -> None:
    app.invoke(given, config)


HOW = pytest.mark.parametrize("call", [waited, streamed, awaited])


@HOW
@pytest.mark.parametrize("select", ["draft", lambda run: run.name == "draft", None])
def test_a_node_with_a_retry_policy_is_judged_once(call: Any, select: Any) -> None:
    watched = Watched(select=select)
    call(graph(Unsteady(2)), {"question": "Theft?"}, watched.config)
    judged = watched.one()
    assert (judged.judgment.status, judged.answer, judged.run.error) == (Status.PASS, "Section 5.2 says yes.", None)
    assert watched.handler.counts.judged == 1


@HOW
@pytest.mark.parametrize("select", ["draft", None])
def test_a_node_of_which_all_attempts_fail_is_fail_once_as_the_whole_run_is(call: Any, select: Any) -> None:
    watched = Watched(select=select)
    with pytest.raises(ConnectionError):
        call(graph(Unsteady(9)), {"question": "Theft?"}, watched.config)
    judged = watched.one()
    assert judged.judgment.status is Status.FAIL
    assert judged.run.error == "ConnectionError: 6 to come"
    assert judged.question == "Theft?"
    assert watched.handler.counts.judged == 1


def test_of_parallel_tasks_of_one_node_each_is_judged_once() -> None:
    failing = {"b": 1, "c": 9}

    def draft(given: dict[str, str]) -> dict[str, list[str]]:
        name = given["question"]
        if failing.get(name):
            failing[name] -= 1
            raise ConnectionError(name)
        return {"parts": [name]}

    made = StateGraph(Draft)
    made.add_node("draft", draft, retry_policy=policy(2))  # type: ignore[call-overload]
    made.add_conditional_edges(START, lambda _: [Send("draft", {"question": name}) for name in "abc"], ["draft"])
    watched = Watched(select="draft")
    with pytest.raises(ConnectionError):
        made.compile().invoke({"question": "Theft?"}, watched.config)
    watched.handler.flush(timeout=30)
    found = sorted((judged.question or "", str(judged.judgment.status)) for judged in watched.runs)
    assert found == [("a", "PASS"), ("b", "PASS"), ("c", "FAIL")]


@pytest.mark.parametrize("call", [waited, awaited])  # LangChain does not retry streams
def test_a_step_inside_a_chain_that_is_retried_is_judged_once(call: Any) -> None:
    inner = RunnableLambda(Unsteady(1)).with_config(run_name="inner")
    app = (RunnableLambda(lambda given: given) | inner | (lambda state: state)).with_retry(
        wait_exponential_jitter=False, stop_after_attempt=3
    )
    watched = Watched(select="inner")
    call(app, {"question": "Theft?"}, watched.config)
    assert watched.one().judgment.status is Status.PASS


@HOW
def test_an_agent_inside_a_node_that_is_retried_is_judged_once(call: Any) -> None:
    down = [ConnectionError("down")]

    def answer(state: Any) -> dict[str, Any]:
        inner = agent(down.pop() if down else "Yes.", name="claims")
        return {"answer": inner.invoke(ask(state["question"]))["messages"][-1].text}

    for select in ("claims", "Scripted"):
        down[:] = [ConnectionError("down")]
        watched = Watched(select=select)
        call(graph(answer), {"question": "Theft?"}, watched.config)
        judged = watched.one()
        assert (judged.judgment.status, judged.answer) == (Status.PASS, "Yes.")


@HOW
def test_a_model_that_a_middleware_asks_again_is_judged_once(call: Any) -> None:
    class Down(Scripted):
        def _result(self, messages: Any) -> Any:
            self.asked += 1
            if self.asked == 1:
                raise ConnectionError("down")
            return super()._result(messages)

    retry = ModelRetryMiddleware(max_retries=2, initial_delay=0.01, jitter=False)
    watched = Watched(select="Down")
    call(create_agent(Down(script=["Yes."]), tools=[], middleware=[retry]), ask("Theft?"), watched.config)
    judged = watched.one()
    assert (judged.judgment.status, judged.answer) == (Status.PASS, "Yes.")


def test_a_failure_after_which_the_application_goes_on_is_fail() -> None:
    first = RunnableLambda(Unsteady(9)).with_config(run_name="first")
    watched = Watched(select="first")
    app = first.with_fallbacks([RunnableLambda(lambda _: "Second.")])
    (app | (lambda text: text)).invoke({"question": "Theft?"}, watched.config)
    assert watched.one().judgment.status is Status.FAIL


def test_a_failure_before_other_inputs_of_the_same_step_is_fail() -> None:
    inner = RunnableLambda(Unsteady(1)).with_config(run_name="inner")

    def each(given: Any) -> list[Any]:
        answers = []
        for question in ("one", "two"):
            try:
                answers.append(inner.invoke({"question": question}))
            except ConnectionError:
                answers.append(None)
        return answers

    watched = Watched(select="inner")
    RunnableLambda(each).invoke("q", watched.config)
    watched.handler.flush(timeout=30)
    found = sorted((judged.question or "", str(judged.judgment.status)) for judged in watched.runs)
    assert found == [("one", "FAIL"), ("two", "PASS")]
