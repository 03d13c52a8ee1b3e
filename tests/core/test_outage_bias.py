"""Pass rates that are biased because a jury can still say FAIL, but not PASS, without a judge whose vote is missing."""

import pytest

from jury_adapters import CascadedJury, Ensemble, Scorecard, Tier, abstain, judge
from jury_adapters.core.budget import BUDGET_EXHAUSTED
from jury_adapters.core.outage_bias import OutageBias
from jury_adapters.core.return_values import run_failed, run_paused
from jury_adapters.voting import all_of, any_of


def good(case):
    return "good" in case.answer


def down_on_some(case):
    if "down" in case.answer:
        raise ConnectionError("no line")
    return True


def warning_of(jury, answers):
    bias = OutageBias()
    for verdict in jury.judge_many([{"answer": answer} for answer in answers]):
        bias.add(verdict)
    return bias.warning


ANSWERS = ["good"] * 6 + ["poor"] * 2 + ["good, down"] * 9 + ["poor, down"] * 3
JURIES = {
    "scorecard": Scorecard({"good": good, "other": down_on_some}),
    "panel": Ensemble([good, down_on_some], voting="unanimous"),
    "all_of": all_of(good, down_on_some),
    "scorecard of panels": Scorecard({"good": good, "other": Ensemble([down_on_some] * 2, errors="ignore")}),
    "cascade": CascadedJury([Tier("screen", good, "reject_on_any_fail"), Tier("final", down_on_some)]),
    "early stop": Ensemble([good, down_on_some], voting="unanimous", schedule="early_stop"),
}


@pytest.mark.parametrize("name", JURIES)
def test_only_fails_are_decided_without_the_broken_judge(name):
    warning = warning_of(JURIES[name], ANSWERS)
    assert warning.startswith("9 of 20 cases could not be decided because a judge broke. The ")
    assert "decided without the vote of such a judge are all FAIL, so the pass rate is probably too low" in warning
    assert warning.endswith("it would be 75.0 % if the 9 cases had passed.")


INSIDE = {
    "panel in a scorecard": lambda other: Scorecard({"fine": fine, "panel": Ensemble([good, other])}),
    "early stop in a scorecard": lambda other: Scorecard(
        {"panel": Ensemble([good, other], voting="unanimous", schedule="early_stop", on="status"), "fine": fine}
    ),
    "cascade in a scorecard": lambda other: Scorecard(
        {"fine": fine, "cascade": CascadedJury([Tier("screen", good, "reject_on_any_fail"), Tier("final", other)])}
    ),
    "scorecard in a scorecard": lambda other: Scorecard(
        {"inner": Scorecard({"good": good, "other": other}), "fine": fine}
    ),
    "panel in all_of in a scorecard": lambda other: Scorecard(
        {"fine": fine, "both": all_of(Ensemble([good, other]), fine)}
    ),
    "panel in a scorecard in a cascade": lambda other: CascadedJury(
        [Tier("only", Scorecard({"fine": fine, "panel": Ensemble([good, other])}))]
    ),
}


def fine(case):
    return True


@pytest.mark.parametrize("name", INSIDE)
def test_a_judge_that_broke_inside_a_criterion_is_found_beside_criteria_that_pass_everything(name):
    warning = warning_of(INSIDE[name](down_on_some), ANSWERS)
    assert warning.startswith("9 of 20 cases could not be decided because a judge broke. The ")
    assert "decided without the vote of such a judge are all FAIL, so the pass rate is probably too low" in warning
    assert warning.endswith("it would be 75.0 % if the 9 cases had passed.")


def test_a_criterion_that_abstained_inside_a_criterion_is_found():
    warning = warning_of(INSIDE["scorecard in a scorecard"](unsure_on_some), UNSURE)
    assert warning.startswith("9 of 20 cases could not be decided because a judge abstained. The ")
    assert warning.endswith("it would be 75.0 % if the 9 cases had passed.")


def down(case):
    raise ConnectionError("no line")


def test_a_juror_that_is_always_down_and_decides_nothing_hides_no_bias_of_another_one():
    jury = Scorecard({"panel": Ensemble([fine, fine, down]), "good": good, "other": down_on_some})
    warning = warning_of(jury, ANSWERS)
    assert warning.startswith("9 of 20 cases could not be decided because a judge broke. The 3 cases decided without")


def test_a_criterion_that_is_only_reported_and_always_down_hides_no_bias_of_another_one():
    jury = Scorecard({"reported": down, "good": good, "other": down_on_some}, pass_when=["good", "other"])
    warning = warning_of(jury, ANSWERS)
    assert warning.startswith("9 of 20 cases could not be decided because a judge broke. The 3 cases decided without")
    panels = Scorecard(
        {"reported": Ensemble([down, down], errors="ignore"), "p": Ensemble([good, down_on_some])}, pass_when=["p"]
    )
    assert warning_of(panels, ANSWERS).endswith("it would be 75.0 % if the 9 cases had passed.")


