"""Runs of a real application, judged in the background, are linked to the span in which they ended."""

from __future__ import annotations

import pytest
from langchain_core.runnables import RunnableLambda
from spans_seen import Spans
from support.llama_apps import Model, an_index, says_paris

from jury_adapters import Ensemble
from jury_adapters.langchain import JuryCallbackHandler
from jury_adapters.llama_index import judge_runs
from jury_adapters.observability import trace_juries


def test_a_langchain_run_is_linked(spans: Spans) -> None:
    chain = RunnableLambda(lambda question: "The ferry stopped in 2018.")
    with trace_juries(spans.provider):
        handler = JuryCallbackHandler(Ensemble([lambda case: "2018" in (case.answer or "")], name="court"))
        with spans.provider.get_tracer("app").start_as_current_span("request"):
            chain.invoke("When did the ferry stop?", config={"callbacks": [handler]})
        assert handler.flush(10)
    (verdict,) = spans.named("judge court")
    assert verdict.parent is None
    assert [link.context.span_id for link in verdict.links] == [spans.one("request").context.span_id]
    assert verdict.context.trace_id != spans.one("request").context.trace_id


@pytest.mark.usefixtures("own_loop")
def test_a_llama_index_run_is_linked(spans: Spans) -> None:
    engine = an_index().as_query_engine(llm=Model())
    with trace_juries(spans.provider), judge_runs(says_paris()) as watch:
        with spans.provider.get_tracer("app").start_as_current_span("request"):
            engine.query("What is the capital of France?")
        assert watch.flush(10)
    (verdict,) = [span for span in spans.all if span.name.startswith("judge ")]
    assert [link.context.span_id for link in verdict.links] == [spans.one("request").context.span_id]
