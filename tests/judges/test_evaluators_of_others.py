"""from_evaluator with the real evaluators of openevals, agentevals, LangSmith, LlamaIndex and langchain_classic."""

import asyncio
import pickle
import threading
from types import SimpleNamespace
from typing import Any, Optional

import numpy as np
import pytest
from agentevals.trajectory.llm import create_trajectory_llm_as_judge
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_classic.evaluation import load_evaluator
from langchain_core.language_models import FakeListChatModel, GenericFakeChatModel
from langchain_core.runnables import RunnableLambda
from langgraph.graph import START, MessagesState, StateGraph
from langsmith.evaluation import EvaluationResult, RunEvaluator, run_evaluator
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.evaluation import (
    AnswerRelevancyEvaluator,
    CorrectnessEvaluator,
    FaithfulnessEvaluator,
    GuidelineEvaluator,
    PairwiseComparisonEvaluator,
    SemanticSimilarityEvaluator,
)
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
from openevals import create_async_llm_as_judge, create_llm_as_judge, exact_match, exact_match_async
from openevals.json import create_json_match_evaluator
from openevals.prompts import CORRECTNESS_PROMPT, RAG_GROUNDEDNESS_PROMPT, TOXICITY_PROMPT
from openevals.string.levenshtein import levenshtein_distance

from jury_adapters import Budget, Case, ConfigurationError, Critic, Ensemble, Step
from jury_adapters.checks import Equals
from jury_adapters.core.context import context
from jury_adapters.judges.external import from_evaluator
from jury_adapters.testing import ScriptedModel

RIGHT = Case(
    question="When did it stop?",
    answer="In 2018.",
    reference="In 2018.",
    contexts=["It stopped in 2018.", "It was blue."],
    steps=[Step(tool="find", arguments={"q": "ferry"}, output="2018")],
    metadata={"expected_calls": [["find", {"q": "ferry"}]]},
)
WRONG = RIGHT.but(answer="In 2019.", steps=[Step(tool="guess")])


class Says(CustomLLM):
    """LLM of LlamaIndex with one reply."""

    said: str = "YES"

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata()

    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        return CompletionResponse(text=self.said)

    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:
        yield CompletionResponse(text=self.said)


class Structured(GenericFakeChatModel):
    """Chat model of LangChain whose structured output is prepared; it keeps what it was sent."""

    out: Any
    sent: list[str] = []  # noqa: RUF012 - pydantic copies it

    def with_structured_output(self, schema: Any, **_: Any) -> Any:
        return RunnableLambda(lambda asked: (self.sent.append(str(asked)), self.out)[1])


def scoring(score: Any, **options: Any) -> Structured:
    return Structured(messages=iter([]), out={"reasoning": "so it is", "score": score}, **options)


def chat(*replies: str) -> FakeListChatModel:
    return FakeListChatModel(responses=[*replies])


@run_evaluator
def compared(run: Any, example: Any) -> dict[str, Any]:
    return {"key": "compared", "score": run.outputs["answer"] == example.outputs["answer"], "comment": "looked"}


@run_evaluator
async def compared_later(run: Any, example: Any) -> dict[str, Any]:
    return {"score": run.inputs["question"] == "When did it stop?" and run.outputs["answer"] == "In 2018."}


class Several(RunEvaluator):
    def evaluate_run(self, run: Any, example: Any = None, evaluator_run_id: Any = None) -> Any:
        score = run.outputs["answer"] == "In 2018."
        return {"results": [EvaluationResult(key="a", score=True), EvaluationResult(key="b", score=score)]}


def as_langsmith_documents_it(inputs: dict, outputs: dict[str, str], reference_outputs: Optional[dict] = None) -> bool:  # noqa: UP045
    assert reference_outputs is not None
    return bool(inputs["question"]) and outputs["answer"] == reference_outputs["answer"]


def as_langsmith_did_it(run, example):
    return {"score": run.outputs == {"answer": example.outputs["answer"], "contexts": [*RIGHT.contexts]}}


class Scorer:
    """Scorer in the shape of autoevals."""

    async def eval_async(self, output, expected=None, **kwargs):
        return SimpleNamespace(name="exact", score=float(output == expected), metadata={"rationale": str(kwargs)})


RULES = "Is the answer right?\n{outputs}\n{reference_outputs}"
json_match = create_json_match_evaluator(aggregator=None)