def test_a_panel_in_a_scorecard_that_decides_both_ways_without_its_broken_juror_is_not_called_biased():
    jury = Scorecard({"fine": fine, "panel": Ensemble([good, good, lambda case: "long" not in case.answer, down])})
    assert warning_of(jury, ["good"] * 6 + ["poor, long"] * 6 + ["good, long"] * 6) == ""
    assert jury.judge(answer="good").passed
    assert jury.judge(answer="good, long").failed_by_errors


def test_a_jury_that_passes_without_the_broken_judge_has_a_rate_that_is_too_high():
    assert "are all PASS, so the pass rate is probably too high: it would be 30.0 %" in warning_of(
        any_of(good, lambda case: 1 / 0), ["good"] * 3 + ["poor"] * 7
    )


@pytest.mark.parametrize(
    ("jury", "answers"),
    [
        (Scorecard({"good": good, "other": down_on_some}), ["good"] * 19 + ["poor"] * 3),  # nothing broke
        (Scorecard({"good": good, "other": down_on_some}), ["good, down"] * 5),  # nothing was decided
        (Scorecard({"good": good, "other": down_on_some}), ["good"] * 20 + ["good, down"] * 9),  # all of these are left
        (Scorecard({"good": good, "other": down_on_some}), ["good"] * 96 + ["good, down", "poor, down"]),  # too few
        (Ensemble([good, good, down_on_some]), ANSWERS),  # the other two decide both ways
        (Ensemble([good, down_on_some], errors="ignore"), ANSWERS),
    ],
)
def test_no_warning_where_the_rate_is_not_known_to_be_biased(jury, answers):
    assert warning_of(jury, answers) == ""


def test_a_single_case_is_in_the_singular():
    assert warning_of(JURIES["scorecard"], ["good, down", "poor, down"]) == (
        "1 of 2 cases could not be decided because a judge broke. The only case decided without the vote of such a "
        "judge is FAIL, so the pass rate is probably too low: it would be 50.0 % if the case had passed."
    )


def unsure_on_some(case):
    return abstain("unsure") if "unsure" in case.answer else True


def down_or_unsure(case):
    return down_on_some(case) and unsure_on_some(case)


UNSURE = [answer.replace("down", "unsure") for answer in ANSWERS]


@pytest.mark.parametrize(
    "jury",
    [
        Scorecard({"good": good, "other": unsure_on_some}),
        Scorecard({"good": good, "other": Ensemble([unsure_on_some] * 2)}),
        CascadedJury([Tier("only", Scorecard({"good": good, "other": unsure_on_some}))]),
        all_of(good, unsure_on_some),
    ],
    ids=["scorecard", "scorecard of panels", "cascade of a scorecard", "all_of"],
)
def test_only_fails_are_decided_without_the_criterion_that_abstained(jury):
    warning = warning_of(jury, UNSURE)
    assert warning.startswith("9 of 20 cases could not be decided because a judge abstained. The ")
    assert "decided without the vote of such a judge are all FAIL, so the pass rate is probably too low" in warning
    assert warning.endswith("it would be 75.0 % if the 9 cases had passed.")


def test_criteria_that_broke_and_criteria_that_abstained_are_counted_together():
    answers = ["good"] * 4 + ["good, down"] * 3 + ["good, unsure"] * 2 + ["poor, unsure"]
    warning = warning_of(Scorecard({"good": good, "other": down_or_unsure}), answers)
    assert warning.startswith("5 of 10 cases could not be decided because a judge broke or abstained. The only case")
    assert warning.endswith("it would be 90.0 % if the 5 cases had passed.")


@pytest.mark.parametrize(
    "jury",
    [
        Scorecard({"good": good, "other": unsure_on_some}, pass_when=["good"]),  # the other one is only reported
        Ensemble([good, unsure_on_some]),  # decides without the juror that abstains
        Ensemble([unsure_on_some] * 2),  # decides nothing without it
        CascadedJury([Tier("screen", good, "reject_on_any_fail"), Tier("final", unsure_on_some)]),  # by design
    ],
)
def test_abstentions_of_other_judges_are_not_called_a_bias(jury):
    assert warning_of(jury, UNSURE) == ""


def budgeted(calls):
    """A critic of which a budget lets so many calls be made; a budget is spent in the order of the cases."""
    left = [calls]

    def asked(case):
        left[0] -= 1
        return True if left[0] >= 0 else abstain("no money", error=BUDGET_EXHAUSTED)

    return asked


