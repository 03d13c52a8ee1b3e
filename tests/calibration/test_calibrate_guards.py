"""A cascade whose first tiers are guards: they keep their policies, and the promise is about what they let through."""

from typing import Any

import pytest

from jury_adapters import CascadedJury, Case, ConfigurationError, Tier
from jury_adapters.calibration import CalibrationFailed, Guarantee, calibrate
from jury_adapters.calibration.guarantee import fingerprint_of
from jury_adapters.core.escalation import escalate_below
from jury_adapters.core.function_judge import FunctionJudge
from jury_adapters.core.judgment import Judgment, Status


def confident(answer: str = "good", *, cost: float = 0.0) -> FunctionJudge:
    def judge(case: Case) -> Judgment:
        return Judgment(Status.PASS if case.metadata[answer] else Status.FAIL, confidence=0.9)

    return FunctionJudge(judge, name=answer, cost=cost)


def guard(name: str = "guard", policy: str = "reject_on_any_fail", *, cost: float = 0.0, **options: Any) -> Tier:
    said = policy == "reject_on_any_fail"  # what it says of a case that it lets through
    judge = FunctionJudge(lambda case: bool(case.answer) is said, name=f"check {name}", cost=cost)
    return Tier(name, judge, policy, **options)  # type: ignore[arg-type]


def guarded(*tiers: Tier, rest: str = "rest", cost: float = 0.0) -> CascadedJury:
    return CascadedJury([*(tiers or (guard(),)), Tier(rest, confident(cost=cost))], name="guarded")


# 20 empty answers, of which people pass two; of 100 others the judge gets five wrong.
_CONTENTS: list[dict[str, Any]] = [
    *({"answer": "", "metadata": {"good": False, "gold": "PASS" if i < 2 else "FAIL"}} for i in range(20)),
    *({"answer": "yes", "metadata": {"good": i >= 5, "gold": "PASS"}} for i in range(100)),
]
CASES = [{**case, "metadata": {**case["metadata"], "item_id": f"{i}"}} for i, case in enumerate(_CONTENTS)]


def test_the_promise_is_about_the_cases_that_the_guards_let_through() -> None:
    jury = calibrate(guarded(cost=0.5), CASES, agreement=0.88)
    promise = jury.guarantee
    assert promise.thresholds.keys() == {"rest"}
    assert (promise.n, promise.decided, promise.errors, promise.coverage) == (100, 100, 5, 1.0)
    assert (promise.guards, promise.guarded, promise.guarded_errors) == (("guard",), 20, 2)
    assert promise.cost_expected == pytest.approx(0.5 * 100 / 120)
    told = str(promise)
    assert "of the cases that the guards let through" in told
    assert "the guards (guard) decide 20 of 120 labelled cases, 2 of them unlike people" in told
    alone = calibrate(CascadedJury([Tier("rest", confident())]), CASES[20:], agreement=0.88).guarantee
    assert (promise.bound, promise.thresholds) == (alone.bound, alone.thresholds)


def test_the_guards_stand_before_the_calibrated_tiers_and_decide_as_before() -> None:
    jury = calibrate(guarded(), CASES, agreement=0.88)
    assert str(jury.tiers[0].policy) == "reject_on_any_fail"
    assert [tier.name for tier in jury.tiers] == ["guard", "rest", "undecided"]
    rejected, accepted = jury.judge(CASES[0]), jury.judge(CASES[-1])
    assert (rejected.status, rejected.stopped_at, rejected.decision) == (Status.FAIL, "guard", "rejected")
    assert (accepted.status, accepted.stopped_at, accepted.decision) == (Status.PASS, "rest", "accepted")


@pytest.mark.parametrize("policy", ["reject_on_any_fail", "accept_on_all_pass"])
def test_guards_of_both_kinds_are_counted_as_they_run(policy: str) -> None:
    promise = calibrate(guarded(guard(policy=policy)), CASES, agreement=0.88).guarantee
    assert (promise.n, promise.guarded) == (100, 20)
    assert promise.guarded_errors == {"reject_on_any_fail": 2, "accept_on_all_pass": 18}[policy]


