"""A FAIL that only broken jurors caused has no score and is in no pass rate of an experiment."""

import asyncio
from statistics import mean

import pytest
from support.langsmith_runs import run_of
from support.plain_judges import breaks, passes
from support.vendor import VendorServer

from jury_adapters import Budget, CascadedJury, Critic, Ensemble, Scorecard, Tier, Usage
from jury_adapters.langchain import JuryEvaluator
from jury_adapters.langchain.classic import JuryStringEvaluator
from jury_adapters.langchain.langsmith import examples, offline_client, summary
from jury_adapters.testing import ScriptedModel

OUTAGE = Ensemble([passes, breaks], name="outage")
JURIES = [
    OUTAGE,
    Ensemble([OUTAGE], name="nested"),
    Ensemble([OUTAGE, passes, passes], voting="unanimous", name="unanimous"),
    CascadedJury([Tier("last", OUTAGE)], name="cascade"),
    Scorecard({"a": OUTAGE, "b": passes}, name="card"),
]
pytestmark = pytest.mark.filterwarnings("ignore:'upload_(results|runs)' parameter is in beta")
each_jury = pytest.mark.parametrize("jury", JURIES, ids=lambda jury: jury.name)


@each_jury
def test_the_pass_rate_of_an_experiment_leaves_it_out(jury):
    evaluator = JuryEvaluator(jury)
    runs = [run_of("right"), run_of("right")]
    for run in runs:
        evaluator.evaluate_run(run)
    rate = summary(evaluator, metric="pass_rate")(runs, [])
    assert (rate.score, rate.comment) == (
        None, "0 of 0 passed; 0 abstained, 2 errors; down broke on 2 of 2 rows"
    )  # fmt: skip


@pytest.mark.parametrize("make", [
    lambda panel: panel,
    lambda panel: Scorecard({"a": panel, "b": passes}, name="card"),
    lambda panel: CascadedJury([Tier("last", panel)], name="cascade"),
], ids=["panel", "card", "cascade"])  # fmt: skip
def test_a_juror_that_broke_is_named_although_the_others_decided(make):
    evaluator = JuryEvaluator(make(Ensemble([passes, passes, breaks], errors="ignore")))
    runs = [run_of("right"), run_of("right")]
    for run in runs:
        evaluator.evaluate_run(run)
    rate = summary(evaluator, metric="pass_rate")(runs, [])
    assert (rate.score, rate.comment) == (1.0, "2 of 2 passed; 0 abstained, 0 errors; down broke on 2 of 2 rows")


async def never(prompt):
    await asyncio.sleep(60)


LATE = Critic(never, "answer_relevance", name="late").with_timeout(0.05)
UNPRICED = Critic(ScriptedModel(["YES"], usage=Usage(calls=1, cost_complete=False)), "answer_relevance", name="free")
LATE_TWICE = "the calls of late are unknown on 2 of 2 rows"


@pytest.mark.parametrize(
    ("jury", "reason"),
    [
        (LATE, LATE_TWICE),
        (Ensemble([LATE, passes]), LATE_TWICE),
        (Ensemble([LATE, UNPRICED]), f"{LATE_TWICE}, and the cost of some calls is unknown"),
        (UNPRICED, "the cost of some calls is unknown"),
    ],
    ids=["alone", "jury", "both", "unpriced"],
)
def test_calls_that_a_time_limit_ended_are_not_said_to_have_no_price(jury, reason):
    evaluator = JuryEvaluator(jury)
    runs = [run_of("right"), run_of("right")]
    for run in runs:
        evaluator.evaluate_run(run)
    cost = summary(evaluator, metric="cost_usd")(runs, [])
    assert cost.comment.endswith(f"; a lower bound, because {reason}")


def test_many_jurors_that_broke_are_counted():
    evaluator = JuryEvaluator(Ensemble({f"j{number}": breaks for number in range(7)}))
    evaluator.evaluate_run(run := run_of("right"))
    comment = summary(evaluator, metric="pass_rate")([run], []).comment
    assert comment.endswith("; j4 broke on 1 of 1 rows; 2 more jurors broke")


@each_jury
def test_every_form_has_no_score_and_says_why(jury):
    whole = JuryEvaluator(jury).evaluate_run(run_of("right"))
    whole = whole["results"][0] if isinstance(whole, dict) else whole
    function = JuryEvaluator(jury)(inputs={"question": "q"}, outputs={"answer": "right"})
    classic = JuryStringEvaluator(jury).evaluate_strings(prediction="right", input="q")
    assert (whole.score, whole.value) == (function["score"], classic["value"]) == (None, "fail")
    assert classic["score"] is None
    for comment in (whole.comment, function["comment"], classic["reasoning"]):
        assert "FAIL only because jurors broke" in comment
    for metadata in (whole.metadata, function["metadata"], classic["metadata"]):
        assert (metadata["status"], metadata["needs_review"]) == ("FAIL", True)
        assert "errors_decided" in metadata["review_reasons"]


def test_langsmiths_own_mean_is_of_the_rows_that_were_judged():
    """A failed target scores 0.0; an outage of the jury scores nothing."""
    lines = iter([True, False, True])

    def sometimes(case):
        if not next(lines):
            raise ConnectionError("no line")
        return True

    def target(inputs):
        if inputs["question"] == "crash":
            raise ValueError("no answer")
        return {"answer": "right"}

    evaluator = JuryEvaluator(Ensemble([passes, sometimes], name="j"))
    rows = [{"inputs": {"question": question}} for question in ("q1", "q2", "q3", "crash")]
    experiment = offline_client().evaluate(
        target, data=examples(rows), evaluators=[evaluator], upload_results=False, max_concurrency=0
    )
    scores = [result.score for row in experiment for result in row["evaluation_results"]["results"]]
    assert scores.count(None) == 1
    assert mean(score for score in scores if score is not None) == pytest.approx(2 / 3)


def test_metadata_say_that_a_jury_without_jurors_needs_review():
    down = Ensemble([breaks, breaks], name="down")
    result = JuryEvaluator(down).evaluate_run(run_of("right"))
    function = JuryEvaluator(down)(inputs={"question": "q"}, outputs={"answer": "right"})
    for metadata in (result.metadata, result.evaluator_info, function["metadata"]):
        assert (metadata["status"], metadata["needs_review"], metadata["review_reasons"]) == ("ERROR", True, ["error"])
    fine = JuryEvaluator(Ensemble([passes])).evaluate_run(run_of("right")).metadata
    assert (fine["needs_review"], fine["review_reasons"]) == (False, [])
    single = JuryEvaluator(breaks).evaluate_run(run_of("right")).metadata
    assert (single["needs_review"], "review_reasons" in single) == (True, False)


def test_rows_that_the_budget_left_short_of_jurors_are_counted(server: VendorServer):
    """The budget lets two of three jurors judge the second of two rows, at most."""
    jurors = [Critic("m", "safety", base_url=server.openai, name=name) for name in "abc"]
    evaluator = JuryEvaluator(Ensemble(jurors), budget=Budget(max_calls=4))
    runs = [run_of("right"), run_of("right")]
    for run in runs:
        evaluator.evaluate_run(run)
    comment = summary(evaluator, metric="pass_rate")(runs, []).comment
    assert len(server.asks) == 4
    assert "; 1 judged without every juror, because of the budget, and 1 of them decided" in comment
