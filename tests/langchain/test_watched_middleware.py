"""Agents with a jury as middleware, whose runs a handler judges: a refusal is not an answer."""

import asyncio
from typing import Any

import pytest
from langchain_core.output_parsers import StrOutputParser
from langchain_core.runnables import RunnableLambda
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
