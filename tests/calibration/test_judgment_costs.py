"""Costs of judgments: cases on which no model is asked cost nothing, and declared costs count every time."""

from typing import Any

import pytest

from jury_adapters import CascadedJury, Case, Critic, Ensemble, Tier, Usage
from jury_adapters.calibration import calibrate, suggest
from jury_adapters.calibration.judgment_costs import costs_of
from jury_adapters.core.function_judge import FunctionJudge
from jury_adapters.core.judgment import Judgment, Status, abstain
from jury_adapters.critic.recorded import RecordedCritic

CASES: list[dict[str, Any]] = [
    {"answer": f"answer {i}", "contexts": ["c"] if i < 100 else [], "metadata": {"item_id": f"{i}", "gold": i % 5 > 0}}
    for i in range(150)
]


def asks_about_contexts(name: str, price: float) -> FunctionJudge:
    """A judge that asks a model at this price, and abstains without asking if the case has no contexts."""

    def judge(case: Case) -> Judgment:
        if not case.contexts:
            return abstain("nothing to judge")
        passes = bool(case.metadata["gold"])
        return Judgment(Status.PASS if passes else Status.FAIL, confidence=0.9, usage=Usage(calls=1, cost_usd=price))

    return FunctionJudge(judge, name=name, cost=10 * price)


def test_the_expected_cost_of_a_guarantee_is_what_the_calibrated_jury_costs_on_the_labelled_cases() -> None:
    panel = Ensemble([asks_about_contexts("mini", 0.001), asks_about_contexts("haiku", 0.003)])
    jury = calibrate(CascadedJury([Tier("all", panel)]), CASES, agreement=0.9)
    spent = sum(verdict.usage.cost_usd for verdict in jury.judge_many(CASES))
    assert spent == pytest.approx(100 * 0.004)
    assert jury.guarantee.cost_expected == pytest.approx(spent / len(CASES))


def test_a_screening_tier_costs_nothing_where_it_asks_nothing() -> None:
    screen = Tier("screen", asks_about_contexts("screen", 0.5), "reject_on_any_fail")
    passed = [case for case in CASES if case["metadata"]["gold"]]
    guarantee = calibrate(
        CascadedJury([screen, Tier("all", FunctionJudge(lambda case: Judgment(Status.PASS, confidence=0.9)))]), passed
    ).guarantee
    assert guarantee.cost_expected == pytest.approx(0.5 * 80 / 120)


def test_a_suggested_juror_costs_the_mean_over_the_labelled_cases() -> None:
    found = suggest([asks_about_contexts("mini", 0.3)], CASES)
    assert [each.cost for each in found] == pytest.approx([0.2])


def test_a_declared_cost_counts_on_every_case_also_beside_jurors_that_report_theirs() -> None:
    panel = Ensemble([asks_about_contexts("mini", 0.25), FunctionJudge(lambda case: True, name="paid", cost=2.0)])
    assert costs_of(list(panel.judge_many(CASES[98:102])), panel) == [2.25, 2.25, 2.0, 2.0]


def test_a_recorded_vote_costs_its_price_and_a_missing_one_nothing() -> None:
    juror = RecordedCritic("mini", labels={"good": "pass", "bad": "fail"}, cost=0.5)
    cases: list[dict[str, Any]] = [{"answer": "a", "metadata": {"votes": {"mini": {"label": "good"}}}}, {"answer": "b"}]
    assert costs_of(list(juror.judge_many(cases)), juror) == [0.5, 0.0]


def test_a_critic_that_is_never_asked_costs_nothing() -> None:
    critic = Critic("openai:gpt-4o", "faithfulness", api_key="k")
    assert critic.cost > 0
    assert costs_of(list(critic.judge_many([{"question": "q", "answer": "a"}])), critic) == [0.0]
