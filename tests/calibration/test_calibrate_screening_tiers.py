"""Screening tiers of a calibrated cascade: they keep their policies; the guarantee is about what they let through."""

from typing import Any

import pytest

from jury_adapters import CascadedJury, Case, ConfigurationError, Tier
from jury_adapters.calibration import CalibrationFailed, Guarantee, calibrate
from jury_adapters.calibration.guarantee import fingerprint_of
from jury_adapters.core.function_judge import FunctionJudge
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.tier_policies import escalate_below


def confident(answer: str = "good", *, cost: float = 0.0) -> FunctionJudge:
    def judge(case: Case) -> Judgment:
        return Judgment(Status.PASS if case.metadata[answer] else Status.FAIL, confidence=0.9)

    return FunctionJudge(judge, name=answer, cost=cost)


def screen(name: str = "screen", policy: str = "reject_on_any_fail", *, cost: float = 0.0, **options: Any) -> Tier:
    said = policy == "reject_on_any_fail"  # what it says of a case that it lets through
    judge = FunctionJudge(lambda case: bool(case.answer) is said, name=f"check {name}", cost=cost)
    return Tier(name, judge, policy, **options)  # type: ignore[arg-type]


def screened(*tiers: Tier, rest: str = "rest", cost: float = 0.0) -> CascadedJury:
    return CascadedJury([*(tiers or (screen(),)), Tier(rest, confident(cost=cost))], name="screened")


# 20 empty answers, of which human labels pass two; of 100 others the judge gets five wrong.
_CONTENTS: list[dict[str, Any]] = [
    *({"answer": "", "metadata": {"good": False, "gold": "PASS" if i < 2 else "FAIL"}} for i in range(20)),
    *({"answer": "yes", "metadata": {"good": i >= 5, "gold": "PASS"}} for i in range(100)),
]
CASES = [{**case, "metadata": {**case["metadata"], "item_id": f"{i}"}} for i, case in enumerate(_CONTENTS)]


def test_the_guarantee_is_about_the_cases_that_the_screening_tiers_let_through() -> None:
    jury = calibrate(screened(cost=0.5), CASES, agreement=0.88)
    guarantee = jury.guarantee
    assert guarantee.thresholds.keys() == {"rest"}
    assert (guarantee.n, guarantee.decided, guarantee.errors, guarantee.coverage) == (100, 100, 5, 1.0)
    assert (guarantee.screening_tiers, guarantee.screened, guarantee.screened_errors) == (("screen",), 20, 2)
    assert guarantee.cost_expected == pytest.approx(0.5 * 100 / 120)
    told = str(guarantee)
    assert "of the cases that screening lets through" in told
    assert "the screening tier 'screen' decided 20 of 120 labelled cases, 2 of them unlike their human labels" in told
    alone = calibrate(CascadedJury([Tier("rest", confident())]), CASES[20:], agreement=0.88).guarantee
    assert (guarantee.bound, guarantee.thresholds) == (alone.bound, alone.thresholds)


def test_the_screening_tiers_stand_before_the_calibrated_tiers_and_decide_as_before() -> None:
    jury = calibrate(screened(), CASES, agreement=0.88)
    assert str(jury.tiers[0].policy) == "reject_on_any_fail"
    assert [tier.name for tier in jury.tiers] == ["screen", "rest", "abstained"]
    rejected, accepted = jury.judge(CASES[0]), jury.judge(CASES[-1])
    assert (rejected.status, rejected.stopped_at, rejected.decision) == (Status.FAIL, "screen", "rejected")
    assert (accepted.status, accepted.stopped_at, accepted.decision) == (Status.PASS, "rest", "accepted")


@pytest.mark.parametrize("policy", ["reject_on_any_fail", "accept_on_all_pass"])
def test_screening_tiers_of_both_kinds_are_counted_as_they_run(policy: str) -> None:
    guarantee = calibrate(screened(screen(policy=policy)), CASES, agreement=0.88).guarantee
    assert (guarantee.n, guarantee.screened) == (100, 20)
    assert guarantee.screened_errors == {"reject_on_any_fail": 2, "accept_on_all_pass": 18}[policy]


def test_cases_on_which_a_screening_tier_breaks_are_left_out() -> None:
    def broken(case: Case) -> bool:
        if not case.answer:
            raise ValueError("no answer")
        return True

    for if_broken in ("escalate", "reject"):
        tier = Tier("broken", broken, "reject_on_any_fail", if_broken=if_broken)  # type: ignore[arg-type]
        guarantee = calibrate(screened(tier), CASES, agreement=0.8).guarantee
        assert (guarantee.n, guarantee.screened, guarantee.broken) == (100, 0, 20)


def test_when_the_screening_tiers_leave_too_few_that_is_what_it_says() -> None:
    with pytest.raises(
        CalibrationFailed, match=r"29 labelled cases that reach the calibrated tiers \(of 49; screening"
    ):
        calibrate(screened(), CASES[:49])
    with pytest.raises(CalibrationFailed, match="on 100 labelled cases"):
        calibrate(screened(), CASES, agreement=0.97)


