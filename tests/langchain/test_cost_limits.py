"""The limits of cost and time of a run that LangChain carries out."""

from langchain_core.runnables import RunnableLambda

from jury_adapters.checks import CostLimit
from jury_adapters.langchain import JuryCallbackHandler, JuryEvaluator


def judged_by(check):
    seen = []
    handler = JuryCallbackHandler(check, on_verdict=seen.append)
    RunnableLambda(lambda inputs: {"answer": "a"}).invoke({"question": "q"}, config={"callbacks": [handler]})
    assert handler.flush(timeout=60)
    return seen[0].judgment


def test_the_duration_of_a_judged_run_is_known():
    assert judged_by(CostLimit(max_seconds=60)).status == "PASS"
    assert judged_by(CostLimit(max_seconds=0)).status == "FAIL"
    assert judged_by(CostLimit(max_usd=1)).reasoning == "no number in metadata['cost_usd']"


def test_an_evaluator_reads_the_numbers_in_the_outputs():
    evaluate = JuryEvaluator(CostLimit(max_usd=1, max_tokens=100, max_seconds=2))
    outputs = {"answer": "a", "cost_usd": 0.5, "total_tokens": 90, "elapsed_s": 1.5}
    assert evaluate(inputs={"question": "q"}, outputs=outputs)["score"] == 1.0
    assert evaluate(inputs={"question": "q"}, outputs={**outputs, "elapsed_s": 3})["score"] == 0.0
