"""Amounts in files that are not trusted, of which sums are made."""

import sys

import pytest

from jury_adapters import InputError, Judgment, Report
from jury_adapters.core.serial import judgment_from_dict
from jury_adapters.core.usage import Usage

HUGE = [10**400, 10**309]


@pytest.mark.parametrize("huge", HUGE, ids=["400 zeros", "309 zeros"])
@pytest.mark.parametrize(
    "values",
    [
        lambda huge: {"usage": {"cost_usd": huge}},
        lambda huge: {"usage": {"input_tokens": huge}},
        lambda huge: {"usage": {"recorded": {"calls": huge}}},
        lambda huge: {"elapsed_s": huge},
        lambda huge: {"kind": "verdict", "judgments": [{"status": "FAIL", "usage": {"cost_usd": huge}}]},
        lambda huge: {"kind": "verdict", "judgments": [{"status": "FAIL"}], "weights": [huge]},
    ],
)
def test_a_number_that_no_sum_can_hold_is_refused(values, huge):
    for status, reasoning in (("PASS", "short"), ("ABSTAIN", "no contexts")):
        with pytest.raises(InputError, match=r"1\.8e\+308"):
            judgment_from_dict({"status": status, "reasoning": reasoning, **values(huge)})


def test_the_largest_amounts_are_added():
    data = {"status": "PASS", "elapsed_s": 10**308, "usage": {"cost_usd": 10**308, "calls": 10**99}}
    report = Report.from_results([judgment_from_dict(data), Judgment("PASS", usage=Usage(cost_usd=0.5))] * 3)
    assert report.figures.summary.usage.cost_usd == pytest.approx(sys.float_info.max)
    assert "100.0 % passed" in report.to_markdown()
