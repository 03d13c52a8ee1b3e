"""Evaluators of LlamaIndex as judges on a panel of ours."""

import asyncio

import pytest
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.evaluation import (
    BaseEvaluator,
    BatchEvalRunner,
    CorrectnessEvaluator,
    EvaluationResult,
    FaithfulnessEvaluator,
    PairwiseComparisonEvaluator,
    SemanticSimilarityEvaluator,
)
from support.llama_apps import Model

from jury_adapters import Budget, Case, ConfigurationError, Ensemble, Report
from jury_adapters.checks import NotEmpty
from jury_adapters.core.context import run_context
from jury_adapters.llama_index import JuryEvaluator, from_evaluator

CASE = Case(question="Capital?", answer="Paris.", reference="Paris.", contexts=["Paris is the capital."])


class Own(BaseEvaluator):
    """Returns what it is told, and notes what it was asked."""

    def __init__(self, **result):
        self.result = result
        self.seen = []

    def _get_prompts(self):
        return {}

    def _update_prompts(self, prompts):
        return None

    async def aevaluate(self, query=None, response=None, contexts=None, **kwargs):
        self.seen.append((query, response, contexts, kwargs, run_context().judging))
        if "error" in self.result:
            raise ValueError(self.result["error"])
        return EvaluationResult(**self.result)


@pytest.mark.parametrize(("says", "status"), [("YES, all of it", "PASS"), ("NO", "FAIL")])
def test_faithfulness(says, status):
    judge = from_evaluator(FaithfulnessEvaluator(llm=Model(answer=says)))
    for judgment in (judge.judge(CASE), asyncio.run(judge.ajudge(CASE))):
        assert (judgment.status, judgment.reasoning) == (status, says)
    assert judge.name == "FaithfulnessEvaluator"
    assert "contexts and response must be provided" in judge.judge(answer="Paris.").error
    assert from_evaluator(FaithfulnessEvaluator(llm=Model()), needs=["contexts"]).judge(answer="P").status == "ABSTAIN"


def test_correctness_has_its_own_scale_and_threshold():
    judge = from_evaluator(CorrectnessEvaluator(llm=Model(answer="4.5\nnearly")))
    judgment = judge.judge(CASE)
    assert (judgment.status, judgment.score, judgment.reasoning) == ("PASS", 0.875, "nearly")
    strict = from_evaluator(CorrectnessEvaluator(llm=Model(answer="4.5\nnearly")), threshold=5)
    assert strict.judge(CASE).status == "FAIL"
    assert from_evaluator(CorrectnessEvaluator(llm=Model(answer=" "))).judge(CASE).status == "ABSTAIN"
    assert from_evaluator(CorrectnessEvaluator(llm=Model(answer="7\nbeyond"))).judge(CASE).status == "ERROR"


def test_a_cosine_runs_from_minus_one():
    judgment = from_evaluator(SemanticSimilarityEvaluator(embed_model=MockEmbedding(embed_dim=3))).judge(CASE)
    assert (judgment.status, judgment.score) == ("PASS", pytest.approx(1.0))


@pytest.mark.parametrize(
    ("result", "status", "score"),
    [
        ({"passing": True}, "PASS", None), ({"passing": False, "score": 0.9}, "FAIL", 0.9),
        ({"score": 0.4}, "FAIL", 0.4), ({}, "ABSTAIN", None), ({"invalid_result": True}, "ABSTAIN", None),
        ({"error": "broken"}, "ERROR", None), ({"score": 4.0}, "ERROR", None),
    ],
)  # fmt: skip
def test_what_an_evaluator_of_ones_own_says(result, status, score):
    judgment = from_evaluator(Own(**result)).judge(CASE)
    assert (judgment.status, judgment.score) == (status, score)


def test_it_is_asked_in_llama_indexs_words_and_marked_as_judging():
    evaluator = Own(passing=True)
    from_evaluator(evaluator).judge(CASE)
    from_evaluator(evaluator, arguments=lambda case: {"response": case.answer, "language": "en"}).judge(CASE)
    assert evaluator.seen == [
        ("Capital?", "Paris.", ["Paris is the capital."], {"reference": "Paris."}, True),
        (None, "Paris.", None, {"language": "en"}, True),
    ]


