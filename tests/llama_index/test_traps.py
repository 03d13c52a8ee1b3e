"""Mistakes of LlamaIndex' own evaluators that ours do not make.

Each test also runs the built-in evaluator and asserts its wrong answer, so that it fails once LlamaIndex corrects it.
"""

import asyncio
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from llama_index.core import Document, MockEmbedding, Settings, VectorStoreIndex
from llama_index.core.evaluation import (
    AnswerRelevancyEvaluator,
    CorrectnessEvaluator,
    FaithfulnessEvaluator,
    GuidelineEvaluator,
    PairwiseComparisonEvaluator,
)
from llama_index.core.evaluation.base import EvaluationResult
from llama_index.core.llms import CompletionResponse
from llama_index.core.tools.eval_query_engine import EvalQueryEngineTool
from pydantic import Field
from support.canned import CannedLLM, an_index, canned, said, three_words

from jury_adapters import Critic, Rubric, Scale
from jury_adapters.llama_index import (
    JuryAnswerRelevancyEvaluator,
    JuryCorrectnessEvaluator,
    JuryEvaluator,
    JuryFaithfulnessEvaluator,
    JuryGuidelineEvaluator,
    JuryPairwiseEvaluator,
)

ITEM: dict[str, Any] = {"query": "q", "response": "r", "contexts": ["c"]}


def builtin(evaluator: Any, **item: Any) -> EvaluationResult:
    """The built-in's synchronous method; it looks for an event loop in a way that Python deprecates."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return evaluator.evaluate(**(item or ITEM))


@pytest.mark.parametrize("reply", ["NO, yesterday's data contradicts it", "The answer is not supported. (Eyes only)"])
def test_yes_inside_another_word(reply: str) -> None:
    assert builtin(FaithfulnessEvaluator(llm=canned(reply))).passing is True
    assert not JuryFaithfulnessEvaluator(llm=canned(reply)).evaluate(**ITEM).passing


def test_a_plain_no_with_a_reason_is_a_no() -> None:
    ours = JuryFaithfulnessEvaluator(llm=canned(said("NO", "yesterday's data contradicts it"))).evaluate(**ITEM)
    assert (ours.passing, ours.score, ours.invalid_result) == (False, 0.0, False)
    assert "yesterday's data" in (ours.feedback or "")


@pytest.mark.parametrize("contexts", [[], [" "]])
def test_without_contexts_there_is_nothing_to_judge(contexts: list[str]) -> None:
    item = {**ITEM, "contexts": contexts}
    if not contexts:
        theirs = builtin(FaithfulnessEvaluator(llm=canned("YES")), **item)
        assert (theirs.passing, theirs.score, theirs.invalid_result) == (False, 0.0, False)
    llm = canned(said("YES"))
    ours = JuryFaithfulnessEvaluator(llm=llm).evaluate(**item)
    assert (ours.passing, ours.score, ours.invalid_result) == (None, None, True)
    assert "no contexts" in (ours.invalid_reason or "")
    assert llm.prompts == []


def test_an_empty_reply_is_no_verdict() -> None:
    theirs = builtin(FaithfulnessEvaluator(llm=canned("")))
    assert (theirs.passing, theirs.invalid_result) == (False, False)
    assert JuryFaithfulnessEvaluator(llm=canned("")).evaluate(**ITEM).invalid_result is True


def test_a_runtime_error_keeps_its_words() -> None:
    error = RuntimeError("the model is on holiday")
    with pytest.raises(RuntimeError, match="Detected nested async"):
        builtin(CorrectnessEvaluator(llm=canned(error)))
    ours = JuryAnswerRelevancyEvaluator(llm=canned(error)).evaluate(**ITEM)
    assert ours.invalid_result is True
    assert "the model is on holiday" in (ours.invalid_reason or "")


def test_two_event_loops() -> None:
    class OneLoop(CannedLLM):
        """Like an SDK's asynchronous client: its connections live and die with the loop that used it first."""

        loops: list[Any] = Field(default_factory=list)

        async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
            self.loops.append(asyncio.get_running_loop())
            if self.loops[0] is not self.loops[-1]:
                raise RuntimeError("Event loop is closed")
            return self.complete(prompt)

    async def nothing() -> None:
        return None

    theirs = CorrectnessEvaluator(llm=OneLoop(script=["4.0\ngood"]))
    assert builtin(theirs).score == 4.0
    asyncio.run(nothing())  # as in a notebook, or any program that used asyncio.run in between
    with pytest.raises(RuntimeError, match="Detected nested async"):
        builtin(theirs)

    model_loops = set()

    async def model(prompt: object) -> str:
        model_loops.add(asyncio.get_running_loop())
        return said("5")

    ours = JuryCorrectnessEvaluator(llm=model)
    assert ours.evaluate(**ITEM).passing is True
    asyncio.run(nothing())
    assert ours.evaluate(**ITEM).passing is True

    async def inside() -> bool | None:
        return ours.evaluate(**ITEM).passing

    assert asyncio.run(inside()) is True
    assert len(model_loops) == 1
    assert asyncio.run(ours.aevaluate(**ITEM)).passing is True  # and asynchronously, on a loop of its own


