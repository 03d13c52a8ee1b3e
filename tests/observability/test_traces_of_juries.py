"""Traces that this package wrote: the spans of a jury inside the run of an agent."""

import json

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from support.otlp import message, of_sdk, request, write_requests

from jury_adapters import Critic, Ensemble
from jury_adapters.core.case_files import read_cases
from jury_adapters.observability import trace_juries
from jury_adapters.testing import ScriptedModel

QUESTION, ANSWER = "When did it stop?", "In 2018."


def test_what_a_jury_does_is_not_a_part_of_the_run(tmp_path):
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("application")
    jury = Ensemble([Critic(ScriptedModel(["Answer: YES"]), "faithfulness", name="truth")])
    with trace_juries(provider, content=True):
        with tracer.start_as_current_span("invoke_agent", attributes={"gen_ai.operation.name": "invoke_agent"}):
            with tracer.start_as_current_span("chat") as one:
                one.set_attribute("gen_ai.operation.name", "chat")
                one.set_attribute("gen_ai.input.messages", json.dumps([message("user", QUESTION)]))
                one.set_attribute("gen_ai.output.messages", json.dumps([message("assistant", ANSWER)]))
            jury.judge(question=QUESTION, answer=ANSWER, contexts=[ANSWER])
        jury.judge(question=QUESTION, answer=ANSWER, contexts=[ANSWER])  # a trace of its own
    (row,) = read_cases(write_requests(tmp_path / "traces.jsonl", request(*map(of_sdk, exporter.get_finished_spans()))))
    assert row.case is not None
    assert (row.case.question, row.case.answer, row.case.trajectory) == (QUESTION, ANSWER, ())
    assert row.case.generator is None