@pytest.mark.parametrize(
    ("result", "label"),
    [
        ({"score": 1.0, "pairwise_source": "original"}, "A"), ({"score": 0.0, "pairwise_source": "original"}, "B"),
        ({"score": 0.0, "pairwise_source": "flipped"}, "A"), ({"score": 1.0, "pairwise_source": "flipped"}, "B"),
        ({"score": 0.5, "pairwise_source": "neither"}, "tie"), ({"score": 0.5}, "tie"), ({"feedback": "?"}, None),
    ],
)  # fmt: skip
def test_a_comparison_is_read_in_the_order_it_was_made(result, label):
    evaluator = Own(**result)
    judgment = from_evaluator(evaluator).judge(question="q", candidates=["one", "two"])
    assert judgment.label == label
    assert judgment.status == (None if label else "ABSTAIN")
    assert evaluator.seen[0][1:4] == ("one", None, {"second_response": "two"})


def test_llama_indexs_own_comparison():
    evaluator = PairwiseComparisonEvaluator(llm=Model(answer="the first [[A]]"), enforce_consensus=False)
    assert from_evaluator(evaluator).judge(question="q", candidates=["one", "two"]).label == "A"
    both_orders = PairwiseComparisonEvaluator(llm=Model(answer="whatever stands first [[A]]"))
    assert from_evaluator(both_orders).judge(question="q", candidates=["one", "two"]).label == "tie"


def test_it_sits_on_a_panel():
    verdict = Ensemble([from_evaluator(Own(passing=False), name="theirs"), NotEmpty(), NotEmpty()]).judge(CASE)
    assert (verdict.passed, verdict.judgments[0].critic, verdict.agreement) == (True, "theirs", pytest.approx(1 / 3))


@pytest.mark.parametrize("wrong", [Own, print, None])
def test_what_is_no_evaluator_is_refused(wrong):
    with pytest.raises(ConfigurationError, match="takes a BaseEvaluator"):
        from_evaluator(wrong)


@pytest.mark.parametrize("options", [{}, {"name": "theirs", "version": "1"}])
def test_a_version_decides_whether_a_second_run_calls_it(options, tmp_path):
    own = Own(passing=True, score=0.8, feedback="good")
    judge = from_evaluator(own, **options)
    for _ in range(2):
        (judgment,) = judge.judge_many([CASE], store=tmp_path / "runs.db")
        assert (judgment.status, judgment.score, judgment.reasoning) == ("PASS", 0.8, "good")
    assert len(own.seen) == (1 if options else 2)


def test_a_comparison_counts_its_call_in_plan_budget_and_usage():
    own = Own(score=1.0, feedback="the first")
    judge = from_evaluator(own, cost=0.1)
    cases = [Case(question=f"q{number}", candidates=["a", "b"]) for number in range(3)]
    assert (judge.estimate_cost(cases).calls, judge.estimate_cost(cases).cost_usd) == (3, pytest.approx(0.3))
    judgments = list(judge.judge_many(cases, budget=Budget(max_calls=2), max_concurrency=1))
    assert [one.label for one in judgments] == ["A", "A", None]
    assert [one.usage.cost_usd for one in judgments] == [0.1, 0.1, 0]
    assert judgments[2].error == "budget_exhausted"
    assert len(own.seen) == 2


@pytest.mark.filterwarnings("ignore:asyncio_module:DeprecationWarning")  # of BatchEvalRunner itself
def test_a_report_counts_no_calls_of_an_evaluator_that_breaks_before_it_asks_its_model():
    broken = from_evaluator(Own(error="no such key"), name="mine")
    results = BatchEvalRunner({"mine": JuryEvaluator(broken), "own": JuryEvaluator(NotEmpty())}).evaluate_response_strs(
        [f"question {number}" for number in range(12)], ["Paris."] * 12
    )
    summary = Report.from_results(results).figures.summary
    assert (summary.usage.calls, summary.usage.cost_complete) == (0, False)
    assert "unknown in 12 of 12 votes of `mine`" in Report.from_results(results["mine"]).to_markdown()
