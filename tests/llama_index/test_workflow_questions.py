"""Start events of workflows in which several texts may be the question, and none has a name of it."""

import asyncio
import logging

import pytest
from llama_index.core.workflow import StartEvent, StopEvent, Workflow, step
from support.llama_apps import Verdicts

from jury_adapters.checks import NotEmpty
from jury_adapters.llama_index import judge_runs

TEXTS = {"topic": "the closing force of the doors", "vehicle": "the ET430 of line 4"}
SAID = "no field of the start event has a name of the question, so none of topic, vehicle is the question"


class Ends(Workflow):
    @step
    async def go(self, event: StartEvent) -> StopEvent:
        return StopEvent(result="The force is 180 N.")


class Topic(StartEvent):
    """A start event with optional texts."""

    topic: str = ""
    vehicle: str = ""
    note: str | None = " "


class EndsTopic(Workflow):
    @step
    async def go(self, event: Topic) -> StopEvent:
        return StopEvent(result="The force is 180 N.")


def watched(given, workflow=Ends, **options):
    async def main():
        verdicts = Verdicts()
        async with judge_runs(NotEmpty(), on_verdict=verdicts, select="workflow", **options):
            for _ in range(2):
                await workflow().run(**given)
        return [one.case for one in verdicts]

    return asyncio.run(main())


def test_several_texts_that_may_be_the_question_are_reported(caplog):
    with caplog.at_level(logging.WARNING, logger="jury_adapters"):
        first, second = watched(TEXTS)
    assert (first.question, second.question) == (None, None)
    assert first.metadata["ambiguous"] == second.metadata["ambiguous"] == (SAID,)
    (warning,) = [record.getMessage() for record in caplog.records]
    assert warning == (
        f'{SAID}. Call the field of the question "question", or say where it is with a field map, '
        f"such as field_map={{'question': 'inputs.topic'}} (logged once)"
    )


@pytest.mark.parametrize(
    ("given", "options", "question"),
    [
        ({**TEXTS, "query": "Which force?"}, {}, "Which force?"),
        ({"topic": "doors", "vehicles": 4}, {}, "doors"),
        (TEXTS, {"field_map": {"question": "inputs.topic"}}, TEXTS["topic"]),
    ],
    ids=["a name", "one text", "a field map"],
)
def test_a_question_that_is_known_is_not_reported(caplog, given, options, question):
    with caplog.at_level(logging.WARNING, logger="jury_adapters"):
        cases = watched(given, **options)
    assert not caplog.records
    assert [case.question for case in cases] == [question, question]
    assert all("ambiguous" not in case.metadata for case in cases)


@pytest.mark.parametrize("given", [{"topic": "doors"}, {"start_event": Topic(topic="doors")}])
def test_empty_optional_texts_do_not_compete_for_the_question(caplog, given):
    with caplog.at_level(logging.WARNING, logger="jury_adapters"):
        cases = watched(given, EndsTopic)
    assert not caplog.records
    assert [case.question for case in cases] == ["doors", "doors"]


def test_the_field_map_of_the_warning_is_made_from_the_fields(caplog):
    with caplog.at_level(logging.WARNING, logger="jury_adapters"):
        watched({"ticket_id": "a long number of a ticket", "lang": "en", "complaint": "It is late."})
    (warning,) = [record.getMessage() for record in caplog.records]
    assert "field_map={'question': 'inputs.complaint'}" in warning
