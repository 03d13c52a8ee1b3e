"""The slots into which LlamaIndex puts an evaluator, all of them, with a jury of ours inside."""

import asyncio
from collections.abc import Iterator

import pytest
from llama_index.core import Settings
from llama_index.core.base.response.schema import PydanticResponse
from llama_index.core.evaluation import BatchEvalRunner
from llama_index.core.query_engine import RetryGuidelineQueryEngine, RetryQueryEngine, RetrySourceQueryEngine
from llama_index.core.tools.eval_query_engine import EvalQueryEngineTool
from pydantic import BaseModel
from support.canned import a_chat, an_index, three_words

from jury_adapters import Case, Ensemble
from jury_adapters.llama_index import JuryEvaluationResult, JuryEvaluator

# LlamaIndex' own runner still calls a function that LlamaIndex deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:asyncio_module:DeprecationWarning")

TEXT = "text text text"
YEAR = "year: 2025\n\nRevenue grew 12%."


def seen(case: Case) -> tuple[bool, str]:
    return True, f"{case.answer} | {' '.join(case.contexts)}"


INDEX = an_index()
JURY = JuryEvaluator(Ensemble([seen, seen, lambda case: (False, "no")]))


@pytest.fixture(autouse=True)
def generator() -> Iterator[None]:
    """The retry engines touch Settings.llm, also where they do not use it."""
    Settings.llm = three_words()
    yield
    Settings._llm = None


def fits(result: JuryEvaluationResult, text: str = TEXT) -> bool:
    assert isinstance(result, JuryEvaluationResult)
    assert result.passing is True
    assert result.contexts is not None
    assert YEAR in result.contexts
    return (result.response or "").strip() == text  # the oldest MockLLM streams a blank at the end


def test_response() -> None:
    assert fits(JURY.evaluate_response("q", INDEX.as_query_engine().query("q")))


def test_streaming_response() -> None:
    assert fits(JURY.evaluate_response("q", INDEX.as_query_engine(streaming=True).query("q")))


def test_async_streaming_response() -> None:
    async def run() -> JuryEvaluationResult:
        return await JURY.aevaluate_response("q", await INDEX.as_query_engine(streaming=True).aquery("q"))

    assert fits(asyncio.run(run()))


def test_agent_chat_response() -> None:
    assert fits(JURY.evaluate_response("q", a_chat().chat("hi")))


def test_streaming_agent_chat_response() -> None:
    assert fits(JURY.evaluate_response("q", a_chat().stream_chat("hi")))


def test_streaming_agent_chat_response_in_a_loop() -> None:
    async def run() -> JuryEvaluationResult:
        answer = await a_chat().astream_chat("hi")
        return await JURY.aevaluate_response("q", answer)

    assert fits(asyncio.run(run()))


def test_pydantic_response() -> None:
    class Model(BaseModel):
        a: int = 1

    nodes = INDEX.as_query_engine().query("q").source_nodes
    assert fits(JURY.evaluate_response("q", PydanticResponse(Model(), source_nodes=nodes)), '{"a":1}')


def test_text_and_none() -> None:
    assert JURY.evaluate_response("q", "text").response == "text"
    assert JURY.evaluate_response("q", None).passing is True


def test_batch_of_texts_with_flat_and_with_nested_keywords() -> None:
    runner = BatchEvalRunner({"jury": JURY, "other": JuryEvaluator(seen)}, workers=2)
    flat = runner.evaluate_response_strs(["q"] * 3, ["r"] * 3, [["c"]] * 3, reference=["x"] * 3)
    nested = runner.evaluate_response_strs(["q"] * 3, ["r"] * 3, jury={"reference": ["x"] * 3})
    for results in (flat, nested):
        assert {name: len(items) for name, items in results.items()} == {"jury": 3, "other": 3}


def test_batch_of_queries_and_of_responses() -> None:
    runner = BatchEvalRunner({"jury": JURY})
    assert all(fits(result) for result in runner.evaluate_queries(INDEX.as_query_engine(), ["a", "b"])["jury"])
    streamed = INDEX.as_query_engine(streaming=True).query("q")
    assert all(fits(result) for result in runner.evaluate_responses(["q"], [streamed])["jury"])


def test_retry_engines() -> None:
    engine = INDEX.as_query_engine()
    assert str(RetryQueryEngine(engine, JURY, max_retries=1).query("q")) == TEXT
    assert str(RetryGuidelineQueryEngine(engine, JURY, max_retries=1).query("q")) == TEXT
    assert str(RetrySourceQueryEngine(engine, JURY, max_retries=1, llm=Settings.llm).query("q")) == TEXT


@pytest.mark.parametrize("streaming", [False, True])
def test_tool(streaming: bool) -> None:
    engine = INDEX.as_query_engine(streaming=streaming)
    tool = EvalQueryEngineTool.from_defaults(engine, evaluator=JURY, name="kb", description="d")
    assert tool.call("q").content.strip() == TEXT
    assert asyncio.run(_called(tool)).strip() == TEXT


async def _called(tool: EvalQueryEngineTool) -> str:
    return (await tool.acall("q")).content


def test_a_tool_says_why_an_answer_was_blocked() -> None:
    blocking = JuryEvaluator(lambda case: (False, "it names no source"))
    tool = EvalQueryEngineTool.from_defaults(INDEX.as_query_engine(), evaluator=blocking, name="kb", description="d")
    assert "it names no source" in tool.call("q").content


def test_the_feedback_of_the_jurors_reaches_the_next_attempt() -> None:
    asked: list[str] = []

    def strict(case: Case) -> tuple[bool, str]:
        asked.append(case.question or "")
        return len(asked) > 1, "it names no source"

    engine = RetryQueryEngine(INDEX.as_query_engine(), JuryEvaluator(Ensemble([strict])), max_retries=2)
    engine.query("What grew?")
    assert len(asked) == 2
    assert "it names no source" in asked[1]


def test_an_item_that_cannot_be_judged_does_not_break_a_retry_engine() -> None:
    def broken(case: Case) -> bool:
        raise ZeroDivisionError

    engine = RetryQueryEngine(INDEX.as_query_engine(), JuryEvaluator(broken), max_retries=1)
    assert str(engine.query("q")) == TEXT


def test_prompts_of_a_retry_engine_lead_into_the_jury() -> None:
    assert JURY.get_prompts() == {}


def test_the_synchronous_method_inside_a_running_loop_and_in_a_thread() -> None:
    async def run() -> tuple[bool | None, bool | None]:
        here = JURY.evaluate(query="q", response="r")
        there = await asyncio.to_thread(JURY.evaluate, "q", "r")
        return here.passing, there.passing

    assert asyncio.run(run()) == (True, True)
