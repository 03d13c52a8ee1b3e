"""A judge that abstains from every run of an application is named in the log."""

import pytest
from support.judge_queues import CASE

from jury_adapters import Budget, Case, Critic, JudgeQueue, Scorecard, abstain, judge
from jury_adapters.checks import NamesAndNumbers
from jury_adapters.testing import ScriptedModel

WITH_REFERENCE = CASE.model_copy(update={"reference": "Paris"})
NO_REFERENCE = (
    "right abstained from each of the first 3 runs: nothing to judge: no reference. If no run has what it needs, it "
    "never judges (logged once)"
)


def correctness() -> Critic:
    return Critic(ScriptedModel(["Answer: YES\nReasoning: it is."] * 9), "correctness", name="right")


def logged(caplog: pytest.LogCaptureFixture, jury: object, *cases: Case, **options: object) -> list[str]:
    with JudgeQueue(jury, **options) as queue:
        for case in cases:
            queue.put(case)
            assert queue.flush(20)  # so that they are judged in this order
    return [record.getMessage() for record in caplog.records]


def test_a_critic_that_needs_what_no_run_has_is_named_once(caplog):
    assert logged(caplog, correctness(), *[CASE] * 2) == []
    assert logged(caplog, correctness(), *[CASE] * 7) == [NO_REFERENCE]


def test_a_judge_that_judged_a_run_is_not_named(caplog):
    assert logged(caplog, correctness(), WITH_REFERENCE, *[CASE] * 5) == []
    assert logged(caplog, correctness(), CASE, CASE, WITH_REFERENCE, *[CASE] * 5) == []


def test_a_judge_that_is_careful_is_not_named(caplog):
    reasons = iter("abcdefgh")

    @judge
    def careful(case):
        return abstain(f"not clear: {next(reasons)}")

    assert logged(caplog, careful, *[CASE] * 5) == []


def test_a_criterion_is_named_beside_one_that_judges(caplog):
    card = Scorecard({"brief": lambda case: True, "right": correctness()}, name="card")
    assert logged(caplog, card, *[CASE] * 4) == [NO_REFERENCE]


def test_a_budget_that_is_used_up_is_not_called_a_need(caplog):
    budget = Budget(max_calls=0)
    said = logged(caplog, correctness(), *[WITH_REFERENCE] * 4, budget=budget)
    assert not any("first 3 runs" in one for one in said)


def test_a_criterion_of_an_inner_scorecard_is_named_once(caplog):
    card = Scorecard({"desk": Scorecard({"right": correctness()}), "brief": lambda case: True}, name="card")
    assert logged(caplog, card, *[CASE] * 4) == [NO_REFERENCE.replace("right", "desk / right")]


def test_a_check_that_only_objects_may_have_found_nothing(caplog):
    case = Case(question="When?", answer="It closed in 2018.", contexts=["It closed in 2018, and the harbour stayed."])
    (line,) = logged(
        caplog, NamesAndNumbers(), *[case.model_copy(update={"question": f"When, {at}?"}) for at in range(4)]
    )
    assert "Either it found nothing to object to, or no run has what it needs" in line
