"""store= and budget= of every adapter of LlamaIndex that judges, over HTTP to a local server."""

import asyncio
import re

import pytest
from llama_index.core.evaluation import BatchEvalRunner
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetryQueryEngine
from llama_index.core.response import Response
from llama_index.core.schema import NodeWithScore, TextNode
from support.canned import an_index, three_words

from jury_adapters import Budget, ConfigurationError, Critic, Ensemble, Store, grounding_screen
from jury_adapters.checks import NotEmpty
from jury_adapters.llama_index import (
    JuryAnswerRelevancyEvaluator,
    JuryEvaluator,
    JuryFaithfulnessEvaluator,
    JuryGuardQueryEngine,
    JuryGuidelineEvaluator,
    JuryNodePostprocessor,
    JuryPairwiseEvaluator,
)

# The runner still calls a function that LlamaIndex deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:asyncio_module:DeprecationWarning")
ANSWERS = ["one", "two", "three", "four"]


def evaluate(evaluator):
    return [evaluator.evaluate(query="How many?", response=answer) for answer in ANSWERS]


def aevaluate(evaluator):
    async def run():
        return await asyncio.gather(*(evaluator.aevaluate(query="How many?", response=answer) for answer in ANSWERS))

    return asyncio.run(run())


def evaluate_response(evaluator):
    return [evaluator.evaluate_response(query="How many?", response=Response(answer)) for answer in ANSWERS]


def aevaluate_response(evaluator):
    async def run():
        return [await evaluator.aevaluate_response(query="How many?", response=Response(one)) for one in ANSWERS]

    return asyncio.run(run())


def batch_runner(evaluator):
    runner = BatchEvalRunner({"jury": evaluator}, workers=2)
    return runner.evaluate_response_strs(queries=["How many?"] * len(ANSWERS), response_strs=ANSWERS)["jury"]


CALLS = pytest.mark.parametrize("run", [evaluate, aevaluate, evaluate_response, aevaluate_response, batch_runner])


def critic(server, name="critic", rubric="answer_relevance", **options):
    return Critic("openai:gpt-4o-mini", rubric, name=name, base_url=server.openai, api_key="k", **options)


def any_judge(server, **options):
    return JuryEvaluator(critic(server), **options)


def of_a_model(server, **options):
    return JuryAnswerRelevancyEvaluator("openai:gpt-4o-mini", base_url=server.openai, api_key="k", **options)


def of_a_ready_jury(server, **options):
    return JuryAnswerRelevancyEvaluator(jury=critic(server), **options)


def of_guidelines(server, **options):
    return JuryGuidelineEvaluator(critic(server), **options)


@CALLS
@pytest.mark.parametrize("make", [any_judge, of_a_model, of_a_ready_jury, of_guidelines])
class TestEveryForm:
    @pytest.mark.corpus
    def test_a_second_run_over_the_same_rows_makes_no_request(self, make, run, server, tmp_path):
        first = run(make(server, store=tmp_path / "runs.db"))
        assert server.count == 4
        second = run(make(server, store=tmp_path / "runs.db"))
        assert server.count == 4
        assert [one.passing for one in first] == [one.passing for one in second] == [True] * 4
        with Store(tmp_path / "runs.db") as store:
            assert store.count() == 4

    def test_a_budget_of_n_calls_makes_n_requests_and_the_others_are_invalid_and_say_so(self, make, run, server):
        results = run(make(server, budget=Budget(max_calls=3)))
        assert server.count == 3
        (refused,) = [one for one in results if one.invalid_result]
        assert "budget_exhausted" in refused.invalid_reason
        assert (refused.passing, refused.score, refused.verdict.error) == (None, None, "budget_exhausted")


def test_a_panel_is_invalid_and_says_what_the_budget_refused(server):
    panel = Ensemble([critic(server, "a"), critic(server, "b", temperature=1)])
    (*_, last) = evaluate(JuryEvaluator(panel, budget=Budget(max_calls=2)))
    assert server.count == 2
    assert last.invalid_result
    assert re.search(r"^no juror voted: the budget does not.*\(budget_exhausted\)$", last.invalid_reason)


def test_several_models_share_the_evaluators_store_and_budget(server, tmp_path):
    models = [critic(server, "a"), critic(server, "b", temperature=1)]
    for _ in range(2):
        evaluate(JuryAnswerRelevancyEvaluator(llms=models, store=tmp_path / "runs.db", budget=Budget(max_calls=8)))
        assert server.count == 8