def test_only_a_screen_still_decides_once_the_budget_is_spent():
    jury = CascadedJury([Tier("screen", good, "reject_on_any_fail"), Tier("final", budgeted(2))])
    assert warning_of(jury, ["good", "poor"] * 10) == (
        "8 of 20 cases could not be decided because a judge was over budget. The 10 cases decided without the vote of "
        "such a judge are all FAIL, so the pass rate is probably too low: it would be 50.0 % if the 8 cases had "
        "passed."
    )


def test_a_panel_that_the_budget_does_not_reach_decides_nothing_and_is_not_called_biased():
    assert warning_of(Ensemble([budgeted(3), budgeted(3)]), ["good", "poor"] * 10) == ""


def warning_with_failed_runs(jury, answers, failed):
    bias = OutageBias()
    for verdict in jury.judge_many([{"answer": answer} for answer in answers]):
        bias.add(verdict)
    for _ in range(failed):
        bias.add(run_failed(jury, "503"))
    return bias.warning


DOWN = judge(down_on_some)


@pytest.mark.parametrize(
    "jury",
    [
        DOWN,
        Ensemble([down_on_some] * 2),
        Ensemble([down_on_some] * 2, errors="ignore"),
        Ensemble([down_on_some] * 2, errors="fail"),
        Scorecard({"other": down_on_some, "good": good}),
        CascadedJury([Tier("screen", good, "reject_on_any_fail"), Tier("final", down_on_some)]),
    ],
    ids=["single", "panel", "errors ignored", "errors fail", "scorecard", "cascade"],
)
def test_failed_runs_are_all_that_an_outage_leaves(jury):
    warning = warning_with_failed_runs(jury, ["good, down"] * 14, failed=6)
    assert warning == (
        "14 of 20 cases could not be decided because a judge broke. The 6 failed runs of the application count as FAIL "
        "without a judge, so the pass rate is probably too low: it would be 70.0 % if the 14 cases had passed."
    )


def test_a_single_failed_run_is_in_the_singular():
    warning = warning_with_failed_runs(DOWN, ["good, down"], failed=1)
    assert "The failed run of the application counts as FAIL without a judge, so" in warning
    assert warning.endswith("it would be 50.0 % if the case had passed.")


def test_failed_runs_weigh_too_much_although_the_judges_are_up_again():
    warning = warning_with_failed_runs(DOWN, ["good"] * 7 + ["good, down"] * 7, failed=6)
    assert warning.startswith("7 of 20 cases could not be decided because a judge broke. The 6 failed runs ")
    assert warning.endswith("it would be 70.0 % if the 7 cases had passed.")


def test_failed_runs_add_to_the_cases_that_a_jury_can_only_fail_without_a_judge():
    warning = warning_with_failed_runs(JURIES["scorecard"], ANSWERS, failed=5)
    assert warning == (
        "9 of 25 cases could not be decided because a judge broke. The 3 cases decided without the vote of such a "
        "judge are all FAIL, and the 5 failed runs of the application count as FAIL without a judge, so the pass rate "
        "is probably too low: it would be 60.0 % if the 9 cases had passed."
    )


def test_failed_runs_beside_a_jury_that_can_only_pass_without_a_judge_bias_the_rate_either_way():
    jury = any_of(good, lambda case: 1 / 0)
    warning = warning_with_failed_runs(jury, ["good"] * 3 + ["poor"] * 7, failed=5)
    assert "are all PASS, and the 5 failed runs of the application count as FAIL without a judge, so " in warning
    assert warning.endswith(
        "the pass rate may be too low or too high: it would be 20.0 % if the 7 cases had failed, and 66.7 % if they "
        "had passed."
    )


@pytest.mark.parametrize("jury", [judge(unsure_on_some), Ensemble([unsure_on_some] * 2)])
def test_failed_runs_are_all_that_a_jury_leaves_that_abstains(jury):
    warning = warning_with_failed_runs(jury, ["good, unsure"] * 4, failed=2)
    assert warning.startswith("4 of 6 cases could not be decided because a judge abstained. The 2 failed runs ")


def test_failed_runs_and_runs_that_paused():
    bias = OutageBias()
    for _ in range(3):
        bias.add(run_failed(DOWN, "503"))
        bias.add(run_paused(DOWN))
    assert "3 of 6 cases could not be decided" in bias.warning


@pytest.mark.parametrize(
    ("answers", "failed"),
    [
        (["good"] * 14, 6),  # nothing broke
        (["good"] * 10 + ["good, down"] * 5, 0),  # no run failed
        (["good"] * 89 + ["good, down"] * 10, 1),  # the rate hardly depends on one run
        (["good"] * 18 + ["good, down"], 20),  # too few
    ],
)
def test_no_warning_where_failed_runs_hardly_change_the_rate(answers, failed):
    assert warning_with_failed_runs(DOWN, answers, failed) == ""
