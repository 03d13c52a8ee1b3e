"""A watch around a guard: refusals are not judged, and runs have the outcome of the guard."""

import asyncio

import pytest
from llama_index.core.chat_engine import CondenseQuestionChatEngine
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.query_engine import CustomQueryEngine
from support.llama_apps import ANSWER, Model, Verdicts, a_chat, an_index, says_paris

from jury_adapters import Status
from jury_adapters.llama_index import JuryGuardQueryEngine, judge_runs

INDEX = an_index()


def engine(judge, *, streaming=False, **options):
    return JuryGuardQueryEngine(INDEX.as_query_engine(llm=Model(), streaming=streaming), judge, **options)


def chat(inner):
    memory = ChatMemoryBuffer.from_defaults(llm=Model())
    return CondenseQuestionChatEngine.from_defaults(query_engine=inner, llm=Model(), memory=memory)


def watched(run):
    verdicts = Verdicts()
    with judge_runs(says_paris(), on_verdict=verdicts) as watch:
        run()
    return verdicts, watch.counts


def no(case):
    return False


async def read(guard):
    response = await guard.aquery("Which capital?")
    return [token async for token in response.async_response_gen()]


RUNS = {
    "query": lambda: engine(no).query("Which capital?"),
    "asynchronous": lambda: asyncio.run(engine(no).aquery("Which capital?")),
    "undecided": lambda: engine(lambda case: Status.ABSTAIN, on_undecided="block").query("Which capital?"),
    "stream": lambda: list(engine(no, streaming=True).query("Which capital?").response_gen),
    "asynchronous stream": lambda: asyncio.run(read(engine(no, streaming=True))),
    "chat": lambda: chat(engine(no)).chat("Which capital?"),
    "streamed chat": lambda: list(chat(engine(no, streaming=True)).stream_chat("Which capital?").response_gen),
}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_a_refusal_is_counted_as_skipped_and_not_judged(run):
    verdicts, counts = watched(run)
    assert (verdicts, counts.judged, counts.skipped) == ([], 0, 1)


@pytest.mark.parametrize(
    ("judge", "options", "outcome"),
    [
        (says_paris(), {}, "passed"),
        (no, {"on_fail": "best"}, "best"),
        (no, {"on_fail": "annotate"}, "annotated"),
        (lambda case: Status.ABSTAIN, {}, "unjudged"),
    ],
)
@pytest.mark.parametrize("around", [lambda guard: guard.query, lambda guard: chat(guard).chat])
def test_other_answers_are_judged_and_their_runs_have_the_outcome(judge, options, outcome, around):
    (judged,), counts = watched(lambda: around(engine(judge, **options))("Which capital?"))
    assert (judged.answer, judged.run.metadata["guard"]) == (ANSWER, outcome)
    assert (counts.judged, counts.skipped) == (1, 0)


def test_an_engine_that_answers_after_a_refusal_is_judged():
    class Or(type(engine(no))):
        def _query(self, query_bundle):
            super()._query(query_bundle)
            return INDEX.as_query_engine(llm=Model()).query(query_bundle)

    inner = INDEX.as_query_engine(llm=Model())
    (judged,), _ = watched(lambda: Or(inner, no).query("Which capital?"))
    assert (judged.answer, judged.run.metadata["guard"]) == (ANSWER, "blocked")


@pytest.mark.parametrize("first", [True, False])
def test_of_several_guarded_answers_the_gravest_outcome_counts_and_all_are_known(first):
    """The order of the parts does not matter."""
    parts = [engine(no), engine(says_paris())]
    outcomes = ("blocked", "passed")

    class Both(CustomQueryEngine):
        def custom_query(self, query_str):
            return " ".join(str(part.query(query_str)) for part in (parts if first else parts[::-1]))

    (judged,), counts = watched(lambda: Both().query("Which capital?"))
    assert judged.run.metadata["guard"] == "blocked"
    assert judged.run.metadata["guards"] == (outcomes if first else outcomes[::-1])
    assert (counts.judged, counts.skipped) == (1, 0)
    (alone,), _ = watched(lambda: engine(says_paris()).query("Which capital?"))
    assert "guards" not in alone.run.metadata


def test_a_run_without_a_guard_has_no_outcome():
    (judged,), _ = watched(lambda: a_chat(INDEX, "condense_question").chat("Which capital?"))
    assert "guard" not in judged.run.metadata