def test_a_comparison_asks_each_order_once(server, tmp_path):
    for _ in range(2):
        evaluator = JuryPairwiseEvaluator(critic(server, rubric="pairwise"), store=tmp_path / "runs.db")
        result = evaluator.evaluate(query="How many?", response="one", second_response="two")
        assert (server.count, result.invalid_result) == (2, False)
    evaluator = JuryPairwiseEvaluator(critic(server, rubric="pairwise"), budget=Budget(max_calls=1))
    result = evaluator.evaluate(query="How many?", response="one", second_response="two")
    assert server.count == 3
    assert "budget_exhausted" in result.invalid_reason


def test_a_retry_engine_judges_within_the_evaluators_budget(server):
    budget = Budget(max_calls=1)
    engine = RetryQueryEngine(an_index().as_query_engine(llm=three_words()), any_judge(server, budget=budget))
    assert str(engine.query("q")) == "text text text"
    assert budget.spent.calls == server.count == 1


def test_an_evaluator_brings_its_store_into_a_guard(server, tmp_path):
    evaluator = any_judge(server, store=tmp_path / "runs.db")
    guarded = JuryGuardQueryEngine(an_index().as_query_engine(llm=MockLLM()), evaluator)
    for ask in (guarded.query, lambda query: asyncio.run(guarded.aquery(query))):
        assert ask("q").metadata["jury"]["outcome"] == "passed"
        assert server.count == 1


def test_an_evaluator_brings_its_budget_into_a_guard(server):
    engine = an_index().as_query_engine(llm=MockLLM())
    heard = []
    evaluator = any_judge(server, budget=Budget(max_calls=0))
    guarded = JuryGuardQueryEngine(engine, evaluator, on_undecided="block", on_verdict=heard.append)
    assert guarded.query("q").metadata["jury"]["verdicts"][0]["status"] == "ABSTAIN"
    assert [judged.judgment.error for judged in heard] == ["budget_exhausted"]
    assert server.count == 0


@pytest.mark.parametrize("limits", [{"budget": Budget(max_calls=2)}, {}])
def test_an_evaluator_brings_its_store_and_budget_into_a_postprocessor(limits, server, tmp_path):
    relevance = critic(server, rubric="context_relevance")
    relevant = JuryNodePostprocessor(
        JuryEvaluator(relevance, store=tmp_path / "runs.db", **limits), on_undecided="drop", max_concurrency=1
    )
    nodes = [NodeWithScore(node=TextNode(text=text), score=0.5) for text in ANSWERS]
    expected = 2 if limits else 4
    for _ in range(2):
        assert len(relevant.postprocess_nodes(nodes, query_str="How many?")) == expected
        assert server.count == expected


def test_an_evaluator_without_both_takes_those_around_it(server, tmp_path):
    with Store(tmp_path / "runs.db") as store:
        list(critic(server).judge_many([{"question": "How many?", "answer": "one"}], store=store))
    assert JuryEvaluator(critic(server, store=tmp_path / "runs.db")).evaluate(query="How many?", response="one").passing
    assert server.count == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": 0.5}, r"budget is a Budget\(max_usd=..., max_calls=..., max_tokens=...\), not 0.5"),
        ({"store": 3}, "a store is a path, a URL, or an open store; not 3"),
        ({"budget": Budget(max_usd=1.0)}, "set_price"),
    ],
)
@pytest.mark.parametrize("make", [
    JuryEvaluator,
    lambda jury, **options: JuryFaithfulnessEvaluator(jury=jury, **options),
    lambda jury, **options: JuryFaithfulnessEvaluator(llm=jury, **options),
    lambda jury, **options: JuryPairwiseEvaluator(jury=Critic(jury.model, "pairwise", name="c"), **options),
])  # fmt: skip
def test_a_wrong_store_or_budget_is_refused_when_it_is_made(make, options, message):
    unpriced = Critic("openai:no-price", "answer_relevance", name="c", base_url="http://127.0.0.1:1", api_key="k")
    with pytest.raises(ConfigurationError, match=message):
        make(unpriced, **options)


def test_a_judge_without_a_model_takes_both_and_needs_neither(tmp_path):
    for evaluator in (
        JuryFaithfulnessEvaluator(
            jury=grounding_screen(), store=tmp_path / "runs.db", budget=Budget(max_calls=0, max_usd=0)
        ),
        JuryEvaluator(NotEmpty(), store=tmp_path / "runs.db", budget=Budget(max_calls=0, max_usd=0)),
    ):
        assert evaluator.evaluate(query="q", response="In 2018.", contexts=["In 2018."]).passing