def test_a_screening_tier_behind_a_calibrated_tier_is_refused_with_the_way_out() -> None:
    middle = CascadedJury([Tier("first", confident(), "escalate_on_split"), screen("late"), Tier("last", confident())])
    with pytest.raises(ConfigurationError, match=r"'late' is reject_on_any_fail.*move it to the front"):
        calibrate(middle, CASES)


def test_a_jury_of_other_screening_tiers_is_not_the_one_that_was_calibrated() -> None:
    guarantee = calibrate(screened(), CASES, agreement=0.88).guarantee
    assert guarantee.applied_to(screened()).guarantee == guarantee
    with pytest.raises(
        ConfigurationError, match="the screening tiers screen and the tiers rest, not for the screening tiers none"
    ):
        guarantee.applied_to(CascadedJury([Tier("rest", confident())]))
    with pytest.raises(ConfigurationError, match="other screening tiers"):
        guarantee.applied_to(screened(screen(policy="accept_on_all_pass")))
    with pytest.raises(ConfigurationError, match="other screening tiers"):
        guarantee.applied_to(screened(screen(if_broken="reject")))


def test_a_guarantee_with_screening_tiers_survives_yaml_and_one_from_before_there_were_any_is_still_read() -> None:
    guarantee = calibrate(screened(), CASES, agreement=0.88).guarantee
    assert Guarantee.from_yaml(guarantee.to_yaml()) == guarantee
    plain = calibrate(CascadedJury([Tier("rest", confident())]), CASES[20:], agreement=0.88).guarantee
    old = {name: value for name, value in plain.to_dict().items() if not name.startswith("screen")}
    assert Guarantee.from_dict(old) == plain
    assert "screening_tiers" not in plain.to_dict()


def test_the_fingerprint_of_a_cascade_without_screening_tiers_knows_no_policies() -> None:
    one, other = (
        CascadedJury([Tier("first", confident(), policy), Tier("last", confident())])
        for policy in ("escalate_on_split", escalate_below(0.7))
    )
    assert fingerprint_of(one) == fingerprint_of(other)
    assert fingerprint_of(screened()) != fingerprint_of(screened(screen(policy="accept_on_all_pass")))


def test_one_of_each_group_is_drawn_before_the_screening_tiers_are_asked() -> None:
    grouped = [{**case, "metadata": {**case["metadata"], "group": i // 2}} for i, case in enumerate(CASES)]
    guarantee = calibrate(screened(), grouped, agreement=0.8, groups="group").guarantee
    assert (guarantee.n, guarantee.screened) == (50, 10)


def test_jurors_that_cost_nothing_have_an_expected_cost_of_nothing() -> None:
    assert calibrate(screened(), CASES, agreement=0.88).guarantee.cost_expected == 0.0
    assert calibrate(screened(screen(cost=0.1)), CASES, agreement=0.88).guarantee.cost_expected == pytest.approx(0.1)


def a_tier_beside_a_constant(agreement: float) -> Guarantee:
    """Calibrate on 81 good and 39 bad answers; screening rejects 21 bad ones, and the tier fails 20 good ones."""
    contents: list[dict[str, Any]] = [
        *({"answer": "", "metadata": {"good": False, "gold": "FAIL"}} for _ in range(21)),
        *({"answer": "yes", "metadata": {"good": False, "gold": "FAIL"}} for _ in range(18)),
        *({"answer": "yes", "metadata": {"good": i >= 20, "gold": "PASS"}} for i in range(81)),
    ]
    cases = [{**case, "metadata": {**case["metadata"], "item_id": f"{i}"}} for i, case in enumerate(contents)]
    return calibrate(screened(), cases, agreement=agreement).guarantee


def test_a_tier_and_a_constant_answer_are_measured_on_the_same_cases() -> None:
    with pytest.raises(CalibrationFailed) as refused:
        a_tier_beside_a_constant(0.9)
    assert "rest agrees on 79.8% of the 99 cases" in str(refused.value)
    assert "'PASS' agrees with human labels on 81.8% of the labelled cases that screening lets" in str(refused.value)


def test_a_guarantee_says_that_a_constant_answer_would_do_as_well() -> None:
    guarantee = a_tier_beside_a_constant(0.6)
    assert guarantee.constant == "PASS"
    assert guarantee.constant_agreement == pytest.approx(81 / 99)
    warning = "always answering 'PASS' agrees with human labels on 81.8 % of the decided cases, and the jury on 79.8 %"
    assert warning in guarantee.constant_sentence
    assert warning in str(guarantee)
    again = Guarantee.from_yaml(guarantee.to_yaml())
    assert again == guarantee
    both = [{"metadata": {"good": i % 2 == 0, "gold": "PASS" if i % 2 == 0 else "FAIL"}} for i in range(60)]
    better = calibrate(CascadedJury([Tier("rest", confident())]), both, agreement=0.9).guarantee
    assert not better.constant_sentence