def test_a_stream_is_judged_and_still_there() -> None:
    engine = an_index().as_query_engine(llm=three_words(), streaming=True)
    with pytest.raises(AttributeError):
        FaithfulnessEvaluator(llm=canned("YES")).evaluate_response(query="q", response=engine.query("q"))
    response = engine.query("q")
    ours = JuryFaithfulnessEvaluator(llm=canned(said("YES"))).evaluate_response(query="q", response=response)
    assert ours.passing is True
    assert (ours.response or "").strip() == "text text text"
    assert "".join(response.response_gen).strip() == "text text text"


@pytest.mark.slow
def test_a_long_context_does_not_overrule_an_early_one() -> None:
    contexts = ["Paris is the capital of France. " + "word " * 900, *["word " * 900] * 5]
    item = {"query": "q", "response": "Paris is the capital of France.", "contexts": contexts}

    def supported(prompt: str) -> bool:
        return "Paris" in prompt.replace(item["response"], "", 1)

    theirs = CannedLLM(script=["YES", "NO"])
    assert builtin(FaithfulnessEvaluator(llm=theirs), **item).passing is False
    assert len(theirs.prompts) > 1
    ours = CannedLLM(script=lambda prompt: said("YES" if supported(prompt) else "NO"))
    assert JuryFaithfulnessEvaluator(llm=ours).evaluate(**item).passing is True
    assert len(ours.prompts) == 1


def test_a_template_given_as_text_is_used() -> None:
    theirs = canned("YES")
    builtin(FaithfulnessEvaluator(llm=theirs, eval_template="CUSTOM {query_str} {context_str}"))
    assert "CUSTOM" not in theirs.prompts[0]
    llm = canned(said("YES"))
    ours = JuryFaithfulnessEvaluator(llm=llm)
    ours.update_prompts({"faithfulness_user_prompt": "CUSTOM {contexts} {answer}"})
    assert ours.evaluate(**ITEM).passing is True
    assert "CUSTOM" in llm.prompts[0]


def test_a_score_outside_its_scale_is_no_score() -> None:
    theirs = builtin(CorrectnessEvaluator(llm=canned("9.0\nout of range")), **ITEM, reference="x")
    assert (theirs.score, theirs.passing) == (9.0, True)
    rubric = Rubric(name="quality", criteria="Good?", answers=Scale(minimum=1, maximum=5, pass_mark=4))
    ours = JuryEvaluator(Critic(canned(said("9.0")), rubric, name="quality")).evaluate(**ITEM, reference="x")
    assert (ours.score, ours.passing, ours.invalid_result) == (None, None, True)
    right = JuryEvaluator(Critic(canned(said("5")), rubric, name="quality")).evaluate(**ITEM)
    assert (right.score, right.passing) == (1.0, True)


