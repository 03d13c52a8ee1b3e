"""Scorecards in LangSmith: one feedback key for each criterion."""

from uuid import uuid4

from langsmith.schemas import Run

from jury_adapters import Scorecard
from jury_adapters.langchain import JuryRunEvaluator, jury_evaluator

CARD = Scorecard({"short": lambda case: len(case.answer) < 9, "polite": lambda case: "please" in case.answer}, name="c")
RUN = Run(
    id=uuid4(), name="t", run_type="chain", start_time="2026-01-01T00:00:00", trace_id=uuid4(),
    inputs={"question": "q"}, outputs={"answer": "No."},
)  # fmt: skip


def test_each_criterion_is_a_feedback_key():
    evaluator = JuryRunEvaluator(CARD)
    results = evaluator.evaluate_run(RUN)["results"]
    assert [(result.key, result.score) for result in results] == [("c", 0.5), ("c.short", 1.0), ("c.polite", 0.0)]
    assert [result.key for result in results] == evaluator.feedback_keys


def test_the_function_form_has_the_score_of_the_card():
    result = jury_evaluator(CARD)(inputs={"question": "q"}, outputs={"answer": "No."})
    assert (result["key"], result["score"]) == ("c", 0.5)
    assert "polite" in result["comment"]
