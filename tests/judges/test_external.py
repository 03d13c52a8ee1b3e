"""Common behaviour of all judges of other packages: scales, thresholds, labels, checks, limits, cost."""

import asyncio
import math
import threading
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_adapters import Budget, Case, ConfigurationError, Ensemble, Status
from jury_adapters.checks import NotEmpty
from jury_adapters.core.context import run_context
from jury_adapters.judges.external import Call, EvaluatorResult, ExternalJudge
from jury_adapters.judges.external_calls import called, fitting, lacking

CASE = Case(question="q", answer="a")


def foreign(ask, own_name="", **options):
    """A judge of an evaluator that is given the whole case."""
    return ExternalJudge(lambda case: Call(case, partial(ask, case)), own_name, **options)


def judged(said, case=CASE, **options):
    async def ask(case):
        if isinstance(said, Exception):
            raise said
        return said

    return foreign(ask, "theirs", **options).judge(case)


@pytest.mark.parametrize(
    ("result", "options", "status", "score"),
    [
        (EvaluatorResult(score=True), {}, "PASS", None),
        (EvaluatorResult(score=False), {}, "FAIL", None),
        (EvaluatorResult(score=0.5), {}, "PASS", 0.5),
        (EvaluatorResult(score=0.49), {}, "FAIL", 0.49),
        (EvaluatorResult(score=0.7), {"threshold": 0.7}, "PASS", 0.7),
        (EvaluatorResult(score=4), {"scale": (1, 5)}, "PASS", 0.75),
        (EvaluatorResult(score=4), {"scale": (1, 5), "threshold": 4.5}, "FAIL", 0.75),
        (EvaluatorResult(score=0.1), {"scale": (1, 0)}, "PASS", 0.9),
        (EvaluatorResult(score=0.3), {"scale": (1, 0), "threshold": 0.2}, "FAIL", 0.7),
        (EvaluatorResult(score=1.0000001), {}, "PASS", 1.0),
        (EvaluatorResult(score=0.3, passed=True), {}, "PASS", 0.3),
        (EvaluatorResult(score=0.3, passed=True), {"threshold": 0.5}, "FAIL", 0.3),
        (EvaluatorResult(passed=False), {"threshold": 0.5}, "FAIL", None),
        (EvaluatorResult(label="polite"), {"pass_labels": ["polite"]}, "PASS", None),
        (EvaluatorResult(label="rude"), {"pass_labels": ["polite"]}, "FAIL", None),
        (EvaluatorResult(label="rude"), {}, None, None),
        (EvaluatorResult(), {}, "ABSTAIN", None),
        (EvaluatorResult(score=math.nan), {}, "ABSTAIN", None),
        (EvaluatorResult(score=37), {}, "ERROR", None),
        (EvaluatorResult(score=math.inf), {}, "ERROR", None),
        (EvaluatorResult(score="0.7"), {}, "ERROR", None),
        (ValueError("broken"), {}, "ERROR", None),
    ],
)
def test_one_result_makes_the_judgment(result, options, status, score):
    judgment = judged(result, **options)
    assert judgment.status == status
    assert judgment.score == (None if score is None else pytest.approx(score))
    assert judgment.critic == "theirs"


def test_a_score_outside_the_scale_says_what_to_do():
    assert judged(EvaluatorResult(score=4)).error == (
        "ConfigurationError: the score 4 is outside the scale 0..1; say what it runs from and to: scale=(worst, best)"
    )


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(0, 1))
def test_any_scale_keeps_the_order_and_stays_within_0_and_1(worst, best, share):
    if abs(best - worst) < 1e-3:
        return
    score = worst + share * (best - worst)
    judgment = judged(EvaluatorResult(score=score), scale=(worst, best), threshold=worst)
    assert judgment.passed
    assert judgment.score == pytest.approx(share, abs=1e-5)


def test_several_results_make_findings():
    results = [
        EvaluatorResult(name="a", score=1.0, reason="good"), EvaluatorResult(name="b", score=0.2),
        EvaluatorResult(name="c", label="rude"),
        EvaluatorResult(score=True),
    ]  # fmt: skip
    judgment = judged(results)
    assert (judgment.status, judgment.reasoning) == ("FAIL", "failed: b")
    assert judgment.score == pytest.approx(2.2 / 3)
    assert [(finding.name, finding.passed, finding.detail) for finding in judgment.findings] == [
        ("a", True, "good"), ("b", False, ""), ("c", None, "label rude"), ("result 4", True, ""),
    ]  # fmt: skip
    assert judged(results[:1]).passed
    assert judged([]).status == judged(results[2:3]).status == "ABSTAIN"


