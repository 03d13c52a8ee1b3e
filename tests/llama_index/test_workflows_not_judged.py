"""Hints for users whose application is a workflow, which is judged only if it is selected."""

import asyncio
import logging

import pytest
from llama_index.core.base.response.schema import Response
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.workflow import StartEvent, StopEvent, Workflow, step

from jury_adapters.llama_index import judge_runs

HINT = 'nothing was judged: Rag.run is a workflow, which select="workflow" judges'


class Engine(CustomQueryEngine):
    def custom_query(self, query_str: str) -> Response:
        return Response("In 2018.")


class Rag(Workflow):
    @step
    async def go(self, event: StartEvent) -> StopEvent:
        return StopEvent(result={"answer": "In 2018."})


async def run_workflow() -> None:
    await Rag().run(question="When?")


async def query() -> None:
    await Engine().aquery("When?")


@pytest.mark.parametrize(
    ("application", "select", "hints"),
    [
        ([run_workflow, run_workflow], None, 1),
        ([run_workflow], "workflow", 0),
        ([run_workflow], "query", 0),
        ([run_workflow, query], None, 0),
        ([query], None, 0),
    ],
)
def test_the_log_says_once_that_workflows_are_not_judged_by_default(application, select, hints, caplog):
    async def main() -> None:
        async with judge_runs(lambda case: True, select=select):
            for part in application:
                await part()

    with caplog.at_level(logging.WARNING, logger="jury_adapters"):
        asyncio.run(main())
    assert caplog.text.count(HINT) == hints
