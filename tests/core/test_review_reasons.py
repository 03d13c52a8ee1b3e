"""Reasons why a verdict needs human review; gates, summaries and the command line show a tier that broke."""

import json

import pytest
from typer.testing import CliRunner

from jury_adapters import CascadedJury, Case, Ensemble, GateFailed, Scorecard, Tier, abstain
from jury_adapters.cli.app import app
from jury_adapters.core.budget import BUDGET_EXHAUSTED
from jury_adapters.core.verdict_facts import is_doubtful
from jury_adapters.report import Report
from jury_adapters.report.summary import Summary

CASE = Case(answer="x")


def passes(case):
    return True


def fails(case):
    return False


def breaks(case):
    raise ConnectionError("down")


def unsure(case):
    return abstain("unclear")


def unaffordable(case):
    return abstain("the budget does not allow another call", error=BUDGET_EXHAUSTED)


SCREENED = CascadedJury([Tier("screen", Ensemble([breaks]), "reject_on_any_fail"), Tier("last", passes, "final")])


@pytest.mark.parametrize(
    ("jury", "reasons"),
    [
        (Ensemble([passes, passes]), ()),
        (Ensemble([unsure]), ("abstained",)),
        (Ensemble([breaks]), ("error",)),
        (Ensemble([passes, fails]), ("low_agreement",)),
        (Ensemble([passes, breaks]), ("errors_decided",)),
        (SCREENED, ("broken_tier",)),
        (Scorecard({"a": Ensemble([passes, fails]), "b": passes}), ("low_agreement",)),
        (Scorecard({"a": unsure, "b": passes}), ("abstained",)),
        (Ensemble([passes, unaffordable]), ("over_budget",)),
        (Ensemble([unaffordable, unaffordable]), ("abstained",)),
        (Scorecard({"a": Ensemble([fails, unaffordable]), "b": passes}), ("over_budget",)),
        (
            CascadedJury([Tier("panel", Ensemble([passes, unaffordable]), "escalate_on_split"), Tier("last", fails)]),
            ("over_budget",),
        ),
        (Ensemble([passes, passes, breaks], required=[2]), ("errors_decided",)),
        (Ensemble([passes, passes, breaks], required=[2], errors="ignore"), ("abstained", "errors_decided")),
    ],
)
def test_each_reason(jury, reasons):
    verdict = jury.judge(CASE)
    assert verdict.review_reasons == reasons
    assert verdict.needs_review == bool(reasons)
    assert is_doubtful(verdict) == bool({*reasons} - {"abstained", "error", "over_budget"})


def test_a_gate_forbids_broken_tiers():
    verdict = SCREENED.judge(CASE)
    assert verdict.passed
    with pytest.raises(GateFailed, match="broken_tiers=False: found screen"):
        verdict.require(broken_tiers=False)
    verdict.require(broken_tiers=True)
    CascadedJury([Tier("last", passes, "final")]).judge(CASE).require(broken_tiers=False)


def test_summary_and_pages_name_the_tier():
    summary = Summary()
    summary.add(CASE, SCREENED.judge(CASE), "case 1")
    assert (summary.broken_tiers, summary.review, summary.to_dict()["broken_tiers"]) == (1, 1, 1)
    assert "screen broke: " in summary.to_dict()["look_first"][0]["why"]
    report = Report.from_results(SCREENED.judge_many([CASE]))
    assert "a tier broke in 1" in report.to_markdown()
    assert "A tier broke" in report.to_html()


def test_the_command_exits_with_1_where_a_gate_forbids_it(tmp_path):
    tiers = (
        "tiers:\n  - {name: screen, policy: reject_on_any_fail, judge: {check: valid_json, schema: {$ref: '#'}}}\n"
        "  - {name: last, judge: {check: not_empty}}\n"
    )
    (tmp_path / "rows.jsonl").write_text(json.dumps({"answer": "{}"}))

    def run(gates):
        (tmp_path / "jury.yaml").write_text(gates + tiers)
        return CliRunner().invoke(app, ["judge", str(tmp_path / "rows.jsonl"), "--jury", str(tmp_path / "jury.yaml")])

    open_, gated = run(""), run("gates: {broken_tiers: false}\n")
    assert (open_.exit_code, gated.exit_code) == (0, 1)
    assert "broken tiers" in open_.stdout


def test_a_unanimous_fail_has_the_reasons_of_the_jurors():
    def juror(reason):
        from jury_adapters import Judgment

        return lambda case: Judgment("FAIL", reasoning=reason)

    jury = Ensemble([juror("a date is invented"), juror("no source"), juror("no source")], voting="unanimous")
    assert jury.judge(CASE).reasoning == "a date is invented; no source"
    assert Ensemble([juror(""), juror("")]).judge(CASE).reasoning == "2 of 2 voted FAIL"
    assert Ensemble([juror("no source"), passes, juror("no date")]).judge(CASE).reasoning == "2 of 3 voted FAIL"