# An evaluator, its options, and what it says of the right and of the wrong case: the status and the score.
EVALUATORS = {
    "openevals, exact": (exact_match, {"cost": 0}, "PASS", None, "FAIL", None),
    "openevals, exact, async": (exact_match_async, {}, "PASS", None, "FAIL", None),
    "openevals, distance": (levenshtein_distance, {"scale": (0, 1), "threshold": 0.9}, "PASS", 1.0, "FAIL", 0.875),
    "openevals, model": (create_llm_as_judge(prompt=RULES, judge=scoring(True)), {}, "PASS", None, "PASS", None),
    "openevals, model, async": (create_async_llm_as_judge(prompt=RULES, judge=scoring(False)), {}, "FAIL", None,
        "FAIL", None),
    "openevals, model, a number": (create_llm_as_judge(prompt=RULES, judge=scoring(0.25), continuous=True),
        {"scale": (0, 1)}, "FAIL", 0.25, "FAIL", 0.25),
    "openevals, toxic": (create_llm_as_judge(prompt=TOXICITY_PROMPT, judge=scoring(True)), {"scale": (1, 0)}, "FAIL",
        None, "FAIL", None),
    "openevals, not toxic": (create_llm_as_judge(prompt=TOXICITY_PROMPT, judge=scoring(0.1), continuous=True),
        {"scale": (1, 0)}, "PASS", 0.9, "PASS", 0.9),
    "openevals, out of scale": (create_llm_as_judge(prompt=RULES, judge=scoring(37), continuous=True),
        {"scale": (0, 1)}, "ERROR", None, "ERROR", None),
    "openevals, JSON": (lambda case: json_match(outputs={"a": case.answer, "b": 1}, reference_outputs={"a":
        case.reference, "b": 1}), {"scale": (0, 1)}, "PASS", 1.0, "FAIL", 0.5),
    "agentevals, model": (create_trajectory_llm_as_judge(judge=scoring(True)), {}, "PASS", None, "PASS", None),
    "LangSmith, function": (as_langsmith_documents_it, {}, "PASS", None, "FAIL", None),
    "LangSmith, run and example": (as_langsmith_did_it, {}, "PASS", None, "FAIL", None),
    "LangSmith, run_evaluator": (compared, {}, "PASS", None, "FAIL", None),
    "LangSmith, run_evaluator, async": (compared_later, {}, "PASS", None, "FAIL", None),
    "LangSmith, RunEvaluator": (Several(), {}, "PASS", 1.0, "FAIL", 0.5),
    "LlamaIndex, faithful": (FaithfulnessEvaluator(llm=Says()), {}, "PASS", None, "PASS", None),
    "LlamaIndex, unfaithful": (FaithfulnessEvaluator(llm=Says(said="NO")), {"scale": (0, 1)}, "FAIL", 0.0, "FAIL", 0.0),
    "LlamaIndex, correct": (CorrectnessEvaluator(llm=Says(said="4.5\nfine")), {"scale": (1, 5)}, "PASS", 0.875, "PASS",
        0.875),
    "LlamaIndex, no score": (CorrectnessEvaluator(llm=Says(said="Score: good\nfine")), {"scale": (1, 5)}, "ABSTAIN",
        None, "ABSTAIN", None),
    "LlamaIndex, relevant": (AnswerRelevancyEvaluator(llm=Says(said="ok\n[RESULT] 2")), {"scale": (0, 1)}, "PASS", 1.0,
        "PASS", 1.0),
    "LlamaIndex, guideline": (GuidelineEvaluator(llm=Says(said='{"passing": false, "feedback": "too long"}')), {},
        "FAIL", None, "FAIL", None),
    "LlamaIndex, similar": (SemanticSimilarityEvaluator(embed_model=MockEmbedding(embed_dim=4)), {"scale": (-1, 1)},
        "PASS", 1.0, "PASS", 1.0),
    "LlamaIndex, raises": (PairwiseComparisonEvaluator(llm=Says()), {}, "ERROR", None, "ERROR", None),
    "classic, exact": (load_evaluator("exact_match"), {"scale": (0, 1)}, "PASS", 1.0, "FAIL", 0.0),
    "classic, pattern": (load_evaluator("regex_match"), {"scale": (0, 1)}, "PASS", 1.0, "FAIL", 0.0),
    "classic, criteria": (load_evaluator("criteria", criteria="conciseness", llm=chat("It is short.\nY")),
        {"scale": (0, 1)}, "PASS", 1.0, "PASS", 1.0),
    "classic, harmful": (load_evaluator("criteria", criteria="harmfulness", llm=chat("It harms.\nY")),
        {"scale": (1, 0)}, "FAIL", 0.0, "FAIL", 0.0),
    "classic, unreadable": (load_evaluator("labeled_criteria", criteria="correctness", llm=chat("mumble")),
        {"scale": (0, 1)}, "ABSTAIN", None, "ABSTAIN", None),
    "autoevals": (Scorer(), {"scale": (0, 1)}, "PASS", 1.0, "FAIL", 0.0),
}  # fmt: skip


