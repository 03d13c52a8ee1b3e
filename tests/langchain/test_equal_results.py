"""Evaluation results of equal judgments are equal, whatever time they took."""

import asyncio
from time import sleep
from uuid import uuid4

import pytest
from langsmith.schemas import Run

from jury_adapters import Ensemble, Scorecard
from jury_adapters.langchain import JuryEvaluator
from jury_adapters.langchain.classic import JuryStringEvaluator

RUN = Run(
    id=uuid4(), name="t", run_type="chain", start_time="2026-01-01T00:00:00", trace_id=uuid4(),
    inputs={"question": "q"}, outputs={"answer": "a"},
)  # fmt: skip
PARTS = {"inputs": {"question": "q"}, "outputs": {"answer": "a"}}


def juror():
    """Return a juror that takes longer the second time."""
    waits = iter([0.0, 0.03])

    def waiting(case):
        sleep(next(waits))
        return True

    return waiting


@pytest.mark.parametrize("jury", [Ensemble, lambda jurors: Scorecard({"c": jurors[0]})], ids=["panel", "scorecard"])
@pytest.mark.parametrize("per_juror", [False, True])
def test_results_for_langsmith(jury, per_juror):
    evaluator = JuryEvaluator(jury([juror()]), per_juror=per_juror)
    assert evaluator.evaluate_run(RUN) == evaluator.evaluate_run(RUN)


@pytest.mark.parametrize("jury", [Ensemble, lambda jurors: Scorecard({"c": jurors[0]})], ids=["panel", "scorecard"])
def test_results_of_functions(jury):
    evaluate = JuryEvaluator(jury([juror()]))
    assert evaluate(**PARTS) == evaluate(**PARTS)


async def both(evaluate):
    return await evaluate(**PARTS), await evaluate(**PARTS)


def test_results_of_asynchronous_functions():
    first, second = asyncio.run(both(JuryEvaluator(Ensemble([juror()])).acall))
    assert first == second


def test_results_of_langchains_string_evaluators():
    evaluator = JuryStringEvaluator(Ensemble([juror()]))
    first, second = (evaluator.evaluate_strings(prediction="a", input="q") for _ in range(2))
    assert first == second
