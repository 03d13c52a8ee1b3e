"""BatchEvalRunner with evaluators of ours."""

import asyncio
from typing import Any

import pytest
from llama_index.core.evaluation import BatchEvalRunner, FaithfulnessEvaluator, batch_runner
from support.canned import CannedLLM, an_index, canned, said, three_words

from jury_adapters import Case, Ensemble
from jury_adapters.llama_index import JuryEvaluator, JuryFaithfulnessEvaluator, JuryPairwiseEvaluator

# The runner still calls a function that LlamaIndex deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:asyncio_module:DeprecationWarning")


async def slow(case: Case) -> tuple[bool, str]:
    await asyncio.sleep(0.002)
    return case.answer == "good", case.answer or ""


JURY = JuryEvaluator(Ensemble([slow, slow, slow]))


def texts(count: int) -> dict[str, list[str]]:
    return {"queries": [f"q{n}" for n in range(count)], "response_strs": ["good"] * count}


def test_one_poisonous_item_costs_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    async def at_once(seconds: float) -> None:
        return None

    monkeypatch.setattr(batch_runner.eval_worker.retry, "sleep", at_once)  # it would wait 8 s between its three tries

    def poisoned(prompt: str) -> str:
        if "q3" in prompt:
            raise ZeroDivisionError("poison")
        return said("YES")

    items = {**texts(6), "contexts_list": [["good"]] * 6}
    theirs = CannedLLM(script=lambda prompt: poisoned(prompt.replace("poison", "q3")))
    with pytest.raises(ZeroDivisionError):
        BatchEvalRunner({"jury": FaithfulnessEvaluator(llm=theirs)}).evaluate_response_strs(
            **{**items, "response_strs": ["good", "good", "good", "poison", "good", "good"]}
        )
    results = BatchEvalRunner({"jury": JuryFaithfulnessEvaluator(llm=CannedLLM(script=poisoned))}, workers=4)
    judged = results.evaluate_response_strs(**items)["jury"]
    assert [result.passing for result in judged] == [True, True, True, None, True, True]
    assert [result.invalid_result for result in judged] == [False, False, False, True, False, False]
    assert "poison" in (judged[3].invalid_reason or "")


def test_absurd_items_come_back_as_invalid() -> None:
    items: dict[str, Any] = {
        "queries": ["q", None, 7, object()],
        "response_strs": ["good", None, object(), "good"],
        "contexts_list": [None, [], 5, [object()]],
    }
    first, second, third, fourth = BatchEvalRunner({"jury": JURY}).evaluate_response_strs(**items)["jury"]
    assert (first.passing, first.contexts) == (True, None)
    assert (second.passing, second.contexts, second.response) == (False, [], "")
    for result in (third, fourth):
        assert (result.passing, result.score, result.invalid_result) == (None, None, True)
        assert result.feedback == result.invalid_reason
        assert result.feedback


def test_a_runner_can_be_used_again() -> None:
    async def run() -> None:
        runner = BatchEvalRunner({"jury": JURY}, workers=2)
        for _ in range(2):
            results = await runner.aevaluate_response_strs(**texts(5))
            assert [result.passing for result in results["jury"]] == [True] * 5

    asyncio.run(run())


def test_a_runner_on_two_event_loops() -> None:
    """As long as there are workers for all, since its semaphore belongs to the loop that first had to wait for it."""
    runner = BatchEvalRunner({"jury": JURY}, workers=8)
    for _ in range(2):
        results = asyncio.run(runner.aevaluate_response_strs(**texts(5)))
        assert [result.passing for result in results["jury"]] == [True] * 5


def test_an_evaluator_in_runners_on_two_event_loops() -> None:
    for _ in range(2):
        runner = BatchEvalRunner({"jury": JURY}, workers=2)
        assert len(asyncio.run(runner.aevaluate_response_strs(**texts(5)))["jury"]) == 5


def test_two_evaluators_on_one_streaming_response() -> None:
    engine = an_index().as_query_engine(llm=three_words(), streaming=True)
    response = engine.query("q")
    runner = BatchEvalRunner({"one": JURY, "two": JuryFaithfulnessEvaluator(llm=canned(said("YES")))}, workers=4)
    results = runner.evaluate_responses(["q"], [response])
    assert results["one"][0].response == results["two"][0].response == str(response)
    assert str(response).strip() == "text text text"


def test_streaming_engines_in_a_batch() -> None:
    async def run() -> dict[str, list[Any]]:
        engine = an_index().as_query_engine(llm=three_words(), streaming=True)
        return await BatchEvalRunner({"jury": JURY}).aevaluate_queries(engine, ["a", "b", "c"])

    results = asyncio.run(run())["jury"]
    assert [result.response.strip() for result in results] == ["text text text"] * 3
    assert sorted(result.query for result in results) == ["a", "b", "c"]


def test_keywords_for_all_or_for_one() -> None:
    seen: list[Case] = []

    def noting(case: Case) -> bool:
        seen.append(case)
        return True

    runner = BatchEvalRunner({"jury": JuryEvaluator(noting)})
    runner.evaluate_response_strs(["q"], ["r"], [["c"]], reference=["x"], generator=["gpt"], tenant=["acme"])
    runner.evaluate_response_strs(["q"], ["r"], jury={"reference": ["y"], "second_response": ["s"]})
    flat, nested = seen
    assert (flat.reference, flat.generator, dict(flat.metadata)) == ("x", "gpt", {"tenant": "acme"})
    assert (nested.reference, nested.candidates) == ("y", ("r", "s"))


def test_pairwise_in_a_batch() -> None:
    def alpha_wins(prompt: str) -> str:
        return said("A" if prompt.index("Alpha.") < prompt.index("Omega.") else "B")

    runner = BatchEvalRunner({"pair": JuryPairwiseEvaluator(llm=CannedLLM(script=alpha_wins))})
    results = runner.evaluate_response_strs(["q", "q"], ["Alpha.", "Omega."], second_response=["Omega.", "Alpha."])[
        "pair"
    ]
    assert [(result.score, result.passing, result.pairwise_source) for result in results] == [
        (1.0, True, "original"),
        (0.0, False, "original"),
    ]
