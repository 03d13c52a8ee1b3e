"""A FAIL that only broken jurors caused is in no pass rate of an experiment."""

from uuid import uuid4

from langsmith.schemas import Run

from jury_adapters import Ensemble
from jury_adapters.langchain import JuryRunEvaluator


def broken(case):
    raise ConnectionError("down")


JURY = Ensemble([lambda case: True, broken])


def test_the_pass_rate_of_an_experiment_leaves_it_out():
    evaluator = JuryRunEvaluator(JURY)
    runs = [
        Run(id=uuid4(), name="t", run_type="chain", start_time="2026-01-01T00:00:00", trace_id=uuid4(),
            inputs={"question": "q"}, outputs={"answer": answer})
        for answer in ("right", "right")
    ]  # fmt: skip
    for run in runs:
        evaluator.evaluate_run(run)
    rate = next(result for result in (f(runs, []) for f in evaluator.summaries()) if "pass_rate" in result.key)
    assert rate.score is None
