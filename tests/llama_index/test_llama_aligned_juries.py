"""A jury that was aligned goes back into evaluators and runs as it is."""

import pytest
from llama_index.core.evaluation import BatchEvalRunner
from support.aligned import KINDS, aligned_by, has_examples
from support.llama_apps import Model, Verdicts, an_index

from jury_adapters.llama_index import JuryEvaluator, judge_runs

# The runner still calls a function that LlamaIndex deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:asyncio_module:DeprecationWarning")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_in_the_batch_runner_and_in_runs(kind, server):
    jury = aligned_by(kind, server).jury
    answers = ["It is. TRUTH=YES", "It is. TRUTH=NO"]

    results = BatchEvalRunner({"helpful": JuryEvaluator(jury)}).evaluate_response_strs(
        queries=["Is it open?", "Is it closed?"], response_strs=answers, contexts_list=[["It is."]] * 2
    )["helpful"]
    assert [result.passing for result in results] == [True, False]

    verdicts = Verdicts()
    with judge_runs(jury, on_verdict=verdicts):
        for answer in answers:
            an_index().as_query_engine(llm=Model(answer=answer)).query("Is it?")
    assert sorted(str(judged.judgment.status) for judged in verdicts) == ["FAIL", "PASS"]
    assert all(has_examples(ask) == (kind == "examples") for ask in server.asks)
