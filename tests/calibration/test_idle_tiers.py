"""Tiers of a calibrated cascade that are asked and decided none of the labelled cases are named."""

from jury_adapters import CascadedJury, Case, Tier
from jury_adapters.calibration import calibrate
from jury_adapters.calibration.idle_tiers import idle_sentence
from jury_adapters.core.function_judge import FunctionJudge
from jury_adapters.core.judgment import Judgment, Status, abstain

CASES = [{"answer": f"answer {i}", "metadata": {"item_id": f"{i}", "gold": True}} for i in range(100)]


def decides(share: int, confidence: float) -> FunctionJudge:
    """A judge that passes the first of the cases, and abstains on the others."""

    def judge(case: Case) -> Judgment:
        if int(str(case.item_id)) >= share:
            return abstain("not sure")
        return Judgment(Status.PASS, confidence=confidence)

    return FunctionJudge(judge)


def test_a_tier_that_is_asked_and_decides_nothing_is_named_with_the_share_of_cases() -> None:
    jury = calibrate(
        CascadedJury([Tier("cheap", decides(80, 0.9), "escalate_on_split"), Tier("all", decides(100, 0.4))]), CASES
    )
    asked = [tier.name for tier in jury.judge(CASES[99]).tiers]
    assert asked == ["cheap", "all", "abstained"]
    assert "The tier 'all' decided no labelled case, and is asked about 20.0 % of them." in str(jury.guarantee)


def test_tiers_that_decide_or_are_not_asked_are_not_named() -> None:
    assert not idle_sentence({"cheap": 0.9, "all": 0.9}, {"cheap": 0.8, "all": 0.1})
    assert not idle_sentence({"cheap": 0.9, "all": None}, {"cheap": 0.8, "all": 0.0})
    assert not idle_sentence({"cheap": 0.9, "all": 0.9}, {"cheap": 1.0, "all": 0.0})
    both = idle_sentence({"a": 0.9, "b": 0.9, "c": 0.9}, {"a": 0.0, "b": 0.25, "c": 0.0})
    assert "'a' decided no labelled case, and is asked about 100.0 % of them" in both
    assert "'c' decided no labelled case, and is asked about 75.0 % of them" in both
