"""Evaluators of other packages where a judge is expected: the message names from_evaluator, which takes them."""

import pytest
from langchain_classic.evaluation import ExactMatchStringEvaluator
from langsmith.evaluation import run_evaluator
from llama_index.core.evaluation import FaithfulnessEvaluator
from llama_index.core.llms import MockLLM

from jury_adapters import ConfigurationError, Critic, Ensemble, Scorecard
from jury_adapters import langchain as on_langchain
from jury_adapters import llama_index as on_llama_index


@run_evaluator
def of_runs(run, example):
    return {"score": 1}


def of_rows(inputs, outputs, reference_outputs):
    return outputs == reference_outputs


INSIDE = "give evaluator.jury, the judge inside it, which comes without the evaluator's store and budget"
EVALUATORS = [
    (FaithfulnessEvaluator(llm=MockLLM()), "jury_adapters.llama_index.from_evaluator(evaluator) makes a judge of it"),
    (FaithfulnessEvaluator, "jury_adapters.llama_index.from_evaluator(FaithfulnessEvaluator(...))"),
    (ExactMatchStringEvaluator(), "jury_adapters.langchain.from_evaluator(evaluator) makes a judge of it"),
    (of_runs, "jury_adapters.langchain.from_evaluator(of_runs) makes a judge of it"),
    (of_rows, "jury_adapters.langchain.from_evaluator(of_rows) makes a judge of it"),
    (lambda run, example: 1, "jury_adapters.langchain.from_evaluator(evaluator) makes a judge of it"),
    (on_llama_index.JuryEvaluator(lambda case: True), INSIDE),
    (on_langchain.JuryEvaluator(lambda case: True), INSIDE),
]
TAKERS = {
    "ensemble": lambda given: Ensemble([given]),
    "scorecard": lambda given: Scorecard({"a": given}),
    "runs of LlamaIndex": on_llama_index.judge_runs,
    "runs of LangChain": on_langchain.judge_runs,
    "runnable": on_langchain.JuryRunnable,
    "model": lambda given: Critic(given, "faithfulness"),
}


@pytest.mark.parametrize(("evaluator", "advice"), EVALUATORS)
@pytest.mark.parametrize("taker", TAKERS)
def test_an_evaluator_is_refused_with_the_function_that_makes_a_judge_of_it(taker, evaluator, advice):
    with pytest.raises(ConfigurationError) as refused:
        TAKERS[taker](evaluator)
    assert advice in str(refused.value)


@pytest.mark.parametrize("given", [3, lambda case, run: True, object(), Ensemble])
def test_other_objects_get_no_such_advice(given):
    with pytest.raises(ConfigurationError) as refused:
        Ensemble([given])
    assert "from_evaluator" not in str(refused.value)