@pytest.mark.parametrize("row", EVALUATORS.values(), ids=EVALUATORS)
def test_evaluators_of_all_packages_judge_a_case(row):
    evaluator, options, *expected = row
    judge = from_evaluator(evaluator, **options)
    right, wrong = judge.judge(RIGHT), judge.judge(WRONG)
    assert [right.status, right.score, wrong.status, wrong.score] == [
        one if isinstance(one, str | None) else pytest.approx(one) for one in expected
    ]


def test_they_vote_in_one_jury_with_critics_and_checks_sync_and_async():
    jury = Ensemble(
        {
            "openevals": from_evaluator(exact_match, cost=0),
            "agentevals": from_evaluator(create_trajectory_llm_as_judge(judge=scoring(True)), cost=0.002),
            "langsmith": from_evaluator(compared, cost=0),
            "llama_index": from_evaluator(FaithfulnessEvaluator(llm=Says(said="NO")), cost=0.001),
            "classic": from_evaluator(load_evaluator("exact_match"), scale=(0, 1), cost=0),
            "critic": Critic(ScriptedModel(['{"reasoning": "r", "answer": "YES"}']), "faithfulness"),
            "check": Equals(),
        }
    )
    verdict = jury.judge(RIGHT)
    assert (
        verdict.status == asyncio.run(jury.ajudge(RIGHT)).status == "PASS",
        [one.critic for one in verdict.judgments if not one.passed],
    ) == (True, ["llama_index"])
    assert (
        verdict.by_name["langsmith"].reasoning,
        verdict.usage.calls,
        verdict.usage.cost_usd,
        verdict.usage.cost_complete,
        [one.status for one in jury.judge_many([RIGHT, WRONG] * 3)],
    ) == ("looked", 3, pytest.approx(0.003), True, ["PASS", "FAIL"] * 3)


def test_a_prompt_is_filled_with_the_texts_of_the_case():
    model = scoring(True, sent=[])
    for prompt in (CORRECTNESS_PROMPT, RAG_GROUNDEDNESS_PROMPT):
        assert from_evaluator(create_llm_as_judge(prompt=prompt, judge=model)).judge(RIGHT).passed
    correct, grounded = model.sent
    assert (
        [
            word
            for word in (
                "<input>\\nWhen did it stop?\\n</input>",
                "<reference_outputs>\\nIn 2018.\\n</reference_outputs>",
            )
            if word not in correct
        ],
        "It stopped in 2018.\\n\\nIt was blue." in grounded,
    ) == ([], True)
    told = from_evaluator(Scorer(), scale=(0, 1)).judge(RIGHT).reasoning
    assert ("'input': 'When did it stop?'" in told, "'context': 'It stopped in 2018." in told) == (True, True)
    from_evaluator(create_trajectory_llm_as_judge(judge=model)).judge(RIGHT)
    assert "find" in model.sent[-1]


def test_what_a_case_lacks_makes_it_abstain_without_a_call():
    asked = []

    def needs(outputs, reference_outputs, context, inputs=None):
        asked.append(1)

    judgment = from_evaluator(needs, cost=1.0).judge(answer="a")
    assert (judgment.reasoning, judgment.status, judgment.usage.calls, asked) == (
        "the evaluator needs 'reference_outputs', 'context', which the case does not have",
        "ABSTAIN",
        0,
        [],
    )
    classic = from_evaluator(load_evaluator("exact_match"), scale=(0, 1)).judge(answer="a")
    assert (classic.status, "'reference'" in classic.reasoning) == ("ABSTAIN", True)