def test_what_it_says_beside_the_score_is_kept_whatever_it_is():
    loop = {}
    loop["self"] = loop
    said = EvaluatorResult(name="tone", score=1, reason="kind", details={"raw": {1, 2}, "loop": loop})
    judgment = judged(said, name="")
    assert judgment.reasoning == "kind"
    assert "raw" in judgment.metadata["details"]
    assert judged(EvaluatorResult(score=1, details={"a": [1]})).metadata == {"details": {"a": (1,)}}


def test_fields_it_needs_and_the_case_lacks_make_it_abstain():
    judgment = judged(EvaluatorResult(score=1), needs=["contexts", "answer", "reference"])
    assert (judgment.status, judgment.reasoning) == ("ABSTAIN", "the case has no contexts and no reference")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scale": (1, 1)}, "two different numbers"),
        ({"scale": 5}, "two different numbers"),
        ({"scale": (1, 5), "threshold": 0.5}, "a score on the scale 1..5"),
        ({"pass_labels": "good"}, r"write \['good'\]"),
        ({"needs": ["context"]}, "Did you mean 'contexts'"),
        ({"treshold": 0.5}, "Did you mean 'threshold'"),
        ({"timeout": 0}, "timeout"),
    ],
)
def test_wrong_options_are_said_at_once(options, message):
    with pytest.raises(ConfigurationError, match=message):
        judged(EvaluatorResult(score=1), **options)


def test_what_it_costs_is_unknown_unless_somebody_says():
    unknown, free, dear = (
        judged(EvaluatorResult(score=1), **options).usage for options in ({}, {"cost": 0}, {"cost": 0.01})
    )
    assert (unknown.cost_usd, unknown.cost_complete) == (0, False)
    assert (free.cost_usd, free.cost_complete) == (0, True)
    assert (dear.cost_usd, dear.cost_complete) == (0.01, True)
    told = judged(EvaluatorResult(score=1, cost_usd=0.02)).usage
    assert (told.cost_usd, told.cost_complete) == (0.02, True)


def test_a_budget_in_dollars_asks_for_the_price():
    async def ask(case):
        return EvaluatorResult(score=1)

    with pytest.raises(ConfigurationError, match="price"):
        list(foreign(ask).judge_many([CASE], budget=Budget(max_usd=1)))
    (judgment,) = foreign(ask, cost=0.01).judge_many([CASE], budget=Budget(max_usd=1))
    assert judgment.passed


def test_blocking_functions_run_in_threads_side_by_side_and_marked_as_judging():
    seen = []
    together = threading.Barrier(8, timeout=20)  # all eight must be inside at once

    def blocks():
        seen.append((threading.current_thread() is threading.main_thread(), run_context().judging))
        together.wait()
        return True

    async def ask(case):
        return EvaluatorResult(score=await called(blocks))

    jury = Ensemble([foreign(ask, f"j{number}") for number in range(8)])
    assert jury.judge(CASE).passed
    assert set(seen) == {(False, True)}
    assert run_context().judging is False


def test_a_blocking_function_is_given_up_on_at_the_time_limit():
    release, waited = threading.Event(), []

    async def ask(case):
        return EvaluatorResult(score=await called(lambda: waited.append(release.wait(60)) or 1))

    judgment = asyncio.run(foreign(ask, timeout=0.1).ajudge(CASE))
    assert waited == []
    release.set()
    assert (judgment.status, judgment.error) == (Status.ERROR, "timeout")


def test_a_plain_function_may_return_something_to_await():
    async def late():
        return True

    def plain():
        return late()

    async def ask(case):
        return EvaluatorResult(score=await called(plain))

    assert Ensemble([foreign(ask), NotEmpty()]).judge(CASE).passed


def test_a_function_gets_what_it_takes_and_nothing_else():
    def strict(*, outputs, reference_outputs=None): ...
    def loose(**others): ...

    given = {"inputs": "q", "outputs": "a", "reference_outputs": None}
    assert fitting(strict, given) == {"outputs": "a"}
    assert fitting(loose, given) == {"inputs": "q", "outputs": "a"}
    assert fitting(strict, given | {"outputs": "a"}) == {"outputs": "a"}
    assert lacking(strict, {"outputs": None, "reference_outputs": None}) == "outputs"
    assert lacking(strict, given) is None
    assert fitting(max, given) == {"inputs": "q", "outputs": "a"}  # it has no signature