@pytest.mark.parametrize(("reply", "score"), [("\n4.5\nfine", 0.875), ("Score: perhaps 4.5 or 5\nfine", None)])
def test_a_reply_is_read_or_the_result_is_invalid(reply: str, score: float | None) -> None:
    theirs = builtin(CorrectnessEvaluator(llm=canned(reply)), **ITEM, reference="x")
    assert (theirs.score, theirs.invalid_result) == (None, False)
    ours = JuryCorrectnessEvaluator(llm=canned(reply)).evaluate(**ITEM, reference="x")
    assert (ours.score, ours.invalid_result) == (score, score is None)


def test_a_reply_that_cannot_be_read_does_not_raise() -> None:
    for evaluator in (CorrectnessEvaluator(llm=canned("4.5")), GuidelineEvaluator(llm=canned("no json"))):
        with pytest.raises(ValueError, match=r".+"):
            builtin(evaluator)
    for ours in (
        JuryCorrectnessEvaluator(llm=canned("good")),
        JuryGuidelineEvaluator(llm=canned("no json"), guidelines="Be kind."),
    ):
        assert ours.evaluate(**ITEM).invalid_result is True


def test_a_tie_in_one_order_and_a_vote_in_the_other() -> None:
    pair = {"query": "q", "response": "Alpha.", "second_response": "Omega."}
    theirs = builtin(PairwiseComparisonEvaluator(llm=canned("[[C]]", "[[A]]")), **pair)
    assert (theirs.passing, theirs.score, theirs.pairwise_source) == (True, 1.0, "flipped")  # the second one had won

    def judge(prompt: str) -> str:
        return said("tie" if prompt.index("Alpha.") < prompt.index("Omega.") else "A")

    ours = JuryPairwiseEvaluator(llm=CannedLLM(script=judge)).evaluate(**pair)
    assert (ours.passing, ours.score, ours.pairwise_source) == (None, 0.5, "neither")
    assert ours.response == "Alpha."


def test_a_relevant_answer_is_passing() -> None:
    theirs = AnswerRelevancyEvaluator(llm=canned("fine [RESULT] 2"))
    assert builtin(theirs).passing is None
    with pytest.raises(AttributeError):
        theirs.get_prompts()
    engine = an_index().as_query_engine(llm=three_words())
    blocked = EvalQueryEngineTool.from_defaults(engine, evaluator=theirs, name="kb", description="d")
    assert blocked.call("q").content != "text text text"
    ours = JuryAnswerRelevancyEvaluator(llm=canned(said("YES")))
    parts = ("system_prompt", "criteria", "user_prompt")
    assert set(ours.get_prompts()) == {f"answer_relevance_{part}" for part in parts}
    tool = EvalQueryEngineTool.from_defaults(engine, evaluator=ours, name="kb", description="d")
    assert tool.call("q").content == "text text text"


def test_the_judge_sees_what_the_generator_saw() -> None:
    document = Document(text="Revenue grew 12%.", metadata={"year": "2025"})
    index = VectorStoreIndex.from_documents([document], embed_model=MockEmbedding(embed_dim=8))
    generator = canned("Revenue grew 12% in 2025.")
    response = index.as_query_engine(llm=generator).query("q")
    assert "2025" in generator.prompts[0]
    theirs, ours = canned("NO"), canned(said("YES"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        FaithfulnessEvaluator(llm=theirs).evaluate_response(query="q", response=response)
    assert "year: 2025" not in theirs.prompts[0]
    assert JuryFaithfulnessEvaluator(llm=ours).evaluate_response(query="q", response=response).passing is True
    assert "year: 2025" in ours.prompts[0]


@pytest.fixture(autouse=True)
def no_settings() -> Iterator[None]:
    yield
    Settings._llm = None