def test_a_guard_that_breaks_and_then_rejects_has_decided() -> None:
    def broken(case: Case) -> bool:
        if not case.answer:
            raise ValueError("no answer")
        return True

    for on_error, n in (("escalate", 120), ("reject", 100)):
        tier = Tier("broken", broken, "reject_on_any_fail", on_error=on_error)  # type: ignore[arg-type]
        assert calibrate(guarded(tier), CASES, agreement=0.8).guarantee.n == n


def test_when_the_guards_leave_too_few_that_is_what_it_says() -> None:
    with pytest.raises(
        CalibrationFailed, match=r"29 labelled cases that reach the calibrated tiers \(of 49; the guards"
    ):
        calibrate(guarded(), CASES[:49])
    with pytest.raises(CalibrationFailed, match="on 100 labelled cases"):
        calibrate(guarded(), CASES, agreement=0.97)


def test_a_guard_behind_a_calibrated_tier_is_refused_with_the_way_out() -> None:
    middle = CascadedJury([Tier("first", confident(), "escalate_on_split"), guard("late"), Tier("last", confident())])
    with pytest.raises(ConfigurationError, match=r"'late' is reject_on_any_fail.*move it to the front"):
        calibrate(middle, CASES)


def test_a_jury_of_other_guards_is_not_the_one_that_was_calibrated() -> None:
    promise = calibrate(guarded(), CASES, agreement=0.88).guarantee
    assert promise.applied_to(guarded()).guarantee == promise
    with pytest.raises(ConfigurationError, match="the guards guard and the tiers rest, not for the guards none"):
        promise.applied_to(CascadedJury([Tier("rest", confident())]))
    with pytest.raises(ConfigurationError, match="other guards"):
        promise.applied_to(guarded(guard(policy="accept_on_all_pass")))
    with pytest.raises(ConfigurationError, match="other guards"):
        promise.applied_to(guarded(guard(on_error="reject")))


def test_a_guarantee_with_guards_survives_yaml_and_one_from_before_there_were_any_is_still_read() -> None:
    promise = calibrate(guarded(), CASES, agreement=0.88).guarantee
    assert Guarantee.from_yaml(promise.to_yaml()) == promise
    plain = calibrate(CascadedJury([Tier("rest", confident())]), CASES[20:], agreement=0.88).guarantee
    old = {name: value for name, value in plain.to_dict().items() if not name.startswith("guard")}
    assert Guarantee.from_dict(old) == plain
    assert "guards" not in plain.to_dict()


def test_the_fingerprint_of_a_cascade_without_guards_knows_no_policies() -> None:
    one, other = (
        CascadedJury([Tier("first", confident(), policy), Tier("last", confident())])
        for policy in ("escalate_on_split", escalate_below(0.7))
    )
    assert fingerprint_of(one) == fingerprint_of(other)
    assert fingerprint_of(guarded()) != fingerprint_of(guarded(guard(policy="accept_on_all_pass")))


def test_one_of_each_group_is_drawn_before_the_guards_are_asked() -> None:
    grouped = [{**case, "metadata": {**case["metadata"], "group": i // 2}} for i, case in enumerate(CASES)]
    promise = calibrate(guarded(), grouped, agreement=0.8, groups="group").guarantee
    assert (promise.n, promise.guarded) == (50, 10)


def test_jurors_that_cost_nothing_have_an_expected_cost_of_nothing() -> None:
    assert calibrate(guarded(), CASES, agreement=0.88).guarantee.cost_expected == 0.0
    assert calibrate(guarded(guard(cost=0.1)), CASES, agreement=0.88).guarantee.cost_expected == pytest.approx(0.1)