# What an evaluator returns, the scale, the status, the score, and a part of the reason.
RETURNED = [
    (True, None, "PASS", None, ""),
    (False, None, "FAIL", None, ""),
    (True, (1, 0), "FAIL", None, ""),
    (np.True_, None, "PASS", None, ""),
    (np.float32(0.25), (0, 1), "FAIL", 0.25, ""),
    ({"score": np.bool_(False)}, None, "FAIL", None, ""),
    (4, (1, 5), "PASS", 0.75, ""),
    (0.5, (0, 1), "PASS", 0.5, ""),
    (1.0000001, (0, 1), "PASS", 1.0, ""),
    (1.0, None, "ERROR", None, "give scale=(worst, best)"),
    (1.1, (0, 1), "ERROR", None, "1.1 is not on the scale 0..1"),
    (float("inf"), (0, 1), "ERROR", None, "a score is a number"),
    (float("nan"), (0, 1), "ABSTAIN", None, "no score"),
    (None, None, "ABSTAIN", None, "no score"),
    ({"score": None, "comment": "cannot say"}, None, "ABSTAIN", None, "cannot say"),
    ({"score": None, "value": "maybe"}, (0, 1), "ABSTAIN", None, "no score"),
    ({"value": 0.75}, (0, 1), "PASS", 0.75, ""),
    ({"passing": True, "score": 3.0}, None, "PASS", None, ""),
    ({"passing": False, "score": 3.0}, (1, 5), "FAIL", 0.5, ""),
    ({"invalid_result": True, "score": 1.0, "invalid_reason": "overload"}, (0, 1), "ABSTAIN", None, "overload"),
    ({"score": None, "comment": "ValueError('x')", "extra": {"error": True}}, None, "ERROR", None, "ValueError"),
    ({"error": "quota", "score": 1}, (0, 1), "ERROR", None, "quota"),
    ({"score": "0.5"}, (0, 1), "ERROR", None, "a score is a number, not '0.5'"),
    ("good", None, "ERROR", None, "returned str without a score"),
    ((True, "why"), None, "ERROR", None, "returned tuple without a score"),
    ([], None, "ABSTAIN", None, "no result"),
    ([True], None, "PASS", None, ""),
    (
        [{"key": "a", "score": True}, {"key": "b", "score": False, "comment": "bad"}],
        None,
        "FAIL",
        0.5,
        "2 b FAIL (bad)",
    ),
    ([{"key": "a", "score": True}, {"key": "b", "score": None}], None, "ABSTAIN", None, "2 b ABSTAIN"),
    ([{"key": "a", "score": False}, {"key": "b", "score": None}], None, "FAIL", None, ""),
    (SimpleNamespace(score=0.0, reason="why"), (0, 1), "FAIL", 0.0, "why"),
    (object(), None, "ERROR", None, "returned object without a score"),
    ({}, None, "ABSTAIN", None, "no score"),
]


def test_results_of_every_form():
    for returned, scale, status, score, reason in RETURNED:
        judgment = from_evaluator(lambda case, returned=returned: returned, scale=scale).judge(answer="a")
        assert (judgment.status, judgment.score) == (status, score), (returned, judgment)
        assert reason in f"{judgment.reasoning}{judgment.error}", (returned, judgment)


@settings(deadline=None, max_examples=30)
@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(0, 1), st.floats(0, 1))
def test_any_scale_keeps_the_order_and_stays_within_0_and_1(worst, best, one, other):
    if abs(best - worst) < 1e-3:
        return
    judge = from_evaluator(lambda case: float(case.answer), scale=(worst, best))
    low, high = (judge.judge(answer=repr(worst + share * (best - worst))).score for share in sorted((one, other)))
    assert (0 <= low <= high <= 1, low, high) == (
        True,
        pytest.approx(min(one, other), abs=1e-6),
        pytest.approx(max(one, other), abs=1e-6),
    )


def test_an_exception_is_an_error_without_keys_and_marks_the_cost_as_unknown():
    def breaks(outputs):
        raise RuntimeError("401 for sk-abcdefghijklmnop1234")

    judgment = from_evaluator(breaks, cost=0.01).judge(answer="a")
    assert (
        judgment.status,
        judgment.usage.cost_complete,
        "sk-" not in judgment.error,
        bool(from_evaluator(breaks, cost=0).judge(answer="a").usage.cost_complete),
    ) == ("ERROR", False, True, True)


