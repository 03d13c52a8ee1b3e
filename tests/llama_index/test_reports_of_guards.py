"""Reports of what on_verdict= of a guarded query engine gets: one case per question, however often it was asked."""

import asyncio

import pytest
from llama_index.core.base.response.schema import AsyncStreamingResponse, Response, StreamingResponse
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.schema import NodeWithScore, TextNode

from jury_adapters import Critic, Report
from jury_adapters.calibration import Votes
from jury_adapters.llama_index import JuryGuardQueryEngine
from jury_adapters.testing import ScriptedModel

NODES = [NodeWithScore(node=TextNode(text="The pool opens at nine."))]


class Learns(CustomQueryEngine):
    """Engine that answers a question well at the attempt whose number it ends with; "never" is answered badly."""

    streams: bool = False

    def custom_query(self, query_str: str) -> Response | StreamingResponse:
        question = query_str.split("\n", maxsplit=1)[0]
        self.__dict__.setdefault("asked", []).append(question)
        tried = self.__dict__["asked"].count(question)
        text = f"good, attempt {tried}" if question.endswith(str(tried)) else f"bad, attempt {tried}"
        if self.streams:
            return StreamingResponse(iter([text]), source_nodes=NODES)
        return Response(text, source_nodes=NODES)

    async def acustom_query(self, query_str: str) -> Response | AsyncStreamingResponse:
        await asyncio.sleep(0)
        found = self.custom_query(query_str)
        if isinstance(found, Response):
            return found

        async def tokens():
            for token in found.response_gen:
                yield token

        return AsyncStreamingResponse(tokens(), source_nodes=NODES)


QUESTIONS = ["At 1", "At 2", "At 3", "At 4", "Never"]


def guarded(streams: bool, *, judge=lambda case: "good" in case.answer, **options):
    runs = []
    guard = JuryGuardQueryEngine(Learns(streams=streams), judge, max_retries=2, on_verdict=runs.append, **options)
    return guard, runs


def one_by_one(guard) -> None:
    for question in QUESTIONS:
        guard.query(question)


def all_at_once(guard) -> None:
    async def ask() -> None:
        await asyncio.gather(*(guard.aquery(question) for question in QUESTIONS))

    asyncio.run(ask())


@pytest.mark.parametrize("streams", [False, True], ids=["responses", "streams"])
@pytest.mark.parametrize("ask", [one_by_one, all_at_once])
def test_a_question_is_one_case_with_its_last_attempt(ask, streams):
    guard, runs = guarded(streams)
    ask(guard)
    assert len(runs) == 1 + 2 + 3 + 3 + 3
    report = Report.from_results(runs)
    assert str(report.figures.summary) == "5 cases: 3 of 5 decided passed (60.0 %)"
    rows = {row["question"]: row for row in report.to_rows()}
    assert {question: row["answer"][-1] for question, row in rows.items()} == dict(zip(QUESTIONS, "12333", strict=True))
    assert {question: row["meta:attempt"] for question, row in rows.items()} == dict(
        zip(QUESTIONS, (0, 1, 2, 2, 2), strict=True)
    )
    assert sorted(row["where"] for row in rows.values()) == [f"case {number}" for number in range(1, 6)]


def test_the_calls_of_earlier_attempts_are_counted():
    model = ScriptedModel(lambda prompt: f"Answer: {'YES' if 'good, attempt' in prompt.turns[-1].text else 'NO'}")
    critic = Critic(model, "faithfulness")
    guard, runs = guarded(False, judge=critic)
    one_by_one(guard)
    summary = Report.from_results(runs).figures.summary
    assert (summary.cases, summary.usage.calls) == (5, len(runs))
    assert summary.usage.calls == sum(one.judgment.usage.calls for one in runs) == 12


def test_the_same_question_asked_twice_is_two_cases():
    guard, runs = guarded(False)
    guard.query("Never")
    guard.query("Never")
    assert str(Report.from_results(runs).figures.summary) == "2 cases: 0 of 2 decided passed (0.0 %)"


def test_the_guards_of_an_engine_and_of_an_engine_around_it_judge_cases_of_their_own():
    inner, runs = guarded(False)
    outer = JuryGuardQueryEngine(inner, lambda case: False, max_retries=1, on_verdict=runs.append)
    outer.query("At 2")
    assert [(one.answer[-1], one.judgment.passed) for one in runs][:3] == [("1", False), ("2", True), ("2", False)]
    assert Report.from_results(runs[:3]).figures.summary.cases == 2


def test_pairs_of_case_and_judgment_keep_every_attempt():
    guard, runs = guarded(False)
    guard.query("At 3")
    assert Report.from_results((one.case, one.judgment) for one in runs).figures.summary.cases == 3


def test_votes_have_every_attempt():
    guard, runs = guarded(False)
    one_by_one(guard)
    assert len(Votes.from_results(runs).items) == len(runs)
