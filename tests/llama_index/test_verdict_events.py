"""Verdicts as events of LlamaIndex's instrumentation."""

from llama_index.core.base.response.schema import Response
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.query_engine import CustomQueryEngine

from jury_adapters.llama_index import JuryVerdictEvent, judge_runs


class Engine(CustomQueryEngine):
    def custom_query(self, query_str: str) -> Response:
        return Response("In 2018.")


class Verdicts(BaseEventHandler):
    found: list[JuryVerdictEvent] = []  # noqa: RUF012  a field of pydantic

    def handle(self, event, **kwargs):
        if isinstance(event, JuryVerdictEvent):
            self.found.append(event)


def test_a_handler_gets_each_verdict_with_its_case_and_run():
    handler, root = Verdicts(), get_dispatcher()
    root.add_event_handler(handler)
    try:
        with judge_runs(lambda case: True, events=True):
            Engine().query("When?")
        with judge_runs(lambda case: True):
            Engine().query("When?")
    finally:
        root.event_handlers.remove(handler)
    (event,) = handler.found
    assert (event.judgment.status, event.case.question, event.span_id) == ("PASS", "When?", event.run.id)
