"""Pass rates that are biased because a jury can still say FAIL, but not PASS, without a judge that broke."""

import pytest

from jury_adapters import CascadedJury, Ensemble, Scorecard, Tier
from jury_adapters.core.outage_bias import OutageBias
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
    assert "decided without a judge that broke are all FAIL, so the pass rate is probably too low" in warning
    assert warning.endswith("it would be 75.0 % if the 9 cases had passed.")


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
        "1 of 2 cases could not be decided because a judge broke. The only case decided without a judge that broke is "
        "FAIL, so the pass rate is probably too low: it would be 50.0 % if the case had passed."
    )
