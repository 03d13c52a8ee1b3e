"""A tier that broke is seen wherever its cascade stands: in a tier, a panel or a scorecard."""

import json

import pytest
from support.plain_judges import breaks, passes
from typer.testing import CliRunner

from jury_adapters import CascadedJury, Case, Ensemble, GateFailed, Scorecard, Tier, Verdict
from jury_adapters.cli.app import app
from jury_adapters.report import Report
from jury_adapters.report.summary import Summary
from jury_adapters.voting import all_of

CASE = Case(answer="x")


SCREENED = CascadedJury([Tier("screen", breaks, "reject_on_any_fail"), Tier("last", passes)], name="inner")
NESTED = [
    (SCREENED, ("screen",)),
    (CascadedJury([Tier("outer", SCREENED)]), ("outer/screen",)),
    (Ensemble([SCREENED]), ("inner/screen",)),
    (Ensemble({"first": SCREENED, "second": SCREENED}), ("first/screen", "second/screen")),
    (Scorecard({"safe": SCREENED}), ("safe/screen",)),
    (all_of(SCREENED, passes), ("inner/screen",)),
    (
        CascadedJury(
            [Tier("a", Ensemble([SCREENED, passes]), "reject_on_any_fail"), Tier("b", Scorecard({"c": SCREENED}))]
        ),
        ("a/inner/screen", "b/c/screen"),
    ),
    (
        CascadedJury([Tier("a", Ensemble([breaks, SCREENED]), "reject_on_any_fail"), Tier("b", passes)]),
        ("a", "a/inner/screen"),
    ),
]
IDS = ["alone", "in a tier", "in a panel", "twice", "in a scorecard", "in a row", "in two tiers", "in a broken tier"]


@pytest.mark.parametrize(("jury", "paths"), NESTED, ids=IDS)
def test_verdict_and_gates_name_it_by_its_path(jury, paths):
    verdict = jury.judge(CASE)
    for found in (verdict, Verdict.from_json(verdict.to_json())):
        assert (found.status, found.failed_tiers) == ("PASS", paths)
        assert (found.review_reasons, found.needs_review) == (("broken_tier",), True)
        assert f"broken tiers: {', '.join(paths)}" in str(found)
        with pytest.raises(GateFailed, match=f"broken_tiers=False: found {', '.join(paths)}"):
            found.require(passed=True, broken_tiers=False)
        with pytest.raises(GateFailed, match="needs_review=False"):
            found.require(passed=True, needs_review=False)


def test_a_nested_tier_that_works_is_not_named():
    fine = CascadedJury([Tier("screen", passes, "reject_on_any_fail"), Tier("last", passes)])
    verdict = CascadedJury([Tier("outer", Ensemble([fine, fine]))]).judge(CASE)
    assert (verdict.failed_tiers, verdict.review_reasons) == ((), ())
    verdict.require(broken_tiers=False, needs_review=False)


@pytest.mark.slow
@pytest.mark.parametrize(("jury", "paths"), NESTED, ids=IDS)
def test_summary_and_pages_count_it(jury, paths):
    summary = Summary()
    summary.add(CASE, jury.judge(CASE), "case 1")
    assert (summary.broken_tiers, summary.review) == (1, 1)
    assert tuple(summary.broken_by_path) == paths
    why = summary.to_dict()["look_first"][0]["why"]
    assert f"{paths[0]} broke: ConnectionError: no line" in why
    report = Report.from_results(jury.judge_many([CASE]))
    assert "a tier broke in 1" in report.to_markdown()
    assert "A tier broke" in report.to_html()


@pytest.mark.parametrize("gates", ["{broken_tiers: false}", "{needs_review: false}"])
def test_the_command_names_it_and_exits_with_1_where_a_gate_forbids_it(tmp_path, gates):
    inner = (
        "      tiers:\n        - name: screen\n          policy: reject_on_any_fail\n"
        "          judge: {check: valid_json, schema: {$ref: '#'}}\n"
        "        - {name: last, judge: {check: not_empty}}\n"
    )
    (tmp_path / "rows.jsonl").write_text(json.dumps({"answer": "{}"}))
    (tmp_path / "jury.yaml").write_text(f"gates: {gates}\ntiers:\n  - name: outer\n    judge:\n{inner}")
    result = CliRunner().invoke(app, ["judge", str(tmp_path / "rows.jsonl"), "--jury", str(tmp_path / "jury.yaml")])
    assert result.exit_code == 1, result.output
    assert "outer/screen in 1 of 1 case" in " ".join(result.stdout.split())
