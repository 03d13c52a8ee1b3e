"""Results of workflows in which no field has a name of the answer."""

import ast
import asyncio
import logging

import pytest
from llama_index.core.workflow import StartEvent, StopEvent, Workflow, step
from support.llama_apps import Verdicts

from jury_adapters.checks import NotEmpty
from jury_adapters.llama_index import judge_runs

REPORT = {"report": "It runs on weekdays.", "latency_ms": 4711, "contexts": ["It runs on weekdays from nine."]}
SAID = "no field of the result has a name of the answer, so report, latency_ms are the answer as JSON"


def watched(result, **options):
    class Ends(Workflow):
        @step
        async def go(self, event: StartEvent) -> StopEvent:
            return StopEvent(result=result)

    async def main():
        verdicts = Verdicts()
        async with judge_runs(NotEmpty(), on_verdict=verdicts, select="workflow", **options):
            for _ in range(2):
                await Ends().run(question="When does it run?")
        return [one.case for one in verdicts]

    return asyncio.run(main())


def test_several_fields_that_are_the_answer_together_are_reported(caplog):
    with caplog.at_level(logging.WARNING, logger="jury_adapters"):
        first, second = watched(REPORT)
    assert first.answer == '{"report": "It runs on weekdays.", "latency_ms": 4711}'
    assert first.metadata["ambiguous"] == second.metadata["ambiguous"] == (SAID,)
    (warning,) = [record.getMessage() for record in caplog.records]
    assert warning == (
        f'{SAID}. Call the field of the answer "answer", or say where it is with a field map, '
        f"such as field_map={{'answer': 'outputs.report'}} (logged once)"
    )


@pytest.mark.parametrize(
    ("result", "options"),
    [
        ({**REPORT, "answer": "On weekdays."}, {}),
        ({"contexts": ["a"], "report": {"text": "On weekdays.", "days": 5}}, {}),
        ("On weekdays.", {}),
        (REPORT, {"field_map": {"answer": "outputs.report"}}),
    ],
    ids=["a name", "one field", "a text", "a field map"],
)
def test_an_answer_that_is_named_is_not_reported(caplog, result, options):
    with caplog.at_level(logging.WARNING, logger="jury_adapters"):
        cases = watched(result, **options)
    assert not caplog.records
    assert all("ambiguous" not in case.metadata for case in cases)


class Written(StopEvent):
    """A stop event with optional texts."""

    summary: str = ""
    note: str = " "


@pytest.mark.parametrize(("event", "answer"), [(Written(summary="On weekdays."), "On weekdays."), (
    Written(summary="On weekdays.", note="Not on holidays."),
    '{"summary": "On weekdays.", "note": "Not on holidays."}',
)])  # fmt: skip
def test_an_empty_optional_text_does_not_compete_for_the_answer(event, answer):
    class Writes(Workflow):
        @step
        async def go(self, start: StartEvent) -> Written:
            return event

    async def main():
        verdicts = Verdicts()
        async with judge_runs(NotEmpty(), on_verdict=verdicts, select="workflow"):
            await Writes().run(question="When does it run?")
        return verdicts.case.answer

    assert asyncio.run(main()) == answer


@pytest.mark.parametrize(
    "result",
    [
        {"messages": []}, {"messages": [], "lang": "en"}, {"chat_history": []}, {"response": None, "latency_ms": 4},
        {"answer": None}, {"output": None, "report": "It runs."}, {},
    ],
)  # fmt: skip
def test_a_result_without_an_answer_has_none(result):
    assert [case.answer for case in watched(result)] == [None, None]


@pytest.mark.parametrize("result", [{"days": 5, "summary text": "It runs."}, {"n.o": "On weekdays.", "list": [1]}])
def test_the_field_map_of_the_warning_works_as_it_is(caplog, result):
    with caplog.at_level(logging.WARNING, logger="jury_adapters"):
        watched(result)
    (warning,) = [record.getMessage() for record in caplog.records]
    paths = ast.literal_eval(warning.partition("field_map=")[2].partition(" (")[0])
    assert watched(result, field_map=paths)[0].answer in result.values()