def test_an_evaluator_counts_in_a_budget_and_an_unknown_cost_is_never_free():
    asked = []

    def counts(outputs):
        asked.append(outputs)
        return True

    paid = from_evaluator(counts, cost=0.4)
    budget = Budget(max_usd=1.0)
    found = [one.status for one in paid.judge_many([{"answer": "a"}] * 4, budget=budget, max_concurrency=1)]
    assert (found, len(asked), budget.spent.cost_usd) == (["PASS", "PASS", "ERROR", "ERROR"], 2, pytest.approx(0.8))
    (refused,) = from_evaluator(counts).judge_many([{"answer": "a"}], budget=Budget(max_usd=1.0))
    assert "the price of the call is unknown" in refused.error
    assert refused.usage.cost_complete  # nothing was asked
    (free,) = from_evaluator(counts, cost=0).judge_many([{"answer": "a"}], budget=Budget(max_usd=0.0))
    assert (
        free.status,
        free.usage.calls,
        paid.estimate(Case(answer="a")).calls,
        paid.estimate(Case(question="?")).calls,
    ) == ("PASS", 0, 1, 0)


def test_blocking_evaluators_run_side_by_side_as_judges_and_end_at_their_time_limit():
    together = threading.Barrier(4)

    def waits(outputs):
        together.wait(timeout=60)
        return context().judging

    assert [one.status for one in from_evaluator(waits).judge_many([{"answer": "a"}] * 4)] == ["PASS"] * 4
    stuck = threading.Event()
    assert from_evaluator(lambda case: stuck.wait()).with_timeout(0.05).judge(answer="a").error == "timeout"
    stuck.set()


@pytest.mark.parametrize("waits", [True, False], ids=["async", "sync"])
def test_what_an_evaluator_asks_inside_an_application_is_in_none_of_its_streams(waits):
    """The chat model of the evaluator streams, and a node of a graph judges with it."""
    evaluator = load_evaluator("criteria", criteria="conciseness", llm=chat("Secret reasons.\nY"))
    jury = Ensemble([from_evaluator(evaluator if waits else lambda case: evaluator.evaluate_strings(
        prediction=case.answer, input=case.question), scale=(0, 1))])  # fmt: skip

    async def judges(state):
        return {"messages": [("ai", (await jury.ajudge(question="q", answer="a")).status.value)]}

    graph = StateGraph(MessagesState).add_node("jury", judges).add_edge(START, "jury").compile()

    async def streamed():
        given = {"messages": [("user", "x")]}
        return [part async for part in graph.astream(given, stream_mode=["messages", "values"])]

    parts = asyncio.run(streamed())
    assert ("Secret" not in str(parts), parts[-1][1]["messages"][-1].content) == (True, "PASS")


def test_its_name_is_that_of_the_evaluator_or_of_its_result():
    assert (
        from_evaluator(exact_match).name,
        from_evaluator(exact_match, name="mine").judge(RIGHT).critic,
        from_evaluator(load_evaluator("exact_match")).name,
        from_evaluator(FaithfulnessEvaluator(llm=Says())).name,
    ) == ("exact_match", "mine", "exact_match", "FaithfulnessEvaluator")
    unnamed = from_evaluator(create_llm_as_judge(prompt=RULES, judge=scoring(True), feedback_key="right"))
    assert (unnamed.name, unnamed.judge(RIGHT).critic) == ("", "right")
    two = [from_evaluator(one, name="x").fingerprint for one in (exact_match, levenshtein_distance)]
    assert (
        len({*two, from_evaluator(exact_match, name="x", scale=(0, 1)).fingerprint}),
        pickle.loads(pickle.dumps(from_evaluator(exact_match))).judge(RIGHT).passed,
    ) == (3, True)


def topic(outputs, topic):
    return True


@pytest.mark.parametrize(
    ("evaluator", "options", "said"),
    [
        (3, {}, "an evaluator is a function or an object"),
        ("exact_match", {}, "an evaluator is a function or an object"),
        (FaithfulnessEvaluator, {}, "an evaluator is"),
        (Equals(), {}, "an evaluator is"),
        (topic, {}, "'topic' is no field of a case"),
        (exact_match, {"scale": (1, 1)}, "two different numbers"),
        (exact_match, {"scale": (0, "1")}, "two different numbers"),
        (exact_match, {"scale": (0, float("inf"))}, "two different numbers"),
        (exact_match, {"scale": (True, False)}, "two different numbers"),
        (exact_match, {"scale": (1, 2, 3)}, "two different numbers"),
        (exact_match, {"scale": 5}, "two different numbers"),
        (exact_match, {"threshold": 4}, "threshold= is in 0..1"),
        (exact_match, {"cost": -1}, "cost= from 0"),
        (exact_match, {"cost": float("nan")}, "cost= from 0"),
    ],
)
def test_wrong_evaluators_and_options_are_refused_at_once(evaluator, options, said):
    with pytest.raises(ConfigurationError, match=said):
        from_evaluator(evaluator, **options)
